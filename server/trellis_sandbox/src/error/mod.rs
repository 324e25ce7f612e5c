//! Errors of opening sandboxes and running tests in them, by subject.
//!
//! ```text
//! SandboxError ──> LocalError ──> IsolationError ──> ControlGroupError, FileError
//!      │  └──────> StartError, WorkerError
//!      └── ProjectError, EndError
//! DockerError ──> EngineError ──> AddressError ──> CertificateError, TlsError, SshError
//!      │               └──────────> ContextError
//!      └── ImageError, RemovalError
//! ```
//!
//! The errors of interpreters are in [`crate::python`]. A message is a sentence for people.

mod connection;
mod docker;
mod engine;
mod file;
mod install;
mod isolation;
mod project;
mod sandbox;
mod worker;

pub use self::{
    connection::{
        CertificateError, CertificateFault, SshDestination, SshError, SshFault, TlsError,
    },
    docker::{
        DockerError, FolderAccessError, ImageError, LaunchError, PullProblem, SendError,
        StartError, StoreError,
    },
    engine::{
        AddressError, ContextError, ContextFault, EngineError, EngineFailure, RemovalError,
        RemovalFault, SwarmRemovalError, UnreachableAddress,
    },
    file::{FileAction, FileError},
    install::{ImageInstallProblem, PipProblem, UvProblem, VenvProblem},
    isolation::{
        ControlGroupError, FilterError, IsolationError, LandlockError, LocalError, ProgramError,
    },
    project::{LayerError, ProjectError},
    sandbox::{AbsentEngine, EndError, SandboxError},
    worker::{WorkerError, WorkerFailure},
};
pub(crate) use self::{
    engine::{FREE_SPACE, is_full},
    project::ReadOnlyReason,
};
