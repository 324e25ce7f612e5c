//! Nodes whose id resembles a word someone mistyped.

use crate::node::NodeIx;
use crate::plan::Plan;

/// Edit distances above this are no typing mistakes.
const FAR: usize = 3;

pub(crate) fn near(plan: &Plan, word: &str, limit: usize) -> Vec<NodeIx> {
    let wanted = word.to_lowercase();
    let mut found: Vec<(usize, &str, NodeIx)> = Vec::new();
    for ix in plan.indices() {
        let node = plan.node(ix);
        let distances =
            [&node.id, &node.name].map(|text| unlikeness(&wanted, &text.to_lowercase()));
        if let Some(distance) = distances.into_iter().flatten().min() {
            found.push((distance, &node.id, ix));
        }
    }
    found.sort();
    found.truncate(limit);
    found.into_iter().map(|(_, _, ix)| ix).collect()
}

/// 0 for equal words, then the edit distance, then containment; `None` if they have nothing in common.
fn unlikeness(wanted: &str, text: &str) -> Option<usize> {
    let far = FAR.min(wanted.len() / 2);
    let contained = wanted.len() > 2 && text.contains(wanted);
    distance(wanted, text, far).or(contained.then_some(FAR + 1))
}

/// The Levenshtein distance in bytes if it is at most `far`.
fn distance(a: &str, b: &str, far: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > far {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
        if row.iter().all(|&d| d > far) {
            return None;
        }
    }
    row.last().copied().filter(|&d| d <= far)
}
