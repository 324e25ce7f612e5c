//! Mistakes of a model: each goes back with its problem, and is shown at the end if it stays.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::paid::{label, run};
use super::{changed, draft, replies, world};
use crate::models::{Service, said};

/// Returns the recording of a model that makes the usual mistakes at first. Each part has one or two
/// wrong answers, and then the right one.
fn mistaken() -> Vec<Value> {
    let mut out = Vec::new();
    for (stage, node, edits) in MISTAKES {
        for (attempt, (old, new, _)) in edits.iter().enumerate() {
            let mut wrong = changed(stage, node, old, new);
            wrong["attempt"] = json!(attempt);
            out.push(wrong);
        }
        let mut good = changed(stage, node, "", "");
        good["attempt"] = json!(edits.len());
        out.push(good);
    }
    let is_listed = |it: &Value| {
        MISTAKES.iter().any(|(stage, node, _)| it["stage"] == *stage && it["node"] == *node)
    };
    out.extend(replies().into_iter().filter(|it| !is_listed(it)));
    out
}

/// A text in the right reply, the wrong one in its place, and the problem.
type Mistake = (&'static str, &'static str, &'static str);

/// Stage, subject, and mistakes of its answers.
const MISTAKES: &[(&str, &str, &[Mistake])] = &[
    (
        "features",
        "plan",
        &[
            // A forgotten sentence.
            (
                "\"sentences\": [\n      5\n     ]",
                "\"sentences\": [\n      4\n     ]",
                "sentence 5 is neither served nor background: \"Words of a stop list are left out.\"",
            ),
            // A doubled name.
            ("Leave out stop words", "Find the words of a text", "are both called"),
        ],
    ),
    (
        "layout",
        "plan",
        &[
            // A circle of files.
            (
                "\"1.2\"\n   ],\n   \"uses\": []",
                "\"1.2\"\n   ],\n   \"uses\": [\"command.py\"]",
                "these files use each other in a circle: words.py, command.py",
            ),
            // A feature without a file.
            (
                "\"1.1\",\n    \"1.2\"",
                "\"1.1\"",
                "feature 1.2 (Leave out stop words) is in no file",
            ),
        ],
    ),
    (
        "interface",
        "words.py",
        &[
            // A wrong example.
            (
                "words_of('--') == []",
                "words_of(3) == []",
                "the value of `text` does not fit its type",
            ),
            // A type that does not exist.
            ("-> list[str]", "-> list[Word]", "`Word` is neither defined nor imported"),
        ],
    ),
    (
        "interface",
        "counts.py",
        &[
            // A missing function: nothing is left that serves its sentence.
            ("Serves: 8", "Serves: 7", "no definition serves sentence 8"),
            // A doubled definition.
            ("def limited", "def count_words", "`count_words` is defined twice"),
        ],
    ),
    (
        "interface",
        "output.py",
        &[
            // A circle of functions.
            (
                "Serves: 10",
                "Serves: 10\n    Uses: as_lines_of",
                "it uses `as_lines_of`, which this file and the files it uses do not have",
            ),
        ],
    ),
    (
        "interface",
        "command.py",
        &[
            // A circle of definitions.
            (
                "Uses: Options\n",
                "Uses: Options, main\n",
                "these use each other in a circle: `main`, `parse_options`",
            ),
            // An import that no file has.
            ("import as_csv, as_lines", "import as_csv, as_table", "output.py has no `as_table`"),
        ],
    ),
];

#[test]
fn usual_mistakes_go_back_to_the_model_and_are_corrected() {
    let world = world(&mistaken());
    let ran = draft(&world, &["--json"]).exits(0);
    let count: usize = MISTAKES.iter().map(|it| it.2.len()).sum();
    let result = ran.json();
    assert_eq!((&result["requests"], &result["problems"]), (&json!(7 + count), &json!([])));
    // The person sees what goes back.
    for problem in MISTAKES.iter().flat_map(|it| it.2).map(|it| it.2) {
        assert!(ran.stderr.contains(problem), "{problem}: {}", ran.stderr);
    }
    let _ = world.trellis(&["plan", "check", "plan.json"]).exits(0);
    let _ = world.trellis(&["plan", "trace", "plan.json"]).exits(0);
}

/// Serves a recording: the replies of each part in their order.
fn served(recording: Vec<Value>) -> Service {
    let left = Mutex::new(recording);
    Service::start(Box::new(move |question| {
        let (stage, subject) = label(question);
        let mut left = left.lock().expect("no panic");
        let own = |it: &Value| it["stage"] == stage && it["node"] == subject.as_str();
        let at = left.iter().position(own).expect("a reply");
        said(left.remove(at)["reply"].as_str().expect("a text"))
    }))
}

#[test]
fn each_problem_is_in_the_question_after_the_mistake() {
    let (world, service) = (world(&[]), served(mistaken()));
    let _ = run(&world, &service, &[]).exits(0);
    let asked = service.asked();
    for (stage, node, edits) in MISTAKES {
        let own: Vec<&Value> =
            asked.iter().filter(|it| label(it) == (*stage, (*node).to_owned())).collect();
        assert_eq!(own.len(), edits.len() + 1, "{stage} {node}");
        for ((_, wrong, problem), question) in edits.iter().zip(&own[1..]) {
            let messages = question["messages"].as_array().expect("messages");
            let text = |it: &Value| it["content"].as_str().unwrap_or_default().to_owned();
            let text: String = messages.iter().map(text).collect();
            assert!(text.contains(problem), "{problem}: {text}");
            assert!(text.contains(wrong), "{wrong}: {text}");
        }
    }
}

#[test]
fn mistakes_go_back_and_what_stays_wrong_is_reported() {
    let mut wrong = replies();
    let bad = changed("interface", "words.py", "words_of('--') == []", "words_of(3) == []");
    for it in &mut wrong {
        if it["stage"] == "interface" && it["node"] == "words.py" {
            *it = bad.clone();
            it.as_object_mut().expect("an object").remove("attempt");
        }
    }
    let world = world(&wrong);
    let result = draft(&world, &["--json"]).exits(2).json();
    assert_eq!((&result["state"], &result["requests"]), (&json!("written"), &json!(9)));
    let problem = result["problems"][0]["problem"].as_str().expect("a problem");
    assert!(problem.contains("the value of `text` does not fit its type"), "{problem}");
}

#[test]
fn a_contradiction_of_the_specification_is_reported() {
    let mut found = replies();
    let finding = "{\"kind\": \"contradiction\", \"problem\": \"Sentences 7 and 8 differ.\"}";
    let review =
        changed("review", "plan", "\"findings\": []", &format!("\"findings\": [{finding}]"));
    let at = found.iter().position(|it| it["stage"] == "review").expect("a review");
    found[at] = review;
    let world = world(&found);
    let ran = draft(&world, &[]).exits(2);
    let line = "problem: review: contradiction: Sentences 7 and 8 differ.\n";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
}
