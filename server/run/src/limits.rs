//! Bounds the kernel keeps for us, and an honest account of those it does not.

use std::fs;

use rustix::process::{Resource, Rlimit, geteuid, getrlimit};

use crate::{report::LimitStatus, request::Limits};

/// Address space beyond this multiple of the memory limit is refused. It only has to catch what the
/// memory limit does not count (shared mappings); libraries reserve far more addresses than they
/// ever touch.
const ADDRESSES_PER_BYTE: u64 = 4;

/// Seconds of processor time between the signal and the end.
const CPU_GRACE: u64 = 2;

/// What `setrlimit` is to be called with in the child.
pub(crate) type Bounds = Vec<(Resource, Rlimit)>;

/// Bounds for a run that starts now, and what can be said about them.
pub(crate) fn bounds(limits: &Limits) -> (Bounds, Vec<LimitStatus>) {
    let mut bounds = Vec::new();
    let mut set = |resource, wanted: u64| {
        let limit = within_ours(resource, wanted);
        bounds.push((resource, limit));
        limit.current.unwrap_or(wanted)
    };
    let memory = set(Resource::Data, limits.memory_bytes);
    let addresses = set(Resource::As, limits.memory_bytes.saturating_mul(ADDRESSES_PER_BYTE));
    let cpu = set(Resource::Cpu, limits.cpu_seconds);
    let file = set(Resource::Fsize, limits.file_bytes);
    let files = set(Resource::Nofile, limits.open_files);
    set(Resource::Core, 0);
    let processes = process_ceiling(limits).map(|ceiling| set(Resource::Nproc, ceiling));

    let statuses = vec![
        held(
            "memory",
            format!("{memory} bytes a process (RLIMIT_DATA), {addresses} of addresses (RLIMIT_AS)"),
        ),
        held("processor time", format!("{cpu} s a process (RLIMIT_CPU)")),
        held("file size", format!("{file} bytes a file (RLIMIT_FSIZE)")),
        held("open files", format!("{files} a process (RLIMIT_NOFILE)")),
        process_status(limits, processes),
        held(
            "output",
            format!("{} bytes kept of each stream, the rest read and dropped", limits.output_bytes),
        ),
        held("wall time", "the process group is killed at the deadline".to_owned()),
        held("environment", "made from nothing, with an allow-list".to_owned()),
        open(
            "daemons",
            "the process group is killed, and what left it is found by its environment: a process \
             that does both, leave and wipe its environment, escapes",
        ),
        open("network", "the local runner does not isolate the network: tests can open sockets"),
        open(
            "file system",
            "the local runner does not isolate files: tests can read and write what you can",
        ),
    ];
    (bounds, statuses)
}

/// `wanted`, or less where this process is itself held to less.
fn within_ours(resource: Resource, wanted: u64) -> Rlimit {
    let ceiling = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    // At the lower bound the process gets SIGXCPU and can say where it stands; at the upper it is
    // killed.
    let upper = if resource == Resource::Cpu { wanted.saturating_add(CPU_GRACE) } else { wanted };
    Rlimit { current: Some(wanted.min(ceiling)), maximum: Some(upper.min(ceiling)) }
}

fn held(name: &'static str, how: String) -> LimitStatus {
    LimitStatus { name, enforced: true, how }
}

fn open(name: &'static str, how: &str) -> LimitStatus {
    LimitStatus { name, enforced: false, how: how.to_owned() }
}

/// The kernel counts all threads of the user, not those of the run, so the bound has to lie above
/// what is there already. None where the kernel would not apply it.
fn process_ceiling(limits: &Limits) -> Option<u64> {
    (!geteuid().is_root()).then(|| Some(threads_now()?.saturating_add(limits.processes)))?
}

/// Threads on the whole machine: at least as many as the user's, and one small file to read.
fn threads_now() -> Option<u64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

fn process_status(limits: &Limits, ceiling: Option<u64>) -> LimitStatus {
    match ceiling {
        Some(ceiling) => held(
            "processes",
            format!(
                "{} more than at the start, {ceiling} of this user in all (RLIMIT_NPROC)",
                limits.processes
            ),
        ),
        None if geteuid().is_root() => open(
            "processes",
            "the kernel does not apply RLIMIT_NPROC to root: run as an ordinary user",
        ),
        None => open(
            "processes",
            "/proc/loadavg cannot be read, so no sensible bound is known: mount /proc",
        ),
    }
}

/// How often the kernel has killed a process for want of memory since it started; None where it
/// does not say.
pub(crate) fn kernel_memory_kills() -> Option<u64> {
    let text = fs::read_to_string("/proc/vmstat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}
