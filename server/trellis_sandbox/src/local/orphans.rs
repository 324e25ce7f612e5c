//! Kills processes that outlived a worker without a process namespace.
//!
//! The worker finds the processes of a run as its descendants. When the worker itself is killed,
//! they have no ancestor any more; but they inherited an environment that names the sandbox's
//! folder, which no other process on the machine does.

use std::{fs, os::unix::ffi::OsStrExt, path::Path};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Maximum number of scans. Scans repeat while they find processes, since some may fork during a
/// scan.
const LOOKS: usize = 50;

/// Kills every process with `scratch` in its environment.
pub(super) fn kill_all(scratch: &Path) {
    let marker = scratch.as_os_str().as_bytes();
    for _ in 0..LOOKS {
        if processes().filter(|pid| kill_if_marked(*pid, marker)).count() == 0 {
            break;
        }
    }
}

/// Returns all processes; none where `/proc` is not mounted, so that none can be found.
fn processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// Kills a process with `marker` in its environment. The handle comes first: between reading and
/// killing, the number could pass to another process. A process that is dying has no environment
/// any more.
fn kill_if_marked(pid: Pid, marker: &[u8]) -> bool {
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let Ok(environment) = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())) else {
        return false; // another user's process
    };
    let marked = environment.windows(marker.len()).any(|window| window == marker);
    marked && pidfd_send_signal(&handle, Signal::KILL).is_ok()
}
