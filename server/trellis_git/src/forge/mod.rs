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

use crate::git::Git;
pub use address::Kind;
use open::{NoPulls, find, pulls};
use pull_requests::{PullRequests, Request};
use push::{PushError, Pusher};
use push_state::{PendingPush, PushState};
use trellis_store::fault::Fault;
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
    ) -> Result<Forge<'a>, Fault> {
        let (address, is_typed) = find(wanted, &git)?;
        let carrier = Pusher::open(&git, home, &address, services.cancel)?;
        let pulls = pulls(&address, is_typed, settings);
        let known = PushState::of(home, &address.shown);
        let (is_silent, said) = (AtomicBool::new(false), Mutex::default());
        Ok(Forge {
            git,
            journal: services.journal,
            note: services.note,
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
    pub fn record_pending(&self, into: &str, commit: &str, branch: &str) -> Result<(), Fault> {
        let [into, commit, branch] = [into, commit, branch].map(str::to_owned);
        self.known.change(|it| it.owed.push(PendingPush { into, commit, branch }))
    }

    /// Pushes recorded merges that were not pushed yet.
    pub async fn push_pending(&self) {
        let owed = match self.known.read() {
            Ok(it) => it.owed,
            Err(fault) => return self.say(OURS, None, Some(note(&fault))),
        };
        for it in owed {
            let is_there = ["merge-base", "--is-ancestor", &it.commit, &head(&it.into)];
            let is_made = self.git.answer(&is_there).is_ok_and(|it| it.0 == 0);
            if is_made && !self.merged(&it.into, std::slice::from_ref(&it.branch)).await {
                continue;
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
                Err(why) => self.say(branch, None, Some(why)),
            }
        }
        true
    }

    /// Pushes a local branch, fast-forward only. Returns whether the remote has it now.
    pub async fn push_target(&self, into: &str) -> bool {
        let came = self.forward(into).await;
        let is_there = came.is_ok();
        self.say(into, None, came.err());
        is_there
    }

    async fn forward(&self, into: &str) -> Result<(), String> {
        let tip = self
            .tip(into)
            .ok_or_else(|| format!("there is no local branch {into}: nothing was pushed"))?;
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
            Err(why) => Err(why),
        };
        match came {
            Ok(page) => self.say(left.branch, page, None),
            Err(why) => self.say(left.branch, None, Some(why)),
        }
    }

    /// Pushes the branch. Returns whether there is anything to review.
    async fn carried(&self, left: &UnmergedBranch<'_>) -> Result<bool, String> {
        let tip = self.tip(left.branch).filter(|it| !self.is_before(it, &head(left.into)));
        let Some(tip) = tip else { return Ok(false) };
        let tips = self.tips(&[left.branch, left.into]).await?;
        let there = tips.get(left.branch).map(String::as_str);
        if there != Some(&tip) {
            self.moved(left.branch, &tip, there).await?;
        }
        if tips.contains_key(left.into) || matches!(self.pulls, Err(NoPulls::Folder)) {
            return Ok(true);
        }
        let (shown, into) = (&self.shown, left.into);
        Err(format!(
            "{shown} has no branch {into}, so Trellis cannot open a pull request: push {into}, \
             then run the same command again"
        ))
    }

    /// Opens a pull request and returns its page; `None` for a folder, which has no pull requests.
    async fn offered(&self, left: &UnmergedBranch<'_>) -> Result<Option<String>, String> {
        let asked = match &self.pulls {
            Ok(pulls) => self.request(pulls, left).await,
            Err(NoPulls::Folder) => return Ok(None),
            Err(NoPulls::Lacking { why, home }) => {
                let page = home.as_ref().map(|it| it.compare(left.into, left.branch));
                let page = page.map(|it| format!("; or open one at {it}")).unwrap_or_default();
                return Err(format!("no pull request was opened: {why}{page}"));
            }
        };
        if let Ok(Some(url)) = &asked {
            (self.note)(format!("{}: {url}", left.branch));
        }
        self.journaled(&["(pull request)", left.branch, left.into], &asked);
        asked
    }

    /// Moves a branch of Trellis on the remote, if the remote's commits on it come from Trellis.
    async fn moved(&self, branch: &str, tip: &str, there: Option<&str>) -> Result<(), String> {
        if !branch.starts_with(OURS) {
            return Err(format!("{branch} does not belong to Trellis and was not changed"));
        }
        let known = self.of_ours(branch)?;
        if let Some(there) = there
            && !known.iter().any(|it| it == there)
            && !self.is_before(there, tip)
        {
            return Err(format!(
                "{} has commits on {branch} that Trellis did not push: nothing was pushed; save \
                 what you need from them, then remove the branch there",
                self.shown
            ));
        }
        let both =
            |there: Option<&str>| there.into_iter().chain([tip]).map(str::to_owned).collect();
        self.remember(branch, both(there))?;
        self.push(branch, Some(tip), Some(there.unwrap_or_default())).await?;
        self.remember(branch, both(None))
    }

    /// Removes a branch on the remote if it is as Trellis pushed it. Returns whether the branch
    /// existed there.
    async fn removed(&self, branch: &str) -> Result<bool, String> {
        let known = self.of_ours(branch)?;
        if known.is_empty() || !branch.starts_with(OURS) {
            return Ok(false);
        }
        let there = self.tips(&[branch]).await?.remove(branch);
        if let Some(there) = &there {
            if !known.contains(there) {
                return Err(format!(
                    "it is merged, but {} has commits on it that Trellis did not push: the \
                     branch stays there",
                    self.shown
                ));
            }
            self.push(branch, None, Some(there)).await?;
        }
        let forgotten = self.known.change(|it| drop(it.branches.remove(branch)));
        forgotten.map_err(|fault| note(&fault))?;
        Ok(there.is_some())
    }

    /// Returns the commits at which the remote's branch may be if only Trellis moved it.
    fn of_ours(&self, branch: &str) -> Result<Vec<String>, String> {
        let known = self.known.read().map_err(|fault| note(&fault))?;
        Ok(known.branches.get(branch).cloned().unwrap_or_default())
    }

    fn remember(&self, branch: &str, commits: Vec<String>) -> Result<(), String> {
        let written = self.known.change(|it| drop(it.branches.insert(branch.to_owned(), commits)));
        written.map_err(|fault| note(&fault))
    }

    async fn request(
        &self,
        pulls: &PullRequests,
        left: &UnmergedBranch<'_>,
    ) -> Result<Option<String>, String> {
        let title = left.message.lines().next().unwrap_or_default();
        let (title, body): (String, String) = (title.chars().take(200).collect(), body(left));
        let it = Request { into: left.into, branch: left.branch, title: &title, body: &body };
        tokio::select! {
            () = self.carrier.cancel.cancelled() => Err(self.notify(PushError::Cancelled, "opening a pull request at")),
            asked = pulls.show(&it) => asked,
        }
    }

    async fn tips(&self, branches: &[&str]) -> Result<BTreeMap<String, String>, String> {
        self.is_spoken_to()?;
        self.carrier.tips(branches).await.map_err(|why| self.notify(why, "reading"))
    }

    /// Pushes a branch, and journals the push.
    async fn push(
        &self,
        branch: &str,
        commit: Option<&str>,
        seen: Option<&str>,
    ) -> Result<(), String> {
        self.is_spoken_to()?;
        let pushed = self.carrier.push(branch, commit, seen).await;
        let pushed = pushed.map_err(|why| self.notify(why, "pushing to"));
        let what = format!("{}:refs/heads/{branch}", commit.unwrap_or_default());
        self.journaled(&["push", &self.shown, &what], &pushed);
        if pushed.is_ok() && commit.is_some() {
            (self.note)(format!("pushed {branch} to {}", self.shown));
        }
        pushed
    }

    fn is_spoken_to(&self) -> Result<(), String> {
        match self.is_silent.load(Ordering::Relaxed) {
            true => Err(format!(
                "{} did not answer earlier: run the same command again when it is reachable",
                self.shown
            )),
            false => Ok(()),
        }
    }

    fn notify(&self, why: PushError, what: &str) -> String {
        let shown = &self.shown;
        match why {
            PushError::Cancelled => {
                format!("stopped while {what} {shown}: run the same command again")
            }
            PushError::Silent(patience) => {
                self.is_silent.store(true, Ordering::Relaxed);
                let seconds = patience.as_secs();
                format!(
                    "{shown} did not answer within {seconds} seconds: run the same command \
                     again when it is reachable"
                )
            }
            PushError::Refused(why)
                if why.contains("fetch first") || why.contains("non-fast-forward") =>
            {
                format!(
                    "{shown} has commits that are missing here, and Trellis never force-pushes: \
                     run `git pull`, then push or run the same command again ({why})"
                )
            }
            PushError::Refused(why) => {
                format!("{what} {shown} failed: {why}; fix this, then run the same command again")
            }
        }
    }

    /// Returns the local commit of a branch.
    fn tip(&self, branch: &str) -> Option<String> {
        let tip = self.git.run(&["rev-parse", "--verify", "--quiet", &head(branch)]).ok()?;
        Some(tip.trim().to_owned())
    }

    /// Returns whether one commit equals or precedes another; false if it is unknown locally.
    fn is_before(&self, one: &str, other: &str) -> bool {
        let asked = ["merge-base", "--is-ancestor", one, other];
        self.git.answer(&asked).is_ok_and(|it| it.0 == 0)
    }

    fn noted(&self, branch: &str, done: Result<(), Fault>) {
        if let Err(fault) = done {
            self.say(branch, None, Some(note(&fault)));
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

    fn journaled<T>(&self, arguments: &[&str], came: &Result<T, String>) {
        let outcome = came.as_ref().map_or_else(Clone::clone, |_| "done".to_owned());
        let arguments = arguments.iter().map(ToString::to_string).collect();
        // A failed log is ignored: the work is over and journaled, and the result says the same.
        let _ = self.journal.log(Event::Git { arguments, outcome });
    }
}

fn head(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

fn note(fault: &Fault) -> String {
    let hint = fault.hint.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
    format!("{}{hint}", fault.message)
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
