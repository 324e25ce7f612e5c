//! How many there are of something.

use std::sync::Arc;

use tokio::sync::watch;

/// A count that goes down by itself. A clone is the same.
#[derive(Clone, Default)]
pub(super) struct Counter(Arc<watch::Sender<usize>>);

/// One that is counted until it is dropped.
pub(super) struct Counted(Counter);

impl Counter {
    pub(super) fn enter(&self) -> Counted {
        self.0.send_modify(|count| *count += 1);
        Counted(self.clone())
    }

    pub(super) fn watch(&self) -> watch::Receiver<usize> {
        self.0.subscribe()
    }

    /// Waits until there is none.
    pub(super) async fn none(&self) {
        // An error means that the counter is gone, which is held here.
        let _ = self.watch().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
