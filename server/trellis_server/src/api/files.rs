//! Lists and reads the files that a run generated.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use trellis_store::journal::Journal;
use trellis_store::replay::ReplayedState;
use trellis_workflows::fault::Fault;
use trellis_workflows::tasks::{self, FileState};

/// Maximum bytes of a file, far above any generated file.
const LARGEST: u64 = 16 << 20;

/// Lists the files that a run or a list of tasks wrote, and whether each is unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListFiles {
    /// The output folder of the run.
    pub out: PathBuf,
}

/// Reads a text file of a run's folder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadFile {
    /// The output folder of the run.
    pub out: PathBuf,
    /// The file, relative to the folder.
    pub path: String,
}

/// Files of a run, by path.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileList {
    pub files: Vec<FileEntry>,
}

/// One file that a run wrote.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileEntry {
    /// Relative to the folder, with `/`.
    pub path: String,
    /// `written`: unchanged since the run or the merge; `edited`: someone changed it after that; `missing`: it was
    /// removed.
    pub state: String,
    /// In bytes; null if the file is missing.
    pub size: Option<u64>,
}

/// A file's text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileText {
    pub path: String,
    pub text: String,
}

pub fn list(out: &Path) -> Result<FileList, Fault> {
    match tasks::is_there(out) {
        true => merged(out),
        false => written(out),
    }
}

/// Returns the merged files of a list of tasks, including those of the initial project.
fn merged(out: &Path) -> Result<FileList, Fault> {
    let entry = |(path, kept): (String, FileState)| {
        let (state, size) = match kept {
            FileState::Missing => ("missing", None),
            FileState::Unchanged(size) => ("written", Some(size)),
            FileState::Modified(size) => ("edited", Some(size)),
        };
        FileEntry { path, state: state.to_owned(), size }
    };
    Ok(FileList { files: tasks::files(out)?.into_iter().map(entry).collect() })
}

fn written(out: &Path) -> Result<FileList, Fault> {
    let past = past(out)?;
    let entry = |(path, hashes): (&String, &std::collections::BTreeSet<String>)| {
        let found = trellis_os::files::read(out.join(path));
        let state = match &found {
            Err(_) => "missing",
            Ok(bytes) if hashes.contains(&trellis_store::disk::hash(bytes)) => "written",
            Ok(_) => "edited",
        };
        let size = found.ok().map(|it| it.len() as u64);
        FileEntry { path: path.clone(), state: state.to_owned(), size }
    };
    Ok(FileList { files: past.written.iter().map(entry).collect() })
}

pub fn read(out: &Path, path: &str) -> Result<FileText, Fault> {
    let cannot = |why: String| {
        Fault::input(format!("cannot read {path} in {}: {why}", out.display()))
            .hint("`trellis/listFiles` lists the files; give one of its paths")
    };
    let inside = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
    if path.is_empty() || !Path::new(path).components().all(inside) {
        return Err(cannot("the path is outside the folder".to_owned()));
    }
    if let Some(folder) = own_folder(path) {
        return Err(cannot(format!("the files in `{folder}` were not generated")));
    }
    if let Some(link) = trellis_store::disk::symlink_on_the_way(out, path) {
        return Err(cannot(format!("{} is a symbolic link", link.display())));
    }
    let io = |error: std::io::Error| cannot(trellis_os::wording::reason(&error));
    let place = out.join(path);
    let mut text = String::new();
    let file = trellis_os::files::open(&place).map_err(io)?;
    let length = file.take(LARGEST + 1).read_to_string(&mut text).map_err(io)?;
    if length as u64 > LARGEST {
        return Err(cannot(format!("it is larger than {} MiB", LARGEST >> 20)));
    }
    Ok(FileText { path: path.to_owned(), text })
}

/// Returns the part of a path that belongs to git or Trellis. Some file systems ignore case.
fn own_folder(path: &str) -> Option<&str> {
    let parts = path.split(['/', '\\']);
    let mut own =
        parts.filter(|it| [".git", ".trellis"].iter().any(|own| it.eq_ignore_ascii_case(own)));
    own.next()
}

/// Returns the state recorded in a run's journal, which must exist.
pub(super) fn past(out: &Path) -> Result<ReplayedState, Fault> {
    let path = Journal::path(out);
    let bytes = trellis_os::files::read(&path).map_err(|error| {
        Fault::input(format!("there is no run in {}: {error}", out.display()))
            .hint("give the output folder of `trellis generate` or `trellis tasks`")
    })?;
    Ok(ReplayedState::read(&trellis_store::journal::text_of(&bytes)))
}
