//! Failures of connections to engines over TLS and ssh.

use std::{
    error::Error,
    io,
    path::{Path, PathBuf},
};

/// The reason the certificates for an engine cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file is at fault.
    #[error("{} {fault}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The fault of the file.
        #[source]
        fault: CertificateFault,
    },
    /// The machine's own authorities cannot be used.
    #[error("TLS cannot be used: {0}; put the engine's ca.pem next to its certificates")]
    Library(rustls::Error),
}

/// The fault of a file with a certificate or a key.
#[derive(Debug, thiserror::Error)]
pub enum CertificateFault {
    /// The file cannot be read.
    #[error("cannot be read ({0}); change its permissions or its owner")]
    Unreadable(io::Error),
    /// The file has no certificate.
    #[error("is not a certificate in PEM; export it again")]
    NotCertificate,
    /// The file has no private key.
    #[error("is not a private key in PEM without a password; export it again")]
    NotKey,
    /// The key has no certificate.
    #[error("is missing, although there is a key.pem; put the certificate there")]
    NoCertificate,
    /// The certificate has no key.
    #[error("is missing, although there is a cert.pem; put its key there")]
    NoKey,
    /// The file does not fit the others.
    #[error("cannot be used ({0}); certificate and key must belong together")]
    Refused(rustls::Error),
}

impl CertificateFault {
    pub(crate) fn of(self, path: &Path) -> CertificateError {
        CertificateError::File { path: path.to_owned(), fault: self }
    }
}

/// The reason a connection with TLS failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TlsError {
    /// The engine's certificate is not trusted.
    #[error(
        "its certificate is refused: {0}; check the address, and ca.pem in the context or in \
         DOCKER_CERT_PATH"
    )]
    Untrusted(rustls::Error),
    /// The engine does not trust this client.
    #[error(
        "it refuses the client certificate: {0}; cert.pem and key.pem in the context or in \
         DOCKER_CERT_PATH must be signed for this engine"
    )]
    Refused(rustls::Error),
    /// The server does not speak TLS.
    #[error("it does not use TLS: {0}; name it with http:// if the network is safe")]
    Plain(rustls::Error),
    /// Another failure.
    #[error("TLS failed: {0}; check it with `docker info`")]
    Other(rustls::Error),
}

impl TlsError {
    pub(crate) fn of(error: &rustls::Error) -> TlsError {
        use rustls::Error::{AlertReceived, InvalidCertificate, InvalidMessage};
        let kind = match error {
            InvalidCertificate(_) => TlsError::Untrusted,
            AlertReceived(_) => TlsError::Refused,
            InvalidMessage(_) => TlsError::Plain,
            _ => TlsError::Other,
        };
        kind(error.clone())
    }
}

/// The reason `ssh` gives no connection to an engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .fault.sentence(.destination))]
pub struct SshError {
    /// The other host.
    pub destination: SshDestination,
    /// The fault.
    pub fault: SshFault,
}

/// The other end of an `ssh`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshDestination {
    /// The host with the user.
    pub host: String,
    /// The port, unless it is that of the person's settings.
    pub port: Option<String>,
}

impl SshDestination {
    /// Returns the command that connects, as a person types it.
    fn command(&self) -> String {
        let port = self.port.as_ref().map(|it| format!("-p {it} ")).unwrap_or_default();
        format!("ssh {port}{}", self.host)
    }
}

/// Kinds of failures of `ssh`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SshFault {
    /// The program cannot be started.
    NotStarted(String),
    /// ssh itself failed.
    NoConnection {
        /// The last line of its errors.
        line: String,
    },
    /// The other host has no docker client.
    NoDocker {
        /// The last line of its errors.
        line: String,
    },
    /// The docker client of the other host failed, or ssh was killed.
    Ended {
        /// The exit status; `None` after a signal.
        code: Option<i32>,
        /// The last line of the errors.
        line: String,
    },
    /// The other host prints text before the reply.
    Noise {
        /// The first line of the text.
        line: String,
    },
}

impl SshFault {
    /// Returns the fault of an ssh that ended without a reply of the engine.
    pub(crate) fn of(code: Option<i32>, line: String) -> SshFault {
        match code {
            // The manual of ssh: 255 if an error occurred in ssh itself.
            Some(255) => SshFault::NoConnection { line },
            // Of every shell: no such program.
            Some(127) => SshFault::NoDocker { line },
            code => SshFault::Ended { code, line },
        }
    }

    fn sentence(&self, destination: &SshDestination) -> String {
        let (host, ssh) = (&destination.host, destination.command());
        let said = |line: &String| match line.is_empty() {
            true => String::new(),
            false => format!(": {}", line.trim_end_matches('.')),
        };
        match self {
            SshFault::NotStarted(error) => {
                format!("ssh cannot be started: {error}; check the program with `ssh -V`")
            }
            SshFault::NoConnection { line } => {
                format!("ssh failed{}; `{ssh} true` must work without a question", said(line))
            }
            SshFault::NoDocker { line } => format!(
                "the docker client is missing on {host}{}; install it there, on the PATH of \
                 `{ssh} docker`",
                said(line)
            ),
            SshFault::Ended { code, line } => {
                let code = code.map_or("a signal".to_owned(), |it| it.to_string());
                format!(
                    "docker on {host} ended with {code}{}; check it with `{ssh} docker info`",
                    said(line)
                )
            }
            SshFault::Noise { line } => format!(
                "{host} prints {line:?} before the reply of Docker; remove this output from the \
                 startup files of the shell there"
            ),
        }
    }
}

/// Returns the first cause of the type, including those inside errors of I/O.
pub(crate) fn cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    let inner = inner.and_then(|it| cause::<T>(it));
    let next = || error.source().and_then(|it| cause::<T>(it));
    error.downcast_ref().or(inner).or_else(next)
}
