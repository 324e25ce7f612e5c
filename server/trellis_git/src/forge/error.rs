//! Errors of one branch's way to a remote. Each becomes a note of its branch.

use std::sync::Arc;
use std::time::Duration;

use crate::error::GitError;

/// Error of the client for a forge's API.
pub(super) type ClientError = Box<dyn std::error::Error + Send + Sync>;

/// Reason why a branch was not pushed, or has no pull request.
#[derive(Debug, thiserror::Error)]
pub(super) enum ForgeError {
    #[error("there is no local branch {branch}: nothing was pushed")]
    NoLocalBranch { branch: String },
    #[error(
        "{remote} has no branch {into}, so Trellis cannot open a pull request: push {into}, then \
         run the same command again"
    )]
    NoTarget { remote: String, into: String },
    #[error("{branch} does not belong to Trellis and was not changed")]
    NotOurs { branch: String },
    #[error(
        "{remote} has commits on {branch} that Trellis did not push: nothing was pushed; save \
         what you need from them, then remove the branch there"
    )]
    ForeignCommits { remote: String, branch: String },
    #[error(
        "it is merged, but {remote} has commits on it that Trellis did not push: the branch stays \
         there"
    )]
    MergedWithForeignCommits { remote: String },
    #[error("{remote} did not answer earlier: run the same command again when it is reachable")]
    SilentEarlier { remote: String },
    #[error("stopped while {action} {remote}: run the same command again")]
    Cancelled { action: &'static str, remote: String },
    #[error(
        "{remote} did not answer within {} seconds: run the same command again when it is \
         reachable",
        patience.as_secs()
    )]
    Silent { remote: String, patience: Duration },
    #[error(
        "{remote} has commits that are missing here, and Trellis never force-pushes: run `git \
         pull`, then push or run the same command again ({why})"
    )]
    Behind { remote: String, why: String },
    #[error("{action} {remote} failed: {why}; fix this, then run the same command again")]
    Refused { action: &'static str, remote: String, why: String },
    /// Pull requests cannot be opened; `page` is the page on which a person can.
    #[error("no pull request was opened: {why}{}", or_at(page.as_deref()))]
    NoPullRequest { why: Arc<MissingSetting>, page: Option<String> },
    #[error(transparent)]
    PullRequest(#[from] PullRequestError),
    /// The local repository or the record of pushes cannot be used.
    #[error(transparent)]
    Local(#[from] GitError),
}

fn or_at(page: Option<&str>) -> String {
    page.map(|it| format!("; or open one at {it}")).unwrap_or_default()
}

/// Reason why a forge's pull requests cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum MissingSetting {
    #[error("its address has no OWNER/NAME")]
    Repository,
    #[error("set TRELLIS_FORGE_TOKEN to a token for the code host")]
    Token,
    #[error("TRELLIS_FORGE_TOKEN was not sent, because {0}")]
    Trust(TrustError),
    #[error("{0}")]
    Client(ClientError),
}

/// Reason why the token may not go to a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TrustError {
    #[error("the token may not be for {host}: set TRELLIS_FORGE_HOST={host} if it is")]
    OtherHost { host: String },
    #[error("the connection to {host} is not encrypted: use an https or ssh address")]
    NotEncrypted { host: String },
}

/// Error of a request to a forge, with its remedy.
#[derive(Debug, thiserror::Error)]
pub(super) enum PullRequestError {
    #[error("cannot reach {host} for a pull request: {source}; run the same command again later")]
    Unreachable { host: String, source: ClientError },
    #[error(
        "{host} redirects to {place}, and Trellis sends the token nowhere else: give the new \
         address"
    )]
    Redirected { host: String, place: String },
    #[error("{host} answers {status}{}: {}", after_comma(why.as_deref()), advice(*status, repository))]
    Refused { host: String, repository: String, status: u16, why: Option<String> },
    #[error(
        "the answer of {host} is not a pull request: set the address of its API under `[forge]` \
         in your trellis.toml"
    )]
    Odd { host: String },
}

fn after_comma(why: Option<&str>) -> String {
    why.map(|it| format!(", {it}")).unwrap_or_default()
}

fn advice(status: u16, repository: &str) -> String {
    match status {
        401 => "set TRELLIS_FORGE_TOKEN to a valid token".to_owned(),
        403 => format!("the token needs permission to write pull requests of {repository}"),
        404 => format!(
            "{repository} does not exist, the token cannot see it, or the API has another address \
             (`[forge]` in your trellis.toml)"
        ),
        409 | 422 => "open the pull request yourself".to_owned(),
        _ => "run the same command again later".to_owned(),
    }
}
