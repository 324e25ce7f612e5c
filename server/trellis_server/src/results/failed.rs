//! Place and reason of a test failure.

use std::path::{Path, PathBuf};

use trellis_sandbox::{Failure, TestResult};

/// One failing test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The folder that the test ran in.
    pub root: PathBuf,
    /// Test id relative to `root`.
    pub test: String,
    /// Exception and message.
    pub message: String,
    /// The line of the test at which it failed.
    pub at: FailureLocation,
    /// The line in the code under test, if that is another file.
    pub also: Option<FailureLocation>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureLocation {
    /// Unique id.
    pub id: u64,
    /// Path relative to the project's folder.
    pub path: String,
    /// Line number, from 1.
    pub line: u32,
}

impl Failed {
    /// Returns the failure of a file that could not be loaded; the cause may be in another file.
    pub(super) fn of_file(number: u64, root: &Path, file: &str, failure: &Failure) -> Failed {
        let place = failure.path.as_deref().unwrap_or(file);
        let line = failure.line.unwrap_or(1).max(1);
        let spot = |part: u64, path: &str, line: u32| FailureLocation {
            id: number * 2 + part,
            path: path.to_owned(),
            line,
        };
        Failed {
            root: root.to_owned(),
            test: file.to_owned(),
            message: message(failure),
            at: spot(0, file, if place == file { line } else { 1 }),
            also: (place != file).then(|| spot(1, place, line)),
        }
    }

    /// Returns the failure of a test; `number` is the number of the result.
    pub(super) fn of(number: u64, root: &Path, test: &TestResult) -> Failed {
        let spot = |part: u64, path: &str, line: u32| FailureLocation {
            id: number * 2 + part,
            path: path.to_owned(),
            line: line.max(1),
        };
        let failure = test.failure.as_ref();
        let frames = failure.map_or(&[][..], |it| &it.frames);
        let own = frames.iter().rfind(|it| it.inside && it.path == test.path).map(|it| it.line);
        let deepest = failure.and_then(|it| Some((it.path.as_deref()?, it.line?)));
        let in_test = deepest.filter(|(path, _)| *path == test.path).map(|(_, line)| line);
        let line = in_test.or(own).or(test.line).unwrap_or(1);
        let elsewhere = deepest.filter(|(path, _)| *path != test.path);
        let message = match failure {
            Some(it) => message(it),
            None => format!(
                "the test ended as {}",
                trellis_workflows::convert::test_outcome(test.outcome)
            ),
        };
        Failed {
            root: root.to_owned(),
            test: test.id.clone(),
            message,
            at: spot(0, &test.path, line),
            also: elsewhere.map(|(path, line)| spot(1, path, line)),
        }
    }

    /// Sets the ids of the failure's locations; `number` is the number of the result.
    pub(super) fn number(&mut self, number: u64) {
        self.at.id = number * 2;
        self.also.iter_mut().for_each(|it| it.id = number * 2 + 1);
    }

    /// Returns the name of the test in its file: `Class.test_name`.
    pub fn name(&self) -> String {
        let name = self.test.split_once("::").map_or("", |(_, name)| name);
        name.split('[').next().unwrap_or_default().replace("::", ".")
    }
}

fn message(failure: &Failure) -> String {
    match failure.message.as_str() {
        "" => failure.exception.clone(),
        message => format!("{}: {message}", failure.exception),
    }
}
