//! Connections through the person's own `ssh` to `docker system dial-stdio` on the other host, as
//! the docker client makes them. Keys, agents and settings are those of `ssh`.

use std::{
    env, io,
    path::PathBuf,
    process::Stdio,
    task::{Context, Poll},
};

use futures_util::future::{Ready, ready};
use hyper_util::rt::TokioIo;
use tokio::process::Command;

use super::{super::address::Variables, ssh_stream::SshStream};
use crate::error::{AddressError, SshDestination, SshError, SshFault};

/// Time limit of ssh for its connection, in seconds.
const CONNECT_SECONDS: u32 = 10;

/// The arguments that start ssh.
#[derive(Clone, Debug)]
pub(super) struct SshConnector {
    program: PathBuf,
    arguments: Vec<String>,
    destination: SshDestination,
}

impl SshConnector {
    /// Returns the connector of `[user@]host[:port][/socket]`.
    pub(super) fn new(target: &str, variable: Variables<'_>) -> Result<SshConnector, AddressError> {
        let (place, socket) = target.split_once('/').unwrap_or((target, ""));
        let malformed = || AddressError::Malformed("it is not ssh://USER@HOST:PORT".to_owned());
        let authority: hyper::http::uri::Authority = place.parse().map_err(|_| malformed())?;
        let user = place.rsplit_once('@').map(|(user, _)| user);
        if user.is_some_and(|it| it.contains(':')) {
            let reason = "passwords are not supported in addresses, use a key of ssh";
            return Err(AddressError::Malformed(reason.to_owned()));
        }
        let host = authority.host().trim_matches(['[', ']']);
        let is_option = |it: &str| it.is_empty() || it.starts_with('-');
        if is_option(host) || user.is_some_and(is_option) || place.ends_with(':') {
            return Err(malformed());
        }
        let path = variable("PATH").unwrap_or_default();
        let found = env::split_paths(&path).filter(|it| it.is_absolute());
        let program = found.map(|it| it.join("ssh")).find(|it| it.is_file());
        let port = authority.port().map(|it| it.to_string());
        Ok(SshConnector {
            program: program.ok_or(AddressError::NoSsh)?,
            arguments: arguments(host, user, port.as_deref(), socket),
            destination: SshDestination {
                host: user.map_or_else(|| host.to_owned(), |user| format!("{user}@{host}")),
                port,
            },
        })
    }

    fn start(&self) -> Result<SshStream, SshError> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).kill_on_drop(true);
        // Ctrl+C ends Trellis, which still has to remove its containers.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |error: io::Error| SshError {
            destination: self.destination.clone(),
            fault: SshFault::NotStarted(error.to_string()),
        };
        let child = command.spawn().map_err(failed)?;
        let stream = SshStream::of(child, &self.destination);
        stream.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))
    }
}

fn arguments(host: &str, user: Option<&str>, port: Option<&str>, socket: &str) -> Vec<String> {
    let timeout = format!("ConnectTimeout={CONNECT_SECONDS}");
    let mut all = ["-T", "-o", "BatchMode=yes", "-o", &timeout].map(str::to_owned).to_vec();
    for (option, value) in [("-l", user), ("-p", port)] {
        all.extend(value.into_iter().flat_map(|it| [option, it]).map(str::to_owned));
    }
    all.extend(["--", host, "docker"].map(str::to_owned));
    if !socket.is_empty() {
        // The other host's shell reads the words.
        let socket = format!("unix:///{socket}").replace('\'', r"'\''");
        all.extend(["--host".to_owned(), format!("'{socket}'")]);
    }
    all.extend(["system", "dial-stdio"].map(str::to_owned));
    all
}

impl tower_service::Service<hyper::Uri> for SshConnector {
    type Response = TokioIo<SshStream>;
    type Error = SshError;
    type Future = Ready<Result<TokioIo<SshStream>, SshError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), SshError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: hyper::Uri) -> Self::Future {
        ready(self.start().map(TokioIo::new))
    }
}
