//! Requests for test runs and their limits.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use serde::Serialize;

use crate::{frameworks::Framework, trials::TrialPlan};

/// Default wall time of a whole run.
pub(crate) const RUN_TIMEOUT: Duration = Duration::from_secs(1800);

/// The files under test.
#[derive(Clone, Debug)]
pub enum Tree {
    /// An existing folder, used in place: files that tests write there remain.
    Folder(PathBuf),
    /// Texts by path relative to the root, with `/` between the parts. Each run gets them in a
    /// fresh folder, which is removed afterwards. A path that is absolute or leaves the root with
    /// `..` makes the run `SandboxUnavailable`.
    Files(BTreeMap<String, Arc<str>>),
    /// A copy of a folder with the text of some files replaced, to try changes out. Nothing is
    /// written to the folder itself.
    ///
    /// Each worker copies the folder once, so it must not change while the runner is used. Version
    /// control, environments and caches in it are left out. Packages of Node.js are copied only if
    /// a program of Node.js runs the tests; a link to them is followed.
    Copy {
        /// The folder to copy.
        folder: PathBuf,
        /// Texts by path, as for `Files`, for existing or new files.
        changed: BTreeMap<String, Arc<str>>,
    },
}

/// One run of a project's tests.
#[derive(Clone, Debug)]
pub struct Request {
    /// The files; the tests run with the root of the tree as working folder.
    pub tree: Tree,
    /// The test framework. Frameworks of other languages have to be installed; jest and vitest in
    /// the tree.
    pub framework: Framework,
    /// Test ids or paths, relative to the root; that of a group of jest or vitest ends in `::`.
    /// Empty for the tests that the framework finds by itself.
    pub targets: Vec<String>,
    /// Files and folders, relative to the root, whose tests run besides those that pytest finds by
    /// itself, whatever the project's `testpaths` say; missing ones are skipped. Ignored if there
    /// are targets, and for other frameworks.
    pub also: Vec<String>,
    /// Runs every test, for proof. Options in the project's settings that end a session early
    /// (`-x`, `--stepwise`) or depend on an earlier one (`--last-failed`) are ignored, as is the
    /// `bail` of jest and vitest. Tests that other options, plugins or hooks leave out run in a
    /// second run; see [`Report::deselected_tests`](crate::Report::deselected_tests). If every
    /// target is a file or a test, all of it runs at once, since a named target is wanted. False
    /// for the framework's own behavior.
    pub whole: bool,
    /// Options for pytest, such as `-k expression`; other frameworks get none.
    pub arguments: Vec<String>,
    /// Folders below the root, such as `src`, from which modules are importable besides the root,
    /// for a project that is not installed. For Python's frameworks only.
    pub source_folders: Vec<PathBuf>,
    /// Wall time for one test with its setup and teardown, and for importing one test module. It is
    /// doubled if coverage is measured; a longer timeout that a test sets itself (as pytest-timeout
    /// knows it) applies instead. Other frameworks than Python's have only `run_timeout`.
    pub test_timeout: Duration,
    /// Wall time after which the body of a test is interrupted and fails as `TestTookTooLong` where
    /// it is, so that the run continues and the executed lines are known. It is doubled as
    /// `test_timeout` is, and time in which the test had no processor does not count. Code that
    /// catches every exception or hangs in a library is not interrupted; `test_timeout` ends it.
    /// `None` for no interruption. For pytest only.
    pub test_deadline: Option<Duration>,
    /// Wall time for the whole run.
    pub run_timeout: Duration,
    /// The settings that messages name as raising these times.
    pub raised_by: RaisedBy,
    /// Limits on the resources that tests may use.
    pub limits: Limits,
    /// Measures the executed lines by test. Needs coverage.py, which `python::provide` installs;
    /// for Python's frameworks only.
    pub coverage: bool,
    /// Records what each test executes and reads; see [`crate::Execution`]. Needs coverage.py as
    /// `coverage` does, and is quicker; for pytest only. `coverage` is ignored beside it.
    pub execution: bool,
    /// Traces calls, branches, exceptions and values of each test; see [`crate::TestTrace`]. Slow, so
    /// for a few tests, and for pytest only.
    pub trace: bool,
    /// Runs in a fresh interpreter instead of a fork of a warm one, in the same sandbox.
    pub cold: bool,
    /// Seed of string hashes, and so of the order of sets. The default is the same in every run, so
    /// that results can be compared. For `cold` only: a warm worker has its own seed.
    pub hash_seed: u32,
    /// Edits to try instead of the run's tests; see [`crate::Runner::run_trials`]. For pytest only,
    /// and only with a `test_deadline`.
    pub trials: Option<TrialPlan>,
}

impl Request {
    /// Requests all tests of `tree` for proof, by pytest: 30 s per test, 30 min in all, default
    /// limits, no coverage.
    pub fn new(tree: Tree) -> Request {
        Request {
            tree,
            framework: Framework::Pytest,
            targets: Vec::new(),
            also: Vec::new(),
            whole: true,
            arguments: Vec::new(),
            source_folders: Vec::new(),
            test_timeout: Duration::from_secs(30),
            test_deadline: None,
            run_timeout: RUN_TIMEOUT,
            raised_by: RaisedBy::default(),
            limits: Limits::default(),
            coverage: false,
            execution: false,
            trace: false,
            cold: false,
            hash_seed: 0,
            trials: None,
        }
    }

    /// Describes the limit of one test, for messages.
    pub(crate) fn limit_of_test(&self) -> String {
        let doubled = if self.measures() { ", doubled because lines are measured" } else { "" };
        format!("the limit of one test{doubled}{}", raised(self.raised_by.test))
    }

    /// Describes the limit of a test or an import that was ended from outside, for messages.
    pub(crate) fn limit_from_outside(&self) -> String {
        match self.interrupted_after() {
            None => self.limit_of_test(),
            Some(earlier) => format!(
                "the limit of one test, {} s, did not end it{}",
                earlier.as_secs_f64(),
                raised(self.raised_by.test)
            ),
        }
    }

    /// Describes the limit of a run, for messages.
    pub(crate) fn limit_of_run(&self) -> String {
        format!("the limit of a run{}", raised(self.raised_by.run))
    }

    /// Returns whether the run needs coverage.py.
    pub(crate) fn measures(&self) -> bool {
        self.coverage || self.execution
    }

    /// Returns the factor for time limits: measuring coverage takes time as well.
    fn slowness(&self) -> u32 {
        if self.measures() { 2 } else { 1 }
    }

    /// Returns the time limit of one test or import.
    pub(crate) fn time_for_one(&self) -> Duration {
        self.test_timeout.saturating_mul(self.slowness())
    }

    /// Returns the time after which a test is interrupted.
    pub(crate) fn interrupted_after(&self) -> Option<Duration> {
        self.test_deadline.map(|it| it.saturating_mul(self.slowness()))
    }
}

/// The settings that raise the time limits, as messages name them; `None` where there is no such
/// setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RaisedBy {
    /// The setting for `Request::test_timeout` and `Request::test_deadline`.
    pub test: Option<&'static str>,
    /// The setting for `Request::run_timeout`.
    pub run: Option<&'static str>,
}

fn raised(by: Option<&str>) -> String {
    by.map_or_else(String::new, |it| format!("; {it} raises it"))
}

/// The part of the found tests to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Selection {
    /// Tests that the project's settings select, with its other settings in force.
    Project,
    /// Every test that the project's options and hooks select.
    Chosen,
    /// The tests that they leave out.
    LeftOut,
    /// No test: all are only found.
    Listed,
    /// All tests.
    All,
}

impl Selection {
    /// Returns the selection of the first run for `request`.
    pub(crate) fn of(request: &Request) -> Selection {
        let is_named = |it: &String| it.contains("::") || it.ends_with(".py");
        match request.targets.is_empty() {
            _ if !request.whole => Selection::Project,
            false if request.targets.iter().all(is_named) => Selection::All,
            _ => Selection::Chosen,
        }
    }
}

/// Limits on the resources of a run. [`crate::Report::limits`] tells which of them hold on this
/// machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of private memory per process.
    pub memory_bytes: u64,
    /// Seconds of processor time per process.
    pub cpu_seconds: u64,
    /// Maximum size in bytes of a written file.
    pub file_bytes: u64,
    /// Processors, by affinity, and in containers by share as well, where the default is one.
    /// `None` for all.
    pub cores: Option<u32>,
    /// True if tests may reach networks, including services of this machine.
    pub network: bool,
    /// Processes and threads that the run may add to those already there.
    pub processes: u64,
    /// Open files per process.
    pub open_files: u64,
    /// Bytes kept of standard output and again of standard error, and characters kept of all tests'
    /// captured output together.
    pub output_bytes: usize,
}

impl Default for Limits {
    /// Returns 2 GiB of memory, 600 s of processor time, no network, files of 256 MiB, 256
    /// processes, 1,024 open files, 1 MiB of output.
    fn default() -> Limits {
        Limits {
            memory_bytes: 2 << 30,
            cpu_seconds: 600,
            file_bytes: 256 << 20,
            cores: None,
            network: false,
            processes: 256,
            open_files: 1024,
            output_bytes: 1 << 20,
        }
    }
}
