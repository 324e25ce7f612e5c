//! Finds sentences whose text changed since a plan was made.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::Sentence;

/// A difference between the sentences of a plan and those of its specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentenceChange {
    /// The text is another.
    Changed { old: Sentence, new: Sentence },
    /// The plan does not have the sentence.
    Added(Sentence),
    /// The specification does not have the sentence any more.
    Removed(Sentence),
}

/// Compares the sentences of a plan with those of its specification, in the order of the specification;
/// removed sentences follow. Numbers do not count, nor does the place of a sentence that moved as
/// it was. A sentence counts as changed if another one is where it was: after the same neighbor.
pub fn sentence_changes(old: &[Sentence], new: &[Sentence]) -> Vec<SentenceChange> {
    let matched = equal_texts(old, new);
    let is_taken: Vec<bool> = flags(new.len(), matched.iter().flatten().copied());
    let mut places = unmatched_by_neighbor(old, &matched);
    let mut changes = Vec::new();
    let mut neighbor = None;
    for (at, new) in new.iter().enumerate() {
        if is_taken[at] {
            neighbor = Some(at);
            continue;
        }
        let before = places.get_mut(&neighbor).and_then(VecDeque::pop_front);
        changes.push(match before {
            Some(old) => SentenceChange::Changed { old: old.clone(), new: new.clone() },
            None => SentenceChange::Added(new.clone()),
        });
    }
    let mut removed: Vec<&Sentence> = places.into_values().flatten().collect();
    removed.sort_by_key(|it| it.number);
    changes.extend(removed.into_iter().cloned().map(SentenceChange::Removed));
    changes
}

/// Returns the new number of each old sentence that is still there, changed or not.
pub(crate) fn new_numbers(old: &[Sentence], new: &[Sentence]) -> FxHashMap<usize, usize> {
    let kept = old.iter().zip(equal_texts(old, new));
    let mut numbers: FxHashMap<usize, usize> =
        kept.filter_map(|(it, at)| Some((it.number, new[at?].number))).collect();
    for change in sentence_changes(old, new) {
        if let SentenceChange::Changed { old, new } = change {
            numbers.insert(old.number, new.number);
        }
    }
    numbers
}

/// Returns, for each old sentence, the index of a new one with the same text; each is used once.
fn equal_texts<'a>(old: &'a [Sentence], new: &'a [Sentence]) -> Vec<Option<usize>> {
    let mut places: FxHashMap<(&'a str, &'a str), VecDeque<usize>> = FxHashMap::default();
    for (at, it) in new.iter().enumerate() {
        places.entry((it.kind.name(), &it.text)).or_default().push_back(at);
    }
    let found = |it: &'a Sentence| {
        places.get_mut(&(it.kind.name(), it.text.as_str())).and_then(VecDeque::pop_front)
    };
    old.iter().map(found).collect()
}

fn flags(count: usize, set: impl Iterator<Item = usize>) -> Vec<bool> {
    let mut out = vec![false; count];
    set.for_each(|at| out[at] = true);
    out
}

/// Returns old sentences without an equal, by the new index of the sentence before them.
fn unmatched_by_neighbor<'a>(
    old: &'a [Sentence],
    matched: &[Option<usize>],
) -> FxHashMap<Option<usize>, VecDeque<&'a Sentence>> {
    let mut places: FxHashMap<Option<usize>, VecDeque<&Sentence>> = FxHashMap::default();
    let mut neighbor = None;
    for (it, equal) in old.iter().zip(matched) {
        match equal {
            Some(_) => neighbor = *equal,
            None => places.entry(neighbor).or_default().push_back(it),
        }
    }
    places
}
