//! Subgraphs that are settled: their integration tests, and one commit each, in the plan's order.

use std::collections::HashMap;
use std::sync::Arc;

use plan::NodeIx;
use tokio::task::JoinSet;

use crate::error::Fault;
use crate::grow::integration;
use crate::grow::items::Work;
use crate::grow::metadata;
use crate::grow::owner::{Done, Owner};
use crate::grow::shelf::Flow;
use crate::grow::worker::Stop;
use crate::workspace::journal::{Event, Integrated};
use crate::workspace::{checkpoint, disk};

/// Our files that no flush writes.
const DOCUMENTS: [&str; 4] =
    ["docs/rpg.json", "docs/generation_report.md", checkpoint::PATH, "test_results.xml"];

impl Owner {
    /// Integration tests of every subgraph whose leaves have all passed, unless an earlier run has made
    /// them of the same nodes.
    pub(crate) fn start_integrations(&mut self, workers: &mut JoinSet<Result<Done, Stop>>) {
        for (subgraph, leaves) in self.waiting_for_integration() {
            let specification = integration::specification(&self.shop, &leaves);
            let known = self.past.integrated.get(&subgraph).filter(|it| {
                it.specification == specification
                    && !leaves.iter().any(|ix| self.started.contains(ix))
            });
            if let Some(known) = known.cloned() {
                self.cost += &known.cost;
                self.keep_integrated(known);
                continue;
            }
            if self.resting.alone.is_some() {
                return;
            }
            let Ok(permit) = self.shop.slots.clone().try_acquire_owned() else { return };
            self.integrating.insert(subgraph.clone());
            let shelf = self.shelf.borrow().clone();
            let work = integration::integrate(self.shop.clone(), subgraph, leaves, shelf, permit);
            workers.spawn(async { work.await.map(|it| Done::Subgraph(Box::new(it))) });
        }
    }

    /// Subgraphs that passed as a whole and have no integration tests yet, by name.
    fn waiting_for_integration(&self) -> Vec<(String, Vec<NodeIx>)> {
        let passed = |ix: &NodeIx| self.schedule.status(*ix) == Some(plan::Status::Passed);
        let waits = |(subgraph, leaves): &&(String, Vec<NodeIx>)| {
            !self.integrated.contains_key(subgraph)
                && !self.integrating.contains(subgraph)
                && leaves.iter().all(passed)
                && self.sees_all(leaves)
        };
        self.subgraphs.iter().filter(waits).cloned().collect()
    }

    /// Whether all is settled that integration tests of these nodes see.
    fn sees_all(&self, leaves: &[NodeIx]) -> bool {
        if self.schedule.is_finished() {
            return true;
        }
        let shelf = self.shelf.borrow().clone();
        let seen = integration::nodes(&self.shop.work, &shelf, leaves);
        seen.iter().all(|ix| self.schedule.status(*ix).is_some_and(plan::Status::is_settled))
    }

    /// Whether every subgraph that passed has had its integration tests.
    pub(crate) fn is_integrated(&self) -> bool {
        self.integrating.is_empty() && self.waiting_for_integration().is_empty()
    }

    pub(crate) fn take_integrated(&mut self, integrated: Integrated) -> Result<(), Fault> {
        self.integrating.remove(&integrated.subgraph);
        self.cost += &integrated.cost;
        self.keep_integrated(integrated);
        self.commit_subgraphs()
    }

    fn keep_integrated(&mut self, integrated: Integrated) {
        if !integrated.text.is_empty() {
            let flow =
                Flow { path: integrated.path.clone(), text: integrated.text.as_str().into() };
            self.shelf.send_modify(|shelf| shelf.put_flow(&integrated.subgraph, flow));
        }
        self.integrated.insert(integrated.subgraph.clone(), integrated);
    }

    /// Commits subgraphs whose leaves are all settled, in the order of their last leaf, for any number
    /// of jobs.
    pub(crate) fn commit_subgraphs(&mut self) -> Result<(), Fault> {
        for (subgraph, leaves) in self.subgraphs.clone().iter() {
            if self.committed.contains(subgraph) {
                continue;
            }
            let settled =
                |ix: &NodeIx| self.schedule.status(*ix).is_some_and(plan::Status::is_settled);
            let has_not_passed =
                |ix: &NodeIx| self.schedule.status(*ix) != Some(plan::Status::Passed);
            let has_flows = self.integrated.contains_key(subgraph);
            if !leaves.iter().all(settled) || !(has_flows || leaves.iter().any(has_not_passed)) {
                return Ok(());
            }
            self.flush()?;
            if !self.stands_as_committed(subgraph, leaves) {
                self.commit_subgraph(subgraph, leaves)?;
            }
            self.committed.insert(subgraph.clone());
        }
        Ok(())
    }

    /// Whether an earlier run committed the subgraph and none of its nodes was worked on since.
    fn stands_as_committed(&self, subgraph: &str, leaves: &[NodeIx]) -> bool {
        let last = self.past.committed.iter().rev().find(|it| it.subgraph == subgraph);
        last.is_some() && !leaves.iter().any(|ix| self.started.contains(ix))
    }

    fn commit_subgraph(&mut self, subgraph: &str, leaves: &[NodeIx]) -> Result<(), Fault> {
        let passed = leaves
            .iter()
            .filter(|ix| self.schedule.status(**ix) == Some(plan::Status::Passed))
            .count();
        let range = format!("{}-{}", self.id(leaves[0]), self.id(leaves[leaves.len() - 1]));
        let whole = passed == leaves.len();
        let message = match whole {
            true => format!("feat: complete {subgraph} (nodes {range})"),
            false => format!(
                "feat: partial {subgraph} (nodes {range}, {passed} of {} passed)",
                leaves.len()
            ),
        };
        let tag = whole.then(|| format!("phase4-subgraph-{}", disk::safe_name(subgraph)));
        // Every milestone can be installed and tested: it is what a rollback returns to.
        let sources = self.sources()?.files;
        let (files, _) = metadata::files(self, &sources);
        self.write(&files, false)?;
        let tag = self.commit(&message, tag.as_deref())?;
        let nodes = self.accepted.keys().cloned().collect();
        let event = Event::Committed { subgraph: subgraph.to_owned(), tag, nodes };
        let logged = self.shop.journal.commit(event);
        logged.map_err(|e| self.cannot_write(None, ".trellis/journal.jsonl", &e))
    }

    /// Commits everything of ours and returns the tag that was set. Without git, or when git refuses, the
    /// run goes on and says so.
    pub(crate) fn commit(
        &mut self,
        message: &str,
        tag: Option<&str>,
    ) -> Result<Option<String>, Fault> {
        let Some(git) = &self.git else { return Ok(None) };
        let mut paths = self.writer.known_paths();
        paths.extend(DOCUMENTS.map(str::to_owned));
        let journal = &self.shop.journal;
        if let Err(error) = git.commit(journal, &paths, message, message.starts_with("feat: ")) {
            self.warnings.push(format!("{error}; the run goes on without commits"));
            self.git = None;
            return Ok(None);
        }
        let set = tag.map(|tag| git.tag(journal, tag).map(|()| tag.to_owned())).transpose();
        set.or_else(|error| {
            self.warnings.push(format!("{error}; there is no going back to that subgraph"));
            Ok(None)
        })
    }
}

/// Leaves by subgraph, in the order of their last leaf.
pub(crate) fn subgraphs(work: &Work) -> Arc<[(String, Vec<NodeIx>)]> {
    let mut leaves: HashMap<String, Vec<NodeIx>> = HashMap::new();
    for ix in &work.leaves {
        let subgraph = work.plan.node(*ix).subgraph.as_deref().unwrap_or("main");
        leaves.entry(subgraph.to_owned()).or_default().push(*ix);
    }
    let mut all: Vec<(String, Vec<NodeIx>)> = leaves.into_iter().collect();
    all.sort_by_key(|(_, leaves)| leaves.iter().map(|ix| work.place[ix]).max());
    all.into()
}
