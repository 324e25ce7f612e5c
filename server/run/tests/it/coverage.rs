//! Executed and missing lines, by test.

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

#[tokio::test]
async fn none_unless_asked_for() {
    let report = run_with(&[("test_a.py", "def test_a(): pass")], |_| {}).await;
    assert_eq!(report.coverage, None);
}
