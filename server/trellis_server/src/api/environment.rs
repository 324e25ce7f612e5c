//! `environment`: the project's Python environment, for clients that run tests without the sandbox.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use trellis_workflows::fault::Fault;
use trellis_workflows::reporter::Reporter;
use trellis_workflows::sandbox::{self, SandboxArgs};

/// Prepares the environment for a project's tests on this machine, and returns its place: for a debugger, which must
/// start the tests itself.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EnvironmentParams {
    /// The project; default: the first folder of the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// The environment to use: its folder, or its interpreter. Default: the activated one, the project's own, or one
    /// created from its requirements.
    #[serde(default)]
    pub interpreter: Option<PathBuf>,
}

/// An environment that is ready.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentResult {
    /// The program.
    pub interpreter: PathBuf,
    /// Such as `3.12.4`.
    pub version: String,
    /// A folder of packages to search after its own: pytest, if the environment has none.
    pub packages: Option<PathBuf>,
}

/// Finds the environment, or creates it.
pub async fn environment(
    root: &Path,
    interpreter: Option<PathBuf>,
    reporter: &Reporter,
) -> Result<EnvironmentResult, Fault> {
    let args = SandboxArgs { interpreter, ..SandboxArgs::default() };
    let found = sandbox::environment(&args, root, reporter).await?;
    let (interpreter, version, packages) = (found.interpreter, found.version, found.added);
    Ok(EnvironmentResult { interpreter, version, packages })
}
