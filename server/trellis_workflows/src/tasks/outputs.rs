//! The files that tasks produced: those of the checked-out commit, compared with the files on the
//! disk.

use std::fs;
use std::path::Path;

use crate::fault::Fault;
use trellis_git::error::CommandError;
use trellis_git::git::{self, Git};
use trellis_store::disk;

/// State of a file since its merge, with its size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    Missing,
    Unchanged(u64),
    Modified(u64),
}

/// A file of a commit: its path and git's hash of its text.
type Committed = (String, String);

/// Returns all files by path; none before the first commit. Executes nothing of the project.
///
/// # Errors
///
/// Git is not installed, or the repository is missing or broken.
pub fn files(out: &Path) -> Result<Vec<(String, FileState)>, Fault> {
    if git::find("git").is_none() {
        return Err(Fault::unavailable("git is not installed")
            .hint("install it: git has the work that is done"));
    }
    if !out.join(".git").exists() {
        return Err(Fault::input(format!("{} is not a git repository", out.display()))
            .hint("run `trellis tasks` again: it creates what is missing"));
    }
    let Some(git) = Git::around(out)? else { return Ok(Vec::new()) };
    let committed = committed(&git).map_err(|error| broken(out, &error))?;
    let there: Vec<&Committed> = committed.iter().filter(|it| size(out, &it.0).is_some()).collect();
    let hashes = hashes(&git, &there).map_err(|error| broken(out, &error))?;
    let mut now = there.iter().map(|it| it.0.as_str()).zip(hashes.lines()).peekable();
    let kept = |(path, hash): &Committed| match (now.next_if(|it| it.0 == path), size(out, path)) {
        (Some((_, now)), Some(size)) if now == hash => FileState::Unchanged(size),
        (Some(_), Some(size)) => FileState::Modified(size),
        _ => FileState::Missing,
    };
    let kept: Vec<FileState> = committed.iter().map(kept).collect();
    Ok(committed.into_iter().map(|it| it.0).zip(kept).collect())
}

/// Returns the regular files of the commit, sorted by path.
fn committed(git: &Git) -> Result<Vec<Committed>, CommandError> {
    let said = git.run(&["ls-tree", "-r", "-z", "HEAD"])?;
    let entry = |line: &str| {
        let (about, path) = line.split_once('\t')?;
        let (kind, hash) = about.rsplit_once(' ')?;
        kind.starts_with("100").then(|| (path.to_owned(), hash.to_owned()))
    };
    Ok(said.split('\0').filter_map(entry).collect())
}

/// Returns git's hashes of the texts on the disk, one per line, without running filters that
/// settings name.
fn hashes(git: &Git, files: &[&Committed]) -> Result<String, CommandError> {
    let quoted = |it: &&Committed| {
        let path = it.0.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("\"{path}\"\n")
    };
    let paths: String = files.iter().map(quoted).collect();
    git.run_with(&["hash-object", "--no-filters", "--stdin-paths"], &paths)
}

/// Returns the size of a regular file inside the folder; `None` for anything else.
fn size(out: &Path, path: &str) -> Option<u64> {
    let about = fs::symlink_metadata(out.join(path)).ok()?;
    let is_inside = about.is_file() && disk::symlink_on_the_way(out, path).is_none();
    is_inside.then_some(about.len())
}

fn broken(out: &Path, error: &CommandError) -> Fault {
    Fault::input(format!("cannot find out what was done in {}: {error}", out.display()))
        .hint("check it with `git status` and `git fsck`")
}
