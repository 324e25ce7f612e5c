//! Kinds of faults, for programs.

/// Detail of a fault beyond its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Another process has what is needed.
    Busy,
    /// A file of Trellis cannot be read.
    Damaged,
    /// A proposal has been decided already.
    Decided,
    /// A test sometimes passes and sometimes fails.
    Flaky,
    /// No run of `trellis generate` was made in the folder.
    NoCheckpoint,
    /// No test fails as expected.
    NoFailure,
    /// No fix was found.
    NoFix,
    /// The model's key is missing or unusable.
    NoKey,
    /// No model is named, or an unknown one.
    NoModel,
    /// No run of `trellis tasks` was made in the folder.
    NoTasks,
    /// A path is outside of the workspace.
    Outside,
    /// A proposal was made for other texts.
    Stale,
    /// A text would have a syntax error.
    Syntax,
    /// The editor has changes that are not on the disk.
    Unsaved,
    /// The project may not start programs.
    Untrusted,
}

impl FaultKind {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            FaultKind::Busy => "busy",
            FaultKind::Damaged => "damaged",
            FaultKind::Decided => "decided",
            FaultKind::Flaky => "flaky",
            FaultKind::NoCheckpoint => "noCheckpoint",
            FaultKind::NoFailure => "noFailure",
            FaultKind::NoFix => "noFix",
            FaultKind::NoKey => "noKey",
            FaultKind::NoModel => "noModel",
            FaultKind::NoTasks => "noTasks",
            FaultKind::Outside => "outside",
            FaultKind::Stale => "stale",
            FaultKind::Syntax => "syntax",
            FaultKind::Unsaved => "unsaved",
            FaultKind::Untrusted => "untrusted",
        }
    }
}
