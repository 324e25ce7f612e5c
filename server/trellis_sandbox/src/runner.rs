//! Puts a run together.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

use crate::{
    command,
    build_report::{FinishedRun, SessionRecord, compose, ending, notes},
    config::Config,
    docker::Docker,
    tracebacks::ProjectPaths,
    limits::kernel_memory_kills,
    outside_links,
    acquire::AcquiredWorker,
    worker_command::order,
    backend::Backend,
    path_replacement::PathReplacements,
    pool::{Pool, Lease},
    python::{ProvidedCoverage, Python},
    report::{LimitStatus, Outcome, Report, TestResult},
    request::{Limits, RaisedBy, Request, Selection, Tree},
    session::{SessionEnd, Session},
    collector::ResultCollector,
    toolchain::Toolchain,
    deselected,
};

/// Runs tests with one interpreter, in warm workers. Cheap to clone, and clones share the workers:
/// any number of runs may be under way at once. Call [`Runner::close`] at the end.
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
    pub(crate) lent: ProvidedCoverage,
    totals: Mutex<Totals>,
}

impl Shared {
    fn new(config: &Config) -> impl FnOnce(Backend) -> Shared + use<> {
        let (scratch, limits) = (config.scratch.clone(), config.limits);
        let (run_timeout, raised_by) = (config.run_timeout, config.raised_by);
        let (pool, lent, totals) = (Pool::default(), ProvidedCoverage::default(), Mutex::default());
        move |place| Shared { place, scratch, limits, run_timeout, raised_by, pool, lent, totals }
    }
}

/// Runs so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Those that were started.
    pub runs: u64,
    /// What they took together, each from the start of its process to its end: getting files and workers ready is not in it.
    pub time: Duration,
}

impl Runner {
    /// In local sandboxes. For runs of pytest `python` needs it; see [`crate::python::provide`].
    pub fn new(python: Python, config: Config) -> Runner {
        let shared = Shared::new(&config);
        Runner { shared: Arc::new(shared(Backend::local(python, config))) }
    }

    /// In containers. `config`'s `variables`, `home` and isolation play no part.
    pub fn in_docker(docker: Docker, config: &Config) -> Runner {
        let (env, read_only) = (config.env.clone(), config.read_only);
        let place = Backend::Docker { docker, env, read_only };
        Runner { shared: Arc::new(Shared::new(config)(place)) }
    }

    /// All tests of `tree` for proof, within what the runner's config allows; else as [`Request::new`].
    pub fn request(&self, tree: Tree) -> Request {
        let Shared { limits, run_timeout, raised_by, .. } = *self.shared;
        Request { limits, run_timeout, raised_by, ..Request::new(tree) }
    }

    /// What would be enforced for a run under `config` in a local sandbox on this machine, and what
    /// not; found out by starting one. The error is a sentence for people.
    pub async fn local_limits(config: &Config) -> Result<Vec<LimitStatus>, String> {
        let (mut cage, tree) = crate::backend::local_of(config).probe(&config.limits).await?;
        cage.open_tree(tree.path(), &config.limits, config.read_only).await;
        let limits = cage.limits().to_vec();
        cage.end().await.map(|()| limits)
    }

    /// Runs the tests. Ends early when `cancel` is cancelled; dropping the future ends it too.
    /// Either way everything the run has started is killed. Needs a tokio runtime with time and I/O
    /// enabled.
    pub async fn run(&self, request: &Request, cancel: &CancellationToken) -> Report {
        self.run_telling(request, cancel, &mut |_| {}).await
    }

    /// The same; `on_test` hears of every test as it ends. What it hears is in the report as well,
    /// and only the report says whether it can be trusted.
    pub async fn run_telling(
        &self,
        request: &Request,
        cancel: &CancellationToken,
        on_test: &mut (dyn FnMut(&TestResult) + Send),
    ) -> Report {
        let selection = Selection::of(request);
        let mut report = self.run_selected(request, selection, cancel, on_test).await;
        let proves = matches!(report.outcome, Outcome::Passed | Outcome::Failed | Outcome::NoTests);
        if report.deselected.is_empty() {
            return report;
        }
        if selection == Selection::Chosen && proves {
            let rest = self.run_selected(request, Selection::LeftOut, cancel, &mut |_| {}).await;
            deselected::add(&mut report, rest);
        } else {
            report.notes.push(deselected::left_out(&report, !request.arguments.is_empty()));
        }
        report
    }

    async fn run_selected(
        &self,
        request: &Request,
        selection: Selection,
        cancel: &CancellationToken,
        on_test: &mut (dyn FnMut(&TestResult) + Send),
    ) -> Report {
        // An engine that was restarted, a worker that died while it waited: that is no fault of the
        // tests. Should they have caused it after all, they do so again.
        let first = self.attempt(request, selection, cancel, on_test).await;
        let Ok(Report { outcome: Outcome::SandboxLost { reason: lost }, .. }) = &first else {
            return first.unwrap_or_else(|reason| ending(Outcome::SandboxUnavailable { reason }));
        };
        let again = |reason| {
            let reason = format!("{lost}; repeating the run failed: {reason}");
            ending(Outcome::SandboxLost { reason })
        };
        self.attempt(request, selection, cancel, on_test).await.unwrap_or_else(again)
    }

    /// What has been run, by all clones.
    pub fn totals(&self) -> Totals {
        *self.shared.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the workers that wait: a folder of which they have copies has changed. The next run has a new copy. The errors are
    /// sentences for people.
    pub async fn forget_copies(&self) -> Vec<String> {
        let mut errors = Vec::new();
        for post in self.shared.pool.empty() {
            errors.extend(post.close().await);
        }
        errors
    }

    /// Ends the workers that wait, and removes what was put up for them. The errors are sentences
    /// for people.
    pub async fn close(&self) -> Vec<String> {
        let errors = self.forget_copies().await;
        self.shared.place.settled().await;
        errors
    }
}

impl Runner {
    async fn attempt(
        &self,
        request: &Request,
        selection: Selection,
        cancel: &CancellationToken,
        on_test: &mut (dyn FnMut(&TestResult) + Send),
    ) -> Result<Report, String> {
        let Some(AcquiredWorker { mut post, unmeasured }) = self.obtain(request, cancel).await? else {
            return Ok(ending(Outcome::Cancelled));
        };
        let token = token();
        let mut order = match order(request, selection, &post, &self.shared.place, &token) {
            Ok(order) => order,
            Err(reason) => {
                post.close().await;
                return Err(reason);
            }
        };
        if unmeasured.is_some() {
            order.text["coverage"] = false.into();
        }
        let laid = tokio::select! {
            laid = post.worker.lay() => laid,
            () = cancel.cancelled() => {
                post.close().await;
                return Ok(ending(Outcome::Cancelled));
            }
        };
        if let Err(reason) = laid {
            let reason = format!("the sandbox cannot show the project to the tests: {reason}");
            let was_warm = post.worker.runs > 0;
            post.close().await;
            // A new one takes the project as it is now.
            return if was_warm {
                Ok(ending(Outcome::SandboxLost { reason }))
            } else {
                Err(reason)
            };
        }
        let places = ProjectPaths::new(post.grounds.root(), self.shared.place.packages());
        let hidden = self.hidden(&post);
        let kills = post.worker.cage.memory_kills().or_else(kernel_memory_kills);
        let limits = post.worker.limits();
        // What a link hides is looked for beside the run.
        let (root, origin) = (post.grounds.root().to_owned(), post.grounds.origin().to_owned());
        let unseen = tokio::task::spawn_blocking(move || outside_links::unseen(&origin));
        let began = Instant::now();
        let tally = ResultCollector::new(places, token);
        let mut session = Session::new(&mut post.worker, tally, request, on_test);
        let (stop, mut end) = session.follow(order.text, request, cancel).await;
        let seen = SessionRecord::of(session);
        if let (SessionEnd::Lost(reason), None) = (&mut end, stop) {
            reason.extend(post.worker.cage.last_words().await.map(|it| format!(": {it}")));
        }
        let duration = began.elapsed();
        self.count(duration);
        let kills_now = post.worker.cage.memory_kills().or_else(kernel_memory_kills);
        let killed_inside = matches!(&end, SessionEnd::Ended(ended) if ended.memory_kill);
        let mut finished = FinishedRun {
            stop,
            end,
            memory_kill: kills_now > kills || killed_inside,
            duration,
            limits,
            notes: unmeasured.into_iter().collect(),
        };
        let mut reusable = matches!(&finished.end, SessionEnd::Ended(ended) if ended.clean);
        if let Err(reason) = post.worker.cage.lift().await
            && reusable
        {
            reusable = false;
            finished.notes.push(format!("the sandbox was discarded: {reason}"));
        }
        finished.notes.extend(notes(&finished.end, &post.worker));
        finished.notes.extend(unseen.await.unwrap_or_default());
        let superfluous = if reusable { self.shared.pool.put(post) } else { Some(post) };
        if let Some(post) = superfluous {
            finished.notes.extend(post.close().await);
        }
        let Some(detected) = order.detected else {
            return Ok(hidden.hide(compose(request, seen, finished)));
        };
        if let Some((program, why)) = &seen.tally.not_started {
            let toolchain = Toolchain::of(request.framework);
            return Err(self.shared.place.missing(toolchain, program, why));
        }
        let report = hidden.hide(command::compose(request, &detected, &root, seen, finished));
        report.tests.iter().for_each(on_test);
        Ok(report)
    }

    /// Paths of a run on a copy that mean nothing to anybody.
    fn hidden(&self, post: &Lease) -> PathReplacements {
        if !post.grounds.is_made() {
            return PathReplacements::default();
        }
        let hidden = PathReplacements::default()
            .and(post.grounds.root(), "")
            .and(&post.worker.writable().temporary, "/tmp");
        let environment = self.shared.place.packages();
        match environment.filter(|it| it.join("pyvenv.cfg").is_file()) {
            Some(folder) => hidden.and(folder, "<environment>"),
            None => hidden,
        }
    }

    fn count(&self, duration: Duration) {
        let mut totals = self.shared.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.runs += 1;
        totals.time += duration;
    }
}

/// Random enough that code under test cannot guess it; it could only find it in memory.
fn token() -> String {
    let random = std::collections::hash_map::RandomState::new();
    let part = |n: u64| std::hash::BuildHasher::hash_one(&random, n);
    format!("{:016x}{:016x}", part(0), part(1))
}
