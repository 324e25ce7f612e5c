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
    /// Path relative to the package's folder.
    pub file: String,
    /// `missing`, `doubled`, `untestable`, `wrong example`.
    #[serde(default)]
    pub kind: String,
    pub problem: String,
}

/// Greatest number of findings.
const MOST: usize = 50;

impl Review {
    /// Returns everything that is wrong, as sentences for the model.
    pub fn problems(&self, layout: &Layout) -> Vec<String> {
        if self.findings.len() > MOST {
            let count = self.findings.len();
            return vec![format!("there are {count} findings; report the {MOST} worst")];
        }
        let unknown = self.findings.iter().filter(|it| layout.file(&it.file).is_none());
        unknown
            .map(|it| format!("a finding names {:?}, which is not a file of the layout", it.file))
            .collect()
    }

    /// Returns the findings by file.
    pub fn by_file(&self) -> BTreeMap<&str, Vec<&ReviewFinding>> {
        let mut out: BTreeMap<&str, Vec<&ReviewFinding>> = BTreeMap::new();
        self.findings.iter().for_each(|it| out.entry(&it.file).or_default().push(it));
        out
    }
}
