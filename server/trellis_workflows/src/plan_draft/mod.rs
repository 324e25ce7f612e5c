//! Drafts a plan from a specification: asks a model part by part, keeps a person's decisions, and
//! writes the plan.
//!
//! ```text
//! specification ──> sentences ──> DraftMachine <──> model
//!                                  ^   │
//!                 decisions of a   │   └──> plan.json
//!                 person, kept ────┘
//! ```
//!
//! [`trellis_engine::plan_draft::DraftMachine`] decides the next request. A stopped draft is played
//! again from its beginning: the journal has the replies so far, and `decisions` those of the
//! person, so that nothing is paid or asked for twice.

mod decisions;
mod specification;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;
use trellis_engine::ModelRequest;
use trellis_engine::plan_draft::{
    Action, Draft, DraftMachine, DraftOptions, Event, Part, PartDecision, Problem, Sentences,
    SpecFile, plan_file,
};

use self::decisions::{Decisions, Given, Kept, Shown};
use self::specification::Specification;
use crate::budget::Spent;
use crate::driver::{Performed, Performer, drive};
use crate::fault::{Exit, Fault, cannot};
use crate::job_control::JobControl;
use crate::llm_session::{LlmSession, no_journal};
use crate::models::ModelArgs;
use crate::reporter::Reporter;
use trellis_store::disk;
use trellis_store::journal::Journal;
use trellis_store::lock::Lock;
use trellis_store::origin::Workflow;

/// A request to draft a plan, or to go on with a draft.
#[derive(Clone, Debug)]
pub struct DraftRequest {
    /// The specification, Markdown or text.
    pub spec: PathBuf,
    /// The file to write; the draft's state is in `.trellis` beside it.
    pub out: PathBuf,
    pub options: DraftOptions,
    pub model: ModelArgs,
    /// The person's answers to the questions that an earlier call returned.
    pub answers: Option<Vec<String>>,
    /// The person's decision on the part that an earlier call returned.
    pub decision: Option<PartDecision>,
}

/// End of one call.
#[derive(Clone, Debug, PartialEq)]
pub enum DraftOutcome {
    /// The plan is written.
    Written(DraftReport),
    /// The model has questions.
    Questions(Vec<String>),
    /// A part waits for a decision: its text, and what is wrong with it.
    Part { part: Part, text: String, problems: Vec<String> },
}

/// A written plan.
#[derive(Clone, Debug, PartialEq)]
pub struct DraftReport {
    /// The plan's file.
    pub plan: PathBuf,
    /// Number of the specification's sentences.
    pub sentences: usize,
    /// Number of files of the planned package.
    pub files: usize,
    /// Number of functions, methods and classes.
    pub definitions: usize,
    /// Problems that the model did not solve.
    pub problems: Vec<Problem>,
    /// Number of requests to the model, those of earlier calls included.
    pub requests: u32,
    pub spent: Spent,
}

/// Drafts a plan up to the next question or decision.
///
/// # Errors
///
/// The specification cannot be used, a file is in the way, there is no model, or the model gives no
/// usable answer. Parts that are done stay done.
pub async fn draft(
    order: DraftRequest,
    reporter: &Reporter,
    control: &JobControl,
) -> Result<DraftOutcome, Fault> {
    let specification = Specification::read(&order.spec)?;
    let home = home(&order.out)?;
    disk::ensure(&home).map_err(|error| cannot("create .trellis", &error))?;
    let _lock = Lock::take(&home)?;
    Journal::refuse_newer(&home).map_err(no_journal)?;
    let mut decisions = Decisions::open(&home, &order, &specification)?;
    decisions.refuse_other_file(&order.out)?;
    decisions.add(order.answers.clone(), order.decision.clone())?;
    let origin = control.origin(Workflow::PlanDraft);
    let (model, tokens) = (&order.model, MOST_TOKENS);
    let session = LlmSession::open_with(&home, origin, model, reporter, cancelled, tokens)?;
    refuse_longer_than_read(&specification, &session)?;
    session.load_replies(&home)?;
    let sentences = Sentences::new(specification.sentences.clone());
    let mut machine = DraftMachine::new(sentences.clone(), order.options);
    let mut run = DraftRun {
        given: decisions.given().into(),
        met: 0,
        last: String::new(),
        session,
        reporter,
        cancel: &control.cancel,
        requests: 0,
    };
    let end = drive(&mut machine, Event::Started, &mut run).await?;
    decisions.keep_first(run.met)?;
    let draft = match end {
        End::Questions(questions) => {
            decisions.show(Shown::Questions(questions.len()), &run.last)?;
            return Ok(DraftOutcome::Questions(questions));
        }
        End::Part { part, text, problems } => {
            decisions.show(Shown::Part, &run.last)?;
            return Ok(DraftOutcome::Part { part, text, problems });
        }
        End::Unsuitable { why } => return Err(unsuitable(&order.spec, &why)),
        End::GaveUp { part, why } => return Err(run.gave_up(&part, &why)?),
        End::Finished(draft) => draft,
    };
    let spec = SpecFile { path: &specification.shown_from(&home), hash: &specification.hash };
    let text = format!("{:#}\n", plan_file(&draft, &spec, &sentences));
    // A draft takes minutes, in which the file may appear or change.
    decisions.refuse_other_file(&order.out)?;
    decisions.write_plan(&order.out, &text)?;
    Ok(DraftOutcome::Written(report(&order, &draft, &sentences, &run)))
}

fn report(
    order: &DraftRequest,
    draft: &Draft,
    sentences: &Sentences,
    run: &DraftRun<'_>,
) -> DraftReport {
    DraftReport {
        plan: order.out.clone(),
        sentences: sentences.all().count(),
        files: draft.interfaces.len(),
        definitions: draft.interfaces.iter().map(|it| it.definitions.len()).sum(),
        problems: draft.problems.clone(),
        requests: run.requests,
        spent: run.session.spent(),
    }
}

/// Greatest number of tokens of a request: the longest specification, and the task.
const MOST_TOKENS: usize = 60_000;
/// Tokens of a request besides the specification.
const OTHER_TOKENS: usize = 1_500;

/// Refuses a specification that the model could not read whole.
fn refuse_longer_than_read(
    specification: &Specification,
    session: &LlmSession,
) -> Result<(), Fault> {
    let (needed, most) = (specification.bytes / 4 + OTHER_TOKENS, session.context_tokens());
    if needed <= most {
        return Ok(());
    }
    let message = format!(
        "the specification is too long for {}: about {needed} tokens; a request has {most}",
        session.name()
    );
    Err(Fault::input(message).hint("describe one package at a time, or use another --model"))
}

fn unsuitable(spec: &Path, why: &str) -> Fault {
    let spec = spec.display();
    Fault::input(format!("{spec} describes nothing that a Python package can be: {why}"))
        .hint("describe a library, a command-line tool or a service in Python")
}

/// Returns the canonical folder of the plan's file.
fn home(out: &Path) -> Result<PathBuf, Fault> {
    let folder = out.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    folder.canonicalize().map_err(|error| {
        let message = format!("cannot write into {}: {error}", folder.display());
        Fault::input(message).hint("create the folder, or give another --out")
    })
}

fn cancelled() -> Fault {
    Fault::new(Exit::Interrupted, "stopped before the plan was done").hint(
        "run the same command again: it resumes, and you do not pay twice for the same prompts",
    )
}

/// Result of playing the machine up to its end, or to a missing decision.
enum End {
    Finished(Box<Draft>),
    Questions(Vec<String>),
    Part { part: Part, text: String, problems: Vec<String> },
    Unsuitable { why: String },
    GaveUp { part: Part, why: String },
}

/// The driver of one call.
struct DraftRun<'a> {
    /// The person's decisions that the machine has not met yet.
    given: VecDeque<Kept>,
    /// Number of decisions that it has met.
    met: usize,
    /// Hash of the last question to the person.
    last: String,
    session: LlmSession,
    reporter: &'a Reporter,
    cancel: &'a CancellationToken,
    requests: u32,
}

impl DraftRun<'_> {
    async fn ask(
        &mut self,
        part: &Part,
        problems: &[String],
        request: &ModelRequest,
    ) -> Result<Event, Fault> {
        let why = if problems.is_empty() { "" } else { ", again:" };
        self.reporter.note(format_args!("{}{why}", shown(part)));
        problems.iter().for_each(|it| self.reporter.note(format_args!("  {it}")));
        self.requests += 1;
        let reply = self.session.complete(part.id(), request, self.cancel).await?;
        Ok(Event::Replied(reply))
    }

    /// Returns what the person gave to a question. What was given to another question, such as one of
    /// another model, does not count, nor does what follows it.
    fn meet(&mut self, asked: String) -> Option<Given> {
        if self.given.front().is_some_and(|it| !it.fits(&asked)) {
            self.reporter.note("the draft changed: decisions on what was there before are dropped");
            self.given.clear();
        }
        self.last = asked;
        let kept = self.given.pop_front()?;
        self.met += 1;
        Some(kept.given)
    }

    fn gave_up(&self, part: &Part, why: &str) -> Result<Fault, Fault> {
        self.session.gave_up_on(part.id(), part.stage(), why)?;
        let message = format!("{} gave no usable {}: {why}", self.session.name(), shown(part));
        Ok(Fault::unavailable(message)
            .hint("run again, use another --model, or write the specification more clearly"))
    }
}

/// Returns a hash of a question to the person; `None` for another action.
fn asked_hash(action: &Action) -> Option<String> {
    match action {
        Action::Questions(all) => Some(disk::hash(all.join("\n"))),
        Action::Decide { part, text, problems } => {
            Some(disk::hash(format!("{}\n{text}\n{}", shown(part), problems.join("\n"))))
        }
        _ => None,
    }
}

/// Returns the name of a part for people.
pub fn shown(part: &Part) -> String {
    match part {
        Part::Features => "features".to_owned(),
        Part::Layout => "layout".to_owned(),
        Part::Interface(path) => format!("interface of {path}"),
        Part::Review => "review".to_owned(),
    }
}

impl Performer<DraftMachine> for DraftRun<'_> {
    type Output = End;
    type Error = Fault;

    async fn perform(
        &mut self,
        action: Action,
        _: &DraftMachine,
    ) -> Result<Performed<Event, End>, Fault> {
        let given = asked_hash(&action).and_then(|asked| self.meet(asked));
        Ok(match (action, given) {
            (Action::Ask { part, problems, request }, _) => {
                Performed::Event(self.ask(&part, &problems, &request).await?)
            }
            (_, Some(Given::Answers(answers))) => Performed::Event(Event::Answered(answers)),
            (_, Some(Given::Decision(decision))) => {
                Performed::Event(Event::Decided(decision.into()))
            }
            (Action::Questions(all), None) => Performed::Finished(End::Questions(all)),
            (Action::Decide { part, text, problems }, None) => {
                Performed::Finished(End::Part { part, text, problems })
            }
            (Action::Finished(draft), _) => Performed::Finished(End::Finished(draft)),
            (Action::Unsuitable { why }, _) => Performed::Finished(End::Unsuitable { why }),
            (Action::GaveUp { part, why }, _) => Performed::Finished(End::GaveUp { part, why }),
        })
    }
}
