//! Isolation in namespaces made by the program `bwrap`, for machines that let it create them but
//! not Trellis.

use std::{
    ffi::OsString,
    fs::File,
    io::{Read, Seek, Write},
    os::fd::{AsRawFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{MemfdFlags, memfd_create},
    pipe::{PipeFlags, pipe_with},
    process::Pid,
};
use serde::Deserialize;

use super::{
    SandboxSetup,
    child::Identity,
    filter, layer,
    mounts::{self, Mount},
    orders,
    spawn::{ChildSpec, handle_of},
};
use crate::{
    error::IsolationError,
    sandbox::{Launch, Writable},
};

/// Plans a sandbox with bubblewrap, whose path is `program`.
pub(super) fn plan(
    program: Option<&Path>,
    launch: &Launch,
) -> Result<SandboxSetup, IsolationError> {
    let program = program.ok_or(IsolationError::NoBubblewrap)?;
    let writable = Writable::private();
    let cannot = |source| IsolationError::Pipe { action: "create pipes for bubblewrap", source };
    let (info, info_writer) = pipe_with(PipeFlags::CLOEXEC).map_err(|e| cannot(e.into()))?;
    // Several filters are applied one after the other; bubblewrap takes one program per file.
    let (filters, filter) = filter::available(true);
    let programs: Vec<OwnedFd> =
        filters.iter().map(|it| in_memory(it)).collect::<std::io::Result<_>>().map_err(cannot)?;
    let mut command: Vec<OsString> = vec![program.into()];
    command.extend(ISOLATION.map(OsString::from));
    if launch.limits.network {
        command.push("--share-net".into());
    }
    command.extend(["--info-fd".into(), info_writer.as_raw_fd().to_string().into()]);
    for program in &programs {
        command.extend(["--add-seccomp-fd".into(), program.as_raw_fd().to_string().into()]);
    }
    command.extend(files(launch, &writable));
    command.push("--".into());
    command.extend(launch.command.iter().cloned());
    let mut orders = orders(launch, &command, &writable);
    orders.keep = programs.iter().chain([&info_writer]).map(AsRawFd::as_raw_fd).collect();
    orders.identity = Identity::Untouched;
    let descriptors = programs.into_iter().chain([info_writer]).collect();
    let job = ChildSpec { orders, namespaces: 0, descriptors, group: None, remains: None };
    Ok(SandboxSetup { job, writable, landlock: Ok(()), filter, info: Some(info) })
}

const ISOLATION: [&str; 10] = [
    "--unshare-all",
    "--unshare-user",
    "--die-with-parent",
    "--as-pid-1",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--hostname",
    "sandbox",
    "--clearenv",
];

/// Returns bubblewrap's arguments that build the file system, in the order of the mounts.
fn files(launch: &Launch, writable: &Writable) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let mut add = |option: &str, arguments: &[&Path]| {
        words.push(option.into());
        words.extend(arguments.iter().map(OsString::from));
    };
    add("--dev", &[Path::new("/dev")]);
    add("--proc", &[Path::new("/proc")]);
    for place in &writable.all {
        add("--tmpfs", &[place]);
    }
    add("--dir", &[Path::new(layer::PLACE)]);
    add("--symlink", &[&writable.temporary, Path::new("/var/tmp")]);
    for place in &mounts::mounts(launch, &["/etc/passwd", "/etc/group", "/etc/hosts"]) {
        match place {
            Mount::Path(path) if *path == launch.tree => {}
            Mount::Path(path) => add("--ro-bind", &[path, path]),
            Mount::Link { at, to } => add("--symlink", &[to, at]),
        }
    }
    // The tree has a mount of its own even where it lies inside another mounted folder.
    add("--ro-bind", &[&launch.tree, &launch.tree]);
    add("--remount-ro", &[Path::new("/")]);
    add("--chdir", &[Path::new("/")]);
    for (name, value) in writable.with(&launch.variables) {
        words.extend(["--setenv".into(), name, value]);
    }
    words
}

fn in_memory(filter: &[libc::sock_filter]) -> std::io::Result<OwnedFd> {
    let mut file = File::from(memfd_create("filter", MemfdFlags::CLOEXEC)?);
    for it in filter {
        file.write_all(&it.code.to_ne_bytes())?;
        file.write_all(&[it.jt, it.jf])?;
        file.write_all(&it.k.to_ne_bytes())?;
    }
    file.rewind()?;
    Ok(file.into())
}

#[derive(Deserialize)]
struct Info {
    #[serde(rename = "child-pid")]
    child: i32,
}

/// Returns a handle on the worker and its process id, which bubblewrap reports just before it
/// starts the worker.
pub(super) async fn worker(info: OwnedFd) -> Result<(OwnedFd, Pid), IsolationError> {
    let read = move || {
        let mut text = String::new();
        File::from(info).read_to_string(&mut text).map(|_| text)
    };
    let text = tokio::task::spawn_blocking(read).await.map_err(std::io::Error::other).flatten();
    let text =
        text.map_err(|source| IsolationError::Pipe { action: "read bubblewrap's output", source })?;
    let info: Info = serde_json::from_str(&text).map_err(|_| IsolationError::NoNamespaces)?;
    handle_of(info.child).map_err(|source| IsolationError::BubblewrapEnded { source })
}
