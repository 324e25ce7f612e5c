//! Tests that failed and then passed: recorded by the test runners, and reported at the end of a
//! check.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{Outcome, setup};

/// Environment variable with the file to which test runners append a line per flaky test.
pub(crate) const VARIABLE: &str = "TRELLIS_FLAKY";

/// Returns whether a failing end-to-end or editor test is retried: only in CI, where nobody
/// watches.
pub(crate) fn are_run_again() -> bool {
    std::env::var_os("CI").is_some_and(|it| it == "true")
}

/// The list of one check, as a file of JSON lines with `test` and `first`, its first failure.
pub(crate) struct Flaky {
    path: PathBuf,
}

impl Flaky {
    /// Starts an empty list.
    pub(crate) fn start() -> Result<Flaky, String> {
        let path = setup::target().join("flaky.jsonl");
        let cannot = |error| format!("{}: {error}", path.display());
        fs::create_dir_all(setup::target()).map_err(cannot)?;
        fs::write(&path, "").map_err(cannot)?;
        Ok(Flaky { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds the flaky tests of a JUnit report; the report is missing if the build failed.
    pub(crate) fn add_junit(&self, report: &Path) -> Outcome {
        if !report.exists() {
            return Ok(());
        }
        let text = fs::read_to_string(report).map_err(|e| format!("{}: {e}", report.display()))?;
        let found = of_junit(&text).map_err(|e| format!("{}: {e}", report.display()))?;
        let lines: String = found.iter().map(|it| format!("{it}\n")).collect();
        let before = self.read()?;
        fs::write(&self.path, before + &lines).map_err(|e| format!("{}: {e}", self.path.display()))
    }

    fn read(&self) -> Result<String, String> {
        fs::read_to_string(&self.path).map_err(|e| format!("{}: {e}", self.path.display()))
    }

    /// Returns the text for the end of a check; empty without flaky tests.
    pub(crate) fn told(&self) -> Result<String, String> {
        let text = self.read()?;
        let tests = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        Ok(tests.map(|it| told(&it)).collect())
    }
}

fn told(test: &Value) -> String {
    let text = |field: &str| test[field].as_str().unwrap_or("unknown").to_owned();
    let first: String = text("first").lines().map(|it| format!("    {it}\n")).collect();
    format!(
        "FLAKY {}: it failed, and passed when it ran once more. It failed first with:\n{first}",
        text("test")
    )
}

/// Returns tests of a JUnit report that passed after a failure: in nextest's format, those with a
/// `flakyFailure`.
fn of_junit(text: &str) -> Result<Vec<Value>, roxmltree::Error> {
    let document = roxmltree::Document::parse(text)?;
    let failures = document.descendants().filter(|it| it.has_tag_name("flakyFailure"));
    Ok(failures.filter_map(flaky).collect())
}

fn flaky(failure: roxmltree::Node<'_, '_>) -> Option<Value> {
    let case = failure.parent()?;
    let name = [case.attribute("classname"), case.attribute("name")];
    let name = name.into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some(json!({ "test": name, "first": last_lines(failure.text().unwrap_or_default()) }))
}

/// Lines kept of a failure: the most useful ones are at its end.
const LINES: usize = 30;

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::{of_junit, told};

    #[test]
    fn a_test_that_passed_the_second_time_is_listed_with_its_first_failure() {
        let report = r#"<?xml version="1.0"?><testsuites><testsuite name="trellis-tests::e2e">
            <testcase name="tasks::passed" classname="trellis-tests::e2e"/>
            <testcase name="tasks::once" classname="trellis-tests::e2e">
              <flakyFailure type="test failure">thread panicked
no such branch</flakyFailure></testcase>
            <testcase name="tasks::never" classname="trellis-tests::e2e"><failure>no</failure>
              <rerunFailure>no</rerunFailure></testcase></testsuite></testsuites>"#;
        let found = of_junit(report).expect("a report");
        let [test] = &found[..] else { panic!("{found:?}") };
        let line = told(test);
        assert!(line.starts_with("FLAKY trellis-tests::e2e tasks::once: "), "{line}");
        assert!(line.ends_with("    no such branch\n"), "{line}");
        assert!(of_junit("<testsuites>").is_err());
    }
}
