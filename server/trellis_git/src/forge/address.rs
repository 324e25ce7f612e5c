//! Parses the address of a remote, and decides who may get the token. Pure functions on text.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::TrustError;
use crate::error::AddressError;

/// Hosts of GitHub, including its ssh host on the https port.
const GITHUB: [&str; 3] = ["github.com", "www.github.com", "ssh.github.com"];
const GITHUB_API: &str = "api.github.com";

/// Kind of a forge other than github.com, which decides the paths of its API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Gitea and Forgejo.
    #[default]
    Gitea,
    /// GitHub Enterprise on a host of its own.
    Github,
}

/// Address of a remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The address as given to git.
    pub(super) url: String,
    /// The address as shown to people: without user name and password.
    pub(super) shown: String,
    /// User name and password as written in an http(s) address.
    pub(super) secret: Option<String>,
    /// The repository on a forge; `None` for a folder, and for a path that cannot be a
    /// repository's.
    pub(super) home: Option<Home>,
}

/// A repository on a forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Home {
    /// `http` or `https`.
    scheme: &'static str,
    /// Lowercase host, with a non-default port.
    pub(super) host: String,
    /// Path before the owner: empty, or `/` and names.
    prefix: String,
    pub(super) owner: String,
    pub(super) name: String,
}

impl Address {
    /// Parses an address in git's syntax; relative paths start at `base`.
    ///
    /// # Errors
    ///
    /// The problem, without repeating the address.
    pub(super) fn parse(text: &str, base: &Path) -> Result<Address, AddressError> {
        let text = text.trim();
        if text.is_empty() || text.starts_with('-') || text.chars().any(char::is_control) {
            return Err(AddressError::NoAddress);
        }
        if is_helper(text) {
            return Err(AddressError::Helper);
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            return of_url(text, &scheme.to_ascii_lowercase(), rest);
        }
        match scp(text) {
            Some((host, path)) => of_ssh(text, host, path),
            None => Ok(of_folder(base.join(text))),
        }
    }

    /// Returns whether a text has the form of an address rather than a name.
    pub(super) fn is_typed(text: &str) -> bool {
        text.contains(['/', ':']) || text.starts_with('.')
    }
}

/// Returns whether a text names a remote helper, such as `ext::sh -c …`.
fn is_helper(text: &str) -> bool {
    let name = text.split_once("::").map(|it| it.0);
    name.is_some_and(|it| it.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)))
}

/// Splits `[user@]host:path`: a colon before the first slash.
fn scp(text: &str) -> Option<(&str, &str)> {
    let from = text.find(']').unwrap_or(0);
    let colon = from + text[from..].find(':')?;
    (!text[..colon].contains('/')).then(|| (&text[..colon], &text[colon + 1..]))
}

fn of_folder(path: PathBuf) -> Address {
    let url = path.display().to_string();
    Address { shown: url.clone(), url, secret: None, home: None }
}

fn of_url(text: &str, scheme: &str, rest: &str) -> Result<Address, AddressError> {
    // Programs disagree whether the text before a backslash is the host or a name.
    if rest.contains('\\') {
        return Err(AddressError::Backslash);
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match scheme {
        "file" => {
            Ok(Address { url: text.to_owned(), shown: text.to_owned(), secret: None, home: None })
        }
        "ssh" | "git+ssh" | "ssh+git" => of_ssh(text, authority, path),
        "http" => of_web(text, "http", authority, path),
        "https" => of_web(text, "https", authority, path),
        _ => Err(AddressError::Scheme(scheme.to_owned())),
    }
}

fn of_web(
    text: &str,
    scheme: &'static str,
    authority: &str,
    path: &str,
) -> Result<Address, AddressError> {
    let (user, place) =
        authority.rsplit_once('@').map_or((None, authority), |it| (Some(it.0), it.1));
    let (host, port) = host(place)?;
    let usual = if scheme == "http" { 80 } else { 443 };
    let host = match port.filter(|it| *it != usual) {
        Some(port) => format!("{host}:{port}"),
        None => host,
    };
    let home = segments(path).map(|(prefix, owner, name)| {
        let (host, scheme) =
            if is_github(&host) { (GITHUB[0].to_owned(), "https") } else { (host, scheme) };
        Home { scheme, host, prefix, owner, name }
    });
    let shown = format!("{scheme}://{place}{path}");
    let secret = user.filter(|it| !it.is_empty()).map(str::to_owned);
    Ok(Address { url: text.to_owned(), shown, secret, home })
}

/// Returns the address of an ssh remote. The API of its forge is reached over https.
fn of_ssh(text: &str, authority: &str, path: &str) -> Result<Address, AddressError> {
    let place = authority.rsplit_once('@').map_or(authority, |it| it.1);
    let (host, _) = host(place)?;
    let home = segments(path).map(|(_, owner, name)| {
        let host = if is_github(&host) { GITHUB[0].to_owned() } else { host };
        Home { scheme: "https", host, prefix: String::new(), owner, name }
    });
    let slash = if text.contains("://") { "" } else { ":" };
    Ok(Address { url: text.to_owned(), shown: format!("{place}{slash}{path}"), secret: None, home })
}

fn is_github(host: &str) -> bool {
    GITHUB.contains(&host)
}

/// Returns the lowercase host, and the port. Strict, since programs read odd hosts differently.
fn host(place: &str) -> Result<(String, Option<u16>), AddressError> {
    let end = place.rfind(']').map_or(0, |it| it + 1);
    let (name, port) = match place[end..].split_once(':') {
        Some((rest, port)) => (&place[..end + rest.len()], Some(port)),
        None => (place, None),
    };
    let port = port.map(str::parse).transpose().map_err(|_| AddressError::NoHost)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let inner = name.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let is_host = match inner {
        Some(inner) => inner.parse::<std::net::Ipv6Addr>().is_ok(),
        None => name.chars().all(is_plain) && name.starts_with(|c: char| c.is_ascii_alphanumeric()),
    };
    if is_host { Ok((name.to_ascii_lowercase(), port)) } else { Err(AddressError::NoHost) }
}

/// Returns the path before the owner, the owner, and the repository's name.
fn segments(path: &str) -> Option<(String, String, String)> {
    let path = path.trim_matches('/');
    let all: Vec<&str> = path.strip_suffix(".git").unwrap_or(path).split('/').collect();
    let is_plain = |it: &&str| {
        it.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
            && !["", ".", ".."].contains(it)
    };
    let [prefix @ .., owner, name] = &all[..] else { return None };
    let prefix: String = prefix.iter().map(|it| format!("/{it}")).collect();
    all.iter().all(is_plain).then(|| (prefix, (*owner).to_owned(), (*name).to_owned()))
}

impl Home {
    /// Returns the base address of the forge's API.
    pub(super) fn api(&self, kind: Kind) -> String {
        let Home { scheme, host, prefix, .. } = self;
        match kind {
            _ if host == GITHUB[0] => format!("https://{GITHUB_API}"),
            Kind::Github => format!("{scheme}://{host}/api/v3"),
            Kind::Gitea => format!("{scheme}://{host}{prefix}/api/v1"),
        }
    }

    /// Returns the page on which a person opens a pull request.
    pub(super) fn compare(&self, into: &str, branch: &str) -> String {
        let Home { scheme, host, prefix, owner, name } = self;
        format!("{scheme}://{host}{prefix}/{owner}/{name}/compare/{into}...{branch}")
    }
}

/// The user's own settings about where the token may go. Project settings do not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trust<'a> {
    /// The host that the token is for, with a non-default port. If set, this host alone decides.
    pub(super) host: Option<&'a str>,
    /// True if the user typed the address, so that no project file names the host.
    pub(super) is_typed: bool,
    /// True if the API's address comes from the user's own settings.
    pub(super) is_own: bool,
}

/// Checks that the token may go to the host of an API.
///
/// # Errors
///
/// The host, so that the user can allow it; the reason, if allowing it would not help.
pub(super) fn bound(api: &str, trust: Trust<'_>) -> Result<(), TrustError> {
    let (scheme, rest) = api.split_once("://").unwrap_or(("", api));
    let host = rest.split('/').next().unwrap_or_default().to_ascii_lowercase();
    let named = trust.host.map(|it| it.trim().to_ascii_lowercase());
    let is_meant = match named.as_deref() {
        Some(named) => named == host || (is_github(named) && host == GITHUB_API),
        None => trust.is_typed || trust.is_own,
    };
    if !is_meant {
        let host = if host == GITHUB_API { GITHUB[0].to_owned() } else { host };
        return Err(TrustError::OtherHost { host });
    }
    let is_safe = scheme == "https" || is_loopback(&host) || trust.is_typed || trust.is_own;
    match is_safe {
        true => Ok(()),
        false => Err(TrustError::NotEncrypted { host }),
    }
}

fn is_loopback(host: &str) -> bool {
    let (name, _) = self::host(host).unwrap_or_default();
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Address {
        Address::parse(text, Path::new("/base")).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn forges_are_found_by_the_address_of_the_repository() {
        let table = [
            ("https://github.com/o/r.git", "https://api.github.com", "o/r"),
            ("https://GitHub.com/o/r/", "https://api.github.com", "o/r"),
            ("git@github.com:o/r.git", "https://api.github.com", "o/r"),
            ("ssh://git@ssh.github.com:443/o/r.git", "https://api.github.com", "o/r"),
            ("http://github.com/o/r", "https://api.github.com", "o/r"),
            ("https://git.example/o/r.git", "https://git.example/api/v1", "o/r"),
            ("https://git.example:443/o/r", "https://git.example/api/v1", "o/r"),
            ("https://git.example:3000/o/r", "https://git.example:3000/api/v1", "o/r"),
            ("http://git.example/sub/o/r.x.git", "http://git.example/sub/api/v1", "o/r.x"),
            ("ssh://git@git.example:2222/o/r.git", "https://git.example/api/v1", "o/r"),
            ("git.example:o/r", "https://git.example/api/v1", "o/r"),
            ("me@[::1]:o/r", "https://[::1]/api/v1", "o/r"),
            // Everything before the last @ is a user name.
            ("https://github.com@evil.example/o/r", "https://evil.example/api/v1", "o/r"),
        ];
        for (text, api, repository) in table {
            let home = parse(text).home.unwrap_or_else(|| panic!("{text} has no forge"));
            assert_eq!(home.api(Kind::Gitea), api, "{text}");
            assert_eq!(format!("{}/{}", home.owner, home.name), repository, "{text}");
        }
        let own = parse("https://git.example/o/r").home.expect("a forge");
        assert_eq!(own.api(Kind::Github), "https://git.example/api/v3");
        assert_eq!(
            own.compare("main", "trellis/issue-1"),
            "https://git.example/o/r/compare/main...trellis/issue-1"
        );
    }

    #[test]
    fn folders_and_odd_paths_have_no_forge() {
        for (text, url) in [
            ("../remote.git", "/base/../remote.git"),
            ("/srv/remote.git", "/srv/remote.git"),
            ("./a:b/c", "/base/./a:b/c"),
            ("file:///srv/remote.git", "file:///srv/remote.git"),
        ] {
            let address = parse(text);
            assert_eq!((address.url.as_str(), address.home), (url, None), "{text}");
        }
        for text in [
            "https://git.example/r",
            "https://git.example/../o/r",
            "https://git.example/o/r?x",
            "h:a b/c",
        ] {
            assert_eq!(parse(text).home, None, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "-oProxyCommand=x",
            "ext::sh -c x",
            "https://a b/o/r",
            "https:///o/r",
            "https://evil.example\\@git.example/o/r",
            "ssh://-oProxyCommand=x/o/r",
            "-x:o/r",
            "ftp://git.example/o/r",
            "git://git.example/o/r",
            "https://git.example:99999/o/r",
            "https://git.example/o/r\nx",
            "a@-x:o/r",
        ] {
            assert!(Address::parse(text, Path::new("/base")).is_err(), "{text}");
        }
    }

    #[test]
    fn people_see_no_password() {
        let address = parse("https://me:hunter2@git.example/o/r");
        assert_eq!(address.shown, "https://git.example/o/r");
        assert_eq!(address.secret.as_deref(), Some("me:hunter2"));
        assert_eq!(parse("ssh://git:hunter2@git.example/o/r").shown, "git.example/o/r");
        assert_eq!(parse("git@git.example:o/r").shown, "git.example:o/r");
    }

    #[test]
    fn the_token_goes_where_the_user_said_and_nowhere_else() {
        let named = |host| Trust { host: Some(host), ..Trust::default() };
        let typed = Trust { is_typed: true, ..Trust::default() };
        let own = Trust { is_own: true, ..Trust::default() };
        let table = [
            ("https://git.example/api/v1", Trust::default(), false),
            ("https://git.example/api/v1", named("git.example"), true),
            ("https://git.example/api/v1", named("Git.Example"), true),
            ("https://git.example:3000/api/v1", named("git.example"), false),
            ("https://git.example:3000/api/v1", named("git.example:3000"), true),
            ("https://evil.example/api/v1", named("git.example"), false),
            ("https://evil.example/git.example", named("git.example"), false),
            ("https://api.github.com", named("github.com"), true),
            ("https://api.github.com", named("api.github.com"), true),
            ("https://github.com.evil.example/api/v1", named("github.com"), false),
            ("http://git.example/api/v1", named("git.example"), false),
            ("http://127.0.0.1:3000/api/v1", named("127.0.0.1:3000"), true),
            ("http://[::1]:3000/api/v1", named("[::1]:3000"), true),
            ("https://git.example/api/v1", typed, true),
            ("http://git.example/api/v1", own, true),
            // A token for one host goes to no other host.
            ("https://git.example/api/v1", Trust { host: Some("other.example"), ..typed }, false),
            ("https://git.example/api/v1", Trust { host: Some("other.example"), ..own }, false),
            ("https://git.example/api/v1", Trust { host: Some(""), ..typed }, false),
        ];
        for (api, trust, expected) in table {
            assert_eq!(bound(api, trust).is_ok(), expected, "{api} {trust:?}");
        }
    }
}
