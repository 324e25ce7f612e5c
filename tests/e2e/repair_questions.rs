//! What the questions of a repair show of a project.

use std::fmt::Write as _;

use serde_json::json;

use crate::mock::KEY;
use crate::models::{Service, prompt, said};
use crate::repair::repair;
use crate::world::{Ran, World};

/// A module that is too long to be shown whole, whose faulty function is one of many that run.
fn letters() -> String {
    let mut text = "\
from limits import longest


class Letter:
    def __init__(self, words):
        self.words = words

    def show(self):
        return self.head() + ' '.join(self.parts())

    def head(self):
        return '* '

"
    .to_owned();
    for number in 0..60 {
        let _ =
            write!(text, "    def part_{number}(self):\n        return self.words[:{number}]\n\n");
    }
    let calls: String = (0..60).map(|it| format!("        found += self.part_{it}()\n")).collect();
    let _ = write!(
        text,
        "    def parts(self):\n        found = []\n{calls}        return found[:longest()]\n"
    );
    text
}

const LIMITS: &str = "\
def longest():
    return 3


def widest():
    wide = 70
    return wide + 1
";

const TESTS: &str = "\
from letters import Letter

HANDLERS = []


def handler(function):
    HANDLERS.append(function)
    return function


@handler
def greeting():
    return ['good', 'day']


def test_show():
    words = HANDLERS[0]()
    assert Letter(words).show() == '* good good day good'
";

/// Repairs the project with a model that names `widest` first, and returns the questions.
fn questions() -> Vec<String> {
    let world = World::new();
    world.write("p/letters.py", &letters());
    world.write("p/limits.py", &format!("{LIMITS}{}", "\n\nUNUSED = 1\n".repeat(80)));
    world.write("p/test_letters.py", TESTS);
    let service = Service::start(Box::new(|question| match prompt(question) {
        it if it.contains("Say why") => said(
            "{\"root_cause\": \"`widest` in limits.py adds too much.\", \"suggested_fixes\": \
             [{\"description\": \"Let it add nothing.\", \"changes\": []}]}",
        ),
        it if it.contains("sent back") => said("I do not know."),
        _ => said("limits.py\n<<<<<<< SEARCH\n    no such line\n=======\n    x\n>>>>>>> REPLACE\n"),
    }));
    let mut command = world.command(&["repair", "p", "--json", "--sandbox", "local"]);
    command.args(["--model", "openai:tiny", "--trials=0", "--max-iterations=3"]);
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
    let _ = Ran::of(command.output().expect("trellis starts")).exits(1);
    service.asked().iter().map(|it| prompt(it).to_owned()).collect()
}

#[test]
fn a_question_shows_what_the_test_calls_and_what_the_diagnosis_names() {
    let questions = questions();
    let [first, fix, ..] = &questions[..] else { panic!("{questions:#?}") };
    for shown in ["`Letter.show` in `letters.py`", "def greeting():", "return ['good', 'day']"] {
        assert!(first.contains(shown), "`{shown}` is missing in\n{first}");
    }
    assert!(!first.contains("wide = 70"), "{first}");
    for shown in ["`widest` in `limits.py`, line 5 (the diagnosis names it)", "wide = 70"] {
        assert!(fix.contains(shown), "`{shown}` is missing in\n{fix}");
    }
    assert!(!fix.contains("not tried"), "the cause is no other cause\n{fix}");
    let again = questions.iter().find(|it| it.contains("sent back")).expect("a third question");
    let (before, _) = again.split_once("## Task").expect("a task");
    assert!(before.contains("    no such line"), "{again}");
}

#[test]
fn functions_on_one_line_are_asked_about_like_others() {
    let world = World::new();
    world.write(
        "p/box.py",
        "class Box:\n    def __init__(self, n): self.n = n\n    def once(self): return self.n\n    def twice(self): return self.n * 3\n",
    );
    world.write(
        "p/test_box.py",
        "from box import Box\n\ndef test_once(): assert Box(2).once() == 2\n\ndef test_twice(): assert Box(2).twice() == 4\n",
    );
    let reply = "box.py\n<<<<<<< SEARCH\nself.n * 3\n=======\nself.n * 2\n>>>>>>> REPLACE\n";
    let line = json!({ "node": "*", "stage": "repair", "attempt": 0, "reply": reply });
    world.write("replies.jsonl", &format!("{line}\n"));
    let report = repair(&world, &[]).exits(0).json();
    assert_eq!(report["outcome"], "repaired", "{report:#}");
}
