//! Counts active connections and subscribers.

use std::sync::Arc;

use tokio::sync::watch;

/// A count of live [`Counted`] values. Clones share one count.
#[derive(Clone, Default)]
pub(super) struct Counter(Arc<watch::Sender<usize>>);

/// One unit of the count, until it is dropped.
pub(super) struct Counted(Counter);

impl Counter {
    pub(super) fn enter(&self) -> Counted {
        self.0.send_modify(|count| *count += 1);
        Counted(self.clone())
    }

    pub(super) fn watch(&self) -> watch::Receiver<usize> {
        self.0.subscribe()
    }

    /// Waits until the count is zero.
    pub(super) async fn none(&self) {
        // An error would mean that the counter is gone, but it is held here.
        let _ = self.watch().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
