//! Integration tests of settled subgraphs and one commit per subgraph, in the plan's order.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::task::JoinSet;
use trellis_engine::LIBRARY;
use trellis_plan::NodeIx;

use crate::fault::Fault;
use crate::generate::accepted::IntegrationTests;
use crate::generate::dispatcher::{Dispatcher, JobDone};
use crate::generate::integration;
use crate::generate::items::WorkGraph;
use crate::generate::materialize::Contents;
use crate::generate::metadata;
use crate::generate::worker::WorkerError;
use trellis_git::error::CommandError;
use trellis_git::trees::{self, Texts};
use trellis_store::committed_nodes::CommittedNodes;
use trellis_store::journal::{Event, IntegrationResult};
use trellis_store::{checkpoint, disk};

/// Trellis's own files that no flush writes. `test_results.xml` is not in the history, since every
/// test run rewrites it.
const DOCUMENTS: [&str; 3] = ["docs/rpg.json", "docs/generation_report.md", checkpoint::PATH];

impl Dispatcher {
    /// Starts integration tests of every subgraph whose leaves have all passed, unless an earlier
    /// run made them for the same nodes.
    pub(super) fn start_integrations(
        &mut self,
        workers: &mut JoinSet<Result<JobDone, WorkerError>>,
    ) {
        let known = self.integrated.len();
        for (subgraph, leaves) in self.waiting_for_integration() {
            let earlier = self.past.integrated.get(&subgraph);
            let known = earlier.filter(|it| {
                integration::is_specified(&self.run_context.work, &leaves, &it.specification)
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
            let Ok(permit) = self.run_context.slots.clone().try_acquire_owned() else { return };
            let earlier = earlier.cloned();
            self.integrating.insert(subgraph.clone());
            let accepted_drafts = self.accepted_drafts.borrow().clone();
            let work = integration::integrate(
                self.run_context.clone(),
                subgraph,
                leaves,
                earlier,
                accepted_drafts,
                permit,
            );
            workers.spawn(async { work.await.map(|it| JobDone::Subgraph(Box::new(it))) });
        }
        // With the last subgraph known, the library may be next.
        if self.integrated.len() > known {
            self.start_integrations(workers);
        }
    }

    /// Returns what still needs integration tests, by name: subgraphs that passed as a whole and,
    /// at the end, the library.
    fn waiting_for_integration(&self) -> Vec<(String, Vec<NodeIx>)> {
        let passed = |ix: &NodeIx| self.schedule.status(*ix) == Some(trellis_plan::Status::Passed);
        let waits = |(subgraph, leaves): &&(String, Vec<NodeIx>)| {
            !self.integrated.contains_key(subgraph)
                && !self.integrating.contains(subgraph)
                && leaves.iter().all(passed)
                && self.sees_all(leaves)
        };
        let waiting: Vec<_> = self.subgraphs.iter().filter(waits).cloned().collect();
        let is_last = waiting.is_empty() && self.integrating.is_empty();
        let library = is_last.then(|| self.library()).flatten();
        waiting.into_iter().chain(library).collect()
    }

    /// Returns all passed leaves as the library, once nothing is left to do and flows cross
    /// subgraphs.
    fn library(&self) -> Option<(String, Vec<NodeIx>)> {
        let is_known = |name: &str| {
            self.integrated.contains_key(name) || self.subgraphs.iter().any(|it| it.0 == name)
        };
        if !self.schedule.is_finished() || is_known(LIBRARY) {
            return None;
        }
        let leaves = self.run_context.work.leaves.iter().copied();
        let passed = |ix: &NodeIx| self.schedule.status(*ix) == Some(trellis_plan::Status::Passed);
        let leaves: Vec<NodeIx> = leaves.filter(passed).collect();
        let is_wanted = integration::is_connected(&self.run_context.work, &leaves);
        is_wanted.then(|| (LIBRARY.to_owned(), leaves))
    }

    /// Returns whether everything that integration tests of these nodes see is settled.
    fn sees_all(&self, leaves: &[NodeIx]) -> bool {
        if self.schedule.is_finished() {
            return true;
        }
        let accepted_drafts = self.accepted_drafts.borrow().clone();
        let seen = integration::visible_nodes(&self.run_context.work, &accepted_drafts, leaves);
        seen.iter()
            .all(|ix| self.schedule.status(*ix).is_some_and(trellis_plan::Status::is_settled))
    }

    /// Returns whether every subgraph that passed has had its integration tests.
    pub(super) fn is_integrated(&self) -> bool {
        self.integrating.is_empty() && self.waiting_for_integration().is_empty()
    }

    pub(super) fn take_integrated(&mut self, integrated: IntegrationResult) -> Result<(), Fault> {
        self.integrating.remove(&integrated.subgraph);
        self.cost += &integrated.cost;
        self.keep_integrated(integrated);
        self.commit_subgraphs()
    }

    fn keep_integrated(&mut self, integrated: IntegrationResult) {
        if !integrated.text.is_empty() {
            let flow = IntegrationTests {
                path: integrated.path.clone(),
                text: integrated.text.as_str().into(),
            };
            self.accepted_drafts.send_modify(|accepted_drafts| {
                accepted_drafts.put_flow(&integrated.subgraph, flow)
            });
        }
        self.integrated.insert(integrated.subgraph.clone(), integrated);
    }

    /// Commits subgraphs whose leaves are all settled, in the order of their last leaf. The order
    /// is the same for any number of jobs.
    pub(super) fn commit_subgraphs(&mut self) -> Result<(), Fault> {
        for (subgraph, leaves) in self.subgraphs.clone().iter() {
            if self.committed.contains(subgraph) {
                continue;
            }
            let settled = |ix: &NodeIx| {
                self.schedule.status(*ix).is_some_and(trellis_plan::Status::is_settled)
            };
            let has_not_passed =
                |ix: &NodeIx| self.schedule.status(*ix) != Some(trellis_plan::Status::Passed);
            let has_flows = self.integrated.contains_key(subgraph);
            if !leaves.iter().all(settled) || !(has_flows || leaves.iter().any(has_not_passed)) {
                return Ok(());
            }
            if !self.stands_as_committed(subgraph, leaves) {
                self.flush()?;
                self.commit_subgraph(subgraph, leaves)?;
            }
            self.committed.insert(subgraph.clone());
        }
        Ok(())
    }

    /// Returns whether an earlier run committed the subgraph and none of its nodes was worked on
    /// since.
    fn stands_as_committed(&self, subgraph: &str, leaves: &[NodeIx]) -> bool {
        let last = self.past.committed.iter().rev().find(|it| it.subgraph == subgraph);
        last.is_some() && !leaves.iter().any(|ix| self.started.contains(ix))
    }

    fn commit_subgraph(&mut self, subgraph: &str, leaves: &[NodeIx]) -> Result<(), Fault> {
        if self.git.is_none() {
            return Ok(());
        }
        let passed = leaves
            .iter()
            .filter(|ix| self.schedule.status(**ix) == Some(trellis_plan::Status::Passed))
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
        let tag = whole.then(|| format!("phase4-subgraph-{}", disk::escape_ref_name(subgraph)));
        let contents = self.contents_of(subgraph);
        // Every subgraph commit can be installed and tested, since a rollback returns to it.
        let mut files = self.sources(&contents)?.files;
        let (metadata, _) = metadata::files(self, &contents, &files);
        self.write(&metadata, false)?;
        files.extend(metadata);
        let made = self.commit_files(files, &message);
        if made.and_then(|()| self.set_tag(tag.as_deref())).is_none() {
            // Without the line, the next start makes the commit or its tag.
            return Ok(());
        }
        let nodes = contents.nodes().into_iter().map(|ix| self.id(ix)).collect();
        let change = CommittedNodes::change(&self.last_committed, &nodes);
        let event = Event::Committed { subgraph: subgraph.to_owned(), tag, nodes: change };
        let logged = self.run_context.journal.commit(event);
        logged.map_err(|e| self.cannot_write(None, ".trellis/journal.jsonl", &e))?;
        self.last_committed = nodes;
        self.has_new_commits = true;
        Ok(())
    }

    /// Returns the contents of a subgraph's commit: the subgraph, what was committed before it, and
    /// everything that these build on, so that any number of jobs makes the same commits. A later
    /// node's fix of these files waits until no other node is at work; by then the commit exists.
    fn contents_of(&self, subgraph: &str) -> Contents {
        let work = &self.run_context.work;
        let is_in = |(name, leaves): &&(String, Vec<NodeIx>)| {
            name == subgraph
                || self.committed.contains(name)
                || self.stands_as_committed(name, leaves)
        };
        let all: Vec<&(String, Vec<NodeIx>)> = self.subgraphs.iter().filter(is_in).collect();
        let accepted_drafts = self.accepted_drafts.borrow().clone();
        let parts = all.iter().flat_map(|(_, leaves)| leaves).copied();
        let parts: Vec<NodeIx> = parts.filter(|ix| accepted_drafts.draft(*ix).is_some()).collect();
        let nodes = integration::visible_nodes(work, &accepted_drafts, &parts).into_iter();
        let flows =
            all.iter().filter_map(|(name, _)| accepted_drafts.flows().get(name).cloned()).collect();
        Contents {
            drafts: nodes.filter_map(|ix| Some((ix, accepted_drafts.draft(ix)?))).collect(),
            flows,
        }
    }

    /// Commits the given files, and the removal of files that are gone. `None` if git refuses.
    fn commit_files(&mut self, files: BTreeMap<String, String>, message: &str) -> Option<()> {
        let git = self.git.as_ref()?;
        let is_gone = |path: &String| !files.contains_key(path) && !self.root.join(path).exists();
        let gone = self.writer.known_paths().into_iter().filter(is_gone);
        let mut texts: Texts = gone.map(|path| (path, None)).collect();
        let changed = files.iter().filter(|(path, text)| self.in_history.get(*path) != Some(text));
        texts.extend(changed.map(|(path, text)| (path.clone(), Some(text.clone()))));
        let made = trees::commit_texts(git, &self.run_context.journal, &texts, message);
        self.in_history.extend(files);
        self.report(made)
    }

    /// Commits all of Trellis's changed files as they are on the disk.
    pub(super) fn commit(&mut self, message: &str) {
        let Some(git) = &self.git else { return };
        let mut paths = self.writer.known_paths();
        paths.extend(DOCUMENTS.map(str::to_owned));
        let made = git.commit(&self.run_context.journal, &paths, message, false).map(drop);
        let _ = self.report(made);
    }

    /// Adds a warning and stops using git if git refuses; the run continues without commits.
    fn report(&mut self, made: Result<(), CommandError>) -> Option<()> {
        let Err(error) = made else { return Some(()) };
        self.warnings.push(format!("{error}; the run continues without commits"));
        self.git = None;
        None
    }

    /// Tags the last commit. `None` if git refuses.
    fn set_tag(&mut self, tag: Option<&str>) -> Option<()> {
        let Some(tag) = tag else { return Some(()) };
        let made = self.git.as_ref()?.tag(&self.run_context.journal, tag);
        self.report(made)
    }
}

/// Returns leaves by subgraph, in the order of their last leaf.
pub(super) fn subgraphs(work: &WorkGraph) -> Arc<[(String, Vec<NodeIx>)]> {
    let mut leaves: HashMap<String, Vec<NodeIx>> = HashMap::new();
    for ix in &work.leaves {
        let subgraph = work.plan.node(*ix).subgraph.as_deref().unwrap_or("main");
        leaves.entry(subgraph.to_owned()).or_default().push(*ix);
    }
    let mut all: Vec<(String, Vec<NodeIx>)> = leaves.into_iter().collect();
    all.sort_by_key(|(_, leaves)| leaves.iter().map(|ix| work.place[ix]).max());
    all.into()
}
