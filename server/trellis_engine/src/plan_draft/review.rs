//! The last stage: a second look at the whole plan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::layout::Layout;

/// Findings of the review.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    pub findings: Vec<ReviewFinding>,
}

/// A fault of one file's interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewFinding {
    /// Path relative to the package's folder; empty if the specification itself is at fault.
    #[serde(default)]
    pub file: String,
    /// `missing`, `doubled`, `untestable`, `wrong example`, `contradiction`.
    #[serde(default)]
    pub kind: String,
    pub problem: String,
}

/// Greatest number of findings.
const MOST: usize = 50;

/// Kind of a finding about sentences that contradict each other: a person has to change the text.
const CONTRADICTION: &str = "contradiction";

impl ReviewFinding {
    fn is_for_person(&self) -> bool {
        self.kind == CONTRADICTION
    }

    fn shown(&self) -> String {
        match self.kind.is_empty() {
            true => self.problem.clone(),
            false => format!("{}: {}", self.kind, self.problem),
        }
    }
}

impl Review {
    /// Returns everything that is wrong, as sentences for the model.
    pub fn problems(&self, layout: &Layout) -> Vec<String> {
        if self.findings.len() > MOST {
            let count = self.findings.len();
            return vec![format!("there are {count} findings; report the {MOST} worst")];
        }
        let of_files = self.findings.iter().filter(|it| !it.is_for_person());
        let unknown = of_files.filter(|it| layout.file(&it.file).is_none());
        unknown
            .map(|it| format!("a finding names {:?}, which is not a file of the layout", it.file))
            .collect()
    }

    /// Returns the findings that go back to the model, by file.
    pub(super) fn by_file(&self) -> BTreeMap<&str, Vec<String>> {
        let mut out: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for it in self.findings.iter().filter(|it| !it.is_for_person()) {
            out.entry(&it.file).or_default().push(it.shown());
        }
        out
    }

    /// Returns the findings that only a person can decide.
    pub(super) fn for_person(&self) -> Vec<String> {
        let all = self.findings.iter().filter(|it| it.is_for_person());
        all.take(MOST).map(ReviewFinding::shown).collect()
    }
}
