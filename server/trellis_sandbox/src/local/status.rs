//! Descriptions of the limits in a local sandbox.

use std::sync::Arc;

use rustix::process::{Resource, geteuid};

use super::{Isolation, landlock};
use trellis_os::wording::bytes;

use crate::{
    error::{ControlGroupError, FilterError, LandlockError, LocalError},
    report::LimitStatus,
    request::Limits,
    resource_limits::{bounded, held, open, process_ceiling},
};

/// The facts about a sandbox that is about to be started.
pub(super) struct EnforcedLimits<'a> {
    pub(super) limits: &'a Limits,
    /// The value of [`Launch::shares_memory`](crate::sandbox::Launch::shares_memory).
    pub(super) shares_memory: bool,
    /// The version of control groups, or the reason there are none.
    pub(super) group: Result<u8, &'a ControlGroupError>,
    pub(super) isolation: Isolation,
    /// Stronger kinds of isolation that did not work.
    pub(super) refused: Vec<(Isolation, Arc<LocalError>)>,
    /// True if tests run as a user of their own.
    pub(super) stranger: bool,
    pub(super) landlock: Result<(), LandlockError>,
    pub(super) filter: Result<(), FilterError>,
}

/// Returns the limits to set before the program starts; the worker sets those of a run.
pub(super) fn initial_limits() -> Vec<(u32, libc::rlimit)> {
    vec![(libc::RLIMIT_CORE, libc::rlimit { rlim_cur: 0, rlim_max: 0 })]
}

impl EnforcedLimits<'_> {
    pub(super) fn statuses(&self) -> Vec<LimitStatus> {
        let limits = self.limits;
        vec![
            self.memory(),
            self.total_memory(),
            held(
                "processor time",
                format!(
                    "{} s per process (RLIMIT_CPU)",
                    bounded(Resource::Cpu, limits.cpu_seconds)
                ),
            ),
            held(
                "file size",
                format!(
                    "{} per file (RLIMIT_FSIZE)",
                    bytes(bounded(Resource::Fsize, limits.file_bytes))
                ),
            ),
            held(
                "open files",
                format!(
                    "{} per process (RLIMIT_NOFILE)",
                    bounded(Resource::Nofile, limits.open_files)
                ),
            ),
            self.processes(),
            held(
                "output",
                format!(
                    "{} kept of each stream, the rest is read and discarded",
                    bytes(limits.output_bytes as u64)
                ),
            ),
            held("wall time", "everything is killed at the deadline".to_owned()),
            held("environment", "built from scratch, with an allow-list".to_owned()),
            self.daemons(),
            self.network(),
            self.files(),
            match &self.filter {
                Ok(()) => held("system calls", "dangerous ones are blocked (seccomp)".to_owned()),
                Err(reason) => open("system calls", format!("no filter: {reason}")),
            },
        ]
    }

    fn memory(&self) -> LimitStatus {
        let data = bytes(bounded(Resource::Data, self.limits.memory_bytes));
        if self.shares_memory && self.group.is_ok() {
            return held("memory", format!("about {data} for all processes together"));
        }
        held("memory", format!("{data} per process (RLIMIT_DATA)"))
    }

    fn total_memory(&self) -> LimitStatus {
        match &self.group {
            Ok(version) => held(
                "memory in all",
                format!(
                    "about {} for all processes together (control groups, version {version})",
                    bytes(self.limits.memory_bytes)
                ),
            ),
            Err(reason) => open(
                "memory in all",
                format!("many processes together can use more than the limit: {reason}"),
            ),
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
                    "{} more than at the start, {ceiling} in total for this user (RLIMIT_NPROC)",
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
                "cannot read /proc/loadavg, so Trellis cannot choose a sensible limit: mount \
                 /proc"
                    .to_owned(),
            ),
        }
    }

    fn by(&self) -> &'static str {
        match self.isolation {
            Isolation::Namespaces => "namespaces",
            Isolation::Bubblewrap => "bubblewrap",
            Isolation::LandlockOnly => "nothing",
        }
    }

    fn daemons(&self) -> LimitStatus {
        match self.isolation {
            Isolation::LandlockOnly => open(
                "daemons",
                format!(
                    "the worker ends its descendants; one that has cleared its environment \
                     survives if the worker itself is killed{}",
                    self.why_not()
                ),
            ),
            _ => held("daemons", format!("a process namespace ends as a whole ({})", self.by())),
        }
    }

    fn network(&self) -> LimitStatus {
        if self.limits.network {
            return open("network", crate::resource_limits::NETWORK.to_owned());
        }
        match (self.isolation, &self.filter) {
            (Isolation::LandlockOnly, Ok(())) => held(
                "network",
                "internet sockets are blocked (seccomp); tests that start their own server fail"
                    .to_owned(),
            ),
            (Isolation::LandlockOnly, Err(_))
                if landlock::version() >= 4 && self.landlock.is_ok() =>
            {
                open("network", "TCP is blocked (Landlock), UDP is not".to_owned())
            }
            (Isolation::LandlockOnly, Err(reason)) => {
                open("network", format!("tests can open sockets: {reason}"))
            }
            _ => held(
                "network",
                format!("its own network namespace, with only loopback in it ({})", self.by()),
            ),
        }
    }

    fn files(&self) -> LimitStatus {
        match (self.isolation, &self.landlock) {
            (Isolation::LandlockOnly, Ok(())) => held(
                "file system",
                format!(
                    "tests can read only the project, Python and the system, and write only \
                     scratch folders; they can still change modes and times of the project's \
                     files (Landlock, version {})",
                    landlock::version()
                ),
            ),
            (Isolation::LandlockOnly, Err(reason)) => open(
                "file system",
                format!("tests can read and write everything you can: {reason}{}", self.why_not()),
            ),
            _ => {
                let who = if self.stranger { ", as a separate user" } else { "" };
                held(
                    "file system",
                    format!(
                        "tests see only the project, Python and the system, all read-only; home \
                         and /tmp are their own ({}{who})",
                        self.by()
                    ),
                )
            }
        }
    }

    /// Returns the reason no stronger isolation is in use.
    fn why_not(&self) -> String {
        let reasons: Vec<String> =
            self.refused.iter().map(|(_, reason)| reason.to_string()).collect();
        if reasons.is_empty() {
            String::new()
        } else {
            format!(" (namespaces are not available: {})", reasons.join("; "))
        }
    }
}
