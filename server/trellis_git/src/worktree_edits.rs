//! A person's changes of files in a worktree of Trellis.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::{GitError, WorktreeError};
use crate::git::{Git, paths_of};
use crate::moved_files::{is_as_written, is_partial, skipped};
use crate::worktree::Worktree;
use crate::worktree_state::full;
use trellis_store::journal::Journal;

impl Worktree {
    /// Writes the tree of the current files. Ignored files are left out unless a person has added
    /// them, and so are repositories inside the worktree: a commit of theirs is not part of this
    /// one.
    pub(crate) fn tree(&self) -> Result<String, GitError> {
        let scratch = tempfile::tempdir().map_err(GitError::io("create a scratch index"))?;
        let top = self.top();
        // Marks in the worktree's own index would hide edits.
        let own = top.with_index(&scratch.path().join("index"));
        own.run(&["read-tree", "HEAD"])?;
        let from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        own.bytes(&["add", "--all", from[0], from[1]], &without_repositories(&own)?)?;
        let added = ["diff", "--cached", "--name-only", "-z", "--no-renames", "--diff-filter=A"];
        let mut added = there(&top, top.bytes(&[&added[..], &["HEAD"]].concat(), b"")?);
        let inner = submodules(&top)?;
        added.retain(|it| !inner.contains(it));
        if !added.is_empty() {
            own.bytes(&["add", "--force", from[0], from[1]], &literal(added.iter()))?;
        }
        restore_unchanged(&own, &skipped(&top)?)?;
        Ok(own.run(&["write-tree"])?.trim().to_owned())
    }

    /// Returns whether a person has changed files here, or committed.
    pub fn is_edited(&self) -> Result<bool, GitError> {
        let tree = self.tree()?;
        let ours = [self.record.tip.as_ref().unwrap_or(&self.record.base)];
        let ours = ours.into_iter().chain(&self.record.next);
        let mut differing: Option<BTreeSet<String>> = None;
        for commit in ours {
            let paths =
                self.paths(&["diff", "--name-only", "--no-renames", "-z", commit, &tree])?;
            differing = Some(match differing {
                None => paths,
                Some(all) => all.intersection(&paths).cloned().collect(),
            });
        }
        let differing = differing.unwrap_or_default();
        let Some(next) = &self.record.next else { return Ok(!differing.is_empty()) };
        for path in &differing {
            if !self.is_half_written(path, next)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether a file was being written when Trellis was killed; the path is relative to
    /// the top.
    fn is_half_written(&self, path: &str, next: &str) -> Result<bool, GitError> {
        let file = self.folder.join(path);
        if !file.exists() {
            return Ok(true);
        }
        let top = self.top();
        match top.resolve(&format!("{next}:{path}"))? {
            Some(blob) if file.is_file() && !file.is_symlink() => is_partial(&top, path, &blob),
            _ => Ok(false),
        }
    }

    /// Returns the files that a person changed since the last commit of Trellis, by path relative
    /// to [`Worktree::root`].
    pub fn edits(&self) -> Result<BTreeMap<PathBuf, EditedFile>, GitError> {
        let options =
            ["diff", "--name-only", "--no-renames", "--relative", "-z", "--diff-filter=d"];
        let said = self.inner.bytes(&[&options[..], &[self.tip(), &self.tree()?]].concat(), b"")?;
        let read = |path: PathBuf| match EditedFile::read(&self.root.join(&path)) {
            Ok(file) => Ok((path, file)),
            Err(error) => Err(GitError::io_at("read", &path)(error)),
        };
        paths_of(&said).map(read).collect()
    }

    /// Commits a person's edits; afterwards the branch is Trellis' own again. Commits that were
    /// merged into it from the target are not part of the work.
    ///
    /// # Errors
    ///
    /// A merge in the worktree has conflicts that are not resolved.
    pub fn commit_user_edits(&mut self, journal: &Journal) -> Result<(), GitError> {
        if !self.top().run(&["ls-files", "--unmerged"])?.is_empty() {
            return Err(WorktreeError::Unmerged { folder: self.folder.clone() }.into());
        }
        // Recorded first: after any crash the work is resumed, not begun again.
        (self.record.edited, self.record.ended) = (true, None);
        self.save_state()?;
        self.edited_from = Some(self.tip().to_owned());
        let tree = self.tree()?;
        // A merge that a person has not committed yet is part of their edits.
        let merged = self.inner.resolve("MERGE_HEAD")?;
        let mut commit = vec!["commit-tree", &tree, "-m", "edited by hand", "-p", "HEAD"];
        commit.extend(merged.iter().flat_map(|it| ["-p", it]));
        let commit = self.inner.run(&commit)?;
        // Recorded last: until then, the files are still edits, and are committed by the next start.
        self.inner.step(journal, &["reset", "--mixed", "--quiet", commit.trim()], "")?;
        (self.record.tip, self.record.next) = (Some(commit.trim().to_owned()), None);
        self.follow_target()?;
        self.save_state()
    }

    /// Moves the base of the work to the last commit that a person merged from the target. An older
    /// one is left: a person has taken commits away from the target, and they are not part of the
    /// work.
    fn follow_target(&mut self) -> Result<(), GitError> {
        let both = ["merge-base", &full(&self.record.into), "HEAD"];
        if let Some(base) = self.inner.lookup(&both)?
            && self.git.is_ancestor(&self.record.base, &base)?
        {
            self.record.base = base;
        }
        Ok(())
    }
}

/// A file that a person changed.
#[derive(Debug)]
pub enum EditedFile {
    Plain(Vec<u8>),
    /// A symbolic link, with its target.
    Link(PathBuf),
}

impl EditedFile {
    fn read(path: &Path) -> io::Result<EditedFile> {
        match path.symlink_metadata()?.is_symlink() {
            true => fs::read_link(path).map(EditedFile::Link),
            false => fs::read(path).map(EditedFile::Plain),
        }
    }

    /// Writes the file again, in place of the one that is there.
    pub fn restore(&self, path: &Path) -> io::Result<()> {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        match self {
            EditedFile::Plain(text) if !path.is_symlink() => fs::write(path, text),
            EditedFile::Plain(text) => fs::remove_file(path).and_then(|()| fs::write(path, text)),
            EditedFile::Link(target) => {
                match fs::remove_file(path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
                std::os::unix::fs::symlink(target, path)
            }
        }
    }
}

/// Returns pathspecs of all files but the repositories among them, known to git or not.
fn without_repositories(git: &Git) -> Result<Vec<u8>, GitError> {
    let mut out = b":/\0".to_vec();
    for path in submodules(git)?.into_iter().chain(new_repositories(git)?) {
        out.extend_from_slice(b":(exclude,literal)");
        out.extend_from_slice(path.as_os_str().as_bytes());
        out.push(0);
    }
    Ok(out)
}

/// Returns the paths of the initialised submodules in the index, relative to the top, where the
/// commands of `git` run.
pub(crate) fn submodules(git: &Git) -> Result<Vec<PathBuf>, GitError> {
    let staged = git.bytes(&["ls-files", "--stage", "-z"], b"")?;
    let lines = staged.split(|byte| *byte == 0).filter_map(|it| it.strip_prefix(b"160000 "));
    let paths = lines.filter_map(|it| it.splitn(2, |byte| *byte == b'\t').nth(1));
    let paths = paths.map(|it| PathBuf::from(OsStr::from_bytes(it)));
    Ok(paths.filter(|it| git.root().join(it).join(".git").symlink_metadata().is_ok()).collect())
}

/// Returns the repositories that git does not know, relative to the top, where the commands of
/// `git` run.
fn new_repositories(git: &Git) -> Result<Vec<PathBuf>, GitError> {
    let others = git.bytes(&["ls-files", "-z", "--others", "--exclude-standard"], b"")?;
    // git lists a repository as a folder.
    let folders = others.split(|byte| *byte == 0).filter_map(|it| it.strip_suffix(b"/"));
    Ok(folders.map(|it| PathBuf::from(OsStr::from_bytes(it))).collect())
}

/// Returns those of git's paths at which there is something.
fn there(git: &Git, said: Vec<u8>) -> Vec<PathBuf> {
    paths_of(&said).filter(|it| git.root().join(it).symlink_metadata().is_ok()).collect()
}

fn literal<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<u8> {
    paths.flat_map(|it| [b":(literal)", it.as_os_str().as_bytes(), b"\0"].concat()).collect()
}

/// Restores the entries of files that hold what git checked out, or the bytes of their blob: git
/// would store them with other line ends than they were stored. Files in `skipped` are not there,
/// by a person's sparse checkout.
fn restore_unchanged(git: &Git, skipped: &HashSet<String>) -> Result<(), GitError> {
    let said =
        git.run(&["diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "HEAD"])?;
    let words: Vec<&str> = said.split('\0').collect();
    let changes = words.chunks_exact(2).filter_map(|pair| {
        let fields: Vec<&str> = pair[0].trim_start_matches(':').split(' ').collect();
        Some((*fields.first()?, *fields.get(1)?, *fields.get(2)?, pair[1]))
    });
    let (mut entries, mut stored) = (String::new(), Vec::new());
    for (mode, now, blob, path) in changes {
        let is_plain = || {
            let kind = git.root().join(path).symlink_metadata();
            !path.contains('\n') && kind.is_ok_and(|it| it.is_file())
        };
        match mode == now {
            true if is_plain() => stored.push((mode, blob, path)),
            false if now == "000000" && skipped.contains(path) => {
                entries += &format!("{mode} {blob}\t{path}\0");
            }
            _ => {}
        }
    }
    for (mode, blob, path) in are_as_stored(git, stored)? {
        entries += &format!("{mode} {blob}\t{path}\0");
    }
    if !entries.is_empty() {
        git.run_with(&["update-index", "-z", "--index-info"], &entries)?;
    }
    Ok(())
}

/// Returns those of plain files, given by mode, blob and path, that hold the bytes of the blob or
/// what git would write for it.
fn are_as_stored<'a>(
    git: &Git,
    mut files: Vec<(&'a str, &'a str, &'a str)>,
) -> Result<Vec<(&'a str, &'a str, &'a str)>, GitError> {
    if files.is_empty() {
        return Ok(files);
    }
    let paths: String = files.iter().map(|it| format!("{}\n", it.2)).collect();
    let bytes = git.run_with(&["hash-object", "--no-filters", "--stdin-paths"], &paths)?;
    let mut raw = bytes.lines();
    let mut failed = None;
    files.retain(|(_, blob, path)| {
        let is = match raw.next() == Some(*blob) {
            true => Ok(true),
            false => is_as_written(git, path, blob),
        };
        is.unwrap_or_else(|error| failed.replace(error).is_some())
    });
    failed.map_or(Ok(files), Err)
}
