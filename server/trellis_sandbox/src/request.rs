//! What to run, and within which bounds.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use serde::Serialize;

use crate::frameworks::Framework;

/// Wall time for a whole run, where nothing else is said.
pub(crate) const RUN_TIMEOUT: Duration = Duration::from_secs(1800);

/// The files under test.
#[derive(Clone, Debug)]
pub enum Tree {
    /// An existing folder, used in place: what tests write there stays there.
    Folder(PathBuf),
    /// Texts by path relative to the root, with `/` between the parts. They are written to a fresh
    /// folder for each run, which is removed afterwards. A path that is absolute or climbs out with
    /// `..` makes the run `SandboxUnavailable`.
    Files(BTreeMap<String, Arc<str>>),
    /// A copy of a folder, some of its files with other texts: for trying changes out. Nothing is written to
    /// the folder itself. It is copied once for each worker, and must not change while the runner is used;
    /// version control, environments and caches in it are left out, and packages of Node.js unless one of its programs runs
    /// the tests: a link to them counts as well.
    Copy {
        /// What is copied.
        folder: PathBuf,
        /// Texts by path, as for `Files`; of files that the folder has, or new ones.
        changed: BTreeMap<String, Arc<str>>,
    },
}

/// One run of a project's tests.
#[derive(Clone, Debug)]
pub struct Request {
    /// The files; the tests run with its root as working folder.
    pub tree: Tree,
    /// What runs them. Those other than Python's have to be installed; of jest and vitest, that is in the tree.
    pub framework: Framework,
    /// Test ids or paths, relative to the root. Empty: whatever the framework finds by itself.
    pub targets: Vec<String>,
    /// Files and folders, relative to the root, whose tests run beside those that pytest finds by itself, whatever the
    /// project's `testpaths` say; those that are not there are passed over. Of no meaning where there are targets, and for
    /// other frameworks.
    pub also: Vec<String>,
    /// For proof: options of the project's settings that end a session early (`-x`, `--stepwise`) or start from an earlier
    /// one (`--last-failed`) do not count, nor does jest's or vitest's `bail`. Tests that its other options, plugins or
    /// hooks leave out run after the others, in a run of their own; see [`Report::deselected_tests`](crate::Report).
    /// Where every target is a file or a test, all of it runs at once: who names something wants it. False: as the
    /// framework does it by itself.
    pub whole: bool,
    /// Options of pytest's own, such as `-k expression`; of no other framework.
    pub arguments: Vec<String>,
    /// Folders below the root, such as `src`, from which modules are to be found besides the root: for a
    /// project that is not installed. For Python's frameworks alone.
    pub source_folders: Vec<PathBuf>,
    /// Wall time for one test with its set-up and tear-down, and likewise for importing one test
    /// module; twice as much where coverage is measured, and for a test that sets itself a time-out (as pytest-timeout
    /// knows it), that. Frameworks other than Python's know only `run_timeout`.
    pub test_timeout: Duration,
    /// Wall time after which the body of a test is interrupted and fails as `TestTookTooLong` where it
    /// stands, so that the run goes on and its lines are known. It is longer as `test_timeout` is, and time in which the test had
    /// no processor does not count. Code that catches everything or hangs in a library is not reached: that is what
    /// `test_timeout` is for. None: nothing is interrupted. For pytest alone.
    pub test_deadline: Option<Duration>,
    /// Wall time for the whole run.
    pub run_timeout: Duration,
    /// What messages say of how these times are raised.
    pub raised_by: RaisedBy,
    /// What the tests may use up.
    pub limits: Limits,
    /// Measure which lines are executed, by test. Needs coverage.py, which `python::provide`
    /// installs; for Python's frameworks alone.
    pub coverage: bool,
    /// Run in a fresh interpreter instead of a fork of a warm one. The sandbox is the same.
    pub cold: bool,
    /// Seed of the hashes of strings, and with them of the order of sets: the same in every run, so that results
    /// can be compared, unless another one is given. A warm worker has its own; for `cold` alone.
    pub hash_seed: u32,
}

impl Request {
    /// All tests of `tree` for proof, by pytest: 30 s a test, 30 min in all, default limits, no coverage.
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
            cold: false,
            hash_seed: 0,
        }
    }

    /// The limit of one test, for messages.
    pub(crate) fn limit_of_test(&self) -> String {
        let doubled = if self.coverage { ", doubled because lines are measured" } else { "" };
        format!("the limit of one test{doubled}{}", raised(self.raised_by.test))
    }

    /// The limit of a test or an import that is ended from outside, for messages.
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

    /// The limit of a run, for messages.
    pub(crate) fn limit_of_run(&self) -> String {
        format!("the limit of a run{}", raised(self.raised_by.run))
    }

    /// Measuring takes time as well.
    fn slowness(&self) -> u32 {
        if self.coverage { 2 } else { 1 }
    }

    /// What one test or import may take.
    pub(crate) fn time_for_one(&self) -> Duration {
        self.test_timeout.saturating_mul(self.slowness())
    }

    /// After which a test is interrupted.
    pub(crate) fn interrupted_after(&self) -> Option<Duration> {
        self.test_deadline.map(|it| it.saturating_mul(self.slowness()))
    }
}

/// The settings that raise the limits of time, as messages call them; none where there is no such setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RaisedBy {
    /// `Request::test_timeout`, and with it `Request::test_deadline`.
    pub test: Option<&'static str>,
    /// `Request::run_timeout`.
    pub run: Option<&'static str>,
}

fn raised(by: Option<&str>) -> String {
    by.map_or_else(String::new, |it| format!("; {it} raises it"))
}

/// Which of the tests that were found are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Selection {
    /// As the project's settings have it.
    Project,
    /// Those that the project's options and hooks choose, every one of them.
    Chosen,
    /// Those that they leave out.
    LeftOut,
    /// All.
    All,
}

impl Selection {
    /// The first one for `request`.
    pub(crate) fn of(request: &Request) -> Selection {
        let is_named = |it: &String| it.contains("::") || it.ends_with(".py");
        match request.targets.is_empty() {
            _ if !request.whole => Selection::Project,
            false if request.targets.iter().all(is_named) => Selection::All,
            _ => Selection::Chosen,
        }
    }
}

/// What a run may use. Which of the bounds hold on this machine is in [`crate::Report::limits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of private memory of each process.
    pub memory_bytes: u64,
    /// Seconds of processor time of each process.
    pub cpu_seconds: u64,
    /// Bytes of any file that is written.
    pub file_bytes: u64,
    /// Processors, by affinity; in containers their share as well, which is one where nothing is said. None: all.
    pub cores: Option<u32>,
    /// Tests reach the networks of this machine, its own services among them.
    pub network: bool,
    /// Processes and threads the run may add to those already there.
    pub processes: u64,
    /// Files each process may have open.
    pub open_files: u64,
    /// Bytes kept of standard output, as many of standard error, and characters of the tests'
    /// captured output together.
    pub output_bytes: usize,
}

impl Default for Limits {
    /// 2 GiB of memory, 600 s of processor time, no network, files of 256 MiB, 256 processes, 1,024 open
    /// files, 1 MiB of output.
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
