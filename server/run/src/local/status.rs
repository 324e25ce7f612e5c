//! What holds in a local sandbox, in words.

use rustix::process::{Resource, geteuid};

use super::{Isolation, landlock};
use crate::{
    limits::{bounded, held, open, process_ceiling},
    report::LimitStatus,
    request::Limits,
};

/// What is known of a sandbox about to be started.
pub(super) struct Held<'a> {
    pub(super) limits: &'a Limits,
    /// [`Launch::shares_memory`](crate::sandbox::Launch::shares_memory)
    pub(super) shares_memory: bool,
    /// The version of control groups, or why there is none.
    pub(super) group: Result<u8, String>,
    pub(super) isolation: Isolation,
    /// Stronger ways that did not work.
    pub(super) refused: Vec<(Isolation, String)>,
    /// Tests run as a user of their own.
    pub(super) stranger: bool,
    pub(super) landlock: Result<(), String>,
    pub(super) filter: Result<(), String>,
}

/// Limits set before the program starts; those of a run are set by the worker.
pub(super) fn at_start() -> Vec<(u32, libc::rlimit)> {
    vec![(libc::RLIMIT_CORE, libc::rlimit { rlim_cur: 0, rlim_max: 0 })]
}

impl Held<'_> {
    pub(super) fn statuses(&self) -> Vec<LimitStatus> {
        let limits = self.limits;
        vec![
            self.memory(),
            self.total_memory(),
            held(
                "processor time",
                format!("{} s a process (RLIMIT_CPU)", bounded(Resource::Cpu, limits.cpu_seconds)),
            ),
            held(
                "file size",
                format!(
                    "{} bytes a file (RLIMIT_FSIZE)",
                    bounded(Resource::Fsize, limits.file_bytes)
                ),
            ),
            held(
                "open files",
                format!(
                    "{} a process (RLIMIT_NOFILE)",
                    bounded(Resource::Nofile, limits.open_files)
                ),
            ),
            self.processes(),
            held(
                "output",
                format!(
                    "{} bytes kept of each stream, the rest read and dropped",
                    limits.output_bytes
                ),
            ),
            held("wall time", "everything is killed at the deadline".to_owned()),
            held("environment", "made from nothing, with an allow-list".to_owned()),
            self.daemons(),
            self.network(),
            self.files(),
            match &self.filter {
                Ok(()) => held("system calls", "dangerous ones are refused (seccomp)".to_owned()),
                Err(reason) => open("system calls", format!("no filter: {reason}")),
            },
        ]
    }

    fn memory(&self) -> LimitStatus {
        let data = bounded(Resource::Data, self.limits.memory_bytes);
        if self.shares_memory && self.group.is_ok() {
            return held("memory", format!("about {data} bytes, of all processes together"));
        }
        held("memory", format!("{data} bytes a process (RLIMIT_DATA)"))
    }

    fn total_memory(&self) -> LimitStatus {
        match &self.group {
            Ok(version) => held(
                "memory in all",
                format!(
                    "about {} bytes for all processes together (control groups, version {version})",
                    self.limits.memory_bytes
                ),
            ),
            Err(reason) => {
                open("memory in all", format!("many processes can take much together: {reason}"))
            }
        }
    }

    fn processes(&self) -> LimitStatus {
        match (&self.group, process_ceiling(self.limits, self.stranger)) {
            (Ok(version), _) => held(
                "processes",
                format!("{} (control groups, version {version})", self.limits.processes),
            ),
            (Err(_), Some(ceiling)) => held(
                "processes",
                format!(
                    "{} more than at the start, {ceiling} of this user in all (RLIMIT_NPROC)",
                    self.limits.processes
                ),
            ),
            (Err(reason), None) if geteuid().is_root() => open(
                "processes",
                format!(
                    "the kernel does not apply RLIMIT_NPROC to root, and {reason}: run as an ordinary user"
                ),
            ),
            (Err(_), None) => open(
                "processes",
                "/proc/loadavg cannot be read, so no sensible bound is known: mount /proc"
                    .to_owned(),
            ),
        }
    }

    fn by(&self) -> &'static str {
        match self.isolation {
            Isolation::Namespaces => "namespaces",
            Isolation::Bubblewrap => "bubblewrap",
            Isolation::Bare => "nothing",
        }
    }

    fn daemons(&self) -> LimitStatus {
        match self.isolation {
            Isolation::Bare => open(
                "daemons",
                format!(
                    "the worker ends its descendants; one that has wiped its environment escapes when the worker itself is killed{}",
                    self.why_not()
                ),
            ),
            _ => held("daemons", format!("a process namespace dies as a whole ({})", self.by())),
        }
    }

    fn network(&self) -> LimitStatus {
        if self.limits.network {
            return open("network", crate::limits::NETWORK.to_owned());
        }
        match (self.isolation, &self.filter) {
            (Isolation::Bare, Ok(())) => held(
                "network",
                "sockets of the internet families are refused (seccomp); tests that start a server of their own fail".to_owned(),
            ),
            (Isolation::Bare, Err(_)) if landlock::version() >= 4 && self.landlock.is_ok() => {
                open("network", "TCP is refused (Landlock), UDP is not".to_owned())
            }
            (Isolation::Bare, Err(reason)) => {
                open("network", format!("tests can open sockets: {reason}"))
            }
            _ => held("network", format!("a network of its own, with nothing in it but loopback ({})", self.by())),
        }
    }

    fn files(&self) -> LimitStatus {
        match (self.isolation, &self.landlock) {
            (Isolation::Bare, Ok(())) => held(
                "file system",
                format!(
                    "only the project, Python and the system can be read, only scratch folders written, though modes and times of the project's files can be changed (Landlock, version {})",
                    landlock::version()
                ),
            ),
            (Isolation::Bare, Err(reason)) => open(
                "file system",
                format!("tests can read and write what you can: {reason}{}", self.why_not()),
            ),
            _ => {
                let who = if self.stranger { ", as a user of its own" } else { "" };
                held(
                    "file system",
                    format!(
                        "only the project, Python and the system are there, and nothing of them can be changed; home and /tmp are its own ({}{who})",
                        self.by()
                    ),
                )
            }
        }
    }

    /// Why nothing stronger is at work.
    fn why_not(&self) -> String {
        let reasons: Vec<&str> = self.refused.iter().map(|(_, reason)| reason.as_str()).collect();
        if reasons.is_empty() {
            String::new()
        } else {
            format!(" (namespaces cannot be had: {})", reasons.join("; "))
        }
    }
}
