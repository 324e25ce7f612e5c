//! What a connection to a service needs: an address, a key in its header, a client, knowledge of proxies.

use std::error::Error as _;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use crate::endpoint;
use crate::open_error::OpenError;
use crate::secret::Secret;
use crate::settings::{Settings, Timeouts};

/// Where the HTTP client looks for a proxy.
const PROXIES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Where a kind of service is looked for.
pub(crate) struct Place {
    pub(crate) url_variables: &'static [&'static str],
    pub(crate) keys: &'static [Key],
    /// Whether it may be asked without a key wherever it is, not only on this machine.
    pub(crate) may_be_open: bool,
}

/// A variable that may hold a key, and the header it is sent in.
pub(crate) struct Key {
    pub(crate) variable: &'static str,
    pub(crate) header: KeyHeader,
}

/// How a key is sent; never in an address, which proxies and logs keep.
#[derive(Clone, Copy)]
pub(crate) enum KeyHeader {
    Bearer,
    Named(&'static str),
}

/// The base URL that settings or the environment give.
pub(crate) fn base(
    place: &Place,
    settings: &Settings,
    env: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let set = |variable: &&str| env(variable).filter(|url| !url.trim().is_empty());
    let usual = || place.url_variables.iter().find_map(set);
    let is_own = settings.like.is_some();
    settings.base_url.clone().or_else(|| if is_own { None } else { usual() })
}

/// The variable that names a proxy for addresses of this scheme, if one is set.
pub(crate) fn proxy(scheme: &str, env: &dyn Fn(&str) -> Option<String>) -> Option<&'static str> {
    let applies = |name: &&&str| {
        let of = name.to_lowercase();
        let of = of.trim_end_matches("_proxy");
        of == "all" || of == scheme
    };
    let mut proxies = PROXIES.iter().filter(applies);
    proxies.find(|name| env(name).is_some_and(|it| !it.is_empty())).copied()
}

/// The key with its header: of the settings, of the variable they name, or of the provider's own.
pub(crate) fn key(
    place: &Place,
    settings: &Settings,
    env: &dyn Fn(&str) -> Option<String>,
) -> Option<(Secret, KeyHeader)> {
    let usual = place.keys.first().map_or(KeyHeader::Bearer, |it| it.header);
    let named = || env(settings.key_variable.as_deref()?).and_then(|key| Secret::new(&key));
    if let Some(key) = settings.api_key.clone().or_else(named) {
        return Some((key, usual));
    }
    // A key goes to nobody but its own provider, or where the user said.
    let is_theirs = settings.key_variable.is_none() && settings.like.is_none();
    let usual = place.keys.iter().filter(|_| is_theirs);
    usual.filter_map(|it| Some((Secret::new(&env(it.variable)?)?, it.header))).next()
}

/// The headers of every request; `None` if the key does not fit into one.
pub(crate) fn headers(
    key: Option<&(Secret, KeyHeader)>,
    fixed: &[(&'static str, &'static str)],
) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in fixed {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some((key, header)) = key {
        let (name, value) = match header {
            KeyHeader::Bearer => (AUTHORIZATION, format!("Bearer {}", key.expose())),
            KeyHeader::Named(name) => (HeaderName::from_static(name), key.expose().to_owned()),
        };
        let mut value = HeaderValue::from_str(&value).ok()?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Some(headers)
}

/// A client that sends what it is given where it is told, and nowhere else.
pub(crate) fn client(
    address: &Url,
    headers: HeaderMap,
    timeouts: &Timeouts,
) -> Result<Client, OpenError> {
    let mut builder = Client::builder()
        .default_headers(headers)
        .user_agent(concat!("trellis/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeouts.connect)
        // Neither the key nor a prompt goes anywhere but where the user said.
        .redirect(Policy::none())
        // One place decides on retries: `persist`.
        .retry(reqwest::retry::never());
    if let Some(total) = timeouts.total {
        builder = builder.timeout(total);
    }
    if endpoint::is_loopback(address) {
        builder = builder.no_proxy();
        if address.scheme() == "http" {
            // No TLS, so a machine without root certificates can still use its own model.
            builder = builder.tls_certs_only([]);
        }
    }
    builder.build().map_err(|error| {
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        OpenError::Client { reason }
    })
}
