//! Localization for the node cycle: searches the index of what the tests saw, the coverage of the
//! failing run, and the planning graph.

use std::sync::PoisonError;
use std::time::Instant;

use trellis_engine::localize::{RankedFunction, rank};
use trellis_engine::{
    Answer, Frame, Localization, Query, Suspect, Tools, Upstream, find_suspects, node, queries,
};
use trellis_plan::NodeIx;
use trellis_sandbox::Report;

use crate::generate::worker::run_index::RunIndex;
use crate::generate::worker::{RunContext, Worker, WorkerError};
use crate::localize::evidence;
use crate::plan_search::PreparedQuery;
use trellis_store::journal::Event;

/// Maximum number of nodes that one graph search returns.
const TOP: usize = 3;
/// Maximum number of callers to name to the model.
const CALLERS: usize = 5;

impl Worker {
    pub(super) async fn search(&mut self, query: &Query) -> Result<node::Event, WorkerError> {
        let run_context = self.run_context.clone();
        let wanted = run_context.graph.prepare(queries(query)).await;
        let none = Default::default();
        let (report, files) = match &self.last {
            Some((report, files)) => (Some(report), files),
            None => (None, &none),
        };
        let mut look = RunLookup {
            run_context: &run_context,
            node: self.node,
            seen: RunIndex::of(files),
            report,
            wanted,
            times: Vec::new(),
        };
        self.trail.next_iteration();
        let found = find_suspects(query, &mut look, &mut self.trail, &mut self.tools);
        let localized = found.map(|suspects| self.localized(&look, suspects));
        self.keep_attempts(&look.times)?;
        Ok(match localized {
            Ok(localized) => {
                self.suspects.clone_from(&localized.suspects);
                let upstream = localized.upstream.iter();
                self.amendable = upstream.map(|it| it.item.path.clone()).collect();
                node::Event::Localized(localized)
            }
            Err(_) => node::Event::Exhausted(self.trail.all().cloned().collect()),
        })
    }

    fn keep_attempts(&mut self, times: &[u64]) -> Result<(), WorkerError> {
        for (attempt, time) in self.trail.attempts().iter().zip(times) {
            self.run_context.tools.lock().unwrap_or_else(PoisonError::into_inner).take(attempt);
            let [tries, hits] = &mut self.cost.tools[attempt.tool as usize];
            *tries += 1;
            *hits += usize::from(!attempt.found.is_empty());
            self.log(Event::Localization {
                node: self.id(),
                tool: attempt.tool.as_str().to_owned(),
                query: attempt.query.clone(),
                found: attempt.found.clone(),
                error: attempt.error.clone(),
                microseconds: *time,
            })?;
        }
        Ok(())
    }

    /// Returns the suspects with everything that the model needs to know about them.
    fn localized(&self, look: &RunLookup<'_>, mut suspects: Vec<Suspect>) -> Localization {
        let item = &self.run_context.work.items[&self.node];
        if suspects.is_empty() {
            suspects.push(Suspect {
                path: item.path.clone(),
                line: 1,
                symbol: item.qualified_name(),
                why: "the function under test".to_owned(),
                ..Suspect::default()
            });
        }
        let mut upstream = Vec::new();
        for suspect in &mut suspects {
            look.describe(suspect);
            upstream.extend(self.upstream(suspect));
        }
        upstream.extend(self.direct(&upstream));
        let attempts = self.trail.all().cloned().collect();
        Localization { suspects, upstream, attempts }
    }

    /// Returns the settled node of a suspect, unless a person wrote it.
    fn upstream(&self, suspect: &Suspect) -> Option<Upstream> {
        let node = self.run_context.work.defined_as(&suspect.path, &suspect.symbol)?;
        self.settled(node)
    }

    /// Returns the node's direct dependencies that are not in `known`. A model may see a bug there
    /// that no evidence points at.
    fn direct(&self, known: &[Upstream]) -> Vec<Upstream> {
        let direct = self.run_context.work.plan.depends_on(self.node).iter();
        let found = direct.filter_map(|node| self.settled(*node));
        found.filter(|it| known.iter().all(|known| known.item.id != it.item.id)).collect()
    }

    fn settled(&self, node: NodeIx) -> Option<Upstream> {
        let item = self.run_context.work.items[&node].clone();
        let is_ours = node != self.node && !self.run_context.kept.contains_key(&item.path);
        let draft = self.accepted_drafts.borrow().draft(node).filter(|_| is_ours)?;
        Some(Upstream { item, implementation: draft.implementation.clone()? })
    }
}

struct RunLookup<'a> {
    run_context: &'a RunContext,
    node: NodeIx,
    seen: RunIndex,
    report: Option<&'a Report>,
    wanted: Vec<PreparedQuery>,
    /// Duration of each attempt, in microseconds.
    times: Vec<u64>,
}

impl RunLookup<'_> {
    /// Adds text, specification and callers to a suspect. The node's own text is shown elsewhere.
    fn describe(&self, suspect: &mut Suspect) {
        let work = &self.run_context.work;
        let node = work.defined_as(&suspect.path, &suspect.symbol);
        if let Some(it) = self.seen.named(&suspect.path, &suspect.symbol) {
            let callers = self.seen.callers(it).into_iter();
            suspect.callers =
                callers.take(CALLERS).map(|it| self.seen.suspect(it, None, "").symbol).collect();
            if node != Some(self.node) {
                suspect.source = self.seen.source(it);
            }
        }
        let Some(node) = node else { return };
        let item = &work.items[&node];
        if node != self.node {
            suspect.specification = item.docstring.trim().to_owned();
        }
        let direct = work.plan.depends_on(node).iter().filter_map(|it| work.items.get(it));
        suspect.calls = direct
            .map(|it| match &it.signature {
                Some(signature) => signature.header().to_owned(),
                None => it.qualified_name(),
            })
            .collect();
    }

    fn node_suspect(&self, node: NodeIx) -> Option<Suspect> {
        let item = self.run_context.work.items.get(&node)?;
        let found = self.seen.named(&item.path, &item.qualified_name())?;
        Some(self.seen.suspect(
            found,
            None,
            "the planning graph describes what the failure is about",
        ))
    }
}

impl Tools for RunLookup<'_> {
    fn symbol(&mut self, frame: &Frame) -> Answer {
        self.timed(|look| look.look_symbol(frame))
    }

    /// The index always matches the files that ran, so it needs no refresh.
    fn refresh(&mut self) -> bool {
        false
    }

    fn spectrum(&mut self) -> Answer {
        self.timed(RunLookup::look_spectrum)
    }

    fn references(&mut self, suspect: &Suspect) -> Answer {
        self.timed(|look| look.look_references(suspect))
    }

    fn search(&mut self, words: &str) -> Answer {
        self.timed(|look| look.look_search(words))
    }
}

impl RunLookup<'_> {
    fn timed(&mut self, look: impl FnOnce(&Self) -> Answer) -> Answer {
        let since = Instant::now();
        let answer = look(self);
        self.times.push(since.elapsed().as_micros() as u64);
        answer
    }

    fn look_symbol(&self, frame: &Frame) -> Answer {
        let found = self.seen.around(&frame.path, frame.line);
        let why = "in the traceback";
        Ok(found.map(|it| self.seen.suspect(it, Some(frame.line), why)).into_iter().collect())
    }

    fn look_spectrum(&self) -> Answer {
        let Some(report) = self.report.filter(|it| it.coverage.is_some()) else {
            return Ok(Vec::new());
        };
        let evidence = evidence(&self.seen.index, std::slice::from_ref(report));
        let ranked = rank(&evidence, &[]).suspects.into_iter().filter(|it| !it.symbol.is_empty());
        let suspect = |it: RankedFunction| Suspect {
            path: evidence.files[it.file].path.clone(),
            line: it.line,
            symbol: it.symbol,
            score: it.score,
            why: it.why,
            ..Suspect::default()
        };
        Ok(ranked.filter(|it| !evidence.files[it.file].is_test).map(suspect).collect())
    }

    fn look_references(&self, suspect: &Suspect) -> Answer {
        let Some(it) = self.seen.named(&suspect.path, &suspect.symbol) else {
            return Ok(Vec::new());
        };
        let why = format!("calls `{}`", suspect.symbol);
        Ok(self.seen.callers(it).into_iter().map(|it| self.seen.suspect(it, None, &why)).collect())
    }

    fn look_search(&self, words: &str) -> Answer {
        let work = &self.run_context.work;
        let subgraph = work.plan.node(self.node).subgraph.as_deref();
        let Some(wanted) = self.wanted.iter().find(|it| it.words == words) else {
            return Ok(Vec::new());
        };
        let nodes = self.run_context.graph.find(&work.plan, wanted, subgraph, TOP)?;
        Ok(nodes.into_iter().filter_map(|node| self.node_suspect(node)).collect())
    }
}
