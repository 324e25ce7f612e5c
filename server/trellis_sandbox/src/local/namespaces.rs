//! Isolation in namespaces made by Trellis itself.

use std::{
    collections::BTreeSet,
    fs,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use libc::{
    CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWUTS,
    MOUNT_ATTR_NODEV, MOUNT_ATTR_NOEXEC, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY,
};
use rustix::process::{getegid, geteuid};

use super::{
    SandboxSetup, c_string,
    child::{Identity, MountStep},
    filter, layer,
    mounts::{self, Mount},
    orders, owners,
    spawn::ChildSpec,
};
use crate::{
    error::{FileAction, FileError, IsolationError},
    sandbox::{Launch, Writable},
};

/// User ids that no distribution gives to people or services (systemd keeps them for its own
/// short-lived users). Each sandbox has its own, so that limits by user count only its processes.
const SANDBOX_USER_IDS: std::ops::Range<u32> = 61_184..65_000;

/// The user id inside of tests that root started.
const INSIDE: u32 = 1000;

const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// Links that programs expect in `/dev`.
const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Plans a sandbox. `folder` is its scratch folder on the machine.
pub(super) fn plan(launch: &Launch, folder: &Path) -> Result<SandboxSetup, IsolationError> {
    let (identity, mut namespaces) = if geteuid().is_root() {
        (Identity::Unprivileged { inside: INSIDE, outside: next_user_id() }, 0)
    } else {
        (Identity::Own, CLONE_NEWUSER)
    };
    namespaces |= CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
    let own_network = !launch.limits.network;
    if own_network {
        namespaces |= CLONE_NEWNET;
    }
    let writable = Writable::private();
    let settings =
        settings(folder, identity).map_err(FileError::of(FileAction::WriteInto, folder))?;
    let mut orders = orders(launch, &launch.command, &writable);
    let root = folder.join("root");
    fs::create_dir(&root).map_err(FileError::of(FileAction::Create, &root))?;
    // If the namespace cannot be made, tests of another user see a project that they cannot write
    // to.
    let users = owning(launch, identity);
    orders.steps = steps(launch, &root, &settings, &writable, users.as_ref());
    orders.root = Some(c_string(&root));
    orders.identity = identity;
    orders.loopback = own_network;
    let (filters, filter) = filter::available(true);
    orders.filters = filters;
    let descriptors = users.into_iter().collect();
    let job = ChildSpec { orders, namespaces, descriptors, group: None, remains: None };
    Ok(SandboxSetup { job, writable, landlock: Ok(()), filter, info: None })
}

/// Makes the user namespace that shows the project's files as owned by the tests' user. `None` with
/// a mount below the project, which would not be shown then.
fn owning(launch: &Launch, identity: Identity) -> Option<OwnedFd> {
    let Identity::Unprivileged { outside, .. } = identity else { return None };
    if layer::mounted_below(&launch.tree).is_some() {
        return None;
    }
    let status = fs::metadata(&launch.tree).ok()?;
    owners::ownership((status.uid(), status.gid()), outside).ok()
}

fn next_user_id() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Two Trellis processes should use different ids, too.
    let start = std::process::id().wrapping_mul(31);
    let number = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
    SANDBOX_USER_IDS.start + number % (SANDBOX_USER_IDS.end - SANDBOX_USER_IDS.start)
}

/// Writes generated files for `/etc`, since those of the machine would name its users.
fn settings(folder: &Path, identity: Identity) -> std::io::Result<Vec<(PathBuf, PathBuf)>> {
    let (user, group) = match identity {
        Identity::Own | Identity::Untouched => (geteuid().as_raw(), getegid().as_raw()),
        Identity::Unprivileged { inside, .. } => (inside, inside),
    };
    let home = Writable::private().home;
    let passwd = format!(
        "root:x:0:0:root:/nonexistent:/bin/false\nsandbox:x:{user}:{group}::{}:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n",
        home.display()
    );
    let group = format!("root:x:0:\nsandbox:x:{group}:\nnogroup:x:65534:\n");
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    let hosts = format!("127.0.0.1 localhost {name}\n::1 localhost\n");
    let made =
        [("passwd", passwd), ("group", group), ("hosts", hosts), ("resolv.conf", String::new())];
    made.into_iter()
        .map(|(name, text)| {
            let file = folder.join(name);
            fs::write(&file, text)?;
            Ok((Path::new("/etc").join(name), file))
        })
        .collect()
}

/// Builds the mount steps, including the folders that lead to each mount point.
struct Builder<'a> {
    root: &'a Path,
    made: BTreeSet<PathBuf>,
    steps: Vec<MountStep>,
}

impl Builder<'_> {
    fn inside(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    fn folder(&mut self, path: &Path) {
        if path == Path::new("/") || !self.made.insert(path.to_owned()) {
            return;
        }
        if let Some(parent) = path.parent() {
            self.folder(parent);
        }
        self.steps.push(MountStep::Folder(c_string(self.inside(path))));
    }

    fn bind(&mut self, from: &Path, at: &Path, attributes: u64) {
        if from.is_dir() {
            self.folder(at);
        } else {
            at.parent().into_iter().for_each(|it| self.folder(it));
            self.steps.push(MountStep::File(c_string(self.inside(at))));
        }
        let (from, at) = (c_string(from), c_string(self.inside(at)));
        self.steps.push(MountStep::Bind { from, at, attributes });
    }

    fn owned(&mut self, path: &Path, attributes: u64, users: &OwnedFd) {
        self.folder(path);
        let (from, at, users) = (c_string(path), c_string(self.inside(path)), users.as_raw_fd());
        self.steps.push(MountStep::Owned { from, at, attributes, users });
    }

    fn link(&mut self, at: &Path, to: &Path) {
        at.parent().into_iter().for_each(|it| self.folder(it));
        self.steps.push(MountStep::Link { to: c_string(to), at: c_string(self.inside(at)) });
    }

    fn memory(&mut self, at: &Path, bytes: u64) {
        self.folder(at);
        let options = format!("mode=1777,size={bytes},nr_inodes=200000");
        let (options, at) = (c_string(options), c_string(self.inside(at)));
        self.steps.push(MountStep::Memory { at, options, flags: libc::MS_NOSUID | libc::MS_NODEV });
    }
}

fn steps(
    launch: &Launch,
    root: &Path,
    settings: &[(PathBuf, PathBuf)],
    writable: &Writable,
    users: Option<&OwnedFd>,
) -> Vec<MountStep> {
    let mut builder = Builder { root, made: BTreeSet::new(), steps: Vec::new() };
    let read_only = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    let dev = Path::new("/dev");
    builder.folder(dev);
    for name in DEVICES {
        let device = dev.join(name);
        builder.bind(&device, &device, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
    }
    for (name, to) in LINKS {
        builder.link(&dev.join(name), Path::new(to));
    }
    builder.folder(&dev.join("pts"));
    builder.steps.push(MountStep::Terminals(c_string(root.join("dev/pts"))));
    builder.folder(Path::new("/proc"));
    builder.steps.push(MountStep::Processes(c_string(root.join("proc"))));
    // Before the tree, which may lie in the machine's `/tmp`.
    for place in &writable.all {
        builder.memory(place, launch.limits.file_bytes);
    }
    builder.folder(Path::new("/var"));
    builder.link(Path::new("/var/tmp"), &writable.temporary);
    builder.folder(Path::new(layer::PLACE));
    for place in &mounts::mounts(launch, &[]) {
        match place {
            Mount::Path(path) if *path == launch.tree => {}
            Mount::Path(path) => builder.bind(path, path, read_only),
            Mount::Link { at, to } => builder.link(at, to),
        }
    }
    // The tree has a mount of its own, even where it lies inside another mounted folder, and on top
    // of it.
    match users {
        None => builder.bind(&launch.tree, &launch.tree, read_only),
        Some(users) => builder.owned(&launch.tree, read_only, users),
    }
    for (at, from) in settings {
        builder.bind(from, at, read_only);
    }
    builder.steps
}
