//! `trellis test`: tests in the sandbox, structured results.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use run::frameworks::{Framework, detect};
use run::{Outcome, Request, TestResult, Tree, junit};
use tokio_util::sync::CancellationToken;

use crate::cli::results::{line, shape, summary};
use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::project::{self, Project};
use crate::sandbox::{self, Needs, SandboxArgs};
use crate::signals::cancel_on_signal;

/// Run a project's tests in the sandbox.
#[derive(Args)]
pub(crate) struct TestArgs {
    /// Test files, folders or pytest ids; the project is found from them. None: all of the project here.
    paths: Vec<String>,
    #[command(flatten)]
    sandbox: SandboxArgs,
    /// What runs the tests; found out from the project's files if not given.
    #[arg(long, value_enum)]
    framework: Option<Tool>,
    /// Seconds one test may take (of Python's).
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Seconds all of them may take.
    #[arg(long, default_value_t = 3600, value_parser = clap::value_parser!(u64).range(1..))]
    run_timeout: u64,
    /// Measure which lines the tests execute.
    #[arg(long)]
    coverage: bool,
    /// Start a fresh interpreter, instead of forking a warm one.
    #[arg(long)]
    cold: bool,
    /// Write the results as JUnit XML too.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Options for pytest, after `--`: `-- -k name -x`.
    #[arg(last = true, value_name = "OPTION", allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// The frameworks by the names of their programs.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Tool {
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Go,
}

impl Tool {
    fn framework(self) -> Framework {
        match self {
            Tool::Pytest => Framework::Pytest,
            Tool::Unittest => Framework::Unittest,
            Tool::Jest => Framework::Jest,
            Tool::Vitest => Framework::Vitest,
            Tool::Go => Framework::Go,
        }
    }
}

/// What was asked for, else what the project's files show, else pytest.
fn framework(asked: Option<Tool>, root: &Path, output: &Output) -> Framework {
    if let Some(tool) = asked {
        return tool.framework();
    }
    match detect(root) {
        // pytest runs unittest's tests as well, and finds more of them.
        None => Framework::Pytest,
        Some(found) if matches!(found.framework, Framework::Pytest | Framework::Unittest) => {
            Framework::Pytest
        }
        Some(found) => {
            output.note(format_args!("{}: {}", found.framework, found.because));
            found.framework
        }
    }
}

/// Before anything runs: results that cannot be kept would be lost.
fn create(path: &Path) -> Result<File, Fault> {
    File::create(path).map_err(|e| Fault::input(format!("cannot write {}: {e}", path.display())))
}

pub(crate) async fn run(args: TestArgs, output: &mut Output) -> Result<Exit, Fault> {
    let Project { root, targets } = project::of(&args.paths)?;
    let mut junit_file = args.junit.as_deref().map(create).transpose()?;
    let framework = framework(args.framework, &root, output);
    if framework != Framework::Pytest && !args.arguments.is_empty() {
        return Err(Fault::new(Exit::Usage, format!("{framework} takes no options from here"))
            .hint("only pytest does; put others into the project's own settings"));
    }
    output.note(format_args!("project: {}", root.display()));
    let python = matches!(framework, Framework::Pytest | Framework::Unittest);
    let needs = if python { Needs::Project } else { Needs::Lines(Vec::new()) };
    let sandbox = sandbox::open(&args.sandbox, &root, needs, output).await?;
    let installed = sandbox.is_projects_own;
    let request = Request {
        arguments: args.arguments,
        source_folders: if installed { Vec::new() } else { project::source_folders(&root) },
        targets,
        framework,
        test_timeout: Duration::from_secs(args.timeout),
        run_timeout: Duration::from_secs(args.run_timeout),
        coverage: args.coverage,
        cold: args.cold,
        ..Request::new(Tree::Folder(root))
    };
    let cancel = CancellationToken::new();
    cancel_on_signal(cancel.clone())?;
    let is_json = output.is_json();
    let mut told = HashSet::new();
    let mut as_it_ends = |test: &TestResult| {
        told.insert(test.id.clone());
        if !is_json {
            // Whoever has gone away is noticed when the summary is printed.
            let _ = output.text(line(test));
        }
    };
    let report = sandbox.runner.run_telling(&request, &cancel, &mut as_it_ends).await;
    let left = sandbox.runner.close().await;
    if let Some(file) = &mut junit_file {
        let written = file.write_all(junit(&report, "tests").as_bytes());
        written.map_err(|e| Fault::internal(format!("cannot write the JUnit file: {e}")))?;
    }
    if is_json {
        output.json(&shape(&report))?
    } else {
        output.text(summary(&report, &told))?
    }
    match &report.outcome {
        Outcome::Passed => Ok(Exit::Done),
        Outcome::Cancelled => Ok(Exit::Interrupted),
        Outcome::SandboxUnavailable { reason } | Outcome::SandboxLost { reason } => {
            Err(Fault::unavailable(reason))
        }
        _ if !left.is_empty() => Err(Fault::internal(left.join("; "))),
        _ => Ok(Exit::TestsFailed),
    }
}
