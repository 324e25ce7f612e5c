//! What a test run showed, as far as the cycle cares.

/// How a run ended. Pass or fail is decided here and nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Passed,
    Failed,
    CollectionError,
    NoTests,
    TimedOut {
        /// Which limit ended it, in words.
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
    /// Relative to the repository, when inside it.
    pub path: String,
    pub line: u32,
    pub function: String,
    /// The text of the statement that begins there, or of the line, without its margin; empty where it is not known.
    pub source: String,
}

/// One failure, of a test or of the collection of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    pub exception: String,
    pub message: String,
    /// Deepest file inside the repository.
    pub path: String,
    pub line: u32,
    pub frames: Vec<Frame>,
    pub traceback: String,
    /// The name of a NameError.
    pub missing_name: Option<String>,
    /// The module of an ImportError.
    pub missing_module: Option<String>,
    /// The name that an existing module lacks.
    pub missing_attribute: Option<String>,
}

/// One test and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub id: String,
    pub passed: bool,
    /// Skipped, or expected to fail and failing.
    pub set_aside: bool,
    pub failure: Option<Failure>,
}

/// A run of an item's tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRun {
    pub ending: Ending,
    /// Where the main thread stood when the run was stopped or crashed, outermost frame first, where that
    /// could be had.
    pub stack: Vec<Frame>,
    pub cases: Vec<Case>,
    /// Files that could not be collected.
    pub collection: Vec<Failure>,
    /// What the run printed, cut.
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

    /// Whether the run proves the item: it ended well, and every one of its tests ran and passed. A test
    /// that was skipped, or that code under test skipped, says nothing (T7).
    pub fn proves(&self) -> bool {
        self.is_clean() && !self.cases.iter().any(|case| case.set_aside)
    }

    /// Whether a run of any tests ended well: something passed and nothing failed.
    pub fn is_clean(&self) -> bool {
        self.ending == Ending::Passed && self.passed() > 0 && self.failed() == 0
    }

    /// The id of the first test that failed.
    pub fn first_failing(&self) -> Option<&str> {
        let mut failed = self.cases.iter().filter(|case| !case.passed && !case.set_aside);
        failed.next().map(|case| case.id.as_str())
    }

    /// All failures, collection first.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.collection.iter().chain(self.cases.iter().filter_map(|case| case.failure.as_ref()))
    }

    /// The failure in one line, for reasons and reports.
    pub fn summary(&self) -> String {
        if let Some(failure) = self.failures().next() {
            let message = failure.message.lines().next().unwrap_or_default();
            let place = if failure.path.is_empty() {
                String::new()
            } else {
                format!(" ({}:{})", failure.path, failure.line)
            };
            return format!("{}: {message}{place}", failure.exception);
        }
        match &self.ending {
            Ending::Passed => "passed".to_owned(),
            Ending::Failed => "failed".to_owned(),
            Ending::CollectionError => "the tests could not be collected".to_owned(),
            Ending::NoTests => "no test was collected".to_owned(),
            Ending::TimedOut { why } => {
                let how = why.as_deref().unwrap_or("timed out");
                self.stack.last().map_or_else(
                    || how.to_owned(),
                    |it| format!("{how} in {} ({}:{})", it.function, it.path, it.line),
                )
            }
            Ending::KilledForMemory => "killed for using too much memory".to_owned(),
            Ending::Crashed { how, .. } => format!("the test process ended early: {how}"),
        }
    }
}
