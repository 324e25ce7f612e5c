//! Checks of replies.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use super::batches::Batch;
use crate::plan_draft::json_reply;

/// Greatest length of a docstring, in characters.
pub(super) const MOST_CHARACTERS: usize = 1_500;

/// Form of a reply.
#[derive(Deserialize)]
struct Described {
    docstrings: BTreeMap<String, Value>,
}

/// A reply to a batch, by the ids of its definitions.
pub(super) struct Taken {
    pub(super) docstrings: BTreeMap<String, String>,
    /// Problems of docstrings that cannot be used.
    pub(super) wrong: BTreeMap<String, String>,
}

/// Reads a reply. Each definition of the batch has a docstring, or a problem.
pub(super) fn taken(batch: &Batch, reply: Result<String, String>) -> Taken {
    let mut out = Taken { docstrings: BTreeMap::new(), wrong: BTreeMap::new() };
    let read = reply.and_then(|text| json_reply::<Described>(&text));
    let others = match &read {
        Ok(it) => unknown(batch, it),
        Err(_) => String::new(),
    };
    for it in &batch.definitions {
        let checked = match &read {
            Ok(read) => checked(&it.name, read.docstrings.get(&it.name)),
            Err(why) => Err(why.clone()),
        };
        match checked {
            Ok(text) => out.docstrings.insert(it.id.clone(), text),
            Err(problem) => out.wrong.insert(it.id.clone(), format!("{problem}{others}")),
        };
    }
    out
}

/// Returns a note on names that were not asked for.
fn unknown(batch: &Batch, read: &Described) -> String {
    let is_asked = |name: &&String| batch.definitions.iter().any(|it| it.name == **name);
    let names = read.docstrings.keys().filter(|it| !is_asked(it));
    let names: Vec<String> = names.take(5).map(|it| format!("`{it}`")).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("; no one asked for {}", names.join(", ")),
    }
}

/// Returns the docstring of a definition.
fn checked(name: &str, value: Option<&Value>) -> Result<String, String> {
    let value = value.ok_or("it has no docstring")?;
    let text = value.as_str().ok_or("its docstring is not a text")?;
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    let length = text.chars().count();
    if length > MOST_CHARACTERS {
        return Err(format!(
            "its docstring has {length} characters, {MOST_CHARACTERS} are the most"
        ));
    }
    if text.contains("\"\"\"") || text.starts_with("def ") || text.starts_with("```") {
        return Err("its docstring is code, or has quotes around it".to_owned());
    }
    let own = name.rsplit('.').next().unwrap_or(name);
    // Scripts without spaces have several words in one piece.
    if text.unicode_words().filter(|it| *it != own).count() < 2 {
        return Err("its docstring says nothing".to_owned());
    }
    Ok(text)
}
