//! The state machine of a draft: one request at a time, each reply checked.

use std::collections::{BTreeMap, BTreeSet};

use super::json_reply::json_reply;
use super::questions::{
    self, MOST_QUESTIONS, SentBack, ask_features, ask_interface, ask_layout, ask_review,
};
use super::{Draft, DraftOptions, Features, Interface, Layout, Part, Problem, Review, Sentences};
use crate::reply;
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
    /// The model gave no usable answer for a part.
    GaveUp {
        part: Part,
        why: String,
    },
}

/// Number of times that a part is sent back by the checks.
const RETRIES: u32 = 2;

/// The state of a draft.
#[derive(Clone, Debug)]
pub struct DraftMachine {
    sentences: Sentences,
    options: DraftOptions,
    features: Option<Features>,
    layout: Option<Layout>,
    interfaces: BTreeMap<String, Interface>,
    answers: Vec<(String, String)>,
    /// Problems that are left, by part.
    problems: BTreeMap<Part, Vec<String>>,
    /// Number of requests, by part.
    asked: BTreeMap<Part, u32>,
    waits: Waits,
    is_reviewed: bool,
    /// Files that the review sent back, with its findings.
    reviewed: BTreeMap<String, Vec<String>>,
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
                self.features = None;
                self.next()
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
            sentences,
            options,
            features: None,
            layout: None,
            interfaces: BTreeMap::new(),
            answers: Vec::new(),
            problems: BTreeMap::new(),
            asked: BTreeMap::new(),
            waits: Waits::Start,
            is_reviewed: false,
            reviewed: BTreeMap::new(),
        }
    }

    /// Returns the request for the next part that is missing, or the finished draft.
    fn next(&mut self) -> Action {
        let Some(features) = &self.features else { return self.ask(Part::Features, None) };
        let Some(layout) = &self.layout else { return self.ask(Part::Layout, None) };
        let order = layout.in_order().unwrap_or_default();
        let missing = order.iter().find(|it| !self.interfaces.contains_key(&it.path));
        if let Some(file) = missing {
            return self.ask(Part::Interface(file.path.clone()), None);
        }
        if !self.is_reviewed {
            return self.ask(Part::Review, None);
        }
        if let Some((path, problems)) = self.reviewed.pop_first() {
            let reply = self.interfaces.get(&path).map(|it| it.text.clone()).unwrap_or_default();
            return self.ask(Part::Interface(path), Some(SentBack { problems, reply }));
        }
        let draft = Draft {
            features: features.clone(),
            layout: layout.clone(),
            interfaces: order
                .iter()
                .filter_map(|it| self.interfaces.get(&it.path))
                .cloned()
                .collect(),
            problems: self.left(),
        };
        self.waits = Waits::Nothing;
        Action::Finished(Box::new(draft))
    }

    /// Returns the problems that are left.
    fn left(&self) -> Vec<Problem> {
        let all = self.problems.iter();
        all.flat_map(|(part, problems)| {
            problems.iter().map(|it| Problem { part: part.clone(), text: it.clone() })
        })
        .collect()
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

    fn sections(&self, part: &Part) -> Vec<crate::prompt_budget::Section> {
        let DraftOptions { size, interview, .. } = self.options;
        match (part, &self.features, &self.layout) {
            (Part::Layout, Some(features), _) => ask_layout(&self.sentences, features),
            (Part::Interface(path), Some(features), Some(layout)) => match layout.file(path) {
                Some(file) => {
                    let used = self.usable(path);
                    ask_interface(&self.sentences, features, layout, file, &used)
                }
                None => Vec::new(),
            },
            (Part::Review, _, _) => {
                let all: Vec<&Interface> = self.interfaces.values().collect();
                ask_review(&self.sentences, &all)
            }
            _ => ask_features(&self.sentences, size, interview, &self.answers),
        }
    }

    /// Returns the interfaces of the files that a file uses, directly or not.
    fn usable(&self, path: &str) -> Vec<&Interface> {
        let Some(layout) = &self.layout else { return Vec::new() };
        let mut paths: Vec<&str> = Vec::new();
        let mut next: Vec<&str> = vec![path];
        while let Some(at) = next.pop() {
            for used in layout.file(at).into_iter().flat_map(|it| &it.uses) {
                if used != path && !paths.contains(&used.as_str()) {
                    paths.push(used);
                    next.push(used);
                }
            }
        }
        paths.iter().filter_map(|it| self.interfaces.get(*it)).collect()
    }

    fn replied(&mut self, part: Part, left: u32, reply: Reply) -> Action {
        let (text, taken) = match reply {
            Reply::Text(text) => {
                let taken = self.take(&part, &text);
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
            // An earlier reply can be used, with the problems that it has.
            _ if self.has(&part) => self.taken(part),
            Ok(problems) | Err(Rejected(problems)) => self.gave_up(part, problems.join("; ")),
        }
    }

    /// Reads a reply, keeps what it has, and returns its problems.
    fn take(&mut self, part: &Part, text: &str) -> Result<Vec<String>, Rejected> {
        match part {
            Part::Features => self.take_features(json_reply(text)?),
            Part::Layout => self.take_layout(json_reply(text)?),
            Part::Interface(path) => {
                let code = reply::code(text).ok_or("there is no Python block".to_owned())?;
                self.take_interface(path, &code)
            }
            Part::Review => self.take_review(&json_reply(text)?),
        }
    }

    fn take_features(&mut self, mut features: Features) -> Result<Vec<String>, Rejected> {
        features.questions.truncate(MOST_QUESTIONS);
        let problems = features.problems(&self.sentences);
        if features.leaves().is_empty() {
            return Err(Rejected(problems));
        }
        self.features = Some(features);
        Ok(self.keep(Part::Features, problems))
    }

    fn take_layout(&mut self, layout: Layout) -> Result<Vec<String>, Rejected> {
        let Some(features) = &self.features else { return Ok(Vec::new()) };
        let problems = layout.problems(features);
        if layout.files.is_empty() || layout.in_order().is_none() {
            return Err(Rejected(problems));
        }
        self.layout = Some(layout);
        Ok(self.keep(Part::Layout, problems))
    }

    fn take_interface(&mut self, path: &str, text: &str) -> Result<Vec<String>, Rejected> {
        let interface = Interface::read(path, text)?;
        let mut problems = interface.problems(&self.sentences, &self.usable(path));
        problems.extend(self.unserved(&interface));
        self.interfaces.insert(path.to_owned(), interface);
        Ok(self.keep(Part::Interface(path.to_owned()), problems))
    }

    /// Returns the sentences of the file's features that no definition of it serves.
    fn unserved(&self, interface: &Interface) -> Vec<String> {
        let file = self.layout.as_ref().and_then(|it| it.file(&interface.path));
        let (Some(features), Some(file)) = (&self.features, file) else { return Vec::new() };
        let leaves = features.leaves().into_iter();
        let own = leaves.filter(|it| file.features.contains(&it.number));
        let asked: BTreeSet<usize> =
            own.flat_map(|it| it.feature.sentences.iter().copied()).collect();
        let is_served =
            |it: &usize| interface.definitions.iter().any(|one| one.serves.contains(it));
        let unserved = asked.into_iter().filter(|it| !is_served(it));
        unserved.map(|it| format!("no definition serves sentence {it}")).collect()
    }

    fn take_review(&mut self, review: &Review) -> Result<Vec<String>, Rejected> {
        let Some(layout) = &self.layout else { return Ok(Vec::new()) };
        let problems = review.problems(layout);
        let by_file = review.by_file().into_iter().filter(|(path, _)| layout.file(path).is_some());
        self.reviewed = by_file
            .map(|(path, all)| {
                let texts = all.iter().map(|it| match it.kind.is_empty() {
                    true => it.problem.clone(),
                    false => format!("{}: {}", it.kind, it.problem),
                });
                (path.to_owned(), texts.collect())
            })
            .collect();
        Ok(self.keep(Part::Review, problems))
    }

    /// Remembers the problems of a part, and returns them.
    fn keep(&mut self, part: Part, problems: Vec<String>) -> Vec<String> {
        self.problems.insert(part, problems.clone());
        problems
    }

    /// Returns whether there is a usable text of a part.
    fn has(&self, part: &Part) -> bool {
        match part {
            Part::Features => self.features.is_some(),
            Part::Layout => self.layout.is_some(),
            Part::Interface(path) => self.interfaces.contains_key(path),
            Part::Review => true,
        }
    }

    /// Goes on after a usable reply.
    fn taken(&mut self, part: Part) -> Action {
        if part == Part::Review {
            self.is_reviewed = true;
            return self.next();
        }
        let questions = self.features.as_ref().map(|it| it.questions.clone()).unwrap_or_default();
        let is_asked = part == Part::Features && self.answers.is_empty() && !questions.is_empty();
        if is_asked && self.options.interview {
            self.waits = Waits::Answers(questions.clone());
            return Action::Questions(questions);
        }
        match self.options.stepwise {
            true => self.decide(part),
            false => self.next(),
        }
    }

    fn decide(&mut self, part: Part) -> Action {
        let text = self.text(&part);
        let problems = self.problems.get(&part).cloned().unwrap_or_default();
        self.waits = Waits::Decision(part.clone());
        Action::Decide { part, text, problems }
    }

    /// Returns a part as a person edits it: JSON, or Python for an interface.
    fn text(&self, part: &Part) -> String {
        let shown = match part {
            Part::Features => serde_json::to_string_pretty(&self.features),
            Part::Layout => serde_json::to_string_pretty(&self.layout),
            Part::Interface(path) => {
                return self.interfaces.get(path).map(|it| it.text.clone()).unwrap_or_default();
            }
            Part::Review => return String::new(),
        };
        // Both are structs of strings and lists, which always serialize.
        shown.unwrap_or_default()
    }

    fn decided(&mut self, part: Part, decision: PartDecision) -> Action {
        match decision {
            PartDecision::Accept => self.next(),
            PartDecision::SendBack(words) => {
                let reply = self.text(&part);
                self.ask(part, Some(SentBack { problems: vec![words], reply }))
            }
            PartDecision::Edited(text) => self.edited(part, text),
        }
    }

    /// Takes a person's text. One that cannot be read, or has problems, is shown again; a second
    /// time it is accepted with its problems if it can be read.
    fn edited(&mut self, part: Part, text: String) -> Action {
        let is_same = self.text(&part) == text;
        let taken = match &part {
            Part::Interface(path) => self.take_interface(path, &text),
            _ => self.take(&part, &text),
        };
        match taken {
            Ok(problems) if problems.is_empty() || is_same => self.next(),
            Ok(_) => self.decide(part),
            Err(Rejected(problems)) => {
                self.waits = Waits::Decision(part.clone());
                Action::Decide { part, text, problems }
            }
        }
    }

    /// Ends the work, since a part has no usable text. A plan can do without the review.
    fn gave_up(&mut self, part: Part, why: String) -> Action {
        if part == Part::Review {
            self.keep(part.clone(), vec![why]);
            return self.taken(part);
        }
        self.waits = Waits::Nothing;
        Action::GaveUp { part, why }
    }
}

/// Problems of a reply that cannot be used.
struct Rejected(Vec<String>);

impl From<String> for Rejected {
    fn from(problem: String) -> Rejected {
        Rejected(vec![problem])
    }
}
