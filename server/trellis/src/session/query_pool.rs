//! Questions to everything that is known, put on threads that may think.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;

use super::{SessionHandle, Snapshot};

/// Questions that think at the same time; more would only take turns.
const THINKING_AT_ONCE: usize = 4;

/// Puts questions. A clone takes its turn with the others.
#[derive(Clone)]
pub(crate) struct QueryPool {
    owner: SessionHandle,
    thinking: Arc<Semaphore>,
}

/// Why a question has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryError {
    /// The answer would be for a text that is no longer there.
    ContentModified,
    /// Whoever asked is gone.
    Cancelled,
    /// The question failed in a way that nobody foresaw; the log says how.
    Panicked,
}

type Question<T> = Arc<dyn Fn(&Snapshot) -> T + Send + Sync>;

impl QueryPool {
    pub(crate) fn new(owner: SessionHandle) -> QueryPool {
        QueryPool { owner, thinking: Arc::new(Semaphore::new(THINKING_AT_ONCE)) }
    }

    /// Puts a question to everything as of this call. When the disk turns out to be ahead, it is put again.
    pub(crate) fn ask<T, Q>(
        &self,
        question: Q,
    ) -> impl Future<Output = Result<T, QueryError>> + Send + use<T, Q>
    where
        T: Send + 'static,
        Q: Fn(&Snapshot) -> T + Send + Sync + 'static,
    {
        // Asked for now, not at the first poll: what the client says later must not be in it.
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

/// Tells work on another thread that nobody waits for it any more.
struct Cancelling(Arc<AtomicBool>);

impl Drop for Cancelling {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The answer, none if it was cancelled before it began, and the view's misses after it.
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
