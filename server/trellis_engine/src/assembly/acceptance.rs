//! The report's section on acceptance tests.

use std::fmt::Write as _;

/// A feature of the specification, with its acceptance tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptanceLine {
    pub feature: String,
    /// Numbers of its sentences.
    pub sentences: Vec<usize>,
    /// Path of the tests in the repository.
    pub path: String,
    pub has_tests: bool,
    /// A person edited the tests, so that their text is not from the specification alone.
    pub is_edited: bool,
    /// Number of test functions that were left out, because they do not fail without code.
    pub left_out: usize,
    /// The reason why the feature does not hold or has no tests.
    pub reason: Option<String>,
    /// Text of the tests; empty if there are none.
    pub text: String,
}

/// Renders the section; nothing for a plan without features.
pub(super) fn acceptance(out: &mut String, lines: &[AcceptanceLine]) {
    if lines.is_empty() {
        return;
    }
    let hold = lines.iter().filter(|it| it.holds()).count();
    let _ = write!(
        out,
        "## Acceptance Tests\n\n{hold} of {} features hold: their tests were written from the specification before any \
         code, failed then, and pass now.\n\n| Feature | Sentences | Tests |\n|---|---|---|\n",
        lines.len()
    );
    for it in lines {
        let numbers = it.sentences.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let feature = it.feature.replace('|', "\\|");
        let _ = writeln!(out, "| {feature} | {numbers} | {} |", it.result().replace('|', "\\|"));
    }
    out.push('\n');
    for it in lines.iter().filter(|it| it.has_tests && it.reason.is_some()) {
        let (feature, text) = (&it.feature, it.text.trim_end());
        let _ = write!(
            out,
            "The tests of `{feature}` are not in the repository, because they fail:\n\n```python\n{text}\n```\n\n"
        );
    }
}

impl AcceptanceLine {
    /// Returns whether there are tests from the specification, and all of them passed on the finished
    /// files.
    pub fn holds(&self) -> bool {
        self.has_tests && !self.is_edited && self.reason.is_none()
    }

    fn result(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or_default();
        let reason = reason.lines().next().unwrap_or_default();
        let left_out = match self.left_out {
            0 => String::new(),
            count => format!("; {count} left out, which pass without code"),
        };
        match (self.holds(), self.has_tests) {
            _ if self.is_edited => format!("edited by hand: `{}`", self.path),
            (true, _) => format!("pass: `{}`{left_out}", self.path),
            (false, true) => format!("fail: {reason}"),
            (false, false) => format!("none: {reason}"),
        }
    }
}
