//! Errors of the steps of a task graph.

use crate::fault::Fault;

/// Reason why a step did not succeed.
pub(super) enum StepError {
    /// The result is not good enough, for this reason; other tasks go on.
    Refused(String),
    /// All work ends.
    Fault(Fault),
}

impl StepError {
    pub(super) fn refused(why: impl Into<String>) -> StepError {
        StepError::Refused(why.into())
    }
}

impl<E: Into<Fault>> From<E> for StepError {
    fn from(error: E) -> StepError {
        StepError::Fault(error.into())
    }
}

/// Returns the result of a step as the state machine takes it: a refusal is a result.
pub(super) fn reported(result: Result<(), StepError>) -> Result<Result<(), String>, Fault> {
    match result {
        Ok(()) => Ok(Ok(())),
        Err(StepError::Refused(why)) => Ok(Err(why)),
        Err(StepError::Fault(fault)) => Err(fault),
    }
}
