//! Reads a plan from bytes: encoding, syntax, dialect, and errors with line and column.

use std::fmt;

use serde_json::value::RawValue;

use crate::dialect::{self, Dialect};
use crate::json::{JsonProblem, Object, noun};
use crate::plan::Plan;

/// The reason why a file could not be read as a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ReadError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in bytes.
    pub column: usize,
    /// Description, as a lowercase fragment.
    pub message: String,
    /// Instruction for fixing the error, if known.
    pub hint: Option<String>,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}: {}", self.line, self.column, self.message)
    }
}

/// Reads a plan in any dialect. Without `forced` the dialect is detected from the top-level keys.
///
/// A byte order mark is allowed. Problems with the plan's content (cycles, unknown ids, …) are not
/// errors here; [`check`](crate::check()) reports them. An error means that the file does not have
/// the form of a plan.
pub fn read(bytes: &[u8], forced: Option<Dialect>) -> Result<Plan, ReadError> {
    let text = decode(bytes)?;
    let located = |wrong| locate(text, wrong);
    let whole: &RawValue = serde_json::from_str(text).map_err(|e| broken(&e))?;
    if !whole.get().starts_with('{') {
        let found = noun(whole.get());
        return Err(located(JsonProblem::new(
            whole,
            format_args!("the file holds {found}, expected an object"),
        )));
    }
    let top = Object::parse(whole).map_err(located)?;
    let dialect = match forced {
        Some(dialect) => dialect,
        None => dialect::detect(&top).ok_or_else(|| located(no_dialect(whole, &top)))?,
    };
    dialect::convert(dialect, whole, &top).map_err(located)
}

/// Returns the text without its byte order mark.
fn decode(bytes: &[u8]) -> Result<&str, ReadError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if u32::try_from(bytes.len()).is_err() {
        let message = "the file is larger than 4 GiB".to_owned();
        return Err(ReadError { line: 1, column: 1, message, hint: None });
    }
    std::str::from_utf8(bytes).map_err(|e| {
        let good = &bytes[..e.valid_up_to()];
        let line = 1 + good.iter().filter(|&&b| b == b'\n').count();
        let column = 1 + good.iter().rev().take_while(|&&b| b != b'\n').count();
        let hint = Some("save the file as UTF-8".to_owned());
        ReadError { line, column, message: "not valid UTF-8".to_owned(), hint }
    })
}

fn broken(error: &serde_json::Error) -> ReadError {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let full = error.to_string();
    let hint = if error.is_eof() {
        "the file ends too early; was it truncated?"
    } else {
        "fix the JSON at that place"
    };
    ReadError {
        line: error.line().max(1),
        column: error.column().max(1),
        message: format!("invalid JSON: {}", full.strip_suffix(&place).unwrap_or(&full)),
        hint: Some(hint.to_owned()),
    }
}

/// Converts a position within a slice of the text to a position in the text.
fn locate(text: &str, wrong: JsonProblem<'_>) -> ReadError {
    // The slice is part of the text, so the difference of their addresses is its offset.
    let offset =
        (wrong.part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
    let before = &text.as_bytes()[..offset];
    let line = before.iter().filter(|&&b| b == b'\n').count();
    let column =
        if wrong.line > 1 { 0 } else { before.iter().rev().take_while(|&&b| b != b'\n').count() };
    ReadError {
        line: line + wrong.line,
        column: column + wrong.column,
        message: in_one_line(&wrong.message),
        hint: wrong.hint,
    }
}

/// Returns a message with the values that it quotes in one line; a long one is cut in the middle.
fn in_one_line(message: &str) -> String {
    const ENDS: usize = 150;
    let escaped = |c: char| match c.is_control() {
        true => c.escape_default().collect::<String>(),
        false => c.to_string(),
    };
    let parts: Vec<String> = message.chars().map(escaped).collect();
    match parts.len() > 2 * ENDS {
        true => format!("{}…{}", parts[..ENDS].concat(), parts[parts.len() - ENDS..].concat()),
        false => parts.concat(),
    }
}

fn no_dialect<'a>(whole: &'a RawValue, top: &Object<'a>) -> JsonProblem<'a> {
    let keys: Vec<&str> = top.fields.iter().take(8).map(|(name, _)| &**name).collect();
    let found = if keys.is_empty() {
        "an empty object".to_owned()
    } else {
        format!("the keys {}", keys.join(", "))
    };
    let message = format!("unknown dialect, none of {}: found {found}", Dialect::names());
    JsonProblem::new(whole, message).hint(
        "a plan has `nodes` (rpg), `repo_name` and `nodes` (zerorepo), `root` (codermind), \
         `hierarchy` and `entities` (rpg-encoder), or `tasks` (tasks)",
    )
}
