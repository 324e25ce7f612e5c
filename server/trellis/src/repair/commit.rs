//! What was kept, as a commit that holds nothing else: whatever a person has changed or staged beside it stays as it is.

use std::path::Path;

use crate::error::Fault;
use crate::workspace::git::{Git, GitError};
use crate::workspace::journal::Journal;

/// A commit on the current branch with the patch, and the patch in the index as well, so that the rest of the tree shows as it
/// did before.
///
/// # Errors
///
/// In words, where there is no repository, or the patch touches lines that are not committed yet; nothing is committed then.
pub(super) fn commit(
    root: &Path,
    journal: &Journal,
    patch: &str,
    title: &str,
) -> Result<String, String> {
    let git = Git::around(root).map_err(|error| error.to_string())?;
    let git = git.ok_or("there is no repository of git with a commit")?;
    let not_there = |error: GitError| {
        format!("the change is made of lines that are not committed yet ({})", error.why)
    };
    // Both or none: the index is looked at before anything is written.
    apply(&git, patch, &["--cached", "--check"]).map_err(not_there)?;
    let made = made(&git, patch, title).map_err(not_there)?;
    let failed = |error: GitError| error.to_string();
    git.step(journal, &["update-ref", "-m", title, "HEAD", &made], "").map_err(failed)?;
    apply(&git, patch, &["--cached"]).map_err(failed)?;
    Ok(made)
}

/// A branch with the patch on top of the current commit; its name. The tree and its index are not touched.
pub(super) fn branch(
    git: &Git,
    journal: &Journal,
    patch: &str,
    title: &str,
) -> Result<(String, String), Fault> {
    let failed = |error: GitError| {
        Fault::internal(error.to_string())
            .hint("the patch is under .trellis/repair; `git apply` takes it")
    };
    let made = made(git, patch, title).map_err(failed)?;
    let known = git.run(&["for-each-ref", "--format=%(refname:short)", "refs/heads/trellis"]);
    let known = known.map_err(failed)?;
    let number = known.lines().filter_map(|it| it.strip_prefix("trellis/repair-")?.parse().ok());
    let name = format!("trellis/repair-{}", number.max().unwrap_or(0_u32) + 1);
    git.step(journal, &["branch", "--no-track", &name, &made], "").map_err(failed)?;
    Ok((name, made))
}

/// A commit of the patch on top of the current one, which no branch has yet.
fn made(git: &Git, patch: &str, title: &str) -> Result<String, GitError> {
    let scratch = tempfile::tempdir().map_err(|error| GitError {
        step: "index".to_owned(),
        why: error.to_string(),
        is_refused: false,
    })?;
    let own = git.with_index(&scratch.path().join("index"));
    own.run(&["read-tree", "HEAD"])?;
    apply(&own, patch, &["--cached"])?;
    let tree = own.run(&["write-tree"])?;
    let commit = own.run(&["commit-tree", tree.trim(), "-p", "HEAD", "-m", title])?;
    Ok(commit.trim().to_owned())
}

/// Paths of the patch count from the folder that git was asked in.
fn apply(git: &Git, patch: &str, options: &[&str]) -> Result<(), GitError> {
    let prefix = git.run(&["rev-parse", "--show-prefix"])?;
    let folder = format!("--directory={}", prefix.trim_end_matches(['\n', '/']));
    let mut arguments = vec!["apply", "--whitespace=nowarn"];
    arguments.extend(options);
    if folder.len() > "--directory=".len() {
        arguments.push(&folder);
    }
    git.run_with(&arguments, patch).map(drop)
}
