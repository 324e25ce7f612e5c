//! Resolves the user's push target: address of the remote, and client for its pull requests.

use std::path::{Path, PathBuf};

use super::address::{Address, Home, Trust, bound};
use super::pull_requests::PullRequests;
use super::{ForgeSettings, PushTarget};
use crate::git::Git;
use trellis_store::fault::Fault;

/// Reason why there are no pull requests.
pub(super) enum NoPulls {
    /// The remote is a folder.
    Folder,
    /// The forge could have pull requests, but something is missing; `why` says what.
    Lacking { why: String, home: Option<Box<Home>> },
}

/// Returns the address of a remote, and whether the user typed it.
pub(super) fn find(wanted: &PushTarget, git: &Git) -> Result<(Address, bool), Fault> {
    let text = wanted.remote.trim();
    let names = git.run(&["remote"]).unwrap_or_default();
    // An address keeps its meaning even if a remote of the project has the same name.
    let is_address = text.contains(':') || text.starts_with(['.', '/']);
    let is_named = !is_address && names.lines().any(|it| it == text);
    if !is_named && !Address::is_typed(text) {
        return Err(Fault::input(format!("there is no remote {text:?}")).hint(
            "give a name from `git remote`, an address, or the path of a repository (`./NAME`)",
        ));
    }
    if !is_named {
        let base = wanted.base.join(".");
        let base = std::path::absolute(&base).unwrap_or(base);
        return Ok((parsed(text, &base)?, true));
    }
    let set = |key: &str| git.run(&["config", "--get", &format!("remote.{text}.{key}")]).ok();
    let url = set("pushurl").or_else(|| set("url")).unwrap_or_default();
    let top = git.run(&["rev-parse", "--show-toplevel"]).unwrap_or_default();
    let top = PathBuf::from(top.trim_end_matches('\n'));
    let address = parsed(&url, &top)?;
    match is_below(&address, &top) {
        false => Ok((address, false)),
        true => Err(Fault::input(format!(
            "the remote {text} is, or may be, a folder of the project itself, and git would run \
             its hooks"
        ))
        .hint("give its path if you want that")),
    }
}

fn parsed(text: &str, base: &Path) -> Result<Address, Fault> {
    Address::parse(text, base).map_err(|why| {
        Fault::input(format!("cannot use the remote's address: {why}"))
            .hint("give one such as https://HOST/OWNER/NAME, HOST:OWNER/NAME, or a path")
    })
}

/// Returns whether an address is a folder below `top`.
fn is_below(address: &Address, top: &Path) -> bool {
    let file = address.url.strip_prefix("file://");
    // Other spellings of a path are not interpreted here, and count as below.
    if file.is_some_and(|it| !it.starts_with('/') || it.contains('%')) {
        return true;
    }
    let path = file.unwrap_or(&address.url);
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    address.home.is_none() && real(Path::new(path)).starts_with(real(top))
}

/// Returns the client for pull requests, or the reason why there is none.
pub(super) fn pulls(
    address: &Address,
    is_typed: bool,
    settings: ForgeSettings,
) -> Result<PullRequests, NoPulls> {
    let env = |name: &str| std::env::var(name).ok();
    let Some(home) = &address.home else {
        let why = "its address has no OWNER/NAME".to_owned();
        let is_folder = Path::new(&address.url).is_absolute() || address.url.starts_with("file:");
        return Err(if is_folder { NoPulls::Folder } else { NoPulls::Lacking { why, home: None } });
    };
    let lacking = |why| Err(NoPulls::Lacking { why, home: Some(Box::new(home.clone())) });
    let (is_own, api) = match settings.url {
        Some(url) => (true, url),
        None => (false, home.api(settings.kind.unwrap_or_default())),
    };
    let Some(token) = env("TRELLIS_FORGE_TOKEN").and_then(|it| trellis_llm::Secret::new(&it))
    else {
        return lacking("set TRELLIS_FORGE_TOKEN to a token for the code host".to_owned());
    };
    let host = env("TRELLIS_FORGE_HOST");
    if let Err(why) = bound(&api, Trust { host: host.as_deref(), is_typed, is_own }) {
        return lacking(format!("TRELLIS_FORGE_TOKEN was not sent, because {why}"));
    }
    match PullRequests::open(&api, token, home) {
        Ok(pulls) => Ok(pulls),
        Err(why) => lacking(why),
    }
}
