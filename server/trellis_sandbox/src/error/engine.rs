//! Failures of finding a Docker engine and talking to it.

use std::{error::Error as _, io, iter::successors, path::PathBuf, time::Duration};

use super::connection::{CertificateError, SshError, TlsError, cause};

/// An error of the engine or of the connection to it.
#[derive(Debug, thiserror::Error)]
#[error("{}", with_causes(.0))]
pub struct EngineFailure(pub(crate) bollard::errors::Error);

impl EngineFailure {
    /// Returns the status of the engine's reply, if there was one.
    pub(crate) fn status(&self) -> Option<u16> {
        match &self.0 {
            bollard::errors::Error::DockerResponseServerError { status_code, .. } => {
                Some(*status_code)
            }
            _ => None,
        }
    }

    /// Returns whether the engine's disk is full. The engine's error has no other form.
    pub(crate) fn is_full(&self) -> bool {
        is_full(&self.to_string())
    }

    /// Returns whether the engine speaks only TLS. Go's server answers others with this message.
    fn wants_tls(&self) -> bool {
        self.to_string().contains("HTTP request to an HTTPS server")
    }

    /// Returns whether this user may not use the engine's socket.
    pub(crate) fn is_denied(&self) -> bool {
        let is_denied = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        if let bollard::errors::Error::IOError { err } = &self.0 {
            return is_denied(err);
        }
        let mut causes = successors(self.0.source(), |&cause| cause.source());
        causes.any(|cause| cause.downcast_ref().is_some_and(is_denied))
    }
}

/// Returns whether a message of an engine or of a program there says that the disk is full.
pub(crate) fn is_full(message: &str) -> bool {
    ["no space left on device", "No space left on device"].iter().any(|it| message.contains(it))
}

/// The remedy for a full disk.
pub(crate) const FREE_SPACE: &str =
    "the engine's disk is full: free space there, for instance with `docker system prune`";

/// Formats an error with all its causes, since its own text often says little.
fn with_causes(error: &bollard::errors::Error) -> String {
    use bollard::errors::Error::{DockerResponseServerError, DockerStreamError};
    if let DockerResponseServerError { message, .. } | DockerStreamError { error: message } = error
    {
        return message.trim().to_owned();
    }
    let mut text = error.to_string();
    for cause in successors(error.source(), |&cause| cause.source()) {
        let more = cause.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
    }
    text
}

/// The reason there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The chosen context names no engine.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// No address has an engine that can be used.
    #[error(
        "cannot reach a Docker engine: {}; start Docker, set DOCKER_HOST, or run with \
         `--sandbox local`",
        listed(.tried)
    )]
    Unreachable {
        /// The addresses, in the order of the attempts.
        tried: Vec<UnreachableAddress>,
    },
}

/// An address without an engine that can be used.
#[derive(Debug, thiserror::Error)]
#[error("{host} ({origin}): {source}")]
pub struct UnreachableAddress {
    /// The address.
    pub host: String,
    /// The setting that names the address.
    pub origin: String,
    /// The reason.
    pub source: AddressError,
}

fn listed(tried: &[UnreachableAddress]) -> String {
    tried.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// The reason an address has no engine that can be used.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// The engine requires encryption.
    #[error(
        "it requires TLS; set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH, or make a Docker context \
         with its certificates and name that"
    )]
    NeedsTls,
    /// The certificates for the engine cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The connection with TLS failed.
    #[error(transparent)]
    Tls(TlsError),
    /// `ssh` gives no connection.
    #[error(transparent)]
    Ssh(SshError),
    /// There is no `ssh`.
    #[error("the program ssh is not on PATH; install a client of SSH")]
    NoSsh,
    /// The address cannot be read.
    #[error("the address is malformed: {0}")]
    Malformed(String),
    /// The address has another scheme.
    #[error("Trellis supports addresses with unix://, tcp://, http://, https:// and ssh://")]
    Scheme,
    /// Nothing answers in time.
    #[error("no answer within {} s; check it with `docker info`", .limit.as_secs())]
    NoAnswer {
        /// The time limit.
        limit: Duration,
    },
    /// This user may not use the engine's socket.
    #[error("{0}; join the group `docker` (`sudo usermod -aG docker $USER`, then log in again)")]
    Denied(EngineFailure),
    /// The engine cannot be reached, or does not work.
    #[error(transparent)]
    Failed(EngineFailure),
    /// An engine that a person named cannot be reached.
    #[error("it cannot be reached: {0}; start it, or check the address")]
    Unreached(EngineFailure),
    /// The engine is too old.
    #[error(
        "it is Docker {version} (API {api}), and Trellis needs Docker 19.03 or newer: update it"
    )]
    Old {
        /// The engine's version.
        version: String,
        /// The version of its API.
        api: String,
    },
    /// The engine is a node of a swarm and too old for that.
    #[error(
        "it is Docker {version} (API {api}) in a swarm, and a swarm needs Docker 20.10 or newer: \
         update it, or name engines that are in none"
    )]
    OldSwarm {
        /// The engine's version.
        version: String,
        /// The version of its API.
        api: String,
    },
    /// The engine's node was drained.
    #[error(
        "its node of the swarm is drained; let it work with `docker node update --availability \
         active {node}`"
    )]
    Drained {
        /// The id of the node.
        node: String,
    },
    /// The engine has another kind of processor than the others.
    #[error(
        "its processors are {own}, those of the first engine {other}, so that results could differ: \
         name engines of one kind"
    )]
    Architecture {
        /// The kind of this engine's processors.
        own: String,
        /// The kind of the first engine's processors.
        other: String,
    },
    /// The engine runs containers of another system.
    #[error("it runs Windows containers; switch it to Linux containers")]
    Windows,
}

impl From<bollard::errors::Error> for AddressError {
    fn from(error: bollard::errors::Error) -> AddressError {
        if let Some(error) = cause::<SshError>(&error) {
            return AddressError::Ssh(error.clone());
        }
        if let Some(error) = cause::<rustls::Error>(&error) {
            return AddressError::Tls(TlsError::of(error));
        }
        let failure = EngineFailure(error);
        match failure {
            it if it.is_denied() => AddressError::Denied(it),
            it if it.wants_tls() => AddressError::NeedsTls,
            it => AddressError::Failed(it),
        }
    }
}

/// A context that names no engine.
#[derive(Debug, thiserror::Error)]
#[error(
    "the Docker context {name:?} cannot be used: {} {fault}; choose another with `docker context \
     use` or set DOCKER_HOST",
    .path.display()
)]
pub struct ContextError {
    /// The context's name.
    pub name: String,
    /// The file that describes the context.
    pub path: PathBuf,
    /// The fault of the file.
    #[source]
    pub fault: ContextFault,
}

/// The fault of a file that describes a context.
#[derive(Debug, thiserror::Error)]
pub enum ContextFault {
    /// The file cannot be read.
    #[error("cannot be read ({0})")]
    Unreadable(io::Error),
    /// The file is not JSON.
    #[error("is not JSON")]
    NotJson,
    /// The file has no address of an engine.
    #[error("has no address")]
    NoAddress,
}

/// A container that could not be removed.
#[derive(Debug, thiserror::Error)]
#[error("cannot remove the container {id}: {fault}; remove it with `docker rm -f`")]
pub struct RemovalError {
    /// The engine's id of the container.
    pub id: String,
    /// The reason.
    #[source]
    pub fault: RemovalFault,
}

/// A service that could not be removed.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot remove the service {service}: {source}; remove it with `docker service rm {service}`"
)]
pub struct SwarmRemovalError {
    /// The name of the service.
    pub service: String,
    /// The engine's error.
    pub source: EngineFailure,
}

/// The reason a container could not be removed.
#[derive(Debug, thiserror::Error)]
pub enum RemovalFault {
    /// The engine refuses.
    #[error(transparent)]
    Engine(EngineFailure),
    /// The engine still knows the container.
    #[error("it still exists after {} s", .limit.as_secs())]
    StillThere {
        /// The time limit.
        limit: Duration,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_socket_of_other_users_is_denied() {
        let from = |kind: io::ErrorKind| {
            AddressError::from(bollard::errors::Error::from(io::Error::from(kind)))
        };
        let denied = from(io::ErrorKind::PermissionDenied);
        assert!(matches!(denied, AddressError::Denied(_)), "{denied}");
        let refused = from(io::ErrorKind::ConnectionRefused);
        assert!(matches!(refused, AddressError::Failed(_)), "{refused}");
    }
}
