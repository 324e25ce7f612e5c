//! Connections to engines: sockets, TCP with and without TLS, the person's own `ssh`.
//!
//! bollard speaks HTTP over sockets and plain TCP itself. For the others, this module gives it a
//! transport. bollard's own one for TLS requires a client certificate, always trusts the machine's
//! authorities as well, and knows nothing of `SkipTLSVerify`.

mod refusal;
mod ssh;
mod ssh_stream;
mod tls;

use bollard::{API_DEFAULT_VERSION, BollardRequest, Docker};
use hyper_util::{
    client::legacy::{Client, connect::Connect},
    rt::{TokioExecutor, TokioTimer},
};

use self::{refusal::RefusalConnector, ssh::SshConnector};
use super::address::{EngineAddress, Variables};
use crate::error::{AddressError, EngineFailure};

/// Time limit for a reply in seconds, that of bollard's own transports.
const REPLY_SECONDS: u64 = 120;

/// Returns a client of the engine at `address`. Connects only when the first request is sent.
pub(super) fn open(
    address: &EngineAddress,
    variable: Variables<'_>,
) -> Result<Docker, AddressError> {
    let host = address.host.as_str();
    if let Some(target) = host.strip_prefix("ssh://") {
        let connector = SshConnector::new(target, variable)?;
        return through(connector, "http://docker");
    }
    let tcp = host.strip_prefix("tcp://").or_else(|| host.strip_prefix("https://"));
    match (tcp, &address.tls) {
        (Some(authority), Some(settings)) => {
            let url = tls::url(authority, host.starts_with("tcp://"))?;
            through(tls::connector(settings)?, &url)
        }
        _ if ["unix://", "tcp://", "http://"].iter().any(|it| host.starts_with(it)) => {
            Ok(Docker::connect_with_host(host)?)
        }
        _ => Err(AddressError::Scheme),
    }
}

/// Returns a client that sends its requests to `url` over the connections of `connector`.
fn through<C>(connector: C, url: &str) -> Result<Docker, AddressError>
where
    RefusalConnector<C>: Connect + Clone + Send + Sync + 'static,
{
    let mut builder = Client::builder(TokioExecutor::new());
    let client = builder.pool_timer(TokioTimer::new()).build(RefusalConnector(connector));
    let send = move |request: BollardRequest| {
        let response = client.request(request);
        async move { Ok(response.await?) }
    };
    let version = API_DEFAULT_VERSION;
    let docker = Docker::connect_with_custom_transport(send, Some(url), REPLY_SECONDS, version);
    docker.map_err(|error| AddressError::Failed(EngineFailure(error)))
}
