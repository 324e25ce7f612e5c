//! Unusual but honest projects: whatever they do to exceptions, reports and clocks, their records
//! are never taken for tampering.

use trellis_sandbox::{Outcome, Report};

use crate::support::{run, run_with};

/// Runs a project twice, with coverage the second time. No tampering is reported, and the outcome
/// is that of plain pytest.
async fn honest(what: &str, files: &[(&str, &str)], wanted: Outcome) -> Report {
    let mut last = None;
    for coverage in [false, true] {
        let report = run_with(files, |it| it.coverage = coverage).await;
        assert_eq!(report.outcome, wanted, "{what}, coverage {coverage}: {report:#?}");
        last = Some(report);
    }
    last.expect("two runs")
}

/// Attributes of exceptions may have any value.
#[tokio::test]
async fn exceptions_with_odd_attributes() {
    let cases = [
        "raise ModuleNotFoundError('x', name=3)",
        "raise ModuleNotFoundError('x', name=['a'], path={})",
        "raise ImportError(\"cannot import name 'a' from 'b'\", name=7)",
        "raise NameError('x', name=b'a')",
        "raise AttributeError(\"'a' object has no attribute 'b'\", name=5, obj=1)",
        "raise AttributeError(\"'a' object has no attribute 'b'\", name='b' * 9_000_000, obj=1)",
        "raise SyntaxError('x', ('f.py', '12', 0, ''))",
        "raise SyntaxError('x', ('f.py', -1, 0, ''))",
        "raise SyntaxError('x', ('f.py', 2 ** 40, 0, ''))",
        "raise SyntaxError('x', (b'f.py', 3, 0, ''))",
        "raise SyntaxError('x', ('f.py', True, 0, ''))",
        "raise type('E' * 6_000_000, (Exception,), {})('x')",
        "raise Exception('\\x00' * 5_000_000)",
        "raise Exception('\\ud800')",
        "raise Mine()",
        "exec(compile('def ' + 'f' * 5_000_000 + '(): raise OSError\\n' + 'f' * 5_000_000 + '()', 'g' * 100_000, 'exec'))",
    ];
    let head = "\
class Mine(NameError):
    @property
    def name(self): raise ValueError('no name')
    def __str__(self): raise ValueError('no text')

";
    let test = |(number, line): (usize, &&str)| format!("\ndef test_{number}():\n    {line}\n");
    let text = head.to_owned() + &cases.iter().enumerate().map(test).collect::<String>();
    let report = honest("exceptions", &[("test_a.py", &text)], Outcome::Failed).await;
    assert_eq!(report.tests.len(), cases.len());
    assert!(report.tests.iter().all(|it| it.failure.is_some()));
    let report = run(&[("test_a.py", "raise ModuleNotFoundError('x', name=3)")]).await;
    assert_eq!(report.outcome, Outcome::CollectionError, "{report:#?}");
}

/// A reason may be any value, such as the number of an issue.
#[tokio::test]
async fn reasons_that_are_no_texts() {
    let text = "
import pytest

@pytest.mark.xfail(reason=1234)
def test_passes(): pass

@pytest.mark.xfail(reason=1234)
def test_fails(): assert 0

@pytest.mark.xfail(reason='x' * 9_000_000)
def test_long(): pass
";
    honest("reasons", &[("test_a.py", text)], Outcome::Passed).await;
}

/// Plugins may set any value in reports and items.
#[tokio::test]
async fn plugins_with_odd_numbers() {
    for odd in ["float('nan')", "float('inf')", "-1.0", "'long'", "None", "10 ** 400"] {
        let conftest = format!(
            "import pytest\n\n@pytest.hookimpl(trylast=True)\ndef pytest_runtest_makereport(item, call):\n    call.duration = {odd}\n"
        );
        let files = [("conftest.py", conftest.as_str()), ("test_a.py", "def test_a(): pass\n")];
        honest(odd, &files, Outcome::Passed).await;
    }
    for line in ["None", "-7", "2 ** 33", "True"] {
        let conftest = format!(
            "import pytest\n\n
class Item(pytest.Item):
    def runtest(self): pass
    def reportinfo(self): return self.path, {line}, 'case'

class File(pytest.File):
    def collect(self): yield Item.from_parent(self, name='case')

def pytest_collect_file(parent, file_path):
    if file_path.suffix == '.case': return File.from_parent(parent, path=file_path)
"
        );
        let files = [("conftest.py", conftest.as_str()), ("a.case", "")];
        honest(line, &files, Outcome::Passed).await;
    }
}

/// Some projects make ids of whole texts.
#[tokio::test]
async fn ids_without_measure() {
    let text = "
import pytest

@pytest.mark.parametrize('n', range(600), ids=[str(i) + 'x' * 20_000 for i in range(600)])
def test_a(n): pass
";
    let report = run(&[("test_a.py", text)]).await;
    assert_eq!(report.outcome, Outcome::Passed, "{:?}", report.reason);
    assert_eq!(report.tests.len(), 600);
}

/// Every test executes every line: the record of one file has no limit either.
#[tokio::test]
async fn lines_of_many_tests() {
    let lines: String = (0..3000).map(|it| format!("    a = {it}\n")).collect();
    let text = "
import pytest
from code_of import f

@pytest.mark.parametrize('n', range(400))
def test_a(n): f()
";
    let code = format!("def f():\n{lines}");
    let files = [("code_of.py", code.as_str()), ("test_a.py", text)];
    let report = run_with(&files, |it| it.coverage = true).await;
    assert_eq!(report.outcome, Outcome::Passed, "{:?}", report.reason);
    let coverage = report.coverage.expect("measured");
    let file = &coverage.files["code_of.py"];
    assert_eq!((file.tests.len(), file.functions[0].tests.len()), (400, 400));
}

/// A project's own signals interrupt the reporter as well as its tests. pytest decides what to do
/// with an exception in the middle of its code, but no tampering has happened.
#[tokio::test]
async fn signals_at_any_time() {
    let conftest = "
import random, signal

CALLS = []

class Late(Exception): pass

def handler(*_):
    CALLS.append(1)
    if RAISES: raise Late('late')

RAISES = False
signal.signal(signal.SIGALRM, handler)

def pytest_runtest_logreport(report):
    signal.setitimer(signal.ITIMER_REAL, random.random() / 2000)
";
    let tests: String = (0..300).map(|it| format!("def test_{it}(): pass\n")).collect();
    let files = [("conftest.py", conftest), ("test_a.py", tests.as_str())];
    let report = run(&files).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    let raising = conftest.replace("RAISES = False", "RAISES = True");
    for _ in 0..5 {
        let report = run(&[("conftest.py", raising.as_str()), ("test_a.py", tests.as_str())]).await;
        assert!(!matches!(report.outcome, Outcome::Tampered { .. }), "{report:#?}");
    }
}

/// A project may change the clock while its tests run.
#[tokio::test]
async fn clocks_that_are_turned() {
    let text = "
import time
from unittest import TestCase, mock

class TestClock(TestCase):
    def setUp(self):
        it = mock.patch('time.perf_counter', lambda: float('nan'))
        it.start()
        self.addCleanup(it.stop)

    def test_a(self): assert time.perf_counter() != time.perf_counter()

def test_for_ever():
    time.perf_counter = time.time = time.monotonic = lambda: float('inf')

def test_after(): pass
";
    honest("clocks", &[("test_a.py", text)], Outcome::Passed).await;
    let only_unittest = text.split("def test_for_ever").next().expect("the first half");
    let report = run_with(&[("test_a.py", only_unittest)], |it| {
        it.framework = trellis_sandbox::frameworks::Framework::Unittest;
    })
    .await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
}
