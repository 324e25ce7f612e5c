//! Resource limits that the kernel enforces for every process of a run.

use std::fs;

use rustix::process::{Resource, Rlimit, geteuid, getrlimit};
use serde_json::{Value, json};

use crate::{report::LimitStatus, request::Limits};

/// Multiple of the memory limit beyond which address space is refused. It only has to catch what
/// the memory limit does not count (shared mappings); libraries reserve far more addresses than
/// they ever touch.
const ADDRESSES_PER_BYTE: u64 = 4;

/// Description of the network limit if tests reach the network.
pub(crate) const NETWORK: &str =
    "open, as you asked: tests can reach everything this machine can reach";

/// Seconds of processor time between the signal and the kill.
const CPU_GRACE: u64 = 2;

/// The kinds of bounds on the memory of each process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// A bound on writable memory, and one on address space.
    Touched,
    /// A bound on writable memory only: node and go reserve far more addresses than they use.
    Data,
    /// No bound: the sandbox bounds all processes together.
    Elsewhere,
}

/// Returns the limits for the worker to set: Python's name of each, with both bounds. `processes`:
/// the number that the tests' user may have in all.
pub(crate) fn for_worker(limits: &Limits, processes: Option<u64>, memory: Memory) -> Value {
    let addresses = limits.memory_bytes.saturating_mul(ADDRESSES_PER_BYTE);
    let mut bounds = vec![
        ("RLIMIT_CPU", within(Resource::Cpu, limits.cpu_seconds)),
        ("RLIMIT_FSIZE", within(Resource::Fsize, limits.file_bytes)),
        ("RLIMIT_NOFILE", within(Resource::Nofile, limits.open_files)),
        ("RLIMIT_CORE", within(Resource::Core, 0)),
    ];
    if memory != Memory::Elsewhere {
        bounds.push(("RLIMIT_DATA", within(Resource::Data, limits.memory_bytes)));
    }
    if memory == Memory::Touched {
        bounds.push(("RLIMIT_AS", within(Resource::As, addresses)));
    }
    if let Some(ceiling) = processes {
        bounds.push(("RLIMIT_NPROC", within(Resource::Nproc, ceiling)));
    }
    bounds.into_iter().map(|(name, limit)| json!([name, limit.current, limit.maximum])).collect()
}

/// Returns the bound that will hold if `wanted` is requested.
pub(crate) fn bounded(resource: Resource, wanted: u64) -> u64 {
    within(resource, wanted).current.unwrap_or(wanted)
}

/// Returns `wanted`, or less if this process itself is held to less.
fn within(resource: Resource, wanted: u64) -> Rlimit {
    let ceiling = getrlimit(resource).maximum.unwrap_or(i64::MAX as u64);
    // At the lower bound the process gets SIGXCPU and can report its stack; at the upper it is
    // killed.
    let upper = if resource == Resource::Cpu { wanted.saturating_add(CPU_GRACE) } else { wanted };
    Rlimit { current: Some(wanted.min(ceiling)), maximum: Some(upper.min(ceiling)) }
}

pub(crate) fn held(name: &'static str, how: String) -> LimitStatus {
    LimitStatus { name, enforced: true, how }
}

pub(crate) fn open(name: &'static str, how: String) -> LimitStatus {
    LimitStatus { name, enforced: false, how }
}

/// Returns a bound for `RLIMIT_NPROC`. The kernel counts all threads of a user, not those of the
/// run, so for a user with other processes the bound has to lie above the current number. `None`
/// where the kernel would not apply the bound.
pub(crate) fn process_ceiling(limits: &Limits, stranger: bool) -> Option<u64> {
    if stranger {
        return Some(limits.processes.saturating_add(2));
    }
    (!geteuid().is_root()).then(|| Some(threads_now()?.saturating_add(limits.processes)))?
}

/// Returns the threads of the whole machine: at least as many as the user's, read from one small
/// file.
fn threads_now() -> Option<u64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// Returns how often the kernel has killed a process because memory ran out, since boot; `None`
/// where the kernel does not tell.
pub(crate) fn kernel_memory_kills() -> Option<u64> {
    let text = fs::read_to_string("/proc/vmstat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}
