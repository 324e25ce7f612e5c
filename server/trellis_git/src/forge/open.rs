//! Resolves the user's push target: address of the remote, and client for its pull requests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::address::{Address, Home, Trust, bound};
use super::error::MissingSetting;
use super::pull_requests::PullRequests;
use super::{ForgeSettings, PushTarget};
use crate::error::RemoteError;
use crate::git::Git;

/// Reason why there are no pull requests.
pub(super) enum NoPulls {
    /// The remote is a folder.
    Folder,
    /// The forge could have pull requests, but a setting is missing.
    Lacking { why: Arc<MissingSetting>, home: Option<Box<Home>> },
}

/// Returns the address of a remote, and whether the user typed it.
pub(super) fn find(wanted: &PushTarget, git: &Git) -> Result<(Address, bool), RemoteError> {
    let text = wanted.remote.trim();
    let names = git.run(&["remote"]).unwrap_or_default();
    // An address keeps its meaning even if a remote of the project has the same name.
    let is_address = text.contains(':') || text.starts_with(['.', '/']);
    let is_named = !is_address && names.lines().any(|it| it == text);
    if !is_named && !Address::is_typed(text) {
        return Err(RemoteError::Unknown { name: text.to_owned() });
    }
    if !is_named {
        let base = wanted.base.join(".");
        let base = std::path::absolute(&base).unwrap_or(base);
        return Ok((Address::parse(text, &base)?, true));
    }
    let set = |key: &str| git.run(&["config", "--get", &format!("remote.{text}.{key}")]).ok();
    let url = set("pushurl").or_else(|| set("url")).unwrap_or_default();
    let top = git.run(&["rev-parse", "--show-toplevel"]).unwrap_or_default();
    let top = PathBuf::from(top.trim_end_matches('\n'));
    let address = Address::parse(&url, &top)?;
    match is_below(&address, &top) {
        false => Ok((address, false)),
        true => Err(RemoteError::InsideProject { name: text.to_owned() }),
    }
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
        let why = Arc::new(MissingSetting::Repository);
        let is_folder = Path::new(&address.url).is_absolute() || address.url.starts_with("file:");
        return Err(if is_folder { NoPulls::Folder } else { NoPulls::Lacking { why, home: None } });
    };
    let lacking =
        |why| Err(NoPulls::Lacking { why: Arc::new(why), home: Some(Box::new(home.clone())) });
    let (is_own, api) = match settings.url {
        Some(url) => (true, url),
        None => (false, home.api(settings.kind.unwrap_or_default())),
    };
    let Some(token) = env("TRELLIS_FORGE_TOKEN").and_then(|it| trellis_llm::Secret::new(&it))
    else {
        return lacking(MissingSetting::Token);
    };
    let host = env("TRELLIS_FORGE_HOST");
    if let Err(why) = bound(&api, Trust { host: host.as_deref(), is_typed, is_own }) {
        return lacking(MissingSetting::Trust(why));
    }
    match PullRequests::open(&api, token, home) {
        Ok(pulls) => Ok(pulls),
        Err(why) => lacking(MissingSetting::Client(why)),
    }
}
