//! Changes of issues that wait for a person, as files: a decision can come from another process, and
//! after a restart.
//!
//! `.trellis/reviews/NAME.json` is written when a change waits, and removed once it is decided. It
//! is data of a project, which may be forged: folders are computed, and commits are checked.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fault::{Fault, FaultKind, cannot};
use trellis_git::left_out::text_at;
use trellis_git::worktree_state::is_open;
use trellis_store::disk;
use trellis_store::format::refuse_newer;

/// Version of the file format.
pub(super) const VERSION: u32 = 1;
const FOLDER: &str = ".trellis/reviews";

/// A change that waits for a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingReview {
    pub(super) version: u32,
    /// Name of the issue's worktree.
    pub(super) name: String,
    pub issue: String,
    /// Title for people, with the first line of the specification.
    pub title: String,
    /// Path of the specification, relative to the project, as are those of the context.
    pub spec: String,
    pub context: Vec<String>,
    pub branch: String,
    /// The target branch.
    pub into: String,
    /// Folder of the project inside the worktree, relative to the project.
    pub worktree: String,
    /// The commit that the work began from.
    pub base: String,
    /// Last commit of the work.
    pub tip: String,
    pub files: Vec<ReviewedFile>,
    pub passed: usize,
    /// Number of failing tests. All of them fail without the change, too.
    pub failed: usize,
    /// Number of tests that passed without the change.
    pub passed_before: usize,
    /// Reasons against the change, as sentences.
    pub doubts: Vec<String>,
    pub notes: Vec<String>,
    /// Reason that the last decision was not carried out.
    pub refused: Option<String>,
    /// Folder with both reports, relative to the project.
    pub reports: Option<String>,
    pub created_at: String,
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewedFile {
    /// Path relative to the project.
    pub path: String,
    /// Added and removed lines; `None` for a file that is not text.
    pub lines: Option<(usize, usize)>,
}

/// Waiting changes, and problems with unreadable ones.
#[derive(Clone, Debug, Default)]
pub struct WaitingReviews {
    /// The oldest first.
    pub reviews: Vec<WaitingReview>,
    /// Problems as sentences.
    pub problems: Vec<String>,
}

impl WaitingReview {
    pub(super) fn save(&self, home: &Path) -> Result<(), Fault> {
        let text = serde_json::to_string_pretty(self).map_err(|error| {
            Fault::internal(format!("a review cannot be written as JSON: {error}"))
        })?;
        let path = format!("{FOLDER}/{}.json", self.name);
        disk::write(home, &path, &text).map_err(|error| cannot(&format!("write {path}"), &error))
    }

    /// Returns the text of a file before the change; `None` for a new file.
    ///
    /// # Errors
    ///
    /// The change does not have the file, or git cannot read it.
    pub fn base_text(&self, home: &Path, path: &str) -> Result<Option<String>, Fault> {
        if !self.files.iter().any(|it| it.path == path) {
            return Err(Fault::input(format!("{} does not change {path:?}", self.title))
                .hint("`trellis/listReviews` lists the files of each change"));
        }
        Ok(text_at(home, &self.base, path)?)
    }

    fn is_valid(&self, name: &str) -> bool {
        let is_commit = |it: &String| it.len() >= 40 && it.bytes().all(|it| it.is_ascii_hexdigit());
        let worktree = Path::new(".trellis/worktrees").join(name);
        self.name == name
            && [&self.base, &self.tip].into_iter().all(is_commit)
            && Path::new(&self.worktree).starts_with(worktree)
            && self.context.iter().chain([&self.spec, &self.worktree]).all(|it| is_below(it))
            && self.reports.iter().all(|it| is_below(it))
            && self.files.iter().all(|it| is_below(&it.path))
    }
}

/// Returns whether a path goes down from the project's folder.
fn is_below(path: &str) -> bool {
    let parts = Path::new(path).components();
    !path.is_empty() && parts.into_iter().all(|it| matches!(it, std::path::Component::Normal(_)))
}

/// Returns the changes of a project that wait for a person.
pub fn waiting_reviews(home: &Path) -> Result<WaitingReviews, Fault> {
    let entries = match std::fs::read_dir(home.join(FOLDER)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(WaitingReviews::default());
        }
        Err(error) => return Err(cannot(&format!("read {FOLDER}"), &error)),
    };
    let name =
        |it: std::fs::DirEntry| it.file_name().to_str()?.strip_suffix(".json").map(str::to_owned);
    let mut out = WaitingReviews::default();
    // Without its worktree the work is gone, whoever removed it.
    for name in entries.flatten().filter_map(name).filter(|it| is_open(home, it)) {
        match read(home, &name) {
            Ok(review) => out.reviews.push(review),
            Err(why) => {
                out.problems.push(format!("{} is skipped: {why}", path(home, &name).display()))
            }
        }
    }
    out.reviews.sort_by(|a, b| (&a.created_at, &a.name).cmp(&(&b.created_at, &b.name)));
    Ok(out)
}

/// Returns the waiting change of an issue.
pub fn waiting_review(home: &Path, issue: &str) -> Result<WaitingReview, Fault> {
    let all = waiting_reviews(home)?.reviews;
    all.into_iter().find(|it| it.issue == issue).ok_or_else(|| {
        Fault::input(format!("no change of issue {issue:?} waits in {}", home.display()))
            .kind(FaultKind::Decided)
            .hint("`trellis/listReviews` lists those that wait")
    })
}

/// Removes the record of a change that is decided.
pub(super) fn remove(home: &Path, name: &str) -> Result<(), Fault> {
    match std::fs::remove_file(path(home, name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(cannot(&format!("remove {}", path(home, name).display()), &error))
        }
        _ => Ok(()),
    }
}

fn path(home: &Path, name: &str) -> PathBuf {
    home.join(format!("{FOLDER}/{name}.json"))
}

fn read(home: &Path, name: &str) -> Result<WaitingReview, String> {
    let bytes = trellis_os::files::read(path(home, name)).map_err(|error| error.to_string())?;
    refuse_newer(path(home, name).display(), &bytes, VERSION).map_err(|it| it.to_string())?;
    let review: WaitingReview =
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    match review.version {
        VERSION if review.is_valid(name) => Ok(review),
        VERSION => Err("Trellis did not write it".to_owned()),
        other => Err(format!("version {other} is unknown")),
    }
}
