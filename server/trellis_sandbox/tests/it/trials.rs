//! Trials of small edits in forks of one run.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use trellis_sandbox::{
    Outcome, PlannedEdit, PlannedFile, PlannedTest, RaisingLine, Report, Request, TrialEnd,
    TrialOutcome, TrialPlan, TrialResult,
};

use crate::support::{files, runner};

/// Long enough, even on a busy machine, for tests that are meant to end.
const LIMIT: Duration = Duration::from_secs(20);
/// For tests that are not meant to end.
const SHORT: Duration = Duration::from_millis(300);

/// A module under test, its tests, and the options that pytest gets.
struct Project {
    module: &'static str,
    tests: &'static str,
    failing: &'static [&'static str],
    passing: &'static [&'static str],
    limit: Duration,
}

impl Project {
    fn new(module: &'static str, tests: &'static str) -> Project {
        Project { module, tests, failing: &["test_a"], passing: &[], limit: LIMIT }
    }

    /// Tries edits: text of the module that occurs once, and its replacement.
    async fn tried(&self, edits: &[(&str, &str)]) -> (Report, Vec<TrialResult>) {
        self.tried_watching(edits, Vec::new()).await
    }

    async fn tried_watching(
        &self,
        edits: &[(&str, &str)],
        raised: Vec<RaisingLine>,
    ) -> (Report, Vec<TrialResult>) {
        let tree = [("mod.py", self.module), ("test_m.py", self.tests)];
        let mut request = Request::new(files(&tree));
        request.targets = vec!["test_m.py".to_owned()];
        request.test_deadline = Some(LIMIT);
        request.trials = Some(self.plan(edits, raised));
        let (runner, cancel, mut results) = (runner().await, CancellationToken::new(), Vec::new());
        let mut take = |it: &TrialResult| results.push(it.clone());
        let report = runner.run_trials(&request, &cancel, &mut take).await;
        assert_eq!(runner.close().await, Vec::<String>::new());
        (report, results)
    }

    fn plan(&self, edits: &[(&str, &str)], raised: Vec<RaisingLine>) -> TrialPlan {
        let ids = self.failing.iter().chain(self.passing);
        let tests = ids.map(|it| PlannedTest { id: format!("test_m.py::{it}"), limit: self.limit });
        let failing = (0..self.failing.len()).collect();
        let passing = (self.failing.len()..self.failing.len() + self.passing.len()).collect();
        let source = || self.module.into();
        let edit = |(number, (old, new)): (usize, &(&str, &str))| {
            let start = self.module.find(old).expect("in the module");
            let (range, replacement) = (start..start + old.len(), (*new).to_owned());
            PlannedEdit { number, file: 0, range, replacement, first: 0, rest: 1, passing: 2 }
        };
        TrialPlan {
            tests: tests.collect(),
            groups: vec![failing, Vec::new(), passing],
            files: vec![PlannedFile { path: "mod.py".to_owned(), source: source() }],
            edits: edits.iter().enumerate().map(edit).collect(),
            raised,
        }
    }

    /// Tries one edit, and returns its result.
    async fn with(&self, old: &str, new: &str) -> TrialResult {
        let (report, results) = self.tried(&[(old, new)]).await;
        let found = results.into_iter().find(|it| it.edit == Some(0));
        found.unwrap_or_else(|| panic!("a result: {report:#?}"))
    }
}

/// Returns the outcomes of a trial by the index of the test.
fn outcomes(result: &TrialResult) -> Vec<(usize, TrialOutcome)> {
    result.tests.iter().map(|it| (it.test, it.outcome)).collect()
}

const PASSED: TrialOutcome = TrialOutcome::Passed;
const FAILED: TrialOutcome = TrialOutcome::Failed;

/// Tests that an edit makes `test_a` pass, by what is edited.
async fn repairs(module: &'static str, tests: &'static str, old: &str, new: &str) {
    let result = Project::new(module, tests).with(old, new).await;
    assert_eq!(result.end, TrialEnd::Ended, "{result:?}");
    assert_eq!(outcomes(&result), [(0, PASSED)], "{result:?}");
}

/// Tests that an edit needs a run of its own.
async fn is_unsupported(module: &'static str, tests: &'static str, old: &str, new: &str) {
    let result = Project::new(module, tests).with(old, new).await;
    assert_eq!((result.end, result.tests.len()), (TrialEnd::Unsupported, 0), "{result:?}");
}

const TEST_F: &str = "from mod import f\ndef test_a():\n    assert f(1) == 3\n";

#[tokio::test]
async fn an_edit_of_a_function_reaches_names_that_were_imported_before() {
    repairs("def f(x):\n    return x + 1\n", TEST_F, "x + 1", "x + 2").await;
}

#[tokio::test]
async fn an_edit_of_a_nested_function() {
    let module = "def f(x):\n    def g():\n        return x + 1\n    return g()\n";
    repairs(module, TEST_F, "x + 1", "x + 2").await;
}

#[tokio::test]
async fn an_edit_of_a_wrapper_that_decorated_at_import() {
    let module = "import functools\n\ndef log(it):\n    @functools.wraps(it)\n    def g(x):\n        \
                  return it(x) + 1\n    return g\n\n@log\ndef f(x):\n    return x\n";
    repairs(module, TEST_F, "it(x) + 1", "it(x) + 2").await;
    repairs(module, TEST_F, "return x\n", "return x + 1\n").await;
}

#[tokio::test]
async fn an_edit_of_a_method_with_super_and_of_a_property() {
    let module = "class A:\n    def m(self):\n        return 1\n\nclass B(A):\n    def m(self):\n        \
                  return super().m() + 1\n    @property\n    def p(self):\n        return 2\n";
    let of = |it: &str| format!("from mod import B\ndef test_a():\n    assert {it} == 3\n");
    let [method, property] = ["B().m()", "B().p"].map(|it| &*of(it).leak());
    repairs(module, method, "super().m() + 1", "super().m() + 2").await;
    repairs(module, property, "return 2", "return 3").await;
}

#[tokio::test]
async fn an_edit_of_a_generator_and_of_a_coroutine() {
    let module =
        "def f(n):\n    for i in range(n):\n        yield i\n\nasync def w(n):\n    return n\n";
    let generated = "from mod import f\ndef test_a():\n    assert list(f(1)) == [0, 1]\n";
    repairs(module, generated, "range(n)", "range(n + 1)").await;
    let awaited =
        "import asyncio\nfrom mod import w\ndef test_a():\n    assert asyncio.run(w(1)) == 2\n";
    repairs(module, awaited, "return n\n", "return n + 1\n").await;
}

#[tokio::test]
async fn an_edit_of_a_constant_reaches_modules_that_imported_it() {
    let module = "LIMIT = 1\n\ndef f(x):\n    return LIMIT + x\n";
    let tests = "from mod import LIMIT, f\ndef test_a():\n    assert (LIMIT, f(1)) == (2, 3)\n";
    repairs(module, tests, "LIMIT = 1", "LIMIT = 2").await;
    let read = "LIMIT = 1\nOTHER = LIMIT + 1\n\ndef f(x):\n    return OTHER + x\n";
    is_unsupported(read, TEST_F, "LIMIT = 1", "LIMIT = 2").await;
}

#[tokio::test]
async fn an_edit_of_a_default_value_and_of_an_attribute_of_a_class() {
    repairs("def f(x, y=1):\n    return x + y\n", TEST_F, "y=1", "y=2").await;
    repairs("def f(x, *, y=1):\n    return x + y\n", TEST_F, "y=1", "y=2").await;
    let module = "class A:\n    fee = 1\n\nclass B(A):\n    pass\n";
    let tests = "from mod import B\ndef test_a():\n    assert B.fee == 2\n";
    repairs(module, tests, "fee = 1", "fee = 2").await;
}

#[tokio::test]
async fn an_edit_of_a_module_that_only_the_test_imports() {
    let tests = "def test_a():\n    import mod\n    assert mod.f(1) == 3\n";
    repairs("def f(x):\n    return x + 1\n", tests, "x + 1", "x + 2").await;
    let result =
        Project::new("def f(x):\n    return x + 1\n", tests).with("def f", "1 / 0\ndef f").await;
    assert_eq!(outcomes(&result), [(0, FAILED)]);
    assert_eq!(result.tests[0].exception, "ZeroDivisionError");
}

#[tokio::test]
async fn what_only_a_new_import_brings_into_effect_is_not_tried() {
    let module = "def log(it):\n    return it\n\n@log\ndef f(x):\n    return x\n\nif f(0) == 0:\n    Y = 1\n";
    is_unsupported(module, TEST_F, "@log", "@len").await;
    is_unsupported(module, TEST_F, "f(0) == 0", "f(0) == 1").await;
    let closure = "def f(x):\n    y = 1\n    def g():\n        return x\n    return g()\n\
                   G = f\n\ndef made(y, z):\n    def h(x):\n        return y + x\n    return h\n\nf = made(1, 2)\n";
    is_unsupported(closure, TEST_F, "y + x", "z + x").await;
}

#[tokio::test]
async fn text_that_is_not_python_or_means_the_same_runs_nothing() {
    let project = Project::new("def f(x):\n    return x + 1\n", TEST_F);
    let (_, results) = project.tried(&[("x + 1", "x +"), ("x + 1", "(x + 1)")]).await;
    let ends: Vec<_> = results.iter().filter(|it| it.edit.is_some()).map(|it| it.end).collect();
    assert_eq!(ends, [TrialEnd::Invalid, TrialEnd::Unchanged]);
}

/// The next edit is tried all the same, whatever one does to its process.
#[tokio::test]
async fn an_edit_that_ends_its_process_ends_only_its_trial() {
    let project = Project::new("import os\n\ndef f(x):\n    return x + 1\n", TEST_F);
    let fatal = ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()"];
    let edits = fatal.map(|it| ("x + 1", it));
    let (report, results) = project.tried(&[&edits[..], &[("x + 1", "x + 2")]].concat()).await;
    assert_eq!(report.outcome, Outcome::NoTests, "{report:#?}");
    let ends: Vec<_> = results.iter().filter(|it| it.edit.is_some()).map(|it| it.end).collect();
    assert_eq!(ends, [TrialEnd::Died, TrialEnd::Died, TrialEnd::Died, TrialEnd::Ended]);
    assert_eq!(outcomes(results.last().expect("one")), [(0, PASSED)]);
}

#[tokio::test]
async fn an_edit_without_end_is_interrupted_or_killed() {
    let module = "import time\n\ndef stubborn():\n    while True:\n        try:\n            \
                  time.sleep(600)\n        except BaseException:\n            pass\n\n\
                  def f(x):\n    return x + 1\n";
    let project = Project { limit: SHORT, ..Project::new(module, TEST_F) };
    let edits = [("x + 1", "time.sleep(600)"), ("x + 1", "stubborn()"), ("x + 1", "x + 2")];
    let (_, results) = project.tried(&edits).await;
    let trial = |it| results.iter().find(|has| has.edit == Some(it)).expect("a result");
    assert_eq!(outcomes(trial(0)), [(0, FAILED)]);
    assert_eq!(trial(0).tests[0].exception, "TestTookTooLong");
    assert_eq!(trial(1).end, TrialEnd::Late);
    assert_eq!(outcomes(trial(2)), [(0, PASSED)]);
}

#[tokio::test]
async fn fixtures_classes_and_parameters_work_in_every_trial() {
    let tests = "import unittest, pytest\nfrom mod import f\n\n\
        @pytest.fixture(scope='session')\ndef made(tmp_path_factory):\n    \
        return tmp_path_factory.mktemp('x')\n\n\
        @pytest.mark.parametrize('x', [1, 2])\ndef test_p(x, made, capsys, tmp_path):\n    \
        print('out')\n    assert capsys.readouterr().out == 'out\\n'\n    \
        assert f(x) == x + 2 and made.is_dir() and tmp_path.is_dir()\n\n\
        class TestU(unittest.TestCase):\n    def setUp(self):\n        self.x = 1\n    \
        def test_u(self):\n        self.assertEqual(f(self.x), 3)\n\n\
        def test_type():\n    assert type(f(1)) is int\n";
    let project = Project {
        failing: &["test_p[1]", "test_p[2]", "TestU::test_u"],
        passing: &["test_type"],
        ..Project::new("def f(x):\n    return x + 1\n", tests)
    };
    let (_, results) = project.tried(&[("x + 1", "x + 3"), ("x + 1", "x + 2")]).await;
    let [wrong, right] =
        [0, 1].map(|it| results.iter().find(|has| has.edit == Some(it)).expect("it"));
    assert_eq!(outcomes(wrong), [(0, FAILED), (1, FAILED), (2, FAILED)]);
    assert_eq!(outcomes(right), [(0, PASSED), (1, PASSED), (2, PASSED), (3, PASSED)]);
    assert!(wrong.tests[0].message.contains("assert"), "{wrong:?}");
}

/// Tests that depend on the process fail in a fork without any edit; they accuse no edit.
#[tokio::test]
async fn tests_with_the_other_result_without_an_edit_count_for_nothing() {
    let tests = "import os\nfrom mod import f\nPID = os.getpid()\n\
        def test_a():\n    assert f(1) == 3\n\
        def test_same():\n    assert os.getpid() == PID\n\
        def test_other():\n    assert os.getpid() != PID\n";
    let module = "def f(x):\n    return x + 1\n";
    let project = Project { passing: &["test_same"], ..Project::new(module, tests) };
    assert_eq!(outcomes(&project.with("x + 1", "x + 2").await), [(0, PASSED)]);
    let project = Project { failing: &["test_other"], ..Project::new(module, tests) };
    assert_eq!(project.with("x + 1", "x + 2").await.end, TrialEnd::Unsupported);
}

/// No edit sees what another one has left in memory, and none disturbs the report of the run.
#[tokio::test]
async fn trials_share_nothing_and_print_nothing() {
    let module = "SEEN = []\n\ndef f(x):\n    SEEN.append(x)\n    print('noise', flush=True)\n    return len(SEEN) + 1\n";
    let project = Project::new(module, TEST_F);
    let edits = [("+ 1", "+ 0"), ("+ 1", "+ 2"), ("+ 1", "* 3")];
    let (report, results) = project.tried(&edits).await;
    let passed: Vec<_> = results.iter().filter(|it| it.edit.is_some()).map(outcomes).collect();
    assert_eq!(passed, [[(0, FAILED)], [(0, PASSED)], [(0, PASSED)]]);
    assert!(report.tests.is_empty() && !report.stdout.contains("noise"), "{report:#?}");
}

/// A repair that only avoids the line that raised differs from one that makes the line work.
#[tokio::test]
async fn the_line_that_raised_is_watched_in_tests_that_pass() {
    let module = "def f(x):\n    y = None\n    if x:\n        x = y + 1\n    return 3\n";
    let line = || vec![RaisingLine { test: 0, path: "mod.py".to_owned(), line: 4 }];
    let project = Project::new(module, TEST_F);
    let edits = [("y = None", "y = 1"), ("if x", "if not x"), ("y = None", "y = 1\n    z = 1")];
    let (_, results) = project.tried_watching(&edits, line()).await;
    let reached: Vec<_> =
        results.iter().filter(|it| it.edit.is_some()).map(|it| it.still_reached).collect();
    assert_eq!(reached, [Some(true), Some(false), Some(true)]);
    let (_, results) = project.tried(&edits[..1]).await;
    assert_eq!(results.last().expect("one").still_reached, None, "nothing to watch");
}
