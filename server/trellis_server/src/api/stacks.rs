//! Tech stacks: list, show, create a project, install packages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use trellis_workflows::fault::Fault;
use trellis_workflows::reporter::Reporter;
use trellis_workflows::stacks::{self, Installer, Origin, Stack};

/// Lists the project templates: those of Trellis, your own and the project's.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListStacksParams {
    /// The folder from which to look upwards for the project's own templates; the first folder of the workspace if
    /// left out.
    #[serde(default)]
    pub root: Option<PathBuf>,
}

/// Templates by name.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackList {
    pub stacks: Vec<StackEntry>,
}

/// One template.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackEntry {
    pub name: String,
    pub display_name: String,
    /// One line.
    pub description: String,
    /// Such as `backend`.
    pub category: String,
    /// The command that runs its tests: one program with its arguments.
    pub test_command: String,
    /// The file it comes from; null if it is built into Trellis.
    pub file: Option<PathBuf>,
}

/// Shows a template with all its files.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShowStackParams {
    /// The name of the template.
    pub stack: String,
    /// The folder from which to look upwards for the project's own templates; the first folder of the workspace if
    /// left out.
    #[serde(default)]
    pub root: Option<PathBuf>,
}

/// A template with all details.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackShown {
    pub name: String,
    pub display_name: String,
    /// One line.
    pub description: String,
    /// Such as `backend`.
    pub category: String,
    /// The folder for code, relative to the project's root.
    pub src_dir: String,
    /// The folder for tests, relative to the project's root.
    pub test_dir: String,
    /// The command that runs its tests: one program with its arguments.
    pub test_command: String,
    /// What installs its packages.
    pub install: Installer,
    /// Texts by path; `{{project_name}}` is replaced with the project's name.
    pub config_files: BTreeMap<String, String>,
    /// Texts by path: some code and a test of it that passes.
    pub hello_world: BTreeMap<String, String>,
    /// The code conventions of such a project.
    pub conventions: String,
    /// The file it comes from; null if it is built into Trellis.
    pub file: Option<PathBuf>,
}

/// Creates a new project from a template, in a new or empty folder. Installs nothing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewProjectParams {
    /// The name of the template.
    pub stack: String,
    /// The folder of the project.
    pub out: PathBuf,
    /// The name of the project, of lower-case letters, digits and `-`; the folder's name if left out.
    #[serde(default)]
    pub project_name: Option<String>,
    /// The folder from which to look upwards for the project's own templates; the first folder of the workspace if
    /// left out.
    #[serde(default)]
    pub root: Option<PathBuf>,
}

/// A project that was created.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewProject {
    pub stack: String,
    pub project_name: String,
    /// Its folder.
    pub out: PathBuf,
    /// Paths of the written files, relative to the folder.
    pub files: Vec<String>,
    /// The command that runs its tests, once its packages are installed.
    pub test_command: String,
}

/// Installs the packages listed in a project's package.json, requirements.txt, pyproject.toml and go.mod, over the
/// network; runs no code of the project and no scripts of npm packages.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallPackagesParams {
    /// The folder of the project; the first folder of the workspace if left out.
    #[serde(default)]
    pub root: Option<PathBuf>,
}

/// What was installed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackagesInstalled {
    pub installed: Vec<InstalledBy>,
}

/// Packages of one language.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstalledBy {
    pub installer: Installer,
    /// The file with the installed versions, relative to the project's root: keep it with the sources.
    pub lock_file: Option<&'static str>,
    /// For pip: the interpreter that has the packages.
    pub interpreter: Option<PathBuf>,
}

fn known(root: Option<&Path>) -> Result<Vec<Stack>, Fault> {
    stacks::all(root.unwrap_or(Path::new(".")), |name| std::env::var(name).ok())
}

fn file(stack: &Stack) -> Option<PathBuf> {
    match &stack.origin {
        Origin::Builtin => None,
        Origin::File(path) => Some(path.clone()),
    }
}

pub fn list(params: &ListStacksParams) -> Result<StackList, Fault> {
    let entry = |stack: Stack| StackEntry {
        file: file(&stack),
        name: stack.written.name,
        display_name: stack.written.display_name,
        description: stack.written.description,
        category: stack.written.category,
        test_command: stack.written.test_command,
    };
    Ok(StackList { stacks: known(params.root.as_deref())?.into_iter().map(entry).collect() })
}

pub fn show(params: &ShowStackParams) -> Result<StackShown, Fault> {
    let stack = stacks::find(known(params.root.as_deref())?, &params.stack)?;
    let file = file(&stack);
    let it = stack.written;
    Ok(StackShown {
        name: it.name,
        display_name: it.display_name,
        description: it.description,
        category: it.category,
        src_dir: it.src_dir,
        test_dir: it.test_dir,
        test_command: it.test_command,
        install: it.install,
        config_files: it.config_files,
        hello_world: it.hello_world,
        conventions: it.conventions,
        file,
    })
}

pub fn new_project(params: &NewProjectParams) -> Result<NewProject, Fault> {
    let stack = stacks::find(known(params.root.as_deref())?, &params.stack)?;
    let project_name = stacks::project_name(params.project_name.as_deref(), &params.out)?;
    let files = stacks::scaffold(&stack, &project_name, &params.out)?;
    let (out, test_command) = (params.out.clone(), stack.written.test_command);
    Ok(NewProject { stack: stack.written.name, project_name, out, files, test_command })
}

pub async fn install(
    params: &InstallPackagesParams,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<PackagesInstalled, Fault> {
    let root = params.root.as_deref().unwrap_or(Path::new("."));
    let installed = stacks::install(root, reporter, cancel).await?;
    let entry = |it: stacks::Installed| InstalledBy {
        installer: it.installer,
        lock_file: it.lock,
        interpreter: it.interpreter,
    };
    Ok(PackagesInstalled { installed: installed.into_iter().map(entry).collect() })
}
