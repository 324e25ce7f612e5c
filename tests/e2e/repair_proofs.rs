//! What a repair takes for proof: runs of all tests, and no run that passes by itself.

use serde_json::json;

use crate::repair::{block, repair, text};
use crate::world::World;

const LIB: &str = "\
def one():
    return 2


def three():  # pragma: no cover
    return 3


if __name__ == '__main__':
    print(three())
";

/// Makes `one` right and `three` wrong.
const FIX: &str = "\
lib.py
<<<<<<< SEARCH
    return 2
=======
    return 1
>>>>>>> REPLACE
<<<<<<< SEARCH
    return 3
=======
    return 4
>>>>>>> REPLACE
";

/// Tests that pass before the fix and fail with it.
const OTHERS: [(&str, &str); 5] = [
    (
        "another process",
        "import subprocess, sys\n\ndef test_z():\n    assert subprocess.check_output([sys.executable, 'lib.py']) == b'3\\n'\n",
    ),
    ("an import", "import lib\n\nX = lib.three()\n\ndef test_z():\n    assert X == 3\n"),
    (
        "a fixture of an earlier test",
        "import lib, pytest\n\n@pytest.fixture(scope='session')\ndef v():\n    return lib.three()\n\ndef test_y(v):\n    assert v\n\ndef test_z(v):\n    assert v == 3\n",
    ),
    ("the text", "def test_z():\n    assert 'return 3' in open('lib.py').read()\n"),
    ("lines that are left out", "import lib\n\ndef test_z():\n    assert lib.three() == 3\n"),
];

/// Creates a project with a failing test and another one.
fn project(other: &str) -> World {
    let world = World::new();
    world.write("p/lib.py", LIB);
    world.write("p/test_a.py", "from lib import one\n\ndef test_one():\n    assert one() == 1\n");
    world.write("p/test_b.py", other);
    let reply = json!({ "node": "*", "stage": "repair", "attempt": 0, "reply": FIX });
    world.write("replies.jsonl", &format!("{reply}\n"));
    world
}

#[test]
fn a_fix_is_not_kept_that_breaks_a_test_by_a_way_without_measured_lines() {
    for (way, other) in OTHERS {
        let world = project(other);
        let ran = repair(&world, &["--approve", "autonomous", "--max-iterations", "1"]);
        let report = ran.exits(1).json();
        assert_eq!(world.read("p/lib.py"), LIB, "{way}: {report:#}");
        let what = text(&report["groups"][0]["attempts"][0]["what"]);
        let why = "test_b.py::test_z passed before and fails with it";
        assert!(what.starts_with(why), "{way}: {what}");
    }
}

#[test]
fn a_small_edit_is_no_fix_if_it_breaks_another_process() {
    let world = World::new();
    let lib = "def adult(age):\n    return age > 18\n\n\nif __name__ == '__main__':\n    print(adult(18))\n";
    world.write("p/lib.py", lib);
    world.write(
        "p/test_a.py",
        "import subprocess, sys\nfrom lib import adult\n\ndef test_adult():\n    assert adult(18)\n\ndef test_child():\n    assert not adult(3)\n\ndef test_main():\n    assert subprocess.check_output([sys.executable, 'lib.py']) == b'False\\n'\n",
    );
    world.write("replies.jsonl", "");
    let arguments =
        "repair p --json --sandbox local --model recorded:replies.jsonl --approve autonomous";
    let report = world.trellis(&arguments.split(' ').collect::<Vec<_>>()).exits(1).json();
    assert_eq!(world.read("p/lib.py"), lib, "{report:#}");
}

/// Code that keeps state between tests, so that the second one fails in each run of all tests.
const STATE: &str = "SEEN = []\n\n\ndef add(x):\n    SEEN.append(x)\n    return list(SEEN)\n";
const STATE_TESTS: &str = "import state\n\ndef test_a():\n    assert state.add(1) == [1]\n\ndef test_b():\n    assert state.add(2) == [2]\n";

#[test]
fn a_test_that_fails_after_others_alone_is_set_aside_and_not_called_flaky() {
    let world = World::new();
    world.write("p/state.py", STATE);
    world.write("p/test_state.py", STATE_TESTS);
    world.write("replies.jsonl", "");
    let report = repair(&world, &[]).exits(2).json();
    assert_eq!((&report["flaky"], &report["after"]["failing"]), (&json!([]), &json!(1)));
    assert_eq!(report["setAside"][0]["test"], "test_state.py::test_b", "{report:#}");
    let why = text(&report["setAside"][0]["why"]);
    assert!(why.starts_with("it fails after other tests and passes alone"), "{why}");
    let named = repair(&world, &["--test", "test_state.py::test_b"]).exits(2);
    assert!(named.stderr.contains("test_b is not repaired: it fails after"), "{}", named.stderr);
}

const AUTONOMOUS: [&str; 2] = ["--approve", "autonomous"];

/// A module with a wrong function and doctests that run as tests.
const DOCUMENTED: &str = "\
def one():
    return 2


def three():
    \"\"\"Three.

    >>> three()
    3
    \"\"\"
    return 3
";

/// Creates a project whose doctests run, with replies in this order.
fn documented(lib: &str, replies: &[String]) -> World {
    let world = World::new();
    world.write("p/pytest.ini", "[pytest]\naddopts = --doctest-modules\n");
    world.write("p/lib.py", lib);
    world.write("p/test_a.py", "from lib import one\n\ndef test_one():\n    assert one() == 1\n");
    let line = |(attempt, reply): (usize, &String)| {
        format!(
            "{}\n",
            json!({ "node": "*", "stage": "repair", "attempt": attempt, "reply": reply })
        )
    };
    let lines: String = replies.iter().enumerate().map(line).collect();
    world.write("replies.jsonl", &lines);
    world
}

fn edit_of_lib(search: &str, replace: &str) -> String {
    block(search, replace).replacen("calculator.py", "lib.py", 1)
}

#[test]
fn the_code_of_a_module_with_doctests_is_repaired() {
    let world = documented(DOCUMENTED, &[edit_of_lib("    return 2", "    return 1")]);
    let _ = repair(&world, &AUTONOMOUS).exits(0);
    assert_eq!(world.read("p/lib.py"), DOCUMENTED.replace("return 2", "return 1"));
}

#[test]
fn a_doctest_that_fails_is_repaired_by_its_code() {
    let wrong = DOCUMENTED.replace("return 2", "return 1").replace("return 3", "return 4");
    let world = documented(&wrong, &[edit_of_lib("    return 4", "    return 3")]);
    let _ = repair(&world, &AUTONOMOUS).exits(0);
    assert_eq!(world.read("p/lib.py"), DOCUMENTED.replace("return 2", "return 1"));
}

/// Whatever becomes of an example, it is no fix.
#[test]
fn a_fix_that_changes_a_doctest_is_refused() {
    let wrong = DOCUMENTED.replace("return 2", "return 1").replace("return 3", "return 4");
    let without = "def three():\n    return 3\n".to_owned();
    for reply in [
        edit_of_lib("    3\n", "    4\n"),
        edit_of_lib("    >>> three()\n    3\n", "    >>> three() - 1\n    3\n"),
        edit_of_lib("    >>> three()\n    3\n", ""),
        edit_of_lib("    >>> three()", "    >>> three()  # doctest: +SKIP"),
        format!("```python\n{without}```"),
    ] {
        let world = documented(&wrong, std::slice::from_ref(&reply));
        let ran = repair(&world, &[&AUTONOMOUS[..], &["--max-iterations", "1"]].concat()).exits(1);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("it changes the doctest of three in lib.py"), "{reply}: {said}");
        assert_eq!(world.read("p/lib.py"), wrong);
    }
}
