//! Acquires a worker for a request: an idle one from the pool, or a new one; with coverage.py if
//! the request measures lines.

use std::{path::PathBuf, sync::Arc};

use tokio_util::sync::CancellationToken;

use crate::{
    backend::Backend,
    docker::Seat,
    error::SandboxError,
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
        let (lease, seat) = self.acquire_for(request, provided.clone()).await?;
        let is_python = Toolchain::of(request.framework).is_none();
        let Some(missing) = lease.worker.ready.unmeasured.clone().filter(|_| is_python) else {
            return Ok(AcquiredWorker { lease, seat, unmeasured: None });
        };
        if !request.measures() {
            return Ok(AcquiredWorker { lease, seat, unmeasured: None });
        }
        if provided.is_some() {
            return Ok(AcquiredWorker {
                lease,
                seat,
                unmeasured: Some(self.unmeasured(&missing, None)),
            });
        }
        match self.provide_coverage().await {
            Some(Ok(folder)) => {
                lease.close().await;
                drop(seat);
                let (lease, seat) = self.acquire_for(request, Some(folder)).await?;
                let missing = lease.worker.ready.unmeasured.clone();
                let unmeasured = missing.map(|it| self.unmeasured(&it, None));
                Ok(AcquiredWorker { lease, seat, unmeasured })
            }
            Some(Err(error)) => Ok(AcquiredWorker {
                lease,
                seat,
                unmeasured: Some(self.unmeasured(&missing, Some(&error))),
            }),
            None => Ok(AcquiredWorker {
                lease,
                seat,
                unmeasured: Some(self.unmeasured(&missing, None)),
            }),
        }
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
    ) -> Result<(Lease, Option<Seat>), SandboxError> {
        let key = WorkerKey::of(request, &self.shared.place, provided);
        let Some(engines) = self.shared.place.engines() else {
            return Ok((self.lease(key, 0, request).await?, None));
        };
        loop {
            let seat = engines.seat(|engine| self.shared.pool.has(&key, engine)).await?;
            match self.lease(key.clone(), seat.engine, request).await {
                Err(error) if error.is_of_engine() && self.gives_up(seat.engine, &error).await => {}
                leased => return Ok((leased?, Some(seat))),
            }
        }
    }

    /// Excludes an engine for an error, if there are others; returns whether there are.
    pub(crate) async fn gives_up(&self, engine: usize, error: &SandboxError) -> bool {
        let Some(engines) = self.shared.place.engines().filter(|it| it.count() > 1) else {
            return false;
        };
        engines.check(engine).await;
        if !engines.is_absent(engine) {
            engines.exclude(engine, &error.to_string());
        }
        self.abandon_idle(engine).await;
        true
    }

    /// Gives up the idle workers of an engine that is absent.
    pub(crate) async fn abandon_idle(&self, engine: usize) {
        for lease in self.shared.pool.take_all(engine) {
            lease.abandon().await;
        }
    }

    /// Returns an idle worker of the engine, or a new one.
    async fn lease(
        &self,
        key: WorkerKey,
        engine: usize,
        request: &Request,
    ) -> Result<Lease, SandboxError> {
        match self.shared.pool.take(&key, engine) {
            Some(lease) => prepared(lease, request).await,
            None => self.new_lease(key, engine, request).await,
        }
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
        let visible = visible.await.map_err(SandboxError::Unprepared)??;
        let (place, provided) = (&self.shared.place, key.provided.clone());
        let worker =
            place.start(engine, visible.root(), &request.limits, toolchain, provided).await?;
        Ok(Lease { key, engine, worker, visible })
    }
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
