//! git's own metadata of the worktrees of Trellis: which belongs to a folder, whether it is
//! complete, and the removal of what a killed git left.
//!
//! git names metadata after the folder and adds a number to a name in use, so that the name alone
//! does not tell whose it is.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::NamedTempFile;

use crate::error::{GitError, TargetUse};
use crate::git::Git;
use trellis_os::process::is_alive;
use trellis_store::disk;
use trellis_store::fault_point;

static LAST: AtomicU64 = AtomicU64::new(0);

const PREFIX: &str = "trellis-";

/// Folder of the worktrees of Trellis, below the project's folder.
const FOLDER: &str = ".trellis/worktrees";

/// Returns a name for a checkout of this process, unique per call.
pub(crate) fn own_name() -> String {
    format!("{PREFIX}{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed))
}

/// Removes metadata of worktrees of Trellis that are incomplete or whose folder is gone: those that
/// `is_mine` selects by name, whose locks the caller holds, and checkouts of ended processes. `git
/// worktree prune` would also take a person's worktrees on a disk that is not there now.
pub fn sweep(git: &Git, is_mine: impl Fn(&str) -> bool) -> Result<(), GitError> {
    let project = ProjectPlace::of(git)?;
    for entry in project.entries() {
        let is_stale = match project.name_of(&entry) {
            Some(name) => is_mine(&name) && (!entry.is_whole() || project.is_gone(&entry, &name)),
            None => entry.is_of_the_dead(&is_mine),
        };
        if is_stale {
            let removed = fault_point::reach().and_then(|()| fs::remove_dir_all(&entry.0));
            removed.map_err(GitError::io_at("remove", &entry.0))?;
        }
    }
    Ok(())
}

/// Returns what a person does with a branch, given by its full name, in any worktree of the
/// repository; no worktree shows the branch as checked out meanwhile.
pub(crate) fn use_of(git: &Git, branch: &str) -> Result<Option<TargetUse>, GitError> {
    let common = git.run(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
    let main = Entry(PathBuf::from(common.trim_end()));
    let linked = fs::read_dir(main.0.join("worktrees")).into_iter().flatten().flatten();
    let short = branch.trim_start_matches("refs/heads/");
    let use_in = |it: Entry| {
        let names = |file: &str, name: &str| it.text(file).lines().any(|line| line == name);
        match () {
            () if REBASES.iter().any(|file| names(file, branch)) => Some(TargetUse::Rebase),
            () if names("BISECT_START", short) => Some(TargetUse::Bisection),
            () => None,
        }
    };
    Ok(std::iter::once(main).chain(linked.map(|it| Entry(it.path()))).find_map(use_in))
}

/// Returns the folder in which a branch, given by its full name, is checked out.
pub(crate) fn folder_of(git: &Git, branch: &str) -> Result<Option<PathBuf>, GitError> {
    let said = git.bytes(&["worktree", "list", "--porcelain", "-z"], b"")?;
    let mut folder = None;
    for line in said.split(|byte| *byte == 0) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            folder = Some(PathBuf::from(OsStr::from_bytes(path)));
        }
        if line.strip_prefix(b"branch ") == Some(branch.as_bytes()) {
            return Ok(folder);
        }
    }
    Ok(None)
}

/// Returns whether a folder has the place of a worktree of Trellis, in any project.
pub(crate) fn is_of_trellis(folder: &Path) -> bool {
    folder.parent().is_some_and(|it| it.ends_with(FOLDER))
}

/// Files with the names of the branches that a rebase will move.
const REBASES: [&str; 3] =
    ["rebase-merge/head-name", "rebase-merge/update-refs", "rebase-apply/head-name"];
/// State of the metadata of a worktree of Trellis.
#[derive(Debug)]
pub(crate) enum Metadata {
    /// git does not know the folder, or the metadata is damaged.
    None,
    /// git was killed while it made the worktree.
    Incomplete,
    Whole(Link),
}

/// Connection of a worktree with its metadata, in both directions.
#[derive(Debug)]
pub(crate) struct Link {
    entry: Entry,
    folder: PathBuf,
}

/// Returns the state of the metadata of the worktree `name`.
pub(crate) fn metadata(git: &Git, name: &str) -> Result<Metadata, GitError> {
    let project = ProjectPlace::of(git)?;
    let folder = project.folder(name);
    let entry =
        project.entries().into_iter().find(|it| project.name_of(it).as_deref() == Some(name));
    Ok(match entry {
        Some(it) if it.is_being_made() => Metadata::Incomplete,
        Some(entry) if entry.is_whole() => Metadata::Whole(Link { entry, folder }),
        _ => Metadata::None,
    })
}

impl Link {
    /// Returns whether folder and metadata name each other. In a project that was moved or copied
    /// they name the places before.
    pub(crate) fn holds(&self) -> bool {
        let own = self.folder.join(".git");
        let is = |one: Option<PathBuf>, other: &Path| {
            one.is_some_and(|it| it.canonicalize().ok() == other.canonicalize().ok())
        };
        is(self.entry.file(), &own) && is(pointed_to(&self.folder), &self.entry.0)
    }

    /// Makes folder and metadata name each other. `git worktree repair` would also change the
    /// project that this one is a copy of.
    pub(crate) fn restore(&self, home: &Path, name: &str) -> io::Result<()> {
        let own = self.folder.join(".git");
        replace(&self.entry.0, "gitdir", &format!("{}\n", own.display()))?;
        let text = format!("gitdir: {}\n", self.entry.0.display());
        disk::write(home, &format!("{FOLDER}/{name}/.git"), &text)
    }
}

/// Writes a file in git's metadata, complete or not at all.
fn replace(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    fault_point::reach()?;
    file.persist(folder.join(name)).map(drop).map_err(|it| it.error)
}

/// Returns the metadata that the `.git` file of a worktree names.
fn pointed_to(folder: &Path) -> Option<PathBuf> {
    let text = trellis_os::files::read_text(folder.join(".git")).ok()?;
    Some(folder.join(text.trim_end().strip_prefix("gitdir: ")?))
}

/// Location of a project in its repository, and of git's metadata.
struct ProjectPlace {
    top: PathBuf,
    /// Folder of the project's worktrees, relative to the top.
    worktrees: PathBuf,
    metadata: PathBuf,
}

impl ProjectPlace {
    fn of(git: &Git) -> Result<ProjectPlace, GitError> {
        let line =
            |arguments: &[&str]| Ok::<_, GitError>(git.run(arguments)?.trim_end().to_owned());
        let common = line(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
        Ok(ProjectPlace {
            top: line(&["rev-parse", "--show-toplevel"])?.into(),
            worktrees: Path::new(&line(&["rev-parse", "--show-prefix"])?).join(FOLDER),
            metadata: Path::new(&common).join("worktrees"),
        })
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.top.join(&self.worktrees).join(name)
    }

    /// Returns the metadata of all worktrees of the repository.
    fn entries(&self) -> Vec<Entry> {
        let entries = fs::read_dir(&self.metadata).into_iter().flatten().flatten();
        entries.map(|it| Entry(it.path())).collect()
    }

    /// Returns the name of the worktree of this project that metadata belongs to, if any.
    fn name_of(&self, entry: &Entry) -> Option<String> {
        let file = entry.file()?;
        let folder = file.parent()?;
        let top = ancestor_before(folder.parent()?, &self.worktrees)?;
        let name = folder.file_name()?.to_str()?.to_owned();
        // The `.git` file decides, where there is one. Otherwise the project was moved or copied
        // from another top, where there is no other project now.
        let is_ours = match pointed_to(&self.folder(&name)) {
            Some(it) => it.file_name() == entry.0.file_name(),
            None => top == self.top || !(self.is_in_use(top) || entry.is_named_by(folder)),
        };
        is_ours.then_some(name)
    }

    /// Returns whether another project of this repository may be at a top: below this one, or in
    /// another worktree of a person.
    fn is_in_use(&self, top: &Path) -> bool {
        let is_worktree = |it: &Entry| it.file().is_some_and(|it| it == top.join(".git"));
        top.starts_with(&self.top)
            || self.metadata.parent() == Some(&top.join(".git"))
            || self.entries().iter().any(is_worktree)
    }

    /// Returns whether the folder of a worktree is gone. A person may lock it to keep its metadata.
    fn is_gone(&self, entry: &Entry, name: &str) -> bool {
        !entry.0.join("locked").exists() && !self.folder(name).join(".git").exists()
    }
}

/// Returns the path before a relative path at the end of another.
fn ancestor_before<'a>(path: &'a Path, end: &Path) -> Option<&'a Path> {
    path.ends_with(end).then(|| path.ancestors().nth(end.components().count()))?
}

/// Returns a path without `..`. A newer git may write a relative one.
fn without_dots(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut out, part| {
        match part {
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
        out
    })
}

/// Metadata of a worktree: a folder.
#[derive(Debug)]
struct Entry(PathBuf);

impl Entry {
    fn id(&self) -> &str {
        self.0.file_name().and_then(OsStr::to_str).unwrap_or_default()
    }

    fn text(&self, file: &str) -> String {
        trellis_os::files::read_text(self.0.join(file)).unwrap_or_default()
    }

    /// Returns the `.git` file of the worktree.
    fn file(&self) -> Option<PathBuf> {
        let text = self.text("gitdir");
        Some(without_dots(&self.0.join(text.trim_end()))).filter(|_| !text.trim().is_empty())
    }

    /// Returns whether the `.git` file of a folder names this metadata.
    fn is_named_by(&self, folder: &Path) -> bool {
        pointed_to(folder).and_then(|it| it.canonicalize().ok()) == self.0.canonicalize().ok()
    }

    /// Returns whether git has not finished making the worktree: it locks it meanwhile.
    fn is_being_made(&self) -> bool {
        self.text("locked").starts_with("initializing")
    }

    fn is_whole(&self) -> bool {
        let is_there = |file: &str| !self.text(file).trim().is_empty();
        ["HEAD", "commondir", "gitdir"].into_iter().all(is_there) && !self.is_being_made()
    }

    /// Returns whether this is left of a checkout, or of a worktree selected by `is_mine` that git
    /// had begun to make, when its process ended.
    fn is_of_the_dead(&self, is_mine: impl Fn(&str) -> bool) -> bool {
        let has_ended = || self.owner().is_some_and(|it| !is_alive(it));
        match self.file() {
            None => is_mine(self.id()) || has_ended(),
            Some(_) if !self.is_whole() => has_ended(),
            Some(file) => self.owner().is_some() && !file.exists(),
        }
    }

    /// Returns the process of a checkout.
    fn owner(&self) -> Option<u32> {
        let (pid, number) = self.id().strip_prefix(PREFIX)?.split_once('-')?;
        number.parse::<u64>().ok()?;
        pid.parse().ok()
    }
}
