//! Getting a worker for a request: one that waits, else a new one; with coverage.py where lines are to be measured.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::{
    backend::Backend,
    pool::{WorkerKey, Lease},
    python,
    request::{Request, Tree},
    runner::Runner,
    toolchain::Toolchain,
    tree::VisibleFolder,
};

/// A worker, and why it cannot measure lines that were asked for: a sentence for people.
pub(crate) struct AcquiredWorker {
    pub(crate) post: Lease,
    pub(crate) unmeasured: Option<String>,
}

impl Runner {
    /// None: cancelled. The error is a sentence for people.
    pub(crate) async fn obtain(
        &self,
        request: &Request,
        cancel: &CancellationToken,
    ) -> Result<Option<AcquiredWorker>, String> {
        tokio::select! {
            // On the heap: it holds the start of a sandbox, several times.
            obtained = Box::pin(self.obtained(request)) => obtained.map(Some),
            () = cancel.cancelled() => Ok(None),
        }
    }

    async fn obtained(&self, request: &Request) -> Result<AcquiredWorker, String> {
        let lent = self.shared.lent.folder();
        let post = self.fitting(request, lent.clone()).await?;
        let is_python = Toolchain::of(request.framework).is_none();
        let Some(missing) = post.worker.ready.unmeasured.clone().filter(|_| is_python) else {
            return Ok(AcquiredWorker { post, unmeasured: None });
        };
        if !request.coverage {
            return Ok(AcquiredWorker { post, unmeasured: None });
        }
        if lent.is_some() {
            return Ok(AcquiredWorker { post, unmeasured: Some(self.unmeasured(&missing, None)) });
        }
        match self.lend().await {
            Some(Ok(folder)) => {
                post.close().await;
                let post = self.fitting(request, Some(folder)).await?;
                let missing = post.worker.ready.unmeasured.clone();
                let unmeasured = missing.map(|it| self.unmeasured(&it, None));
                Ok(AcquiredWorker { post, unmeasured })
            }
            Some(Err(why)) => {
                Ok(AcquiredWorker { post, unmeasured: Some(self.unmeasured(&missing, Some(&why))) })
            }
            None => Ok(AcquiredWorker { post, unmeasured: Some(self.unmeasured(&missing, None)) }),
        }
    }

    /// None: nobody lends.
    async fn lend(&self) -> Option<Result<PathBuf, String>> {
        let Backend::Local { python, config, .. } = &self.shared.place else { return None };
        Some(self.shared.lent.get(config.lender.as_ref()?, python).await)
    }

    /// `missing`: why none works that is there; `why`: why there is no other.
    fn unmeasured(&self, missing: &str, why: Option<&str>) -> String {
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

    /// A worker that waits, else a new one.
    async fn fitting(&self, request: &Request, lent: Option<PathBuf>) -> Result<Lease, String> {
        let key = WorkerKey::of(request, &self.shared.place, lent);
        match self.shared.pool.take(&key) {
            Some(post) => prepared(post, request).await,
            None => self.new_post(key, request).await,
        }
    }

    async fn new_post(&self, key: WorkerKey, request: &Request) -> Result<Lease, String> {
        let (parent, tree) = (self.shared.scratch.clone(), request.tree.clone());
        let toolchain = Toolchain::of(request.framework);
        let packages = toolchain == Some(Toolchain::Node);
        let grounds = tokio::task::spawn_blocking(move || VisibleFolder::new(&parent, &tree, packages));
        let grounds = grounds.await.map_err(unprepared)??;
        let (place, lent) = (&self.shared.place, key.lent.clone());
        let worker = place.start(grounds.root(), &request.limits, toolchain, lent).await?;
        Ok(Lease { key, worker, grounds })
    }
}

/// A worker from the pool with this run's files.
async fn prepared(mut post: Lease, request: &Request) -> Result<Lease, String> {
    let (Tree::Files(files) | Tree::Copy { changed: files, .. }) = &request.tree else {
        return Ok(post);
    };
    let (files, trusted) = (files.clone(), post.worker.cage.protects_files());
    let write = move || post.grounds.renew(&files, trusted).map(|()| post);
    tokio::task::spawn_blocking(write).await.map_err(unprepared)?
}

fn unprepared(error: tokio::task::JoinError) -> String {
    format!("cannot prepare the scratch folder: {error}")
}
