//! Faults of opening a sandbox: the exit code, by the kind of error.

use crate::fault::Fault;
use trellis_sandbox::error::{DockerError, FolderAccessError};
use trellis_sandbox::python::{PythonError, RequirementsError};

/// Returns the fault of a project whose requirements cannot be read.
pub fn of_requirements(error: RequirementsError) -> Fault {
    match error {
        RequirementsError::Unreadable { .. }
        | RequirementsError::NotToml { .. }
        | RequirementsError::Option { .. }
        | RequirementsError::Outside { .. } => Fault::input(error),
    }
}

/// Returns the fault of a machine without an environment for tests.
pub(super) fn of_python(error: PythonError) -> Fault {
    match error {
        PythonError::NoPython { .. }
        | PythonError::Unusable { .. }
        | PythonError::VenvFailed { .. }
        | PythonError::PipFailed { .. }
        | PythonError::UvFailed { .. }
        | PythonError::BadRequirement { .. }
        | PythonError::Cache { .. } => Fault::unavailable(error),
    }
}

/// Returns the fault of a machine without containers for tests.
pub(super) fn of_docker(error: DockerError) -> Fault {
    match error {
        DockerError::Engine(_)
        | DockerError::Address(_)
        | DockerError::Containers(_)
        | DockerError::Removal(_)
        | DockerError::Image(_) => Fault::unavailable(error),
    }
}

/// Returns the fault of a project that containers cannot read.
pub(super) fn of_folder_access(error: FolderAccessError) -> Fault {
    match error {
        FolderAccessError::File(_) | FolderAccessError::OnlyRoot { .. } => {
            Fault::unavailable(error)
        }
    }
}
