//! Construction of request URLs from base URLs as users write them.

use std::net::IpAddr;
use std::str::FromStr;

use reqwest::Url;
use thiserror::Error;

/// Ollama's port, used for a host without one.
const OLLAMA_PORT: u16 = 11434;

/// Faults of a base URL. The URL itself is not shown, since it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BaseUrlError {
    /// There is no URL.
    #[error("there is none")]
    Missing,
    /// The text is not a URL.
    #[error(transparent)]
    Malformed(<Url as FromStr>::Err),
    /// The URL has another scheme.
    #[error("it must begin with http:// or https://")]
    Scheme,
    /// The URL could show a password in logs.
    #[error("it contains a user name or password")]
    Credentials,
}

/// Returns the URL of a service path such as `/chat/completions` below a base URL, or below `home`
/// if the base has no path. Bases differ (`/api/v1`, `/v1beta/openai`), so any other path is kept
/// as written. A trailing slash, or the full URL of the service, is accepted too. A query of the
/// service is added to the base's own.
///
/// Only `http` and `https` URLs without user name and password are accepted.
///
/// # Errors
///
/// The fault of the base URL, without repeating the URL.
pub(crate) fn below(base: &str, home: &str, service: &str) -> Result<Url, BaseUrlError> {
    let mut url = Url::parse(base.trim()).map_err(BaseUrlError::Malformed)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(BaseUrlError::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BaseUrlError::Credentials);
    }
    let (service, query) = service.split_once('?').unwrap_or((service, ""));
    let path = url.path().trim_end_matches('/');
    let known = overlap(path, service);
    let path = &path[..path.len() - known];
    let path = if path.is_empty() && known == 0 { home } else { path };
    let path = format!("{path}{service}");
    url.set_path(&path);
    url.set_fragment(None);
    if !query.is_empty() {
        let own = url.query().map(|own| format!("{own}&")).unwrap_or_default();
        url.set_query(Some(&format!("{own}{query}")));
    }
    Ok(url)
}

/// Returns the number of bytes at the end of the path that begin the service path: a base may end
/// in `/v1` already.
fn overlap(path: &str, service: &str) -> usize {
    let ends = service.match_indices('/').map(|(at, _)| at).chain([service.len()]);
    ends.rev().find(|end| path.ends_with(&service[..*end])).unwrap_or_default()
}

/// Returns the base URL for the value of Ollama's variable: a URL, or a host with or without a
/// port. `0.0.0.0`, which a server uses to listen on all addresses, becomes this machine.
pub(crate) fn ollama_base(text: &str) -> String {
    let text = text.trim();
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let Ok(mut url) = Url::parse(&whole) else { return whole };
    if !text.contains("://") && url.port().is_none() {
        // This cannot fail for a URL with a host.
        let _ = url.set_port(Some(OLLAMA_PORT));
    }
    if url.host_str() == Some("0.0.0.0") {
        let _ = url.set_host(Some("127.0.0.1"));
    }
    url.to_string()
}

/// Returns whether the URL points to this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Returns scheme, host and port of a URL, for messages: path and query may hold secrets.
pub(crate) fn origin(location: &str) -> String {
    Url::parse(location)
        .map_or_else(|_| "another path".to_owned(), |url| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(base: Option<&str>) -> Result<Url, BaseUrlError> {
        below(base.unwrap_or("https://api.openai.com/v1"), "/v1", "/chat/completions")
    }

    #[test]
    fn bases_as_users_write_them() {
        let cases = [
            ("http://127.0.0.1:4010", "http://127.0.0.1:4010/v1/chat/completions"),
            ("http://127.0.0.1:4010/", "http://127.0.0.1:4010/v1/chat/completions"),
            (" https://api.openai.com/v1/ ", "https://api.openai.com/v1/chat/completions"),
            (
                "https://api.openai.com/v1/chat/completions",
                "https://api.openai.com/v1/chat/completions",
            ),
            ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
            (
                "https://g.example/v1beta/openai/",
                "https://g.example/v1beta/openai/chat/completions",
            ),
            ("https://a.example/v1?version=2", "https://a.example/v1/chat/completions?version=2"),
        ];
        for (base, expected) in cases {
            assert_eq!(chat(Some(base)).unwrap().as_str(), expected, "{base}");
        }
        assert_eq!(chat(None).unwrap().as_str(), "https://api.openai.com/v1/chat/completions");
    }

    #[test]
    fn a_service_may_have_a_query() {
        let service = "/v1beta/models/m:generate?alt=sse";
        for (base, expected) in [
            ("https://g.example/?k=x", "https://g.example/v1beta/models/m:generate?k=x&alt=sse"),
            ("https://g.example/v1beta", "https://g.example/v1beta/models/m:generate?alt=sse"),
            ("https://g.example/at/", "https://g.example/at/v1beta/models/m:generate?alt=sse"),
        ] {
            assert_eq!(below(base, "", service).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn ollama_may_be_a_bare_host() {
        for (base, expected) in [
            ("box", "http://box:11434/api/embed"),
            ("box:1234", "http://box:1234/api/embed"),
            ("0.0.0.0", "http://127.0.0.1:11434/api/embed"),
            ("https://o.example/proxy/", "https://o.example/proxy/api/embed"),
        ] {
            assert_eq!(below(&ollama_base(base), "", "/api/embed").unwrap().as_str(), expected);
        }
    }

    #[test]
    fn unusable_bases_say_why_without_repeating_themselves() {
        for (base, expected) in [
            ("localhost:8080/v1", "must begin with http"),
            ("api.example/v1", "relative URL"),
            ("http://", "empty host"),
            ("https://me:hunter2@a.example/v1", "user name or password"),
        ] {
            let reason = chat(Some(base)).unwrap_err().to_string();
            assert!(reason.contains(expected) && !reason.contains("hunter2"), "{base}: {reason}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for (base, expected) in [
            ("http://localhost:1", true),
            ("http://my.localhost", true),
            ("http://127.3.2.1", true),
            ("http://[::1]:9", true),
            ("http://localhost.example", false),
            ("http://192.168.0.4", false),
            ("http://127.0.0.1.example", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(base).unwrap()), expected, "{base}");
        }
    }
}
