//! A person's decisions on a draft, in `.trellis/drafts`: a draft that goes on meets them again.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trellis_engine::plan_draft::PartDecision;

use super::DraftRequest;
use super::specification::Specification;
use crate::fault::{Fault, cannot};
use trellis_store::disk;

/// The state of a draft besides its journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DraftState {
    /// SHA-256 of the specification.
    specification: String,
    size: String,
    interview: bool,
    stepwise: bool,
    given: Vec<Given>,
    /// The last question to the person.
    #[serde(default)]
    asked: Option<Asked>,
    /// SHA-256 of the plan that was written last.
    written: Option<String>,
}

/// A question to the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    kind: AskedKind,
    /// Number of answers and decisions before it.
    after: usize,
}

/// Kind of a question to the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum AskedKind {
    /// Questions of the model.
    Questions,
    /// A part that waits for a decision.
    Part,
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
            specification: specification.hash.clone(),
            size: options.size.as_str().to_owned(),
            interview: options.interview,
            stepwise: options.stepwise,
            given: Vec::new(),
            asked: None,
            written: None,
        };
        let stored = read(home, &path)?;
        let is_same = |it: &DraftState| {
            (&it.specification, &it.size, it.interview, it.stepwise)
                == (&fresh.specification, &fresh.size, fresh.interview, fresh.stepwise)
        };
        let state = match stored {
            Some(stored) if is_same(&stored) => stored,
            Some(stored) => DraftState { written: stored.written, ..fresh },
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
        if self.state.written.as_deref() == Some(disk::hash(&text).as_str()) {
            return Ok(());
        }
        let message = format!("{} exists, and is not what a draft wrote", out.display());
        Err(Fault::input(message).hint("give another --out, or move that file away"))
    }

    /// Keeps what the person gave now. What is given again, such as after a failure, replaces what was
    /// given first.
    pub(super) fn add(
        &mut self,
        answers: Option<Vec<String>>,
        decision: Option<PartDecision>,
    ) -> Result<(), Fault> {
        let (given, kind) = match (answers, decision) {
            (None, None) => return self.save(),
            (Some(answers), None) => (Given::Answers(answers), AskedKind::Questions),
            (None, Some(decision)) => (Given::Decision(decision.into()), AskedKind::Part),
            (Some(_), Some(_)) => {
                return Err(Fault::input("answers and a decision were given at once")
                    .hint("give answers to questions, or a decision on a part"));
            }
        };
        let asked = self.state.asked.filter(|it| it.kind == kind);
        let asked = asked.ok_or_else(|| nothing_waits(kind))?;
        self.state.given.truncate(asked.after);
        self.state.given.push(given);
        self.save()
    }

    /// Remembers that the person was asked.
    pub(super) fn set_asked(&mut self, kind: AskedKind) -> Result<(), Fault> {
        self.state.asked = Some(Asked { kind, after: self.state.given.len() });
        self.save()
    }

    pub(super) fn given(&self) -> Vec<Given> {
        self.state.given.clone()
    }

    /// Writes the plan, and remembers its hash.
    pub(super) fn write_plan(&mut self, out: &Path, text: &str) -> Result<(), Fault> {
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        self.state.written = Some(disk::hash(text));
        self.state.asked = None;
        self.save()?;
        disk::write(&self.home, &name, text)
            .map_err(|error| cannot(&format!("write {}", out.display()), &error))
    }

    fn save(&self) -> Result<(), Fault> {
        let text = serde_json::to_string_pretty(&self.state);
        let text = text.map_err(|error| Fault::internal(format!("the draft's state: {error}")))?;
        disk::write(&self.home, &self.path, &text)
            .map_err(|error| cannot(&format!("write {}", self.path), &error))
    }
}

fn nothing_waits(kind: AskedKind) -> Fault {
    let message = match kind {
        AskedKind::Questions => "no question waits for an answer",
        AskedKind::Part => "no part waits for a decision",
    };
    Fault::input(message)
        .hint("start without answers and without a decision; the draft shows what it waits for")
}

fn read(home: &Path, path: &str) -> Result<Option<DraftState>, Fault> {
    let text = match trellis_os::files::read_text(home.join(path)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot(&format!("read {path}"), &error)),
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Fault::input(format!("{path} cannot be read: {error}"))
            .hint("it holds your decisions on the draft; restore it, or delete it to begin again")
    })
}
