//! A person's decisions on a draft, in `.trellis/drafts`: a draft that goes on meets them again.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trellis_engine::plan_draft::PartDecision;

use super::DraftRequest;
use super::specification::Specification;
use crate::fault::{Fault, cannot};
use trellis_store::disk;
use trellis_store::format::refuse_newer;

/// The state of a draft besides its journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DraftState {
    /// Version of the format; absent in the first drafts, which had this format already.
    #[serde(default = "first_version")]
    version: u32,
    /// SHA-256 of the specification.
    specification: String,
    size: String,
    interview: bool,
    stepwise: bool,
    given: Vec<Kept>,
    /// The person's turn: what was shown last, if nothing was given since.
    #[serde(default)]
    shown: Option<Shown>,
    /// SHA-256 of what was shown last.
    #[serde(default)]
    shown_hash: Option<String>,
    /// SHA-256 of the plan that was written last.
    written: Option<String>,
    /// SHA-256 of the plan that is about to take its place.
    #[serde(default)]
    writing: Option<String>,
    /// Fields that a later version may add; they are kept.
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

/// Version of the format.
const VERSION: u32 = 1;

fn first_version() -> u32 {
    1
}

/// A question or a part that waits for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Shown {
    /// This number of questions.
    Questions(usize),
    /// A part of the draft.
    Part,
}

/// An answer or a decision, with what it was given to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    #[serde(flatten)]
    pub(super) given: Given,
    /// SHA-256 of the question or part; absent in old drafts.
    #[serde(default)]
    to: Option<String>,
}

impl Kept {
    /// Returns whether it was given to the question with this hash.
    pub(super) fn fits(&self, asked: &str) -> bool {
        self.to.as_deref().is_none_or(|it| it == asked)
    }
}

/// An answer or a decision of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Given {
    Answers(Vec<String>),
    Decision(StoredDecision),
}

/// A decision as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StoredDecision {
    Accept,
    Edited(String),
    SendBack(String),
}

impl From<PartDecision> for StoredDecision {
    fn from(it: PartDecision) -> StoredDecision {
        match it {
            PartDecision::Accept => StoredDecision::Accept,
            PartDecision::Edited(text) => StoredDecision::Edited(text),
            PartDecision::SendBack(words) => StoredDecision::SendBack(words),
        }
    }
}

impl From<StoredDecision> for PartDecision {
    fn from(it: StoredDecision) -> PartDecision {
        match it {
            StoredDecision::Accept => PartDecision::Accept,
            StoredDecision::Edited(text) => PartDecision::Edited(text),
            StoredDecision::SendBack(words) => PartDecision::SendBack(words),
        }
    }
}

/// The decisions on one draft.
pub(super) struct Decisions {
    home: PathBuf,
    /// Path of the state, relative to `home`.
    path: String,
    state: DraftState,
}

impl Decisions {
    /// Reads the decisions on a draft. Those on another specification, or with other options, do not
    /// count.
    pub(super) fn open(
        home: &Path,
        order: &DraftRequest,
        specification: &Specification,
    ) -> Result<Decisions, Fault> {
        let name = order.out.file_stem().unwrap_or_default().to_string_lossy();
        let path = format!(".trellis/drafts/{}.json", disk::escape_ref_name(&name));
        let options = order.options;
        let fresh = DraftState {
            version: VERSION,
            specification: specification.hash.clone(),
            size: options.size.as_str().to_owned(),
            interview: options.interview,
            stepwise: options.stepwise,
            given: Vec::new(),
            shown: None,
            shown_hash: None,
            written: None,
            writing: None,
            rest: serde_json::Map::new(),
        };
        let stored = read(home, &path)?;
        let is_same = |it: &DraftState| {
            (&it.specification, &it.size, it.interview, it.stepwise)
                == (&fresh.specification, &fresh.size, fresh.interview, fresh.stepwise)
        };
        let state = match stored {
            Some(stored) if is_same(&stored) => stored,
            Some(stored) => {
                DraftState { written: stored.written, writing: stored.writing, ..fresh }
            }
            None => fresh,
        };
        Ok(Decisions { home: home.to_owned(), path, state })
    }

    /// Refuses to replace a file that no draft wrote, or that someone edited since.
    pub(super) fn refuse_other_file(&self, out: &Path) -> Result<(), Fault> {
        let text = match std::fs::read(out) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(cannot(&format!("read {}", out.display()), &error)),
        };
        let hash = Some(disk::hash(&text));
        if self.state.written == hash || self.state.writing == hash {
            return Ok(());
        }
        let message = format!("{} exists, and is not what a draft wrote", out.display());
        Err(Fault::input(message).hint("give another --out, or move that file away"))
    }

    /// Keeps what the person gave now. Given again after the same, while nothing waits, it belongs to
    /// a call that was stopped and is already kept.
    ///
    /// # Errors
    ///
    /// It does not fit what waits for the person.
    pub(super) fn add(
        &mut self,
        answers: Option<Vec<String>>,
        decision: Option<PartDecision>,
    ) -> Result<(), Fault> {
        let given = match (answers, decision) {
            (None, None) => return self.save(),
            (Some(answers), None) => Given::Answers(answers),
            (None, Some(decision)) => Given::Decision(decision.into()),
            (Some(_), Some(_)) => {
                return Err(Fault::input("answers and a decision were given at once")
                    .hint("give only what the draft waits for"));
            }
        };
        let last = self.state.given.last().map(|it| &it.given);
        if self.state.shown.is_none() && last == Some(&given) {
            return Ok(());
        }
        refuse_unfit(&given, self.state.shown)?;
        self.state.given.push(Kept { given, to: self.state.shown_hash.take() });
        self.state.shown = None;
        self.save()
    }

    /// Drops what was given behind the first `met` answers and decisions.
    pub(super) fn keep_first(&mut self, met: usize) -> Result<(), Fault> {
        self.state.given.truncate(met);
        self.save()
    }

    /// Remembers that a person has seen what waits, and its hash.
    pub(super) fn show(&mut self, shown: Shown, hash: &str) -> Result<(), Fault> {
        self.state.shown = Some(shown);
        self.state.shown_hash = Some(hash.to_owned());
        self.save()
    }

    pub(super) fn given(&self) -> Vec<Kept> {
        self.state.given.clone()
    }

    /// Writes the plan, and remembers its hash.
    pub(super) fn write_plan(&mut self, out: &Path, text: &str) -> Result<(), Fault> {
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        self.state.writing = Some(disk::hash(text));
        self.save()?;
        disk::write(&self.home, &name, text)
            .map_err(|error| cannot(&format!("write {}", out.display()), &error))?;
        self.state.written = self.state.writing.take();
        self.save()
    }

    fn save(&self) -> Result<(), Fault> {
        let text = serde_json::to_string_pretty(&self.state);
        let text = text.map_err(|error| Fault::internal(format!("the draft's state: {error}")))?;
        disk::write(&self.home, &self.path, &text)
            .map_err(|error| cannot(&format!("write {}", self.path), &error))
    }
}

/// Refuses what does not fit the person's turn.
fn refuse_unfit(given: &Given, shown: Option<Shown>) -> Result<(), Fault> {
    let (message, hint) = match (given, shown) {
        (Given::Decision(_), Some(Shown::Part)) => return Ok(()),
        (Given::Answers(answers), Some(Shown::Questions(count))) if answers.len() == count => {
            return Ok(());
        }
        (Given::Answers(answers), Some(Shown::Questions(count))) => {
            let given = trellis_os::wording::counted(answers.len(), "answer", "answers");
            let asked = trellis_os::wording::counted(count, "question", "questions");
            (format!("{given} for {asked}"), "give one answer for each question, in their order")
        }
        (_, Some(Shown::Questions(_))) => {
            ("the draft waits for answers, not for a decision".to_owned(), "answer the questions")
        }
        (_, Some(Shown::Part)) => {
            ("the draft waits for a decision, not for answers".to_owned(), "decide on the part")
        }
        (_, None) => (
            "nothing of this draft waits for you yet".to_owned(),
            "start it with the same options and without an answer or a decision: it stops where it needs one",
        ),
    };
    Err(Fault::input(message).hint(hint))
}

fn read(home: &Path, path: &str) -> Result<Option<DraftState>, Fault> {
    let text = match trellis_os::files::read_text(home.join(path)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot(&format!("read {path}"), &error)),
    };
    refuse_newer(home.join(path).display(), text.as_bytes(), VERSION)?;
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Fault::input(format!("{path} cannot be read: {error}"))
            .hint("it holds your decisions on the draft; restore it, or delete it to begin again")
    })
}
