//! From a base URL as users write it to the address that is asked.

use std::net::IpAddr;

use reqwest::Url;

/// Where the provider itself answers.
const PUBLIC_BASE: &str = "https://api.openai.com/v1";

/// Where Ollama answers if nothing else is said.
const OLLAMA_BASE: &str = "http://127.0.0.1:11434";

/// The address of one service of an OpenAI-compatible API, such as `/chat/completions`. A base without
/// any path gets `/v1`; any other path is taken as written, since services differ (`/api/v1`,
/// `/v1beta/openai`). A slash at the end, or the whole address pasted, is fine too.
///
/// # Errors
///
/// What is wrong with the base URL, without repeating it.
pub(crate) fn openai(base: Option<&str>, service: &str) -> Result<Url, String> {
    below(base.unwrap_or(PUBLIC_BASE), "/v1", service)
}

/// The address of one service of Ollama's own API, such as `/api/embed`. Its variable may hold a bare
/// host and port.
///
/// # Errors
///
/// What is wrong with the base URL, without repeating it.
pub(crate) fn ollama(base: Option<&str>, service: &str) -> Result<Url, String> {
    let base = base.unwrap_or(OLLAMA_BASE).trim();
    let base = if base.contains("://") { base.to_owned() } else { format!("http://{base}") };
    below(&base, "", service)
}

/// A service below a base, or below `home` where the base has no path.
fn below(base: &str, home: &str, service: &str) -> Result<Url, String> {
    let mut url = Url::parse(base.trim()).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("it must begin with http:// or https://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it holds a user name or password".to_owned());
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix(service).unwrap_or(path);
    let path = if path.is_empty() { home } else { path };
    let path = format!("{path}{service}");
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

/// Whether the address is this very machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Scheme, host and port of an address, for messages: path and query may hold what is not for
/// showing.
pub(crate) fn origin(location: &str) -> String {
    Url::parse(location)
        .map_or_else(|_| "another path".to_owned(), |url| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(base: Option<&str>) -> Result<Url, String> {
        openai(base, "/chat/completions")
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
    fn ollama_may_be_a_bare_host() {
        for (base, expected) in [
            (None, "http://127.0.0.1:11434/api/embed"),
            (Some("box:1234"), "http://box:1234/api/embed"),
            (Some("https://o.example/proxy/"), "https://o.example/proxy/api/embed"),
        ] {
            assert_eq!(ollama(base, "/api/embed").unwrap().as_str(), expected);
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
            let reason = chat(Some(base)).unwrap_err();
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
