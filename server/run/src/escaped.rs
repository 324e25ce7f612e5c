//! Ends processes that left the run's group.
//!
//! A daemon calls `setsid` and is no longer in the group that is killed. It does inherit the
//! environment, and there the run's scratch folder stands, which no other process on the machine
//! names. A process that also wipes its environment stays out of reach without namespaces.

use std::{collections::HashSet, fs, os::unix::ffi::OsStrExt, path::Path};

use rustix::process::{Pid, PidfdFlags, Signal, getpgid, pidfd_open, pidfd_send_signal};

/// Looks are repeated while they find something new, for what was forked during one look.
const LOOKS: usize = 50;

/// Kills every process outside `group` with `scratch` in its environment, and gives their number.
/// The group's own have been killed already.
pub(crate) fn kill_all(scratch: &Path, group: Pid) -> usize {
    let marker = scratch.as_os_str().as_bytes();
    let mut killed = HashSet::new();
    for _ in 0..LOOKS {
        let before = killed.len();
        let found = processes().filter(|pid| kill_if_marked(*pid, marker, group));
        killed.extend(found);
        if killed.len() == before {
            break;
        }
    }
    killed.len()
}

/// None where `/proc` is not mounted: then nothing can be found.
fn processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// The handle comes first: between reading and killing, the number could pass to another process.
fn kill_if_marked(pid: Pid, marker: &[u8], group: Pid) -> bool {
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let Ok(environment) = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())) else {
        return false; // another user's
    };
    let marked = environment.windows(marker.len()).any(|window| window == marker);
    // Only then: the kernel's own threads have no group, which `getpgid` is not prepared for.
    let apart = marked && getpgid(Some(pid)).is_ok_and(|theirs| theirs != group);
    apart && pidfd_send_signal(&handle, Signal::KILL).is_ok()
}
