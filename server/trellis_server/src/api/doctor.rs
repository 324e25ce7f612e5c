//! `doctor`: installed and missing tools, the effect of each gap, and its remedy.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_sandbox::{Docker, Runner, python};

use super::run_tests::{Limit, limit};
use trellis_store::scratch::ScratchFolder;
use trellis_workflows::fault::Fault;
use trellis_workflows::models;
use trellis_workflows::sandbox::{self, SandboxArgs, Settled};

/// Checks this machine: what it has for running tests, and which limits the sandbox enforces.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DoctorParams {
    /// The project whose environment is checked; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
}

/// The result of the check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorResult {
    pub tools: Vec<ToolFound>,
    /// The limits of local sandboxes; null if local sandboxes do not work here.
    pub local_limits: Option<Vec<Limit>>,
    /// Why local sandboxes do not work here.
    pub local_error: Option<String>,
    /// Whether tests can run, where, and what to do next.
    pub verdict: String,
}

/// One thing that was checked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolFound {
    pub name: &'static str,
    /// Whether it exists and works.
    pub ok: bool,
    /// What it is, or why it is missing.
    pub detail: String,
    /// What does not work without it; null if it exists.
    pub cost: Option<&'static str>,
    /// Whether Trellis does all of its work without it.
    pub optional: bool,
}

/// Result of one check.
struct Finding {
    name: &'static str,
    found: Result<String, String>,
    /// Consequence if the tool is missing.
    cost: &'static str,
}

impl DoctorResult {
    /// Returns whether tests can run at all.
    pub fn is_usable(&self) -> bool {
        self.has("docker") || self.has("python") && self.local_error.is_none()
    }

    fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|it| it.name == name && it.ok)
    }

    /// Returns one line about test runs and one about the model.
    fn judged(&self) -> String {
        let place = match (self.has("docker"), self.has("python"), &self.local_error) {
            (true, ..) => "Ready: tests run in Docker.",
            (false, true, None) => "Ready: tests run in the local sandbox.",
            (false, false, _) => "Not ready: install Python 3.9 or newer, or start Docker.",
            (false, true, Some(_)) => {
                "Not ready: this machine allows no local sandbox; start Docker."
            }
        };
        let model = match self.has("model") {
            true => "",
            false => {
                "\nTo generate tests, fixes and code, choose a model: set the key of a provider (such as GEMINI_API_KEY) \
                 and give --model PROVIDER:NAME. `trellis demo` needs none."
            }
        };
        format!("{place}{model}")
    }
}

pub async fn doctor(params: &DoctorParams) -> Result<DoctorResult, Fault> {
    let project = folder(params.root.as_deref().unwrap_or(Path::new(".")))?;
    let scratch = ScratchFolder::new()?;
    let allowed = SandboxArgs::default().settled(project)?;
    let config = allowed.config(scratch.path());
    let local = Runner::local_limits(&config).await;
    let tools = findings(project, &allowed).await.into_iter().map(tool).collect();
    let (local_limits, local_error) = match local {
        Ok(limits) => (Some(limits.iter().map(limit).collect()), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let mut result = DoctorResult { tools, local_limits, local_error, verdict: String::new() };
    result.verdict = result.judged();
    Ok(result)
}

/// Refuses a path that is no folder.
pub fn folder(project: &Path) -> Result<&Path, Fault> {
    if project.is_dir() {
        return Ok(project);
    }
    let shown = project.display();
    Err(Fault::input(format!("{shown} is not a folder")).hint("give a project's folder"))
}

fn tool(Finding { name, found, cost }: Finding) -> ToolFound {
    let optional = matches!(name, "uv" | "docker" | "bubblewrap");
    match found {
        Ok(detail) => ToolFound { name, ok: true, detail, cost: None, optional },
        Err(detail) => ToolFound { name, ok: false, detail, cost: Some(cost), optional },
    }
}

async fn findings(project: &Path, allowed: &Settled) -> Vec<Finding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let python = sandbox::python_of(project, allowed).await;
    let python = python.map(|it| report(&it)).map_err(|error| error.to_string());
    let uv = match python::Installer::on_path(&path) {
        python::Installer::Uv(path) => Ok(path.display().to_string()),
        python::Installer::Pip => Err("not on PATH; install it with `pip install uv`".to_owned()),
    };
    vec![
        Finding { name: "python", found: python, cost: "local tests cannot run" },
        Finding {
            name: "uv",
            found: uv,
            cost: "environments are created more slowly, with venv and pip",
        },
        Finding {
            name: "git",
            found: version("git"),
            cost: "generated repositories get no commits, and you cannot roll back a run",
        },
        Finding {
            name: "model",
            found: models::default_model_name(project),
            cost: "you cannot generate code; you can still replay recordings",
        },
        Finding {
            name: "docker",
            found: Docker::describe().await.map_err(|error| error.to_string()),
            cost: "tests run in local sandboxes",
        },
        Finding {
            name: "bubblewrap",
            found: version("bwrap").map_err(|it| format!("{it}; install the package `bubblewrap`")),
            cost: "nothing, because namespaces work without it",
        },
    ]
}

fn report(python: &python::Python) -> String {
    let origin = match python.origin {
        python::Origin::Project if python.maker.is_some() => {
            "an environment without pytest, which Trellis provides separately"
        }
        python::Origin::Project => "the environment in use",
        python::Origin::Base | python::Origin::Provided => "Trellis creates environments with it",
    };
    let passed_over: String =
        python.passed_over.iter().map(|it| format!("; skipped: {it}")).collect();
    format!("{} {} ({origin}){passed_over}", python.interpreter.display(), python.version)
}

/// Returns the first line of a program's version output.
fn version(program: &str) -> Result<String, String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program} does not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .next()
        .map(str::to_owned)
        .ok_or_else(|| format!("{program} does not report a version"))
}
