//! `doctor`: what is installed, what is missing, what that costs, how to mend it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use run::{Docker, Runner, python};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tests::{Limit, limit};
use crate::error::Fault;
use crate::models;
use crate::sandbox::{self, SandboxArgs, Settled};
use crate::workspace::scratch::ScratchFolder;

/// Shows what this machine offers for running tests, and what would be enforced.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DoctorParams {
    /// The project whose environment is looked at; else the current folder.
    #[serde(default)]
    pub(crate) root: Option<PathBuf>,
}

/// What a machine offers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DoctorResult {
    pub(crate) tools: Vec<ToolFound>,
    /// What local sandboxes are bound to; null where there can be none.
    pub(crate) local_limits: Option<Vec<Limit>>,
    /// Why there can be no local sandbox.
    pub(crate) local_error: Option<String>,
}

/// One thing that was looked for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolFound {
    pub(crate) name: &'static str,
    /// Whether it is there and works.
    pub(crate) ok: bool,
    /// What it is, or why it is not there.
    pub(crate) detail: String,
    /// What is lost without it; null if it is there.
    pub(crate) cost: Option<&'static str>,
}

/// One thing that was looked at.
struct Finding {
    name: &'static str,
    found: Result<String, String>,
    /// What is lost without it.
    cost: &'static str,
}

impl DoctorResult {
    /// Whether tests can be run at all.
    pub(crate) fn is_usable(&self) -> bool {
        let works = |name: &str| self.tools.iter().any(|it| it.name == name && it.ok);
        works("docker") || works("python") && self.local_error.is_none()
    }
}

pub(crate) async fn doctor(params: &DoctorParams) -> Result<DoctorResult, Fault> {
    let project = folder(params.root.as_deref().unwrap_or(Path::new(".")))?;
    let scratch = ScratchFolder::new()?;
    let allowed = SandboxArgs::default().settled(project)?;
    let config = allowed.config(scratch.path());
    let local = Runner::local_limits(&config).await;
    let tools = findings(project, &allowed).await.into_iter().map(tool).collect();
    let (local_limits, local_error) = match local {
        Ok(limits) => (Some(limits.iter().map(limit).collect()), None),
        Err(why) => (None, Some(why)),
    };
    Ok(DoctorResult { tools, local_limits, local_error })
}

/// Refuses what is no folder.
pub(crate) fn folder(project: &Path) -> Result<&Path, Fault> {
    if project.is_dir() {
        return Ok(project);
    }
    let shown = project.display();
    Err(Fault::input(format!("{shown} is no folder")).hint("give a project's folder"))
}

fn tool(Finding { name, found, cost }: Finding) -> ToolFound {
    match found {
        Ok(detail) => ToolFound { name, ok: true, detail, cost: None },
        Err(detail) => ToolFound { name, ok: false, detail, cost: Some(cost) },
    }
}

async fn findings(project: &Path, allowed: &Settled) -> Vec<Finding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let python = sandbox::python_of(project, allowed).await;
    let python = python.map(|it| told(&it)).map_err(|error| error.to_string());
    let uv = match python::Installer::on_path(&path) {
        python::Installer::Uv(path) => Ok(path.display().to_string()),
        python::Installer::Pip => Err("not on PATH; install it with `pip install uv`".to_owned()),
    };
    vec![
        Finding { name: "python", found: python, cost: "local tests cannot run" },
        Finding {
            name: "uv",
            found: uv,
            cost: "environments are made more slowly, with venv and pip",
        },
        Finding {
            name: "git",
            found: version("git"),
            cost: "grown repositories get no commits, and a run cannot be taken back",
        },
        Finding {
            name: "model",
            found: models::would_use(project),
            cost: "nothing can be generated; recordings can be replayed",
        },
        Finding {
            name: "docker",
            found: Docker::describe().await,
            cost: "tests run in local sandboxes",
        },
        Finding {
            name: "bubblewrap",
            found: version("bwrap").map_err(|it| format!("{it}; install the package `bubblewrap`")),
            cost: "none where namespaces can be made without it",
        },
    ]
}

fn told(python: &python::Python) -> String {
    let origin = match python.origin {
        python::Origin::Project if python.maker.is_some() => {
            "an environment without pytest, which is provided beside it"
        }
        python::Origin::Project => "the environment that is used",
        python::Origin::Base | python::Origin::Provided => "environments are made with it",
    };
    let passed_over: String =
        python.passed_over.iter().map(|it| format!("; passed over: {it}")).collect();
    format!("{} {} ({origin}){passed_over}", python.interpreter.display(), python.version)
}

/// The first line a program says of its version.
fn version(program: &str) -> Result<String, String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program} does not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(str::to_owned).ok_or_else(|| format!("{program} says no version"))
}
