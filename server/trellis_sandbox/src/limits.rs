//! Bounds that the kernel keeps for every process of a run.

use std::fs;

use rustix::process::{Resource, Rlimit, geteuid, getrlimit};
use serde_json::{Value, json};

use crate::{report::LimitStatus, request::Limits};

/// Address space beyond this multiple of the memory limit is refused. It only has to catch what the
/// memory limit does not count (shared mappings); libraries reserve far more addresses than they
/// ever touch.
const ADDRESSES_PER_BYTE: u64 = 4;

/// Told where tests reach the network.
pub(crate) const NETWORK: &str =
    "open, as you asked: tests can reach everything this machine can reach";

/// Seconds of processor time between the signal and the end.
const CPU_GRACE: u64 = 2;

/// Which bounds on the memory of each process a run gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// On what it may write to, and on its addresses.
    Touched,
    /// On what it may write to: node and go reserve far more addresses than they use.
    Data,
    /// None: the sandbox bounds all processes together.
    Elsewhere,
}

/// What the worker is to set for a run: Python's names of the limits, with both bounds. `processes`:
/// how many the tests' user may have in all.
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

/// The bound that will hold where `wanted` is asked for.
pub(crate) fn bounded(resource: Resource, wanted: u64) -> u64 {
    within(resource, wanted).current.unwrap_or(wanted)
}

/// `wanted`, or less where this process is itself held to less.
fn within(resource: Resource, wanted: u64) -> Rlimit {
    let ceiling = getrlimit(resource).maximum.unwrap_or(i64::MAX as u64);
    // At the lower bound the process gets SIGXCPU and can say where it stands; at the upper it is
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

/// The kernel counts all threads of a user, not those of the run, so for a user with other
/// processes the bound has to lie above what is there already. None where the kernel would not
/// apply it.
pub(crate) fn process_ceiling(limits: &Limits, stranger: bool) -> Option<u64> {
    if stranger {
        return Some(limits.processes.saturating_add(2));
    }
    (!geteuid().is_root()).then(|| Some(threads_now()?.saturating_add(limits.processes)))?
}

/// Threads on the whole machine: at least as many as the user's, and one small file to read.
fn threads_now() -> Option<u64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// How often the kernel has killed a process for want of memory since it started; None where it
/// does not say.
pub(crate) fn kernel_memory_kills() -> Option<u64> {
    let text = fs::read_to_string("/proc/vmstat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}
