//! Performs the actions of the repair loop: runs tests, sends requests to models, asks people, and
//! writes the fixes that stay.

use std::collections::BTreeMap;
use std::sync::Arc;

use trellis_engine::repair::{
    Action, Diagnostic, Event, Group, ModelDiagnosis, Outcome, RepairFacts, RepairMachine,
    SuggestedChange, Trial, ask_repair, ask_report, diagnostic, parse_diagnosis, suggested,
};
use trellis_engine::{FixWith, Observation};
use trellis_os::wording::counted;

use super::alternatives::{SUGGESTIONS, ideas};
use super::approver::Approver;
use super::artifacts::Artifacts;
use super::attempts::AttemptLog;
use super::baseline::Baseline;
use super::code_graph::CodeGraph;
use super::commits::{commit_all, commit_left, end_commit};
use super::complaints::for_people;
use super::evaluate::{Candidate, Evaluation, Evaluator};
use super::fix::{Fix, via_reply, via_tools};
use super::prompt_context::{ProjectFiles, build};
use super::report::RepairReport;
use super::uncommitted::Uncommitted;
use super::{RepairRequest, WriteTarget, cancelled};
use crate::fault::{Fault, FaultKind};
use crate::job_control::JobControl;
use crate::llm_session::LlmSession;
use crate::proposals::{Times, Verifier, VerifyMode};
use crate::reporter::Progress;
use crate::reporter::Reporter;
use trellis_project::edits;

/// Repairs a tree in place, or only as a patch.
pub(super) async fn repair(
    order: &RepairRequest,
    person: &Approver<'_>,
    reporter: &Reporter,
    control: &JobControl,
) -> Result<RepairReport, Fault> {
    refuse_unknown(order)?;
    edits::recover(&order.root)?;
    end_commit(order, reporter)?;
    if order.commit {
        commit_left(order, reporter)?;
    }
    let testing = VerifyMode {
        sandbox: order.sandbox.clone(),
        reporter,
        times: Times {
            test: Some(order.test_timeout),
            run: order.run_timeout,
            raised_by: order.raised_by,
        },
        cancel: control.cancel.clone(),
    };
    let verifier = Verifier::open(&order.home, &order.root, &testing).await?;
    let mut context = RepairRun {
        order,
        person,
        reporter,
        control,
        verifier,
        session: None,
        baseline: None,
        surveys: 0,
        work: None,
        pending: Vec::new(),
        rejected: Vec::new(),
        artifacts: Artifacts::new(order),
        uncommitted: Uncommitted::new(order),
        code_graph: None,
    };
    let end = context.follow().await;
    let RepairRun { verifier, mut artifacts, baseline, session, .. } = context;
    artifacts.tested = verifier.opened.runner.totals();
    artifacts.notes.extend(verifier.close().await);
    if let (Some(session), Ok(end)) = (&session, &end)
        && !end.given_up.is_empty()
    {
        session.gave_up(counted(end.given_up.len(), "cause is left", "causes are left"))?;
    }
    artifacts.spent = session.map(|it| it.spent());
    let result = artifacts.finish(baseline.as_ref(), end.as_ref().ok());
    // Fixes kept before a fault stay, and the report lists them.
    end?;
    let mut result = result?;
    if order.commit && !result.all.is_empty() {
        commit_all(order, &mut result, reporter)?;
    }
    Ok(result)
}

/// Refuses tests whose file does not exist. Ids may be relative to a parent folder, where pytest
/// has its root.
fn refuse_unknown(order: &RepairRequest) -> Result<(), Fault> {
    for id in order.tests.iter().chain(&order.suite) {
        let path = id.split("::").next().unwrap_or_default();
        if !order.root.ancestors().any(|it| it.join(path).exists()) {
            return Err(Fault::input(format!("{path} does not exist"))
                .kind(FaultKind::NoFailure)
                .hint(
                    "give ids, files or folders relative to the project, such as \
                 tests/test_a.py::test_b",
                ));
        }
    }
    Ok(())
}

/// Everything that a running repair holds.
pub(super) struct RepairRun<'a> {
    pub(super) order: &'a RepairRequest,
    pub(super) person: &'a Approver<'a>,
    pub(super) reporter: &'a Reporter,
    pub(super) control: &'a JobControl,
    pub(super) verifier: Verifier,
    /// Opened before the first request.
    session: Option<LlmSession>,
    pub(super) baseline: Option<Baseline>,
    /// Number of baselines so far.
    surveys: u32,
    pub(super) work: Option<ActiveGroup>,
    /// Groups whose fixes wait for a decision, by the ids of the fixes.
    pub(super) pending: Vec<(String, ActiveGroup)>,
    /// Groups whose fixes a person rejected; work on them continues.
    pub(super) rejected: Vec<ActiveGroup>,
    pub(super) artifacts: Artifacts<'a>,
    pub(super) uncommitted: Uncommitted<'a>,
    /// Graph of the tree at the last baseline.
    code_graph: Option<Arc<CodeGraph>>,
}

/// The current group.
pub(super) struct ActiveGroup {
    pub(super) group: Group,
    pub(super) repair: RepairFacts,
    pub(super) candidates: Vec<Candidate>,
    /// Fixes that the diagnosis suggests, to be tried unchanged.
    suggestions: Vec<SuggestedChange>,
    /// Number of the attempt of each candidate, from 0.
    pub(super) numbers: Vec<u32>,
    /// Number of attempts so far, suggestions included.
    made: u32,
    /// Texts of each tried change, with the number of its attempt, from 0.
    tried: Vec<(u32, BTreeMap<String, String>)>,
    /// Number of the baseline that the group comes from.
    baseline: u32,
}

impl RepairRun<'_> {
    async fn follow(&mut self) -> Result<Outcome, Fault> {
        let (machine, mut next) = RepairMachine::new(self.order.limits);
        let mut machine =
            if self.person.is_waiting_editor() { machine.awaiting_proposals() } else { machine };
        loop {
            self.control.wait_while_paused().await;
            if self.control.cancel.is_cancelled() {
                return Err(cancelled());
            }
            let seen = match next {
                Action::Survey => self.baseline().await?,
                Action::Diagnose(group) => self.diagnose(group).await?,
                Action::Suggested { suggestion } => self.suggested(suggestion).await?,
                Action::Ask { attempt, complaint } => self.ask(attempt, complaint).await?,
                Action::Decide { candidate, iteration } => {
                    self.decide(candidate, iteration).await?
                }
                Action::Write { candidate } => self.write(candidate).await?,
                Action::CheckProposals { wait } => self.handle_decision(wait).await?,
                Action::End(end) => return Ok(end),
            };
            next = machine.step(seen);
        }
    }

    async fn baseline(&mut self) -> Result<Event, Fault> {
        let is_first = self.baseline.is_none();
        if !is_first {
            // The tree has changed since the last baseline.
            self.artifacts.notes.extend(self.verifier.opened.runner.forget_copies().await);
        }
        if is_first {
            self.reporter.note("running the tests");
        }
        let baseline = Baseline::run(self.order, &self.verifier, &self.control.cancel).await?;
        self.artifacts.surveyed(&baseline);
        self.report_baseline(&baseline);
        if let Some(fault) = baseline.refusal(&self.order.tests).filter(|_| is_first) {
            return Err(fault);
        }
        let (failing, groups) = (baseline.failing().len(), baseline.groups.len());
        if is_first && failing > 0 && !baseline.found.measured {
            // Warns before the first request: without coverage, the files that a model is shown are
            // chosen less well.
            baseline
                .found
                .notes
                .iter()
                .for_each(|it| self.reporter.note(format_args!("warning: {it}")));
        }
        self.reporter.note(match (failing, groups) {
            (0, _) => {
                format!("{}, 0 fail", counted(baseline.passing(), "test passes", "tests pass"))
            }
            (_, 0) => format!(
                "{}, and no change of the code fixes that",
                counted(failing, "test fails", "tests fail")
            ),
            _ => format!(
                "{}, for {}",
                counted(failing, "test fails", "tests fail"),
                counted(groups, "likely cause", "likely causes")
            ),
        });
        let seen = Event::Surveyed(baseline.groups.clone());
        self.baseline = Some(baseline);
        self.surveys += 1;
        self.code_graph = None;
        self.work = None;
        if !is_first {
            // The kept fixes have changed the code.
            self.derive().await?;
        }
        Ok(seen)
    }

    /// Reports the results of the project's tests, if the tested tree was the project itself.
    fn report_baseline(&self, baseline: &Baseline) {
        let (root, reporter) = (&self.order.root, self.reporter.clone());
        if self.order.place != WriteTarget::Branch && self.verifier.kept.is_empty() {
            let text_of = Some(baseline.text_of);
            let tests = baseline.found.ran.iter();
            tests.for_each(|test| reporter.emit(Progress::Test { root, test, text_of }));
        }
    }

    async fn diagnose(&mut self, group: Group) -> Result<Event, Fault> {
        self.open_session()?;
        let before =
            self.rejected.iter().position(|it| it.group.first_test() == group.first_test());
        let before = before.map(|it| self.rejected.remove(it));
        if before.as_ref().is_some_and(|it| it.baseline == self.surveys) {
            self.artifacts.take_up(&group);
            self.work = before;
            return Ok(Event::Diagnosed { suggestions: 0 });
        }
        self.derive().await?;
        self.reporter.note(format_args!("{}: looking for the cause", title(&group)));
        let lead = self.verifier.failure(group.first_test()).await?;
        let mut repair = build(&group, &self.files()?, lead);
        repair.issue.clone_from(&self.order.issue);
        // A fix that a person rejected for an earlier tree is not wanted for this one either.
        let earlier = before.map_or_else(|| self.order.earlier.clone(), |it| it.repair.earlier);
        repair.earlier = earlier;
        let said = match self.order.report {
            true => self.request_diagnosis(&group, &repair).await?,
            false => ModelDiagnosis::default(),
        };
        let suggestions: Vec<SuggestedChange> =
            said.ideas.iter().filter(|it| it.is_complete()).take(SUGGESTIONS).cloned().collect();
        let files = self.files()?;
        let ideas = ideas(&said, &repair.suspects, &files);
        let known = diagnostic(&group, &files.found.evidence, &files, said);
        repair.cause = (known.is_opinion).then(|| known.root_cause.clone());
        self.say_cause(&known);
        self.artifacts.begin(&group, known, ideas)?;
        let count = suggestions.len();
        self.work = Some(ActiveGroup {
            group,
            repair,
            candidates: Vec::new(),
            suggestions,
            numbers: Vec::new(),
            made: 0,
            tried: Vec::new(),
            baseline: self.surveys,
        });
        Ok(Event::Diagnosed { suggestions: count })
    }

    fn say_cause(&self, known: &Diagnostic) {
        let kind = known.issue_type.as_str().replace('_', " ");
        self.reporter.note(format_args!("  {kind}, {}", known.root_cause));
    }

    async fn request_diagnosis(
        &mut self,
        group: &Group,
        repair: &RepairFacts,
    ) -> Result<ModelDiagnosis, Fault> {
        let ask = ask_report(repair);
        // Without a usable reply, the measured evidence remains.
        let cancel = self.control.cancel.clone();
        let said = match self.session()?.complete(group.first_test(), &ask, &cancel).await? {
            Observation::Reply(text) => parse_diagnosis(&text),
            _ => None,
        };
        Ok(said.unwrap_or_default())
    }

    /// Tries a fix that the diagnosis suggests.
    async fn suggested(&mut self, suggestion: usize) -> Result<Event, Fault> {
        let number = self.begin_attempt();
        self.artifacts.suggested(suggestion, number);
        let (Some(work), files) = (&self.work, self.files()?) else {
            return Ok(Event::NoReply(lost()));
        };
        let Some(idea) = work.suggestions.get(suggestion) else {
            return Ok(Event::NoReply(lost()));
        };
        let texts = suggested(idea, &work.repair.suspects, &files);
        self.reporter.note(format_args!("  fix {}: as the diagnosis suggests", number + 1));
        match texts {
            Ok(texts) => self.evaluate_change(number, texts).await,
            Err(why) => self.unusable(number, why),
        }
    }

    async fn ask(&mut self, attempt: u32, complaint: Option<String>) -> Result<Event, Fault> {
        let number = self.begin_attempt();
        let Some(work) = &mut self.work else { return Ok(Event::NoReply(lost())) };
        work.repair.complaint = complaint;
        work.repair.others = work.candidates.iter().map(|it| it.proposal.diff()).collect();
        let model = self.session()?.name();
        self.reporter.note(format_args!("  fix {}: prompting {model}", number + 1));
        match self.fix(attempt).await? {
            Fix::Texts(texts) => self.evaluate_change(number, texts).await,
            Fix::Unusable(why) => self.unusable(number, why),
            Fix::Nothing(why) => {
                self.reporter.note(format_args!("  no reply: {why}"));
                Ok(Event::NoReply(why))
            }
        }
    }

    /// Starts an attempt and returns its number, from 0.
    fn begin_attempt(&mut self) -> u32 {
        let Some(work) = &mut self.work else { return 0 };
        work.made += 1;
        work.made - 1
    }

    /// Evaluates a change by running tests.
    async fn evaluate_change(
        &mut self,
        number: u32,
        texts: BTreeMap<String, String>,
    ) -> Result<Event, Fault> {
        let Some(work) = &mut self.work else { return Ok(Event::NoReply(lost())) };
        if let Some((before, _)) = work.tried.iter().find(|(_, it)| *it == texts) {
            let why = format!("it is the very change of fix {}: make another one", before + 1);
            return self.unusable(number, why);
        }
        work.tried.push((number, texts.clone()));
        let Some(work) = &self.work else { return Ok(Event::NoReply(lost())) };
        let mut notes = Vec::new();
        let files = self.files()?;
        let evaluator = self.evaluator(&work.group, &files, number);
        if let Some(why) = evaluator.rejection(&texts) {
            return self.unusable(number, why);
        }
        let outcome = evaluator.evaluate(&texts, &mut notes).await?;
        self.artifacts.notes.extend(notes);
        self.tried(number, outcome)
    }

    /// Requests a fix for the current group.
    async fn fix(&mut self, attempt: u32) -> Result<Fix, Fault> {
        let (Some(work), Some(baseline), Some(session)) =
            (&self.work, &self.baseline, &mut self.session)
        else {
            return Ok(Fix::Nothing(lost()));
        };
        let files = ProjectFiles {
            root: &self.order.root,
            found: &baseline.found,
            kept: &self.verifier.kept,
        };
        let ask = ask_repair(&work.repair, attempt, self.order.fix_with);
        let (repair, cancel) = (&work.repair, &self.control.cancel);
        match (self.order.fix_with, &self.code_graph) {
            (FixWith::Tools, Some(code_graph)) => {
                via_tools(session, &ask, repair, (&files, code_graph), cancel).await
            }
            _ => via_reply(session, &ask, repair, &files, cancel).await,
        }
    }

    /// Derives a graph of the tree, unless there is one since the last baseline.
    async fn derive(&mut self) -> Result<(), Fault> {
        let Some(baseline) = self.baseline.as_ref().filter(|_| self.code_graph.is_none()) else {
            return Ok(());
        };
        let home = &self.order.home;
        let name = home.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let code_graph = CodeGraph::of(baseline.index.clone(), name).await?;
        code_graph.keep(home)?;
        self.code_graph = Some(Arc::new(code_graph));
        Ok(())
    }

    fn tried(&mut self, attempt: u32, outcome: Evaluation) -> Result<Event, Fault> {
        let Some(work) = &mut self.work else { return Ok(Event::NoReply(lost())) };
        match outcome {
            Evaluation::Fails { why, diff } => {
                work.repair.earlier.push(format!("{why}\n{diff}"));
                self.log(attempt, "failed", &why)?;
                if let Some(log) = self.artifacts.attempt() {
                    log.diff = Some(diff);
                }
                Ok(Event::Tried(Trial::Bad(why)))
            }
            Evaluation::Passes(candidate) => {
                let merit = candidate.merit.clone();
                let what = candidate.proposal.reason.clone();
                let log = AttemptLog::of(&candidate);
                work.candidates.push(*candidate);
                work.numbers.push(attempt);
                self.log(attempt, "passed", &what)?;
                if let Some(it) = self.artifacts.attempt() {
                    *it = log.numbered(attempt + 1);
                }
                Ok(Event::Tried(Trial::Good(merit)))
            }
        }
    }

    fn unusable(&mut self, attempt: u32, why: String) -> Result<Event, Fault> {
        self.log(attempt, "unusable", &why)?;
        Ok(Event::Unusable(why))
    }

    /// Reports the outcome of an attempt to observers, the journal and the report.
    fn log(&mut self, attempt: u32, outcome: &'static str, what: &str) -> Result<(), Fault> {
        if outcome == "unusable" {
            let why = for_people(what);
            self.reporter.note(format_args!("  reply {} cannot be used: {why}", attempt + 1));
            self.artifacts.tried(attempt, outcome, &why);
        } else {
            self.reporter.note(format_args!("  fix {} {outcome}: {what}", attempt + 1));
            self.artifacts.tried(attempt, outcome, what);
        }
        let Some(work) = &self.work else { return Ok(()) };
        let node = work.group.first_test().to_owned();
        let text = format!("fix {} {outcome}: {what}", attempt + 1);
        self.session()?.note(&node, text)
    }

    pub(super) fn evaluator<'s>(
        &'s self,
        group: &'s Group,
        files: &'s ProjectFiles<'s>,
        attempt: u32,
    ) -> Evaluator<'s> {
        Evaluator {
            verifier: &self.verifier,
            group,
            files,
            failed: attempt as usize,
            most_lines: self.order.most_lines,
        }
    }

    pub(super) fn files(&self) -> Result<ProjectFiles<'_>, Fault> {
        let baseline = self.baseline.as_ref().ok_or_else(|| Fault::internal(lost()))?;
        Ok(ProjectFiles {
            root: &self.order.root,
            found: &baseline.found,
            kept: &self.verifier.kept,
        })
    }

    fn session(&mut self) -> Result<&mut LlmSession, Fault> {
        self.session.as_mut().ok_or_else(|| Fault::internal(lost()))
    }

    /// Opens the LLM session on first use: if nothing fails, no model is needed and nothing is
    /// written.
    fn open_session(&mut self) -> Result<(), Fault> {
        if self.session.is_none() {
            let RepairRequest { home, model, .. } = self.order;
            let place = (home.as_path(), self.reporter);
            let session = LlmSession::open(("repair", cancelled), place, model)?;
            session.load_replies(home)?;
            self.session = Some(session);
        }
        Ok(())
    }
}

fn title(group: &Group) -> String {
    match group.tests.len() {
        0 | 1 => group.first_test().to_owned(),
        count => format!("{} and {} more", group.first_test(), count - 1),
    }
}

/// Returns the message for a missing state. The loop requests one action at a time, and its subject
/// exists.
pub(super) fn lost() -> String {
    "the repair lost its state".to_owned()
}
