//! Ends processes that outlived a worker without a process namespace.
//!
//! Those a run starts are found by the worker, as its descendants. When the worker itself is killed
//! they have no ancestor any more; but they inherited an environment in which the sandbox's folder
//! stands, which no other process on the machine names.

use std::{fs, os::unix::ffi::OsStrExt, path::Path};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Looks are repeated while they find something new, for what was forked during one look.
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

/// None where `/proc` is not mounted: then nothing can be found.
fn processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// The handle comes first: between reading and killing, the number could pass to another process.
/// One that is dying has no environment any more.
fn kill_if_marked(pid: Pid, marker: &[u8]) -> bool {
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let Ok(environment) = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())) else {
        return false; // another user's
    };
    let marked = environment.windows(marker.len()).any(|window| window == marker);
    marked && pidfd_send_signal(&handle, Signal::KILL).is_ok()
}
