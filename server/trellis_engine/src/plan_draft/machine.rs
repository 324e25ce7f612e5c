//! The state machine of a draft: one request at a time, each reply checked.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::parts::{Parts, Rejected};
use super::questions::{self, SentBack, ask_features, ask_interface, ask_layout, ask_review};
use super::{Draft, DraftOptions, Features, Part, Sentences};
use crate::prompt_budget::Section;
use crate::state_machine::{Machine, OutOfTurn};
use crate::vocabulary::{ModelRequest, Reply};

/// Inputs of the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Started,
    Replied(Reply),
    /// The person's answers, one for each question.
    Answered(Vec<String>),
    /// The person's decision on a part.
    Decided(PartDecision),
}

/// A person's decision on a part of the draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartDecision {
    Accept,
    /// The part's text as the person edited it.
    Edited(String),
    /// The part goes back to the model with the person's words.
    SendBack(String),
}

/// Outputs of the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The model has to write a part, again if there are problems.
    Ask {
        part: Part,
        problems: Vec<String>,
        request: Box<ModelRequest>,
    },
    /// The person has to answer.
    Questions(Vec<String>),
    /// The person has to decide on a part: its text, and what is wrong with it.
    Decide {
        part: Part,
        text: String,
        problems: Vec<String>,
    },
    Finished(Box<Draft>),
    /// The specification describes nothing that a Python package can be.
    Unsuitable {
        why: String,
    },
    /// The model gave no usable answer for a part.
    GaveUp {
        part: Part,
        why: String,
    },
}

/// Number of times that a part is sent back by the checks.
const RETRIES: u32 = 2;
/// Number of problems in the reason why there is no draft.
const SHOWN: usize = 3;

/// Returns the first problems in one line.
fn first_of(problems: &[String]) -> String {
    let shown = problems.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
    match problems.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

/// The state of a draft.
#[derive(Clone, Debug)]
pub struct DraftMachine {
    parts: Parts,
    options: DraftOptions,
    answers: Vec<(String, String)>,
    is_answered: bool,
    /// Number of requests, by part.
    asked: BTreeMap<Part, u32>,
    waits: Waits,
    /// The person's text that cannot be used, with its problems.
    refused: Option<(String, Vec<String>)>,
    /// Files that still have to be reviewed, in groups; `None` before the review.
    unreviewed: Option<VecDeque<Vec<String>>>,
    /// Files that the review sent back, with its findings.
    findings: BTreeMap<String, Vec<String>>,
    /// Files that were asked for again after the review changed others.
    rechecked: BTreeSet<String>,
}

/// The expected event.
#[derive(Clone, Debug, PartialEq)]
enum Waits {
    Start,
    /// A reply; the number of replies that may still be sent back.
    Reply {
        part: Part,
        left: u32,
    },
    Answers(Vec<String>),
    Decision(Part),
    Nothing,
}

impl Waits {
    fn phrase(&self) -> &'static str {
        match self {
            Waits::Start => "a beginning",
            Waits::Reply { .. } => "a reply",
            Waits::Answers(_) => "answers",
            Waits::Decision(_) => "a decision",
            Waits::Nothing => "nothing",
        }
    }
}

impl Event {
    fn phrase(&self) -> &'static str {
        match self {
            Event::Started => "a beginning",
            Event::Replied(_) => "a reply",
            Event::Answered(_) => "answers",
            Event::Decided(_) => "a decision",
        }
    }
}

impl Machine for DraftMachine {
    type Event = Event;
    type Action = Action;

    fn step(&mut self, event: Event) -> Result<Vec<Action>, OutOfTurn> {
        let action = match (self.waits.clone(), event) {
            (Waits::Start, Event::Started) => self.next(),
            (Waits::Reply { part, left }, Event::Replied(reply)) => self.replied(part, left, reply),
            (Waits::Answers(asked), Event::Answered(answers)) => {
                self.answers = asked.into_iter().zip(answers).collect();
                self.is_answered = true;
                self.ask(Part::Features, None)
            }
            (Waits::Decision(part), Event::Decided(decision)) => self.decided(part, decision),
            (waits, event) => return Err(OutOfTurn::new(event.phrase(), waits.phrase())),
        };
        Ok(vec![action])
    }
}

impl DraftMachine {
    pub fn new(sentences: Sentences, options: DraftOptions) -> DraftMachine {
        DraftMachine {
            parts: Parts::new(sentences),
            options,
            answers: Vec::new(),
            is_answered: false,
            asked: BTreeMap::new(),
            waits: Waits::Start,
            refused: None,
            unreviewed: None,
            findings: BTreeMap::new(),
            rechecked: BTreeSet::new(),
        }
    }

    /// Returns the request for the next part that is missing, or the finished draft.
    fn next(&mut self) -> Action {
        if let Some(part) = self.missing() {
            return self.ask(part, None);
        }
        if let Some((path, problems)) = self.sent_back() {
            let part = Part::Interface(path);
            let reply = self.parts.text(&part);
            return self.ask(part, Some(SentBack { problems, reply }));
        }
        self.waits = Waits::Nothing;
        match self.parts.draft() {
            Some(draft) => Action::Finished(Box::new(draft)),
            None => {
                let why = "a file of it has no interface".to_owned();
                Action::GaveUp { part: Part::Layout, why }
            }
        }
    }

    /// Returns the next part that was not there yet.
    fn missing(&mut self) -> Option<Part> {
        let first = [Part::Features, Part::Layout].into_iter().find(|it| !self.parts.has(it));
        let files = self.parts.order().into_iter().map(|it| Part::Interface(it.path.clone()));
        let missing = first.or_else(|| files.into_iter().find(|it| !self.parts.has(it)));
        if missing.is_some() {
            return missing;
        }
        let parts = &self.parts;
        let unreviewed = self.unreviewed.get_or_insert_with(|| parts.review_groups().into());
        (!unreviewed.is_empty()).then_some(Part::Review)
    }

    /// Returns the next file that has to be written once more: for a finding of the review, or
    /// because a file that it uses was changed by one.
    fn sent_back(&mut self) -> Option<(String, Vec<String>)> {
        let order: Vec<String> = self.parts.order().iter().map(|it| it.path.clone()).collect();
        for path in order {
            let mut problems = self.findings.remove(&path).unwrap_or_default();
            let is_checked = self.rechecked.contains(&path);
            let broken = self.parts.recheck(&path);
            if problems.is_empty() && (broken.is_empty() || is_checked) {
                continue;
            }
            problems.extend(broken);
            self.rechecked.insert(path.clone());
            return Some((path, problems));
        }
        None
    }

    fn ask(&mut self, part: Part, sent_back: Option<SentBack>) -> Action {
        self.ask_with(part, sent_back, RETRIES)
    }

    fn ask_with(&mut self, part: Part, sent_back: Option<SentBack>, left: u32) -> Action {
        let count = self.asked.entry(part.clone()).or_default();
        let attempt = *count;
        *count += 1;
        let sections = self.sections(&part);
        let request = questions::request(part.stage(), attempt, sections, sent_back.as_ref());
        self.waits = Waits::Reply { part: part.clone(), left };
        let problems = sent_back.map(|it| it.problems).unwrap_or_default();
        Action::Ask { part, problems, request: Box::new(request) }
    }

    fn sections(&self, part: &Part) -> Vec<Section> {
        let DraftOptions { size, interview, .. } = self.options;
        let parts = &self.parts;
        match (part, &parts.features) {
            (Part::Layout, Some(features)) => ask_layout(&parts.sentences, features),
            (Part::Interface(path), Some(features)) => ask_interface(parts, features, path),
            (Part::Review, _) => {
                let group = self.unreviewed.iter().flatten().next();
                ask_review(parts, group.map(Vec::as_slice).unwrap_or_default())
            }
            _ => {
                let may_ask = interview && !self.is_answered;
                ask_features(&parts.sentences, size, may_ask, &self.answers)
            }
        }
    }

    fn replied(&mut self, part: Part, left: u32, reply: Reply) -> Action {
        let (text, taken) = match reply {
            Reply::Text(text) => {
                let taken = self.parts.take(&part, &text);
                (text, taken)
            }
            Reply::Unusable { why } => (String::new(), Err(Rejected::from(why))),
            Reply::Edited(_) => (String::new(), Err(Rejected::from("it has no text".to_owned()))),
            Reply::Failed { reason } => return self.gave_up(part, reason),
        };
        match taken {
            Ok(problems) if problems.is_empty() => self.taken(part),
            Ok(problems) | Err(Rejected(problems)) if left > 0 => {
                self.ask_with(part, Some(SentBack { problems, reply: text }), left - 1)
            }
            Ok(problems) | Err(Rejected(problems)) if part == Part::Review => {
                self.gave_up(part, first_of(&problems))
            }
            // An earlier reply can be used, with the problems that it has.
            _ if self.parts.has(&part) => self.taken(part),
            Ok(problems) | Err(Rejected(problems)) => self.gave_up(part, first_of(&problems)),
        }
    }

    /// Continues after a usable reply.
    fn taken(&mut self, part: Part) -> Action {
        let features = self.parts.features.as_ref().filter(|_| part == Part::Features);
        if let Some(why) = features.and_then(Features::why_unsuitable) {
            self.waits = Waits::Nothing;
            return Action::Unsuitable { why: why.to_owned() };
        }
        let questions = features.map(|it| it.questions.clone()).unwrap_or_default();
        if self.options.interview && !self.is_answered && !questions.is_empty() {
            self.waits = Waits::Answers(questions.clone());
            return Action::Questions(questions);
        }
        match part {
            Part::Review => self.reviewed(),
            _ if self.options.stepwise => self.decide(part),
            _ => self.next(),
        }
    }

    /// Continues after the review of a group of files.
    fn reviewed(&mut self) -> Action {
        for (path, problems) in self.parts.take_findings() {
            self.findings.entry(path).or_default().extend(problems);
        }
        if let Some(left) = &mut self.unreviewed {
            left.pop_front();
        }
        self.next()
    }

    fn decide(&mut self, part: Part) -> Action {
        let (text, problems) = (self.parts.text(&part), self.parts.problems(&part));
        self.waits = Waits::Decision(part.clone());
        Action::Decide { part, text, problems }
    }

    fn decided(&mut self, part: Part, decision: PartDecision) -> Action {
        match (decision, self.refused.take()) {
            (PartDecision::Accept, None) => self.next(),
            (PartDecision::Accept, Some((text, problems))) => self.refuse(part, text, problems),
            (PartDecision::SendBack(words), refused) => {
                let reply = refused.map_or_else(|| self.parts.text(&part), |(text, _)| text);
                self.ask(part, Some(SentBack { problems: vec![words], reply }))
            }
            (PartDecision::Edited(text), _) => self.edited(part, text),
        }
    }

    /// Takes a person's text. One that cannot be read, or has problems, is shown again; a second
    /// time it is accepted with its problems if it can be read.
    fn edited(&mut self, part: Part, text: String) -> Action {
        let is_same = self.parts.text(&part) == text;
        let taken = match &part {
            Part::Interface(path) => self.parts.take_interface(path, &text),
            _ => self.parts.take(&part, &text),
        };
        match taken {
            Ok(problems) if problems.is_empty() || is_same => self.next(),
            Ok(_) => self.decide(part),
            Err(Rejected(problems)) => self.refuse(part, text, problems),
        }
    }

    /// Shows a person's text that cannot be used. It cannot be accepted either.
    fn refuse(&mut self, part: Part, text: String, problems: Vec<String>) -> Action {
        self.refused = Some((text.clone(), problems.clone()));
        self.waits = Waits::Decision(part.clone());
        Action::Decide { part, text, problems }
    }

    /// Ends the work, since a part has no usable text. A plan can do without the review.
    fn gave_up(&mut self, part: Part, why: String) -> Action {
        if part == Part::Review {
            self.parts.add_problem(part, why);
            return self.reviewed();
        }
        self.waits = Waits::Nothing;
        Action::GaveUp { part, why }
    }
}
