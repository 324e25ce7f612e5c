//! Limits on a repository's configuration: which programs git starts, and where git writes.
//!
//! A folder made by someone else may come with a `.git` whose configuration names programs that git
//! would run with the rights of the user who opened it. A program that changes what git stores
//! (filters, merge drivers) cannot be left out without storing something else, so such a repository
//! is refused. Other programs are switched off ([`SETTINGS`]). A setting that the user's own
//! configuration has too is allowed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::GuardError;

/// Settings given to every git command, over those of the repository: no hooks, no programs that
/// sign, page or watch, no work in nested repositories, no repository among the project's own
/// files.
pub const SETTINGS: [&str; 14] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.safecrlf=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "merge.verifySignatures=false",
    "submodule.recurse=false",
    "worktree.useRelativePaths=false",
    "diff.ignoreSubmodules=dirty",
    "maintenance.auto=false",
    "gc.auto=0",
    "safe.bareRepository=explicit",
    // Other users may own the folder, as in a container; this guard refuses what they could
    // exploit.
    "safe.directory=*",
];

/// Variables that keep git off the network: a missing object is not fetched from an address that
/// the repository names.
pub const ALONE: [(&str, &str); 3] =
    [("GIT_TERMINAL_PROMPT", "0"), ("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "none")];

/// Location of a repository.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The folder with `.git`.
    top: PathBuf,
    git: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The git folder is `.git` in the top folder.
    Own,
    /// The git folder belongs to a worktree that its repository lists.
    Worktree,
    /// The git folder is elsewhere; its settings must name the top folder.
    Elsewhere,
}

/// Returns the location of the repository around a folder, if any.
///
/// # Errors
///
/// The reason git may not work in it: its data is in another repository, or behind symbolic links.
pub(crate) fn place(folder: &Path) -> Result<Option<Place>, GuardError> {
    let folder = std::path::absolute(folder).map_err(GuardError::Io)?;
    let Some(top) = folder.ancestors().find(|it| it.join(".git").symlink_metadata().is_ok()) else {
        return Ok(None);
    };
    let own = top.join(".git");
    let kind = own.symlink_metadata().map_err(GuardError::Io)?.file_type();
    if kind.is_symlink() {
        return Err(GuardError::LinkedRepository { path: own });
    }
    if kind.is_dir() {
        let place = Place { top: top.to_owned(), git: own, kind: Kind::Own };
        return place.keeps_to_itself().map(|()| Some(place));
    }
    let (git, kind) = pointed_to(top, &own)?;
    let place = Place { top: top.to_owned(), git, kind };
    place.keeps_to_itself().map(|()| Some(place))
}

/// Returns the git folder that a `.git` file points to.
fn pointed_to(top: &Path, own: &Path) -> Result<(PathBuf, Kind), GuardError> {
    let path = own.to_owned();
    let text = trellis_os::files::read_text(own)
        .map_err(|source| GuardError::IoAt { path: path.clone(), source })?;
    let to = text
        .trim_end()
        .strip_prefix("gitdir: ")
        .ok_or_else(|| GuardError::NoFolder { path: path.clone() })?;
    let git = top.join(to).canonicalize().map_err(|source| GuardError::Unreachable {
        path: path.clone(),
        to: to.to_owned(),
        source,
    })?;
    let Ok(back) = trellis_os::files::read_text(git.join("gitdir")) else {
        return Ok((git, Kind::Elsewhere));
    };
    // A worktree known to its repository.
    let common = common(&git)?;
    let is_known = git.join(back.trim_end()).canonicalize().ok() == own.canonicalize().ok()
        && git.parent() == Some(&common.join("worktrees"));
    match is_known {
        true => Ok((git, Kind::Worktree)),
        false => Err(GuardError::OfAnotherFolder { path, git }),
    }
}

/// Returns the folder of the data that all worktrees of a repository share.
fn common(git: &Path) -> Result<PathBuf, GuardError> {
    let file = git.join("commondir");
    let to = trellis_os::files::read_text(&file);
    let real = to.and_then(|it| git.join(it.trim_end()).canonicalize());
    real.map_err(|source| GuardError::IoAt { path: file, source })
}

impl Place {
    /// Checks that git would write only below its own folder.
    fn keeps_to_itself(&self) -> Result<(), GuardError> {
        no_links(&self.git)?;
        if self.kind == Kind::Worktree {
            return common(&self.git).and_then(|it| no_links(&it));
        }
        match self.git.join("commondir").symlink_metadata() {
            Ok(_) => Err(GuardError::CommitsElsewhere { git: self.git.clone() }),
            Err(_) => Ok(()),
        }
    }

    /// Checks the repository's own settings, as printed by `git config --list -z --show-scope`:
    /// they start no program and redirect no writes.
    ///
    /// # Errors
    ///
    /// The effect that a setting would have.
    pub(crate) fn may_say(&self, settings: &str) -> Result<(), GuardError> {
        let all: Vec<GuardedSetting<'_>> = settings_of(settings).collect();
        let theirs: BTreeSet<(&str, &str)> =
            all.iter().filter(|it| !it.is_repositorys).map(|it| (it.key, it.value)).collect();
        for GuardedSetting { key, value, .. } in all.iter().filter(|it| it.is_repositorys) {
            if starts_a_program(key) && !value.is_empty() && !theirs.contains(&(key, value)) {
                let (key, value) = ((*key).to_owned(), (*value).to_owned());
                return Err(GuardError::StartsProgram { key, value });
            }
        }
        // In a worktree, git ignores the shared `core.worktree`.
        let counts =
            |it: &&GuardedSetting<'_>| self.kind != Kind::Worktree || it.scope == "worktree";
        let files = all.iter().filter(|it| it.is_repositorys && it.key == "core.worktree");
        self.has_its_files(files.filter(counts).map(|it| it.value).next_back())
    }

    /// Checks that git would write the files of the top folder, given the value of `core.worktree`.
    fn has_its_files(&self, said: Option<&str>) -> Result<(), GuardError> {
        let Some(said) = said else {
            return match self.kind {
                Kind::Elsewhere => Err(GuardError::NamesNoFolder {
                    path: self.top.join(".git"),
                    git: self.git.clone(),
                }),
                _ => Ok(()),
            };
        };
        let place = self.git.join(said);
        match place.canonicalize().ok() == self.top.canonicalize().ok() {
            true => Ok(()),
            false => Err(GuardError::FilesElsewhere { place }),
        }
    }
}

/// A setting, with whether the repository sets it.
struct GuardedSetting<'a> {
    scope: &'a str,
    is_repositorys: bool,
    key: &'a str,
    value: &'a str,
}

fn settings_of(text: &str) -> impl Iterator<Item = GuardedSetting<'_>> {
    let mut words = text.split('\0');
    std::iter::from_fn(move || {
        let (scope, setting) = (words.next()?, words.next()?);
        let (key, value) = setting.split_once('\n').unwrap_or((setting, "true"));
        let is_repositorys = !["system", "global", "command"].contains(&scope);
        Some(GuardedSetting { scope, is_repositorys, key, value })
    })
}

/// Returns whether a setting names a program that alters stored content, or that [`SETTINGS`]
/// cannot switch off.
fn starts_a_program(key: &str) -> bool {
    let Some((section, _)) = key.split_once('.') else { return false };
    let name = key.rsplit('.').next().unwrap_or_default();
    matches!(
        (section, name),
        ("filter", "clean" | "smudge" | "process") | ("merge", "driver") | ("hook", "command")
    )
}

/// Folders of a repository in which git writes under names that others choose.
const DEEP: [&str; 3] = ["refs", "logs", "worktrees"];

/// Refuses symbolic links in a git folder: git follows them, and would write elsewhere.
fn no_links(git: &Path) -> Result<(), GuardError> {
    let mut left = vec![(git.to_owned(), false)];
    while let Some((folder, is_deep)) = left.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            let is_top = folder == git;
            // Hooks never run.
            if kind.is_symlink() && !(is_top && name == OsStr::new("hooks")) {
                return Err(GuardError::SymbolicLink { path });
            }
            let goes_down = is_deep || is_top && DEEP.iter().any(|it| name == OsStr::new(it));
            if kind.is_dir() && (goes_down || is_top && name == OsStr::new("objects")) {
                left.push((path, goes_down));
            }
        }
    }
    Ok(())
}
