//! Tests of executed and missing lines, by test.

use crate::support::run_with;

#[tokio::test]
async fn lines_by_file_and_test() {
    let sign = "def sign(n):\n    if n < 0:\n        return -1\n    if n == 0:\n        return 0\n    return 1\n";
    let test = "from sign import sign\ndef test_plus():\n    assert sign(2) == 1\ndef test_minus():\n    assert sign(-2) == -1\n";
    let tree = [("sign.py", sign), ("unused.py", "x = 1\n"), ("test_a.py", test)];
    let report = run_with(&tree, |request| request.coverage = true).await;
    let coverage = report.coverage.as_ref().unwrap_or_else(|| panic!("{report:#?}"));
    let file = &coverage.files["sign.py"];
    assert_eq!(
        (file.executed.as_slice(), file.missing.as_slice()),
        (&[1, 2, 3, 4, 6][..], &[5][..])
    );
    assert_eq!(file.tests["test_a.py::test_plus"], [2, 4, 6]);
    assert_eq!(file.tests["test_a.py::test_minus"], [2, 3]);
    assert_eq!(coverage.files["unused.py"].missing, [1]);
    assert_eq!(coverage.files.len(), 3);
}

/// Files that Trellis keeps below a project are not its code, whatever a test imports.
#[tokio::test]
async fn trees_of_trellis_are_left_out() {
    let test = "import sys\nsys.path.insert(0, '.trellis/worktrees/issue-1')\nimport old\ndef test_a():\n    assert old.f() == 1\n";
    let code = "def f():\n    return 1\n";
    let tree = [(".trellis/worktrees/issue-1/old.py", code), ("test_a.py", test)];
    let report = run_with(&tree, |request| request.coverage = true).await;
    let coverage = report.coverage.as_ref().unwrap_or_else(|| panic!("{report:#?}"));
    assert_eq!(coverage.files.keys().collect::<Vec<_>>(), ["test_a.py"], "{report:#?}");
}

#[tokio::test]
async fn none_unless_asked_for() {
    let report = run_with(&[("test_a.py", "def test_a(): pass")], |_| {}).await;
    assert_eq!(report.coverage, None);
}

/// A test counts for the functions whose bodies it executes, not for those it merely defines.
#[tokio::test]
async fn tests_by_function() {
    let code = "\
import functools

@functools.cache
def doubled(n):
    'Twice as much.'
    return 2 * n

class Cart:
    def total(self): return 3

    def rest(self):
        def unused():
            return 0
        return doubled(1)

def never():
    pass
";
    let test = "from code_ import Cart, doubled\ndef test_a(): doubled(2)\ndef test_b(): Cart().rest()\ndef test_c(): Cart().total()\n";
    let tree = [("code_.py", code), ("test_a.py", test)];
    let report = run_with(&tree, |request| request.coverage = true).await;
    let coverage = report.coverage.as_ref().unwrap_or_else(|| panic!("{report:#?}"));
    let shown: Vec<_> = (coverage.files["code_.py"].functions.iter())
        .map(|it| (it.name.as_str(), it.first, it.last, it.tests.join(" ")))
        .collect();
    let [a, b, c] = ["a", "b", "c"].map(|it| format!("test_a.py::test_{it}"));
    assert_eq!(
        shown,
        [
            ("doubled", 3, 6, format!("{a} {b}")),
            ("Cart.total", 9, 9, c),
            ("Cart.rest", 11, 14, b),
            ("Cart.rest.unused", 12, 13, String::new()),
            ("never", 16, 17, String::new()),
        ]
    );
}
