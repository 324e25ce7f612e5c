//! Results of renames: a line for each broken suite, and a table of sums.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::listed::Listed;
use super::names::Definition;
use super::suite::BrokenSuite;

/// Lines of an exception that are shown, the innermost ones.
const SHOWN_LINES: usize = 4;

/// What became of a rename.
pub(crate) enum RenameOutcome {
    Refused(String),
    Whole,
    Broken {
        broken: BrokenSuite,
        /// Only for Trellis.
        listed: Option<Listed>,
    },
}

/// A server's rename of one definition.
pub(crate) struct Trial {
    pub(crate) project: String,
    pub(crate) server: &'static str,
    pub(crate) renamed: Definition,
    pub(crate) outcome: RenameOutcome,
}

impl Trial {
    /// Prints a broken suite with its cause.
    pub(crate) fn print(&self, root: &Path) {
        let RenameOutcome::Broken { broken, listed } = &self.outcome else { return };
        let renamed = &self.renamed;
        println!(
            "  {}: {} {} {}: {} tests, first {}",
            self.server,
            renamed.kind,
            renamed.name,
            renamed.shown(),
            broken.tests.len(),
            broken.tests.first().map_or("", String::as_str)
        );
        println!("    {}", broken.why.message);
        let lines = &broken.why.lines;
        for (file, line) in &lines[lines.len().saturating_sub(SHOWN_LINES)..] {
            println!("      {}:{line}", file.strip_prefix(root).unwrap_or(file).display());
        }
        if let Some(listed) = listed {
            println!("    {}", listed.shown());
        }
    }

    pub(crate) fn json(&self, root: &Path) -> Value {
        let renamed = &self.renamed;
        let mut value = json!({
            "project": self.project, "server": self.server, "kind": renamed.kind,
            "name": renamed.name, "at": renamed.shown(),
        });
        match &self.outcome {
            RenameOutcome::Refused(reason) => value["refused"] = reason.as_str().into(),
            RenameOutcome::Whole => value["whole"] = true.into(),
            RenameOutcome::Broken { broken, listed } => {
                let line = |(file, line): &(std::path::PathBuf, u64)| {
                    format!("{}:{line}", file.strip_prefix(root).unwrap_or(file).display())
                };
                let lines: Vec<String> = broken.why.lines.iter().map(line).collect();
                value["broken"] = json!({
                    "tests": broken.tests, "message": broken.why.message, "lines": lines,
                    "listed": listed.map(Listed::shown),
                });
            }
        }
        value
    }
}

/// Sums of one server.
#[derive(Default)]
struct Sums {
    renamed: usize,
    broken: usize,
    refused: BTreeMap<String, usize>,
    listed: BTreeMap<Listed, usize>,
}

impl Sums {
    fn of<'a>(trials: impl Iterator<Item = &'a Trial>) -> Sums {
        let mut sums = Sums::default();
        for trial in trials {
            match &trial.outcome {
                RenameOutcome::Refused(reason) => {
                    *sums.refused.entry(general(reason)).or_default() += 1
                }
                RenameOutcome::Whole => sums.renamed += 1,
                RenameOutcome::Broken { listed, .. } => {
                    sums.renamed += 1;
                    sums.broken += 1;
                    listed.iter().for_each(|it| *sums.listed.entry(*it).or_default() += 1);
                }
            }
        }
        sums
    }

    fn print(&self, project: &str, server: &str) {
        let refused: usize = self.refused.values().sum();
        let (renamed, broken) = (self.renamed, self.broken);
        println!("{project:<22} {server:<8} {renamed:>8} {refused:>8} {broken:>8}");
    }
}

/// Prints the sums of each project and of all of them.
pub(crate) fn print_table(trials: &[Trial], servers: &[&str]) {
    println!(
        "\n{:<22} {:<8} {:>8} {:>8} {:>8}",
        "project", "server", "renamed", "refused", "broken"
    );
    let mut projects: Vec<&str> = trials.iter().map(|it| it.project.as_str()).collect();
    projects.dedup();
    for project in projects {
        for server in servers {
            let of = |it: &&Trial| it.project == project && it.server == *server;
            Sums::of(trials.iter().filter(of)).print(project, server);
        }
    }
    for server in servers {
        let sums = Sums::of(trials.iter().filter(|it| it.server == *server));
        sums.print("all", server);
        for (listed, count) in &sums.listed {
            println!("  broken, {}: {count}", listed.shown());
        }
        for (reason, count) in &sums.refused {
            println!("  refused {count}: {reason}");
        }
    }
}

/// Returns a reason without names and places, so that equal reasons can be counted.
fn general(reason: &str) -> String {
    let quoted = reason.split('`').enumerate();
    let text: Vec<&str> = quoted.map(|(at, part)| if at % 2 == 1 { "…" } else { part }).collect();
    let words = text.concat();
    let is_place = |word: &&str| word.contains(".py:");
    let words: Vec<&str> =
        words.split_whitespace().map(|it| if is_place(&it) { "…" } else { it }).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::general;

    #[test]
    fn reasons_are_equal_but_for_names_and_places() {
        let reason = "a/b.py:1:2: `x` would clash: class `C` in a.py: has it";
        assert_eq!(general(reason), "… … would clash: class … in … has it");
    }
}
