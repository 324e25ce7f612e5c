//! Opens the sandbox in which a command runs tests.

mod allowed;
mod progress;
mod warm;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::assembly::library_name;
use trellis_python::distributions;
use trellis_sandbox::{Docker, ImageProgress, ImageSpec, RaisedBy, Runner, python};

use crate::fault::Fault;
use crate::reporter::Reporter;
use trellis_store::disk;
use trellis_store::scratch::ScratchFolder;

pub use allowed::{Allowed, LEAST_MEMORY, MOST_MEMORY, Settled};
use progress::ProgressReporter;
pub use warm::WarmSandboxes;

/// Flags that raise the limits, for commands with both. An editor shows only its own settings.
pub const RAISED_BY: RaisedBy = RaisedBy {
    test: Some("`--test-timeout` (in the editor `trellis.testTimeout`)"),
    run: Some("`--run-timeout` (in the editor `trellis.allow.runSeconds`)"),
};

/// pytest option to continue after files that cannot be imported.
pub const CONTINUE_ON_COLLECTION_ERRORS: &str = "--continue-on-collection-errors";

/// Where tests run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    #[default]
    /// Docker if an engine answers, otherwise the local sandbox.
    Auto,
    /// A container without network, with a copy of the project.
    Docker,
    /// The strongest isolation this machine allows; `trellis doctor` shows it.
    Local,
}

/// The options of every command that runs tests.
#[derive(Clone, Debug, Default, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SandboxArgs {
    /// Where tests run.
    #[arg(
        long,
        help_heading = "Sandbox",
        value_name = "WHERE",
        value_enum,
        default_value = "auto"
    )]
    pub sandbox: Choice,
    /// Docker image with Python to run tests in [default: python:3.12-slim].
    #[arg(long, help_heading = "Sandbox", env = "TRELLIS_IMAGE", value_name = "IMAGE")]
    pub image: Option<String>,
    /// Python environment for the tests: its folder or its interpreter. Implies the local sandbox.
    #[arg(
        long = "python",
        help_heading = "Sandbox",
        visible_alias = "interpreter",
        value_name = "PATH"
    )]
    #[serde(skip_serializing)]
    pub interpreter: Option<PathBuf>,
    #[command(flatten)]
    /// Kept nowhere: a folder that is gone on with must not say what its tests may have, and variables may be secrets.
    #[serde(skip_serializing)]
    pub allow: Allowed,
}

impl SandboxArgs {
    /// Returns the permissions of tests in `root`, merged with the person's own file.
    ///
    /// # Errors
    ///
    /// A variable has no valid name, or the file is wrong.
    pub fn settled(&self, root: &Path) -> Result<Settled, Fault> {
        self.allow.settled(self.interpreter.as_deref(), root)
    }
}

/// A sandbox ready for tests.
pub struct Sandbox {
    pub runner: Runner,
    /// The interpreter of the tests, if it is on this machine.
    pub interpreter: Option<PathBuf>,
    /// The environment is the project's own. If the project is meant to be installed, it is
    /// installed there.
    pub is_projects_own: bool,
    /// Reports to the current user of the sandbox what is installed for its runs.
    voice: ProgressReporter,
    /// Scratch folder, which must live as long as the runner.
    pub scratch: ScratchFolder,
}

/// Packages that tests need besides pytest.
pub enum Packages {
    /// The requirements in the project's own files.
    Project,
    /// Requirement lines, as in a requirements file.
    Lines(Vec<String>),
}

/// Opens the sandbox for the project in `root`. Creates missing environments or images.
pub async fn open(
    args: &SandboxArgs,
    root: &Path,
    needs: Packages,
    reporter: &Reporter,
) -> Result<Sandbox, Fault> {
    let scratch = ScratchFolder::new()?;
    let allowed = args.settled(root)?;
    allowed.notes.iter().for_each(|it| reporter.note(format_args!("note: {it}")));
    let voice = ProgressReporter::of(reporter);
    let mut config = allowed.config(scratch.path());
    if let Some(engines) = docker(args, &allowed, root, &needs, reporter).await? {
        let runner = Runner::on_engines(engines, &config);
        return Ok(Sandbox { runner, interpreter: None, is_projects_own: false, voice, scratch });
    }
    let python = interpreter(root, &allowed, needs, reporter).await?;
    let interpreter = Some(python.interpreter.clone());
    let is_projects_own = python.origin == python::Origin::Project;
    config.coverage_provider = provider(&voice);
    let runner = Runner::new(python, config);
    Ok(Sandbox { runner, interpreter, is_projects_own, voice, scratch })
}

/// Returns the provider of coverage.py for environments without it; `None` if there is no cache
/// folder for it.
fn provider(voice: &ProgressReporter) -> Option<python::CoverageProvider> {
    let voice = voice.clone();
    Some(python::CoverageProvider {
        path: std::env::var_os("PATH").unwrap_or_default(),
        cache: disk::cache_folder().ok()?,
        on_progress: Arc::new(move |step| match step {
            python::Progress::Installing { requirements } => voice.report(format_args!(
                "installing {} next to the environment, which has none, to measure lines",
                requirements.join(", ")
            )),
            python::Progress::Waiting => {
                voice.report("waiting for another process that installs coverage");
            }
            python::Progress::Creating { .. } => {}
        }),
    })
}

/// Returns the Docker engines that run tests. `None` if they were not requested, or if the choice is
/// automatic, no engine was named and Docker is unavailable.
async fn docker(
    args: &SandboxArgs,
    allowed: &Settled,
    root: &Path,
    needs: &Packages,
    reporter: &Reporter,
) -> Result<Option<Vec<Docker>>, Fault> {
    let may_choose = args.sandbox == Choice::Auto;
    if !args.allow.engines.is_empty() && (args.sandbox == Choice::Local || allowed.python.is_some())
    {
        return Err(Fault::input("`--engine` names engines, but the tests are to run locally")
            .hint("leave `--engine` out, or `--sandbox local` and `--python`"));
    }
    if allowed.python.is_some() {
        return match args.sandbox {
            Choice::Docker => {
                Err(Fault::input("a container cannot use a Python environment on this machine")
                    .hint("leave `--python` out and use `--image`, or use the local sandbox"))
            }
            _ => Ok(None),
        };
    }
    if args.sandbox != Choice::Local && !allowed.engines.is_empty() {
        return named_engines(args, allowed, root, needs, reporter).await.map(Some);
    }
    if args.sandbox == Choice::Local || may_choose && Docker::describe().await.is_err() {
        return Ok(None);
    }
    match container_image(args, root, needs, reporter).await {
        Ok(docker) => Ok(Some(vec![docker])),
        Err(fault) if may_choose => {
            reporter.note(format_args!("Docker is unavailable, so tests run locally: {fault}"));
            Ok(None)
        }
        Err(fault) => Err(fault),
    }
}

/// Opens the engines that the person named; says which cannot be used.
async fn named_engines(
    args: &SandboxArgs,
    allowed: &Settled,
    root: &Path,
    needs: &Packages,
    reporter: &Reporter,
) -> Result<Vec<Docker>, Fault> {
    if allowed.is_read_only() {
        return Err(Fault::input("tests on named engines get a copy of the project to write to")
            .hint("leave `--read-only` or `--engine` out: your files stay as they are"));
    }
    let (spec, cache) = (image_spec(args, root, needs, reporter)?, disk::cache_folder()?);
    let say = |it| image_progress(it, reporter);
    let variable = |name: &str| std::env::var(name).ok();
    let opened = Docker::open_all(&allowed.engines, &variable, root, &spec, &cache, &say).await?;
    opened.absent.iter().for_each(|it| reporter.note(format_args!("tests do not run on {it}")));
    Ok(opened.engines)
}

fn image_spec(
    args: &SandboxArgs,
    root: &Path,
    needs: &Packages,
    reporter: &Reporter,
) -> Result<ImageSpec, Fault> {
    let base = args.image.clone().unwrap_or(ImageSpec::default().base);
    Ok(ImageSpec { base, requirements: lines(root, needs, reporter)? })
}

async fn container_image(
    args: &SandboxArgs,
    root: &Path,
    needs: &Packages,
    reporter: &Reporter,
) -> Result<Docker, Fault> {
    Docker::may_read(root)?;
    let spec = image_spec(args, root, needs, reporter)?;
    let say = |it| image_progress(it, reporter);
    Ok(Docker::open(None, &spec, &disk::cache_folder()?, &say).await?)
}

fn image_progress(progress: ImageProgress, reporter: &Reporter) {
    match progress {
        ImageProgress::Waiting => {
            reporter.note("waiting for another process that builds the image")
        }
        // Reported once, before the sizes are known.
        ImageProgress::Pulling { image, total: 0, .. } => {
            reporter.note(format_args!("pulling the image {image}"));
        }
        ImageProgress::Pulling { .. } => {}
        ImageProgress::Building { requirements } => {
            reporter.note(format_args!("building the test image: {}", requirements.join(", ")));
        }
    }
}

/// Returns the environment for tests of the project in `root`, and creates it if it is missing.
pub async fn environment(
    args: &SandboxArgs,
    root: &Path,
    reporter: &Reporter,
) -> Result<python::Python, Fault> {
    let allowed = args.settled(root)?;
    interpreter(root, &allowed, Packages::Project, reporter).await
}

/// Returns the environment of the person or the project, with pytest provided beside it if it has
/// none; otherwise a new one with the needed packages.
async fn interpreter(
    root: &Path,
    allowed: &Settled,
    needs: Packages,
    reporter: &Reporter,
) -> Result<python::Python, Fault> {
    let base = python_of(root, allowed).await?;
    if activated().is_some_and(|it| base.interpreter.starts_with(it)) {
        let shown = base.interpreter.display();
        reporter
            .note(format_args!("note: the tests run in the activated environment, with {shown}"));
    }
    base.passed_over.iter().for_each(|it| reporter.note(format_args!("note: skipped: {it}")));
    let own = base.origin == python::Origin::Project;
    if own && base.maker.is_none() {
        return Ok(base);
    }
    let mut lines = lines(root, &needs, reporter)?;
    let say = |step: python::Progress| match step {
        python::Progress::Waiting => {
            reporter.note("waiting for another process that creates the test environment");
        }
        python::Progress::Creating { .. } => {}
        python::Progress::Installing { requirements } => {
            reporter
                .note(format_args!("creating the test environment: {}", requirements.join(", ")));
        }
    };
    if own {
        // An environment without pytest has no pytest plugins either.
        lines.retain(|it| it.to_ascii_lowercase().starts_with("pytest"));
        let shown = base.prefix().display();
        reporter
            .note(format_args!("note: {shown} has no pytest; Trellis provides it for the tests"));
        return Ok(python::beside(&base, &lines, &disk::cache_folder()?, &say).await?);
    }
    Ok(python::provide(&base, &lines, &disk::cache_folder()?, &say).await?)
}

/// Finds the interpreter for the project in `root`, before anything is installed.
pub async fn python_of(
    root: &Path,
    allowed: &Settled,
) -> Result<python::Python, python::PythonError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let activated = activated();
    let environments = environments(root);
    let search = python::InterpreterSearch {
        named: allowed.python.as_deref(),
        activated: activated.as_deref(),
        environments: &environments,
        path: &path,
    };
    python::find(&search).await
}

/// Returns the folders in which the project in `root` may have environments.
fn environments(root: &Path) -> Vec<PathBuf> {
    python::environments(root, &|name| std::env::var_os(name))
}

/// Returns the activated environment, from the variables of venv and conda. conda's base
/// environment does not count, since it is for conda itself.
fn activated() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let is_conda_s_own = std::env::var("CONDA_DEFAULT_ENV").is_ok_and(|it| it == "base");
    let conda = || folder("CONDA_PREFIX").filter(|_| !is_conda_s_own);
    folder("VIRTUAL_ENV").or_else(conda).filter(|it| it.is_absolute())
}

fn lines(root: &Path, needs: &Packages, reporter: &Reporter) -> Result<Vec<String>, Fault> {
    let mut found = match needs {
        Packages::Lines(lines) => python::Requirements { lines: lines.clone(), notes: Vec::new() },
        Packages::Project => python::of_project(root)?,
    };
    for line in &mut found.lines {
        let name = library_name(line);
        if let Some(meant) = distributions::for_import_requirement(name) {
            let rest = &line.trim_start()[name.len()..];
            found
                .notes
                .push(format!("{name} is the name of an import: the package {meant} is installed"));
            *line = format!("{meant}{rest}");
        }
    }
    found.notes.iter().for_each(|note| reporter.note(format_args!("note: {note}")));
    Ok(found.lines)
}
