//! Descriptions of the limits that a container enforces on test code, and of those it cannot.

use super::engine::Engine;
use trellis_os::wording::{bytes, counted};

use crate::{report::LimitStatus, request::Limits, resource_limits::NETWORK};

impl Engine {
    /// Returns the limits for a worker in a container under `limits`. The worker sets further
    /// limits for each run; the descriptions of those name the kernel's limit.
    pub(crate) fn limits(&self, limits: &Limits) -> Vec<LimitStatus> {
        let group = format!("cgroup v{}", self.describe().cgroup_version);
        vec![
            self.memory(limits, &group),
            self.processor(limits, &group),
            held("file size", format!("{} per file (RLIMIT_FSIZE)", bytes(limits.file_bytes))),
            held("open files", format!("{} per process (RLIMIT_NOFILE)", limits.open_files)),
            self.processes(limits, &group),
            held(
                "output",
                format!(
                    "{} kept of each stream, the rest is read and discarded",
                    bytes(limits.output_bytes as u64)
                ),
            ),
            held("wall time", "everything in the container is killed at the deadline".to_owned()),
            held(
                "environment",
                "the image's own and what you pass, nothing else of yours".to_owned(),
            ),
            held(
                "daemons",
                "they share the container's process namespace and end with the run".to_owned(),
            ),
            if limits.network {
                LimitStatus { name: "network", enforced: false, how: NETWORK.to_owned() }
            } else {
                held("network", "none: a network namespace with a loopback of its own".to_owned())
            },
            held(
                "file system",
                "the image and your files are read-only; writable folders are in memory and \
                 limited in size"
                    .to_owned(),
            ),
        ]
    }

    fn memory(&self, limits: &Limits, group: &str) -> LimitStatus {
        let memory = bytes(limits.memory_bytes);
        match (self.abilities.memory, self.abilities.swap) {
            (true, true) => {
                held("memory", format!("{memory} for the whole container, no swap ({group})"))
            }
            (true, false) => held(
                "memory",
                format!(
                    "{memory} for the whole container ({group}); this kernel does not count swap"
                ),
            ),
            (false, _) => self.unable("memory"),
        }
    }

    fn processor(&self, limits: &Limits, group: &str) -> LimitStatus {
        let seconds = limits.cpu_seconds;
        let each = format!("{seconds} s per process (RLIMIT_CPU)");
        let share = if self.abilities.processor {
            let cores = limits.cores.unwrap_or(1);
            {
                let cores = counted(cores as usize, "processor", "processors");
                format!(", {cores} for the whole container ({group})")
            }
        } else {
            String::new()
        };
        held("processor time", each + &share)
    }

    fn processes(&self, limits: &Limits, group: &str) -> LimitStatus {
        if self.abilities.processes {
            let how = format!(
                "{} processes and threads in the container, including the worker ({group})",
                limits.processes
            );
            held("processes", how)
        } else {
            self.unable("processes")
        }
    }

    fn unable(&self, name: &'static str) -> LimitStatus {
        let what = if self.describe().rootless {
            "a rootless engine needs cgroups v2 with delegated controllers for this limit"
        } else {
            "the engine's kernel has no controller for this limit"
        };
        LimitStatus { name, enforced: false, how: what.to_owned() }
    }
}

fn held(name: &'static str, how: String) -> LimitStatus {
    LimitStatus { name, enforced: true, how }
}
