//! Errors of the client for JSON services.

use thiserror::Error;

use crate::endpoint::BaseUrlError;
use crate::open_error::OpenError;

/// Reasons why a [`crate::JsonClient`] cannot be set up. No variant holds the token.
#[derive(Debug, Error)]
pub enum JsonOpenError {
    /// The base URL is unusable.
    #[error(transparent)]
    BaseUrl(#[from] BaseUrlError),
    /// The token holds characters that no HTTP header can carry.
    #[error("the token contains characters that a header cannot carry")]
    BadToken,
    /// The HTTP client cannot be set up.
    #[error(transparent)]
    Client(#[from] OpenError),
}

/// Reasons why a service gave no complete answer. No variant holds the token.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JsonRequestError {
    /// No path can be appended to the base URL.
    #[error("it is not a web address")]
    NoPath,
    /// No complete answer in time.
    #[error("it did not answer in time")]
    TimedOut,
    /// The answer exceeds the maximum size.
    #[error("its answer is larger than {mebibytes} MiB")]
    TooLarge {
        /// The maximum size.
        mebibytes: usize,
    },
    /// The connection could not be made, or broke.
    #[error("{reason}")]
    Connection {
        /// The network's message, without the address.
        reason: String,
    },
}
