//! Takes the work up where it stands, and does what the course says.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use trellis_engine::issue::{
    Action, Changes, Event, IssueFacts, IssueMachine, Outcome, OutcomeKind, Review, ShownFile,
    ShownPart,
};
use trellis_sandbox::Runner;

use super::files::is_test;
use super::report::{self, Log};
use super::result::{ended, forge, push};
use super::resume::{Resume, find_merge, resume_or_start};
use super::spec::{self, Spec};
use super::test_runner::{self, TestRunner, with_packages};
use super::{IssueRequest, Reviewer, SpecFiles, cancelled};
use crate::api::implement::ImplementResult;
use crate::error::{Exit, Fault};
use crate::forge::Forge;
use crate::job_control::JobControl;
use crate::llm_session::{LlmSession, no_journal};
use crate::output::Output;
use crate::workspace::disk;
use crate::workspace::disk::cannot;
use crate::workspace::journal::{self, Journal};
use crate::workspace::merge::Checkout;
use crate::workspace::replay::cached;
use crate::workspace::worktree::Worktree;

/// Makes what an issue wants, and merges it where it may be.
///
/// # Errors
///
/// Words that cannot be read, no repository, no sandbox, no model; what was done stays on the work's branch, and the next call
/// goes on from there.
pub(crate) async fn implement(
    order: &IssueRequest,
    given: &SpecFiles,
    reviewer: &Reviewer,
    output: &Output,
    control: &JobControl,
) -> Result<ImplementResult, Fault> {
    let began = Instant::now();
    let words = spec::read(order, given)?;
    disk::ensure(&order.home).map_err(|error| cannot("create .trellis", &error))?;
    let journal = Journal::join(&order.home).map_err(no_journal)?;
    let forge = forge(order, (&journal, output, control))?;
    if let Some(forge) = &forge {
        forge.push_pending().await;
    }
    let begun = match find_merge(order)? {
        Some(commit) => Resume::Merged(commit),
        None => resume_or_start(order, &journal, output)?,
    };
    let (work, machine) = match begun {
        Resume::Merged(commit) => {
            let pushed = forge.map(|it| it.results()).unwrap_or_default();
            return Ok(ImplementResult { pushed, ..ImplementResult::merged_before(order, commit) });
        }
        Resume::Work(work, machine) => (*work, machine),
    };
    let message = report::message(order, &words);
    let opened = test_runner::open(order, output, &control.cancel).await?;
    let trials = TestRunner::of(order, &opened.runner, &control.cancel);
    let parts = (words, work, trials, None);
    let mut run_context = IssueRun::new(order, (reviewer, output, control), &journal, parts)?;
    run_context.forge = forge.as_ref();
    let end = run_context.follow(machine, true).await;
    let IssueRun { work, mut log, session, .. } = run_context;
    log.tested = opened.runner.totals();
    log.notes.extend(opened.runner.close().await);
    log.spent = session.map(|it| it.spent());
    // Without a stop before the merge there is an end.
    let end = end?.ok_or_else(|| Fault::internal("the work has no end"))?;
    let into = work.record.into.clone();
    let mut result = ended(order, work, log, end)?;
    if let Some(forge) = &forge {
        push(forge, order, (&result, &into, &message)).await;
        result.pushed = forge.results();
    }
    let time = crate::api::repair::Time::of(began.elapsed(), result.tested);
    Ok(ImplementResult { time, ..result })
}

/// What several works share.
#[derive(Clone, Copy)]
pub(crate) struct Services<'a> {
    pub(crate) output: &'a Output,
    pub(crate) control: &'a JobControl,
    pub(crate) journal: &'a Journal,
    pub(crate) runner: &'a Runner,
    pub(crate) session: &'a LlmSession,
}

/// Work that passed its gates, committed on its branch.
pub(crate) struct ReadyToMerge {
    /// Who asks the model.
    pub(crate) id: String,
    /// How people call it.
    pub(crate) title: String,
    pub(crate) specification: String,
    pub(crate) work: Worktree,
    /// Of the commit that it is merged as.
    pub(crate) message: String,
    /// Tests that pass with it, by id.
    pub(crate) passed: Vec<String>,
}

/// What came of work that is merged by somebody else.
pub(crate) enum IssueEnd {
    Made(Box<ReadyToMerge>),
    /// By an earlier start.
    Merged,
    Ended(Outcome),
}

/// Makes what the words say, up to its merge, for who has many such works; nobody is asked.
///
/// # Errors
///
/// As for [`implement`].
pub(crate) async fn run_until_merge(
    order: &IssueRequest,
    words: Spec,
    tools: Services<'_>,
) -> Result<IssueEnd, Fault> {
    let Services { output, control, journal, runner, session } = tools;
    let (work, machine) = match resume_or_start(order, journal, output)? {
        Resume::Merged(_) => return Ok(IssueEnd::Merged),
        Resume::Work(work, machine) => (*work, machine),
    };
    let trials = TestRunner::of(order, runner, &control.cancel);
    let message = report::message(order, &words);
    let specification = words.specification.clone();
    let parts = (words, work, trials, Some(session.fork()));
    let mut run_context =
        IssueRun::new(order, (&Reviewer::Nobody, output, control), journal, parts)?;
    run_context.remember()?;
    let end = run_context.follow(machine, false).await?;
    let IssueRun { mut work, log, .. } = run_context;
    if end.as_ref().is_some_and(|it| it.ending == OutcomeKind::Merged) {
        // What was asked for is there already.
        work.clear(journal)?;
        return Ok(IssueEnd::Merged);
    }
    let Some(end) = end else {
        let (id, title) = (order.id.clone(), order.title.clone());
        let passed = log.passed();
        return Ok(IssueEnd::Made(Box::new(ReadyToMerge {
            id,
            title,
            specification,
            work,
            message,
            passed,
        })));
    };
    if let OutcomeKind::NeedsPerson(why) = &end.ending {
        work.mark_finished(why)?;
    }
    Ok(IssueEnd::Ended(end))
}

/// What the work holds.
pub(super) struct IssueRun<'a> {
    pub(super) order: &'a IssueRequest,
    pub(super) reviewer: &'a Reviewer,
    pub(super) output: &'a Output,
    pub(super) control: &'a JobControl,
    pub(super) journal: &'a Journal,
    pub(super) words: Spec,
    pub(super) work: Worktree,
    pub(super) trials: TestRunner<'a>,
    /// Opened when there is something to ask.
    pub(super) session: Option<LlmSession>,
    /// Where merges are pushed.
    pub(super) forge: Option<&'a Forge<'a>>,
    /// The project as it was before the work.
    pub(super) ground: Checkout<'a>,
    /// The same with what a person has made of it, where one has.
    pub(super) edited: Option<Checkout<'a>>,
    pub(super) feature: IssueFacts,
    /// All texts that differ from those of `ground`.
    pub(super) changes: Changes,
    /// Questions for a fix so far.
    pub(super) fixes: u32,
    /// Tests that passed before, once that is known.
    pub(super) before: Option<Vec<String>>,
    pub(super) log: Log,
}

impl<'a> IssueRun<'a> {
    fn new(
        order: &'a IssueRequest,
        (reviewer, output, control): (&'a Reviewer, &'a Output, &'a JobControl),
        journal: &'a Journal,
        (words, work, trials, session): (Spec, Worktree, TestRunner<'a>, Option<LlmSession>),
    ) -> Result<IssueRun<'a>, Fault> {
        let ground = with_packages(work.checkout(journal, &work.record.base)?, &order.home)?;
        let all = ground.tracked()?;
        let fixes = work.record.waits.unwrap_or(0);
        let feature = spec::feature(order, &words, (&ground.root, &all), trials.framework);
        Ok(IssueRun {
            order,
            reviewer,
            output,
            control,
            journal,
            words,
            work,
            trials,
            session,
            forge: None,
            ground,
            edited: None,
            feature,
            changes: Changes::new(),
            fixes,
            before: None,
            log: Log::default(),
        })
    }

    /// Does what is next until there is an end; none where it does not merge, and all else is done.
    async fn follow(
        &mut self,
        (mut machine, mut next): (IssueMachine, Action),
        merges: bool,
    ) -> Result<Option<Outcome>, Fault> {
        if next == Action::Green {
            self.adopt_user_edits()?;
        }
        loop {
            self.control.wait_while_paused().await;
            if self.control.cancel.is_cancelled() {
                return Err(cancelled());
            }
            if next == Action::Merge && !merges {
                return Ok(None);
            }
            self.report_stage(&next)?;
            let is_lint = next == Action::Lint;
            let seen = match next {
                Action::Ask { what, attempt, complaint } => {
                    self.ask((what, attempt), machine.history(), complaint).await?
                }
                Action::Red => self.red().await?,
                Action::Green => self.green().await?,
                Action::Lint => self.lint()?,
                Action::Report => self.report(machine.history())?,
                Action::Review => self.review().await?,
                Action::Merge => self.merge().await?,
                Action::End(end) => {
                    self.commit_unfinished(&end)?;
                    return Ok(Some(end));
                }
            };
            self.seen(&seen, is_lint)?;
            next = machine.step(seen);
        }
    }

    /// What there is goes to the branch, for whoever goes on with it.
    fn commit_unfinished(&mut self, end: &Outcome) -> Result<(), Fault> {
        let is_new = end.ending != OutcomeKind::Merged && !self.changes.is_empty();
        if is_new {
            self.commit_progress()?;
            self.log.diff = self.work.diff()?;
            self.log.paths = self.changes.keys().cloned().collect();
        }
        Ok(())
    }

    /// Makes the branch hold what there is.
    pub(super) fn commit_progress(&mut self) -> Result<(), Fault> {
        let message = format!("{}: work in progress", self.feature.title);
        let from = match &self.edited {
            Some(_) => self.work.tip().to_owned(),
            None => self.work.record.base.clone(),
        };
        let edits = match self.work.is_edited()? {
            true => self.work.edits()?,
            false => BTreeMap::new(),
        };
        if !edits.is_empty() {
            // Whatever comes, git has them.
            self.work.commit_user_edits(self.journal)?;
        }
        self.work.write(self.journal, &from, &self.changes, &message)?;
        self.restore_user_edits(&edits)
    }

    /// Puts what a person has made of files meanwhile beside what is on the branch now, and stops: the next start tests it.
    fn restore_user_edits(&self, edits: &BTreeMap<String, Vec<u8>>) -> Result<(), Fault> {
        let Some(first) = edits.keys().next() else { return Ok(()) };
        for (path, text) in edits {
            let place = self.work.root.join(path);
            let folder = place.parent().unwrap_or(&place);
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&place, text))
                .map_err(|error| cannot(&format!("write {}", place.display()), &error))?;
        }
        let message = format!("{first} was edited in the worktree during the run");
        Err(Fault::new(Exit::NeedsHuman, message).hint(
            "run the same command again: it continues with your text and keeps the other \
                 files",
        ))
    }

    /// Takes what a person has made of the files for what there is.
    pub(super) fn adopt_user_edits(&mut self) -> Result<(), Fault> {
        let there = self.work.changed()?.0;
        let text = |path: String| {
            Some((path.clone(), crate::edits::read(&self.work.root.join(&path)).ok()?))
        };
        self.changes = there.into_iter().filter_map(text).collect();
        let edited = self.work.checkout(self.journal, self.work.tip())?;
        self.edited = Some(with_packages(edited, &self.order.home)?);
        self.refresh_prompt_files();
        Ok(())
    }

    /// Keeps what a model is shown of the files up to date.
    pub(super) fn refresh_prompt_files(&mut self) {
        let (tests, code): (Vec<_>, Vec<_>) =
            self.changes.clone().into_iter().partition(|(path, _)| is_test(path));
        self.feature.written = tests;
        self.feature.files.retain(|it| !self.changes.contains_key(&it.path));
        self.feature.diff = code.iter().map(|(path, text)| self.difference(path, text)).collect();
        self.feature.files.splice(0..0, code.into_iter().map(|it| ShownFile::whole(&it.0, it.1)));
        self.feature.others.retain(|path| !self.changes.contains_key(path));
    }

    /// What was changed of a file that was there before the work.
    fn difference(&self, path: &str, text: &str) -> String {
        let before = self.original(path);
        before.map_or_else(String::new, |it| trellis_python::unified_diff(path, &it, text))
    }

    /// A file as it was before the work.
    pub(super) fn original(&self, path: &str) -> Option<String> {
        crate::edits::read(&self.ground.root.join(path)).ok()
    }

    /// Puts files into the next question, whole.
    pub(super) fn reveal(&mut self, paths: &[String]) {
        for path in paths {
            let Ok(text) = crate::edits::read(&self.root().join(path)) else { continue };
            self.feature.files.retain(|it| it.path != *path);
            self.feature.files.insert(0, ShownFile::whole(path, text));
            self.feature.others.retain(|it| it != path);
        }
    }

    /// Files that a question shows whole.
    pub(super) fn shown(&self) -> BTreeSet<String> {
        let feature = &self.feature;
        let whole =
            feature.files.iter().filter(|it| it.part == ShownPart::Whole).map(|it| &it.path);
        let given = feature.context.code.iter().chain(&feature.context.standards).map(|it| &it.0);
        whole.chain(given).chain(feature.written.iter().map(|it| &it.0)).cloned().collect()
    }

    /// Says what is done next: to whoever looks on, and to the journal.
    fn report_stage(&self, next: &Action) -> Result<(), Fault> {
        let stage = match next {
            Action::Ask { what, attempt, .. } => format!("{} {}", asked(*what), attempt + 1),
            Action::Red => "red gate".to_owned(),
            Action::Green => "green gate".to_owned(),
            Action::Lint => "lint".to_owned(),
            Action::Report => "reports".to_owned(),
            Action::Review => "review".to_owned(),
            Action::Merge => "merge".to_owned(),
            Action::End(end) => return self.told_end(end),
        };
        self.state(&stage, "")
    }

    /// Merges are told where they are made.
    fn told_end(&self, end: &Outcome) -> Result<(), Fault> {
        match &end.ending {
            OutcomeKind::Merged => Ok(()),
            OutcomeKind::NeedsPerson(why) => self.state("needs your review", why),
            OutcomeKind::Left => self.state("left on its branch", ""),
            OutcomeKind::Failed(why) => self.state("failed", why),
        }
    }

    /// Says what came of it.
    fn seen(&self, seen: &Event, is_lint: bool) -> Result<(), Fault> {
        let (what, why) = match seen {
            Event::Written => return Ok(()),
            Event::Passed if is_lint => self.log.linted.passed(),
            Event::Passed => ("passed", String::new()),
            Event::Holds => ("they pass without the code", String::new()),
            Event::Failed(why) => ("failed", why.clone()),
            Event::Unusable(why) => ("unusable reply", why.clone()),
            Event::NoReply(why) => ("no reply", why.clone()),
            Event::Reviewed(review) => ("reviewed", reviewed(review)),
            Event::Merged => ("merged", String::new()),
            Event::NotMerged(why) => ("not merged", why.clone()),
        };
        self.state(what, &why)
    }

    pub(super) fn state(&self, status: &str, reason: &str) -> Result<(), Fault> {
        let first = reason.lines().next().unwrap_or_default();
        let colon = if first.is_empty() { "" } else { ": " };
        self.output.note(format_args!("{}: {status}{colon}{first}", self.order.name));
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
        self.journal.log(event).map_err(no_journal)
    }

    /// Where no question was put before, the model is opened.
    pub(super) fn session(&mut self) -> Result<&mut LlmSession, Fault> {
        if self.session.is_none() {
            let IssueRequest { home, model, .. } = self.order;
            let place = (home.as_path(), self.output);
            let session = LlmSession::open(("implement", cancelled), place, model)?;
            self.feature.tools = self.order.tools.unwrap_or_else(|| session.has_tools());
            self.session = Some(session);
            self.remember()?;
        }
        self.session.as_mut().ok_or_else(|| Fault::internal("there is no model"))
    }

    /// Takes in what was answered since the work began: it is not paid for again.
    fn remember(&self) -> Result<(), Fault> {
        let Some(session) = &self.session else { return Ok(()) };
        let bytes =
            trellis_sandbox::files::read(Journal::path(&self.order.home)).map_err(no_journal)?;
        let from = usize::try_from(self.work.record.journal_from).unwrap_or(0);
        let own = bytes.get(from..).unwrap_or(&bytes);
        session.preload_cache(cached(&String::from_utf8_lossy(own), &self.order.id));
        Ok(())
    }
}

fn reviewed(review: &Review) -> String {
    match review {
        Review::Approve => "approved".to_owned(),
        Review::Edited => "edited by you".to_owned(),
        Review::SendBack(words) => format!("sent back: {words}"),
        Review::Leave => "left on its branch".to_owned(),
        Review::Nobody => "no one reviewed it".to_owned(),
    }
}

fn asked(what: trellis_engine::issue::PromptKind) -> &'static str {
    match what {
        trellis_engine::issue::PromptKind::Scaffold => "tests",
        trellis_engine::issue::PromptKind::Code => "code",
        trellis_engine::issue::PromptKind::Fix => "fix",
    }
}
