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
pub(crate) mod registry;
mod results;
mod target;

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::error::Fault;
use crate::methods::bounds::TEST_SECONDS;
use crate::methods::write_tests::{GenerateTestsParams, Generated, TestFramework};
use crate::models::ModelArgs;
use crate::output::Output;
use crate::sandbox::SandboxArgs;

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Order {
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
}

impl From<GenerateTestsParams> for Order {
    fn from(params: GenerateTestsParams) -> Order {
        let mut model = ModelArgs::default();
        model.model = params.model.clone();
        Order {
            name: params.function.path(),
            file: params.function.file_path,
            root: params.project_root,
            framework: params.framework,
            tests_dir: params.tests_dir,
            preview: params.preview,
            replace_edited: params.replace_edited,
            model,
            sandbox: SandboxArgs {
                sandbox: params.sandbox,
                allow: params.allow,
                ..SandboxArgs::default()
            },
            test_timeout: Duration::from_secs(TEST_SECONDS),
        }
    }
}

/// Writes tests for a function, runs them, and says which pass.
///
/// # Errors
///
/// No such function, no model or sandbox, replies without usable tests, files that cannot be written; then nothing has
/// been written.
pub(crate) async fn generate(
    order: Order,
    output: &Output,
    cancel: CancellationToken,
) -> Result<Generated, Fault> {
    let job = job::Job::open(order, output, cancel).await?;
    job.run(output).await
}
