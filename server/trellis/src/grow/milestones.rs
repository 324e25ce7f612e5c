//! Commits: one for every subgraph that is settled, in the plan's order.

use std::collections::HashMap;

use plan::NodeIx;

use crate::error::Fault;
use crate::grow::owner::Owner;
use crate::workspace::checkpoint;
use crate::workspace::journal::Event;

/// Our files that no flush writes.
const DOCUMENTS: [&str; 4] =
    ["docs/rpg.json", "docs/generation_report.md", checkpoint::PATH, "test_results.xml"];

impl Owner {
    /// Commits subgraphs whose leaves are all settled, in the order of their last leaf, for any number
    /// of jobs.
    pub(crate) fn commit_subgraphs(&mut self) -> Result<(), Fault> {
        for (subgraph, leaves) in self.subgraphs() {
            if self.committed.contains(&subgraph) {
                continue;
            }
            let settled =
                |ix: &NodeIx| self.schedule.status(*ix).is_some_and(plan::Status::is_settled);
            if !leaves.iter().all(settled) {
                return Ok(());
            }
            self.flush()?;
            self.commit_subgraph(&subgraph, &leaves)?;
            self.committed.insert(subgraph);
        }
        Ok(())
    }

    fn subgraphs(&self) -> Vec<(String, Vec<NodeIx>)> {
        let mut leaves: HashMap<String, Vec<NodeIx>> = HashMap::new();
        for ix in &self.shop.work.leaves {
            let subgraph = self.shop.work.plan.node(*ix).subgraph.as_deref().unwrap_or("main");
            leaves.entry(subgraph.to_owned()).or_default().push(*ix);
        }
        let mut all: Vec<(String, Vec<NodeIx>)> = leaves.into_iter().collect();
        all.sort_by_key(|(_, leaves)| leaves.iter().map(|ix| self.shop.work.place[ix]).max());
        all
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
        let tag = whole.then(|| format!("phase4-subgraph-{}", tag_name(subgraph)));
        self.commit(&message, tag.as_deref())?;
        let nodes = self.accepted.keys().cloned().collect();
        let event = Event::Committed { subgraph: subgraph.to_owned(), tag, nodes };
        let logged = self.shop.journal.commit(event);
        logged.map_err(|e| self.cannot_write(None, ".trellis/journal.jsonl", &e))
    }

    /// Commits everything of ours; without git, or when git refuses, the run goes on and says so once.
    pub(crate) fn commit(&mut self, message: &str, tag: Option<&str>) -> Result<(), Fault> {
        let Some(git) = &self.git else { return Ok(()) };
        let mut paths = self.writer.known_paths();
        paths.extend(DOCUMENTS.map(str::to_owned));
        let journal = &self.shop.journal;
        let done =
            git.commit(journal, &paths, message, tag.is_some() || message.starts_with("feat: "));
        if let Err(error) = done.and_then(|_| tag.map_or(Ok(()), |tag| git.tag(journal, tag))) {
            self.warnings.push(format!("{error}; the run goes on without commits"));
            self.git = None;
        }
        Ok(())
    }
}

/// Letters git allows in a tag.
fn tag_name(subgraph: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "_-./".contains(c) { c } else { '-' };
    let name: String = subgraph.chars().map(keep).collect();
    name.trim_matches(['.', '/']).replace("..", "-")
}
