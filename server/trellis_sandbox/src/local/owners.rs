//! Folders whose files have different owners inside a sandbox than outside.
//!
//! The tests of root run as a user of their own, who could not write to a project of root. So the
//! project is mounted with that user in place of its owner: by an ID-mapped mount with the maps of
//! a user namespace (Linux 5.12, if the file system supports it).

use std::{
    ffi::CStr,
    fs::{self, File},
    io,
    os::fd::{AsRawFd, OwnedFd, RawFd},
};

use libc::c_int;
use rustix::{
    pipe::{PipeFlags, pipe_with},
    process::{WaitOptions, waitpid},
};

use super::layer::fork;

/// Makes a user namespace that maps the owner of a project to the user of its tests, so that the
/// project's files are shown as theirs. `from` is user and group of the owner, `to` both of the
/// tests.
pub(super) fn ownership(from: (u32, u32), to: u32) -> io::Result<OwnedFd> {
    let (news, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    // SAFETY: as `fork` requires, the copy only makes system calls until it is killed.
    let Some(pid) = (unsafe { fork() })? else { unsafe { hold_users(writer.as_raw_fd()) } };
    drop(writer);
    let namespace = (|| {
        let mut byte = [0];
        if rustix::io::retry_on_intr(|| rustix::io::read(&news, &mut byte))? == 0 {
            return Err(io::Error::other("cannot create a user namespace"));
        }
        let file = |name: &str| format!("/proc/{}/{name}", pid.as_raw_nonzero());
        for (name, from) in [("uid_map", from.0), ("gid_map", from.1)] {
            // A process that is itself limited to some users may map only these two.
            let alone = |_| fs::write(file(name), format!("{from} {to} 1\n"));
            fs::write(file(name), swapped(from, to)).or_else(alone)?;
        }
        Ok(File::open(file("ns/user"))?.into())
    })();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    let _ = rustix::io::retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()));
    namespace
}

/// Creates a user namespace and holds it until the parent kills this process.
///
/// # Safety
///
/// Call this only in a copy of a process.
unsafe fn hold_users(news: RawFd) -> ! {
    // SAFETY: system calls only; the byte lives through its call.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        if libc::unshare(libc::CLONE_NEWUSER) == 0 {
            libc::write(news, b"!".as_ptr().cast(), 1);
            loop {
                libc::pause();
            }
        }
        libc::_exit(1)
    }
}

/// Returns a map of all ids to themselves, except for two that are swapped.
fn swapped(one: u32, other: u32) -> String {
    let (low, high) = (one.min(other), one.max(other));
    let runs = [
        (0, 0, low),
        (low, high, u32::from(low != high)),
        (low + 1, low + 1, high.saturating_sub(low + 1)),
        (high, low, 1),
        (high + 1, high + 1, u32::MAX - (high + 1)),
    ];
    let line = |(inside, outside, count): (u32, u32, u32)| format!("{inside} {outside} {count}\n");
    runs.into_iter().filter(|it| it.2 > 0).map(line).collect()
}

/// Mounts the folder `from` at `at`, with the attributes `wanted` and the owners mapped by the
/// namespace `users`. A file system that does not support this shows the original owners.
pub(super) fn show_owned(from: &CStr, at: &CStr, wanted: u64, users: RawFd) -> c_int {
    // SAFETY: strings and structures live through the calls; sizes are passed.
    unsafe {
        let flags = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC;
        let tree =
            libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, from.as_ptr(), flags) as c_int;
        if tree < 0 {
            return -1;
        }
        let set = |set, users| {
            let attributes =
                libc::mount_attr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd: users };
            libc::syscall(
                libc::SYS_mount_setattr,
                tree,
                c"".as_ptr(),
                libc::AT_EMPTY_PATH,
                &raw const attributes,
                size_of::<libc::mount_attr>(),
            )
        };
        let _ = set(libc::MOUNT_ATTR_IDMAP, users as u64);
        if set(wanted, 0) < 0 {
            return -1;
        }
        libc::syscall(
            libc::SYS_move_mount,
            tree,
            c"".as_ptr(),
            libc::AT_FDCWD,
            at.as_ptr(),
            libc::MOVE_MOUNT_F_EMPTY_PATH,
        ) as c_int
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_owners_change_places_and_all_others_stay() {
        let of = |one, other| swapped(one, other).lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            of(0, 61_500),
            ["0 61500 1", "1 1 61499", "61500 0 1", "61501 61501 4294905794"]
        );
        assert_eq!(of(1000, 61_184)[..3], ["0 0 1000", "1000 61184 1", "1001 1001 60183"]);
    }
}
