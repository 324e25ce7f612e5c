//! One search/replace edit of a reply, with all its readings.

use std::collections::HashMap;

use serde::Deserialize;
use trellis_python::{SearchReplace, search_replace};

use crate::repair::without_numbers;

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
    /// Makes an edit of its readings; at least one.
    pub(super) fn of(path: String, readings: Vec<SearchReplace>) -> Edit {
        Edit { path, readings: with_unnumbered(readings) }
    }

    /// Returns the lines that the edit looks for, by its first reading.
    pub(crate) fn search(&self) -> &str {
        self.readings.first().map_or("", |it| it.search.as_str())
    }

    /// Returns whether a text holds the lines that the edit looks for, exactly.
    pub(crate) fn is_exact_in(&self, text: &str) -> bool {
        let lines: Vec<&str> = text.lines().collect();
        let holds = |it: &SearchReplace| {
            let search = it.search.trim_matches('\n');
            let wanted: Vec<&str> = search.lines().collect();
            !search.trim().is_empty() && lines.windows(wanted.len()).any(|it| it == wanted)
        };
        self.readings.iter().any(holds)
    }

    /// Applies the edit to a text. If several readings apply, the one is chosen whose search is
    /// most similar to the matching text and to its own replacement; of equals, the one with the
    /// longest search.
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
                    let rank = (it.likeness + own, reading.search.len());
                    if best.as_ref().is_none_or(|(most, _)| rank > *most) {
                        best = Some((rank, it));
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
        Edit::of(path, vec![reading])
    }
}

/// Parses the JSON of 002's `CodeChange`: one, a list, or `{"changes": […]}`.
pub(super) fn changes_of_json(text: &str) -> Option<Vec<Edit>> {
    let text = text.trim();
    let changes: Vec<Change> = match text.chars().next()? {
        '[' => serde_json::from_str(text).ok()?,
        '{' => (serde_json::from_str::<CodeChanges>(text).map(|all| all.changes))
            .or_else(|_| serde_json::from_str(text).map(|one| vec![one]))
            .ok()?,
        _ => return None,
    };
    (!changes.is_empty()).then(|| changes.into_iter().map(Edit::from).collect())
}
