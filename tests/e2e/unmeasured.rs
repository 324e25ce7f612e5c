//! Projects whose environment has pytest but no coverage tool: the tool is provided, or work
//! continues without.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use ::lsp::{Client, Encoding, patience};
use serde_json::{Value, json};

use crate::mock::KEY;
use crate::models::{Service, prompt, said};
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

/// Creates a ledger below `p` whose `.venv` has only pytest.
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

/// Returns the package folder of the project's own environment.
fn packages(world: &World) -> PathBuf {
    let folder = fs::read_dir(world.root().join("p/.venv/lib")).expect("lib").flatten().next();
    folder.expect("one").path().join("site-packages")
}

/// Runs the binary with a cache of its own and more variables.
fn with(world: &World, arguments: &[&str], more: &[(&str, &str)]) -> Ran {
    let mut command = world.command(arguments);
    command.env("TRELLIS_CACHE", world.root().join("cache")).envs(more.iter().copied());
    Ran::of(command.output().expect("trellis starts"))
}

const TEST: [&str; 6] = ["test", "p", "--json", "--coverage", "--sandbox", "local"];
const SAYS: &str = "installing coverage>=7 next to the environment";

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
    assert!(note.len() < 800 && note.contains("No matching distribution"), "{note}");
}

/// One sandbox serves several runs.
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

/// Code two files away from a test, behind a fixture, a method and an import in a function.
const BOOK: [(&str, &str); 4] = [
    (
        "p/ledger/book.py",
        "from ledger.entries import kept\n\n\nclass Book:\n    def __init__(self):\n        self.entries = []\n\n    def balance_of_all(self):\n        return sum(kept(self.entries))\n",
    ),
    (
        "p/ledger/entries.py",
        "def kept(entries):\n    from ledger.signs import signed\n\n    return [signed(it) for it in entries]\n",
    ),
    ("p/ledger/signs.py", "def signed(entry):\n    return abs(entry)\n"),
    ("p/ledger/unrelated.py", "def nothing_to_do_with_it():\n    return 0\n"),
];
const BOOK_TESTS: &str = "\
import pytest

from ledger.book import Book


@pytest.fixture
def book():
    made = Book()
    made.entries = [3, -1]
    return made


def test_balance(book):
    assert book.balance_of_all() == 2
";

/// Returns the requests to a service, which replies with one text, during `work`.
fn asked(answer: &str, work: impl FnOnce(&[(&str, &str)])) -> Vec<String> {
    let answer = answer.to_owned();
    let service = Service::start(Box::new(move |_| said(&answer)));
    let more = [("OPENAI_BASE_URL", service.url.as_str()), ("OPENAI_API_KEY", KEY)];
    let offline = [("PIP_NO_INDEX", "1"), ("UV_NO_INDEX", "1")];
    work(&[more, offline].concat());
    service.asked().iter().map(|it| prompt(it).to_owned()).collect()
}

const REPAIR: [&str; 6] =
    ["repair", "p", "--sandbox=local", "--trials=0", "--model=openai:tiny", "--test"];

/// Returns the requests of a repair, for a diagnosis and for a fix, and its output before the first
/// of them.
fn of_repair(world: &World, test: &str) -> (Vec<String>, String) {
    let mut said = String::new();
    let questions = asked("I do not know.", |more| {
        let ran =
            with(world, &[&REPAIR[..], &[test, "--max-iterations=1"]].concat(), more).exits(1);
        let (before, _) = ran.stderr.split_once("looking for the cause").expect("it began");
        said = before.to_owned();
    });
    (questions, said)
}

/// Returns the requests of a proposal, and the events before the first of them.
fn of_proposal(world: &World, test: &str) -> (Vec<String>, String) {
    let mut said = String::new();
    let questions = asked("I do not know.", |more| {
        let mut command = world.command(&["lsp"]);
        command.env("TRELLIS_CACHE", world.root().join("cache")).envs(more.iter().copied());
        let mut client = Client::start(command, world.root()).expect("a server");
        client.initialize(&[Encoding::Utf8], &Value::Null, patience()).expect("a handshake");
        let params = json!({ "root": "p", "test": test, "model": "openai:tiny", "sandbox": "local", "trials": 0, "background": true });
        let job = start(&mut client, "proposeFix", params);
        let notes = ended(&mut client, &job).into_iter().filter(|it| it["type"] == "log");
        let notes: Vec<String> = notes.map(|it| it.to_string()).collect();
        let at =
            notes.iter().position(|it| it.contains("looking for the cause")).expect("it began");
        said = notes[..at].join("\n");
    });
    (questions, said)
}

#[track_caller]
fn shows(questions: &[String], sources: &[&str], hidden: &str) {
    assert!(!questions.is_empty(), "no review");
    for question in questions {
        for source in sources {
            assert!(question.contains(source), "`{source}` is missing in {question}");
        }
        for hidden in [hidden, "_pytest", "pluggy", "site-packages", ".venv"] {
            assert!(!question.contains(hidden), "`{hidden}` is in {question}");
        }
    }
}

#[test]
fn no_model_is_asked_without_the_code_that_a_test_leads_to() {
    let world = ledger();
    BOOK.iter().for_each(|(path, text)| drop(world.write(path, text)));
    world.write("p/tests/test_book.py", BOOK_TESTS);
    // A generated project below, with methods of the same names.
    world.write("p/demo/.trellis/journal.jsonl", "");
    world.write(
        "p/demo/store.py",
        "class Store:\n    def balance_of_all(self):\n        return nothing_to_do_with_it()\n",
    );
    let cases: [(&str, &[&str]); 2] = [
        ("tests/test_discount.py::test_discounted", &["return price + price * rate"]),
        (
            "tests/test_book.py::test_balance",
            &["return sum(kept(self.entries))", "return [signed(it)", "return abs(entry)"],
        ),
    ];
    for (test, sources) in cases {
        for (questions, said) in [of_repair(&world, test), of_proposal(&world, test)] {
            shows(&questions, sources, "nothing_to_do_with_it");
            for told in ["lines are not measured: ", "-m pip install coverage", "import and call"] {
                assert!(said.contains(told), "`{told}` is missing in {said}");
            }
        }
    }
}

/// Lines are measured, but the test executes none of the code: another process does, or the file
/// cannot be imported.
#[test]
fn a_test_that_executes_no_code_itself_is_asked_about_with_the_code_all_the_same() {
    let world = World::new();
    world.write("p/pytest.ini", "[pytest]\n");
    world.write("p/tool.py", "def shout(text):\n    return text.lower()\n\n\nif __name__ == '__main__':\n    print(shout('a'))\n");
    world.write("p/test_tool.py", "import subprocess, sys\n\ndef test_tool():\n    out = subprocess.run([sys.executable, 'tool.py'], capture_output=True, text=True).stdout\n    assert out == 'A\\n'\n\ndef test_other():\n    pass\n");
    world.write("p/kit.py", "def present():\n    return 'the kit'\n");
    world.write(
        "p/test_kit.py",
        "from kit import missing\n\ndef test_kit():\n    assert missing() == 1\n",
    );
    for (test, source) in
        [("test_tool.py::test_tool", "return text.lower()"), ("test_kit.py", "return 'the kit'")]
    {
        let mut command = world.command(&[&REPAIR[..], &[test, "--max-iterations=1"]].concat());
        let questions = asked("I do not know.", |more| {
            command.envs(more.iter().filter(|it| it.0.starts_with("OPENAI")).copied());
            let _ = Ran::of(command.output().expect("trellis starts")).exits(1);
        });
        shows(&questions, &[source], "lines are not measured");
    }
}
