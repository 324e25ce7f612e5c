//! The code that the new process runs between its creation and `execve`.
//!
//! The process is a copy of a program with many threads, of which only this one continues: a lock
//! that another thread held stays locked for ever. So this code neither allocates nor locks; the
//! parent prepares everything, and only system calls remain.

use std::{
    ffi::{CStr, CString},
    os::fd::RawFd,
    ptr,
};

use libc::{c_char, c_int, c_long, c_ulong};

use super::owners::show_owned;

/// One step of building the new root. Paths begin with the folder that becomes the root.
#[derive(Debug)]
pub(crate) enum MountStep {
    /// An empty folder, which may already exist.
    Folder(CString),
    /// An empty file, as a mount point.
    File(CString),
    /// A symbolic link.
    Link { to: CString, at: CString },
    /// A file system in memory.
    Memory { at: CString, options: CString, flags: c_ulong },
    /// A file or folder of the machine, with everything mounted below it.
    Bind { from: CString, at: CString, attributes: u64 },
    /// A folder of the machine without the mounts below it. Inside, its files have different
    /// owners, mapped by the user namespace `users`.
    Owned { from: CString, at: CString, attributes: u64, users: RawFd },
    /// `/proc` of the new process namespace. Skipped where the kernel refuses it, as it does inside
    /// containers that hide parts of theirs.
    Processes(CString),
    /// Pseudo-terminals of the sandbox's own.
    Terminals(CString),
}

/// The user that the process runs as.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Identity {
    /// The user who started Trellis, without special rights.
    Own,
    /// The user who started Trellis, with all rights: for a program that sets up the isolation
    /// itself.
    Untouched,
    /// An unprivileged user, if root started Trellis: the id `outside` on the machine, which is
    /// `inside` within a user namespace of its own.
    Unprivileged { inside: u32, outside: u32 },
}

/// Everything the child needs, made before the child exists.
#[derive(Debug)]
pub(crate) struct ChildSetup {
    pub(crate) steps: Vec<MountStep>,
    /// The folder that becomes `/`; `None` leaves the machine's files visible.
    pub(crate) root: Option<CString>,
    pub(crate) identity: Identity,
    /// True with a network namespace, to switch on its loopback device.
    pub(crate) loopback: bool,
    pub(crate) streams: [RawFd; 3],
    /// A pipe with one byte each time the parent has done its part.
    pub(crate) go: RawFd,
    /// The pipe on which the child reports that it waits for the parent, or what failed.
    pub(crate) news: RawFd,
    pub(crate) landlock: Option<RawFd>,
    pub(crate) filters: Vec<Vec<libc::sock_filter>>,
    /// Descriptors that the new program keeps under the same numbers.
    pub(crate) keep: Vec<RawFd>,
    pub(crate) limits: Vec<(u32, libc::rlimit)>,
    pub(crate) program: CString,
    pub(crate) arguments: Vec<CString>,
    pub(crate) environment: Vec<CString>,
}

/// The size of a record on the `news` pipe: a stage, or the request for maps, and an error number.
pub(crate) const NEWS: usize = 8;

/// The request that the parent write the maps of the user namespace.
pub(crate) const WANTS_MAPS: i32 = -1;

/// Stages of the setup, for error messages, in the order of [`STAGES`].
#[derive(Clone, Copy)]
pub(super) enum Stage {
    Begin,
    Session,
    Private,
    Root,
    Files,
    Pivot,
    Network,
    Identity,
    Landlock,
    Filter,
    Limits,
    Streams,
    Program,
}

/// The number of the last stage: the isolation is complete, so the program itself is to blame.
pub(crate) const PROGRAM: usize = Stage::Program as usize;

/// Names of the stages.
pub(crate) const STAGES: [&str; 13] = [
    "waiting for Trellis",
    "starting a session",
    "making the mounts private",
    "creating a root folder",
    "mounting files",
    "changing the root",
    "enabling the loopback network",
    "becoming an unprivileged user",
    "applying Landlock",
    "applying the system call filter",
    "setting limits",
    "connecting the streams",
    "starting the program",
];

/// The stage that failed, and its error number.
pub(super) struct Failed<S>(pub(super) S, pub(super) c_int);

pub(super) type Done<S = Stage> = Result<(), Failed<S>>;

/// Runs the program, or reports the failure to the parent and exits. Never returns.
///
/// # Safety
///
/// Call this only in a freshly made process, with pointers from `orders`, each list ended by a null
/// pointer.
pub(crate) unsafe fn become_program(
    orders: &ChildSetup,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> ! {
    // SAFETY: the caller's promise.
    let Failed(stage, errno) = match unsafe { prepare(orders, arguments, environment) } {
        Err(failed) => failed,
        Ok(never) => match never {},
    };
    tell(orders.news, stage as i32, errno);
    // SAFETY: ends the process without running any code of the parent.
    unsafe { libc::_exit(127) }
}

enum Never {}

unsafe fn prepare(
    orders: &ChildSetup,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> Result<Never, Failed<Stage>> {
    await_go(orders.go)?;
    begin()?;
    if let Some(root) = &orders.root {
        build_root(orders, root)?;
    }
    if orders.loopback {
        switch_on_loopback()?;
    }
    become_user(orders)?;
    end_with_parent(orders.go)?;
    if !matches!(orders.identity, Identity::Untouched) {
        // SAFETY: no pointers.
        check(Stage::Identity, unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    }
    if let Some(ruleset) = orders.landlock {
        // SAFETY: no pointers.
        let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) };
        check_long(Stage::Landlock, done)?;
    }
    streams(orders)?;
    for (resource, limit) in &orders.limits {
        // SAFETY: `limit` lives through the call.
        check(Stage::Limits, unsafe { libc::setrlimit(*resource, limit) })?;
    }
    orders.filters.iter().try_for_each(|filter| install(filter))?;
    // SAFETY: the caller's promise. Only a failure returns.
    unsafe { libc::execve(orders.program.as_ptr(), arguments, environment) };
    Err(Failed(Stage::Program, errno()))
}

fn errno() -> c_int {
    // SAFETY: the location is the thread's own.
    unsafe { *libc::__errno_location() }
}

pub(super) fn check<S>(stage: S, result: c_int) -> Done<S> {
    if result < 0 { Err(Failed(stage, errno())) } else { Ok(()) }
}

fn check_long(stage: Stage, result: c_long) -> Done {
    if result < 0 { Err(Failed(stage, errno())) } else { Ok(()) }
}

fn tell(news: RawFd, code: i32, errno: c_int) {
    let mut record = [0u8; NEWS];
    record[..4].copy_from_slice(&code.to_ne_bytes());
    record[4..].copy_from_slice(&errno.to_ne_bytes());
    // SAFETY: the record lives through the call. An error is ignored: without a reader it cannot be
    // reported.
    let _ = unsafe { libc::write(news, record.as_ptr().cast(), NEWS) };
}

/// Waits for the parent's byte. The end of the pipe means that the parent is gone.
fn await_go(go: RawFd) -> Done {
    let mut byte = 0u8;
    loop {
        // SAFETY: one byte into one byte.
        match unsafe { libc::read(go, (&raw mut byte).cast(), 1) } {
            1 => return Ok(()),
            0 => return Err(Failed(Stage::Begin, libc::ESRCH)),
            _ if errno() == libc::EINTR => {}
            _ => return Err(Failed(Stage::Begin, errno())),
        }
    }
}

/// Starts a session, with signals as a shell would pass them on.
fn begin() -> Done {
    // SAFETY: plain system calls; the signal set is initialized by the first of its two calls.
    unsafe {
        check(Stage::Session, libc::setsid())?;
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL); // two cannot be changed, which does no harm
        }
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        check(
            Stage::Session,
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()),
        )
    }
}

/// Makes this process die with the thread that made it. Changing the user would undo this, so it
/// comes later; the pipe shows a parent that died before.
fn end_with_parent(go: RawFd) -> Done {
    let mut pipe = libc::pollfd { fd: go, events: 0, revents: 0 };
    // SAFETY: no pointers; one structure that lives through the call.
    let gone = unsafe {
        check(Stage::Session, libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0))?;
        check(Stage::Session, libc::poll(&raw mut pipe, 1, 0))?;
        pipe.revents & libc::POLLHUP != 0
    };
    if gone { Err(Failed(Stage::Begin, libc::ESRCH)) } else { Ok(()) }
}

const EMPTY: &CStr = c"";
const MEMORY: &CStr = c"tmpfs";

fn mount(
    stage: Stage,
    from: &CStr,
    at: &CStr,
    kind: &CStr,
    flags: c_ulong,
    options: Option<&CStr>,
) -> Done {
    let options = options.map_or(ptr::null(), |it| it.as_ptr().cast());
    // SAFETY: all strings live through the call.
    let done = unsafe { libc::mount(from.as_ptr(), at.as_ptr(), kind.as_ptr(), flags, options) };
    check(stage, done)
}

fn build_root(orders: &ChildSetup, root: &CStr) -> Done {
    mount(Stage::Private, EMPTY, c"/", EMPTY, libc::MS_REC | libc::MS_PRIVATE, None)?;
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    mount(Stage::Root, MEMORY, root, MEMORY, flags, Some(c"mode=755,size=1m"))?;
    orders.steps.iter().try_for_each(put)?;
    // SAFETY: strings live through the calls. The old root is stacked below the new one, hence the
    // same path twice, and then unmounted.
    unsafe {
        check(Stage::Pivot, libc::chdir(root.as_ptr()))?;
        let here = c".".as_ptr();
        check_long(Stage::Pivot, libc::syscall(libc::SYS_pivot_root, here, here))?;
        check(Stage::Pivot, libc::umount2(here, libc::MNT_DETACH))?;
        check(Stage::Pivot, libc::chdir(c"/".as_ptr()))?;
    }
    attributes(Stage::Pivot, c"/", libc::MOUNT_ATTR_RDONLY, false)
}

fn put(step: &MountStep) -> Done {
    match step {
        // SAFETY: strings live through the calls.
        MountStep::Folder(at) => unless_there(unsafe { libc::mkdir(at.as_ptr(), 0o755) }),
        MountStep::File(at) => {
            // SAFETY: as above; the descriptor is closed once.
            unsafe {
                let file = libc::open(at.as_ptr(), libc::O_CREAT | libc::O_CLOEXEC, 0o644);
                check(Stage::Files, file)?;
                check(Stage::Files, libc::close(file))
            }
        }
        // SAFETY: as above.
        MountStep::Link { to, at } => {
            unless_there(unsafe { libc::symlink(to.as_ptr(), at.as_ptr()) })
        }
        MountStep::Memory { at, options, flags } => {
            mount(Stage::Files, MEMORY, at, MEMORY, *flags, Some(options))
        }
        MountStep::Bind { from, at, attributes: wanted } => {
            mount(Stage::Files, from, at, EMPTY, libc::MS_BIND | libc::MS_REC, None)?;
            attributes(Stage::Files, at, *wanted, true)
        }
        MountStep::Owned { from, at, attributes, users } => {
            check(Stage::Files, show_owned(from, at, *attributes, *users))
        }
        MountStep::Processes(at) => {
            let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
            match mount(Stage::Files, c"proc", at, c"proc", flags, None) {
                Err(Failed(_, libc::EPERM)) => Ok(()),
                done => done,
            }
        }
        MountStep::Terminals(at) => {
            let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
            let options = c"newinstance,ptmxmode=0666,mode=620";
            mount(Stage::Files, c"devpts", at, c"devpts", flags, Some(options))
        }
    }
}

fn unless_there(result: c_int) -> Done {
    match check(Stage::Files, result) {
        Err(Failed(_, libc::EEXIST)) => Ok(()),
        done => done,
    }
}

/// Adds attributes and removes none: inside a user namespace, those that the machine has set are
/// locked.
fn attributes(stage: Stage, at: &CStr, wanted: u64, below: bool) -> Done {
    let attributes =
        libc::mount_attr { attr_set: wanted, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = if below { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the structure lives through the call, and its size is passed.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            at.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    check_long(stage, done)
}

/// Switches on the loopback device of the namespace, since tests start servers and connect to them.
fn switch_on_loopback() -> Done {
    // SAFETY: the structure is plain data, filled as the call requires, and lives through the call.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        check(Stage::Network, socket)?;
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as c_char;
        request.ifr_name[1] = b'o' as c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
        let done = libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request);
        check(Stage::Network, done)?;
        check(Stage::Network, libc::close(socket))
    }
}

/// The only right of root that is kept: to read any file, so that a project in a folder closed to
/// others can be tested.
const READ_ANY_FILE: u32 = 2; // CAP_DAC_READ_SEARCH
const LAST_CAPABILITY: c_int = 63;

fn become_user(orders: &ChildSetup) -> Done {
    let kept = match orders.identity {
        Identity::Untouched => return Ok(()),
        Identity::Own => 0,
        Identity::Unprivileged { inside, outside } => {
            // SAFETY: no pointers.
            let apart = unsafe { libc::unshare(libc::CLONE_NEWUSER) } == 0;
            if apart {
                tell(orders.news, WANTS_MAPS, 0);
                await_go(orders.go)?;
            }
            change_user(if apart { inside } else { outside }, apart)?;
            if apart { 1 << READ_ANY_FILE } else { 0 }
        }
    };
    drop_capabilities(kept)
}

fn change_user(user: u32, keep: bool) -> Done {
    // Direct system calls, since the library's functions of these names take a lock and wait for
    // all other threads, which do not exist here.
    // SAFETY: no pointers but an empty list.
    unsafe {
        check_long(Stage::Identity, libc::syscall(libc::SYS_setgroups, 0, ptr::null::<u32>()))?;
        check(Stage::Identity, libc::prctl(libc::PR_SET_KEEPCAPS, c_ulong::from(keep), 0, 0, 0))?;
        check_long(Stage::Identity, libc::syscall(libc::SYS_setresgid, user, user, user))?;
        check_long(Stage::Identity, libc::syscall(libc::SYS_setresuid, user, user, user))
    }
}

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct CapabilityData {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

fn drop_capabilities(kept: u32) -> Done {
    for capability in 0..=LAST_CAPABILITY {
        let keep = capability < 32 && kept & (1 << capability) != 0;
        // SAFETY: no pointers. A capability that the kernel does not know, or that may not be
        // dropped, does no harm: nothing below can bring it back.
        let _ = unsafe {
            if keep {
                0
            } else {
                libc::prctl(libc::PR_CAPBSET_DROP, capability as c_ulong, 0, 0, 0)
            }
        };
    }
    let header = CapabilityHeader { version: 0x2008_0522, pid: 0 };
    let low = CapabilityData { effective: kept, permitted: kept, inheritable: kept };
    let high = CapabilityData { effective: 0, permitted: 0, inheritable: 0 };
    let data = [low, high];
    // SAFETY: header and data have the layout of version 3 of the call.
    let done = unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) };
    check_long(Stage::Identity, done)?;
    if kept == 0 {
        return Ok(());
    }
    let raise = libc::PR_CAP_AMBIENT_RAISE as c_ulong;
    // SAFETY: no pointers.
    let done =
        unsafe { libc::prctl(libc::PR_CAP_AMBIENT, raise, c_ulong::from(READ_ANY_FILE), 0, 0) };
    check(Stage::Identity, done)
}

fn streams(orders: &ChildSetup) -> Done {
    for (number, stream) in (0..).zip(orders.streams) {
        // SAFETY: no pointers.
        check(Stage::Streams, unsafe { libc::dup2(stream, number) })?;
    }
    let close_on_exec = libc::CLOSE_RANGE_CLOEXEC as c_int;
    // SAFETY: no pointers. Older kernels lack the call; there, our own descriptors close because of
    // their flag.
    let _ = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, close_on_exec) };
    orders.keep.iter().try_for_each(|kept| {
        // SAFETY: no pointers.
        check(Stage::Streams, unsafe { libc::fcntl(*kept, libc::F_SETFD, 0) })
    })
}

fn install(filter: &[libc::sock_filter]) -> Done {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    let mode = libc::SECCOMP_MODE_FILTER as c_ulong;
    // SAFETY: the program lives through the call, which only reads it.
    let done = unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program) };
    check(Stage::Filter, done)
}
