//! Compares the places given by two servers. Neither is the reference: this is only information.

use std::collections::BTreeSet;
use std::path::Path;

use lsp::Place;

use super::questions::Questions;

type Answers = [Option<BTreeSet<Place>>];

/// Comparison of two servers' answers.
pub(crate) struct Agreement {
    pub(crate) left: String,
    pub(crate) right: String,
    pub(crate) same: usize,
    /// Queries that both answered.
    pub(crate) both: usize,
    differences: Vec<Difference>,
}

struct Difference {
    name: String,
    at: Place,
    left: Vec<Place>,
    right: Vec<Place>,
}

pub(crate) fn compare(
    (left, ours): (&str, &Answers),
    (right, theirs): (&str, &Answers),
    questions: &Questions,
) -> Agreement {
    let mut agreement = Agreement {
        left: left.to_owned(),
        right: right.to_owned(),
        same: 0,
        both: 0,
        differences: Vec::new(),
    };
    for ((symbol, ours), theirs) in questions.references.iter().zip(ours).zip(theirs) {
        let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
        agreement.both += 1;
        if ours == theirs {
            agreement.same += 1;
            continue;
        }
        agreement.differences.push(Difference {
            name: symbol.name.clone(),
            at: symbol.place.clone(),
            left: ours.difference(theirs).cloned().collect(),
            right: theirs.difference(ours).cloned().collect(),
        });
    }
    agreement
}

impl Agreement {
    pub(crate) fn show(&self, root: &Path, whole: bool) {
        let Agreement { left, right, same, both, .. } = self;
        println!("  {left} and {right}: the same places for {same} of {both}");
        for it in self.differences.iter().filter(|_| whole) {
            println!("    {} at {}", it.name, shown(&it.at, root));
            for (who, places) in [(left, &it.left), (right, &it.right)] {
                places.iter().for_each(|at| println!("      only {who}: {}", shown(at, root)));
            }
        }
    }
}

/// Formats the path below the root with line and column from 1.
fn shown(place: &Place, root: &Path) -> String {
    let file = place.file.strip_prefix(root).unwrap_or(&place.file);
    format!("{}:{}:{}", file.display(), place.line + 1, place.column + 1)
}
