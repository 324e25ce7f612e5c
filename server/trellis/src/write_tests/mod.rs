//! The write-tests door: one function that exists, tests for it by a model, run before anything is written, put beside
//! what people wrote.
//!
//! ```text
//! target + context ──> question ──> reply ──> place in the file ──> run on a copy ──> files and registry
//!                          ^                                             │
//!                          └──── no Python, no test, cannot be collected ┘   at most twice
//! ```

mod context;
mod files;
mod job;
mod locate;
pub(crate) mod registry;
mod results;
mod testpaths;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use self::testpaths::TestPaths;
use crate::api::write_tests::{AddedTestPath, GenerateTestsParams, Generated, TestFramework};
use crate::edits;
use crate::error::Fault;
use crate::models::ModelArgs;
use crate::output::Output;
use crate::sandbox::SandboxArgs;

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) struct WriteTestsRequest {
    /// The function's file, absolute or below the root, else below the current folder.
    pub(crate) file: PathBuf,
    /// Its name or name path.
    pub(crate) name: String,
    /// The project's root; else found from the file.
    pub(crate) root: Option<PathBuf>,
    /// Else the one the project's files show.
    pub(crate) framework: Option<TestFramework>,
    /// Below the root; else as `trellis.toml` says.
    pub(crate) tests_dir: Option<String>,
    /// Nothing is written.
    pub(crate) preview: bool,
    /// Generated tests that a person has edited are replaced too.
    pub(crate) replace_edited: bool,
    pub(crate) model: ModelArgs,
    pub(crate) sandbox: SandboxArgs,
    pub(crate) test_timeout: Duration,
    /// For all of them; none: as usual.
    pub(crate) run_timeout: Option<Duration>,
}

impl TryFrom<GenerateTestsParams> for WriteTestsRequest {
    type Error = Fault;

    fn try_from(params: GenerateTestsParams) -> Result<WriteTestsRequest, Fault> {
        Ok(WriteTestsRequest {
            name: params.function.path(),
            file: params.function.file_path,
            root: params.project_root,
            framework: params.framework,
            tests_dir: params.tests_dir,
            preview: params.preview,
            replace_edited: params.replace_edited,
            model: params.model,
            sandbox: params.sandbox,
            test_timeout: params.limits.of_test()?,
            run_timeout: params.limits.of_run()?,
        })
    }
}

/// Has plain `pytest` run a test file of the project in `root`, whose settings name other folders.
///
/// # Errors
///
/// The settings name no folders at all, or cannot be written.
pub(crate) fn add_test_path(root: &Path, path: &str) -> Result<AddedTestPath, Fault> {
    let Some(paths) = TestPaths::of(root) else {
        return Err(Fault::input("the project's settings list no folders of tests")
            .hint("plain `pytest` searches everywhere; you do not have to add anything"));
    };
    let file = paths.file.to_owned();
    if paths.hold(path) {
        return Ok(AddedTestPath { file, folder: None, edit: None });
    }
    let folder = path.rsplit_once('/').map_or(path, |it| it.0).to_owned();
    let (before, after) = paths.with(&folder);
    if !TestPaths::in_text(paths.file, &after).is_some_and(|it| it.hold(path)) {
        let message = format!("cannot add {folder} to `testpaths` in {file}");
        return Err(Fault::input(message).hint("add it there by hand; nothing was changed"));
    }
    let edits = trellis_python::TextEdits::between(before, &after);
    let change = edits::Change { path: root.join(paths.file), source: before.to_owned(), edits };
    let made = edits::apply(root, &format!("testpaths with {folder}"), vec![change])?;
    Ok(AddedTestPath { file, folder: Some(folder), edit: Some(made.id) })
}

/// Writes tests for a function, runs them, and says which pass.
///
/// # Errors
///
/// No such function, no model or sandbox, replies without usable tests, files that cannot be written; then nothing has
/// been written.
pub(crate) async fn generate(
    order: WriteTestsRequest,
    output: &Output,
    cancel: CancellationToken,
) -> Result<Generated, Fault> {
    let job = job::Job::open(order, output, cancel).await?;
    job.run(output).await
}
