//! Parses the stream of `go test -json`.
//!
//! Each line is a record. Output of tests is wrapped in records of its own, so that printing JSON
//! forges nothing. But printing `--- PASS: TestX` in go's own form makes go report that `TestX`
//! passed, although it also reports that it failed. So the worst status of a test counts.
//!
//! A process that ends itself with status 0 looks like a passed package to go, but leaves its test
//! without a status or itself without `PASS`: both are required. A test that prints all of that and
//! then ends the process passes, and the tests after it are unknown.

use std::collections::HashMap;

use serde::Deserialize;

use super::{CommandResult, Malformed, ansi, go_build, go_output, judge::Records};

/// One line of the stream.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    package: Option<String>,
    test: Option<String>,
    elapsed: Option<f64>,
    output: Option<String>,
    output_type: Option<String>,
    import_path: Option<String>,
}

/// A final status; later variants are worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GoStatus {
    Pass,
    Skip,
    Fail,
}

/// A test or subtest.
#[derive(Debug, Default)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) word: Option<GoStatus>,
    pub(super) paused: bool,
    pub(super) seconds: f64,
    pub(super) output: String,
    /// Output that newer versions mark as coming from `t.Error` and similar calls.
    pub(super) errors: String,
}

/// A package with tests, or one that could not be built.
#[derive(Debug, Default)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) word: Option<GoStatus>,
    pub(super) tests: Vec<Test>,
    /// Output outside of tests.
    pub(super) output: String,
    /// True if the package could not be built or found.
    pub(super) unbuilt: bool,
}

/// The parsed stream.
#[derive(Default)]
struct Stream {
    packages: Vec<Package>,
    tests: HashMap<(usize, String), usize>,
    /// The compiler's output by package.
    builds: HashMap<String, String>,
    /// The first line that is no record; go writes some about packages that cannot be built.
    foreign: Option<String>,
}

/// Returns the records of the stream.
pub(super) fn records(ended: &CommandResult<'_>) -> Result<Records, Malformed> {
    let stream = stream(ended.stdout)?;
    if let (Some(line), Ok(0)) = (stream.foreign, ended.status) {
        return Err(Malformed::Foreign(line));
    }
    if stream.packages.is_empty() && ended.status != Ok(0) {
        return Err(Malformed::Absent); // go itself failed, and standard error has the reason
    }
    let mut builds = stream.builds;
    go_build::add(ended.stderr, &mut builds);
    let mut records = Records::default();
    for package in &stream.packages {
        go_output::add(ended, package, &builds, &mut records);
    }
    Ok(records)
}

fn stream(text: &str) -> Result<Stream, Malformed> {
    let mut stream = Stream::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with('{') {
            stream.take(serde_json::from_str(line)?);
        } else if let Some(name) = unbuilt(line) {
            let package = stream.package(name);
            stream.packages[package].unbuilt = true;
            stream.packages[package].word = Some(GoStatus::Fail);
        } else {
            stream.foreign.get_or_insert_with(|| line.chars().take(200).collect());
        }
    }
    Ok(stream)
}

/// Returns the package in a line such as `FAIL`, a tab, `example.com/a [build failed]`.
fn unbuilt(line: &str) -> Option<&str> {
    let (name, why) = line.strip_prefix("FAIL\t")?.trim_end().split_once(" [")?;
    matches!(why, "build failed]" | "setup failed]").then_some(name)
}

impl Stream {
    fn take(&mut self, event: Event) {
        let output = event.output.as_deref().map(ansi::plain).unwrap_or_default();
        if event.action == "build-output" {
            let package = package_of(event.import_path.as_deref().unwrap_or_default());
            self.builds.entry(package.to_owned()).or_default().push_str(&output);
            return;
        }
        let Some(package) = event.package.as_deref().map(|name| self.package(name)) else {
            return;
        };
        match &event.test {
            Some(name) => {
                let test = self.test(package, name);
                self.packages[package].tests[test].take(&event, &output);
            }
            None => self.packages[package].take(&event, &output),
        }
    }

    fn package(&mut self, name: &str) -> usize {
        // There are few packages, and most often the last one is meant.
        self.packages.iter().rposition(|package| package.name == name).unwrap_or_else(|| {
            self.packages.push(Package { name: name.to_owned(), ..Package::default() });
            self.packages.len() - 1
        })
    }

    fn test(&mut self, package: usize, name: &str) -> usize {
        let tests = &mut self.packages[package].tests;
        *self.tests.entry((package, name.to_owned())).or_insert_with(|| {
            tests.push(Test { name: name.to_owned(), ..Test::default() });
            tests.len() - 1
        })
    }
}

/// Returns `a/b` for `a/b [a/b.test]`.
pub(super) fn package_of(import_path: &str) -> &str {
    import_path.split_whitespace().next().unwrap_or_default()
}

fn status(action: &str) -> Option<GoStatus> {
    match action {
        "pass" | "bench" => Some(GoStatus::Pass),
        "skip" => Some(GoStatus::Skip),
        "fail" => Some(GoStatus::Fail),
        _ => None,
    }
}

impl Package {
    fn take(&mut self, event: &Event, output: &str) {
        self.word = self.word.max(status(&event.action));
        self.unbuilt |= output.lines().any(|line| unbuilt(line).is_some());
        self.output.push_str(output);
    }

    /// Returns whether `testing` printed `PASS` after the last test.
    pub(super) fn printed_pass(&self) -> bool {
        self.output.lines().any(|line| line.ends_with("PASS"))
    }

    /// Returns whether `testing` printed its last line, of either kind.
    pub(super) fn printed_last_line(&self) -> bool {
        self.printed_pass() || self.output.lines().any(|line| line == "FAIL")
    }
}

impl Test {
    fn take(&mut self, event: &Event, output: &str) {
        self.word = self.word.max(status(&event.action));
        self.seconds = event.elapsed.unwrap_or(self.seconds);
        match event.action.as_str() {
            "pause" => self.paused = true,
            "cont" => self.paused = false,
            _ => {}
        }
        match event.output_type.as_deref() {
            Some("frame") => return,
            Some("error" | "error-continue") => self.errors.push_str(output),
            _ => {}
        }
        self.output.push_str(output);
    }
}
