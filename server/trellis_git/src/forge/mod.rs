//! Pushes results to a remote: the branch that work was merged into, and branches that need review,
//! with a pull request.
//!
//! `address` says where a remote and the API of its forge are, and whether the token may go there;
//! `push` runs git, `pull_requests` calls the API, `push_state` records earlier pushes, `open`
//! combines them. An error here undoes nothing and does not change how the work ended: it becomes a
//! note. The remote itself is asked what is missing, so that every start completes what an earlier
//! one did not reach.
//!
//! A project may come from a stranger. Its `.git/config` may set the address of a *named* remote,
//! as for `git push`; it never decides where the token goes, nor which programs git starts.

mod address;
mod error;
mod open;
mod pull_requests;
mod push;
mod push_state;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;

use tokio_util::sync::CancellationToken;

use crate::error::GitError;
use crate::git::Git;
pub use address::Kind;
use error::ForgeError;
use open::{NoPulls, find, pulls};
use pull_requests::{PullRequests, Request};
use push::{PushError, Pusher};
use push_state::{PendingPush, PushState};
use trellis_store::journal::{Event, Journal};

/// Prefix of Trellis' own branches. No other branch is ever forced or removed.
const OURS: &str = "trellis/";

/// Push destination as given by the user.
#[derive(Clone, Debug)]
pub struct PushTarget {
    /// The name of a remote, or an address.
    pub remote: String,
    /// Base of relative paths.
    pub base: PathBuf,
}

/// A branch, and its state on the remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    pub branch: String,
    /// The page of its pull request.
    pub pull_request: Option<String>,
    /// Failure, and what to do; or a note that the branch was removed after its merge.
    pub note: Option<String>,
}

/// Work that is left for a person.
pub struct UnmergedBranch<'a> {
    pub branch: &'a str,
    /// The target branch.
    pub into: &'a str,
    /// Message of the commit for the merge.
    pub message: &'a str,
    /// Reason why the branch is not merged.
    pub reason: &'a str,
    /// Report of the work, as Markdown; may be empty.
    pub report: &'a str,
}

/// A function that shows a line to a person.
pub type Note<'a> = Box<dyn Fn(String) + Send + Sync + 'a>;

/// Services that a forge uses.
pub struct Services<'a> {
    pub journal: &'a Journal,
    pub note: Note<'a>,
    /// Returns an error in words for a person, with the remedy.
    pub explain: fn(&GitError) -> String,
    pub cancel: &'a CancellationToken,
}

/// Settings of the forge that hosts pull requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForgeSettings {
    /// Address of the forge's API. `None` to derive it from the remote's address. Only the user's
    /// own file may set it.
    pub url: Option<String>,
    /// Kind of the forge, if it is not github.com; Gitea by default.
    pub kind: Option<Kind>,
}

/// A remote, for one or more pieces of work.
pub struct Forge<'a> {
    git: Git,
    journal: &'a Journal,
    note: Note<'a>,
    explain: fn(&GitError) -> String,
    shown: String,
    carrier: Pusher,
    /// Client for pull requests, or the reason why none can be opened.
    pulls: Result<PullRequests, NoPulls>,
    known: PushState,
    is_silent: AtomicBool,
    said: Mutex<Vec<Pushed>>,
}

impl<'a> Forge<'a> {
    /// Finds the remote, without contacting it.
    ///
    /// # Errors
    ///
    /// An unknown remote, an invalid address, or invalid settings.
    pub fn open(
        wanted: &PushTarget,
        home: &Path,
        git: Git,
        settings: ForgeSettings,
        services: Services<'a>,
    ) -> Result<Forge<'a>, GitError> {
        let (address, is_typed) = find(wanted, &git)?;
        let carrier = Pusher::open(&git, home, &address, services.cancel)?;
        let pulls = pulls(&address, is_typed, settings);
        let known = PushState::of(home, &address.shown);
        let (is_silent, said) = (AtomicBool::new(false), Mutex::default());
        Ok(Forge {
            git,
            journal: services.journal,
            note: services.note,
            explain: services.explain,
            shown: address.shown,
            carrier,
            pulls,
            known,
            is_silent,
            said,
        })
    }

    /// Returns the results per branch, in the order in which branches first appeared.
    pub fn results(&self) -> Vec<Pushed> {
        self.said.lock().map(|it| it.clone()).unwrap_or_default()
    }

    /// Records a merge that is about to be made, so that it is pushed whatever happens afterwards.
    pub fn record_pending(&self, into: &str, commit: &str, branch: &str) -> Result<(), GitError> {
        let [into, commit, branch] = [into, commit, branch].map(str::to_owned);
        self.known.change(|it| it.owed.push(PendingPush { into, commit, branch }))
    }

    /// Pushes recorded merges that were not pushed yet.
    pub async fn push_pending(&self) {
        let owed = match self.known.read() {
            Ok(it) => it.owed,
            Err(error) => return self.say(OURS, None, Some((self.explain)(&error))),
        };
        for it in owed {
            match self.git.is_ancestor(&it.commit, &head(&it.into)) {
                Ok(true) if !self.merged(&it.into, std::slice::from_ref(&it.branch)).await => {
                    continue;
                }
                Ok(_) => {}
                Err(error) => {
                    self.noted(&it.into, Err(error.into()));
                    continue;
                }
            }
            self.noted(&it.into, self.known.change(|all| all.owed.retain(|other| *other != it)));
        }
    }

    /// Pushes a branch that work was merged into, fast-forward only, and removes the branches of
    /// that work as far as Trellis pushed them. Returns whether the remote has the target now.
    pub async fn merged(&self, into: &str, branches: &[String]) -> bool {
        if !self.push_target(into).await {
            return false;
        }
        for branch in branches {
            match self.removed(branch).await {
                Ok(true) => {
                    self.say(branch, None, Some("merged, and removed from the remote".to_owned()))
                }
                Ok(false) => {}
                Err(error) => self.say(branch, None, Some(self.words(&error))),
            }
        }
        true
    }

    /// Pushes a local branch, fast-forward only. Returns whether the remote has it now.
    pub async fn push_target(&self, into: &str) -> bool {
        let came = self.forward(into).await;
        let is_there = came.is_ok();
        self.say(into, None, came.err().map(|it| self.words(&it)));
        is_there
    }

    async fn forward(&self, into: &str) -> Result<(), ForgeError> {
        let unknown = || ForgeError::NoLocalBranch { branch: into.to_owned() };
        let tip = self.tip(into)?.ok_or_else(unknown)?;
        let tips = self.tips(&[into]).await?;
        if tips.get(into) == Some(&tip) {
            return Ok(());
        }
        self.push(into, Some(&tip), None).await
    }

    /// Pushes the branch of work that a person has to review, and opens a pull request for it.
    pub async fn push_for_review(&self, left: &UnmergedBranch<'_>) {
        let came = match self.carried(left).await {
            Ok(false) => return,
            Ok(true) => self.offered(left).await,
            Err(error) => Err(error),
        };
        match came {
            Ok(page) => self.say(left.branch, page, None),
            Err(error) => self.say(left.branch, None, Some(self.words(&error))),
        }
    }

    /// Pushes the branch. Returns whether there is anything to review.
    async fn carried(&self, left: &UnmergedBranch<'_>) -> Result<bool, ForgeError> {
        let Some(tip) = self.tip(left.branch)? else { return Ok(false) };
        if self.is_before(&tip, &head(left.into))? {
            return Ok(false);
        }
        let tips = self.tips(&[left.branch, left.into]).await?;
        let there = tips.get(left.branch).map(String::as_str);
        if there != Some(&tip) {
            self.moved(left.branch, &tip, there).await?;
        }
        if tips.contains_key(left.into) || matches!(self.pulls, Err(NoPulls::Folder)) {
            return Ok(true);
        }
        Err(ForgeError::NoTarget { remote: self.shown.clone(), into: left.into.to_owned() })
    }

    /// Opens a pull request and returns its page; `None` for a folder, which has no pull requests.
    async fn offered(&self, left: &UnmergedBranch<'_>) -> Result<Option<String>, ForgeError> {
        let asked = match &self.pulls {
            Ok(pulls) => self.request(pulls, left).await,
            Err(NoPulls::Folder) => return Ok(None),
            Err(NoPulls::Lacking { why, home }) => {
                let page = home.as_ref().map(|it| it.compare(left.into, left.branch));
                return Err(ForgeError::NoPullRequest { why: why.clone(), page });
            }
        };
        if let Ok(Some(url)) = &asked {
            (self.note)(format!("{}: {url}", left.branch));
        }
        self.journaled(&["(pull request)", left.branch, left.into], &asked);
        asked
    }

    /// Moves a branch of Trellis on the remote, if the remote's commits on it come from Trellis.
    async fn moved(&self, branch: &str, tip: &str, there: Option<&str>) -> Result<(), ForgeError> {
        if !branch.starts_with(OURS) {
            return Err(ForgeError::NotOurs { branch: branch.to_owned() });
        }
        let known = self.of_ours(branch)?;
        if let Some(there) = there
            && !known.iter().any(|it| it == there)
            && !self.is_before(there, tip)?
        {
            let (remote, branch) = (self.shown.clone(), branch.to_owned());
            return Err(ForgeError::ForeignCommits { remote, branch });
        }
        let both =
            |there: Option<&str>| there.into_iter().chain([tip]).map(str::to_owned).collect();
        self.remember(branch, both(there))?;
        self.push(branch, Some(tip), Some(there.unwrap_or_default())).await?;
        self.remember(branch, both(None))
    }

    /// Removes a branch on the remote if it is as Trellis pushed it. Returns whether the branch
    /// existed there.
    async fn removed(&self, branch: &str) -> Result<bool, ForgeError> {
        let known = self.of_ours(branch)?;
        if known.is_empty() || !branch.starts_with(OURS) {
            return Ok(false);
        }
        let there = self.tips(&[branch]).await?.remove(branch);
        if let Some(there) = &there {
            if !known.contains(there) {
                let remote = self.shown.clone();
                return Err(ForgeError::MergedWithForeignCommits { remote });
            }
            self.push(branch, None, Some(there)).await?;
        }
        self.known.change(|it| drop(it.branches.remove(branch)))?;
        Ok(there.is_some())
    }

    /// Returns the commits at which the remote's branch may be if only Trellis moved it.
    fn of_ours(&self, branch: &str) -> Result<Vec<String>, ForgeError> {
        let known = self.known.read()?;
        Ok(known.branches.get(branch).cloned().unwrap_or_default())
    }

    fn remember(&self, branch: &str, commits: Vec<String>) -> Result<(), ForgeError> {
        Ok(self.known.change(|it| drop(it.branches.insert(branch.to_owned(), commits)))?)
    }

    async fn request(
        &self,
        pulls: &PullRequests,
        left: &UnmergedBranch<'_>,
    ) -> Result<Option<String>, ForgeError> {
        let title = left.message.lines().next().unwrap_or_default();
        let (title, body): (String, String) = (title.chars().take(200).collect(), body(left));
        let it = Request { into: left.into, branch: left.branch, title: &title, body: &body };
        tokio::select! {
            () = self.carrier.cancel.cancelled() => Err(self.notify(PushError::Cancelled, "opening a pull request at")),
            asked = pulls.show(&it) => Ok(asked?),
        }
    }

    async fn tips(&self, branches: &[&str]) -> Result<BTreeMap<String, String>, ForgeError> {
        self.is_spoken_to()?;
        self.carrier.tips(branches).await.map_err(|error| self.notify(error, "reading"))
    }

    /// Pushes a branch, and journals the push.
    async fn push(
        &self,
        branch: &str,
        commit: Option<&str>,
        seen: Option<&str>,
    ) -> Result<(), ForgeError> {
        self.is_spoken_to()?;
        let pushed = self.carrier.push(branch, commit, seen).await;
        let pushed = pushed.map_err(|error| self.notify(error, "pushing to"));
        let what = format!("{}:refs/heads/{branch}", commit.unwrap_or_default());
        self.journaled(&["push", &self.shown, &what], &pushed);
        if pushed.is_ok() && commit.is_some() {
            (self.note)(format!("pushed {branch} to {}", self.shown));
        }
        pushed
    }

    fn is_spoken_to(&self) -> Result<(), ForgeError> {
        match self.is_silent.load(Ordering::Relaxed) {
            true => Err(ForgeError::SilentEarlier { remote: self.shown.clone() }),
            false => Ok(()),
        }
    }

    fn notify(&self, error: PushError, action: &'static str) -> ForgeError {
        let remote = self.shown.clone();
        match error {
            PushError::Cancelled => ForgeError::Cancelled { action, remote },
            PushError::Silent(patience) => {
                self.is_silent.store(true, Ordering::Relaxed);
                ForgeError::Silent { remote, patience }
            }
            PushError::Behind(why) => ForgeError::Behind { remote, why },
            PushError::Refused(why) => ForgeError::Refused { action, remote, why },
        }
    }

    /// Returns an error in words for a person.
    fn words(&self, error: &ForgeError) -> String {
        match error {
            ForgeError::Local(error) => (self.explain)(error),
            other => other.to_string(),
        }
    }

    /// Returns the local commit of a branch.
    fn tip(&self, branch: &str) -> Result<Option<String>, GitError> {
        Ok(self.git.resolve(&head(branch))?)
    }

    /// Returns whether one commit equals or precedes another; false if it is unknown locally.
    fn is_before(&self, one: &str, other: &str) -> Result<bool, GitError> {
        Ok(self.git.is_ancestor(one, other)?)
    }

    fn noted(&self, branch: &str, done: Result<(), GitError>) {
        if let Err(error) = done {
            self.say(branch, None, Some((self.explain)(&error)));
        }
    }

    /// Sets the entry of a branch; the last call per branch wins.
    fn say(&self, branch: &str, pull_request: Option<String>, note: Option<String>) {
        if let Some(note) = &note {
            (self.note)(format!("{branch}: {note}"));
        }
        let entry = Pushed { branch: branch.to_owned(), pull_request, note };
        // No code panics while it holds this lock.
        let Ok(mut said) = self.said.lock() else { return };
        match said.iter_mut().find(|it| it.branch == branch) {
            Some(old) => *old = entry,
            None => said.push(entry),
        }
    }

    fn journaled<T>(&self, arguments: &[&str], came: &Result<T, ForgeError>) {
        let outcome = came.as_ref().map_or_else(ToString::to_string, |_| "done".to_owned());
        let arguments = arguments.iter().map(ToString::to_string).collect();
        // A failed log is ignored: the work is over and journaled, and the result says the same.
        let _ = self.journal.log(Event::Git { arguments, outcome });
    }
}

fn head(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

/// Returns the text of a pull request. The reason holds output of tests and models, so it is fenced
/// as plain text.
fn body(left: &UnmergedBranch<'_>) -> String {
    let longest = left.reason.split(|it| it != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let report = left.report.trim();
    let report = if report.is_empty() { String::new() } else { format!("\n{report}\n") };
    format!(
        "Trellis needs your review of this:\n\n{fence}\n{}\n{fence}\n{report}",
        left.reason.trim()
    )
}
