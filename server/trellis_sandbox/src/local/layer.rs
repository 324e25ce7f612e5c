//! A layer over the project that receives what tests write, made anew for each run.
//!
//! The layer is an overlay whose upper part lies in memory. A tree that changes below a mounted
//! overlay shows old files. So the overlay is mounted right before a run and unmounted right after
//! it, by a short-lived process that joins the worker's mounts; the worker itself has no right to
//! do so. The memory's own mount is removed as soon as the overlay holds the memory, so tests see
//! only the project.

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
use crate::error::LayerError;

/// The mount point of the memory inside, used only for a moment.
pub(super) const PLACE: &str = "/run/layer";

const UPPER: &CStr = c"/run/layer/upper";
const WORK: &CStr = c"/run/layer/work";
const INSIDE: &CStr = c"/run/layer";

/// The resources to mount and unmount a layer.
#[derive(Debug)]
pub(crate) struct Layer {
    mounts: OwnedFd,
    /// The user namespace whose rights are needed; `None` for this process's own.
    users: Option<OwnedFd>,
    tree: CString,
    memory: CString,
    overlay: &'static CStr,
    /// The id of the user, outside, who is to own the project's folder inside.
    owner: Option<u32>,
    is_there: bool,
}

/// Steps of mounting, for error messages, in the order of [`STEPS`].
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

type StepResult = child::Done<Step>;

impl Layer {
    /// Makes a layer for the worker `pid`, which sees `tree`. `owner`: the user of the tests, if
    /// the project's files are shown as theirs.
    pub(crate) fn of(
        pid: Pid,
        tree: &Path,
        bytes: u64,
        owner: Option<u32>,
    ) -> Result<Layer, LayerError> {
        if let Some(place) = mounted_below(tree) {
            return Err(LayerError::MountedBelow { place });
        }
        let path = format!("/proc/{}/ns/mnt", pid.as_raw_nonzero());
        let failed = |source| LayerError::Process { action: "join the sandbox's mounts", source };
        let mounts: OwnedFd = File::open(path).map_err(failed)?.into();
        let users = if geteuid().is_root() { None } else { Some(owning(&mounts).map_err(failed)?) };
        // Without rights over the whole machine, the overlay keeps its metadata in attributes that
        // every user may set.
        let overlay = match users {
            Some(_) => c"lowerdir=.,upperdir=/run/layer/upper,workdir=/run/layer/work,userxattr",
            None => c"lowerdir=.,upperdir=/run/layer/upper,workdir=/run/layer/work,redirect_dir=on",
        };
        let memory = c_string(format!("mode=755,size={bytes},nr_inodes=200000"));
        Ok(Layer { mounts, users, tree: c_string(tree), memory, overlay, owner, is_there: false })
    }

    /// Mounts a clean layer, in place of an earlier one.
    pub(crate) fn lay(&mut self) -> Result<(), LayerError> {
        self.lift()?;
        self.inside(|| self.cover())?;
        self.is_there = true;
        Ok(())
    }

    /// Unmounts the layer if it is mounted, and discards what was written to it.
    pub(crate) fn lift(&mut self) -> Result<(), LayerError> {
        if std::mem::take(&mut self.is_there) {
            self.inside(|| self.uncover())?;
        }
        Ok(())
    }

    /// Runs `work` in a process that has joined the worker's mounts.
    fn inside(&self, work: impl Fn() -> StepResult) -> Result<(), LayerError> {
        let failed = |source| LayerError::Process { action: "start a process", source };
        let (news, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(|it| failed(it.into()))?;
        // SAFETY: the copy has this thread alone and memory of its own, and makes system calls
        // only.
        let pid = unsafe { fork() }.map_err(failed)?;
        let Some(pid) = pid else {
            let done = self.join().and_then(|()| work());
            let Failed(step, errno) = match done {
                // SAFETY: ends the copy without running any code of the original.
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
                let source = io::Error::from_raw_os_error(i32::from_ne_bytes([e, f, g, h]));
                Err(LayerError::Step { step: STEPS.get(step).unwrap_or(&"it"), source })
            }
        }
    }

    fn join(&self) -> StepResult {
        let namespaces = self.users.iter().map(|it| (it, libc::CLONE_NEWUSER));
        for (namespace, kind) in namespaces.chain([(&self.mounts, libc::CLONE_NEWNS)]) {
            // SAFETY: no pointers.
            check(Step::Join, unsafe { libc::setns(namespace.as_raw_fd(), kind) })?;
        }
        Ok(())
    }

    fn uncover(&self) -> StepResult {
        // SAFETY: the string lives through the call.
        check(Step::Uncover, unsafe { libc::umount2(self.tree.as_ptr(), libc::MNT_DETACH) })
    }

    fn cover(&self) -> StepResult {
        // SAFETY: strings and structures live through the calls, and the structure is plain data.
        unsafe {
            // The path itself cannot be passed, as commas and colons in it would have a meaning.
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
            // The project's folder gets owner and mode of the upper folder. Ownership cannot be
            // given to a user whom the namespace does not know.
            let _ = libc::chown(UPPER.as_ptr(), status.st_uid, status.st_gid);
            check(Step::Folders, libc::chmod(UPPER.as_ptr(), status.st_mode & 0o7777))?;
            mount(Step::Overlay, c"overlay", &self.tree, self.overlay)?;
            check(Step::Uncover, libc::umount2(INSIDE.as_ptr(), libc::MNT_DETACH))
        }
    }
}

/// Forks this process; returns `None` in the copy.
///
/// # Safety
///
/// The copy may make system calls only, and must not return.
pub(super) unsafe fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the caller's promise. The library's function would take locks and call handlers.
    let pid: c_long = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    match i32::try_from(pid) {
        Ok(0) => Ok(None),
        Ok(pid) if pid > 0 => Ok(Pid::from_raw(pid)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the user namespace that a namespace belongs to.
fn owning(namespace: &OwnedFd) -> io::Result<OwnedFd> {
    // SAFETY: no pointers; the descriptor is new and has no other owner.
    unsafe {
        let users = libc::ioctl(namespace.as_raw_fd(), libc::NS_GET_USERNS);
        if users < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(users)) }
    }
}

/// Returns the first mount point below `folder`, which an overlay would not show.
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

/// Decodes octal escapes such as `\040` for a space.
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
