//! Parameters of a connection to a service: base URL, key and header, HTTP client, proxy.

use std::error::Error as _;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use crate::endpoint;
use crate::open_error::OpenError;
use crate::secret::Secret;
use crate::settings::{Settings, Timeouts};

/// Environment variables from which the HTTP client reads a proxy.
const PROXIES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Defaults of a kind of service.
pub(crate) struct ServiceDefaults {
    pub(crate) url_variables: &'static [&'static str],
    pub(crate) keys: &'static [KeyVariable],
    /// True if the service needs no key even on another machine.
    pub(crate) may_be_open: bool,
}

/// An environment variable for a key, and the header that carries the key.
pub(crate) struct KeyVariable {
    pub(crate) variable: &'static str,
    pub(crate) header: KeyHeader,
}

/// Header for a key. A key is never part of a URL, because proxies and logs store URLs.
#[derive(Clone, Copy)]
pub(crate) enum KeyHeader {
    Bearer,
    Named(&'static str),
}

/// Returns the base URL from the settings or the environment.
pub(crate) fn base(
    place: &ServiceDefaults,
    settings: &Settings,
    env: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let set = |variable: &&str| env(variable).filter(|url| !url.trim().is_empty());
    let usual = || place.url_variables.iter().find_map(set);
    let is_own = settings.like.is_some();
    settings.base_url.clone().or_else(|| if is_own { None } else { usual() })
}

/// Returns the variable that names a proxy for URLs of this scheme, if one is set.
pub(crate) fn proxy(scheme: &str, env: &dyn Fn(&str) -> Option<String>) -> Option<&'static str> {
    let applies = |name: &&&str| {
        let of = name.to_lowercase();
        let of = of.trim_end_matches("_proxy");
        of == "all" || of == scheme
    };
    let mut proxies = PROXIES.iter().filter(applies);
    proxies.find(|name| env(name).is_some_and(|it| !it.is_empty())).copied()
}

/// Returns the key with its header: from the settings, from the variable that they name, or from
/// the provider's own variable.
pub(crate) fn key(
    place: &ServiceDefaults,
    settings: &Settings,
    env: &dyn Fn(&str) -> Option<String>,
) -> Option<(Secret, KeyHeader)> {
    let usual = place.keys.first().map_or(KeyHeader::Bearer, |it| it.header);
    let named = || env(settings.key_variable.as_deref()?).and_then(|key| Secret::new(&key));
    if let Some(key) = settings.api_key.clone().or_else(named) {
        return Some((key, usual));
    }
    // A key is sent only to its own provider, or to the service chosen by the user.
    let is_theirs = settings.key_variable.is_none() && settings.like.is_none();
    let usual = place.keys.iter().filter(|_| is_theirs);
    usual.filter_map(|it| Some((Secret::new(&env(it.variable)?)?, it.header))).next()
}

/// Returns the headers of every request; `None` if the key does not fit into a header.
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

/// Builds a client that sends data only to the given address.
pub(crate) fn client(
    address: &Url,
    headers: HeaderMap,
    timeouts: &Timeouts,
) -> Result<Client, OpenError> {
    let mut builder = Client::builder()
        .default_headers(headers)
        .user_agent(concat!("trellis/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeouts.connect)
        // A redirect could leak the key or a prompt to another address.
        .redirect(Policy::none())
        // Only `persist` decides on retries.
        .retry(reqwest::retry::never());
    if let Some(total) = timeouts.total {
        builder = builder.timeout(total);
    }
    if endpoint::is_loopback(address) {
        builder = builder.no_proxy();
        if address.scheme() == "http" {
            // Without TLS, a machine without root certificates can use its own model.
            builder = builder.tls_certs_only([]);
        }
    }
    builder.build().map_err(|error| {
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        OpenError::Client { reason }
    })
}
