//! Merge conflicts of git: the files that both sides changed in the same place, with their texts.

use std::collections::BTreeMap;
use std::fs;

use super::worktree::Worktree;
use super::worktree_state::full;
use crate::error::GitError;

/// A merge with conflicts. Paths are relative to the project's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeConflict {
    /// The target commit of the merge.
    pub old: String,
    /// Tree with all files as far as git merged them; files in conflict hold git's conflict
    /// markers.
    pub(crate) tree: String,
    files: BTreeMap<String, Blobs>,
}

/// Mode and blob of a file: in the merge base, on the target, on the branch to merge.
type Blobs = [Option<(String, String)>; 3];

/// The texts of a file in conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictSides {
    pub path: String,
    /// Empty if both sides added the file.
    pub base: String,
    pub ours: String,
    pub theirs: String,
    /// The text merged line by line, with conflict markers around the remaining conflicts.
    pub marked: String,
}

/// Error of reading the texts of a conflict.
#[derive(Debug, thiserror::Error)]
pub enum ConflictError {
    /// A file whose sides cannot be merged as texts.
    #[error("{path} {why}")]
    Unmergeable { path: String, why: Unmergeable },
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Reason why the sides of a file cannot be merged as texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unmergeable {
    #[error("is changed on one side, and removed or renamed on the other")]
    OneSided,
    #[error("is outside the project's folder")]
    Outside,
    #[error("is not a plain file on both sides, or its permissions changed")]
    NotPlain,
    #[error("is not UTF-8 text")]
    NotUtf8,
}

impl MergeConflict {
    /// Parses the output of `git merge-tree` after the tree: lines of `MODE BLOB STAGE<tab>PATH`.
    pub(crate) fn read<'a>(
        old: String,
        tree: String,
        lines: impl Iterator<Item = &'a str>,
    ) -> MergeConflict {
        let mut files: BTreeMap<String, Blobs> = BTreeMap::new();
        for (fields, path) in lines.filter_map(|it| it.split_once('\t')) {
            let fields: Vec<&str> = fields.split(' ').collect();
            let &[mode, blob, stage] = &fields[..] else { continue };
            let Some(place) = stage.parse().ok().filter(|it| (1..=3).contains(it)) else {
                continue;
            };
            let place: usize = place;
            let blobs = files.entry(path.to_owned()).or_default();
            blobs[place - 1] = Some((mode.to_owned(), blob.to_owned()));
        }
        MergeConflict { old, tree, files }
    }

    /// Returns the paths in conflict.
    pub fn paths(&self) -> Vec<String> {
        self.files.keys().cloned().collect()
    }
}

impl Worktree {
    /// Returns the texts of all files in conflict.
    ///
    /// # Errors
    ///
    /// [`ConflictError::Unmergeable`] for a conflict that is not only about texts.
    pub fn sides(&self, conflict: &MergeConflict) -> Result<Vec<ConflictSides>, ConflictError> {
        conflict.files.iter().map(|(path, blobs)| self.texts(path, blobs)).collect()
    }

    fn texts(
        &self,
        path: &str,
        [base, ours, theirs]: &Blobs,
    ) -> Result<ConflictSides, ConflictError> {
        let refused = |why| ConflictError::Unmergeable { path: path.to_owned(), why };
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            return Err(refused(Unmergeable::OneSided));
        };
        if path.starts_with("../") {
            return Err(refused(Unmergeable::Outside));
        }
        if ours.0 != theirs.0 || !ours.0.starts_with("100") {
            return Err(refused(Unmergeable::NotPlain));
        }
        let text = |blob: &str| self.git.run(&["cat-file", "blob", blob]).map_err(GitError::from);
        let base = base.as_ref().map_or(Ok(String::new()), |it| text(&it.1))?;
        let (ours, theirs) = (text(&ours.1)?, text(&theirs.1)?);
        if [&base, &ours, &theirs].iter().any(|it| it.contains(['\0', '\u{fffd}'])) {
            return Err(refused(Unmergeable::NotUtf8));
        }
        let marked = self.marked([&ours, &base, &theirs])?;
        Ok(ConflictSides { path: path.to_owned(), base, ours, theirs, marked })
    }

    /// Merges three texts line by line. The markers name no commits, so that equal conflicts have
    /// equal texts.
    fn marked(&self, sides: [&str; 3]) -> Result<String, GitError> {
        let scratch = tempfile::tempdir().map_err(GitError::io("create a scratch folder"))?;
        let mut arguments = vec!["merge-file".to_owned(), "-p".to_owned(), "--diff3".to_owned()];
        for label in ["the branch", "before both", "this work"] {
            arguments.extend(["-L".to_owned(), label.to_owned()]);
        }
        for (name, text) in ["ours", "base", "theirs"].iter().zip(sides) {
            let place = scratch.path().join(name);
            fs::write(&place, text).map_err(GitError::io("write a scratch file"))?;
            arguments.push(place.to_string_lossy().into_owned());
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        // The exit code of `git merge-file` is the number of conflicts.
        Ok(self.git.answer(&arguments)?.1)
    }

    /// Returns the messages of the commits added to the target since the work began, oldest first.
    pub fn merged_meanwhile(&self) -> Result<Vec<String>, GitError> {
        let range = format!("{}..{}", self.record.base, full(&self.record.into));
        let said = self.git.run(&["log", "--reverse", "--format=%s", &range])?;
        Ok(said.lines().map(str::to_owned).collect())
    }
}
