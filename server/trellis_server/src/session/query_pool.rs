//! Runs queries on worker threads.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;

use super::{SessionHandle, Snapshot};

/// Maximum concurrent queries; more would only compete for processors.
const THINKING_AT_ONCE: usize = 4;

/// Pool for queries. Clones share its limit.
#[derive(Clone)]
pub struct QueryPool {
    owner: SessionHandle,
    thinking: Arc<Semaphore>,
}

/// Reason why a query has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryError {
    /// The answer would refer to an outdated text.
    ContentModified,
    /// The caller is gone.
    Cancelled,
    /// The query panicked; the log has details.
    Panicked,
}

type Question<T> = Arc<dyn Fn(&Snapshot) -> T + Send + Sync>;

impl QueryPool {
    pub fn new(owner: SessionHandle) -> QueryPool {
        QueryPool { owner, thinking: Arc::new(Semaphore::new(THINKING_AT_ONCE)) }
    }

    /// Runs a query on the state as of this call, and repeats it if the disk turns out to be newer.
    pub fn ask<T, Q>(
        &self,
        question: Q,
    ) -> impl Future<Output = Result<T, QueryError>> + Send + use<T, Q>
    where
        T: Send + 'static,
        Q: Fn(&Snapshot) -> T + Send + Sync + 'static,
    {
        // Requested now, not at the first poll: later messages of the client must not be included.
        let first = self.owner.view();
        let (owner, thinking) = (self.owner.clone(), self.thinking.clone());
        let question: Question<T> = Arc::new(question);
        async move {
            let mut view = first.await.map_err(|_| QueryError::Panicked)?;
            loop {
                let _turn = thinking.acquire().await.map_err(|_| QueryError::Panicked)?;
                let (misses, documents) = (view.misses(), view.documents.clone());
                let (answer, after) = think(view, question.clone()).await?;
                if after == misses {
                    return answer.ok_or(QueryError::Cancelled);
                }
                view = owner.view().await.map_err(|_| QueryError::Panicked)?;
                if !Arc::ptr_eq(&documents, &view.documents) {
                    return Err(QueryError::ContentModified);
                }
            }
        }
    }
}

/// Flag that cancels the work on another thread when dropped.
struct Cancelling(Arc<AtomicBool>);

impl Drop for Cancelling {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns the answer, or `None` if it was cancelled before the start, and the snapshot's misses
/// afterwards.
async fn think<T: Send + 'static>(
    view: Snapshot,
    question: Question<T>,
) -> Result<(Option<T>, u64), QueryError> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let _cancelling = Cancelling(cancelled.clone());
    let work = tokio::task::spawn_blocking(move || {
        let is_wanted = !cancelled.load(Ordering::Relaxed);
        let answer = is_wanted.then(|| question(&view));
        (answer, view.misses())
    });
    work.await.map_err(|error| {
        tracing::error!("a request failed: {error}");
        QueryError::Panicked
    })
}
