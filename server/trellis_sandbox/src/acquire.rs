//! Acquires a worker for a request: an idle one from the pool, or a new one; with coverage.py if
//! the request measures lines.

use std::{path::PathBuf, sync::Arc};

use tokio_util::sync::CancellationToken;

use crate::{
    backend::Backend,
    docker::Seat,
    error::{SandboxError, WorkerError},
    pool::{Lease, WorkerKey},
    python::{self, CoverageError},
    request::{Request, Tree},
    runner::Runner,
    toolchain::Toolchain,
    tree::VisibleFolder,
};

/// A worker, and the reason it cannot measure the requested lines, a sentence for people.
pub(crate) struct AcquiredWorker {
    pub(crate) lease: Lease,
    /// The right to a run on the worker's engine; `None` for local sandboxes.
    pub(crate) seat: Option<Seat>,
    /// The engines that did not take the run, with the reasons, as sentences for people.
    pub(crate) refusals: Vec<String>,
    pub(crate) unmeasured: Option<String>,
}

impl Runner {
    /// Returns a worker for `request`, or `None` if the run was cancelled.
    pub(crate) async fn obtain(
        &self,
        request: &Request,
        cancel: &CancellationToken,
    ) -> Result<Option<AcquiredWorker>, SandboxError> {
        tokio::select! {
            // Boxed, since this future holds several copies of the future that starts a sandbox.
            obtained = Box::pin(self.acquire(request)) => obtained.map(Some),
            () = cancel.cancelled() => Ok(None),
        }
    }

    async fn acquire(&self, request: &Request) -> Result<AcquiredWorker, SandboxError> {
        let provided = self.shared.provided.folder();
        let mut acquired = self.acquire_for(request, provided.clone()).await?;
        let missing = acquired.lease.worker.unmeasured();
        let Some(missing) = missing.filter(|_| measures(request)) else { return Ok(acquired) };
        let none_yet = provided.is_none();
        match if none_yet { self.provide_coverage().await } else { None } {
            Some(Ok(folder)) => {
                acquired.lease.close().await;
                drop(acquired.seat);
                acquired = self.acquire_for(request, Some(folder)).await?;
                let missing = acquired.lease.worker.unmeasured();
                acquired.unmeasured = missing.map(|it| self.unmeasured(&it, None));
            }
            Some(Err(error)) => acquired.unmeasured = Some(self.unmeasured(&missing, Some(&error))),
            None => acquired.unmeasured = Some(self.unmeasured(&missing, None)),
        }
        Ok(acquired)
    }

    /// Installs coverage.py with the coverage provider; `None` if there is no provider.
    async fn provide_coverage(&self) -> Option<Result<PathBuf, Arc<CoverageError>>> {
        let Backend::Local { python, config, .. } = &self.shared.place else { return None };
        Some(self.shared.provided.get(config.coverage_provider.as_ref()?, python).await)
    }

    /// Explains to people that lines are not measured. `missing`: the reason no installed
    /// coverage.py works; `why`: the reason none could be installed.
    fn unmeasured(&self, missing: &str, why: Option<&CoverageError>) -> String {
        let python = self.shared.place.python();
        let why = why.map(|it| format!(", and Trellis could not install it separately: {it}"));
        let what = match &self.shared.place {
            Backend::Local { python, .. } => {
                format!("run `{}`", python::command(&python.interpreter))
            }
            Backend::Docker { .. } => {
                "choose an image in which `coverage` can be installed".to_owned()
            }
        };
        let why = why.unwrap_or_default();
        format!(
            "lines are not measured: {python} has no working coverage.py ({missing}){why}; \
             {what}"
        )
    }

    /// Returns an idle worker that fits `request`, or starts a new one.
    async fn acquire_for(
        &self,
        request: &Request,
        provided: Option<PathBuf>,
    ) -> Result<AcquiredWorker, SandboxError> {
        let key = WorkerKey::of(request, &self.shared.place, provided);
        let (mut refusals, unmeasured) = (Vec::new(), None);
        let Some(engines) = self.shared.place.engines() else {
            let lease = self.lease(key, 0, request).await?;
            return Ok(AcquiredWorker { lease, seat: None, refusals, unmeasured });
        };
        loop {
            let seat = engines.seat(|engine| self.shared.pool.has(&key, engine)).await?;
            let engine = seat.engine;
            let refusal = tokio::select! {
                leased = self.lease(key.clone(), engine, request) => match leased {
                    Ok(lease) => {
                        let seat = Some(seat);
                        return Ok(AcquiredWorker { lease, seat, refusals, unmeasured });
                    }
                    Err(error) => self.given_up(engine, &error).await.ok_or(error)?,
                },
                reason = seat.absence() => {
                    self.abandon_idle(engine).await;
                    reason
                }
            };
            refusals.extend(seat.name().map(|it| format!("{it} did not take the run: {refusal}")));
        }
    }

    /// Gives an engine up if it is lost, or if the error is its own and there are others; returns
    /// the reason then. The error on a lost engine may name another cause.
    pub(crate) async fn given_up(&self, engine: usize, error: &SandboxError) -> Option<String> {
        let engines = self.shared.place.engines()?;
        engines.check(engine).await;
        let has_others = engines.count() > 1;
        if !(engines.is_lost(engine) || error.is_of_engine() && has_others) {
            return None;
        }
        if !engines.is_absent(engine) {
            engines.set_aside(engine, error.to_string(), error.remains());
        }
        self.abandon_idle(engine).await;
        // Meanwhile it may have come back.
        engines.reason(engine).or_else(|| Some(error.to_string()))
    }

    /// Gives up the idle workers of an engine that is absent.
    pub(crate) async fn abandon_idle(&self, engine: usize) {
        for lease in self.shared.pool.take_all(engine) {
            lease.abandon().await;
        }
    }

    /// Returns an idle worker of the engine, or a new one. A new one that ends before it is ready,
    /// as when memory runs out, gives way to another, once.
    async fn lease(
        &self,
        key: WorkerKey,
        engine: usize,
        request: &Request,
    ) -> Result<Lease, SandboxError> {
        if let Some(lease) = self.shared.pool.take(&key, engine) {
            let lease = prepared(lease, request).await?;
            // An idle worker that has died gives way to a new one.
            if let Ok(lease) = self.measuring(lease, request).await {
                return Ok(lease);
            }
        }
        match self.ready_lease(key.clone(), engine, request).await {
            Err(error) if error.is_of_ended_worker() => {
                tracing::debug!(%error, "the worker is started again");
                self.ready_lease(key, engine, request).await
            }
            ready => ready,
        }
    }

    /// Starts a worker and prepares it for `request`.
    async fn ready_lease(
        &self,
        key: WorkerKey,
        engine: usize,
        request: &Request,
    ) -> Result<Lease, SandboxError> {
        let lease = self.new_lease(key, engine, request).await?;
        self.measuring(lease, request).await
    }

    /// Prepares the worker to measure lines if `request` wants that.
    async fn measuring(&self, mut lease: Lease, request: &Request) -> Result<Lease, SandboxError> {
        if !measures(request) {
            return Ok(lease);
        }
        let Err(cause) = lease.worker.look_for_coverage().await else { return Ok(lease) };
        let stderr = lease.worker.words();
        lease.close().await;
        let source = WorkerError { cause, stderr, end: None };
        Err(SandboxError::Coverage { python: self.shared.place.python(), source })
    }

    async fn new_lease(
        &self,
        key: WorkerKey,
        engine: usize,
        request: &Request,
    ) -> Result<Lease, SandboxError> {
        let (parent, tree) = (self.shared.scratch.clone(), request.tree.clone());
        let toolchain = Toolchain::of(request.framework);
        let packages = toolchain == Some(Toolchain::Node);
        let visible =
            tokio::task::spawn_blocking(move || VisibleFolder::new(&parent, &tree, packages));
        let mut visible = visible.await.map_err(SandboxError::Unprepared)??;
        let (place, provided) = (&self.shared.place, key.provided.clone());
        if place.is_sent() {
            visible = visible.sent();
        }
        let worker = place.start(engine, &visible, &request.limits, toolchain, provided).await?;
        Ok(Lease { key, engine, worker, visible })
    }
}

/// Returns whether coverage.py has to measure the lines of the run.
fn measures(request: &Request) -> bool {
    request.measures() && Toolchain::of(request.framework).is_none()
}

/// Gives a pooled worker the files of this request.
async fn prepared(mut lease: Lease, request: &Request) -> Result<Lease, SandboxError> {
    let (Tree::Files(files) | Tree::Copy { changed: files, .. }) = &request.tree else {
        return Ok(lease);
    };
    let (files, trusted) = (files.clone(), lease.worker.sandbox.protects_files());
    let write = move || lease.visible.renew(&files, trusted).map(|()| lease);
    tokio::task::spawn_blocking(write).await.map_err(SandboxError::Unprepared)?
}
