//! Fixes that are in the tree but not committed yet although `--commit` wants them. The record
//! stays on the disk until they are, so that a start after a crash, a stop or a fault commits them.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::RepairRequest;
use super::commit::{self, NotCommitted};
use crate::fault::Fault;
use crate::proposals::{Proposal, ProposedFile};
use trellis_store::format::refuse_newer;
use trellis_store::{disk, fault_point};

/// The fixes that a repair has to commit; each is recorded before it is written.
pub(super) struct Uncommitted<'a> {
    order: &'a RepairRequest,
    /// Fixes, each with its first test.
    fixes: Vec<(String, Vec<ProposedFile>)>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    version: u32,
    /// States after each fix, oldest first. All are kept, since a crash may have come before the
    /// last fix was written.
    states: Vec<State>,
}

/// All fixes up to one point.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub(super) title: String,
    pub(super) patch: String,
}

/// Version of the record's format.
const VERSION: u32 = 1;
/// Path of the record, below the root.
const RECORD: &str = ".trellis/repair/uncommitted.json";

impl<'a> Uncommitted<'a> {
    pub(super) fn new(order: &'a RepairRequest) -> Uncommitted<'a> {
        Uncommitted { order, fixes: Vec::new() }
    }

    /// Records a fix that is about to be written.
    pub(super) fn add(&mut self, proposal: &Proposal) -> Result<(), Fault> {
        self.fixes.push((proposal.test.id.clone(), proposal.written()));
        self.keep()
    }

    /// Removes the last fix, which was not written.
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

/// Returns the uncommitted fixes that an earlier repair left in the tree.
///
/// # Errors
///
/// The record cannot be read, or the repository cannot be asked.
pub(super) fn left(root: &Path) -> Result<Option<State>, NotCommitted> {
    let Some(record) = read(root).map_err(NotCommitted::Failed)? else { return Ok(None) };
    // Fixes that a person has undone or committed are no longer Trellis's to commit.
    for state in record.states.into_iter().rev() {
        if commit::is_in_tree(root, &state.patch)? {
            let is_staged = commit::is_in_index(root, &state.patch)?;
            return Ok((!is_staged).then_some(state));
        }
    }
    Ok(None)
}

fn read(root: &Path) -> Result<Option<Record>, String> {
    let text = match trellis_os::files::read_text(root.join(RECORD)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {RECORD}: {error}")),
    };
    refuse_newer(RECORD, text.as_bytes(), VERSION)
        .map_err(|newer| format!("{newer}: use that version of Trellis here"))?;
    let record: Record = serde_json::from_str(&text).map_err(|e| format!("{RECORD}: {e}"))?;
    match record.version == VERSION {
        true => Ok(Some(record)),
        false => Err(format!("{RECORD} was not written by this Trellis: check it, and remove it")),
    }
}

/// Removes the record, after the fixes were committed or cannot be.
pub(super) fn forget(root: &Path) -> Result<(), Fault> {
    match fault_point::reach().and_then(|()| fs::remove_file(root.join(RECORD))) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(super::artifacts::cannot(root, &error))
        }
        _ => Ok(()),
    }
}
