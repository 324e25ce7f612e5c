//! `trellis doctor`: what is installed, what is missing, what that costs, how to mend it.

mod model;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use run::{Config, Docker, LimitStatus, Limits, Runner, python};
use serde_json::{Value, json};

use crate::error::{Exit, Fault};
use crate::models;
use crate::output::Output;
use crate::workspace::scratch::ScratchFolder;

/// Show what this machine offers for running tests, and what would be enforced.
#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// The project whose environment is looked at.
    #[arg(default_value = ".")]
    project: PathBuf,
    /// Put one tiny question to this model, or to the one that would be used, and show what came back.
    #[arg(long, value_name = "MODEL", num_args = 0..=1)]
    model: Option<Option<String>>,
}

/// One thing that was looked at.
struct Finding {
    name: &'static str,
    found: Result<String, String>,
    /// What is lost without it.
    cost: &'static str,
}

pub(crate) async fn run(args: &DoctorArgs, output: &mut Output) -> Result<Exit, Fault> {
    if !args.project.is_dir() {
        let shown = args.project.display();
        return Err(Fault::input(format!("{shown} is no folder")).hint("give a project's folder"));
    }
    if let Some(name) = &args.model {
        return model::run(name.as_deref(), &args.project, output).await;
    }
    let scratch = ScratchFolder::new()?;
    let config = Config { scratch: scratch.path().to_owned(), ..Config::from_environment() };
    let local = Runner::local_limits(&config, &Limits::default()).await;
    let findings = findings(args).await;
    let works = |name: &str| findings.iter().any(|it| it.name == name && it.found.is_ok());
    let usable = works("docker") || works("python") && local.is_ok();
    if output.is_json() {
        output.json(&shape(&findings, &local))?;
    } else {
        output.text(human(&findings, &local).trim_end())?;
    }
    Ok(if usable { Exit::Done } else { Exit::Unavailable })
}

async fn findings(args: &DoctorArgs) -> Vec<Finding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let python = python::find(Some(&args.project), &path).await;
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
            found: models::would_use(&args.project),
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
        python::Origin::Project => "the project's own environment",
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

fn shape(findings: &[Finding], local: &Result<Vec<LimitStatus>, String>) -> Value {
    let tools: Vec<Value> = (findings.iter())
        .map(|it| {
            let (ok, text) = match &it.found {
                Ok(text) => (true, text),
                Err(text) => (false, text),
            };
            json!({ "name": it.name, "ok": ok, "detail": text, "cost": if ok { None } else { Some(it.cost) } })
        })
        .collect();
    let limits =
        local.as_ref().map(|limits| limits.iter().map(super::results::limit).collect::<Vec<_>>());
    json!({
        "tools": tools,
        "localLimits": limits.as_ref().ok(),
        "localError": limits.as_ref().err(),
    })
}

fn human(findings: &[Finding], local: &Result<Vec<LimitStatus>, String>) -> String {
    let mut out = String::new();
    for Finding { name, found, cost } in findings {
        out += &match found {
            Ok(text) => format!("ok       {name}: {text}\n"),
            Err(text) => format!("missing  {name}: {text}\n         cost: {cost}\n"),
        };
    }
    out += "\nlocal sandbox:\n";
    match local {
        Ok(limits) => {
            for limit in limits {
                let mark = if limit.enforced { "held" } else { "OPEN" };
                out += &format!("  {mark}  {}: {}\n", limit.name, limit.how);
            }
        }
        Err(error) => out += &format!("  none: {error}\n"),
    }
    out
}
