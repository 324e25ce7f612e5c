//! What contains a worker, whichever sandbox it is.

use crate::{
    local::{Cell, Isolation},
    report::LimitStatus,
    sandbox::Writable,
};

/// A running sandbox. Dropping it ends it in the background.
#[derive(Debug)]
pub(crate) enum Cage {
    Local(Cell),
}

impl Cage {
    pub(crate) fn writable(&self) -> &Writable {
        match self {
            Cage::Local(cell) => &cell.writable,
        }
    }

    pub(crate) fn limits(&self) -> &[LimitStatus] {
        match self {
            Cage::Local(cell) => &cell.limits,
        }
    }

    /// Processes inside that the kernel has killed for want of memory so far, where that is
    /// counted.
    pub(crate) fn memory_kills(&self) -> Option<u64> {
        match self {
            Cage::Local(cell) => cell.memory_kills(),
        }
    }

    /// Ends everything inside and waits for that.
    pub(crate) async fn end(self) -> Result<(), String> {
        match self {
            Cage::Local(cell) => cell.end().await,
        }
    }

    /// Bubblewrap shows only when it runs whether it works.
    pub(crate) fn is_bubblewrap(&self) -> bool {
        matches!(self, Cage::Local(cell) if cell.isolation() == Some(Isolation::Bubblewrap))
    }

    /// Tests run as a user who has no other processes.
    pub(crate) fn runs_as_stranger(&self) -> bool {
        match self {
            Cage::Local(cell) => cell.stranger,
        }
    }

    /// Nothing inside can change the tree.
    pub(crate) fn protects_files(&self) -> bool {
        self.limits().iter().any(|it| it.name == "file system" && it.enforced)
    }
}
