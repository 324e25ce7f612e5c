//! Results of a test run, as far as the cycle uses them.

/// Ending of a run. This type alone decides whether a run passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    Passed,
    Failed,
    CollectionError,
    NoTests,
    TimedOut {
        /// The limit that ended the run, as text.
        why: Option<String>,
    },
    KilledForMemory,
    Crashed {
        how: String,
        /// The signal that ended the process.
        signal: Option<i32>,
    },
}

/// One frame of a traceback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Relative to the repository if the file is inside it.
    pub path: String,
    pub line: u32,
    pub function: String,
    /// The statement that begins at the line, or the line itself, without indentation; empty if
    /// unknown.
    pub source: String,
}

/// Frames outside of the repository, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibraryFrames {
    /// Number of the repository's frames before them.
    pub after: usize,
    pub count: usize,
    /// Names of the libraries, each once.
    pub names: Vec<String>,
    /// The deepest of the frames, as `path:line in function`.
    pub deepest: String,
}

/// Operands of a failed comparison, as `repr` shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedValues {
    pub operator: String,
    pub left: String,
    pub right: String,
}

/// A failure of a test or of the collection of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    pub exception: String,
    pub message: String,
    /// Deepest file of the traceback inside the repository.
    pub path: String,
    pub line: u32,
    pub frames: Vec<Frame>,
    /// Calls of libraries between the frames, outermost first.
    pub libraries: Vec<LibraryFrames>,
    /// Both sides of the failed comparison, if the test runner tells them.
    pub compared: Option<ComparedValues>,
    pub traceback: String,
    /// Text that the test printed and logged before it failed, if the test runner captured it.
    pub output: String,
    /// The undefined name of a NameError.
    pub missing_name: Option<String>,
    /// The module of an ImportError.
    pub missing_module: Option<String>,
    /// The name missing in an existing module.
    pub missing_attribute: Option<String>,
}

impl Failure {
    /// Returns the exception, the first line of its message, and the place, in one line.
    pub fn summary(&self) -> String {
        let message = self.message.lines().next().unwrap_or_default();
        match self.path.is_empty() {
            true => format!("{}: {message}", self.exception),
            false => format!("{}: {message} ({}:{})", self.exception, self.path, self.line),
        }
    }

    /// Returns the summary, and the other lines of the message below it.
    pub fn text(&self) -> String {
        let rest = self.message.split_once('\n').map(|(_, rest)| format!("\n{rest}"));
        self.summary() + &rest.unwrap_or_default()
    }
}

/// One test with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    pub id: String,
    pub passed: bool,
    /// Skipped, or expected to fail and failing.
    pub set_aside: bool,
    pub failure: Option<Failure>,
}

/// A run of an item's tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRun {
    pub ending: RunOutcome,
    /// Stack of the main thread when the run was stopped or crashed, outermost frame first; empty
    /// if unknown.
    pub stack: Vec<Frame>,
    pub cases: Vec<TestCase>,
    /// Files that could not be collected.
    pub collection: Vec<Failure>,
    /// Output of the run, shortened.
    pub output: String,
}

impl TestRun {
    pub fn passed(&self) -> usize {
        self.cases.iter().filter(|case| case.passed).count()
    }

    pub fn failed(&self) -> usize {
        self.cases.iter().filter(|case| !case.passed && !case.set_aside).count()
            + self.collection.len()
    }

    /// Returns whether the run proves the item: the run ended well, and every test ran and passed.
    /// A skipped test proves nothing, even if the code under test skipped it (T7).
    pub fn proves(&self) -> bool {
        self.is_clean() && !self.cases.iter().any(|case| case.set_aside)
    }

    /// Returns whether the run ended well, with at least one passed and no failed test.
    pub fn is_clean(&self) -> bool {
        self.ending == RunOutcome::Passed && self.passed() > 0 && self.failed() == 0
    }

    /// Returns the id of the first failed test.
    pub fn first_failing(&self) -> Option<&str> {
        let mut failed = self.cases.iter().filter(|case| !case.passed && !case.set_aside);
        failed.next().map(|case| case.id.as_str())
    }

    /// Returns all failures, those of the collection first.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.collection.iter().chain(self.cases.iter().filter_map(|case| case.failure.as_ref()))
    }

    /// Returns the failure in one line, for reasons and reports.
    pub fn summary(&self) -> String {
        if let Some(failure) = self.failures().next() {
            return failure.summary();
        }
        match &self.ending {
            RunOutcome::Passed => "passed".to_owned(),
            RunOutcome::Failed => "failed".to_owned(),
            RunOutcome::CollectionError => "the tests could not be collected".to_owned(),
            RunOutcome::NoTests => "no test was collected".to_owned(),
            RunOutcome::TimedOut { why } => {
                let how = why.as_deref().unwrap_or("timed out");
                self.stack.last().map_or_else(
                    || how.to_owned(),
                    |it| format!("{how} in {} ({}:{})", it.function, it.path, it.line),
                )
            }
            RunOutcome::KilledForMemory => "killed for using too much memory".to_owned(),
            RunOutcome::Crashed { how, .. } => format!("the test process ended early: {how}"),
        }
    }
}
