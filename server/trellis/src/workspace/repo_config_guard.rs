//! What a repository may not decide: which programs git starts, and where git writes.
//!
//! A folder that somebody else has made may come with a `.git`, and its configuration may name programs that git would run
//! with the rights of the person who opened it. Where such a program changes what git stores (filters, merge drivers) leaving
//! it out would store something else, so that the whole repository is refused; the others are switched off ([`SETTINGS`]).
//! What the person's own configuration says as well is theirs, and taken.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// What git is told before anything else, whatever the repository says: no hooks, no programs that sign, look or watch, no
/// work in other repositories inside of this one, no repository among the project's own files.
pub(crate) const SETTINGS: [&str; 14] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "merge.verifySignatures=false",
    "submodule.recurse=false",
    "diff.ignoreSubmodules=dirty",
    "maintenance.auto=false",
    "gc.auto=0",
    "safe.bareRepository=explicit",
    // Others may own the folder, as in a container: what they could do with that is refused here.
    "safe.directory=*",
];

/// Variables that keep git from the network: a missing object is not fetched from a place that the repository names.
pub(crate) const ALONE: [(&str, &str); 3] =
    [("GIT_TERMINAL_PROMPT", "0"), ("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "none")];

/// Where a repository is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The folder with `.git`.
    top: PathBuf,
    git: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// In the top folder.
    Own,
    /// A worktree's, which the repository knows.
    Worktree,
    /// Not in the top folder; its settings have to say that it belongs to that.
    Elsewhere,
}

/// The repository that a folder is in, if any.
///
/// # Errors
///
/// Why git may not work in it: what it keeps is in another repository, or behind symbolic links.
pub(super) fn place(folder: &Path) -> Result<Option<Place>, String> {
    let folder = std::path::absolute(folder).map_err(|error| error.to_string())?;
    let Some(top) = folder.ancestors().find(|it| it.join(".git").symlink_metadata().is_ok()) else {
        return Ok(None);
    };
    let own = top.join(".git");
    let kind = own.symlink_metadata().map_err(|error| error.to_string())?.file_type();
    if kind.is_symlink() {
        return Err(format!(
            "{} is a symbolic link: it may belong to another project",
            own.display()
        ));
    }
    if kind.is_dir() {
        let place = Place { top: top.to_owned(), git: own, kind: Kind::Own };
        return place.keeps_to_itself().map(|()| Some(place));
    }
    let (git, kind) = pointed_to(top, &own)?;
    let place = Place { top: top.to_owned(), git, kind };
    place.keeps_to_itself().map(|()| Some(place))
}

/// What a file called `.git` leads to.
fn pointed_to(top: &Path, own: &Path) -> Result<(PathBuf, Kind), String> {
    let shown = own.display();
    let text =
        trellis_sandbox::files::read_text(own).map_err(|error| format!("{shown}: {error}"))?;
    let to = text
        .trim_end()
        .strip_prefix("gitdir: ")
        .ok_or_else(|| format!("{shown} does not name a folder"))?;
    let git =
        top.join(to).canonicalize().map_err(|error| format!("{shown} points to {to}: {error}"))?;
    let Ok(back) = trellis_sandbox::files::read_text(git.join("gitdir")) else {
        return Ok((git, Kind::Elsewhere));
    };
    // A worktree, which its repository knows.
    let common = common(&git)?;
    let is_known = git.join(back.trim_end()).canonicalize().ok() == own.canonicalize().ok()
        && git.parent() == Some(&common.join("worktrees"));
    match is_known {
        true => Ok((git, Kind::Worktree)),
        false => {
            Err(format!("{shown} points to {}, which belongs to another folder", git.display()))
        }
    }
}

/// Where a worktree's repository keeps what all of its worktrees share.
fn common(git: &Path) -> Result<PathBuf, String> {
    let file = git.join("commondir");
    let reported = |error: std::io::Error| format!("{}: {error}", file.display());
    let to = trellis_sandbox::files::read_text(&file).map_err(reported)?;
    git.join(to.trim_end()).canonicalize().map_err(reported)
}

impl Place {
    /// Whether all that git would write is below its own folder.
    fn keeps_to_itself(&self) -> Result<(), String> {
        no_links(&self.git)?;
        if self.kind == Kind::Worktree {
            return common(&self.git).and_then(|it| no_links(&it));
        }
        match self.git.join("commondir").symlink_metadata() {
            Ok(_) => Err(format!("{} keeps its commits elsewhere", self.git.display())),
            Err(_) => Ok(()),
        }
    }

    /// Whether the repository's own settings, as `git config --list -z --show-scope` says them, start no program and leave no
    /// folder.
    ///
    /// # Errors
    ///
    /// What they would do.
    pub(super) fn may_say(&self, settings: &str) -> Result<(), String> {
        let all: Vec<GuardedSetting<'_>> = settings_of(settings).collect();
        let theirs: BTreeSet<(&str, &str)> =
            all.iter().filter(|it| !it.is_repositorys).map(|it| (it.key, it.value)).collect();
        for GuardedSetting { key, value, .. } in all.iter().filter(|it| it.is_repositorys) {
            if starts_a_program(key) && !value.is_empty() && !theirs.contains(&(key, value)) {
                return Err(format!(
                    "its own settings make git start a program (`{key}`: `{value}`). If you \
                     want that, set the same in your own settings: `git config --global {key} \
                     …`"
                ));
            }
        }
        // In a worktree git passes over what all of them share.
        let counts =
            |it: &&GuardedSetting<'_>| self.kind != Kind::Worktree || it.scope == "worktree";
        let files = all.iter().filter(|it| it.is_repositorys && it.key == "core.worktree");
        self.has_its_files(files.filter(counts).map(|it| it.value).next_back())
    }

    /// Whether the files that git would write are those of the top folder, given what `core.worktree` says.
    fn has_its_files(&self, said: Option<&str>) -> Result<(), String> {
        let (own, git) = (self.top.join(".git"), self.git.display());
        let Some(said) = said else {
            return match self.kind {
                Kind::Elsewhere => Err(format!(
                    "{} points to {git}, which does not name this folder in `core.worktree`: it \
                     may belong to another project",
                    own.display()
                )),
                _ => Ok(()),
            };
        };
        let place = self.git.join(said);
        match place.canonicalize().ok() == self.top.canonicalize().ok() {
            true => Ok(()),
            false => Err(format!("its setting `core.worktree` points to {}", place.display())),
        }
    }
}

/// One of them, and whether the repository says it.
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

/// Programs that stand between a file and what git stores, or that no setting of ours switches off.
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

/// Git follows links in its own folder; what it writes would be written elsewhere.
fn no_links(git: &Path) -> Result<(), String> {
    let mut left = vec![(git.to_owned(), false)];
    while let Some((folder, is_deep)) = left.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            let is_top = folder == git;
            // Hooks are never run.
            if kind.is_symlink() && !(is_top && name == OsStr::new("hooks")) {
                return Err(format!("{} is a symbolic link", path.display()));
            }
            let goes_down = is_deep || is_top && DEEP.iter().any(|it| name == OsStr::new(it));
            if kind.is_dir() && (goes_down || is_top && name == OsStr::new("objects")) {
                left.push((path, goes_down));
            }
        }
    }
    Ok(())
}
