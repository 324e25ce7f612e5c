//! What a git that was killed leaves in a repository: locks that nobody holds, and notes of worktrees that were never whole.
//! Both stop every later git, a person's as well.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::crash_point;
use super::disk::cannot;
use super::git::broken;
use crate::error::Fault;
use crate::workspace::git::Git;
use crate::workspace::journal::{Event, Journal};

static LAST: AtomicU64 = AtomicU64::new(0);

const PREFIX: &str = "trellis-";

/// What a git takes that only moves files and a branch, and more.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long it may take a git whose owner was killed to end what it was told to do.
const ORPHANED: Duration = Duration::from_secs(30);

/// Names the process that began a git to whoever finds that git: its number, and since when it runs, in ticks of the kernel.
pub(super) const OWNER: &str = "TRELLIS_GIT_OWNER";

/// The same of this process.
pub(super) static SELF: LazyLock<String> = LazyLock::new(|| {
    let pid = std::process::id().to_string();
    let since = began(&pid).unwrap_or_default();
    format!("{pid} {since}")
});

/// A name for a checkout of this process, another one each time.
pub(super) fn own_name() -> String {
    format!("{PREFIX}{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed))
}

/// Removes notes of worktrees that were never whole, as far as they are ours: those of `name`, whose lock the caller holds, and
/// those of processes that are gone. Git forgets folders that are gone.
pub(super) fn sweep(git: &Git, name: Option<&str>) -> Result<(), Fault> {
    sweep_all(git, |id| name == Some(id))
}

/// The same for all works that nobody else can be at work on.
pub(crate) fn sweep_all(git: &Git, is_mine: impl Fn(&str) -> bool) -> Result<(), Fault> {
    let common = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
    let common = PathBuf::from(git.run(&common).map_err(broken)?.trim_end()).join("worktrees");
    for entry in fs::read_dir(common).into_iter().flatten().flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        let is_ours = is_mine(&id) || is_of_the_dead(&id);
        if is_ours && !is_whole(&entry.path()) {
            crash_point::reach();
            fs::remove_dir_all(entry.path())
                .map_err(|error| cannot(&format!("remove {}", entry.path().display()), &error))?;
        }
    }
    git.run(&["worktree", "prune"]).map(drop).map_err(broken)
}

fn is_of_the_dead(id: &str) -> bool {
    let pid = id.strip_prefix(PREFIX).and_then(|it| it.split('-').next()?.parse::<u32>().ok());
    pid.is_some_and(|it| !Path::new("/proc").join(it.to_string()).exists())
}

/// Git locks a worktree while it makes it.
fn is_whole(notes: &Path) -> bool {
    let says = |file: &str| trellis_sandbox::files::read_text(notes.join(file)).unwrap_or_default();
    let is_there = |file: &str| !says(file).trim().is_empty();
    ["HEAD", "commondir", "gitdir"].into_iter().all(is_there)
        && !says("locked").starts_with("initializing")
}

/// Waits for the git of a start that was killed: it still does what that start told it, behind the back of whoever takes the work
/// up.
pub(super) fn wait_for_orphaned_git(git: &Git) -> Result<(), Fault> {
    let ends = Instant::now() + ORPHANED;
    while let Some(pid) = orphan(git) {
        if Instant::now() >= ends {
            let message =
                format!("git (process {pid}) is still finishing the work of a killed start");
            return Err(Fault::input(message)
                .kind("busy")
                .hint("wait for it, or end it, and run again; nothing is lost"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// A process in this repository's folders that was begun as a git of ours by one that is gone.
fn orphan(git: &Git) -> Option<String> {
    let top = top(git);
    let is_orphan = |it: &PathBuf| {
        let environment = fs::read(it.join("environ")).unwrap_or_default();
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

/// Since when a process runs, in ticks of the kernel.
fn began(pid: &str) -> Option<String> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).ok()?;
    // The second field is a name, in parentheses, which may hold anything; this is the 22nd.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
}

/// Locks that a git may hold whatever it changes.
const SHARED: [&str; 2] = ["packed-refs.lock", "config.lock"];

/// Removes locks of a killed git, those named and those that any git may hold, where no process has them open and no git is at
/// work: one that waits for an editor has its lock without having it open.
pub(super) fn locks(git: &Git, journal: &Journal, names: &[&str]) -> Result<(), Fault> {
    for name in names.iter().chain(&SHARED) {
        let path = git.run(&["rev-parse", "--path-format=absolute", "--git-path", name]);
        let path = PathBuf::from(path.map_err(broken)?.trim_end());
        match standing(git, &path) {
            StaleLock::Gone => {}
            StaleLock::Left => remove(&path, name, journal)?,
            StaleLock::Held => {
                let message =
                    format!("another git process is running: {} is its lock", path.display());
                return Err(Fault::input(message)
                    .kind("busy")
                    .hint("wait until it ends, and run again; nothing is lost"));
            }
        }
    }
    Ok(())
}

/// The same for all locks of a repository that only we commit to; what is held is left to git's own words.
pub(super) fn own_locks(git: &Git, journal: &Journal) -> Result<(), Fault> {
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

fn remove(path: &Path, name: &str, journal: &Journal) -> Result<(), Fault> {
    crash_point::reach();
    let removed = fs::remove_file(path);
    let outcome = removed.map_or_else(|error| error.to_string(), |()| "done".to_owned());
    let arguments = vec![format!("(remove stale {name})")];
    let reported = journal.log(Event::Git { arguments, outcome });
    reported.map_err(|error| cannot("write the journal", &error))
}

/// What a lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StaleLock {
    Gone,
    /// Of a git that is gone.
    Left,
    Held,
}

/// What a lock is when who has it had time to give it back: the git of a start that was killed lives on for a moment.
fn standing(git: &Git, lock: &Path) -> StaleLock {
    let ends = Instant::now() + PATIENCE;
    loop {
        let Some(before) = identity(lock) else { return StaleLock::Gone };
        let is_held = is_held(git, lock);
        // Meanwhile it may have been given back, and taken by another.
        if !is_held && identity(lock) == Some(before) {
            return StaleLock::Left;
        }
        if Instant::now() >= ends {
            return StaleLock::Held;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What tells a file from another one of the same path.
fn identity(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let it = fs::symlink_metadata(path).ok()?;
    Some((it.dev(), it.ino(), it.ctime(), it.ctime_nsec()))
}

/// Whether a lock of git's is somebody's.
fn is_held(git: &Git, lock: &Path) -> bool {
    let is_open = fs::metadata(lock).is_ok_and(|it| is_open(it.dev(), it.ino()));
    is_open || is_at_work(git)
}

/// Whether a process has a file open; of other users' nothing can be seen.
fn is_open(device: u64, inode: u64) -> bool {
    let open = processes().flat_map(|it| fs::read_dir(it.join("fd")).into_iter().flatten());
    let mut files = open.flatten().filter_map(|it| fs::metadata(it.path()).ok());
    files.any(|it| it.dev() == device && it.ino() == inode)
}

/// Whether a git runs in this repository's folders.
fn is_at_work(git: &Git) -> bool {
    let top = top(git);
    let is_git =
        |it: &PathBuf| fs::read_to_string(it.join("comm")).is_ok_and(|it| it.trim() == "git");
    processes().filter(is_git).any(|it| is_in(&it, &top))
}

fn top(git: &Git) -> PathBuf {
    // Where git does not say, the folder that it is asked in has to do.
    let top = git.run(&["rev-parse", "--show-toplevel"]);
    top.map_or_else(|_| git.root().to_owned(), |it| PathBuf::from(it.trim_end()))
}

/// Whether a process works in a folder.
fn is_in(process: &Path, folder: &Path) -> bool {
    fs::read_link(process.join("cwd")).is_ok_and(|it| it.starts_with(folder))
}

fn processes() -> impl Iterator<Item = PathBuf> {
    fs::read_dir("/proc").into_iter().flatten().flatten().map(|it| it.path())
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A process that ends with its input.
    fn process(folder: &Path, owner: &str) -> Child {
        let mut command = Command::new("cat");
        command.current_dir(folder).env(OWNER, owner).stdin(Stdio::piped()).stdout(Stdio::null());
        command.spawn().expect("cat starts")
    }

    #[test]
    fn a_git_whose_owner_is_gone_is_waited_for_and_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(".trellis")).expect("made");
        let (journal, _) = Journal::open(folder.path()).expect("a journal");
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
}
