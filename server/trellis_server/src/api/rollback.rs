//! Restores the last subgraph that passed as a whole. History is kept: the rollback is a new
//! commit, and everything taken back stays in git and in the journal.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use trellis_git::git::Git;
use trellis_store::Writer;
use trellis_store::checkpoint::{self, Checkpoint, TestResults};
use trellis_store::error::StoreError;
use trellis_store::journal::{Event, Journal};
use trellis_store::lock::Lock;
use trellis_store::origin::{Origin, Workflow};
use trellis_store::replay::ReplayedState;
use trellis_workflows::convert::check_python;
use trellis_workflows::fault::Fault;
use trellis_workflows::llm_session::no_journal;

/// Rolls a generated repository back to the last subgraph that passed completely.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RollbackParams {
    /// The output folder of the run.
    pub out: PathBuf,
    /// Roll back to this subgraph instead of the last one.
    #[serde(default)]
    pub to: Option<String>,
}

/// What was undone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RollbackResult {
    /// The current subgraph of the repository.
    pub to: String,
    /// Its git tag.
    pub tag: String,
    /// Files that changed, relative to the folder.
    pub files: Vec<String>,
    /// Ids of nodes that are pending again.
    pub pending: Vec<String>,
}

pub fn rollback(params: &RollbackParams) -> Result<RollbackResult, Fault> {
    let cannot = |e: std::io::Error| {
        Fault::input(trellis_os::wording::cannot_read(params.out.display(), &e))
    };
    let root = params.out.canonicalize().map_err(cannot)?;
    if !Journal::path(&root).exists() {
        return Err(Fault::input(format!("Trellis did not generate {}", root.display()))
            .hint("give the output folder of `trellis generate`"));
    }
    let _lock = Lock::take(&root)?;
    Journal::refuse_newer(&root).map_err(no_journal)?;
    let (journal, past) =
        Journal::open(&root, Origin::create(Workflow::Rollback)).map_err(no_journal)?;
    let (place, tag) = choose(&past, params.to.as_deref())?;
    let (to, kept) = (past.committed[place].subgraph.clone(), past.nodes_after(place + 1));
    let git = Git::open(&root, &journal).map_err(Fault::internal)?;
    let git = git.ok_or_else(|| {
        Fault::unavailable("git is not installed, but the earlier code is in the git history")
            .hint("install git")
    })?;
    let checkpoint = read_checkpoint(&root)?;
    let (changed, edits) = restore(&root, &journal, &past, &git, &tag)?;
    let nodes = kept.iter().cloned().collect();
    let event = Event::RolledBack { to: to.clone(), kept: nodes, edits };
    journal.commit(event).map_err(no_journal)?;
    let path = checkpoint::PATH.to_owned();
    let undone = checkpoint.map_or(Ok(Vec::new()), |it| reset_checkpoint(&root, it, &kept));
    let undone = undone.map_err(|source| StoreError::Write { path: path.clone(), source })?;
    let mut paths = changed.clone();
    paths.push(path);
    let message = format!("revert: roll back to {to}");
    git.commit(&journal, &paths, &message, true).map_err(Fault::internal)?;
    Ok(RollbackResult { to, tag, files: changed, pending: undone })
}

/// Returns the place of a milestone with a tag, and the tag: the last one, or that of `to`.
fn choose(past: &ReplayedState, to: Option<&str>) -> Result<(usize, String), Fault> {
    let all = past.committed.iter().enumerate();
    let passing = all.filter_map(|(place, it)| Some((place, &it.subgraph, it.tag.clone()?)));
    let names: Vec<&str> = passing.clone().map(|(_, subgraph, _)| subgraph.as_str()).collect();
    let wanted = passing.rev().find(|(_, subgraph, _)| to.is_none_or(|to| *subgraph == to));
    wanted.map(|(place, _, tag)| (place, tag)).ok_or_else(|| match to {
        Some(to) => Fault::input(format!("no complete subgraph {to} has passed"))
            .hint(format!("there are: {}", names.join(", "))),
        None => Fault::input("no complete subgraph has passed yet")
            .hint("there is nothing to roll back to"),
    })
}

/// Restores Trellis' files to their state at the tag; user edits stop the rollback. Returns the
/// changed paths, and user-edited paths that the tag has unchanged.
fn restore(
    root: &Path,
    journal: &Journal,
    past: &ReplayedState,
    git: &Git,
    tag: &str,
) -> Result<(Vec<String>, Vec<String>), Fault> {
    let mut writer = Writer::new(root, past.written.clone(), check_python);
    let known = writer.known_paths();
    let foreign = writer.foreign(&known);
    if !foreign.is_empty() {
        return Err(StoreError::UserEdits { paths: foreign }.into());
    }
    let texts_at = |commit| git.texts_at(commit, &known).map_err(Fault::internal);
    let (files, last) = (texts_at(tag)?, texts_at("HEAD")?);
    let flushed = writer.flush(journal, &files, |_| true)?;
    // A rollback that was killed has written some that it did not commit. A file that the last
    // commit lacks may be one that a person keeps out of git.
    let is_other = |(path, text): &(&String, &String)| files.get(*path) != Some(text);
    let uncommitted = last.iter().filter(is_other).map(|(path, _)| path.clone());
    let changed: BTreeSet<String> = flushed.changed.into_iter().chain(uncommitted).collect();
    let same = |(path, (text, _)): (&String, &(String, Vec<String>))| {
        (files.get(path) == Some(text)).then(|| path.clone())
    };
    let edits = past.kept.iter().filter_map(same).collect();
    Ok((changed.into_iter().collect(), edits))
}

fn read_checkpoint(root: &Path) -> Result<Option<Checkpoint>, Fault> {
    let Ok(bytes) = trellis_os::files::read(root.join(checkpoint::PATH)) else {
        return Ok(None);
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|why| {
        Fault::input(format!("{} is damaged: {why}", checkpoint::PATH))
            .hint("restore it with git, then roll back; nothing was changed")
    })
}

fn reset_checkpoint(
    root: &Path,
    mut all: Checkpoint,
    kept: &BTreeSet<String>,
) -> std::io::Result<Vec<String>> {
    let mut undone = Vec::new();
    for (id, entry) in all.iter_mut().filter(|(id, _)| !kept.contains(*id)) {
        entry.status = "pending".to_owned();
        entry.timestamp = Timestamp::now().to_string();
        entry.failure_reason = None;
        (entry.test_results, entry.retry_count) = (TestResults::default(), 0);
        undone.push(id.clone());
    }
    checkpoint::write(root, &all)?;
    Ok(undone)
}
