//! Reads JUnit XML of real reports with Python's own parser.

use std::sync::Arc;

use trellis_sandbox::{Outcome, Request, Tree, junit};

use crate::support::{run, run_request};

const TREE: &[(&str, &str)] = &[
    (
        "tests/test_a.py",
        "import pytest\nclass TestA:\n    @pytest.mark.parametrize('x', ['<&\">', 'a::b'])\n    def test_x(self, x):\n        print('\\x1b[1m \\x00 ]]> <')\n        assert x == 'a::b'\n@pytest.mark.skip(reason='\"so\"')\ndef test_s(): pass\n",
    ),
    ("tests/test_b.py", "import nowhere\n"),
    ("pytest.ini", "[pytest]\naddopts = --continue-on-collection-errors\n"),
];

/// A test that parses the file with Python and checks the figures; our own runner runs it.
const READER: &str = r#"
import xml.etree.ElementTree as tree
def test_read():
    suite = tree.parse("report.xml").getroot()[0]
    assert suite.attrib["name"] == 'my "suite"'
    assert [suite.attrib[key] for key in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
    cases = {(case.attrib["classname"], case.attrib["name"]): case for case in suite}
    failed = cases["tests.test_a.TestA", 'test_x[<&">]']
    assert failed.find("failure").attrib["type"] == "AssertionError"
    assert failed.attrib["line"] == "4" and "]]> <" in failed.find("system-out").text
    assert cases["tests.test_a.TestA", "test_x[a::b]"].find("failure") is None
    assert cases["tests.test_a", "test_s"].find("skipped").attrib["message"] == '"so"'
    assert cases["", "tests/test_b.py"].find("error").attrib["type"] == "ModuleNotFoundError"
"#;

#[tokio::test]
async fn well_formed_and_complete() {
    let report = run(TREE).await;
    assert_eq!(report.outcome, Outcome::CollectionError);
    let xml = junit(&report, "my \"suite\"");
    let tree = [("report.xml", xml.as_str()), ("test_read.py", READER)];
    let tree = tree.map(|(path, text)| (path.to_owned(), Arc::from(text)));
    let read = run_request(&Request::new(Tree::Files(tree.into()))).await;
    assert_eq!(read.outcome, Outcome::Passed, "{xml}\n{read:#?}");
}

#[tokio::test]
async fn a_broken_run_is_not_green() {
    let report = run(&[("test_a.py", "import os\ndef test_a(): os._exit(0)")]).await;
    let xml = junit(&report, "s");
    assert!(xml.contains("tests=\"2\" failures=\"0\" errors=\"2\""), "{xml}");
}
