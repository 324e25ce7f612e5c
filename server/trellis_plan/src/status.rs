//! Statuses of leaves, and their counts.

use std::fmt;

use crate::node::NodeIx;

/// Status of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Pending,
    InProgress,
    Passed,
    Failed,
    Skipped,
}

impl Status {
    /// Returns `pending`, `in_progress`, `passed`, `failed` or `skipped`.
    pub fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::InProgress => "in_progress",
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::Skipped => "skipped",
        }
    }

    /// Returns the status with a [name](Self::name).
    pub fn parse(name: &str) -> Option<Self> {
        let all =
            [Status::Pending, Status::InProgress, Status::Passed, Status::Failed, Status::Skipped];
        all.into_iter().find(|it| it.name() == name)
    }

    /// Returns whether the status is final for this run.
    pub fn is_settled(self) -> bool {
        matches!(self, Status::Passed | Status::Failed | Status::Skipped)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A leaf that became `skipped`, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub node: NodeIx,
    pub reason: String,
}

/// Number of leaves by status; composites are never counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub total: usize,
    pub pending: usize,
    pub in_progress: usize,
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

impl Counts {
    /// Returns the number of leaves with a final status.
    pub fn settled(&self) -> usize {
        self.passed + self.failed + self.skipped
    }

    pub(crate) fn add(&mut self, status: Status) {
        self.total += 1;
        *self.of(status) += 1;
    }

    pub(crate) fn change(&mut self, before: Status, after: Status) {
        *self.of(before) -= 1;
        *self.of(after) += 1;
    }

    fn of(&mut self, status: Status) -> &mut usize {
        match status {
            Status::Pending => &mut self.pending,
            Status::InProgress => &mut self.in_progress,
            Status::Passed => &mut self.passed,
            Status::Failed => &mut self.failed,
            Status::Skipped => &mut self.skipped,
        }
    }
}

/// The error for a run that cannot start from a node whose dependencies have not passed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot start from `{node}`: {} not passed: {}", if unmet.len() == 1 { "a dependency has" } else { "dependencies have" }, unmet.join(", "))]
pub struct UnmetDependencies {
    /// Id of the requested node.
    pub node: String,
    /// Ids of its dependencies that have not passed, in the order of the plan.
    pub unmet: Vec<String>,
}
