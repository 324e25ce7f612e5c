//! What a container holds test code to, and what it does not.

use super::engine::Engine;
use crate::{limits::NETWORK, report::LimitStatus, request::Limits};

impl Engine {
    /// What is enforced for a worker in a container under `limits`. The worker sets further bounds
    /// for each run; those of the kernel that it has to set are named as its own.
    pub(crate) fn limits(&self, limits: &Limits) -> Vec<LimitStatus> {
        let group = format!("cgroup v{}", self.describe().cgroup_version);
        vec![
            self.memory(limits, &group),
            self.processor(limits, &group),
            held("file size", format!("{} bytes a file (RLIMIT_FSIZE)", limits.file_bytes)),
            held("open files", format!("{} a process (RLIMIT_NOFILE)", limits.open_files)),
            self.processes(limits, &group),
            held(
                "output",
                format!(
                    "{} bytes kept of each stream, the rest read and dropped",
                    limits.output_bytes
                ),
            ),
            held("wall time", "everything in the container is killed at the deadline".to_owned()),
            held("environment", "the image's and what is given, nothing of yours".to_owned()),
            held("daemons", "they are in the container's process namespace and end with the run".to_owned()),
            if limits.network {
                LimitStatus { name: "network", enforced: false, how: NETWORK.to_owned() }
            } else {
                held("network", "none: a network namespace with a loopback of its own".to_owned())
            },
            held(
                "file system",
                "the image and your files are read-only; what can be written to is in memory and bounded"
                    .to_owned(),
            ),
        ]
    }

    fn memory(&self, limits: &Limits, group: &str) -> LimitStatus {
        let bytes = limits.memory_bytes;
        match (self.abilities.memory, self.abilities.swap) {
            (true, true) => {
                held("memory", format!("{bytes} bytes for the whole container, no swap ({group})"))
            }
            (true, false) => held(
                "memory",
                format!(
                    "{bytes} bytes for the whole container ({group}); swap is not counted by this kernel"
                ),
            ),
            (false, _) => self.unable("memory"),
        }
    }

    fn processor(&self, limits: &Limits, group: &str) -> LimitStatus {
        let seconds = limits.cpu_seconds;
        let each = format!("{seconds} s a process (RLIMIT_CPU)");
        let share = if self.abilities.processor {
            let cores = limits.cores.unwrap_or(1);
            format!(", {cores} processor(s) for the whole container ({group})")
        } else {
            String::new()
        };
        held("processor time", each + &share)
    }

    fn processes(&self, limits: &Limits, group: &str) -> LimitStatus {
        if self.abilities.processes {
            let how = format!(
                "{} processes and threads in the container, the worker among them ({group})",
                limits.processes
            );
            held("processes", how)
        } else {
            self.unable("processes")
        }
    }

    fn unable(&self, name: &'static str) -> LimitStatus {
        let what = if self.describe().rootless {
            "a rootless engine needs cgroups v2 with delegated controllers for it"
        } else {
            "the kernel under the engine has no controller for it"
        };
        LimitStatus { name, enforced: false, how: what.to_owned() }
    }
}

fn held(name: &'static str, how: String) -> LimitStatus {
    LimitStatus { name, enforced: true, how }
}
