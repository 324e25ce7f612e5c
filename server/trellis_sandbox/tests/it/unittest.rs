//! Tests of unittest through the real runner: every way in which a test or a run can end.

use std::time::Duration;

use trellis_sandbox::{
    MissingName, Outcome, Report, Request,
    TestOutcome::{self, *},
    frameworks::Framework,
};

use crate::support::{inside, results, run_with};

async fn unittest(tree: &[(&str, &str)], change: impl FnOnce(&mut Request)) -> Report {
    run_with(tree, |request| {
        request.framework = Framework::Unittest;
        request.test_timeout = Duration::from_secs(3);
        change(request);
    })
    .await
}

fn crashed(exit_code: i32) -> Outcome {
    Outcome::Crashed { signal: None, exit_code: Some(exit_code) }
}

#[tokio::test]
async fn parts_of_a_test_have_results_of_their_own() {
    let text = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        for n in range(3):\n            with self.subTest('part', n=n): self.assertNotEqual(n, 1)\n";
    for framework in [Framework::Unittest, Framework::Pytest] {
        let report = run_with(&[("test_a.py", text)], |it| it.framework = framework).await;
        let parts = report.tests[0].subtests.iter();
        let parts: Vec<(&str, TestOutcome)> =
            parts.map(|it| (it.name.as_str(), it.outcome)).collect();
        let failed = ("[part] (n=1)", Failed);
        assert!(parts.contains(&failed), "{framework}: {parts:?}");
        let failure = report.tests[0].subtests.iter().find_map(|it| it.failure.as_ref());
        let failure = failure.expect("a failure");
        assert_eq!((&*failure.exception, failure.line), ("AssertionError", Some(5)), "{framework}");
    }
}

/// The body of a class `T` in `test_a.py`, the outcome, and the results without the common start of
/// their ids.
type Row = (&'static str, Outcome, &'static [(&'static str, TestOutcome)]);

#[tokio::test]
async fn each_ending_of_a_test() {
    let table: &[Row] = &[
        ("def test_a(self): print('out')", Outcome::Passed, &[("T::test_a", Passed)]),
        ("def test_a(self): self.assertEqual(1, 2)", Outcome::Failed, &[("T::test_a", Failed)]),
        ("def test_a(self): 1 / 0", Outcome::Failed, &[("T::test_a", Failed)]),
        ("def test_a(self): self.skipTest('no')", Outcome::NoTests, &[("T::test_a", Skipped)]),
        (
            "@unittest.expectedFailure\n    def test_a(self): self.fail()\n    def test_b(self): pass",
            Outcome::Passed,
            &[("T::test_a", XFailed), ("T::test_b", Passed)],
        ),
        (
            "@unittest.expectedFailure\n    def test_a(self): pass",
            Outcome::Failed,
            &[("T::test_a", Failed)],
        ),
        (
            "def test_a(self):\n        for n in range(3):\n            with self.subTest(n=n): self.assertEqual(n, 1)",
            Outcome::Failed,
            &[("T::test_a", Failed)],
        ),
        (
            "def test_a(self):\n        with self.subTest(n=1): self.skipTest('part')\n        with self.subTest(n=2): pass",
            Outcome::Passed,
            &[("T::test_a", Passed)],
        ),
        (
            "def setUp(self): 1 / 0\n    def test_a(self): pass",
            Outcome::Failed,
            &[("T::test_a", Failed)],
        ),
        (
            "@classmethod\n    def setUpClass(cls): 1 / 0\n    def test_a(self): pass\n    def test_b(self): pass",
            Outcome::Failed,
            &[("T::test_a", Error), ("T::test_b", Error)],
        ),
        (
            "@classmethod\n    def setUpClass(cls): raise unittest.SkipTest('off')\n    def test_a(self): pass",
            Outcome::NoTests,
            &[("T::test_a", Skipped)],
        ),
        (
            "@classmethod\n    def tearDownClass(cls): 1 / 0\n    def test_a(self): pass",
            Outcome::Failed,
            &[("T::test_a", Passed), ("T::tearDownClass", Error)],
        ),
        (
            "def test_a(self): pass\ndef setUpModule(): 1 / 0",
            Outcome::Failed,
            &[("T::test_a", Error)],
        ),
        (
            "def test_a(self): pass\ndef tearDownModule(): 1 / 0",
            Outcome::Failed,
            &[("T::test_a", Passed), ("tearDownModule", Error)],
        ),
        (
            "def test_a(self): os._exit(0)\n    def test_b(self): pass",
            crashed(0),
            &[("T::test_a", Crashed)],
        ),
        (
            "def test_a(self): pass\n    def test_b(self):\n        while True: pass",
            Outcome::TimedOut,
            &[("T::test_a", Passed), ("T::test_b", TimedOut)],
        ),
        (
            "@classmethod\n    def setUpClass(cls):\n        while True: pass\n    def test_a(self): pass",
            Outcome::TimedOut,
            &[("T::test_a", TimedOut)],
        ),
        ("pass", Outcome::NoTests, &[]),
    ];
    for (body, outcome, expected) in table {
        let text = format!("import os, unittest\nclass T(unittest.TestCase):\n    {body}\n");
        let report = unittest(&[("test_a.py", &text)], |_| {}).await;
        assert_eq!(report.outcome, *outcome, "{body}: {report:#?}");
        let found: Vec<_> = results(&report)
            .into_iter()
            .map(|(id, outcome)| (id.strip_prefix("test_a.py::").unwrap_or(id), outcome))
            .collect();
        assert_eq!(found, *expected, "{body}: {report:#?}");
        assert!(!report.parsing_failed);
    }
}

const GOOD: &str = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): self.assertIn(1, [])\n";

#[tokio::test]
async fn what_cannot_be_loaded() {
    let missing = Some(MissingName::Module { module: "nowhere".into() });
    let table: &[(&str, &[&str], Option<MissingName>, &str)] = &[
        ("\nimport nowhere\n", &[], missing.clone(), "ModuleNotFoundError"),
        ("\nimport nowhere\n", &["test_b.py"], missing, "ModuleNotFoundError"),
        ("\ndef f(:\n", &[], None, "SyntaxError"),
        ("\ndef f(:\n", &["test_b.py"], None, "SyntaxError"),
        ("\nx = 1 / 0\n", &["test_b.py::T::test_a"], None, "ZeroDivisionError"),
    ];
    for (text, targets, missing, exception) in table {
        let targets = targets.iter().map(|it| it.to_string()).collect();
        let tree = [("test_a.py", GOOD), ("test_b.py", text)];
        let report = unittest(&tree, |request| request.targets = targets).await;
        assert_eq!(report.outcome, Outcome::CollectionError, "{report:#?}");
        let [failure] = report.collection_errors.as_slice() else { panic!("{report:#?}") };
        assert_eq!(failure.exception, *exception, "{report:#?}");
        assert_eq!(failure.missing, *missing, "{report:#?}");
        let place = (failure.path.as_deref(), failure.line);
        assert_eq!(place, (Some("test_b.py"), Some(2)), "{report:#?}");
    }
    let report =
        unittest(&[("test_a.py", GOOD)], |it| it.targets = vec!["nowhere.py".to_owned()]).await;
    assert_eq!(report.outcome, Outcome::CollectionError, "{report:#?}");
}

#[tokio::test]
async fn targets_select_tests() {
    let tree = [
        ("tests/__init__.py", ""),
        ("tests/test_a.py", GOOD),
        ("tests/test_b.py", GOOD),
        ("plain/helper.py", "x = 1\n"),
        (
            "plain/test_c.py",
            "from helper import x\nimport unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n",
        ),
    ];
    let [a, b] = ["test_a", "test_b"]
        .map(|file| ["test_a", "test_b"].map(|test| format!("tests/{file}.py::T::{test}")));
    let table: Vec<(Vec<String>, Vec<String>)> = vec![
        (vec![], [a.clone(), b.clone()].concat()),
        (vec!["tests".to_owned()], [a.clone(), b.clone()].concat()),
        (vec!["plain".to_owned()], vec!["plain/test_c.py::T::test_a".to_owned()]),
        (vec!["tests/test_b.py".to_owned()], b.to_vec()),
        (vec![a[1].clone(), b[0].clone()], vec![a[1].clone(), b[0].clone()]),
        (vec!["tests/test_a.py::T".to_owned()], a.to_vec()),
    ];
    for (targets, expected) in table {
        let report = unittest(&tree, |request| request.targets = targets.clone()).await;
        let found: Vec<_> = report.tests.iter().map(|test| test.id.clone()).collect();
        assert_eq!(found, expected, "{targets:?}: {report:#?}");
    }
}

#[tokio::test]
async fn a_failure_tells_where_and_what() {
    let test = "import unittest\nfrom cart import total\nclass T(unittest.TestCase):\n    def test_a(self):\n        print('printed')\n        total([])\n";
    let tree = [("cart.py", "def total(items):\n    return 1 / len(items)\n"), ("test_a.py", test)];
    let report = unittest(&tree, |request| request.coverage = true).await;
    let failed = crate::support::only(&report);
    assert_eq!((failed.stdout.as_str(), failed.line), ("printed\n", Some(4)));
    let failure = failed.failure.as_ref().expect("why");
    assert_eq!(failure.exception, "ZeroDivisionError");
    assert_eq!(inside(&failure.frames), ["test_a.py:6 test_a", "cart.py:2 total"]);
    let coverage = report.coverage.as_ref().expect("asked for");
    assert_eq!(coverage.files["cart.py"].functions[0].tests, ["test_a.py::T::test_a"]);
}

/// Such a run starts from a fresh interpreter.
#[tokio::test]
async fn a_module_with_a_name_that_the_worker_uses() {
    let text = "import unittest, pluggy\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(pluggy.x, 1)\n    @classmethod\n    def tearDownClass(cls): 1 / 0\n";
    let report = unittest(&[("pluggy.py", "x = 1\n"), ("test_a.py", text)], |_| {}).await;
    let expected = [("test_a.py::T::test_a", Passed), ("test_a.py::T::tearDownClass", Error)];
    assert_eq!(results(&report), expected, "{report:#?}");
}

/// unittest needs no pytest.
#[tokio::test]
async fn a_python_without_pytest() {
    let folder = tempfile::tempdir().expect("a folder");
    let python = crate::support::without_pytest(folder.path()).await;
    let scratch = crate::support::scratch();
    let config = trellis_sandbox::Config { scratch, ..trellis_sandbox::Config::from_environment() };
    let runner = trellis_sandbox::Runner::new(python, config);
    let mut request = Request::new(crate::support::files(&[("test_a.py", GOOD)]));
    request.framework = Framework::Unittest;
    let report = runner.run(&request, &tokio_util::sync::CancellationToken::new()).await;
    assert_eq!(report.outcome, Outcome::Failed, "{report:#?}");
    assert_eq!(
        results(&report),
        [("test_a.py::T::test_a", Passed), ("test_a.py::T::test_b", Failed)]
    );
}

#[tokio::test]
async fn changing_unittest_is_seen() {
    let text = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        unittest.TestCase.assertEqual = lambda *_: None\n        self.assertEqual(1, 2)\n";
    let report = unittest(&[("test_a.py", text)], |_| {}).await;
    let Outcome::Tampered { what } = &report.outcome else { panic!("{report:#?}") };
    assert_eq!(what, "unittest.case.TestCase.assertEqual");
}
