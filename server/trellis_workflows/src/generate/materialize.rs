//! Turns accepted texts into files: those of the whole run, or of some of its nodes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use trellis_engine::assembly::{Contribution, Sources, sources};
use trellis_engine::{Draft, LIBRARY};
use trellis_plan::NodeIx;

use crate::fault::Fault;
use crate::generate::accepted::{AcceptedDrafts, IntegrationTests};
use crate::generate::dispatcher::Dispatcher;
use crate::generate::items::WorkGraph;
use crate::reporter::Progress;
use trellis_store::error::StoreError;

/// Accepted texts to make files of.
pub(super) struct Contents {
    /// Nodes with their accepted drafts, in the plan's order.
    pub drafts: Vec<(NodeIx, Arc<Draft>)>,
    /// Integration tests, those of the whole library first, and acceptance tests.
    pub flows: Vec<IntegrationTests>,
}

impl Contents {
    /// Returns everything that was accepted.
    fn all(work: &WorkGraph, accepted_drafts: &AcceptedDrafts) -> Contents {
        let drafts = work.leaves.iter().filter_map(|ix| Some((*ix, accepted_drafts.draft(*ix)?)));
        let (library, others): (Vec<_>, Vec<_>) =
            accepted_drafts.flows().iter().partition(|(name, _)| *name == LIBRARY);
        let flows = library.into_iter().chain(others).map(|(_, flow)| flow.clone());
        Contents { drafts: drafts.collect(), flows: flows.collect() }
    }

    pub(super) fn nodes(&self) -> BTreeSet<NodeIx> {
        self.drafts.iter().map(|(ix, _)| *ix).collect()
    }
}

impl Dispatcher {
    /// Returns everything that was accepted.
    pub(super) fn contents(&self) -> Contents {
        Contents::all(&self.run_context.work, &self.accepted_drafts.borrow())
    }

    /// Assembles accepted texts into files.
    pub(super) fn sources(&self, contents: &Contents) -> Result<Sources, Fault> {
        let work = &self.run_context.work;
        let drafts = contents.drafts.iter();
        let shares: Vec<Contribution<'_>> =
            drafts.map(|(ix, draft)| Contribution { item: &work.items[ix], draft }).collect();
        let mut built = sources(&work.layout, &shares, &self.run_context.kept).map_err(|e| {
            Fault::internal(format!("the accepted code does not fit together: {e}"))
        })?;
        for flow in contents.flows.iter().filter(|it| !self.run_context.kept.contains_key(&it.path))
        {
            built.files.insert(flow.path.clone(), flow.text.to_string());
        }
        Ok(built)
    }

    /// Writes everything accepted so far to the disk.
    pub(super) fn flush(&mut self) -> Result<(), Fault> {
        let Sources { mut files, tests } = self.sources(&self.contents())?;
        self.note_tests(&tests);
        files.retain(|path, _| {
            !self.run_context.kept.contains_key(path)
                || self.kept_changed(path)
                || !self.root.join(path).exists()
        });
        self.write(&files, false)?;
        self.unwritten = 0;
        Ok(())
    }

    /// Records in the checkpoint the tests that each node has in the files.
    fn note_tests(&mut self, tests: &HashMap<String, Vec<String>>) {
        for (node, entry) in &mut self.checkpoint {
            let own = tests.get(node).cloned().unwrap_or_default();
            if entry.tests != own {
                entry.tests = own;
                self.unsaved = true;
            }
        }
    }

    /// Returns whether nodes were added to an adopted file. Only then is it written again.
    fn kept_changed(&self, path: &str) -> bool {
        self.run_context.work.items.iter().any(|(ix, item)| {
            let draft = self.accepted_drafts.borrow().draft(*ix);
            draft.is_some_and(|draft| {
                (item.path == path && draft.implementation.is_some())
                    || (item.test_path == path && draft.tests.is_some())
            })
        })
    }

    /// Writes `files` to the disk and removes managed sources that are not among them. `all` means
    /// that these are the files of a finished run.
    pub(super) fn write(
        &mut self,
        files: &BTreeMap<String, String>,
        all: bool,
    ) -> Result<(), Fault> {
        let kept = &self.run_context.kept;
        let source = |path: &str| path.ends_with(".py") && !kept.contains_key(path);
        // If nothing is accepted yet, for example after a reset, existing files must stay.
        let remove =
            |path: &str| (all || files.keys().any(|it| it.ends_with(".py"))) && source(path);
        match self.writer.flush(&self.run_context.journal, files, remove) {
            Ok(flushed) => {
                if !flushed.changed.is_empty() {
                    self.wrote = true;
                    let paths = &flushed.changed;
                    self.run_context.reporter.emit(Progress::Files { root: &self.root, paths });
                }
                Ok(())
            }
            Err(StoreError::DiskFull { path }) => {
                let error = std::io::Error::from(std::io::ErrorKind::StorageFull);
                Err(self.cannot_write(self.last_passed(), &path, &error))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn last_passed(&self) -> Option<NodeIx> {
        let passed = self.checkpoint.iter().filter(|(_, entry)| entry.status == "passed");
        let last = passed.max_by(|a, b| a.1.timestamp.cmp(&b.1.timestamp));
        last.and_then(|(id, _)| self.run_context.work.plan.find(id))
    }
}
