//! Takes one node through the cycle: performs its actions and feeds back their results.

mod approval;
pub(super) mod ask;
pub(super) mod run_index;
mod search;
mod test_run;
mod tools;
mod wait;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;
use trellis_engine::assembly::pytest_ini;
use trellis_engine::node::{self, Action, NodeMachine, State};
use trellis_engine::{
    AttemptLog, Cause, DebugContext, Draft, ItemContext, Note, OutOfTurn, Outcome, Policy, Suspect,
    ToolStats,
};
use trellis_plan::NodeIx;
use trellis_sandbox::{Report, Runner};

use crate::budget::BudgetExceeded;
use crate::convert::{Files, SkippedRun};
use crate::driver::{Performed, Performer, drive};
use crate::fault::{Exit, Fault};
use crate::generate::accepted::AcceptedDrafts;
use crate::generate::items::WorkGraph;
use crate::generate::recover::defines;
use crate::job_control::JobControl;
use crate::llm_client::LlmClient;
use crate::plan_search::SemanticPlanSearch;
use crate::reporter::Reporter;
use trellis_store::cost::Cost;
use trellis_store::disk;
use trellis_store::journal::{Event, Journal};
use trellis_store::scratch::ScratchFolder;

pub(super) use approval::Approvals;
pub(super) use wait::WaitReason;

/// State that all workers share.
pub(super) struct RunContext {
    /// The folder of the generated repository.
    pub root: PathBuf,
    pub work: WorkGraph,
    pub policy: Policy,
    pub llm: LlmClient,
    pub runner: Runner,
    pub _scratch: ScratchFolder,
    /// The interpreter of the tests, if it is on this machine.
    pub interpreter: Option<PathBuf>,
    pub journal: Journal,
    pub test_timeout: Duration,
    /// Files of the user that tests may need: `conftest.py`, data.
    pub user_files: BTreeMap<String, Arc<str>>,
    /// Texts that people took over, by path.
    pub kept: BTreeMap<String, String>,
    pub context: Vec<(String, String)>,
    /// Coding conventions of this project.
    pub conventions: Vec<String>,
    pub slots: Arc<Semaphore>,
    pub cancel: CancellationToken,
    pub control: JobControl,
    pub reporter: Reporter,
    /// Approval rules for fixes; `None` if no fix needs approval.
    pub approvals: Option<Approvals>,
    pub freed: mpsc::UnboundedSender<WaitReason>,
    /// Search over the planning graph.
    pub graph: SemanticPlanSearch,
    /// Success rates of localization's tools in this run.
    pub tools: Mutex<ToolStats>,
}

impl RunContext {
    /// Returns the files that the sandbox sees: `files`, pytest's settings and the user's own
    /// files.
    pub(super) fn tree(&self, files: &BTreeMap<String, String>) -> Files {
        let mut tree: Files =
            files.iter().map(|(path, text)| (path.clone(), Arc::from(text.as_str()))).collect();
        tree.insert("pytest.ini".to_owned(), Arc::from(pytest_ini(&self.work.layout)));
        for (path, text) in &self.user_files {
            tree.entry(path.clone()).or_insert_with(|| text.clone());
        }
        tree
    }
}

/// Result of a node, with its cost.
#[derive(Debug)]
pub(super) struct NodeResult {
    pub node: NodeIx,
    pub verdict: Outcome,
    /// The cause of a failure.
    pub cause: Option<Cause>,
    pub draft: Draft,
    /// The draft is that of an earlier start.
    pub is_kept: bool,
    pub fixes: u32,
    /// Tests that passed only when they were run again.
    pub flaky: Vec<String>,
    pub tests_passed: usize,
    pub tests_failed: usize,
    pub cost: Cost,
}

/// Reason for which a node has no outcome.
pub(super) enum WorkerError {
    Cancelled,
    Fault(Fault),
    /// The next request would exceed the budget.
    Budget(BudgetExceeded),
    /// The journal could not be written during work on the node, or on a subgraph.
    Journal {
        node: Option<NodeIx>,
        error: std::io::Error,
    },
    /// The state machine refused an event.
    OutOfTurn(OutOfTurn),
}

impl From<OutOfTurn> for WorkerError {
    fn from(error: OutOfTurn) -> WorkerError {
        WorkerError::OutOfTurn(error)
    }
}

impl From<SkippedRun> for WorkerError {
    fn from(none: SkippedRun) -> WorkerError {
        match none {
            SkippedRun::Cancelled => WorkerError::Cancelled,
            SkippedRun::Fault(fault) => WorkerError::Fault(fault),
        }
    }
}

impl WorkerError {
    /// Converts the error where no node is at work.
    pub(super) fn into_fault(self) -> Fault {
        match self {
            WorkerError::Fault(fault) => fault,
            WorkerError::Cancelled => {
                Fault::new(Exit::Interrupted, "stopped; accepted code is kept")
                    .hint("run the same command again to resume")
            }
            WorkerError::Budget(exhausted) => exhausted.into(),
            WorkerError::Journal { error, .. } => {
                Fault::internal(format!("cannot write the journal: {error}"))
            }
            WorkerError::OutOfTurn(error) => error.into(),
        }
    }
}

/// Works on one node until it ends. `earlier` is the draft of an earlier start that a changed
/// dependency made doubtful. `permit` is the job slot; the worker gives it back while the node waits
/// for others.
pub(super) async fn work_on(
    run_context: Arc<RunContext>,
    node: NodeIx,
    earlier: Option<Draft>,
    accepted_drafts: watch::Receiver<AcceptedDrafts>,
    permit: OwnedSemaphorePermit,
) -> Result<NodeResult, WorkerError> {
    let mut worker = Worker {
        node,
        earlier,
        draft: Draft::default(),
        more: BTreeSet::new(),
        accepted_drafts,
        permit: Some(permit),
        has_turn: false,
        has_waited: false,
        fixes: 0,
        begun_on: BTreeMap::new(),
        cost: Cost::default(),
        passed: 0,
        failed: 0,
        repeats: 0,
        last: None,
        suspects: Vec::new(),
        amendable: Vec::new(),
        trail: AttemptLog::default(),
        tools: ToolStats::default(),
        run_context,
    };
    worker.run().await
}

struct Worker {
    run_context: Arc<RunContext>,
    node: NodeIx,
    earlier: Option<Draft>,
    draft: Draft,
    /// Dependencies that the code has beyond the planned ones.
    more: BTreeSet<NodeIx>,
    accepted_drafts: watch::Receiver<AcceptedDrafts>,
    permit: Option<OwnedSemaphorePermit>,
    /// No other worker is active until this node ends.
    has_turn: bool,
    /// The worker gave its slot back since the last step.
    has_waited: bool,
    /// Number of fixes so far.
    fixes: u32,
    /// Hashes of the implementations in the node's view at the start, by node id.
    begun_on: BTreeMap<String, String>,
    cost: Cost,
    passed: usize,
    failed: usize,
    /// Number of unchanged reruns of the current test run.
    repeats: u32,
    /// The last failed run, with its files.
    last: Option<(Report, Files)>,
    /// Suspects of the last localization, and the files of those that passed before.
    suspects: Vec<Suspect>,
    amendable: Vec<String>,
    /// Lookups that localization tried.
    trail: AttemptLog,
    /// Success of localization's tools for this node. Figures of all nodes would depend on the
    /// number of jobs.
    tools: ToolStats,
}

/// End of the work on a node, or the reason to begin again.
enum WorkEnd {
    Ended(Outcome),
    /// A dependency changed while the node waited. A later run would start from the new text, so
    /// this one starts over as well.
    DependencyChanged,
}

impl Performer<NodeMachine<'_>> for Worker {
    type Output = WorkEnd;
    type Error = WorkerError;

    async fn perform(
        &mut self,
        action: Action,
        machine: &NodeMachine<'_>,
    ) -> Result<Performed<node::Event, WorkEnd>, WorkerError> {
        self.run_context.control.wait_while_paused().await;
        self.fixes = machine.state().fixes();
        let event = match action {
            Action::Complete(ask) if ask.tools => self.ask_with_tools(&ask).await?,
            Action::Complete(ask) => self.ask(&ask).await?,
            Action::Vote(asks) => self.vote(&asks).await?,
            Action::RunTests(run) => self.test(run).await?,
            Action::Localize(query) => self.search(&query).await?,
            Action::AwaitExclusive => {
                self.await_exclusive_turn().await?;
                node::Event::Exclusive
            }
            Action::RunRegressionTests => self.regression().await?,
            Action::Review => node::Event::Decided(self.approval().await?),
            Action::Finish(outcome) => return Ok(Performed::Finished(WorkEnd::Ended(outcome))),
            Action::Apply(draft) => {
                self.draft = draft;
                return Ok(Performed::Nothing);
            }
            Action::Explain(context) => return self.explain(&context).map(|()| Performed::Nothing),
            Action::Note(note) => return self.note(note).map(|()| Performed::Nothing),
            Action::Revert => return self.revert().map(|()| Performed::Nothing),
        };
        if self.has_waited && self.texts_of_view() != self.begun_on {
            return Ok(Performed::Finished(WorkEnd::DependencyChanged));
        }
        self.has_waited = false;
        Ok(Performed::Event(event))
    }
}

impl Worker {
    async fn run(&mut self) -> Result<NodeResult, WorkerError> {
        let run_context = self.run_context.clone();
        let item = &run_context.work.items[&self.node];
        let (file, written) = self.written_so_far()?;
        let around = ItemContext {
            file,
            written,
            context: run_context.context.clone(),
            conventions: run_context.conventions.clone(),
        };
        let by_hand = run_context.kept.get(&item.path).is_some_and(|text| defines(text, item));
        let earlier = self.earlier.take();
        let begin = || {
            let state = if by_hand { State::written_by_hand() } else { State::default() };
            match &earlier {
                Some(draft) => state.rechecking(draft.clone()),
                None => state,
            }
        };
        self.begun_on = self.texts_of_view();
        loop {
            let mut machine = NodeMachine::new(item, &run_context.policy, &around, begin());
            match drive(&mut machine, node::Event::Started, self).await {
                Ok(WorkEnd::Ended(outcome)) => return Ok(self.outcome(outcome, machine.state())),
                Ok(WorkEnd::DependencyChanged) => self.restart()?,
                Err(WorkerError::OutOfTurn(error)) => {
                    self.revert()?;
                    let outcome = Outcome::Failed { reason: error.to_string() };
                    let result = self.outcome(outcome, machine.state());
                    return Ok(NodeResult { cause: Some(Cause::Internal), ..result });
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn outcome(&mut self, verdict: Outcome, state: &State) -> NodeResult {
        NodeResult {
            node: self.node,
            verdict,
            cause: state.cause(),
            draft: std::mem::take(&mut self.draft),
            is_kept: state.is_kept(),
            fixes: state.fixes(),
            flaky: state.flaky().to_vec(),
            tests_passed: self.passed,
            tests_failed: self.failed,
            cost: std::mem::take(&mut self.cost),
        }
    }

    fn note(&self, note: Note) -> Result<(), WorkerError> {
        let (what, text) = (note.what.to_owned(), note.text);
        self.log(Event::Note { node: self.id(), what, text })
    }

    /// Discards the draft.
    fn revert(&mut self) -> Result<(), WorkerError> {
        let draft = std::mem::take(&mut self.draft);
        let (tests, implementation) = (source(&draft.tests), source(&draft.implementation));
        self.log(Event::TakenBack { node: self.id(), tests, implementation })
    }

    /// Writes the debug context that a person needs to continue.
    fn explain(&self, context: &DebugContext) -> Result<(), WorkerError> {
        let name = disk::escape_ref_name(&self.id());
        let pages = [
            (format!(".trellis/debug/{name}.md"), context.to_markdown()),
            (format!(".trellis/debug/{name}.json"), format!("{:#}\n", context.to_json())),
        ];
        for (path, text) in &pages {
            let written = disk::write(&self.run_context.root, path, text);
            written.map_err(|error| WorkerError::Journal { node: Some(self.node), error })?;
        }
        let text = format!("see {}", pages[0].0);
        self.log(Event::Note { node: self.id(), what: "debug-context".to_owned(), text })
    }

    fn id(&self) -> String {
        self.run_context.work.plan.id(self.node).to_owned()
    }

    fn log(&self, event: Event) -> Result<(), WorkerError> {
        let node = Some(self.node);
        self.run_context.journal.log(event).map_err(|error| WorkerError::Journal { node, error })
    }
}

/// Returns a fragment as text; empty if there is none.
pub(super) fn source(fragment: &Option<trellis_python::Fragment>) -> String {
    fragment.as_ref().map(trellis_python::Fragment::to_source).unwrap_or_default()
}
