//! The write-tests workflow: a model writes tests for one existing function. They run before
//! anything is written, and go beside tests that people wrote.
//!
//! ```text
//! target + context ──> request ──> reply ──> place in the file ──> run on a copy ──> written files
//!                          ^                                            │
//!                          └─── no Python, no test, cannot be collected ┘   at most twice
//! ```

mod context;
mod files;
mod job;
mod keep;
mod locate;
pub mod registry;
pub mod report;
mod results;
mod testpaths;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use trellis_engine::write_tests::Style;

pub use self::keep::{KeepRequest, KeptTests, TestDraft, keep};
use self::report::{AddedTestPath, WriteTestsReport};
use self::testpaths::TestPaths;
use crate::fault::Fault;
use crate::models::ModelArgs;
use crate::reporter::Reporter;
use crate::sandbox::SandboxArgs;
use trellis_project::edits;

/// A request to write tests for a function.
#[derive(Clone, Debug)]
pub struct WriteTestsRequest {
    /// The function's file, absolute or below the root, else below the current folder.
    pub file: PathBuf,
    /// The function's name or name path.
    pub name: String,
    /// The project's root. `None` to find it from the file.
    pub root: Option<PathBuf>,
    /// The test framework. `None` for the one that the project's files show.
    pub framework: Option<Style>,
    /// The folder for tests, below the root. `None` for the one in `trellis.toml`.
    pub tests_dir: Option<String>,
    /// Writes nothing.
    pub preview: bool,
    /// Also replaces generated tests that a person has edited.
    pub replace_edited: bool,
    pub model: ModelArgs,
    pub sandbox: SandboxArgs,
    pub test_timeout: Duration,
    /// Limit for the whole run; `None` for the usual one.
    pub run_timeout: Option<Duration>,
}

/// Returns a predicate for files, relative to the root, in which plain `pytest` looks for tests
/// according to the project's `testpaths`.
pub fn is_in_testpaths(root: &Path) -> impl Fn(&str) -> bool + use<> {
    let paths = TestPaths::of(root);
    move |file| paths.as_ref().is_none_or(|it| it.contains(file))
}

/// Adds the folder of a test file to the `testpaths` in the settings of the project in `root`, so
/// that plain `pytest` runs it.
///
/// # Errors
///
/// The settings list no folders at all, or cannot be written.
pub fn add_test_path(root: &Path, path: &str) -> Result<AddedTestPath, Fault> {
    let Some(paths) = TestPaths::of(root) else {
        return Err(Fault::input("the project's settings list no folders of tests")
            .hint("plain `pytest` searches everywhere; you do not have to add anything"));
    };
    let file = paths.file.to_owned();
    if paths.contains(path) {
        return Ok(AddedTestPath { file, folder: None, edit: None });
    }
    let folder = path.rsplit_once('/').map_or(path, |it| it.0).to_owned();
    let (before, after) = paths.with_folder(&folder);
    if !TestPaths::in_text(paths.file, &after).is_some_and(|it| it.contains(path)) {
        let message = format!("cannot add {folder} to `testpaths` in {file}");
        return Err(Fault::input(message).hint("add it there by hand; nothing was changed"));
    }
    let edits = trellis_python::TextEdits::between(before, &after);
    let change = edits::Change { path: root.join(paths.file), source: before.to_owned(), edits };
    let made = edits::apply(root, &format!("testpaths with {folder}"), vec![change])?;
    Ok(AddedTestPath { file, folder: Some(folder), edit: Some(made.id) })
}

/// Writes tests for a function, runs them, and returns which of them pass.
///
/// # Errors
///
/// There is no such function, no model or no sandbox; no reply has usable tests; or files cannot be
/// written. Nothing has been written then.
pub async fn generate(
    order: WriteTestsRequest,
    reporter: &Reporter,
    cancel: CancellationToken,
) -> Result<WriteTestsReport, Fault> {
    let job = job::Job::open(order, reporter, cancel).await?;
    job.run(reporter).await
}
