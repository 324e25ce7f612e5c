//! The one owner of a run's state: starts workers, takes in what they bring, writes it down.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use cycle::assembly::{Share, Sources, sources};
use cycle::{Draft, Verdict};
use jiff::Timestamp;
use plan::{NodeIx, Schedule, Skipped};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::error::Fault;
use crate::grow::open::Order;
use crate::grow::progress::Progress;
use crate::grow::shelf::Shelf;
use crate::grow::worker::{Outcome, Shop, Stop, work_on};
use crate::output::Output;
use crate::workspace::checkpoint::{self, Checkpoint, Entry, TestResults};
use crate::workspace::disk;
use crate::workspace::git::Git;
use crate::workspace::journal::{Accepted, Cost, Event, Past};
use crate::workspace::lock::Lock;
use crate::workspace::{FlushError, Writer};

/// The receiving ends that belong to the loop.
pub(crate) struct Receivers {
    pub(crate) shelf: watch::Receiver<Shelf>,
    /// A worker gave its slot back.
    pub(crate) wake: mpsc::UnboundedReceiver<()>,
}

/// Our files that no flush writes.
const DOCUMENTS: [&str; 4] =
    ["docs/rpg.json", "docs/generation_report.md", checkpoint::PATH, "test_results.xml"];

/// How the loop came to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Finished,
    Interrupted,
}

pub(crate) struct Owner {
    pub(crate) shop: Arc<Shop>,
    pub(crate) schedule: Schedule,
    shelf: watch::Sender<Shelf>,
    pub(crate) writer: Writer,
    pub(crate) git: Option<Git>,
    pub(crate) root: PathBuf,
    pub(crate) order: Order,
    pub(crate) accepted: BTreeMap<String, Accepted>,
    pub(crate) past: Past,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) cost: Cost,
    pub(crate) progress: Progress,
    pub(crate) warnings: Vec<String>,
    /// Passed since the last flush.
    unwritten: usize,
    /// The checkpoint on the disk is older than ours.
    unsaved: bool,
    committed: BTreeSet<String>,
    started: BTreeSet<NodeIx>,
    _lock: Lock,
}

impl Owner {
    #[allow(
        clippy::too_many_arguments,
        reason = "called once, with everything `open` has made ready"
    )]
    pub(crate) fn new(
        shop: Shop,
        schedule: Schedule,
        shelf: watch::Sender<Shelf>,
        writer: Writer,
        git: Option<Git>,
        root: PathBuf,
        order: Order,
        accepted: BTreeMap<String, Accepted>,
        past: Past,
        lock: Lock,
        progress: Progress,
    ) -> Owner {
        let mut cost = Cost::default();
        accepted.values().for_each(|accepted| cost += accepted.cost);
        let committed = past.committed.iter().map(|it| it.subgraph.clone()).collect();
        Owner {
            shop: Arc::new(shop),
            schedule,
            shelf,
            writer,
            git,
            root,
            order,
            accepted,
            past,
            checkpoint: Checkpoint::new(),
            cost,
            progress,
            warnings: Vec::new(),
            unwritten: 0,
            unsaved: false,
            committed,
            started: BTreeSet::new(),
            _lock: lock,
        }
    }

    /// Works until every leaf is settled, someone interrupts, or something goes wrong.
    pub(crate) async fn run(
        &mut self,
        mut receivers: Receivers,
        output: &Output,
    ) -> Result<Ended, Fault> {
        self.first_checkpoint()?;
        self.flush()?;
        let mut workers: JoinSet<Result<Outcome, Stop>> = JoinSet::new();
        let mut signals = Signals::new()?;
        while !self.schedule.is_finished() {
            self.start_workers(&mut workers, &receivers.shelf)?;
            self.save()?;
            if workers.is_empty() {
                return Err(Fault::internal("no node is ready and none is being worked on")
                    .hint("please report this with .trellis/journal.jsonl"));
            }
            tokio::select! {
                Some(()) = receivers.wake.recv() => {}
                () = signals.any() => {
                    output.note("stopping: the write in hand is finished first; once more to stop at once");
                    signals.exit_on_next();
                    self.shop.cancel.cancel();
                    workers.shutdown().await;
                    return Ok(Ended::Interrupted);
                }
                Some(joined) = workers.join_next() => {
                    let outcome = joined.map_err(|e| Fault::internal(format!("a worker broke: {e}")))?;
                    match outcome {
                        Ok(outcome) => self.settle(outcome, output)?,
                        Err(Stop::Cancelled) => return Ok(Ended::Interrupted),
                        Err(Stop::Fault(fault)) => {
                            self.shop.cancel.cancel();
                            workers.shutdown().await;
                            return Err(fault);
                        }
                    }
                }
            }
        }
        self.save()?;
        Ok(Ended::Finished)
    }

    /// Once a turn: what settled and what was started goes to the disk together.
    fn save(&mut self) -> Result<(), Fault> {
        if std::mem::take(&mut self.unsaved) { self.write_checkpoint() } else { Ok(()) }
    }

    /// One job: the plan's order. More: the longest chain of dependents first. Either way a node starts
    /// only when everything it will see is settled.
    fn start_workers(
        &mut self,
        workers: &mut JoinSet<Result<Outcome, Stop>>,
        shelf: &watch::Receiver<Shelf>,
    ) -> Result<(), Fault> {
        while let Ok(permit) = self.shop.slots.clone().try_acquire_owned() {
            let ready: Vec<NodeIx> = match self.order.jobs {
                1 => self.schedule.ready().collect(),
                _ => self.schedule.urgent().collect(),
            };
            let visible = |ix: &NodeIx| {
                let view = self.shop.work.view(*ix, &BTreeSet::new());
                !self.started.contains(ix) && shelf.borrow().has_all(&view)
            };
            let Some(node) = ready.into_iter().find(visible) else { return Ok(()) };
            self.started.insert(node);
            self.schedule.start(node);
            self.mark(node, "in_progress", None)?;
            self.state(node, "in_progress", "everything it needs is settled")?;
            workers.spawn(work_on(self.shop.clone(), node, shelf.clone(), permit));
        }
        Ok(())
    }

    fn settle(&mut self, outcome: Outcome, output: &Output) -> Result<(), Fault> {
        self.cost += outcome.cost;
        let node = outcome.node;
        let results = TestResults { passed: outcome.tests_passed, failed: outcome.tests_failed };
        self.entry(node).test_results = results;
        self.entry(node).retry_count = outcome.fixes;
        match outcome.verdict.clone() {
            Verdict::Passed => self.accept(node, &outcome)?,
            Verdict::Failed { reason } => self.fail(node, reason)?,
            Verdict::NeedsHuman { reason } => self.fail(node, format!("needs_human: {reason}"))?,
            Verdict::Skipped { reason } => {
                let skipped = self.schedule.skip(node, reason.clone());
                self.put_aside(node, "skipped", reason, skipped)?;
            }
        }
        if self.unwritten >= self.order.batch || memory_is_short() {
            self.flush()?;
        }
        self.commit_subgraphs()?;
        self.say_progress(output);
        Ok(())
    }

    fn say_progress(&self, output: &Output) {
        let counts = self.schedule.counts();
        if let Some(line) = self.progress.line(counts.settled()) {
            output.note(line);
        }
    }

    /// Accepted text is on the disk before anything says `passed` (W13).
    fn accept(&mut self, node: NodeIx, outcome: &Outcome) -> Result<(), Fault> {
        let source = |fragment: &Option<code::Fragment>| {
            fragment.as_ref().map(code::Fragment::to_source).unwrap_or_default()
        };
        let accepted = Accepted {
            node: self.id(node),
            specification: self.shop.work.specification(node),
            tests: source(&outcome.draft.tests),
            implementation: source(&outcome.draft.implementation),
            tests_passed: outcome.tests_passed,
            fixes: outcome.fixes,
            cost: outcome.cost,
        };
        let written = self.shop.journal.commit(Event::Accepted(accepted.clone()));
        if let Err(error) = written {
            return Err(self.cannot_write(Some(node), ".trellis/journal.jsonl", &error));
        }
        self.accepted.insert(accepted.node.clone(), accepted);
        self.schedule.pass(node);
        self.shelve(node, Some(Arc::new(outcome.draft.clone())));
        self.mark(node, "passed", None)?;
        self.unwritten += 1;
        Ok(())
    }

    fn fail(&mut self, node: NodeIx, reason: String) -> Result<(), Fault> {
        let skipped = self.schedule.fail(node, reason.clone());
        self.put_aside(node, "failed", reason, skipped)
    }

    fn put_aside(
        &mut self,
        node: NodeIx,
        status: &str,
        reason: String,
        skipped: Vec<Skipped>,
    ) -> Result<(), Fault> {
        self.state(node, status, &reason)?;
        self.mark(node, status, Some(reason))?;
        self.shelve(node, None);
        for skip in skipped {
            self.state(skip.node, "skipped", &skip.reason)?;
            self.mark(skip.node, "skipped", Some(skip.reason))?;
            self.shelve(skip.node, None);
        }
        Ok(())
    }

    fn shelve(&self, node: NodeIx, draft: Option<Arc<Draft>>) {
        self.shelf.send_modify(|shelf| shelf.put(node, draft));
    }

    fn id(&self, node: NodeIx) -> String {
        self.shop.work.plan.id(node).to_owned()
    }

    fn state(&mut self, node: NodeIx, status: &str, reason: &str) -> Result<(), Fault> {
        let event = Event::State {
            node: self.id(node),
            status: status.to_owned(),
            reason: reason.to_owned(),
        };
        let logged = self.shop.journal.log(event);
        logged.map_err(|e| self.cannot_write(Some(node), ".trellis/journal.jsonl", &e))
    }

    // --- checkpoint --------------------------------------------------------------------------

    /// Every leaf has its entry from the start.
    fn first_checkpoint(&mut self) -> Result<(), Fault> {
        for ix in self.shop.work.leaves.clone() {
            let id = self.id(ix);
            let entry = Entry {
                timestamp: Timestamp::now().to_string(),
                subgraph: self.shop.work.plan.node(ix).subgraph.as_deref().map(str::to_owned),
                ..Entry::default()
            };
            self.checkpoint.insert(id.clone(), entry);
            if let Some(accepted) = self.accepted.get(&id) {
                let (passed, fixes) = (accepted.tests_passed, accepted.fixes);
                let entry = self.entry(ix);
                entry.test_results = TestResults { passed, failed: 0 };
                entry.retry_count = fixes;
            }
            let status = self.schedule.status(ix).map_or("pending", plan::Status::name);
            let reason = self.schedule.reason(ix).map(str::to_owned);
            if status == "skipped" {
                self.shelve(ix, None);
            }
            self.mark(ix, status, reason)?;
        }
        self.write_checkpoint()
    }

    fn entry(&mut self, node: NodeIx) -> &mut Entry {
        let id = self.id(node);
        self.checkpoint.entry(id).or_default()
    }

    fn mark(&mut self, node: NodeIx, status: &str, reason: Option<String>) -> Result<(), Fault> {
        let entry = self.entry(node);
        entry.status = status.to_owned();
        entry.timestamp = Timestamp::now().to_string();
        entry.failure_reason = reason;
        self.unsaved = true;
        Ok(())
    }

    fn write_checkpoint(&mut self) -> Result<(), Fault> {
        let written = checkpoint::write(&self.root, &self.checkpoint);
        written.map_err(|e| self.cannot_write(None, checkpoint::PATH, &e))
    }

    /// A full disk fails the node in hand; the reserve makes room to say so in the checkpoint.
    fn cannot_write(&mut self, node: Option<NodeIx>, path: &str, error: &std::io::Error) -> Fault {
        if !disk::is_full(error) {
            return Fault::internal(format!("cannot write {path}: {error}"));
        }
        disk::release_reserve(&self.root);
        let reason = format!("disk full while writing {path}");
        if let Some(node) = node {
            if self.schedule.status(node) == Some(plan::Status::InProgress) {
                // The run ends here; what depends on the node stays pending for the next one.
                self.schedule.fail(node, reason.clone());
            }
            let entry = self.entry(node);
            entry.status = "failed".to_owned();
            entry.failure_reason = Some(reason.clone());
            // The reserve may not be enough; then the last checkpoint stands.
            let _ = checkpoint::write(&self.root, &self.checkpoint);
        }
        let in_hand = node.map(|node| format!("; {} failed", self.id(node))).unwrap_or_default();
        Fault::new(
            crate::error::Exit::TestsFailed,
            format!("{reason}{in_hand}; earlier files are intact"),
        )
        .hint("free some space and run the same command again; it goes on from here")
    }

    // --- files -------------------------------------------------------------------------------

    /// All accepted text as files, in the plan's order.
    pub(crate) fn sources(&self) -> Result<Sources, Fault> {
        let work = &self.shop.work;
        let shelf = self.shelf.borrow().clone();
        let drafts: Vec<(NodeIx, Arc<Draft>)> =
            work.leaves.iter().filter_map(|ix| Some((*ix, shelf.draft(*ix)?))).collect();
        let shares: Vec<Share<'_>> =
            drafts.iter().map(|(ix, draft)| Share { item: &work.items[ix], draft }).collect();
        sources(&work.layout, &shares, &self.shop.kept)
            .map_err(|e| Fault::internal(format!("the accepted texts do not fit together: {e}")))
    }

    /// Writes what has been accepted since the last time.
    pub(crate) fn flush(&mut self) -> Result<(), Fault> {
        let mut files = self.sources()?.files;
        files.retain(|path, _| !self.shop.kept.contains_key(path) || self.kept_changed(path));
        self.write(&files)?;
        self.unwritten = 0;
        Ok(())
    }

    /// A file someone took over is written again only when nodes were added to it.
    fn kept_changed(&self, path: &str) -> bool {
        self.shop.work.items.iter().any(|(ix, item)| {
            let draft = self.shelf.borrow().draft(*ix);
            draft.is_some_and(|draft| {
                (item.path == path && draft.implementation.is_some())
                    || (item.test_path == path && draft.tests.is_some())
            })
        })
    }

    /// Brings `files` to the disk; of what was ours, sources that are not among them are removed.
    pub(crate) fn write(&mut self, files: &BTreeMap<String, String>) -> Result<(), Fault> {
        let kept = &self.shop.kept;
        let source = |path: &str| path.ends_with(".py") && !kept.contains_key(path);
        let remove = |path: &str| files.keys().any(|it| it.ends_with(".py")) && source(path);
        match self.writer.flush(&self.shop.journal, files, remove) {
            Ok(_) => Ok(()),
            Err(FlushError::Fault(fault)) => Err(fault),
            Err(FlushError::Full { path }) => {
                let error = std::io::Error::from(std::io::ErrorKind::StorageFull);
                Err(self.cannot_write(self.last_passed(), &path, &error))
            }
        }
    }

    fn last_passed(&self) -> Option<NodeIx> {
        let passed = self.checkpoint.iter().filter(|(_, entry)| entry.status == "passed");
        let last = passed.max_by(|a, b| a.1.timestamp.cmp(&b.1.timestamp));
        last.and_then(|(id, _)| self.shop.work.plan.find(id))
    }

    // --- commits -----------------------------------------------------------------------------

    /// Commits subgraphs whose leaves are all settled, in the order of their last leaf, for any number
    /// of jobs.
    fn commit_subgraphs(&mut self) -> Result<(), Fault> {
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

    /// Whether this run did nothing: everything had passed before and the documents say so.
    pub(crate) fn had_nothing_to_do(&self) -> bool {
        self.started.is_empty() && self.past.finished
    }

    /// Leaves the folder in order: accepted text written, nodes in hand pending again.
    pub(crate) fn stop(&mut self, reason: &str) -> Result<(), Fault> {
        for ix in self.started.clone() {
            if self.schedule.status(ix) == Some(plan::Status::InProgress) {
                self.mark(ix, "pending", None)?;
            }
        }
        let flushed = self.flush();
        self.write_checkpoint()?;
        let logged = self.shop.journal.commit(Event::Stopped { reason: reason.to_owned() });
        flushed.and(logged.map_err(|e| self.cannot_write(None, ".trellis/journal.jsonl", &e)))
    }
}

/// Letters git allows in a tag.
fn tag_name(subgraph: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "_-./".contains(c) { c } else { '-' };
    let name: String = subgraph.chars().map(keep).collect();
    name.trim_matches(['.', '/']).replace("..", "-")
}

/// Whether this process uses more than 80 % of what it may (W10): its cgroup's limit, else the machine's.
fn memory_is_short() -> bool {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let limit = number("/sys/fs/cgroup/memory.max")
        .or_else(|| number("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    let used = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = used.and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    match (limit, pages) {
        (Some(limit), Some(pages)) => pages * 4096 > limit / 5 * 4,
        _ => false,
    }
}

/// SIGINT and SIGTERM.
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> Result<Signals, Fault> {
        use tokio::signal::unix::{SignalKind, signal};
        let cannot = |e: std::io::Error| Fault::internal(format!("cannot listen for signals: {e}"));
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt()).map_err(cannot)?,
            terminate: signal(SignalKind::terminate()).map_err(cannot)?,
        })
    }

    async fn any(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// The second one exits at once; whatever is being written is replaced whole or not at all.
    fn exit_on_next(self: &mut Signals) {
        use tokio::signal::unix::{SignalKind, signal};
        for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
            if let Ok(mut again) = signal(kind) {
                tokio::spawn(async move {
                    again.recv().await;
                    std::process::exit(130);
                });
            }
        }
    }
}
