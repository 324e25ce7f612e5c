//! One attempt at a run: acquires a worker, shows it the files, follows the session and builds the
//! report.

use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::{
    acquire::AcquiredWorker,
    build_report::{FinishedRun, SessionRecord, ending, notes, python_report},
    collector::ResultCollector,
    command,
    docker::Seat,
    error::{ProjectError, SandboxError},
    outside_links,
    path_replacement::PathReplacements,
    pool::Lease,
    report::{Outcome, Report},
    request::{Request, Selection},
    resource_limits::kernel_memory_kills,
    runner::{RunProgress, Runner},
    session::{Session, SessionEnd},
    toolchain::Toolchain,
    tracebacks::ProjectPaths,
    worker_command::order,
};

impl Runner {
    pub(crate) async fn attempt(
        &self,
        request: &Request,
        selection: Selection,
        cancel: &CancellationToken,
        on_progress: &mut (dyn FnMut(RunProgress<'_>) + Send),
    ) -> Result<Report, SandboxError> {
        let Some(mut acquired) = self.obtain(request, cancel).await? else {
            return Ok(ending(Outcome::Cancelled));
        };
        let (token, place) = (token(), &self.shared.place);
        let mut order = match order(request, selection, &acquired.lease, place, &token) {
            Ok(order) => order,
            Err(error) => {
                acquired.lease.close().await;
                return Err(error);
            }
        };
        if acquired.unmeasured.is_some() {
            order.text["coverage"] = false.into();
            order.text["execution"] = false.into();
        }
        let laid = tokio::select! {
            laid = acquired.lease.worker.lay() => laid,
            reason = absence(acquired.seat.as_ref()) => {
                return Ok(self.lost(acquired, reason).await);
            }
            () = cancel.cancelled() => {
                acquired.lease.close().await;
                return Ok(ending(Outcome::Cancelled));
            }
        };
        if let Err(error) = laid {
            return self.not_laid(acquired, error).await;
        }
        let lease = &mut acquired.lease;
        let places = ProjectPaths::new(lease.visible.shown(), self.shared.place.packages());
        let hidden = self.hidden(lease);
        let kills = lease.worker.sandbox.memory_kills().or_else(kernel_memory_kills);
        let limits = lease.worker.limits();
        // The search for files hidden behind links goes on beside the run.
        let (root, origin) = (lease.visible.shown().to_owned(), lease.visible.origin().to_owned());
        let unseen = tokio::task::spawn_blocking(move || outside_links::unseen(&origin));
        let began = Instant::now();
        let collector = ResultCollector::new(places, token);
        let mut session = Session::new(&mut lease.worker, collector, request, on_progress);
        let (stop, mut end) = tokio::select! {
            followed = session.follow(order.text, request, cancel) => followed,
            reason = absence(acquired.seat.as_ref()) => (None, SessionEnd::Lost(reason)),
        };
        let seen = SessionRecord::of(session.received);
        if let (SessionEnd::Lost(reason), None) = (&mut end, stop) {
            if self.is_lost(lease.engine).await {
                let reason = std::mem::take(reason);
                return Ok(self.lost(acquired, reason).await);
            }
            reason.extend(lease.worker.sandbox.end_reason().await.map(|it| format!(": {it}")));
        }
        let duration = began.elapsed();
        self.count(duration, acquired.seat.as_ref().and_then(Seat::name));
        let kills_now = lease.worker.sandbox.memory_kills().or_else(kernel_memory_kills);
        let killed_inside = matches!(&end, SessionEnd::Ended(ended) if ended.memory_kill);
        let mut finished = FinishedRun {
            stop,
            end,
            memory_kill: kills_now > kills || killed_inside,
            duration,
            limits,
            notes: acquired.refusals,
        };
        finished.notes.extend(acquired.unmeasured);
        finished.notes.extend(acquired.lease.worker.sandbox.note().map(str::to_owned));
        self.release(acquired.lease, &mut finished, unseen.await.unwrap_or_default()).await;
        let engine = acquired.seat.as_ref().and_then(Seat::name).map(str::to_owned);
        let Some(detected) = order.detected else {
            let report = hidden.hide(python_report(request, seen, finished));
            return Ok(Report { engine, ..report });
        };
        if let Some((program, why)) = &seen.collector.not_started {
            let toolchain = Toolchain::of(request.framework);
            return Err(self.shared.place.missing(toolchain, program, why));
        }
        let report =
            hidden.hide(command::command_report(request, &detected, &root, seen, finished));
        report.tests.iter().for_each(|it| on_progress(RunProgress::Test(it)));
        Ok(Report { engine, ..report })
    }

    /// Ends an attempt whose worker does not show the project.
    async fn not_laid(
        &self,
        acquired: AcquiredWorker,
        error: ProjectError,
    ) -> Result<Report, SandboxError> {
        let error = SandboxError::Project(error);
        let was_warm = acquired.lease.worker.runs > 0;
        if let Some(reason) = self.given_up(acquired.lease.engine, &error).await {
            return Ok(self.lost(acquired, reason).await);
        }
        acquired.lease.close().await;
        // A new worker takes the project as it is now.
        if was_warm {
            return Ok(ending(Outcome::SandboxLost { reason: error.to_string() }));
        }
        Err(error)
    }

    /// Keeps a worker for later runs if it can serve them, and ends it otherwise. Adds what people
    /// should know of it to the notes, after the files that the tests could not see.
    async fn release(&self, mut lease: Lease, finished: &mut FinishedRun, unseen: Vec<String>) {
        let mut reusable = matches!(&finished.end, SessionEnd::Ended(ended) if ended.clean);
        if let Err(reason) = lease.worker.sandbox.lift().await
            && reusable
        {
            reusable = false;
            finished.notes.push(format!("the sandbox was discarded: {reason}"));
        }
        finished.notes.extend(notes(&finished.end, &lease.worker));
        finished.notes.extend(unseen);
        let superfluous = if reusable { self.shared.pool.put(lease) } else { Some(lease) };
        if let Some(lease) = superfluous {
            finished.notes.extend(lease.close().await);
        }
    }

    /// Returns whether the engine of a lost sandbox is lost as well.
    async fn is_lost(&self, engine: usize) -> bool {
        let Some(engines) = self.shared.place.engines() else { return false };
        engines.check(engine).await;
        engines.is_lost(engine)
    }

    /// Gives up the workers of an engine that is absent; returns the report of the lost run.
    async fn lost(&self, acquired: AcquiredWorker, reason: String) -> Report {
        let AcquiredWorker { lease, seat, refusals, .. } = acquired;
        let engine = lease.engine;
        lease.abandon().await;
        self.abandon_idle(engine).await;
        let name = seat.as_ref().and_then(Seat::name).map(str::to_owned);
        Report { engine: name, notes: refusals, ..ending(Outcome::SandboxLost { reason }) }
    }

    /// Returns the paths of a run on a scratch folder that mean nothing to people.
    fn hidden(&self, lease: &Lease) -> PathReplacements {
        if !lease.visible.is_made() {
            return PathReplacements::default();
        }
        let hidden = PathReplacements::default()
            .and(lease.visible.shown(), "")
            .and(&lease.worker.writable().temporary, "/tmp");
        let environment = self.shared.place.packages();
        match environment.filter(|it| it.join("pyvenv.cfg").is_file()) {
            Some(folder) => hidden.and(folder, "<environment>"),
            None => hidden,
        }
    }
}

/// Waits until the engine of a run is absent; returns the reason. Without engines this never ends.
async fn absence(seat: Option<&Seat>) -> String {
    match seat {
        Some(seat) => seat.absence().await,
        None => std::future::pending().await,
    }
}

/// Returns a random token for the records of a run. Code under test cannot guess it, but only find
/// it in memory.
fn token() -> String {
    let random = std::collections::hash_map::RandomState::new();
    let part = |n: u64| std::hash::BuildHasher::hash_one(&random, n);
    format!("{:016x}{:016x}", part(0), part(1))
}
