//! Errors of a remote before anything is sent to it.

use std::path::PathBuf;

/// Error of a push target, or of the record of earlier pushes.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error("there is no remote {name:?}")]
    Unknown { name: String },
    #[error(
        "the remote {name} is, or may be, a folder of the project itself, and git would run its \
         hooks"
    )]
    InsideProject { name: String },
    #[error("cannot use the remote's address: {0}")]
    BadAddress(#[from] AddressError),
    #[error("{file} is not valid JSON: {source}")]
    NoJson { file: &'static str, source: serde_json::Error },
    #[error("cannot understand {}: {source}", path.display())]
    DamagedRecord { path: PathBuf, source: serde_json::Error },
    #[error(
        "cannot understand {}: it has version {version}, but this Trellis reads {known}",
        path.display()
    )]
    RecordVersion { path: PathBuf, version: u32, known: u32 },
}

/// Reason why an address is refused. No variant repeats the address, which may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("it is not an address")]
    NoAddress,
    #[error("it uses a git remote helper, which could run any program")]
    Helper,
    #[error("it contains a backslash")]
    Backslash,
    #[error("`{0}` is not supported; use https, http, ssh, file or a folder")]
    Scheme(String),
    #[error("its host is empty")]
    NoHost,
}
