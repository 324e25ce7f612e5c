//! Projects whose environment has pytest and nothing to measure lines with: it comes along, or work goes on without.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::runs::{editor, ended, result, start};
use crate::world::{Ran, World};

const DISCOUNT: &str = "\
RATE = 0.1


def discounted(price, rate=RATE):
    \"\"\"The price with the discount taken off.\"\"\"
    return price + price * rate
";

const TESTS: &str = "\
from ledger.discount import discounted


def test_discounted():
    assert discounted(100) == 90
";

/// A ledger below `p` whose `.venv` has pytest alone.
fn ledger() -> World {
    let world = World::new();
    world.write("p/pytest.ini", "[pytest]\n");
    world.write("p/ledger/__init__.py", "");
    world.write("p/ledger/discount.py", DISCOUNT);
    world.write("p/tests/test_discount.py", TESTS);
    let own = world.root().join("p/.venv");
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&own).status();
    assert!(made.is_ok_and(|it| it.success()));
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--disable-pip-version-check", "--python"]).arg(own.join("bin/python"));
    let installed = pip.args(["install", "--quiet", "pytest"]).status();
    assert!(installed.is_ok_and(|it| it.success()));
    world
}

/// Packages of the project's own environment.
fn packages(world: &World) -> PathBuf {
    let folder = fs::read_dir(world.root().join("p/.venv/lib")).expect("lib").flatten().next();
    folder.expect("one").path().join("site-packages")
}

/// A run with a cache of its own and more variables.
fn with(world: &World, arguments: &[&str], more: &[(&str, &str)]) -> Ran {
    let mut command = world.command(arguments);
    command.env("TRELLIS_CACHE", world.root().join("cache")).envs(more.iter().copied());
    Ran::of(command.output().expect("trellis starts"))
}

const TEST: [&str; 6] = ["test", "p", "--json", "--coverage", "--sandbox", "local"];
const SAYS: &str = "installing coverage>=7 beside the environment";

#[test]
fn coverage_is_brought_along_once_and_the_environment_stays_as_it_is() {
    let world = ledger();
    let ran = with(&world, &TEST, &[]).exits(1).says(SAYS);
    let lines = &ran.json()["coverage"]["ledger/discount.py"]["executed"];
    assert_eq!(*lines, json!([1, 4, 6]), "{:#}", ran.json());
    assert!(!packages(&world).join("coverage").exists());
    let again = with(&world, &TEST, &[("PIP_NO_INDEX", "1")]).exits(1);
    assert!(!again.stderr.contains("installing"), "{}", again.stderr);
    assert_eq!(again.json()["coverage"]["ledger/discount.py"]["executed"], json!([1, 4, 6]));
}

#[test]
fn without_it_tests_run_all_the_same_and_it_is_said_what_to_do() {
    let world = ledger();
    let ran = with(&world, &TEST, &[("PIP_NO_INDEX", "1"), ("UV_NO_INDEX", "1")]).exits(1);
    let report = ran.json();
    assert_eq!((&report["outcome"], &report["coverage"]), (&json!("failed"), &Value::Null));
    let notes = report["notes"].as_array().expect("notes");
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    let note = note.as_str().expect("words");
    let advice = "p/.venv/bin/python -m pip install coverage`";
    assert!(note.starts_with("lines are not measured: ") && note.ends_with(advice), "{note}");
}

/// One sandbox serves one run after another.
#[test]
fn a_sandbox_that_is_kept_measures_where_it_is_asked_to() {
    let world = ledger();
    world.write(
        "p/tests/test_unseen.py",
        "import importlib.util, sys\n\ndef test_unseen():\n    assert importlib.util.find_spec('coverage') is None and 'coverage' not in sys.modules\n",
    );
    let mut client = editor(&world, Value::Null);
    for coverage in [false, true, false, true] {
        let params =
            json!({ "root": "p", "coverage": coverage, "sandbox": "local", "background": true });
        let job = start(&mut client, "runTests", params);
        ended(&mut client, &job);
        let report = result(&mut client, &job);
        assert_eq!(report["coverage"].is_object(), coverage, "{report:#}");
        let outcome = |name: &str| {
            let tests = report["tests"].as_array().expect("tests");
            let test =
                tests.iter().find(|it| it["id"].as_str().is_some_and(|it| it.ends_with(name)));
            test.expect("it ran")["outcome"].clone()
        };
        assert_eq!((outcome("unseen"), outcome("discounted")), (json!("passed"), json!("failed")));
    }
}
