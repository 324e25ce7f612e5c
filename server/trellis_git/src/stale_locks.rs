//! Locks of a killed git in a repository, which stop every later git, also the user's own.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::error::GitError;
use crate::git::Git;
use trellis_store::fault_point;
use trellis_store::journal::{Event, Journal};

/// Maximum wait for a lock; a git that only moves files and a branch needs less.
const PATIENCE: Duration = Duration::from_secs(3);

/// Maximum wait for a git whose owner was killed to finish its command.
const ORPHANED: Duration = Duration::from_secs(30);

/// Environment variable that names the process that started a git: its id, and its start time in
/// kernel ticks.
pub(crate) const OWNER: &str = "TRELLIS_GIT_OWNER";

/// Value of [`OWNER`] for this process.
pub(crate) static SELF: LazyLock<String> = LazyLock::new(|| {
    let pid = std::process::id().to_string();
    let since = began(&pid).unwrap_or_default();
    format!("{pid} {since}")
});

/// Waits for the git of a killed start, which may still execute its command while a new start
/// resumes the work.
pub(crate) fn wait_for_orphaned_git(git: &Git) -> Result<(), GitError> {
    let ends = Instant::now() + ORPHANED;
    while let Some(process) = orphan(git) {
        if Instant::now() >= ends {
            return Err(GitError::Orphaned { process });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Returns a process in this repository's folders that is a git of a Trellis process that has
/// ended.
fn orphan(git: &Git) -> Option<String> {
    let top = top(git);
    let is_orphan = |it: &PathBuf| {
        let Ok(environment) = fs::read(it.join("environ")) else { return false };
        if environment.is_empty() {
            // It has just begun, and does not have its environment yet.
            return is_git(it);
        }
        let prefix = format!("{OWNER}=");
        let mut lines = environment.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let owner = lines.find_map(|it| Some(it.strip_prefix(&prefix)?.to_owned()));
        owner.is_some_and(|it| {
            let (pid, since) = it.split_once(' ').unwrap_or((&it, ""));
            began(pid).as_deref() != Some(since)
        })
    };
    let found = processes().filter(|it| is_in(it, &top)).find(is_orphan)?;
    Some(found.file_name()?.to_string_lossy().into_owned())
}

/// Returns the start time of a process, in kernel ticks.
fn began(pid: &str) -> Option<String> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).ok()?;
    // The second field is a name in parentheses, which may contain anything; the start time is
    // field 22.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
}

/// Locks that any git command may hold.
const SHARED: [&str; 3] = ["packed-refs.lock", "config.lock", "reftable/tables.list.lock"];

/// Removes locks of a killed git: those in `names` and [`SHARED`]. A lock stays if a process has it
/// open or a git is running: a git that waits for an editor holds its lock without having the file
/// open.
pub(crate) fn locks(git: &Git, journal: &Journal, names: &[&str]) -> Result<(), GitError> {
    let common = git.run(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
    // A reftable has no file for a branch.
    let has_ref_files = Path::new(common.trim_end()).join("refs/heads").is_dir();
    let names = names.iter().chain(&SHARED);
    for name in names.filter(|it| has_ref_files || !it.starts_with("refs/")) {
        let path = git.run(&["rev-parse", "--path-format=absolute", "--git-path", name]);
        let path = PathBuf::from(path?.trim_end());
        match standing(git, &path) {
            StaleLock::Gone => {}
            StaleLock::Left => remove(&path, name, journal)?,
            StaleLock::Held => return Err(GitError::LockHeld { lock: path }),
        }
    }
    Ok(())
}

/// Removes all locks of a killed git in a repository that only Trellis commits to. For held locks,
/// git reports its own error.
pub(crate) fn own_locks(git: &Git, journal: &Journal) -> Result<(), GitError> {
    let folder = git.root().join(".git");
    let top = ["index.lock", "HEAD.lock"].into_iter().chain(SHARED).map(|it| folder.join(it));
    let refs = ignore::WalkBuilder::new(folder.join("refs")).standard_filters(false).build();
    let refs = refs.flatten().map(ignore::DirEntry::into_path);
    let refs = refs.filter(|it| it.extension().is_some_and(|it| it == "lock"));
    for path in top.chain(refs).filter(|it| it.exists()) {
        if standing(git, &path) == StaleLock::Left {
            let name = path.strip_prefix(&folder).unwrap_or(&path).to_string_lossy();
            remove(&path, &name, journal)?;
        }
    }
    Ok(())
}

fn remove(path: &Path, name: &str, journal: &Journal) -> Result<(), GitError> {
    let removed = fault_point::reach().and_then(|()| fs::remove_file(path));
    let outcome = removed.map_or_else(|error| error.to_string(), |()| "done".to_owned());
    let arguments = vec![format!("(remove stale {name})")];
    let reported = journal.log(Event::Git { arguments, outcome });
    reported.map_err(GitError::io("write the journal"))
}

/// State of a lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StaleLock {
    Gone,
    /// The lock of a git that has ended.
    Left,
    Held,
}

/// Returns the state of a lock after its owner had time to release it: the git of a killed start
/// lives on for a moment.
fn standing(git: &Git, lock: &Path) -> StaleLock {
    let ends = Instant::now() + PATIENCE;
    loop {
        let Some(before) = identity(lock) else { return StaleLock::Gone };
        let is_held = is_held(git, lock);
        // Meanwhile the lock may have been released and taken by another process.
        if !is_held && identity(lock) == Some(before) {
            return StaleLock::Left;
        }
        if Instant::now() >= ends {
            return StaleLock::Held;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns values that distinguish a file from another one at the same path.
fn identity(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let it = fs::symlink_metadata(path).ok()?;
    Some((it.dev(), it.ino(), it.ctime(), it.ctime_nsec()))
}

/// Returns whether a process holds a lock of git.
fn is_held(git: &Git, lock: &Path) -> bool {
    let is_open = fs::metadata(lock).is_ok_and(|it| is_open(it.dev(), it.ino()));
    is_open || is_at_work(git)
}

/// Returns whether a process has a file open; files of other users' processes are not visible.
fn is_open(device: u64, inode: u64) -> bool {
    let open = processes().flat_map(|it| fs::read_dir(it.join("fd")).into_iter().flatten());
    let mut files = open.flatten().filter_map(|it| fs::metadata(it.path()).ok());
    files.any(|it| it.dev() == device && it.ino() == inode)
}

/// Returns whether a git runs in this repository's folders.
fn is_at_work(git: &Git) -> bool {
    let top = top(git);
    processes().filter(|it| is_git(it)).any(|it| is_in(&it, &top))
}

fn is_git(process: &Path) -> bool {
    fs::read_to_string(process.join("comm")).is_ok_and(|it| it.trim() == "git")
}

fn top(git: &Git) -> PathBuf {
    // If git does not answer, the folder of its commands is used.
    let top = git.run(&["rev-parse", "--show-toplevel"]);
    top.map_or_else(|_| git.root().to_owned(), |it| PathBuf::from(it.trim_end()))
}

/// Returns whether a process has its working directory in a folder.
fn is_in(process: &Path, folder: &Path) -> bool {
    fs::read_link(process.join("cwd")).is_ok_and(|it| it.starts_with(folder))
}

fn processes() -> impl Iterator<Item = PathBuf> {
    fs::read_dir("/proc").into_iter().flatten().flatten().map(|it| it.path())
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};
    use trellis_store::origin::{Origin, Workflow};

    use super::*;

    /// Starts a process that ends with its input.
    fn process(folder: &Path, owner: &str) -> Child {
        let mut command = Command::new("cat");
        command.current_dir(folder).env(OWNER, owner).stdin(Stdio::piped()).stdout(Stdio::null());
        command.spawn().expect("cat starts")
    }

    #[test]
    fn a_git_whose_owner_is_gone_is_waited_for_and_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(".trellis")).expect("made");
        let (journal, _) =
            Journal::open(folder.path(), Origin::create(Workflow::Repair)).expect("a journal");
        let git = Git::open(folder.path(), &journal).expect("git works").expect("git is there");
        let (pid, since) = SELF.split_once(' ').expect("two words");
        let elsewhere = tempfile::tempdir().expect("a folder");
        let recycled = format!("{pid} {since}1");
        let table = [
            ("4194305 1", folder.path(), true),
            (recycled.as_str(), folder.path(), true),
            (SELF.as_str(), folder.path(), false),
            ("4194305 1", elsewhere.path(), false),
        ];
        for (owner, place, is_orphan) in table {
            let mut child = process(place, owner);
            let found = orphan(&git);
            let wanted = is_orphan.then(|| child.id().to_string());
            drop(child.stdin.take());
            assert_eq!(found, wanted, "{owner} in {}", place.display());
            wait_for_orphaned_git(&git).expect("it ends");
            child.wait().expect("it ended");
        }
    }

    #[test]
    fn a_git_that_has_just_begun_has_no_environment_and_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let elsewhere = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(".trellis")).expect("made");
        let (journal, _) =
            Journal::open(folder.path(), Origin::create(Workflow::Repair)).expect("a journal");
        let git = Git::open(folder.path(), &journal).expect("git works").expect("git is there");
        for (name, is_orphan) in [("git", true), ("other", false)] {
            let program = elsewhere.path().join(name);
            std::os::unix::fs::symlink("/bin/cat", &program).expect("linked");
            let mut command = Command::new(&program);
            command.current_dir(folder.path()).env_clear().stdin(Stdio::piped());
            let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
            let found = orphan(&git);
            let wanted = is_orphan.then(|| child.id().to_string());
            drop(child.stdin.take());
            child.wait().expect("it ended");
            assert_eq!(found, wanted, "{name}");
        }
    }
}
