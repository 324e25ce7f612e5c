//! Fixes that are in the tree and not committed yet, as `--commit` wants them: on the disk until they are, so that a start after
//! a crash, a stop or a fault commits them.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::{RepairRequest, commit};
use crate::error::Fault;
use crate::proposals::{Proposal, ProposedFile};
use crate::workspace::{crash_point, disk};

/// The fixes of a repair that are to be committed, told before each is written.
pub(super) struct Uncommitted<'a> {
    order: &'a RepairRequest,
    /// Each with the test that it is for first.
    fixes: Vec<(String, Vec<ProposedFile>)>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    version: u32,
    /// After each fix, oldest first: a crash may have come before the last one was written.
    states: Vec<State>,
}

/// All fixes so far.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub(super) title: String,
    pub(super) patch: String,
}

/// Of the record's shape.
const VERSION: u32 = 1;
/// The record, below the root.
const RECORD: &str = ".trellis/repair/uncommitted.json";

impl<'a> Uncommitted<'a> {
    pub(super) fn new(order: &'a RepairRequest) -> Uncommitted<'a> {
        Uncommitted { order, fixes: Vec::new() }
    }

    /// A fix is about to be written.
    pub(super) fn add(&mut self, proposal: &Proposal) -> Result<(), Fault> {
        self.fixes.push((proposal.test.id.clone(), proposal.written()));
        self.keep()
    }

    /// The last one was not.
    pub(super) fn take_back(&mut self) -> Result<(), Fault> {
        self.fixes.pop();
        self.keep()
    }

    fn keep(&self) -> Result<(), Fault> {
        if !self.order.commit {
            return Ok(());
        }
        let states = (1..=self.fixes.len()).map(|count| state(&self.fixes[..count])).collect();
        let root = &self.order.root;
        let text = serde_json::to_string(&Record { version: VERSION, states });
        let written = text.map_err(Into::into).and_then(|text| disk::write(root, RECORD, &text));
        written.map_err(|error| super::artifacts::cannot(root, &error))
    }
}

fn state(fixes: &[(String, Vec<ProposedFile>)]) -> State {
    let mut texts: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for it in fixes.iter().flat_map(|it| &it.1) {
        let before = it.base.as_deref().unwrap_or_default();
        texts.entry(&it.path).or_insert((before, "")).1 = &it.proposed;
    }
    let diff = |(path, (before, after)): (&&str, &(&str, &str))| {
        trellis_python::unified_diff(path, before, after)
    };
    let lead = fixes.first().map_or("", |it| it.0.as_str());
    State { title: commit::title(lead, fixes.len()), patch: texts.iter().map(diff).collect() }
}

/// What an earlier repair has left in the tree and not committed.
///
/// # Errors
///
/// In words, where the record cannot be read.
pub(super) fn left(root: &Path) -> Result<Option<State>, String> {
    let text = match trellis_sandbox::files::read_text(root.join(RECORD)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {RECORD}: {error}")),
    };
    let record: Record = serde_json::from_str(&text).map_err(|e| format!("{RECORD}: {e}"))?;
    if record.version != VERSION {
        return Err(format!("{RECORD} was not written by this Trellis: check it, and remove it"));
    }
    // What a person has undone or committed is theirs.
    let mut states = record.states.into_iter().rev();
    Ok(states
        .find(|it| commit::is_in_tree(root, &it.patch))
        .filter(|it| !commit::is_known(root, &it.patch)))
}

/// Forgets them: they are committed, or cannot be.
pub(super) fn forget(root: &Path) -> Result<(), Fault> {
    crash_point::reach();
    match fs::remove_file(root.join(RECORD)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(super::artifacts::cannot(root, &error))
        }
        _ => Ok(()),
    }
}
