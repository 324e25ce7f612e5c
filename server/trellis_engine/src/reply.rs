//! Parsing of a model's reply, in any of the known formats (see `recording.md`).

mod blocks;
mod edit;
mod fences;
mod parts;
mod paths;
mod reasoning;

use std::collections::BTreeSet;

use trellis_python::{Fragment, Item};

use edit::changes_of_json;
pub(crate) use edit::{Change, Edit};
use fences::Fence;
use parts::{Parts, parts};
use paths::{path_of, paths_in};
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

/// Parses a reply. Edits take precedence over code.
///
/// # Errors
///
/// A reason for the model if the reply is cut off, or if it is not clear what an edit is for:
/// applying only a part of the edits would be wrong.
pub(crate) fn read(text: &str) -> Result<Reply, String> {
    let edits = edits(text)?;
    if !edits.is_empty() {
        return Ok(Reply::Edits(edits));
    }
    let code = definitions(text)?;
    Ok(if code.is_empty() { Reply::Nothing } else { Reply::Code(code) })
}

/// Returns the text of the last fenced block.
pub(crate) fn last_fence(text: &str) -> Option<String> {
    fences(text).pop().map(|it| it.body)
}

/// Returns the lines outside of fences and blocks.
pub(crate) fn words(text: &str) -> Vec<&str> {
    parts(answer_of(text)).map(|it| it.words).unwrap_or_default()
}

/// Parses search/replace blocks and changes as JSON.
///
/// # Errors
///
/// As for [`read`].
pub(crate) fn edits(text: &str) -> Result<Vec<Edit>, String> {
    let text = answer_of(text);
    let Parts { blocks, fences, words } = parts(text)?;
    let json = fences.iter().filter(|it| it.word() == "json");
    let mut edits: Vec<Edit> = json.filter_map(|it| changes_of_json(&it.body)).flatten().collect();
    if edits.is_empty() && blocks.is_empty() && fences.is_empty() {
        edits = changes_of_json(&words.join("\n")).unwrap_or_default();
    }
    Ok(blocks.into_iter().chain(edits).collect())
}

/// Returns the files of a reply, as path and text. The path is above the fence, beside its
/// language, or in a comment in its first line.
///
/// # Errors
///
/// A reason for the model: a file has no end, or it is not clear whether a fence is a file.
pub(crate) fn whole_files(text: &str) -> Result<Vec<(String, String)>, String> {
    let parts = parts(answer_of(text))?;
    let mut files = Vec::new();
    for fence in &parts.fences {
        if let Some(path) = fence.path().filter(|it| fence.is_change_of(it)) {
            return Err(format!("a diff of {path} cannot be used: give search/replace blocks"));
        }
        let Some((path, body)) = fence.file() else { continue };
        if !fence.is_closed {
            return Err(format!("the text of {path} has no end: {CUT_OFF}"));
        }
        files.push((path, body.to_owned()));
    }
    let edited = parts.blocks.iter().map(|it| &it.path);
    let known: BTreeSet<&String> = files.iter().map(|it| &it.0).chain(edited).collect();
    match parts.fences.iter().find_map(|it| unclear(it, &known)) {
        Some(path) if !known.is_empty() => Err(format!(
            "it is not clear whether a fence is the text of {path}: give the path alone on the \
             line above it, or leave out what is not a file"
        )),
        _ => Ok(files),
    }
}

/// Words about a reply without its end.
const CUT_OFF: &str = "the reply seems to be cut off; close each fence with its marks";

/// Returns the path that the line above a fence names beside other words, if no part of the reply
/// is for that file.
fn unclear(fence: &Fence, known: &BTreeSet<&String>) -> Option<String> {
    let is_introduced = fence.file().is_none() && fence.above.trim_end().ends_with(':');
    let mut named = paths_in(&fence.above);
    let is_one = is_introduced && named.len() == 1 && !fence.is_of_commands();
    named.pop().filter(|it| is_one && !known.contains(it))
}

/// Returns the text of one file: the fence with its path, else the only fence if that has no path.
pub(crate) fn file(text: &str, path: &str) -> Option<String> {
    let fences = fences(text);
    let named = fences.iter().position(|it| it.path().as_deref() == Some(path));
    let only = || (fences.len() == 1 && fences[0].path().is_none()).then_some(0);
    let place = named.or_else(only)?;
    fences.into_iter().nth(place).filter(|it| it.is_closed).map(|it| it.body)
}

/// Returns the last fenced `python` block that defines something, else the first one; else the
/// first fence without a language that is Python with a definition; else the whole text if it is
/// such code.
pub(crate) fn code(text: &str) -> Option<String> {
    let fences = fences(text);
    let python = || fences.iter().filter(|it| it.says_python());
    // Code before it is a draft; code after it may be an example call.
    let defining = python().rfind(|it| is_code(&it.body));
    if let Some(fence) = defining.or_else(|| python().next()) {
        return Some(fence.body.clone());
    }
    let bare = fences.into_iter().find(|it| it.language.is_empty() && is_code(&it.body));
    let text = answer_of(text);
    bare.map(|it| it.body).or_else(|| is_code(text).then(|| text.to_owned()))
}

/// Returns the pieces of code that define something. A definition that a later piece repeats is a
/// draft.
///
/// # Errors
///
/// A reason for the model: a piece has no end.
pub(crate) fn definitions(text: &str) -> Result<Vec<Code>, String> {
    let fences = fences(text);
    if fences.iter().any(|it| it.says_python() && !it.is_closed) {
        return Err(format!("the code has no end: {CUT_OFF}"));
    }
    let named = fences
        .iter()
        .map(|it| (it, if it.says_python() { names(&it.body) } else { BTreeSet::new() }));
    let named: Vec<(&Fence, BTreeSet<String>)> = named.filter(|it| !it.1.is_empty()).collect();
    let is_last = |at: usize| {
        let later = || named[at + 1..].iter().flat_map(|it| &it.1);
        named[at].1.iter().any(|name| later().all(|it| it != name))
    };
    let kept = (0..named.len()).filter(|at| is_last(*at)).map(|at| named[at].0);
    let kept: Vec<Code> = kept.map(|it| Code { path: it.path(), text: it.body.clone() }).collect();
    let only = || code(text).into_iter().map(|text| Code { path: None, text }).collect();
    Ok(if kept.is_empty() { only() } else { kept })
}

/// Returns the names of the definitions of a text.
fn names(text: &str) -> BTreeSet<String> {
    let items = Fragment::parse(text).map(|it| it.items).unwrap_or_default();
    items.into_iter().filter(Item::is_definition).flat_map(|it| it.names).collect()
}

fn fences(text: &str) -> Vec<Fence> {
    parts(answer_of(text)).map(|it| it.fences).unwrap_or_default()
}

fn is_code(text: &str) -> bool {
    Fragment::parse(text).is_ok_and(|it| it.items.iter().any(Item::is_definition))
}
