//! Parsing of a model's reply, in any of the known formats (see `recording.md`).

mod blocks;
mod code;
mod edit;
mod fences;
mod files;
mod parts;
mod paths;
mod reasoning;

use edit::changes_of_json;
pub(crate) use edit::{Change, Edit};
use parts::{Parts, parts};
use paths::path_of;
pub(crate) use reasoning::answer_of;

/// The usable part of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Edits(Vec<Edit>),
    /// Definitions; at least one piece.
    Code(Vec<Code>),
    Nothing,
}

/// Python code of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    /// The file that it belongs to, if the reply names it.
    pub(crate) path: Option<String>,
    pub(crate) text: String,
}

/// Returns the text before the first block of a reply, without the path above the block.
pub(crate) fn prose(text: &str) -> String {
    let begins_block = |line: &&str| {
        let line = line.trim_start();
        !["<<<<<<<", "```", "~~~", "{", "["].iter().any(|it| line.starts_with(it))
    };
    let mut lines: Vec<&str> = answer_of(text).lines().take_while(begins_block).collect();
    let is_path = |line: &&str| line.trim().is_empty() || path_of(line.trim()).is_some();
    while lines.last().is_some_and(is_path) {
        lines.pop();
    }
    lines.join("\n").trim().to_owned()
}

/// A reply, divided into words, fences and search/replace blocks.
pub(crate) struct Divided<'a> {
    /// The text without the model's reasoning.
    answer: &'a str,
    parts: Parts<'a>,
}

/// Divides a reply.
///
/// # Errors
///
/// A reason for the model if the reply is cut off, or if it is not clear what a block is for:
/// applying only a part of the edits would be wrong.
pub(crate) fn divide(text: &str) -> Result<Divided<'_>, String> {
    let answer = answer_of(text);
    Ok(Divided { answer, parts: parts(answer)? })
}

/// Parses a reply. Edits take precedence over code.
///
/// # Errors
///
/// As for [`divide`]; or a piece of code has no end.
pub(crate) fn read(text: &str) -> Result<Reply, String> {
    let reply = divide(text)?;
    let edits = reply.edits();
    if !edits.is_empty() {
        return Ok(Reply::Edits(edits));
    }
    let code = reply.definitions()?;
    Ok(if code.is_empty() { Reply::Nothing } else { Reply::Code(code) })
}

impl Divided<'_> {
    /// Returns the lines outside of fences and blocks.
    pub(crate) fn words(&self) -> &[&str] {
        &self.parts.words
    }

    /// Returns the text of the last fenced block.
    pub(crate) fn last_fence(&self) -> Option<&str> {
        self.parts.fences.last().map(|it| it.body.as_str())
    }

    /// Parses search/replace blocks and changes as JSON.
    pub(crate) fn edits(&self) -> Vec<Edit> {
        let Parts { blocks, fences, words } = &self.parts;
        let json = fences.iter().filter(|it| it.word() == "json");
        let mut edits: Vec<Edit> =
            json.filter_map(|it| changes_of_json(&it.body)).flatten().collect();
        if edits.is_empty() && blocks.is_empty() && fences.is_empty() {
            edits = changes_of_json(&words.join("\n")).unwrap_or_default();
        }
        blocks.iter().cloned().chain(edits).collect()
    }
}

/// Words about a reply without its end.
const CUT_OFF: &str = "the reply seems to be cut off; close each fence with its marks";
