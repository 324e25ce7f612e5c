//! Definitions of a project, and a random choice of them.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lsp::Place;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// A definition that can be renamed.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Definition {
    /// function, method, class, parameter or attribute.
    pub(crate) kind: String,
    pub(crate) name: String,
    /// Path in the project.
    pub(crate) file: PathBuf,
    /// Counted from 0, like `column`.
    line: usize,
    column: usize,
    /// Whether it stands in the project's tests.
    tests: bool,
}

impl Definition {
    /// Returns the place of the name, relative to the project.
    pub(crate) fn place(&self) -> Place {
        Place { file: self.file.clone(), line: self.line, column: self.column }
    }

    /// Returns the new name.
    pub(crate) fn to(&self) -> String {
        format!("{}_renamed", self.name)
    }

    /// Returns the file, line and column, counted from 1.
    pub(crate) fn shown(&self) -> String {
        format!("{}:{}:{}", self.file.display(), self.line + 1, self.column + 1)
    }

    /// Returns a number that looks random and depends on the seed and the place only.
    fn rank(&self, seed: u64) -> Vec<u8> {
        Sha256::digest(format!("{seed} {}", self.shown())).to_vec()
    }
}

/// Returns all definitions of a project.
pub(crate) fn all(root: &Path) -> Result<Vec<Definition>, String> {
    let mut command = Command::new("python3");
    command.args(["-c", include_str!("definitions.py")]).current_dir(root).stdin(Stdio::null());
    let failed = |why: String| format!("listing the definitions in {}: {why}", root.display());
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).map_err(|error| failed(format!("{error}: {}", said())))
}

/// Returns as many definitions as wanted: kinds take turns, and two of three are not of tests.
pub(crate) fn chosen(mut all: Vec<Definition>, seed: u64, count: usize) -> Vec<Definition> {
    all.sort_by_key(|it| it.rank(seed));
    let mut groups: BTreeMap<(String, bool), VecDeque<Definition>> = BTreeMap::new();
    for it in all {
        groups.entry((it.kind.clone(), it.tests)).or_default().push_back(it);
    }
    let mut out = Vec::new();
    while out.len() < count && groups.values().any(|it| !it.is_empty()) {
        for ((_, tests), group) in &mut groups {
            out.extend(group.drain(..group.len().min(if *tests { 1 } else { 2 })));
        }
    }
    out.truncate(count);
    out
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Definition, chosen};

    fn definition(kind: &str, line: usize, tests: bool) -> Definition {
        let (kind, name) = (kind.to_owned(), format!("{kind}{line}"));
        Definition { kind, name, file: PathBuf::from("a.py"), line, column: 4, tests }
    }

    #[test]
    fn kinds_take_turns_and_the_seed_decides() {
        let all = || -> Vec<Definition> {
            let each = (0..20).flat_map(|it| ["class", "method"].map(|kind| (kind, it)));
            each.map(|(kind, line)| definition(kind, line, line % 2 == 0)).collect()
        };
        let names = |seed| -> Vec<String> {
            chosen(all(), seed, 6).into_iter().map(|it| it.name).collect()
        };
        assert_eq!(names(1), names(1));
        assert_ne!(names(1), names(2));
        let found = chosen(all(), 1, 6);
        assert_eq!(found.iter().filter(|it| it.kind == "class").count(), 3);
        assert_eq!(found.iter().filter(|it| it.tests).count(), 2);
    }

    #[test]
    fn all_are_taken_if_there_are_not_enough() {
        assert_eq!(chosen(vec![definition("class", 1, true)], 1, 6).len(), 1);
    }
}
