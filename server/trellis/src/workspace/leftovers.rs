//! What a git that was killed leaves in a repository: locks that nobody holds, and notes of worktrees that were never whole.
//! Both stop every later git, a person's as well.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::worktree::{broken, cannot};
use crate::error::Fault;
use crate::workspace::git::Git;
use crate::workspace::journal::{Event, Journal};

static LAST: AtomicU64 = AtomicU64::new(0);

const PREFIX: &str = "trellis-";

/// A name for a checkout of this process, another one each time.
pub(super) fn own_name() -> String {
    format!("{PREFIX}{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed))
}

/// Removes notes of worktrees that were never whole, as far as they are ours: those of `name`, whose lock the caller holds, and
/// those of processes that are gone. Git forgets folders that are gone.
pub(super) fn sweep(git: &Git, name: Option<&str>) -> Result<(), Fault> {
    let common = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
    let common = PathBuf::from(git.run(&common).map_err(broken)?.trim_end()).join("worktrees");
    for entry in fs::read_dir(common).into_iter().flatten().flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        let is_ours = name == Some(id.as_str()) || is_of_the_dead(&id);
        if is_ours && !is_whole(&entry.path()) {
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
    let says = |file: &str| run::files::read_text(notes.join(file)).unwrap_or_default();
    let is_there = |file: &str| !says(file).trim().is_empty();
    ["HEAD", "commondir", "gitdir"].into_iter().all(is_there)
        && !says("locked").starts_with("initializing")
}

/// Removes locks of a killed git: of the index, of HEAD and of a branch, where no process has them open.
pub(super) fn locks(git: &Git, journal: &Journal, branch: &str) -> Result<(), Fault> {
    for name in ["index.lock".to_owned(), "HEAD.lock".to_owned(), format!("{branch}.lock")] {
        let path = git.run(&["rev-parse", "--path-format=absolute", "--git-path", &name]);
        let path = PathBuf::from(path.map_err(broken)?.trim_end());
        let Ok(lock) = fs::metadata(&path) else { continue };
        if is_open(lock.dev(), lock.ino()) {
            return Err(Fault::input(format!(
                "another git is at work ({} is open)",
                path.display()
            ))
            .hint("wait for it to end, and run again; nothing is lost"));
        }
        let removed = fs::remove_file(&path);
        let outcome = removed.map_or_else(|error| error.to_string(), |()| "done".to_owned());
        let arguments = vec![format!("(remove stale {name})")];
        let told = journal.log(Event::Git { arguments, outcome });
        told.map_err(|error| cannot("write the journal", &error))?;
    }
    Ok(())
}

/// Whether a process has a file open; of other users' nothing can be seen.
fn is_open(device: u64, inode: u64) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let open = processes.flat_map(|it| fs::read_dir(it.path().join("fd")).into_iter().flatten());
    let mut files = open.flatten().filter_map(|it| fs::metadata(it.path()).ok());
    files.any(|it| it.dev() == device && it.ino() == inode)
}
