//! Resumes an issue where it stands and performs the actions of its state machine.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use trellis_engine::issue::{
    Action, Changes, Event, IssueFacts, IssueMachine, PromptKind, ShownFile, ShownPart,
};
use trellis_engine::{Decision, Outcome};
use trellis_sandbox::Runner;

use super::files::is_test;
use super::report::{self, Log};
use super::result::IssueReport;
use super::result::{ended, forge, push};
use super::resume::{Resume, find_merge, resume_or_start};
use super::spec::{self, Spec};
use super::test_runner::{self, TestRunner, with_packages};
use super::{IssueRequest, Reviewer, SpecFiles, cancelled};
use crate::driver::{Performed, Performer, drive};
use crate::fault::{Exit, Fault, cannot};
use crate::job_control::JobControl;
use crate::llm_session::{LlmSession, no_journal};
use crate::reporter::Reporter;
use crate::timing::Timing;
use trellis_git::forge::Forge;
use trellis_git::merge::Checkout;
use trellis_git::worktree::Worktree;
use trellis_store::disk;
use trellis_store::journal::{self, Journal};
use trellis_store::origin::Workflow;
use trellis_store::replay::cached;

/// Implements an issue and merges the result if that is permitted.
///
/// # Errors
///
/// The specification cannot be read, or there is no repository, no sandbox or no model. Finished
/// work stays on the issue's branch, and the next call resumes from there.
pub async fn implement(
    order: &IssueRequest,
    given: &SpecFiles,
    reviewer: &Reviewer,
    reporter: &Reporter,
    control: &JobControl,
) -> Result<IssueReport, Fault> {
    let began = Instant::now();
    let words = spec::read(order, given)?;
    disk::ensure(&order.home).map_err(|error| cannot("create .trellis", &error))?;
    let journal =
        Journal::join(&order.home, control.origin(Workflow::Implement)).map_err(no_journal)?;
    let services = IssueServices { reviewer, reporter, control, journal: &journal };
    let forge = forge(order, services)?;
    if let Some(forge) = &forge {
        forge.push_pending().await;
    }
    let begun = match find_merge(order)? {
        Some(commit) => Resume::Merged(commit),
        None => resume_or_start(order, &journal, reporter)?,
    };
    let (work, mut machine) = match begun {
        Resume::Merged(commit) => {
            let pushed = forge.map(|it| it.results()).unwrap_or_default();
            return Ok(IssueReport { pushed, ..IssueReport::merged_before(order, commit) });
        }
        Resume::Work(work, machine) => (*work, machine),
    };
    let message = report::message(order, &words);
    let opened = test_runner::open(order, reporter, &control.cancel).await?;
    let trials = TestRunner::of(order, &opened.runner, &control.cancel);
    let mut run_context = IssueRun::new(order, services, words, work, trials)?;
    run_context.forge = forge.as_ref();
    let end = run_context.follow(&mut machine).await;
    let IssueRun { work, mut log, session, .. } = run_context;
    log.tested = opened.runner.totals();
    log.notes.extend(opened.runner.close().await);
    log.notes.extend(opened.runner.engines_used());
    log.spent = session.map(|it| it.spent());
    let end = end?;
    let into = work.record.into.clone();
    let mut result = ended(order, work, log, end, machine.history())?;
    if let Some(forge) = &forge {
        push(forge, order, &result, &into, &message).await;
        result.pushed = forge.results();
    }
    let time = Timing::of(began.elapsed(), result.tested);
    Ok(IssueReport { time, ..result })
}

/// Services that one issue uses.
#[derive(Clone, Copy)]
pub(super) struct IssueServices<'a> {
    pub(super) reviewer: &'a Reviewer,
    pub(super) reporter: &'a Reporter,
    pub(super) control: &'a JobControl,
    pub(super) journal: &'a Journal,
}

/// Services that several issues share.
#[derive(Clone, Copy)]
pub struct Services<'a> {
    pub reporter: &'a Reporter,
    pub control: &'a JobControl,
    pub journal: &'a Journal,
    pub runner: &'a Runner,
    pub session: &'a LlmSession,
}

/// Work that passed its gates, committed on its branch.
pub struct ReadyToMerge {
    /// Id under which requests to the model are journaled.
    pub id: String,
    /// Title for people.
    pub title: String,
    pub specification: String,
    pub work: Worktree,
    /// Message of the merge commit.
    pub message: String,
    /// Ids of the tests that pass with this work.
    pub passed: Vec<String>,
}

/// Result of an issue whose merge the caller makes.
pub enum IssueEnd {
    Made(Box<ReadyToMerge>),
    /// An earlier start merged it.
    Merged,
    Ended(Outcome),
}

/// Implements the specification up to its merge, for a caller that has many issues. No person is
/// asked.
///
/// # Errors
///
/// As for [`implement`].
pub async fn run_until_merge(
    order: &IssueRequest,
    words: Spec,
    tools: Services<'_>,
) -> Result<IssueEnd, Fault> {
    let Services { reporter, control, journal, runner, session } = tools;
    let (work, mut machine) = match resume_or_start(order, journal, reporter)? {
        Resume::Merged(_) => return Ok(IssueEnd::Merged),
        Resume::Work(work, machine) => (*work, machine),
    };
    let trials = TestRunner::of(order, runner, &control.cancel);
    let message = report::message(order, &words);
    let specification = words.specification.clone();
    let services = IssueServices { reviewer: &Reviewer::Nobody, reporter, control, journal };
    let mut run_context = IssueRun::new(order, services, words, work, trials)?;
    run_context.session = Some(session.fork());
    run_context.load_replies()?;
    run_context.merges = false;
    let end = run_context.follow(&mut machine).await?;
    let IssueRun { mut work, log, is_ready, .. } = run_context;
    if is_ready {
        let (id, title) = (order.id.clone(), order.title.clone());
        let passed = log.passed();
        let ready = ReadyToMerge { id, title, specification, work, message, passed };
        return Ok(IssueEnd::Made(Box::new(ready)));
    }
    match &end {
        Outcome::Passed => {
            // An empty change means that the branch already has what was requested.
            work.clear(journal)?;
            return Ok(IssueEnd::Merged);
        }
        Outcome::NeedsHuman { reason } => work.mark_finished(reason)?,
        _ => {}
    }
    Ok(IssueEnd::Ended(end))
}

/// Everything that a running issue holds.
pub(super) struct IssueRun<'a> {
    pub(super) order: &'a IssueRequest,
    pub(super) services: IssueServices<'a>,
    pub(super) words: Spec,
    pub(super) work: Worktree,
    pub(super) trials: TestRunner<'a>,
    /// The caller's session, or one that is opened before the first request.
    pub(super) session: Option<LlmSession>,
    /// The remote that merges are pushed to.
    pub(super) forge: Option<&'a Forge<'a>>,
    /// The project as it was before the work.
    pub(super) ground: Checkout<'a>,
    /// The project with a person's edits, if there are any.
    pub(super) edited: Option<Checkout<'a>>,
    pub(super) feature: IssueFacts,
    /// Texts of all files that differ from those of `ground`.
    pub(super) changes: Changes,
    /// The tree of a person's edits, if the work continues from them.
    pub(super) adopted: Option<String>,
    /// True if this run makes the merge; else it ends when only the merge is left.
    pub(super) merges: bool,
    /// True if only the merge is left.
    pub(super) is_ready: bool,
    /// Number of fix requests so far.
    pub(super) fixes: u32,
    /// Tests that passed before the work, once known.
    pub(super) before: Option<Vec<String>>,
    pub(super) log: Log,
}

impl<'a> IssueRun<'a> {
    fn new(
        order: &'a IssueRequest,
        services: IssueServices<'a>,
        words: Spec,
        work: Worktree,
        trials: TestRunner<'a>,
    ) -> Result<IssueRun<'a>, Fault> {
        let ground = work.checkout(services.journal, &work.record.base)?;
        let ground = with_packages(ground, &order.home)?;
        let all = ground.tracked()?;
        let fixes = work.record.waits.unwrap_or(0);
        let feature = spec::feature(order, &words, &ground.root, &all, trials.framework);
        Ok(IssueRun {
            order,
            services,
            words,
            work,
            trials,
            session: None,
            forge: None,
            ground,
            edited: None,
            feature,
            changes: Changes::new(),
            adopted: None,
            merges: true,
            is_ready: false,
            fixes,
            before: None,
            log: Log::default(),
        })
    }

    /// Performs actions until there is an outcome.
    async fn follow(&mut self, machine: &mut IssueMachine) -> Result<Outcome, Fault> {
        if machine.begins_with_code() || self.work.record.edited {
            self.adopt_user_edits()?;
        }
        drive(machine, Event::Started, self).await
    }

    /// Commits unfinished work so that a person or the next run can continue.
    fn commit_unfinished(&mut self, end: &Outcome) -> Result<(), Fault> {
        let is_new = *end != Outcome::Passed && !self.changes.is_empty();
        if is_new {
            self.commit_progress()?;
            self.log.diff = self.work.diff()?;
            self.log.paths = self.changes.keys().cloned().collect();
        }
        Ok(())
    }

    /// Writes all changes so far to the branch.
    pub(super) fn commit_progress(&mut self) -> Result<(), Fault> {
        let message = format!("{}: work in progress", self.feature.title);
        let from = match &self.edited {
            Some(_) => self.work.tip().to_owned(),
            None => self.work.record.base.clone(),
        };
        let (journal, files) = (self.services.journal, self.work.current_files()?);
        let edits = match files.is_edited() {
            true => Some(self.work.commit_user_edits(journal, &files)?),
            false => None,
        };
        self.work.write(journal, &from, &self.changes, edits.as_ref(), &message)?;
        files.edited.first().map_or(Ok(()), |path| Err(is_edited_meanwhile(path)))
    }

    /// Replaces the changes by the files as a person edited them.
    pub(super) fn adopt_user_edits(&mut self) -> Result<(), Fault> {
        let there = self.work.changed()?.0;
        let text = |path: String| {
            let file = self.work.root.join(&path);
            // The text behind a link would become the target of the link.
            let text = (!file.is_symlink()).then(|| trellis_project::edits::read(&file).ok());
            Some((path, text.flatten()?))
        };
        self.changes = there.into_iter().filter_map(text).collect();
        let edited = self.work.checkout(self.services.journal, self.work.tip())?;
        self.edited = Some(with_packages(edited, &self.order.home)?);
        self.adopted = self.work.tree_of(self.work.tip())?;
        self.refresh_prompt_files();
        Ok(())
    }

    /// Updates the files that a model is shown.
    pub(super) fn refresh_prompt_files(&mut self) {
        let (tests, code): (Vec<_>, Vec<_>) =
            self.changes.clone().into_iter().partition(|(path, _)| is_test(path));
        self.feature.written = tests;
        self.feature.files.retain(|it| !self.changes.contains_key(&it.path));
        self.feature.diff = code.iter().map(|(path, text)| self.difference(path, text)).collect();
        self.feature.files.splice(0..0, code.into_iter().map(|it| ShownFile::whole(&it.0, it.1)));
        self.feature.others.retain(|path| !self.changes.contains_key(path));
    }

    /// Returns the diff of a file that existed before the work; empty for a new file.
    fn difference(&self, path: &str, text: &str) -> String {
        let before = self.original(path);
        before.map_or_else(String::new, |it| trellis_python::unified_diff(path, &it, text))
    }

    /// Returns a file as it was before the work.
    pub(super) fn original(&self, path: &str) -> Option<String> {
        trellis_project::edits::read(&self.ground.root.join(path)).ok()
    }

    /// Puts whole files into the next request.
    pub(super) fn show_files(&mut self, paths: &[String]) {
        for path in paths {
            let Ok(text) = trellis_project::edits::read(&self.root().join(path)) else { continue };
            self.feature.files.retain(|it| it.path != *path);
            self.feature.files.insert(0, ShownFile::whole(path, text));
            self.feature.others.retain(|it| it != path);
        }
    }

    /// Returns the files that a request shows whole.
    pub(super) fn shown(&self) -> BTreeSet<String> {
        let feature = &self.feature;
        let whole =
            feature.files.iter().filter(|it| it.part == ShownPart::Whole).map(|it| &it.path);
        let given = feature.context.code.iter().chain(&feature.context.standards).map(|it| &it.0);
        whole.chain(given).chain(feature.written.iter().map(|it| &it.0)).cloned().collect()
    }

    /// Reports the next action to observers and to the journal.
    fn report_stage(&self, next: &Action) -> Result<(), Fault> {
        let stage = match next {
            Action::Complete { kind, attempt, .. } => format!("{} {}", asked(*kind), attempt + 1),
            Action::RunRed => "red gate".to_owned(),
            Action::RunGreen => "green gate".to_owned(),
            Action::Lint => "lint".to_owned(),
            Action::Report => "reports".to_owned(),
            Action::Review => "review".to_owned(),
            Action::Merge => "merge".to_owned(),
            Action::Finish(outcome) => return self.report_outcome(outcome),
        };
        self.state(&stage, "")
    }

    /// Reports the outcome. Merges are reported where they are made.
    fn report_outcome(&self, outcome: &Outcome) -> Result<(), Fault> {
        match outcome {
            Outcome::Passed => Ok(()),
            Outcome::NeedsHuman { reason } => self.state("needs your review", reason),
            Outcome::Deferred => self.state("left on its branch", ""),
            Outcome::Failed { reason } | Outcome::Skipped { reason } => {
                self.state("failed", reason)
            }
        }
    }

    /// Reports the result of an action.
    fn report_event(&self, event: &Event, is_lint: bool) -> Result<(), Fault> {
        let (what, why) = match event {
            Event::Started | Event::Written => return Ok(()),
            Event::Passed if is_lint => self.log.linted.passed(),
            Event::Passed => ("passed", String::new()),
            Event::Holds => ("they pass without the code", String::new()),
            Event::Failed(why) => ("failed", why.clone()),
            Event::Unusable(why) => ("unusable reply", why.clone()),
            Event::NoReply(why) => ("no reply", why.clone()),
            Event::Decided(decision) => ("reviewed", reviewed(decision)),
            Event::Merged => ("merged", String::new()),
            Event::NotMerged(why) => ("not merged", why.clone()),
        };
        self.state(what, &why)
    }

    pub(super) fn state(&self, status: &str, reason: &str) -> Result<(), Fault> {
        let first = reason.lines().next().unwrap_or_default();
        let colon = if first.is_empty() { "" } else { ": " };
        self.services.reporter.note(format_args!("{}: {status}{colon}{first}", self.order.name));
        self.journaled(status, reason, None)
    }

    pub(super) fn journaled(
        &self,
        stage: &str,
        reason: &str,
        milliseconds: Option<u64>,
    ) -> Result<(), Fault> {
        let (stage, reason) = (stage.to_owned(), reason.to_owned());
        let event =
            journal::Event::Stage { work: self.order.name.clone(), stage, reason, milliseconds };
        self.services.journal.log(event).map_err(no_journal)
    }

    /// Returns the LLM session; opens the model before the first request.
    pub(super) fn session(&mut self) -> Result<&mut LlmSession, Fault> {
        if self.session.is_none() {
            let IssueRequest { home, model, .. } = self.order;
            let IssueServices { reporter, control, .. } = self.services;
            let origin = control.origin(Workflow::Implement);
            let session = LlmSession::open(home, origin, model, reporter, cancelled)?;
            self.feature.tools = self.order.tools.unwrap_or_else(|| session.has_tools());
            self.session = Some(session);
            self.load_replies()?;
        }
        self.session.as_mut().ok_or_else(|| Fault::internal("there is no model"))
    }

    /// Loads replies that were journaled since the work began, so that they are not paid for twice.
    fn load_replies(&self) -> Result<(), Fault> {
        let Some(session) = &self.session else { return Ok(()) };
        let bytes = trellis_os::files::read(Journal::path(&self.order.home)).map_err(no_journal)?;
        let from = usize::try_from(self.work.record.journal_from).unwrap_or(0);
        let own = bytes.get(from..).unwrap_or(&bytes);
        session.preload_cache(cached(&trellis_store::journal::text_of(own), &self.order.id));
        Ok(())
    }
}

impl Performer<IssueMachine> for IssueRun<'_> {
    type Output = Outcome;
    type Error = Fault;

    async fn perform(
        &mut self,
        action: Action,
        machine: &IssueMachine,
    ) -> Result<Performed<Event, Outcome>, Fault> {
        self.services.control.wait_while_paused().await;
        if self.services.control.cancel.is_cancelled() {
            return Err(cancelled());
        }
        if action == Action::Merge && !self.merges {
            self.is_ready = true;
            return Ok(Performed::Finished(Outcome::Passed));
        }
        self.report_stage(&action)?;
        let is_lint = action == Action::Lint;
        let event = match action {
            Action::Complete { kind, attempt, complaint } => {
                self.ask(kind, attempt, machine.history(), complaint).await?
            }
            Action::RunRed => self.red().await?,
            Action::RunGreen => self.green().await?,
            Action::Lint => self.lint()?,
            Action::Report => self.report(machine.history())?,
            Action::Review => self.review(machine.history()).await?,
            Action::Merge => self.merge().await?,
            Action::Finish(outcome) => {
                self.commit_unfinished(&outcome)?;
                return Ok(Performed::Finished(outcome));
            }
        };
        self.report_event(&event, is_lint)?;
        Ok(Performed::Event(event))
    }
}

fn reviewed(decision: &Decision) -> String {
    match decision {
        Decision::Accept { .. } => "approved".to_owned(),
        Decision::AcceptEdited(_) => "edited by you".to_owned(),
        Decision::Reject { why } => format!("sent back: {why}"),
        Decision::Defer { .. } | Decision::Skip | Decision::Stop => "left on its branch".to_owned(),
        Decision::NoReviewer => "no one reviewed it".to_owned(),
    }
}

fn asked(kind: PromptKind) -> &'static str {
    match kind {
        PromptKind::Scaffold => "tests",
        PromptKind::Code => "code",
        PromptKind::Fix => "fix",
    }
}

/// Returns the error that ends a run during which a person edited a file: the next start has to
/// test it.
fn is_edited_meanwhile(path: &Path) -> Fault {
    let message = format!("{} was edited in the worktree during the run", path.display());
    Fault::new(Exit::NeedsHuman, message)
        .hint("run the same command again: it continues with your text and keeps the other files")
}
