//! Information for a person who takes over where the cycle cannot continue: as a page and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::strategy::Attempt;
use crate::vocabulary::Suspect;

/// Facts known when the cycle asked for a person.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DebugContext {
    pub node: String,
    /// `Class.method`, or the plain name.
    pub name: String,
    pub path: String,
    pub test_path: String,
    /// Reason why a person is needed.
    pub reason: String,
    /// Tracebacks of the last failing run.
    pub failure: String,
    pub suspects: Vec<Suspect>,
    pub attempts: Vec<Attempt>,
    /// Outcome of each fix, in order.
    pub earlier: Vec<String>,
    pub tests: String,
    pub implementation: String,
}

impl DebugContext {
    /// Renders the page for a person.
    pub fn to_markdown(&self) -> String {
        let mut out = format!(
            "# `{}` needs your review\n\n{}\n\nNode `{}`, code in `{}`, tests in `{}`.\n\n## \
             What to do\n\n",
            self.name, self.reason, self.node, self.path, self.test_path
        );
        out += "1. Read the failure and the suspects below: is the test or the code wrong?\n";
        let _ = writeln!(
            out,
            "2. Write the function in `{}` by hand and run the same command with \
             `--keep-edits`. Or make the node's docstring in the graph clearer and run the \
             command again.",
            self.path
        );
        let _ =
            write!(out, "\n## Failure\n\n```\n{}\n```\n\n## Suspects\n\n", self.failure.trim_end());
        lines(
            &mut out,
            self.suspects.iter().map(|it| {
                format!("`{}` ({}:{}), {:.2}: {}", it.symbol, it.path, it.line, it.score, it.why)
            }),
        );
        out += "## Where Trellis searched\n\n";
        lines(
            &mut out,
            self.attempts.iter().map(|it| {
                let found = match (&it.error, it.found.is_empty()) {
                    (Some(error), _) => format!("search failed: {error}"),
                    (None, true) => "nothing".to_owned(),
                    (None, false) => it.found.join(", "),
                };
                format!("{} for `{}`: {found}", it.tool.as_str(), it.query)
            }),
        );
        out += "## Result of each fix\n\n";
        lines(&mut out, self.earlier.iter().cloned());
        let _ = write!(
            out,
            "## Tests\n\n```python\n{}```\n\n## Last implementation\n\n```python\n{}```\n",
            self.tests, self.implementation
        );
        out
    }

    /// Returns the same facts as JSON, with keys in camelCase.
    pub fn to_json(&self) -> Value {
        let suspects = self.suspects.iter().map(|it| {
            json!({ "path": it.path, "line": it.line, "symbol": it.symbol, "score": it.score, "why": it.why })
        });
        let attempts = self.attempts.iter().map(|it| {
            json!({ "tool": it.tool.as_str(), "query": it.query, "found": it.found, "error": it.error })
        });
        json!({
            "version": 1, "node": self.node, "name": self.name, "path": self.path, "testPath": self.test_path,
            "reason": self.reason, "failure": self.failure, "suspects": suspects.collect::<Vec<_>>(),
            "attempts": attempts.collect::<Vec<_>>(), "earlier": self.earlier, "tests": self.tests,
            "implementation": self.implementation,
        })
    }
}

fn lines(out: &mut String, entries: impl Iterator<Item = String>) {
    let mut entries = entries.peekable();
    if entries.peek().is_none() {
        out.push_str("None.\n");
    }
    for entry in entries {
        let _ = writeln!(out, "- {entry}");
    }
    out.push('\n');
}
