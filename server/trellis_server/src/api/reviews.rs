//! Changes of issues that wait for a person.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::implement::Counts;
use trellis_workflows::fault::Fault;
use trellis_workflows::issue::{ReviewedFile, WaitingReview, waiting_review, waiting_reviews};

/// Lists the changes of issues that need your review, the oldest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListReviewsParams {
    /// Folder of the project. Default: the first folder of the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
}

/// The changes that need your review. `trellis/implement` with a `decision` merges one, sends it back, or keeps it on its
/// branch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListReviewsResult {
    pub reviews: Vec<Review>,
    /// Files that could not be read, and why.
    pub problems: Vec<String>,
}

/// The change of an issue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    pub issue: String,
    /// Title of the issue, with the first line of its spec.
    pub title: String,
    /// Spec and context files, relative to the project's folder, as `lld` and `context` of `trellis/implement`.
    pub spec: String,
    pub context: Vec<String>,
    /// The branch of the work.
    pub branch: String,
    /// The branch that it is merged into.
    pub into: String,
    /// The project's folder in the worktree. A decision takes your edits there into account.
    pub worktree: PathBuf,
    /// The last commit of the work, for a `decision`.
    pub tip: String,
    /// The changed files.
    pub files: Vec<ReviewFile>,
    /// All tests with the change. Tests that fail failed before the change, too.
    pub all_tests: Counts,
    /// Tests that passed before the work.
    pub passed_before: usize,
    /// Reasons against the change, as sentences.
    pub doubts: Vec<String>,
    /// Further notes, as sentences.
    pub notes: Vec<String>,
    /// Why your last decision was not carried out.
    pub refused: Option<String>,
    /// Folder with both reports, relative to the project's.
    pub reports: Option<String>,
    pub created_at: String,
}

/// A changed file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewFile {
    /// Path relative to the project's folder.
    pub path: String,
    /// Added lines; null for a file that is not text.
    pub added: Option<usize>,
    pub removed: Option<usize>,
}

/// Reads a changed file of an issue as it was before the change.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewBaseParams {
    /// Folder of the project. Default: the first folder of the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Number or name of the issue.
    pub issue: String,
    /// Path of the file, relative to the project's folder.
    pub path: String,
}

/// The file before the change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewBaseResult {
    /// Null for a new file.
    pub text: Option<String>,
}

pub fn list_reviews(home: &Path) -> Result<ListReviewsResult, Fault> {
    let waiting = waiting_reviews(home)?;
    let reviews = waiting.reviews.into_iter().map(|it| review(home, it)).collect();
    Ok(ListReviewsResult { reviews, problems: waiting.problems })
}

pub fn review_base(home: &Path, params: &ReviewBaseParams) -> Result<ReviewBaseResult, Fault> {
    let text = waiting_review(home, &params.issue)?.base_text(home, &params.path)?;
    Ok(ReviewBaseResult { text })
}

fn review(home: &Path, it: WaitingReview) -> Review {
    Review {
        issue: it.issue,
        title: it.title,
        spec: it.spec,
        context: it.context,
        branch: it.branch,
        into: it.into,
        worktree: home.join(it.worktree),
        tip: it.tip,
        files: it.files.into_iter().map(Into::into).collect(),
        all_tests: Counts { passed: it.passed, failed: it.failed },
        passed_before: it.passed_before,
        doubts: it.doubts,
        notes: it.notes,
        refused: it.refused,
        reports: it.reports,
        created_at: it.created_at,
    }
}

impl From<ReviewedFile> for ReviewFile {
    fn from(it: ReviewedFile) -> ReviewFile {
        let (added, removed) = it.lines.unzip();
        ReviewFile { path: it.path, added, removed }
    }
}
