//! Faults on the wire.

use std::collections::BTreeSet;

use jsonrpsee::types::{ErrorCode, ErrorObjectOwned};
use serde_json::json;

use crate::error::{Exit, Fault};
use crate::state::Unanswered;

/// A code of ours: stable, and the exit code of the command line where the protocol has none of its own.
pub(crate) struct Code {
    pub(crate) code: i32,
    /// `data.kind` of the error.
    pub(crate) kind: &'static str,
    pub(crate) meaning: &'static str,
}

/// All of them.
pub(crate) const CODES: [Code; 8] = [
    Code { code: -32602, kind: "usage", meaning: "the parameters are wrong" },
    Code { code: -32603, kind: "internal", meaning: "a fault of Trellis or of the machine" },
    Code { code: -32801, kind: "overtaken", meaning: "a text changed while the answer was made" },
    Code { code: 1, kind: "testsFailed", meaning: "tests still fail after the retries" },
    Code { code: 2, kind: "needsHuman", meaning: "a person has to decide" },
    Code { code: 65, kind: "badInput", meaning: "the input is broken or was changed by others" },
    Code { code: 69, kind: "unavailable", meaning: "the model or the sandbox cannot be had" },
    Code { code: 130, kind: "cancelled", meaning: "it was cancelled" },
];

/// Message, code, and `{kind, hint}` as data.
pub(crate) fn object(fault: &Fault) -> ErrorObjectOwned {
    let code = code(fault.exit);
    let kind = fault.kind.unwrap_or(code.kind);
    let data = json!({ "kind": kind, "hint": fault.hint });
    ErrorObjectOwned::owned(code.code, fault.message.clone(), Some(data))
}

fn code(exit: Exit) -> &'static Code {
    let wanted = match exit {
        Exit::Usage => "usage",
        Exit::Done | Exit::Internal => "internal",
        Exit::TestsFailed => "testsFailed",
        Exit::NeedsHuman => "needsHuman",
        Exit::BadInput => "badInput",
        Exit::Unavailable => "unavailable",
        Exit::Interrupted => "cancelled",
    };
    CODES.iter().find(|it| it.kind == wanted).unwrap_or(&CODES[1])
}

/// What is wrong with parameters.
pub(super) struct Misread {
    why: String,
    /// A known name that resembles the one given.
    near: Option<String>,
}

impl Misread {
    pub(super) fn wrong(why: impl ToString) -> Misread {
        Misread { why: why.to_string(), near: None }
    }

    pub(super) fn unknown(name: &str, known: &BTreeSet<String>) -> Misread {
        let near = known.iter().map(|it| (likeness(name, it), it)).max();
        let near = near.filter(|(likeness, _)| *likeness * 2 > name.chars().count());
        let all: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
        let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        let why = format!("there is no parameter `{name}`; there are {all}");
        Misread { why, near: near.map(|(_, it)| it.clone()) }
    }
}

/// Letters that stand in both words in the same order, looked for from the left.
fn likeness(a: &str, b: &str) -> usize {
    let mut rest = b.chars();
    a.chars()
        .filter(|letter| rest.clone().any(|it| it == *letter) && rest.any(|it| it == *letter))
        .count()
}

/// Parameters that do not fit the method.
pub(super) fn bad_params(misread: &Misread, name: &str) -> ErrorObjectOwned {
    let near = misread.near.as_ref().map(|it| format!("did you mean `{it}`? "));
    let shown = format!("`trellis serve --describe` shows the parameters of {name}");
    let hint = near.unwrap_or_default() + &shown;
    let data = json!({ "kind": "usage", "hint": hint });
    let why = format!("{name}: {}", misread.why);
    ErrorObjectOwned::owned(ErrorCode::InvalidParams.code(), why, Some(data))
}

impl From<Unanswered> for Fault {
    fn from(why: Unanswered) -> Fault {
        match why {
            Unanswered::Overtaken => {
                Fault::input("a text changed while the answer was made").hint("ask again")
            }
            Unanswered::Cancelled => Fault::new(Exit::Interrupted, "the request was cancelled"),
            Unanswered::Broken => {
                Fault::internal("the question broke").hint("the server's log says how")
            }
        }
    }
}
