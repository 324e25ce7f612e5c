//! Performs the actions of the repair loop: runs tests, sends requests to models, asks people, and
//! writes the fixes that stay.

use std::collections::BTreeMap;
use std::sync::Arc;

use trellis_engine::repair::{
    Action, AttemptResult, Diagnostic, Event, Group, ModelDiagnosis, RepairFacts, RepairMachine,
    RepairSummary, ask_repair, ask_report, diagnostic, parse_diagnosis, suggested,
};
use trellis_engine::{Complaint, FixWith, Reply};
use trellis_os::wording::counted;

use super::active_group::ActiveGroup;
use super::alternatives::{SUGGESTIONS, change, ideas};
use super::approver::Approver;
use super::artifacts::Artifacts;
use super::baseline::{Baseline, targets};
use super::code_graph::CodeGraph;
use super::evaluate::Evaluator;
use super::fix::{FileChange, Fix, FixRequest};
use super::project_files::ProjectFiles;
use super::uncommitted::Uncommitted;
use super::{RepairRequest, WriteTarget, cancelled};
use crate::driver::{Performed, Performer};
use crate::fault::Fault;
use crate::job_control::JobControl;
use crate::llm_session::LlmSession;
use crate::proposals::Verifier;
use crate::reporter::{Progress, Reporter};
use trellis_store::origin::Workflow;

/// Everything that a running repair holds.
pub(super) struct RepairRun<'a> {
    pub(super) order: &'a RepairRequest,
    pub(super) person: &'a Approver<'a>,
    pub(super) reporter: &'a Reporter,
    pub(super) control: &'a JobControl,
    pub(super) verifier: Verifier,
    /// Opened before the first request.
    pub(super) session: Option<LlmSession>,
    pub(super) baseline: Option<Baseline>,
    /// Number of baselines so far.
    pub(super) baselines: u32,
    pub(super) artifacts: Artifacts<'a>,
    pub(super) uncommitted: Uncommitted<'a>,
    /// Graph of the tree at the last baseline.
    pub(super) code_graph: Option<Arc<CodeGraph>>,
}

impl Performer<RepairMachine<ActiveGroup>> for RepairRun<'_> {
    type Output = RepairSummary;
    type Error = Fault;

    async fn perform(
        &mut self,
        action: Action<ActiveGroup>,
        _: &RepairMachine<ActiveGroup>,
    ) -> Result<Performed<Event<ActiveGroup>, RepairSummary>, Fault> {
        self.control.wait_while_paused().await;
        if self.control.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let event = match action {
            Action::RunAllTests => self.baseline().await?,
            Action::Diagnose { group, earlier } => self.diagnose(group, earlier).await?,
            Action::TryProven { work } => self.try_proven(work).await?,
            Action::RequestDiagnosis { work } => self.request_diagnosis(work).await?,
            Action::TrySuggestion { work, suggestion } => {
                self.try_suggestion(work, suggestion).await?
            }
            Action::RequestFix { work, attempt, complaint } => {
                self.request_fix(work, attempt, complaint).await?
            }
            Action::Review { work, candidate, iteration } => {
                self.decide(work, candidate, iteration).await?
            }
            Action::CheckProposals { waiting, wait } => self.check_proposals(waiting, wait).await?,
            Action::Write { work, candidate } => self.write(work, candidate).await?,
            Action::Finish(summary) => return Ok(Performed::Finished(summary)),
        };
        Ok(Performed::Event(event))
    }
}

impl RepairRun<'_> {
    async fn baseline(&mut self) -> Result<Event<ActiveGroup>, Fault> {
        let is_first = self.baseline.is_none();
        if !is_first {
            // The tree has changed since the last baseline.
            self.artifacts.notes.extend(self.verifier.opened.runner.forget_copies().await);
        }
        if is_first {
            self.reporter.note("running the tests");
        }
        let baseline = Baseline::run(self.order, &self.verifier, &self.control.cancel).await?;
        self.artifacts.took_baseline(&baseline);
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
            (_, 0) => {
                format!("{}, set aside", counted(failing, "test fails", "tests fail"))
            }
            _ => format!(
                "{}, for {}",
                counted(failing, "test fails", "tests fail"),
                counted(groups, "likely cause", "likely causes")
            ),
        });
        let seen = Event::RanAll(baseline.groups.clone());
        self.baseline = Some(baseline);
        self.baselines += 1;
        self.code_graph = None;
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

    async fn diagnose(
        &mut self,
        mut group: Group,
        earlier: Option<ActiveGroup>,
    ) -> Result<Event<ActiveGroup>, Fault> {
        let earlier = match earlier {
            Some(work) if work.baseline == self.baselines => {
                self.artifacts.take_up(&group);
                return Ok(Event::Diagnosed { work, is_proven: false });
            }
            // A fix that a person rejected for an earlier tree is not wanted for this one either.
            Some(work) => work.repair.earlier,
            None => self.order.earlier.clone(),
        };
        self.reporter.note(format_args!("{}: looking for the cause", title(&group)));
        let found = self.try_small_edits(&mut group).await?;
        let mut work = ActiveGroup::new(group, None, self.baselines);
        work.repair.issue.clone_from(&self.order.issue);
        work.repair.earlier = earlier;
        work.by_edits = found.filter(|it| !self.was_refused(&work, &it.texts));
        let is_proven = self.is_for_trial(work.by_edits.as_ref())?;
        self.derive().await?;
        work.lead = self.verifier.failure(work.id()).await?;
        let files = self.files()?;
        let opinion = ModelDiagnosis::default();
        let known = diagnostic(&work.group, &files.found.evidence, &files, opinion);
        if is_proven {
            self.say_cause(&known);
        }
        self.artifacts.begin(&work.group, known)?;
        Ok(Event::Diagnosed { work, is_proven })
    }

    /// Returns whether a change is one that a person rejected before.
    fn was_refused(&self, work: &ActiveGroup, texts: &BTreeMap<String, String>) -> bool {
        let Ok(files) = self.files() else { return false };
        let diff = change(texts.clone(), &files);
        work.repair.earlier.iter().any(|it| it.diff == diff)
    }

    /// Asks a model for its opinion, once for each group.
    async fn request_diagnosis(
        &mut self,
        mut work: ActiveGroup,
    ) -> Result<Event<ActiveGroup>, Fault> {
        self.open_session()?;
        if std::mem::replace(&mut work.has_opinion, true) {
            return Ok(Event::Suggested { work, suggestions: 0 });
        }
        self.collect_facts(&mut work)?;
        let said = match self.order.report {
            true => self.opinion(&work).await?,
            false => ModelDiagnosis::default(),
        };
        let complete = said.ideas.iter().filter(|it| it.is_complete());
        work.suggestions = complete.take(SUGGESTIONS).cloned().collect();
        // A first idea without a change says more about the cause, and is no other one.
        let (first, others) =
            said.ideas.split_first().map_or((None, &[][..]), |(a, b)| (Some(a), b));
        let advice =
            first.filter(|it| !it.is_complete()).map(|it| format!("\nAdvice: {}", it.description));
        let others = others.iter().filter(|it| !work.suggestions.contains(it));
        work.repair.hypotheses = others.map(|it| it.description.clone()).collect();
        let files = self.files()?;
        let ideas = ideas(&said, &work.repair.suspects, &files);
        let known = diagnostic(&work.group, &files.found.evidence, &files, said);
        let cause = format!("{}{}", known.root_cause, advice.unwrap_or_default());
        work.repair.cause = (known.is_opinion).then_some(cause);
        self.say_cause(&known);
        self.artifacts.diagnosed(known, ideas)?;
        let suggestions = work.suggestions.len();
        Ok(Event::Suggested { work, suggestions })
    }

    /// Collects the facts about the code for the next request.
    fn collect_facts(&self, work: &mut ActiveGroup) -> Result<(), Fault> {
        let baseline = self.baseline.as_ref().ok_or_else(lost)?;
        work.collect_facts(&self.files()?, &baseline.index);
        work.repair.python = self.verifier.opened.runner.python_version().map(str::to_owned);
        Ok(())
    }

    fn say_cause(&self, known: &Diagnostic) {
        let kind = known.issue_type.as_str().replace('_', " ");
        self.reporter.note(format_args!("  {kind}, {}", known.root_cause));
    }

    async fn opinion(&mut self, work: &ActiveGroup) -> Result<ModelDiagnosis, Fault> {
        let ask = ask_report(&work.repair);
        // Without a usable reply, the measured evidence remains.
        let cancel = self.control.cancel.clone();
        let said = match self.session()?.complete(work.id(), &ask, &cancel).await? {
            Reply::Text(text) => parse_diagnosis(&text),
            _ => None,
        };
        Ok(said.unwrap_or_default())
    }

    /// Tries a fix that the diagnosis suggests.
    async fn try_suggestion(
        &mut self,
        mut work: ActiveGroup,
        suggestion: usize,
    ) -> Result<Event<ActiveGroup>, Fault> {
        let number = work.begin_attempt();
        self.artifacts.suggested(suggestion, number);
        let files = self.files()?;
        let idea = work.suggestions.get(suggestion).ok_or_else(lost)?;
        let texts = suggested(idea, &work.repair.suspects, &files);
        self.reporter.note(format_args!("  fix {}: as the diagnosis suggests", number + 1));
        let result = match texts {
            Ok(texts) => {
                let explanation = Some(idea.description.clone());
                let change = FileChange { texts, explanation, ..FileChange::default() };
                self.evaluate_change(&mut work, number, change).await?
            }
            Err(why) => self.unusable(&work, number, why)?,
        };
        Ok(Event::Tried { work, result })
    }

    async fn request_fix(
        &mut self,
        mut work: ActiveGroup,
        attempt: u32,
        complaint: Option<String>,
    ) -> Result<Event<ActiveGroup>, Fault> {
        let number = work.begin_attempt();
        work.repair.complaint = complaint;
        work.repair.others = work.candidates.iter().map(|it| it.proposal.diff()).collect();
        self.collect_facts(&mut work)?;
        let model = self.session()?.name();
        self.reporter.note(format_args!("  fix {}: prompting {model}", number + 1));
        let result = match self.fix(&work.repair, attempt).await? {
            Fix::Change(change) => {
                let files = self.files()?;
                let changed = change
                    .replaces_definitions
                    .then(|| work.changed_since_shown(&change.texts, &files));
                if let Some(path) = changed.flatten() {
                    let why = format!("{path} was changed while the model answered");
                    self.log(&work, number, "unusable", &why)?;
                    return Ok(Event::Stale { work, why });
                }
                self.evaluate_change(&mut work, number, change).await?
            }
            Fix::Unusable(why) => self.unusable(&work, number, why)?,
            Fix::Nothing(why) => {
                self.reporter.note(format_args!("  no reply: {why}"));
                AttemptResult::NoReply(why)
            }
        };
        Ok(Event::Tried { work, result })
    }

    /// Evaluates a change by running tests.
    pub(super) async fn evaluate_change(
        &mut self,
        work: &mut ActiveGroup,
        number: u32,
        change: FileChange,
    ) -> Result<AttemptResult, Fault> {
        let FileChange { texts, explanation, .. } = change;
        if let Some(before) = work.record(number, &texts) {
            return self.unusable(work, number, Complaint::repeated(before + 1));
        }
        let mut notes = Vec::new();
        let files = self.files()?;
        let evaluator = self.evaluator(&work.group, &files, number);
        if let Some(why) = evaluator.rejection(&texts) {
            return self.unusable(work, number, why);
        }
        let evaluation = evaluator.evaluate(&texts, &mut notes).await?;
        self.artifacts.notes.extend(notes);
        self.evaluated(work, number, evaluation, explanation)
    }

    /// Requests a fix.
    async fn fix(&mut self, repair: &RepairFacts, attempt: u32) -> Result<Fix, Fault> {
        let (Some(baseline), Some(session)) = (&self.baseline, &mut self.session) else {
            return Err(lost());
        };
        let files = ProjectFiles {
            root: &self.order.root,
            found: &baseline.found,
            kept: &self.verifier.kept,
        };
        let ask = ask_repair(repair, attempt, self.order.fix_with);
        let cancel = &self.control.cancel;
        let request = FixRequest { ask: &ask, repair, files: &files, cancel };
        match (self.order.fix_with, &self.code_graph) {
            (FixWith::Tools, Some(code_graph)) => request.via_tools(session, code_graph).await,
            _ => request.via_reply(session).await,
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
            targets: targets(self.order),
            attempt,
            most_lines: self.order.most_lines,
        }
    }

    pub(super) fn files(&self) -> Result<ProjectFiles<'_>, Fault> {
        let baseline = self.baseline.as_ref().ok_or_else(lost)?;
        Ok(ProjectFiles {
            root: &self.order.root,
            found: &baseline.found,
            kept: &self.verifier.kept,
        })
    }

    fn session(&mut self) -> Result<&mut LlmSession, Fault> {
        self.session.as_mut().ok_or_else(lost)
    }

    /// Opens the LLM session on first use: if nothing fails, no model is needed and nothing is
    /// written.
    pub(super) fn open_session(&mut self) -> Result<(), Fault> {
        if self.session.is_none() {
            let RepairRequest { home, model, .. } = self.order;
            let origin = self.control.origin(Workflow::Repair);
            let session = LlmSession::open(home, origin, model, self.reporter, cancelled)?;
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

/// Returns the fault of a missing state. The loop requests one action at a time, and its subject
/// exists.
pub(super) fn lost() -> Fault {
    Fault::internal("the repair lost its state")
}
