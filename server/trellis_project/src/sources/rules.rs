//! Ignore rules of a folder and the folders around it: `.ignore`, `.gitignore`, git's own.
//!
//! The walk knows from a folder's entries which files of rules exist, so that folders without any
//! cost nothing. The order of precedence is that of the crate `ignore`, which reads the patterns.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Files with rules that a folder may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RuleFiles {
    ignore: bool,
    git_ignore: bool,
    git: bool,
}

impl RuleFiles {
    /// Value for a folder whose entries are not known.
    pub(super) const UNKNOWN: RuleFiles = RuleFiles { ignore: true, git_ignore: true, git: true };

    /// Notes an entry of the folder.
    pub(super) fn note(&mut self, name: &OsStr) {
        match name.as_encoded_bytes() {
            b".ignore" => self.ignore = true,
            b".gitignore" => self.git_ignore = true,
            b".git" => self.git = true,
            _ => {}
        }
    }

    /// Returns whether there is none.
    pub(super) fn is_empty(self) -> bool {
        self == RuleFiles::default()
    }
}

/// Files that decide what a folder ignores.
const RULES: [&str; 4] = [".gitignore", ".ignore", ".git", ".git/info/exclude"];

/// Maximum size of a rules file, in bytes.
const LONGEST_RULES: u64 = 16 << 20;

/// Returns a rules file that is too large or not regular; the library would read it anyway.
pub(super) fn trap(folder: &Path) -> Option<PathBuf> {
    let is_trap = |it: fs::Metadata| !it.is_dir() && (!it.is_file() || it.len() > LONGEST_RULES);
    RULES.iter().map(|it| folder.join(it)).find(|it| fs::metadata(it).is_ok_and(is_trap))
}

/// Returns sentences about such files in the root and above; with any of them, the walk ignores
/// git's rules.
pub(super) fn unread_rules(root: &Path) -> Vec<String> {
    let traps = root.ancestors().filter_map(trap);
    traps.map(|it| format!("{}: files that git ignores are included", unread(&it))).collect()
}

pub(super) fn unread(rules: &Path) -> String {
    format!("{}: it is larger than 16 MiB, or not a regular file", rules.display())
}

/// Rules of one folder, with those of the folders above.
struct FolderRules {
    above: Option<Arc<FolderRules>>,
    ignore: Gitignore,
    git_ignore: Gitignore,
    exclude: Gitignore,
}

/// The rules for the entries of a folder.
#[derive(Clone, Default)]
pub(super) struct Rules {
    nearest: Option<Arc<FolderRules>>,
    global: Option<Arc<Gitignore>>,
}

impl Rules {
    /// Returns the rules that folders above a root and the user's configuration have for it. The
    /// root is given by its real path.
    pub(super) fn above(real: &Path) -> Rules {
        let here = std::env::current_dir().unwrap_or_default();
        let (global, _) = GitignoreBuilder::new(here).build_global();
        let global = (!global.is_empty()).then(|| Arc::new(global));
        let mut rules = Rules { nearest: None, global };
        let mut folders: Vec<&Path> = real.ancestors().skip(1).collect();
        folders.reverse();
        folders.iter().for_each(|it| rules = rules.within(it, RuleFiles::UNKNOWN));
        rules
    }

    /// Returns the rules for the entries of a folder, of which these apply to the folder itself.
    pub(super) fn within(&self, folder: &Path, files: RuleFiles) -> Rules {
        let read = |is_there: bool, path: &dyn Fn() -> Option<PathBuf>| match is_there {
            true => path().map_or_else(Gitignore::empty, |it| matcher(folder, &it)),
            false => Gitignore::empty(),
        };
        let ignore = read(files.ignore, &|| Some(folder.join(".ignore")));
        let git_ignore = read(files.git_ignore, &|| Some(folder.join(".gitignore")));
        let exclude = read(files.git, &|| Some(git_folder(folder)?.join("info/exclude")));
        if [&ignore, &git_ignore, &exclude].iter().all(|it| it.is_empty()) {
            return self.clone();
        }
        let own = FolderRules { above: self.nearest.clone(), ignore, git_ignore, exclude };
        Rules { nearest: Some(Arc::new(own)), global: self.global.clone() }
    }

    /// Returns whether a file or folder is ignored. `path` returns its real path; the folders above
    /// are known not to be ignored.
    pub(super) fn ignores(&self, path: impl Fn() -> PathBuf, is_folder: bool) -> bool {
        if self.nearest.is_none() && self.global.is_none() {
            return false;
        }
        let path = path();
        let first = |matcher: fn(&FolderRules) -> &Gitignore| {
            let mut found = self.chain().map(|it| matcher(it).matched(&path, is_folder));
            found.find(|it| !it.is_none()).unwrap_or(Match::None)
        };
        let global = || self.global.as_ref().map(|it| it.matched(&path, is_folder));
        first(|it| &it.ignore)
            .or(first(|it| &it.git_ignore))
            .or(first(|it| &it.exclude))
            .or(global().unwrap_or(Match::None))
            .is_ignore()
    }

    fn chain(&self) -> impl Iterator<Item = &FolderRules> {
        std::iter::successors(self.nearest.as_deref(), |it| it.above.as_deref())
    }
}

/// Reads a file of rules for a folder. Rules that cannot be read are none.
fn matcher(folder: &Path, rules: &Path) -> Gitignore {
    if !rules.exists() {
        return Gitignore::empty();
    }
    let mut builder = GitignoreBuilder::new(folder);
    let _ = builder.add(rules);
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Returns the folder of git's data, which several working trees may share; `None` if there is
/// none.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    let kind = fs::metadata(&git).ok()?.file_type();
    if !kind.is_file() {
        return Some(git);
    }
    let own = PathBuf::from(first_line(&git)?.strip_prefix("gitdir: ")?);
    Some(own.join(first_line(&own.join("commondir"))?))
}

fn first_line(file: &Path) -> Option<String> {
    BufReader::new(fs::File::open(file).ok()?).lines().next()?.ok()
}
