//! The runner: the interface for runs, and their repetition where a sandbox was lost.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio_util::sync::CancellationToken;

use crate::{
    backend::Backend,
    build_report::ending,
    config::Config,
    deselected,
    docker::{Docker, Engines},
    error::SandboxError,
    pool::Pool,
    python::{ProvidedCoverage, Python},
    report::{LimitStatus, Outcome, Report, TestResult},
    request::{Limits, RaisedBy, Request, Selection, Tree},
    trials::TrialResult,
};

/// Runs tests with one interpreter, in warm workers. Clones are cheap and share the workers, and
/// any number of runs may be in progress at once. Call [`Runner::close`] at the end.
#[derive(Clone, Debug)]
pub struct Runner {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) place: Backend,
    pub(crate) scratch: PathBuf,
    limits: Limits,
    run_timeout: Duration,
    raised_by: RaisedBy,
    pub(crate) pool: Pool,
    /// coverage.py for environments that have none.
    pub(crate) provided: ProvidedCoverage,
    totals: Mutex<Totals>,
    /// Number of runs by the name of their engine; those of local sandboxes are not in it.
    engine_runs: Mutex<BTreeMap<String, u64>>,
}

impl Shared {
    fn new(config: &Config) -> impl FnOnce(Backend) -> Shared + use<> {
        let (scratch, limits) = (config.scratch.clone(), config.limits);
        let (run_timeout, raised_by) = (config.run_timeout, config.raised_by);
        let (pool, provided, totals) =
            (Pool::default(), ProvidedCoverage::default(), Mutex::default());
        move |place| Shared {
            place,
            scratch,
            limits,
            run_timeout,
            raised_by,
            pool,
            provided,
            totals,
            engine_runs: Mutex::default(),
        }
    }
}

/// News of a run in progress.
#[derive(Clone, Copy, Debug)]
pub enum RunProgress<'a> {
    /// A test has ended.
    Test(&'a TestResult),
    /// A trial has ended.
    Trial(&'a TrialResult),
}

/// Totals of the runs so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of runs started.
    pub runs: u64,
    /// Time of all runs, each from the start of its process to its end, without the preparation of
    /// files and workers.
    pub time: Duration,
}

impl Runner {
    /// Makes a runner with local sandboxes. For pytest, `python` needs it installed; see
    /// [`crate::python::provide`].
    pub fn new(python: Python, config: Config) -> Runner {
        let shared = Shared::new(&config);
        Runner { shared: Arc::new(shared(Backend::local(python, config))) }
    }

    /// Makes a runner with containers. The `variables`, `home` and `isolation` of `config` are
    /// ignored.
    pub fn in_docker(docker: Docker, config: &Config) -> Runner {
        Runner::on_engines(vec![docker], config)
    }

    /// Makes a runner with containers of several engines, at least one; see
    /// [`Docker::open_all`](crate::Docker::open_all). Needs a tokio runtime.
    pub fn on_engines(engines: Vec<Docker>, config: &Config) -> Runner {
        let (env, read_only) = (config.env.clone(), config.read_only);
        let place = Backend::Docker { engines: Engines::new(engines), env, read_only };
        Runner { shared: Arc::new(Shared::new(config)(place)) }
    }

    /// Requests all tests of `tree` for proof, within the limits of the runner's configuration;
    /// otherwise like [`Request::new`].
    pub fn request(&self, tree: Tree) -> Request {
        let Shared { limits, run_timeout, raised_by, .. } = *self.shared;
        Request { limits, run_timeout, raised_by, ..Request::new(tree) }
    }

    /// Returns the version of the interpreter that runs the tests, such as `3.11.7`; `None` for
    /// that of an image.
    pub fn python_version(&self) -> Option<&str> {
        self.shared.place.python_version()
    }

    /// Returns the limits that would and would not be enforced for a run under `config` in a local
    /// sandbox on this machine, found by starting one.
    pub async fn local_limits(config: &Config) -> Result<Vec<LimitStatus>, SandboxError> {
        let (mut sandbox, tree) = crate::backend::local_of(config).probe(&config.limits).await?;
        sandbox.open_tree(tree.path(), &config.limits, config.read_only).await;
        let limits = sandbox.limits().to_vec();
        sandbox.end().await?;
        Ok(limits)
    }

    /// Runs the tests. Cancelling `cancel` or dropping the future ends the run early and kills
    /// every process it has started. Needs a tokio runtime with time and I/O enabled.
    pub async fn run(&self, request: &Request, cancel: &CancellationToken) -> Report {
        self.run_telling(request, cancel, &mut |_| {}).await
    }

    /// Runs the tests and calls `on_test` with every test as it ends. The report contains these
    /// results as well, and only the report tells whether they can be trusted.
    pub async fn run_telling(
        &self,
        request: &Request,
        cancel: &CancellationToken,
        on_test: &mut (dyn FnMut(&TestResult) + Send),
    ) -> Report {
        let selection = Selection::of(request);
        let mut on_progress = |it: RunProgress<'_>| {
            if let RunProgress::Test(test) = it {
                on_test(test);
            }
        };
        let mut report = self.run_selected(request, selection, cancel, &mut on_progress).await;
        let (tests, milliseconds) = (report.tests.len(), report.duration.as_millis());
        tracing::debug!(outcome = ?report.outcome, tests, milliseconds, "tests ran");
        self.add_left_out(request, selection, cancel, &mut report).await;
        report
    }

    /// Adds what is known of the tests that the project's options or hooks leave out: their results
    /// in a run for proof, else their ids.
    async fn add_left_out(
        &self,
        request: &Request,
        selection: Selection,
        cancel: &CancellationToken,
        report: &mut Report,
    ) {
        let proves = matches!(report.outcome, Outcome::Passed | Outcome::Failed | Outcome::NoTests);
        let is_limited = !report.limited_to.is_empty();
        if report.deselected.is_empty() && !is_limited {
            return;
        }
        if selection == Selection::Chosen && proves {
            let rest = self.run_selected(request, Selection::LeftOut, cancel, &mut |_| {}).await;
            return deselected::add(report, rest);
        }
        if is_limited && (proves || report.outcome == Outcome::CollectionError) {
            let listed = self.run_selected(request, Selection::Listed, cancel, &mut |_| {}).await;
            deselected::list(report, listed);
        }
        report.notes.extend(deselected::left_out(report, !request.arguments.is_empty()));
    }

    /// Runs the trials of the request and calls `on_trial` with every result. The report tells how
    /// the run ended; results until then count.
    pub async fn run_trials(
        &self,
        request: &Request,
        cancel: &CancellationToken,
        on_trial: &mut (dyn FnMut(&TrialResult) + Send),
    ) -> Report {
        let mut on_progress = |it: RunProgress<'_>| {
            if let RunProgress::Trial(trial) = it {
                on_trial(trial);
            }
        };
        let ran = Box::pin(self.attempt(request, Selection::All, cancel, &mut on_progress)).await;
        let unavailable =
            |error: SandboxError| ending(Outcome::SandboxUnavailable { reason: error.to_string() });
        let report = ran.unwrap_or_else(unavailable);
        let (milliseconds, reason) = (report.duration.as_millis(), report.reason.as_deref());
        tracing::debug!(outcome = ?report.outcome, reason, milliseconds, "trials ran");
        report
    }

    async fn run_selected(
        &self,
        request: &Request,
        selection: Selection,
        cancel: &CancellationToken,
        on_progress: &mut (dyn FnMut(RunProgress<'_>) + Send),
    ) -> Report {
        // An engine that was restarted or a worker that died while idle is no fault of the tests.
        // If the tests caused it after all, they will do so again.
        let mut repetitions = self.shared.place.engines().map_or(1, Engines::count);
        let mut lost: Vec<String> = Vec::new();
        loop {
            // Boxed, since the future is large: callers hold it, often several times.
            let ran = Box::pin(self.attempt(request, selection, cancel, on_progress)).await;
            match ran {
                Ok(Report { outcome: Outcome::SandboxLost { reason }, engine, notes, .. })
                    if repetitions > 0 =>
                {
                    repetitions -= 1;
                    lost.extend(notes);
                    lost.push(match engine {
                        Some(engine) => {
                            format!("the run on {engine} was lost ({reason}) and repeated")
                        }
                        None => reason,
                    });
                }
                Ok(mut report) => {
                    if report.engine.is_some() {
                        report.notes.splice(0..0, lost);
                    }
                    return report;
                }
                Err(error) if lost.is_empty() => {
                    return ending(Outcome::SandboxUnavailable { reason: error.to_string() });
                }
                Err(error) => {
                    let lost = lost.join("; ");
                    let reason = format!("{lost}; repeating the run failed: {error}");
                    return ending(Outcome::SandboxLost { reason });
                }
            }
        }
    }

    /// Returns the totals of all clones.
    pub fn totals(&self) -> Totals {
        *self.shared.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the engines that did the runs, with their numbers of runs, as a sentence for people;
    /// `None` if all runs were local.
    pub fn engines_used(&self) -> Option<String> {
        let runs = self.shared.engine_runs.lock().unwrap_or_else(PoisonError::into_inner);
        let parts: Vec<String> =
            runs.iter().map(|(engine, runs)| format!("{engine} ({runs})")).collect();
        (!parts.is_empty()).then(|| format!("test runs by engine: {}", parts.join(", ")))
    }

    /// Ends the idle workers after a folder that they have copied has changed. The next run makes a
    /// new copy. The errors are sentences for people.
    pub async fn forget_copies(&self) -> Vec<String> {
        let mut errors = Vec::new();
        for lease in self.shared.pool.empty() {
            errors.extend(lease.close().await);
        }
        errors
    }

    /// Ends the idle workers and removes the files made for them. The errors are sentences for
    /// people.
    pub async fn close(&self) -> Vec<String> {
        let mut errors = self.forget_copies().await;
        errors.extend(self.shared.place.settled().await);
        errors
    }

    /// Counts a run that ended, with its engine if it had one.
    pub(crate) fn count(&self, duration: Duration, engine: Option<&str>) {
        if let Some(engine) = engine {
            let mut runs = self.shared.engine_runs.lock().unwrap_or_else(PoisonError::into_inner);
            *runs.entry(engine.to_owned()).or_default() += 1;
        }
        let mut totals = self.shared.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.runs += 1;
        totals.time += duration;
    }
}
