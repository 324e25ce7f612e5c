//! Suggests nodes whose id resembles a mistyped word.

use crate::node::NodeIx;
use crate::plan::Plan;

/// Largest edit distance that counts as a typing mistake.
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

/// Returns ``did you mean `a`, `b` or `c`?``; `None` for an empty list.
pub fn did_you_mean<S: AsRef<str>>(near: &[S]) -> Option<String> {
    let quoted: Vec<String> = near.iter().map(|it| format!("`{}`", it.as_ref())).collect();
    let (last, others) = quoted.split_last()?;
    Some(match others {
        [] => format!("did you mean {last}?"),
        _ => format!("did you mean {} or {last}?", others.join(", ")),
    })
}

/// Returns 0 for equal words, else the edit distance, else a value for containment; `None` if the
/// words have nothing in common.
fn unlikeness(wanted: &str, text: &str) -> Option<usize> {
    let far = FAR.min(wanted.len() / 2);
    let contained = wanted.len() > 2 && text.contains(wanted);
    distance(wanted, text, far).or(contained.then_some(FAR + 1))
}

/// Returns the edit distance in bytes if it is at most `far`. Two exchanged neighbors are one edit.
pub(crate) fn distance(a: &str, b: &str, far: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > far {
        return None;
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut above: Vec<usize> = vec![0; b.len() + 1];
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut next = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let replaced = row[j] + usize::from(a[i] != b[j]);
            next[j + 1] = replaced.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                next[j + 1] = next[j + 1].min(above[j - 1] + 1);
            }
        }
        if next.iter().chain(&row).all(|&d| d > far) {
            return None;
        }
        above = std::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|&d| d <= far)
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn near_names_are_offered_in_one_sentence() {
        assert_eq!(did_you_mean::<&str>(&[]), None);
        assert_eq!(did_you_mean(&["a"]).as_deref(), Some("did you mean `a`?"));
        let three = did_you_mean(&["a", "b", "c"]);
        assert_eq!(three.as_deref(), Some("did you mean `a`, `b` or `c`?"));
    }
}
