//! Faults in wire format.

use std::collections::BTreeSet;
use std::path::Path;

use jsonrpsee::types::{ErrorCode, ErrorObjectOwned};
use schemars::JsonSchema;
use serde::Serialize;

use crate::session::QueryError;
use trellis_workflows::fault::{self, Exit, Fault, FaultKind};

/// A stable error code: the protocol's own where it has one, else the exit code of the command
/// line.
pub(super) struct Code {
    pub code: i32,
    /// `data.kind` of the error.
    pub kind: &'static str,
    pub meaning: &'static str,
}

/// All error codes.
pub(super) const CODES: [Code; 8] = [
    Code { code: -32602, kind: "usage", meaning: "the parameters are wrong" },
    Code {
        code: -32603,
        kind: "internal",
        meaning: "an internal error of Trellis or of the machine",
    },
    Code { code: -32801, kind: "overtaken", meaning: "a file changed during the request" },
    Code { code: 1, kind: "testsFailed", meaning: "tests still fail after the retries" },
    Code { code: 2, kind: "needsHuman", meaning: "needs your review" },
    Code {
        code: 65,
        kind: "badInput",
        meaning: "the input is invalid, or someone else changed it",
    },
    Code { code: 69, kind: "unavailable", meaning: "the model or the sandbox is unavailable" },
    Code { code: 130, kind: "cancelled", meaning: "it was cancelled" },
];

/// `data` of an error.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorData {
    /// Distinguishes errors with the same code, such as `stale`.
    pub kind: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What a program may offer to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

/// What a program can offer after a refused decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum Remedy {
    /// The proposal can be applied to the current texts: decide `rebase`.
    Rebase,
    /// The proposal changed after you saw it: review it again.
    Review,
}

impl From<fault::Remedy> for Remedy {
    fn from(it: fault::Remedy) -> Remedy {
        match it {
            fault::Remedy::Rebase => Remedy::Rebase,
            fault::Remedy::Review => Remedy::Review,
        }
    }
}

/// Returns a fault as an error object with [`ErrorData`].
pub fn object(fault: &Fault) -> ErrorObjectOwned {
    let code = code(fault.exit);
    let kind = fault.kind.map_or(code.kind, FaultKind::as_str).to_owned();
    let hint = fault.hint.as_deref().map(in_parameters);
    let data = ErrorData { kind, hint, remedy: fault.remedy.map(Into::into) };
    ErrorObjectOwned::owned(code.code, in_parameters(&fault.message), Some(data))
}

/// Options of the command line and the method parameters that correspond to them.
const OPTIONS: [(&str, &str); 20] = [
    ("--at", "at"),
    ("--batch", "batch"),
    ("--budget-minutes", "budgetMinutes"),
    ("--budget-tokens", "budgetTokens"),
    ("--budget-usd", "budgetUsd"),
    ("--confirm", "confirm"),
    ("--drop-removed", "dropRemoved"),
    ("--force", "force"),
    ("--graph", "graph"),
    ("--in", "root"),
    ("--jobs", "jobs"),
    ("--keep-edits", "keepEdits"),
    ("--model", "model"),
    ("--out", "out"),
    ("--plan", "plan"),
    ("--record", "record"),
    ("--replace-edited", "replaceEdited"),
    ("--start-from-node", "startFromNode"),
    ("--substring", "substring"),
    ("--tests-dir", "testsDir"),
];

/// Replaces options of the command line in a fault's text by method parameters.
fn in_parameters(text: &str) -> String {
    let word = |it: &str| {
        let bare = it.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let (_, parameter) = OPTIONS.iter().find(|(option, _)| *option == bare)?;
        let quoted = it.replace(bare, parameter);
        Some(if it.contains('`') { quoted } else { it.replace(bare, &format!("`{parameter}`")) })
    };
    let words = text.split(' ').map(|it| word(it).unwrap_or_else(|| it.to_owned()));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the fault of a path outside of the workspace.
pub fn outside(path: &Path) -> Fault {
    Fault::input(format!("{} is outside the workspace", path.display()))
        .kind(FaultKind::Outside)
        .hint("add its folder to the workspace, or do it yourself; nothing was changed")
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

/// Error in a call's parameters.
pub(super) struct ParamsError {
    why: String,
    /// A known name similar to the given one.
    near: Option<String>,
}

impl ParamsError {
    pub(super) fn wrong(why: impl ToString) -> ParamsError {
        ParamsError { why: why.to_string(), near: None }
    }

    pub(super) fn unknown(name: &str, known: &BTreeSet<String>) -> ParamsError {
        let near = known.iter().map(|it| (likeness(name, it), it)).max();
        let near = near.filter(|(likeness, _)| *likeness * 2 > name.chars().count());
        let all: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
        let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        let why = format!("there is no parameter `{name}`; there are {all}");
        ParamsError { why, near: near.map(|(_, it)| it.clone()) }
    }
}

/// Returns the number of letters that both words share in the same order, searched from the left.
fn likeness(a: &str, b: &str) -> usize {
    let mut rest = b.chars();
    a.chars()
        .filter(|letter| rest.clone().any(|it| it == *letter) && rest.any(|it| it == *letter))
        .count()
}

/// Returns the error for parameters that do not fit the method.
pub(super) fn bad_params(misread: &ParamsError, name: &str) -> ErrorObjectOwned {
    let near = misread.near.as_ref().and_then(|it| trellis_plan::did_you_mean(&[it]));
    let shown = format!("`trellis serve --describe` shows the parameters of {name}");
    let hint = near.map(|it| it + " ").unwrap_or_default() + &shown;
    let data = ErrorData { kind: "usage".to_owned(), hint: Some(hint), remedy: None };
    let why = format!("{name}: {}", misread.why);
    ErrorObjectOwned::owned(ErrorCode::InvalidParams.code(), why, Some(data))
}

impl From<QueryError> for Fault {
    fn from(why: QueryError) -> Fault {
        match why {
            QueryError::ContentModified => {
                Fault::input("a file changed during the request").hint("send the request again")
            }
            QueryError::Cancelled => Fault::new(Exit::Interrupted, "the request was cancelled"),
            QueryError::Panicked => {
                Fault::internal("the request failed").hint("see the server's log")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_parameters;

    #[test]
    fn options_are_reported_as_the_parameters_that_they_are() {
        let table = [
            ("delete it anyway with --force", "delete it anyway with `force`"),
            ("`--in /tmp/x` includes them", "`root /tmp/x` includes them"),
            ("--start-from-node nope: the graph", "`startFromNode` nope: the graph"),
            ("run again with --keep-edits, or not", "run again with `keepEdits`, or not"),
            (
                "give --model; see `trellis serve --describe`",
                "give `model`; see `trellis serve --describe`",
            ),
            ("a -- b --inside", "a -- b --inside"),
        ];
        for (said, expected) in table {
            assert_eq!(in_parameters(said), expected);
        }
    }
}
