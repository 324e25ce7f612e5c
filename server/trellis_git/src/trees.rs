//! Commits of given texts, created without touching the folder's files or the repository's own
//! index.

use std::collections::{BTreeMap, HashMap};

use crate::error::{CommandCause, CommandError};
use crate::git::Git;
use crate::raw_diff::set_entries;
use trellis_store::journal::Journal;

/// Texts by path relative to the folder of git's commands; `None` removes a file.
pub type Texts = BTreeMap<String, Option<String>>;

/// Mode of a new file.
const PLAIN: &str = "100644";

/// Writes a tree: that of a commit, or an empty one, with the changes that a function makes in an
/// index of its own.
///
/// # Errors
///
/// git refuses a command, the temporary folder cannot be used, or the function fails.
pub fn changed_tree<E: From<CommandError>>(
    git: &Git,
    from: Option<&str>,
    change: impl FnOnce(&Git) -> Result<(), E>,
) -> Result<String, E> {
    let scratch = tempfile::tempdir().map_err(|error| CommandError {
        step: "index".to_owned(),
        cause: CommandCause::Scratch(error),
    })?;
    let own = git.with_index(&scratch.path().join("index"));
    from.map(|from| own.run(&["read-tree", from])).transpose()?;
    change(&own)?;
    Ok(own.run(&["write-tree"])?.trim().to_owned())
}

/// Writes the tree of a commit with these texts replaced, or a tree of these texts alone without a
/// commit.
pub fn tree_with(git: &Git, from: Option<&str>, texts: &Texts) -> Result<String, CommandError> {
    let lines = entries(git, from, texts)?;
    changed_tree(git, from, |own| set_entries(own, lines.as_bytes()))
}

/// Returns index entries for these texts, with the modes that the files had.
fn entries(git: &Git, from: Option<&str>, texts: &Texts) -> Result<String, CommandError> {
    let prefix = git.run(&["rev-parse", "--show-prefix"])?;
    let known = from.map(|from| git.run(&["ls-tree", "-r", "-z", "--full-tree", from]));
    let known = known.transpose()?.unwrap_or_default();
    let known: HashMap<&str, &str> = (known.split('\0'))
        .filter_map(|it| it.split_once('\t').map(|(fields, path)| (path, fields)))
        .collect();
    let mut lines = String::new();
    for (path, text) in texts {
        let whole = format!("{}{path}", prefix.trim_end());
        let fields: Option<Vec<&str>> = known.get(whole.as_str()).map(|it| it.split(' ').collect());
        let (mode, blob) = match (text, fields.as_deref()) {
            (Some(text), Some([mode, ..])) => (*mode, blob(git, path, text)?),
            (Some(text), _) => (PLAIN, blob(git, path, text)?),
            // An all-zero object name, as long as the repository's hashes, removes the entry.
            (None, Some([_, _, object])) => ("0", "0".repeat(object.len())),
            (None, _) => continue,
        };
        lines += &format!("{mode} {blob}\t{whole}\0");
    }
    Ok(lines)
}

fn blob(git: &Git, path: &str, text: &str) -> Result<String, CommandError> {
    let blob = git.run_with(&["hash-object", "-w", "--stdin", "--path", path], text)?;
    Ok(blob.trim().to_owned())
}

/// Commits these texts on top of HEAD. The folder's files and other staged changes stay. A repeated
/// call after a crash does not commit twice.
pub fn commit_texts(
    git: &Git,
    journal: &Journal,
    texts: &Texts,
    message: &str,
) -> Result<(), CommandError> {
    let head = git.resolve("HEAD")?;
    let head = head.as_deref();
    let tree = tree_with(git, head, texts)?;
    if !is_made(git, head, &tree, message)? {
        let parent = head.map(|head| ["-p", head]);
        let mut arguments = vec!["commit-tree", &tree, "-m", message];
        arguments.extend(parent.iter().flatten());
        let commit = git.run(&arguments)?;
        // Empty if HEAD must not exist yet.
        let expected = head.unwrap_or_default();
        let update = ["update-ref", "-m", message, "HEAD", commit.trim(), expected];
        git.step(journal, &update, "")?;
    }
    // Without paths, reset would unstage everything.
    if texts.is_empty() {
        return Ok(());
    }
    let paths: String = texts.keys().map(|path| format!(":(literal){path}\0")).collect();
    let reset = ["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"];
    git.step(journal, &reset, &paths).map(drop)
}

fn is_made(git: &Git, head: Option<&str>, tree: &str, message: &str) -> Result<bool, CommandError> {
    let Some(head) = head else { return Ok(false) };
    let last = git.run(&["log", "-1", "--format=%T %s", head])?;
    Ok(last.trim_end() == format!("{tree} {message}"))
}
