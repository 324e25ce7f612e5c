//! Opens the sandbox that a command is to run tests in.

mod kept;

use std::path::{Path, PathBuf};

use run::{Config, Docker, ImageProgress, ImageSpec, Runner, python};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::output::Output;
use crate::workspace::scratch::ScratchFolder;

pub(crate) use kept::Kept;

/// Where tests run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Choice {
    #[default]
    /// Docker where an engine answers, else local isolation.
    Auto,
    /// A container without network, with the project read-only.
    Docker,
    /// As much isolation as this machine allows; `trellis doctor` shows it.
    Local,
}

/// The options of every command that runs tests.
#[derive(Clone, Debug, Default, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SandboxArgs {
    /// Where tests run.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) sandbox: Choice,
    /// Docker image with Python that the tests' own image is derived from (default: python:3.12-slim).
    #[arg(long, env = "TRELLIS_IMAGE", value_name = "IMAGE")]
    pub(crate) image: Option<String>,
}

/// A sandbox ready for tests.
pub(crate) struct Opened {
    pub(crate) runner: Runner,
    /// The interpreter tests run with, where it is one of this machine.
    pub(crate) interpreter: Option<PathBuf>,
    /// The environment is the project's own, where it is installed if it wants to be.
    pub(crate) is_projects_own: bool,
    /// Its folder is used as long as the runner.
    pub(crate) scratch: ScratchFolder,
}

/// What tests need besides pytest.
pub(crate) enum Needs {
    /// What the project's own files ask for.
    Project,
    /// These lines, as in a requirements file.
    Lines(Vec<String>),
}

/// Opens the sandbox for the project in `root`, making environments or images that are not there.
pub(crate) async fn open(
    args: &SandboxArgs,
    root: &Path,
    needs: Needs,
    output: &Output,
) -> Result<Opened, Fault> {
    let scratch = ScratchFolder::new()?;
    let config = Config { scratch: scratch.path().to_owned(), ..Config::from_environment() };
    if let Some(docker) = docker(args, root, &needs, output).await? {
        let runner = Runner::in_docker(docker, &config);
        return Ok(Opened { runner, interpreter: None, is_projects_own: false, scratch });
    }
    let python = interpreter(root, needs, output).await?;
    let interpreter = Some(python.interpreter.clone());
    let is_projects_own = python.origin == python::Origin::Project;
    Ok(Opened { runner: Runner::new(python, config), interpreter, is_projects_own, scratch })
}

/// None: not asked for, or not to be had where the choice is ours.
async fn docker(
    args: &SandboxArgs,
    root: &Path,
    needs: &Needs,
    output: &Output,
) -> Result<Option<Docker>, Fault> {
    let may_choose = args.sandbox == Choice::Auto;
    if args.sandbox == Choice::Local || may_choose && Docker::describe().await.is_err() {
        return Ok(None);
    }
    match container_image(args, root, needs, output).await {
        Ok(docker) => Ok(Some(docker)),
        Err(fault) if may_choose => {
            output.note(format_args!("Docker cannot be used, tests run locally: {fault}"));
            Ok(None)
        }
        Err(fault) => Err(fault),
    }
}

async fn container_image(
    args: &SandboxArgs,
    root: &Path,
    needs: &Needs,
    output: &Output,
) -> Result<Docker, Fault> {
    Docker::may_read(root).map_err(Fault::unavailable)?;
    let default = ImageSpec::default();
    let base = args.image.clone().unwrap_or(default.base);
    let spec = ImageSpec { base, requirements: lines(root, needs, output)? };
    let say = |progress: ImageProgress| match progress {
        ImageProgress::Waiting => Output::say("waiting for another process that builds the image"),
        // Said once, when the sizes are not known yet.
        ImageProgress::Pulling { image, total: 0, .. } => {
            Output::say(format_args!("pulling the image {image}"));
        }
        ImageProgress::Pulling { .. } => {}
        ImageProgress::Building { requirements } => {
            Output::say(format_args!("building the test image: {}", requirements.join(", ")));
        }
    };
    Docker::open(None, &spec, &cache_folder()?, &say).await.map_err(Fault::unavailable)
}

/// The environment in which the tests of the project in `root` run, made now if it is not there.
pub(crate) async fn environment(root: &Path, output: &Output) -> Result<python::Python, Fault> {
    interpreter(root, Needs::Project, output).await
}

/// The project's own environment if it has pytest, else one made for what is needed.
async fn interpreter(root: &Path, needs: Needs, output: &Output) -> Result<python::Python, Fault> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let base = python::find(Some(root), &path).await.map_err(Fault::unavailable)?;
    if base.origin == python::Origin::Project {
        return Ok(base);
    }
    let lines = lines(root, &needs, output)?;
    let say = |step: python::Progress| match step {
        python::Progress::Waiting => {
            Output::say("waiting for another process that makes the test environment");
        }
        python::Progress::Creating { .. } => {}
        python::Progress::Installing { requirements } => {
            Output::say(format_args!("making the test environment: {}", requirements.join(", ")));
        }
    };
    python::provide(&base, &lines, &cache_folder()?, &say).await.map_err(Fault::unavailable)
}

fn lines(root: &Path, needs: &Needs, output: &Output) -> Result<Vec<String>, Fault> {
    match needs {
        Needs::Lines(lines) => Ok(lines.clone()),
        Needs::Project => {
            let found = python::of_project(root).map_err(Fault::input)?;
            found.notes.iter().for_each(|note| output.note(format_args!("note: {note}")));
            Ok(found.lines)
        }
    }
}

/// `TRELLIS_CACHE`, else the user's cache folder.
pub(crate) fn cache_folder() -> Result<PathBuf, Fault> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("TRELLIS_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("trellis")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache/trellis")))
        .ok_or_else(|| {
            Fault::unavailable("there is no folder for the test environment")
                .hint("set TRELLIS_CACHE")
        })
}
