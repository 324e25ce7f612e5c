//! Puts a run together and makes the report.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    frames::{Places, parse_dump},
    limits::{bounds, kernel_memory_kills},
    process::{Ended, STACK_SIGNAL, signal_or_code, start},
    python::Python,
    report::{Activity, Failure, LimitStatus, Outcome, Report, Stuck},
    request::{Limits, Request},
    scratch::{Inner, PLUGIN_NAME, Scratch},
    session::{Inherited, Pipes, Stop, follow},
    tally::Tally,
    verdict::{Facts, judge},
};

/// Variables that test code may see when the caller's environment has them, besides those whose
/// name starts with `LC_`.
const ALLOWED: [&str; 4] = ["PATH", "LANG", "LANGUAGE", "TZ"];

/// What all runs of a [`Runner`] share.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where scratch folders are made.
    pub scratch: PathBuf,
    /// Variables handed to test code. Anything else it sees is made up for the run.
    pub variables: BTreeMap<OsString, OsString>,
}

impl Config {
    /// Scratch folders in the system's folder for temporary files; `PATH`, `LANG`, `LANGUAGE`,
    /// `LC_*` and `TZ` as they are, everything else left out.
    pub fn from_environment() -> Config {
        let allowed = |name: &OsString| {
            name.to_str().is_some_and(|name| ALLOWED.contains(&name) || name.starts_with("LC_"))
        };
        Config {
            scratch: env::temp_dir(),
            variables: env::vars_os().filter(|(name, _)| allowed(name)).collect(),
        }
    }
}

/// Runs tests with one interpreter. Cheap to clone and free of state: any number of runs may be
/// under way at once.
#[derive(Clone, Debug)]
pub struct Runner {
    python: Python,
    config: Config,
}

impl Runner {
    /// `python` needs pytest; see [`crate::python::provide`].
    pub fn new(python: Python, config: Config) -> Runner {
        Runner { python, config }
    }

    /// What would be enforced for a run under `limits` on this machine, and what not.
    pub fn limits(&self, limits: &Limits) -> Vec<LimitStatus> {
        bounds(limits).1
    }

    /// Runs the tests. Ends early when `cancel` is cancelled; dropping the future ends it too.
    /// Either way the whole process group is killed. Needs a tokio runtime with time and I/O
    /// enabled.
    pub async fn run(&self, request: &Request, cancel: &CancellationToken) -> Report {
        let statuses = self.limits(&request.limits);
        match self.attempt(request, cancel).await {
            Ok(report) => report,
            Err(reason) => unavailable(reason, statuses),
        }
    }

    async fn attempt(
        &self,
        request: &Request,
        cancel: &CancellationToken,
    ) -> Result<Report, String> {
        let (parent, tree) = (self.config.scratch.clone(), request.tree.clone());
        let scratch = tokio::task::spawn_blocking(move || Scratch::new(&parent, &tree))
            .await
            .map_err(|error| format!("the scratch folder could not be prepared: {error}"))??;
        let (limits, statuses) = bounds(&request.limits);
        let mut command = self.command(request, &scratch);
        let (mut pipes, inherited) = Pipes::new(&mut command, request.limits.output_bytes)
            .map_err(|error| {
                format!("no pipe could be made: {error}; raise the limit on open files")
            })?;
        command.env("_TRELLIS_REPORT", settings(request, scratch.root(), &inherited));

        let mut tally = Tally::new(Places::new(scratch.root(), self.python.prefix()));
        let kills_before = kernel_memory_kills();
        let began = Instant::now();
        let descriptors = vec![inherited.events, inherited.stack];
        let running = start(command, limits, descriptors, scratch)
            .await
            .map_err(|error| self.not_started(&error))?;
        let (stop, ended) = follow(running, &mut pipes, &mut tally, request, cancel)
            .await
            .map_err(|error| format!("the test process was lost sight of: {error}"))?;
        let memory_kill = kernel_memory_kills() > kills_before;
        let finished = Finished { stop, ended, memory_kill, duration: began.elapsed(), statuses };
        Ok(self.report(request, tally, &pipes, finished))
    }

    fn not_started(&self, error: &io::Error) -> String {
        let interpreter = self.python.interpreter.display();
        format!(
            "{interpreter} could not be started: {error}; choose another interpreter or make the environment anew"
        )
    }

    fn command(&self, request: &Request, scratch: &Scratch) -> Command {
        let mut command = Command::new(&self.python.interpreter);
        command.args(["-m", "pytest", "-p", PLUGIN_NAME, "--color=no"]);
        command.arg("--rootdir").arg(scratch.root());
        // Not `-p no:cacheprovider`: a project may well have `--ff` among its options.
        command.arg("-o").arg(format!("cache_dir={}", scratch.inner(Inner::Cache).display()));
        command.args(request.targets.iter().map(|target| not_an_option(target)));
        command.current_dir(scratch.root()).stdin(Stdio::null()).env_clear();
        command.envs(self.environment(scratch));
        command
    }

    fn environment(&self, scratch: &Scratch) -> BTreeMap<OsString, OsString> {
        let mut all = self.config.variables.clone();
        let mut set = |name: &str, value: OsString| all.insert(name.into(), value);
        set("HOME", scratch.inner(Inner::Home).into());
        set("TMPDIR", scratch.inner(Inner::Temporary).into());
        set("PYTHONPATH", scratch.inner(Inner::Plugin).into()); // the plugin takes it away again
        set("PYTHONDONTWRITEBYTECODE", "1".into());
        set("PYTHONHASHSEED", "0".into());
        if self.python.is_virtual() {
            set("VIRTUAL_ENV", self.python.prefix().into());
        }
        let mut path = self.python.folder().as_os_str().to_owned();
        if let Some(rest) = self.config.variables.get(&OsString::from("PATH")) {
            path.push(":");
            path.push(rest);
        }
        all.insert("PATH".into(), path);
        all.entry("LANG".into()).or_insert("C.UTF-8".into());
        all
    }

    fn report(
        &self,
        request: &Request,
        mut tally: Tally,
        pipes: &Pipes,
        finished: Finished,
    ) -> Report {
        let status = signal_or_code(finished.ended.status);
        let (stdout, stderr) = (pipes.stdout.text(), pipes.stderr.text());
        let facts = Facts {
            tally: &tally,
            stop: finished.stop,
            status,
            memory_kill: finished.memory_kill,
            stderr: &stderr,
            interpreter: &self.python.interpreter.to_string_lossy(),
        };
        let (outcome, reason) = judge(&facts, request);
        let stuck = stuck(&tally, &outcome, pipes, &stderr);
        tally.close(&outcome, reason.as_deref(), stuck.as_ref(), &stderr);
        tally.notes.extend(finished.ended.notes);
        Report {
            not_run: tally.not_run().cloned().collect(),
            outcome,
            reason,
            exit_code: status.ok(),
            tests: tally.tests,
            collection_errors: tally.collection_errors,
            limits: finished.statuses,
            stdout,
            stderr,
            duration: finished.duration,
            stuck,
            coverage: tally.coverage,
            notes: tally.notes,
        }
    }
}

/// What is known of a process that is gone.
struct Finished {
    stop: Option<Stop>,
    ended: Ended,
    memory_kill: bool,
    duration: Duration,
    statuses: Vec<LimitStatus>,
}

/// The plugin's settings, as it reads them.
fn settings(request: &Request, root: &Path, inherited: &Inherited) -> String {
    let (event_fd, stack_fd) = inherited.numbers();
    json!({
        "event_fd": event_fd,
        "stack_fd": stack_fd,
        "stack_signal": STACK_SIGNAL.as_raw(),
        "root": root.to_string_lossy(),
        "coverage": request.coverage,
        "output": request.limits.output_bytes,
    })
    .to_string()
}

/// A target that begins with a dash would be read as an option.
fn not_an_option(target: &str) -> String {
    if target.starts_with('-') { format!("./{target}") } else { target.to_owned() }
}

/// Where the process stood, if it was stopped or died: from the answer to our signal, else from
/// what `faulthandler` wrote when it crashed.
fn stuck(tally: &Tally, outcome: &Outcome, pipes: &Pipes, stderr: &str) -> Option<Stuck> {
    if !matches!(outcome, Outcome::TimedOut | Outcome::Crashed { .. } | Outcome::KilledForMemory) {
        return None;
    }
    let answer = parse_dump(&pipes.stack.text());
    let raw = if answer.is_empty() { parse_dump(stderr) } else { answer };
    let during = tally.activity.clone().unwrap_or(Activity::Starting);
    Some(Stuck { during, frames: tally.places.stack(raw) })
}

fn unavailable(reason: String, limits: Vec<LimitStatus>) -> Report {
    Report {
        outcome: Outcome::SandboxUnavailable { reason },
        reason: None,
        exit_code: None,
        tests: Vec::new(),
        not_run: Vec::new(),
        collection_errors: Vec::<Failure>::new(),
        limits,
        stdout: String::new(),
        stderr: String::new(),
        duration: Duration::ZERO,
        stuck: None,
        coverage: None,
        notes: Vec::new(),
    }
}
