//! Control groups: limits for all processes of a sandbox together, with version 1 and 2 of the
//! kernel interface.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::process::{Pid, getpid, test_kill_process};

use crate::{
    error::{ControlGroupError, FileAction, FileError},
    request::Limits,
};

/// Memory for the worker, on top of the tests it runs.
const WORKER_BYTES: u64 = 128 << 20;
const WORKER_PROCESSES: u64 = 4;

const PREFIX: &str = "trellis-";

/// A control group of Trellis. It is removed when dropped, by which time its processes must be
/// gone.
#[derive(Debug)]
pub(crate) struct Group {
    /// One folder, or in version 1 one for each controller.
    folders: Vec<PathBuf>,
    /// The file that counts kills for lack of memory, and the text before the number.
    kills: (PathBuf, &'static str),
    version: u8,
}

impl Group {
    /// Makes a group under `limits`, beside or below the group of this process.
    pub(crate) fn make(limits: &Limits) -> Result<Group, ControlGroupError> {
        let read = |path: &str| {
            fs::read_to_string(path).map_err(FileError::of(FileAction::Read, Path::new(path)))
        };
        Group::make_in(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?, limits)
    }

    /// Makes a group from the contents of `/proc/self/cgroup` and `/proc/self/mountinfo`.
    fn make_in(
        membership: &str,
        mounts: &str,
        limits: &Limits,
    ) -> Result<Group, ControlGroupError> {
        let first = match own_folder(membership, mounts, None) {
            Some(own) => version_2(&own, limits),
            None => Err(ControlGroupError::NotMounted),
        };
        first.or_else(|two| {
            let one = version_1(membership, mounts, limits);
            one.map_err(|one| ControlGroupError::NoVersion {
                version_2: Box::new(two),
                version_1: Box::new(one),
            })
        })
    }

    /// Moves a process into the group; processes that it starts later belong to the group as well.
    pub(crate) fn add(&self, pid: Pid) -> Result<(), ControlGroupError> {
        let pid = pid.as_raw_nonzero().to_string();
        let folders = self.folders.iter();
        Ok(folders.map(|it| it.join("cgroup.procs")).try_for_each(|file| write(&file, &pid))?)
    }

    /// Returns how many processes in the group the kernel has killed because memory ran out.
    pub(crate) fn memory_kills(&self) -> u64 {
        let (file, word) = &self.kills;
        let text = fs::read_to_string(file).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix(word)?.trim().parse().ok());
        count.unwrap_or(0)
    }

    /// Returns the version of the interface, 1 or 2.
    pub(crate) fn version(&self) -> u8 {
        self.version
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            // A folder that cannot be removed yet is removed by `sweep` when a later group is made.
            let _ = fs::remove_dir(folder);
        }
    }
}

fn version_2(own: &Path, limits: &Limits) -> Result<Group, ControlGroupError> {
    // Groups with processes cannot pass controllers on, so ours becomes a sibling, or lies higher.
    let ready = |folder: &Path| {
        let on = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
        ["memory", "pids"].iter().all(|wanted| on.split_whitespace().any(|it| it == *wanted))
    };
    let parent =
        own.ancestors().take_while(|it| it.join("cgroup.procs").exists()).find(|it| ready(it));
    let folder = make(parent.ok_or(ControlGroupError::NotDelegated)?)?;
    let kills = (folder.join("memory.events"), "oom_kill ");
    let group = Group { folders: vec![folder.clone()], kills, version: 2 };
    write(&folder.join("memory.max"), &memory(limits))?;
    // The file does not exist where there is no swap.
    let _ = write(&folder.join("memory.swap.max"), "0");
    write(&folder.join("pids.max"), &processes(limits))?;
    Ok(group)
}

fn version_1(membership: &str, mounts: &str, limits: &Limits) -> Result<Group, ControlGroupError> {
    let own = |controller| {
        own_folder(membership, mounts, Some(controller))
            .ok_or(ControlGroupError::NoController { controller })
    };
    let memory_folder = make(&own("memory")?)?;
    let kills = (memory_folder.join("memory.oom_control"), "oom_kill ");
    let mut group = Group { folders: vec![memory_folder.clone()], kills, version: 1 };
    write(&memory_folder.join("memory.limit_in_bytes"), &memory(limits))?;
    // The file does not exist where swap is not accounted for.
    let _ = write(&memory_folder.join("memory.memsw.limit_in_bytes"), &memory(limits));
    let pids_folder = make(&own("pids")?)?;
    group.folders.push(pids_folder.clone());
    write(&pids_folder.join("pids.max"), &processes(limits))?;
    Ok(group)
}

fn memory(limits: &Limits) -> String {
    limits.memory_bytes.saturating_add(WORKER_BYTES).to_string()
}

fn processes(limits: &Limits) -> String {
    limits.processes.saturating_add(WORKER_PROCESSES).to_string()
}

/// Returns the folder of the group this process is in. `controller`: `None` for version 2.
fn own_folder(membership: &str, mounts: &str, controller: Option<&str>) -> Option<PathBuf> {
    let path = membership.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let found = match controller {
            Some(wanted) => controllers.split(',').any(|it| it == wanted),
            None => controllers.is_empty(),
        };
        found.then_some(path)
    })?;
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        let (kind, options) = (after.next()?, after.nth(1)?);
        let fits = match controller {
            Some(wanted) => kind == "cgroup" && options.split(',').any(|it| it == wanted),
            None => kind == "cgroup2",
        };
        let mut before = before.split(' ').skip(3);
        let (root, point) = (before.next()?, before.next()?);
        let below = Path::new(path).strip_prefix(root).ok()?;
        fits.then(|| Path::new(point).join(below))
    })
}

/// Makes a folder with a unique name in `parent`.
fn make(parent: &Path) -> Result<PathBuf, FileError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    sweep(parent);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = parent.join(format!("{PREFIX}{}-{number}", getpid().as_raw_nonzero()));
    match fs::create_dir(&folder) {
        // A stale folder of an earlier process with the same id.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done,
    }
    .map_err(FileError::of(FileAction::Create, &folder))?;
    Ok(folder)
}

/// Removes the groups of processes that were killed and could not remove them.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner =
            name.to_str().and_then(|it| it.strip_prefix(PREFIX)?.split('-').next()?.parse().ok());
        let Some(owner) = owner.and_then(Pid::from_raw) else { continue };
        if test_kill_process(owner) == Err(rustix::io::Errno::SRCH) {
            let _ = fs::remove_dir(entry.path()); // refused while the group has processes
        }
    }
}

fn write(file: &Path, text: &str) -> Result<(), FileError> {
    fs::write(file, text).map_err(FileError::of(FileAction::Write, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine has only one of the two versions, so plain files stand in for those of the kernel.
    #[test]
    fn both_versions_of_the_interface() {
        let limits = Limits { memory_bytes: 1 << 30, processes: 100, ..Limits::default() };
        let sys = tempfile::tempdir().expect("a folder");
        let at = |path: &str| sys.path().join(path);
        let two = "0::/app.slice/editor.scope\n";
        let mounts = format!("30 23 0:26 / {} rw - cgroup2 cgroup2 rw\n", at("2").display());
        fs::create_dir_all(at("2/app.slice/editor.scope")).expect("folders");
        for folder in ["2", "2/app.slice", "2/app.slice/editor.scope"] {
            fs::write(at(folder).join("cgroup.procs"), "").expect("a file");
        }
        let refusal = Group::make_in(two, &mounts, &limits).expect_err("no controllers");
        let ControlGroupError::NoVersion { version_2, .. } = refusal else { panic!("{refusal}") };
        assert!(matches!(*version_2, ControlGroupError::NotDelegated), "{version_2}");
        fs::write(at("2/app.slice/cgroup.subtree_control"), "cpu memory pids").expect("a file");
        let group = Group::make_in(two, &mounts, &limits).expect("a group");
        let folder = group.folders[0].clone();
        assert_eq!((group.version(), folder.parent()), (2, Some(at("2/app.slice").as_path())));
        assert_eq!(fs::read_to_string(folder.join("pids.max")).expect("set"), "104");
        fs::write(folder.join("memory.events"), "oom 3\noom_kill 2\n").expect("a file");
        assert_eq!(group.memory_kills(), 2);

        let one = "4:memory:/docker/abc/sub\n8:pids:/\n0::/\n";
        let mounts = format!(
            "31 23 0:27 /docker/abc {0}/memory rw - cgroup cgroup rw,memory\n32 23 0:28 / {0}/pids rw - cgroup cgroup rw,pids\n",
            at("1").display()
        );
        fs::create_dir_all(at("1/memory/sub")).expect("folders");
        fs::create_dir_all(at("1/pids")).expect("folders");
        let group = Group::make_in(one, &mounts, &limits).expect("a group");
        assert_eq!(
            (group.version(), group.folders[0].parent()),
            (1, Some(at("1/memory/sub").as_path()))
        );
        let limit = fs::read_to_string(group.folders[0].join("memory.limit_in_bytes"));
        assert_eq!(limit.expect("set"), ((1u64 << 30) + WORKER_BYTES).to_string());
        assert_eq!(group.folders[1].parent(), Some(at("1/pids").as_path()));
    }
}
