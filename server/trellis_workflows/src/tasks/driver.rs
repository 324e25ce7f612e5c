//! Performs the actions of the task graph, several tasks at a time.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use trellis_engine::Outcome;
use trellis_engine::issue::Changes;
use trellis_engine::task_graph::{Action, Event, Progress, TaskGraphMachine};
use trellis_plan::{NodeIx, Plan};

use super::merge::{BatchResult, MergeTester, PassingCache, merge, merge_one};
use super::report::TasksReport;
use super::status_file::StatusWriter;
use super::step_error::{StepError, reported};
use super::{TasksRequest, log_stage, scaffold};
use crate::driver::{Performed, Performer, drive};
use crate::fault::{Exit, Fault, explained};
use crate::issue::{
    self, IssueEnd, ReadyToMerge, Services, Spec, TestRunner, message, run_until_merge,
    with_packages,
};
use crate::job_control::JobControl;
use crate::llm_session::{LlmSession, no_journal};
use crate::models;
use crate::reporter::Reporter;
use crate::sandbox::{self, Packages, Sandbox};
use crate::stacks::{self, Stack};
use crate::timing::Timing;
use trellis_git::forge::{self, Forge, UnmergedBranch};
use trellis_git::git::Git;
use trellis_git::merge::Checkout;
use trellis_git::worktree_state::{branch, checked_out, full, left};
use trellis_project::plan_file;
use trellis_store::disk;
use trellis_store::journal::Journal;
use trellis_store::lock::Lock;
use trellis_store::origin::Workflow;

/// Implements a list of tasks as a repository.
///
/// # Errors
///
/// The list has problems, the folder belongs to something else, or there is no git, no sandbox or
/// no model. Merged tasks stay, and the next call resumes from there.
pub async fn tasks(
    order: &TasksRequest,
    reporter: &Reporter,
    control: &JobControl,
) -> Result<TasksReport, Fault> {
    let began = Instant::now();
    let plan = Arc::new(plan_file::read_tasks(&order.file)?);
    if plan.nodes().is_empty() {
        return Err(Fault::input(format!("{} has no tasks", order.file.display()))
            .hint("give a list with at least one task; nothing was started"));
    }
    let known = stacks::all(&order.stacks, |name| std::env::var(name).ok())?;
    let stack = stacks::find(known, &order.stack)?;
    let out = scaffold::folder(order, &stack)?;
    let _lock = Lock::take(&out)?;
    let origin = control.origin(Workflow::Tasks);
    let journal = Journal::join(&out, origin.clone()).map_err(no_journal)?;
    let (git, merged) = scaffold::repository(&out, &journal)?;
    let into = checked_out(&git)?;
    let forge = match &order.push {
        Some(it) => {
            let services = forge::Services {
                journal: &journal,
                note: Box::new(|text| reporter.note(text)),
                explain: explained,
                cancel: &control.cancel,
            };
            let settings = models::config(&out)?.forge;
            Some(Forge::open(it, &out, git.at(&out), settings, services)?)
        }
        None => None,
    };
    let mut status = StatusWriter::new(&out, &plan, &order.file, stack.name(), reporter)?;
    scaffold::clear(&out, &git, &journal, reporter)?;
    if merged.is_none() {
        status.begin()?;
        scaffold::install(&out, &stack, reporter, &control.cancel).await?;
    }
    let opened = open(order, &out, reporter, control).await?;
    let session = LlmSession::open(&out, origin, &order.model, reporter, cancelled)?;
    let tools = Services {
        reporter,
        control,
        journal: &journal,
        runner: &opened.runner,
        session: &session,
    };
    let all = Arc::new(TasksRun {
        order,
        stack: &stack,
        plan: plan.clone(),
        out: &out,
        tools,
        git,
        into,
        forge,
        known: PassingCache::default(),
    });
    let ended = all.follow(merged, &mut status).await;
    if let Ok(machine) = &ended {
        all.push(&machine.progress()).await?;
    }
    let mut notes = opened.runner.close().await;
    notes.extend(opened.runner.engines_used());
    let machine = ended?;
    Ok(TasksReport {
        out: out.display().to_string(),
        usd: session.spent().usd,
        tokens: session.spent().tokens,
        time: Timing::of(began.elapsed(), opened.runner.totals()),
        notes,
        pushed: all.forge.as_ref().map(Forge::results).unwrap_or_default(),
        ..TasksReport::of(&machine.progress())
    })
}

async fn open(
    order: &TasksRequest,
    out: &Path,
    reporter: &Reporter,
    control: &JobControl,
) -> Result<Sandbox, Fault> {
    let opening = sandbox::open(&order.sandbox, out, Packages::Project, reporter);
    tokio::select! {
        () = control.cancel.cancelled() => Err(cancelled()),
        opened = opening => opened,
    }
}

/// Everything that all tasks share.
pub(super) struct TasksRun<'a> {
    pub(super) order: &'a TasksRequest,
    pub(super) stack: &'a Stack,
    pub(super) plan: Arc<Plan>,
    pub(super) out: &'a Path,
    tools: Services<'a>,
    git: Git,
    /// The branch that everything is merged into: the one checked out at the start.
    pub(super) into: String,
    forge: Option<Forge<'a>>,
    /// Tests that pass on the target branch.
    known: PassingCache,
}

/// Result of a finished step.
enum StepDone {
    Scaffold(Result<(), String>),
    Task(NodeIx, IssueEnd),
    Merge(BatchResult),
    Integration(Result<(), String>),
}

/// The run of a task graph: its steps in progress.
struct GraphRun<'a, 's> {
    all: &'s TasksRun<'a>,
    status: &'s mut StatusWriter<'a>,
    under_way: FuturesUnordered<BoxFuture<'s, Result<StepDone, Fault>>>,
    /// Tasks that wait for their merge.
    made: HashMap<NodeIx, ReadyToMerge>,
}

impl Performer<TaskGraphMachine> for GraphRun<'_, '_> {
    type Output = ();
    type Error = Fault;

    async fn perform(
        &mut self,
        action: Action,
        machine: &TaskGraphMachine,
    ) -> Result<Performed<Event, ()>, Fault> {
        self.status.show(machine)?;
        if let Action::Finish(_) = action {
            self.all.state(machine.progress().phase.as_str(), "")?;
            return Ok(Performed::Finished(()));
        }
        self.under_way.push(self.all.begin(action, machine, &mut self.made)?);
        Ok(Performed::Nothing)
    }

    async fn next_event(&mut self, machine: &TaskGraphMachine) -> Result<Event, Fault> {
        self.status.show(machine)?;
        let Some(ended) = self.under_way.next().await else {
            return Err(Fault::internal("the tasks have no next step"));
        };
        let event = match ended? {
            StepDone::Scaffold(result) => Event::Scaffolded(result),
            StepDone::Integration(result) => Event::Integrated(result),
            StepDone::Merge(BatchResult { done, refused }) => Event::Merged { done, refused },
            StepDone::Task(task, came) => self.all.came(task, came, &mut self.made),
        };
        self.all.seen(&event)?;
        Ok(event)
    }
}

impl<'a> TasksRun<'a> {
    async fn follow(
        &self,
        merged: Option<Vec<String>>,
        status: &mut StatusWriter<'a>,
    ) -> Result<TaskGraphMachine, Fault> {
        let known = merged.map(|names| self.find_by_names(&names));
        let order = trellis_plan::order(&self.plan);
        let mut machine =
            TaskGraphMachine::new(self.plan.clone(), order, self.order.jobs, known.as_deref());
        let (under_way, made) = (FuturesUnordered::new(), HashMap::new());
        let mut run = GraphRun { all: self, status, under_way, made };
        drive(&mut machine, Event::Started, &mut run).await?;
        Ok(machine)
    }

    fn begin<'s>(
        &'s self,
        next: Action,
        machine: &TaskGraphMachine,
        made: &mut HashMap<NodeIx, ReadyToMerge>,
    ) -> Result<BoxFuture<'s, Result<StepDone, Fault>>, Fault> {
        Ok(match next {
            Action::Scaffold => {
                self.state("SCAFFOLDING", self.stack.name())?;
                Box::pin(async { Ok(StepDone::Scaffold(reported(self.scaffold().await)?)) })
            }
            Action::StartWork(task) => {
                self.note(self.plan.id(task), "begun")?;
                Box::pin(async move { Ok(StepDone::Task(task, self.implement_task(task).await?)) })
            }
            Action::Merge(tasks) => {
                // Tasks that an earlier start merged need no merge.
                let (batch, before): (Vec<_>, Vec<_>) = tasks
                    .into_iter()
                    .map(|it| (it, made.remove(&it)))
                    .partition(|it| it.1.is_some());
                let batch =
                    batch.into_iter().filter_map(|(task, made)| Some((task, made?))).collect();
                let before = before.into_iter().map(|it| it.0);
                let before: Vec<NodeIx> = before.collect();
                Box::pin(async move {
                    let order = self.work("tasks", "all tasks", None);
                    let trials =
                        TestRunner::of(&order, self.tools.runner, &self.tools.control.cancel);
                    let mut merged = merge(batch, self.verifier(&trials)).await?;
                    if let Some(forge) = self.forge.as_ref().filter(|_| !merged.done.is_empty()) {
                        forge.push_target(&self.into).await;
                    }
                    merged.done.extend(before);
                    Ok(StepDone::Merge(merged))
                })
            }
            Action::Integrate => {
                self.state("INTEGRATING", "")?;
                let merged = machine.progress().completed;
                Box::pin(async move {
                    Ok(StepDone::Integration(reported(self.integrate(&merged).await)?))
                })
            }
            Action::Finish(_) => return Err(Fault::internal("an end is not a step")),
        })
    }

    fn verifier<'s>(&'s self, trials: &'s TestRunner<'s>) -> MergeTester<'s> {
        MergeTester { tools: self.tools, trials, known: &self.known }
    }

    /// Pushes merges that have not been pushed yet, and branches left for a person.
    async fn push(&self, progress: &Progress) -> Result<(), Fault> {
        let Some(forge) = &self.forge else { return Ok(()) };
        let name = |id: &String| format!("task-{}", disk::escape_ref_name(id));
        let done: Vec<String> = progress.completed.iter().map(|it| branch(&name(it))).collect();
        forge.merged(&self.into, &done).await;
        for (id, reason) in &progress.failed {
            if let Some(task) = self.plan.find(id) {
                self.push_for_review(forge, &self.task(task), &self.words(task), reason).await?;
            }
        }
        if let Some(reason) = &progress.reason {
            let merged = &progress.completed;
            let order = self.integration_request(merged);
            let words = self.integration_spec(merged);
            self.push_for_review(forge, &order, &words, reason).await?;
        }
        Ok(())
    }

    /// Pushes the branch of ended work that waits for a person, if there is one.
    async fn push_for_review(
        &self,
        forge: &Forge<'_>,
        order: &issue::IssueRequest,
        words: &Spec,
        reason: &str,
    ) -> Result<(), Fault> {
        let Some(into) = left(self.out, &order.name)? else { return Ok(()) };
        let (branch, message) = (branch(&order.name), message(order, words));
        let (branch, into, message) = (&branch, &into, &message);
        forge.push_for_review(&UnmergedBranch { branch, into, message, reason, report: "" }).await;
        Ok(())
    }

    /// Checks that the new project's first test passes, and commits the project.
    async fn scaffold(&self) -> Result<(), StepError> {
        self.check_tests(self.out).await?;
        Ok(scaffold::commit(&self.git, self.stack, self.tools.journal)?)
    }

    /// Checks that all tests pass in a folder.
    async fn check_tests(&self, root: &Path) -> Result<(), StepError> {
        let order = self.work("tasks", "all tasks", None);
        let trials = TestRunner::of(&order, self.tools.runner, &self.tools.control.cancel);
        let run = trials.run(root, &Changes::new(), &[]).await?;
        if run.is_clean() { Ok(()) } else { Err(StepError::refused(run.summary())) }
    }

    async fn implement_task(&self, task: NodeIx) -> Result<IssueEnd, Fault> {
        match run_until_merge(&self.task(task), self.words(task), self.tools).await {
            // For example, a person is at work in the task's worktree. The other tasks need not
            // stop for that.
            Err(fault) if fault.exit == Exit::NeedsHuman => {
                Ok(IssueEnd::Ended(Outcome::NeedsHuman { reason: fault.to_string() }))
            }
            came => came,
        }
    }

    /// Returns the tasks whose names commits contain. Commits use escaped names, since an id may be
    /// any text, even with line breaks.
    fn find_by_names(&self, names: &[String]) -> Vec<NodeIx> {
        let tasks = self.plan.nodes().iter().filter_map(|it| self.plan.find(&it.id));
        tasks.filter(|it| names.contains(&disk::escape_ref_name(self.plan.id(*it)))).collect()
    }

    /// Checks that everything works together: all tests pass, and so do tests that a model writes
    /// for several tasks at once, with any code needed to connect them.
    async fn integrate(&self, merged: &[String]) -> Result<(), StepError> {
        // A separate checkout, because a person may have checked out or be editing something else.
        let branch = full(&self.into);
        let made = Checkout::of(&self.git, self.tools.journal, &branch)?;
        let made = with_packages(made, self.out)?;
        self.check_tests(&made.root).await?;
        if !self.order.integrates || merged.len() < 2 {
            return Ok(());
        }
        let order = self.integration_request(merged);
        let trailer = order.trailer.as_deref().unwrap_or_default();
        if scaffold::is_merged(&self.git, &branch, trailer)? {
            return Ok(());
        }
        match run_until_merge(&order, self.integration_spec(merged), self.tools).await? {
            IssueEnd::Merged => Ok(()),
            IssueEnd::Ended(end) => Err(StepError::refused(integration_error(&why(end)))),
            IssueEnd::Made(mut made) => {
                let trials = TestRunner::of(&order, self.tools.runner, &self.tools.control.cancel);
                match merge_one(&mut made, self.verifier(&trials)).await {
                    Err(StepError::Refused(why)) => {
                        Err(StepError::Refused(integration_error(&why)))
                    }
                    merged => merged,
                }
            }
        }
    }

    /// Converts the end of a task into an event of the task graph.
    fn came(
        &self,
        task: NodeIx,
        came: IssueEnd,
        made: &mut HashMap<NodeIx, ReadyToMerge>,
    ) -> Event {
        match came {
            IssueEnd::Made(it) => {
                made.insert(task, *it);
                Event::Made(task)
            }
            IssueEnd::Merged => Event::Made(task),
            IssueEnd::Ended(end) => Event::Failed(task, why(end)),
        }
    }

    /// Reports an event.
    fn seen(&self, seen: &Event) -> Result<(), Fault> {
        let id = |task: &NodeIx| self.plan.id(*task);
        match seen {
            Event::Started => Ok(()),
            Event::Scaffolded(Ok(())) => self.state("GENERATING", ""),
            Event::Scaffolded(Err(why)) => self.state("no project", why),
            Event::Made(task) => self.note(id(task), "made"),
            Event::Failed(task, why) => self.said(id(task), "failed", why),
            Event::Merged { done, refused } => {
                done.iter().try_for_each(|it| self.note(id(it), "merged"))?;
                refused.iter().try_for_each(|(it, why)| self.said(id(it), "not merged", why))
            }
            Event::Integrated(Ok(())) => Ok(()),
            Event::Integrated(Err(why)) => self.state("not integrated", why),
        }
    }

    fn state(&self, phase: &str, why: &str) -> Result<(), Fault> {
        self.said("tasks", phase, why)
    }

    fn note(&self, task: &str, what: &str) -> Result<(), Fault> {
        self.said(task, what, "")
    }

    fn said(&self, work: &str, stage: &str, reason: &str) -> Result<(), Fault> {
        log_stage(self.tools, work, stage, reason)
    }
}

/// Returns the message that the integration tests are missing.
fn integration_error(why: &str) -> String {
    format!(
        "every task is merged or has failed, and the integration tests are missing \
         (`--skip-integration` skips them): {why}"
    )
}

/// Returns the reason that an issue was not merged.
fn why(outcome: Outcome) -> String {
    match outcome {
        Outcome::NeedsHuman { reason }
        | Outcome::Failed { reason }
        | Outcome::Skipped { reason } => reason,
        Outcome::Passed | Outcome::Deferred => "it was left on its branch".to_owned(),
    }
}

fn cancelled() -> Fault {
    Fault::new(Exit::Interrupted, "stopped before all tasks were done")
        .hint("run the same command again: it resumes, and merged tasks stay")
}
