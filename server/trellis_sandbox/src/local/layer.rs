//! A layer over the project that takes what tests write, made anew for each run.
//!
//! It is an overlay whose upper part lies in memory. A tree that changes below a mounted overlay shows old files, so one
//! is mounted right before a run and taken away right after it, by a short-lived process that joins the worker's
//! mounts. The worker itself has no right to do so. The memory is unmounted as soon as the overlay holds it: tests see
//! nothing of it but the project.

use std::{
    ffi::{CStr, CString},
    fs::{self, File},
    io,
    mem::zeroed,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
};

use libc::{c_int, c_long};
use rustix::{
    pipe::{PipeFlags, pipe_with},
    process::{Pid, WaitOptions, geteuid, waitpid},
};

use super::{
    c_string,
    child::{self, Failed, check},
};

/// Where the memory is mounted for a moment, inside.
pub(super) const PLACE: &str = "/run/layer";

const UPPER: &CStr = c"/run/layer/upper";
const WORK: &CStr = c"/run/layer/work";
const INSIDE: &CStr = c"/run/layer";

/// What is needed to lay it and to take it away.
#[derive(Debug)]
pub(crate) struct Layer {
    mounts: OwnedFd,
    /// The user namespace whose rights are needed; None: one's own.
    users: Option<OwnedFd>,
    tree: CString,
    memory: CString,
    overlay: &'static CStr,
    /// Who is to own the project's folder inside, as this machine counts.
    owner: Option<u32>,
    is_there: bool,
}

/// The steps, for error messages. The order is that of [`STEPS`].
#[derive(Clone, Copy)]
enum Step {
    Join,
    Tree,
    Owner,
    Memory,
    Folders,
    Overlay,
    Uncover,
}

const STEPS: [&str; 7] = [
    "joining the sandbox's mounts",
    "entering the project",
    "giving the tests ownership of its files",
    "mounting memory",
    "creating folders",
    "mounting the overlay",
    "unmounting what was mounted",
];

type Done = child::Done<Step>;

impl Layer {
    /// For the worker `pid`, which sees `tree`. `owner`: the user of the tests, where the project's files are shown as
    /// theirs. The error is a reason for people.
    pub(crate) fn of(
        pid: Pid,
        tree: &Path,
        bytes: u64,
        owner: Option<u32>,
    ) -> Result<Layer, String> {
        if let Some(below) = mounted_below(tree) {
            return Err(format!("{below} is mounted below it"));
        }
        let path = format!("/proc/{}/ns/mnt", pid.as_raw_nonzero());
        let failed = |error: io::Error| format!("cannot join the sandbox's mounts: {error}");
        let mounts: OwnedFd = File::open(path).map_err(failed)?.into();
        let users = if geteuid().is_root() { None } else { Some(owning(&mounts).map_err(failed)?) };
        // Without a right over the whole machine, the overlay keeps its notes in attributes that everybody may set.
        let overlay = match users {
            Some(_) => c"lowerdir=.,upperdir=/run/layer/upper,workdir=/run/layer/work,userxattr",
            None => c"lowerdir=.,upperdir=/run/layer/upper,workdir=/run/layer/work,redirect_dir=on",
        };
        let memory = c_string(format!("mode=755,size={bytes},nr_inodes=200000"));
        Ok(Layer { mounts, users, tree: c_string(tree), memory, overlay, owner, is_there: false })
    }

    /// Lays a clean one, in place of the one that may be there. The error is a reason for people.
    pub(crate) fn lay(&mut self) -> Result<(), String> {
        self.lift()?;
        self.inside(|| self.cover())?;
        self.is_there = true;
        Ok(())
    }

    /// Takes it away, if it is there, and what was written with it.
    pub(crate) fn lift(&mut self) -> Result<(), String> {
        if std::mem::take(&mut self.is_there) {
            self.inside(|| self.uncover())?;
        }
        Ok(())
    }

    /// Does something in a process that has joined the worker's mounts.
    fn inside(&self, work: impl Fn() -> Done) -> Result<(), String> {
        let failed = |error: io::Error| format!("cannot start a process: {error}");
        let (news, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(|it| failed(it.into()))?;
        // SAFETY: a copy of this thread alone, with memory of its own; what it does are system calls only.
        let pid = unsafe { fork() }.map_err(failed)?;
        let Some(pid) = pid else {
            let done = self.join().and_then(|()| work());
            let Failed(step, errno) = match done {
                // SAFETY: ends the copy without running anything of the original's.
                Ok(()) => unsafe { libc::_exit(0) },
                Err(failed) => failed,
            };
            let record = [step as c_int, errno];
            // SAFETY: the record lives through the call; then as above.
            unsafe {
                libc::write(writer.as_raw_fd(), record.as_ptr().cast(), size_of_val(&record));
                libc::_exit(1)
            }
        };
        drop(writer);
        let mut record = [0; 8];
        let said = rustix::io::retry_on_intr(|| rustix::io::read(&news, &mut record));
        let _ = rustix::io::retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()));
        match said.map_err(|error| failed(error.into()))? {
            0 => Ok(()),
            _ => {
                let [a, b, c, d, e, f, g, h] = record;
                let step = usize::try_from(i32::from_ne_bytes([a, b, c, d])).unwrap_or_default();
                let error = io::Error::from_raw_os_error(i32::from_ne_bytes([e, f, g, h]));
                Err(format!("{} failed: {error}", STEPS.get(step).unwrap_or(&"it")))
            }
        }
    }

    fn join(&self) -> Done {
        let namespaces = self.users.iter().map(|it| (it, libc::CLONE_NEWUSER));
        for (namespace, kind) in namespaces.chain([(&self.mounts, libc::CLONE_NEWNS)]) {
            // SAFETY: no pointers.
            check(Step::Join, unsafe { libc::setns(namespace.as_raw_fd(), kind) })?;
        }
        Ok(())
    }

    fn uncover(&self) -> Done {
        // SAFETY: the string lives through the call.
        check(Step::Uncover, unsafe { libc::umount2(self.tree.as_ptr(), libc::MNT_DETACH) })
    }

    fn cover(&self) -> Done {
        // SAFETY: strings and structures live through the calls, and the structure is plain data.
        unsafe {
            // So its name, in which commas and colons would mean something, need not be told.
            check(Step::Tree, libc::chdir(self.tree.as_ptr()))?;
            let mut status: libc::stat = zeroed();
            check(Step::Tree, libc::stat(c".".as_ptr(), &raw mut status))?;
            if self.owner.is_some_and(|owner| owner != status.st_uid) {
                return Err(Failed(Step::Owner, libc::EOPNOTSUPP));
            }
            let flags = libc::MS_NOSUID | libc::MS_NODEV;
            let mount = |step, kind: &CStr, at: &CStr, options: &CStr| {
                let (name, options) = (kind.as_ptr(), options.as_ptr().cast());
                check(step, libc::mount(name, at.as_ptr(), name, flags, options))
            };
            mount(Step::Memory, c"tmpfs", INSIDE, &self.memory)?;
            for folder in [UPPER, WORK] {
                check(Step::Folders, libc::mkdir(folder.as_ptr(), 0o755))?;
            }
            // What the upper folder is, the project's own folder becomes. An owner whom the namespace does not know
            // cannot be given.
            let _ = libc::chown(UPPER.as_ptr(), status.st_uid, status.st_gid);
            check(Step::Folders, libc::chmod(UPPER.as_ptr(), status.st_mode & 0o7777))?;
            mount(Step::Overlay, c"overlay", &self.tree, self.overlay)?;
            check(Step::Uncover, libc::umount2(INSIDE.as_ptr(), libc::MNT_DETACH))
        }
    }
}

/// None in the copy.
///
/// # Safety
///
/// The copy may make system calls only, and must not return.
pub(super) unsafe fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the caller's promise. Not the library's function, which takes locks and calls handlers.
    let pid: c_long = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    match i32::try_from(pid) {
        Ok(0) => Ok(None),
        Ok(pid) if pid > 0 => Ok(Pid::from_raw(pid)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The user namespace that a namespace belongs to.
fn owning(namespace: &OwnedFd) -> io::Result<OwnedFd> {
    // SAFETY: no pointers; the descriptor is new and nobody else's.
    unsafe {
        let users = libc::ioctl(namespace.as_raw_fd(), libc::NS_GET_USERNS);
        if users < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(users)) }
    }
}

/// The first place below `folder` at which something is mounted: an overlay would not show it.
pub(super) fn mounted_below(folder: &Path) -> Option<String> {
    let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let places = mounts.split(|it| *it == b'\n').filter_map(|line| {
        let place = line.split(|it| *it == b' ').nth(4)?;
        Some(unescaped(place))
    });
    let below = |place: &Vec<u8>| {
        let path = Path::new(std::ffi::OsStr::from_bytes(place));
        path != folder && path.starts_with(folder)
    };
    places.into_iter().find(below).map(|it| String::from_utf8_lossy(&it).into_owned())
}

/// With spaces and their like in place of `\040`.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..3).filter(|_| *first == b'\\');
        let byte = digits.and_then(|it| std::str::from_utf8(it).ok());
        match byte.and_then(|it| u8::from_str_radix(it, 8).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &more[3..];
            }
            None => {
                out.push(*first);
                rest = more;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are() {
        assert_eq!(unescaped(br"/a\040b\134c\x"), br"/a b\c\x");
    }
}
