//! Parsing of a model's reply, in any of the known formats (see `recording.md`).

use std::collections::HashMap;

use serde::Deserialize;
use trellis_python::{SearchReplace, search_replace};

mod fences;

use crate::repair::without_numbers;
use fences::{fences, path_of, push_line};

/// The usable part of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Edits(Vec<Edit>),
    Code(String),
    Nothing,
}

/// One search/replace block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// Relative to the repository; empty if the model gave no path.
    pub(crate) path: String,
    /// Possible readings of the block, one for each line that may divide the search from the
    /// replacement: the texts may hold such lines themselves, such as underlined headings.
    readings: Vec<SearchReplace>,
}

impl Edit {
    /// Returns the lines that the edit looks for, by its first reading.
    pub(crate) fn search(&self) -> &str {
        self.readings.first().map_or("", |it| it.search.as_str())
    }

    /// Applies the edit to a text. If several readings apply, the one is chosen whose search is
    /// most similar to the matching text and to its own replacement.
    ///
    /// # Errors
    ///
    /// A reason for the model if no reading applies.
    pub(crate) fn apply(&self, text: &str) -> Result<String, String> {
        let made = self.readings.iter().map(|it| (it, search_replace(text, it)));
        let (mut best, mut refused) = (None, None);
        for (reading, made) in made {
            let own = similarity(&reading.search, &reading.replace);
            match made {
                Ok(it) => {
                    let score = it.likeness + own;
                    if best.as_ref().is_none_or(|(most, _)| score > *most) {
                        best = Some((score, it));
                    }
                }
                Err(why) if refused.as_ref().is_none_or(|(most, _)| own > *most) => {
                    refused = Some((own, why));
                }
                Err(_) => {}
            }
        }
        let among = match self.readings.len() {
            0 | 1 => String::new(),
            count => format!("of {count} lines that may divide the block none makes sense: "),
        };
        match (best, refused) {
            (Some((_, made)), _) => Ok(made.edits.apply(text)),
            (None, Some((_, why))) => Err(format!("{among}{why}")),
            (None, None) => Err("the block is empty".to_owned()),
        }
    }

    /// Returns the text of a new file, if the block searches for nothing.
    pub(crate) fn new_file_text(&self) -> Option<&str> {
        let first = self.readings.first()?;
        first.search.trim().is_empty().then_some(first.replace.as_str())
    }
}

/// Returns the similarity of two texts from 0 to 1: twice the number of common words over the
/// number of words of both.
fn similarity(one: &str, other: &str) -> f32 {
    let mut counts: HashMap<&str, i32> = HashMap::new();
    one.split_whitespace().for_each(|it| *counts.entry(it).or_default() += 1);
    let all = one.split_whitespace().count() + other.split_whitespace().count();
    let shared = other.split_whitespace().filter(|it| {
        let left = counts.get_mut(it);
        left.is_some_and(|left| {
            *left -= 1;
            *left >= 0
        })
    });
    2.0 * shared.count() as f32 / all.max(1) as f32
}

/// Returns a reply without the reasoning that some models put before it, between tags.
pub(crate) fn answer_of(text: &str) -> &str {
    text.rsplit_once("</think>").map_or(text, |(_, answer)| answer)
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

/// Parses a reply. Edits take precedence over code: an edit's block may be inside a fence.
///
/// # Errors
///
/// A reason for the model if a block has no end: applying only a part of the edits would be wrong.
pub(crate) fn read(text: &str) -> Result<Reply, String> {
    let text = answer_of(text);
    let edits = edits(text)?;
    if !edits.is_empty() {
        return Ok(Reply::Edits(edits));
    }
    Ok(code(text).map_or(Reply::Nothing, Reply::Code))
}

/// Returns the text of the last fenced block.
pub(crate) fn last_fence(text: &str) -> Option<String> {
    fences(text).pop().map(|it| it.body)
}

/// Parses search/replace blocks, or changes as JSON.
///
/// # Errors
///
/// As for [`read`].
pub(crate) fn edits(text: &str) -> Result<Vec<Edit>, String> {
    let blocks = search_replace_blocks(text)?;
    Ok(if blocks.is_empty() { code_changes(text).unwrap_or_default() } else { blocks })
}

/// Returns the fences with a path, as path and text, except those around search/replace blocks. The
/// path is on the line above, or after the language.
pub(crate) fn whole_files(text: &str) -> Vec<(String, String)> {
    let fences = fences(text).into_iter().filter(|it| !it.body.contains("<<<<<<< "));
    fences.filter_map(|it| Some((it.path()?, it.body))).collect()
}

/// Returns the text of one file: the fence with its path, else the only fence if that has no path.
pub(crate) fn file(text: &str, path: &str) -> Option<String> {
    let fences = fences(text);
    let named = fences.iter().position(|it| it.path().as_deref() == Some(path));
    let only = || (fences.len() == 1 && fences[0].path().is_none()).then_some(0);
    let place = named.or_else(only)?;
    fences.into_iter().nth(place).map(|it| it.body)
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
    bare.map(|it| it.body).or_else(|| is_code(text).then(|| text.to_owned()))
}

fn is_code(text: &str) -> bool {
    trellis_python::Fragment::parse(text)
        .is_ok_and(|it| it.items.iter().any(trellis_python::Item::is_definition))
}

/// Parses blocks of `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`, with the file's path on the
/// line above. A block may be indented as a whole; a line divides it only if the line is at the
/// block's own indentation and consists of exactly seven signs.
fn search_replace_blocks(text: &str) -> Result<Vec<Edit>, String> {
    let mut edits = Vec::new();
    let mut path = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(indent) = line.find("<<<<<<<").filter(|at| line[..*at].trim().is_empty()) else {
            path = path_of(line.trim()).unwrap_or(path);
            continue;
        };
        let indent = &line[..indent];
        let own = |line: &'_ str| line.strip_prefix(indent).unwrap_or(line).to_owned();
        let mut body: Vec<String> = Vec::new();
        let end = lines.by_ref().map(own).find_map(|line| {
            let ends = line.starts_with(">>>>>>>");
            if !ends {
                body.push(line);
            }
            ends.then_some(())
        });
        let of = if path.is_empty() { String::new() } else { format!(" of {path}") };
        if end.is_none() {
            return Err(format!(
                "a search/replace block{of} has no end: `>>>>>>> REPLACE` is missing"
            ));
        }
        let readings = readings(&path, &body);
        if readings.is_empty() {
            return Err(format!(
                "a search/replace block{of} is not divided: a line `=======` by itself is missing"
            ));
        }
        edits.push(Edit { path: path.clone(), readings });
    }
    Ok(edits)
}

fn readings(path: &str, body: &[String]) -> Vec<SearchReplace> {
    let dividers = body.iter().enumerate().filter(|(_, line)| line.trim_end() == "=======");
    let joined = |lines: &[String]| {
        let mut out = String::new();
        lines.iter().for_each(|line| push_line(&mut out, line));
        out
    };
    let reading = |(at, _)| SearchReplace {
        path: path.to_owned(),
        search: joined(&body[..at]),
        replace: joined(&body[at + 1..]),
        occurrence: None,
    };
    with_unnumbered(dividers.map(reading).collect())
}

/// Adds readings without line numbers, which a question shows and an answer may repeat.
fn with_unnumbered(mut readings: Vec<SearchReplace>) -> Vec<SearchReplace> {
    let unnumbered = readings.iter().filter_map(|it| {
        let replace = without_numbers(&it.replace).unwrap_or_else(|| it.replace.clone());
        Some(SearchReplace { search: without_numbers(&it.search)?, replace, ..it.clone() })
    });
    let unnumbered: Vec<SearchReplace> = unnumbered.collect();
    readings.extend(unnumbered);
    readings
}

/// An edit as JSON.
#[derive(Deserialize)]
pub(crate) struct Change {
    file_path: String,
    search_text: String,
    replace_text: String,
    occurrence: Option<usize>,
}

#[derive(Deserialize)]
struct CodeChanges {
    changes: Vec<Change>,
}

impl From<Change> for Edit {
    fn from(change: Change) -> Edit {
        let path = change.file_path.trim_start_matches("./").to_owned();
        let reading = SearchReplace {
            path: path.clone(),
            search: change.search_text,
            replace: change.replace_text,
            occurrence: change.occurrence,
        };
        Edit { path, readings: with_unnumbered(vec![reading]) }
    }
}

/// Parses the JSON of 002's `CodeChange`: one, a list, or `{"changes": […]}`.
fn code_changes(text: &str) -> Option<Vec<Edit>> {
    // Blocks before the last one are drafts or examples.
    let json = fences(text).into_iter().rfind(|it| it.language.eq_ignore_ascii_case("json"));
    let text = json.map_or_else(|| text.trim().to_owned(), |it| it.body.trim().to_owned());
    let changes: Vec<Change> = match text.chars().next()? {
        '[' => serde_json::from_str(&text).ok()?,
        '{' => (serde_json::from_str::<CodeChanges>(&text).map(|all| all.changes))
            .or_else(|_| serde_json::from_str(&text).map(|one| vec![one]))
            .ok()?,
        _ => return None,
    };
    (!changes.is_empty()).then(|| changes.into_iter().map(Edit::from).collect())
}
