//! The table of faults of the sandbox.

use trellis_sandbox::error::{DockerError, FolderAccessError};
use trellis_sandbox::python::{PythonError, RequirementsError};

use super::Fault;

impl From<RequirementsError> for Fault {
    fn from(error: RequirementsError) -> Fault {
        match error {
            RequirementsError::Unreadable { .. }
            | RequirementsError::NotToml { .. }
            | RequirementsError::Option { .. }
            | RequirementsError::Outside { .. } => Fault::input(error),
        }
    }
}

impl From<PythonError> for Fault {
    fn from(error: PythonError) -> Fault {
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
}

impl From<DockerError> for Fault {
    fn from(error: DockerError) -> Fault {
        match error {
            DockerError::Engine(_)
            | DockerError::Context(_)
            | DockerError::NoEngines { .. }
            | DockerError::Address(_)
            | DockerError::Containers(_)
            | DockerError::Removal(_)
            | DockerError::Image(_)
            | DockerError::Store(_) => Fault::unavailable(error),
        }
    }
}

impl From<FolderAccessError> for Fault {
    fn from(error: FolderAccessError) -> Fault {
        match error {
            FolderAccessError::File(_) | FolderAccessError::OnlyRoot { .. } => {
                Fault::unavailable(error)
            }
        }
    }
}
