//! Docstrings of a model, without a model.

use trellis_engine::describe::{Action, DescribeMachine, Descriptions, Event, Undescribed};
use trellis_engine::{Machine, Reply};

fn definition(path: &str, name: &str, source: &str) -> Undescribed {
    Undescribed {
        id: format!("{path}:{name}"),
        path: path.to_owned(),
        name: name.to_owned(),
        source: source.to_owned(),
    }
}

fn step(machine: &mut DescribeMachine, event: Event) -> Action {
    let mut actions = machine.step(event).expect("in turn");
    assert_eq!(actions.len(), 1);
    actions.remove(0)
}

fn reply(machine: &mut DescribeMachine, text: &str) -> Action {
    step(machine, Event::Replied(Reply::Text(text.to_owned())))
}

fn names(action: &Action) -> (&str, String, &[String], u32) {
    match action {
        Action::Ask { path, names, problems, request } => {
            (path, names.join(" "), problems, request.attempt)
        }
        other => panic!("{other:?}"),
    }
}

fn finished(action: Action) -> Descriptions {
    match action {
        Action::Finished(found) => found,
        other => panic!("{other:?}"),
    }
}

#[test]
fn definitions_are_asked_file_by_file_in_bounded_batches() {
    let mut all: Vec<Undescribed> =
        (0..25).map(|it| definition("a.py", &format!("f{it}"), "def f(): ...")).collect();
    all.push(definition("b.py", "long", &"x = 1\n".repeat(20_000)));
    all.push(definition("b.py", "short", "def short(): ..."));
    let mut machine = DescribeMachine::new(all);
    let mut action = step(&mut machine, Event::Started);
    let mut seen = Vec::new();
    while let Action::Ask { path, names, request, .. } = &action {
        seen.push((path.clone(), names.len(), request.attempt));
        let tokens: usize =
            request.prompt.messages(100_000).iter().map(|it| it.text.len() / 4).sum();
        assert!(tokens < 7_000, "{tokens}");
        let docstrings: serde_json::Map<_, _> =
            names.iter().map(|it| (it.clone(), "Return a value.".into())).collect();
        let text = serde_json::json!({ "docstrings": docstrings }).to_string();
        action = reply(&mut machine, &text);
    }
    let expected = [("a.py", 20, 0), ("a.py", 5, 1), ("b.py", 2, 0)];
    assert_eq!(seen, expected.map(|(path, count, attempt)| (path.to_owned(), count, attempt)));
    let found = finished(action);
    assert_eq!((found.docstrings.len(), found.missing.len()), (27, 0));
    assert_eq!(
        finished(step(&mut DescribeMachine::new(Vec::new()), Event::Started)),
        Descriptions::default()
    );
}

#[test]
fn wrong_docstrings_go_back_once_and_then_stay_missing() {
    let good = ["ok", "empty", "name", "long", "number", "gone"];
    let mut machine = DescribeMachine::new(
        good.iter().map(|it| definition("a.py", it, "def f(): ...")).collect(),
    );
    let _ = step(&mut machine, Event::Started);
    let long = "word ".repeat(1_000);
    let text = serde_json::json!({ "docstrings": {
        "ok": "  Return the sum.\n\nOf all.  ", "empty": " ", "name": "name", "long": long,
        "number": 3, "other": "Return nothing."
    }});
    let again = reply(&mut machine, &format!("Here:\n```json\n{text}\n```\n"));
    let (path, asked, problems, attempt) = names(&again);
    assert_eq!((path, asked.as_str(), attempt), ("a.py", "empty name long number gone", 1));
    for (problem, words) in problems.iter().zip([
        "`empty`: its docstring says nothing; no one asked for `other`",
        "`name`: its docstring says nothing",
        "`long`: its docstring has 4999 characters, 1500 are the most",
        "`number`: its docstring is not a text",
        "`gone`: it has no docstring",
    ]) {
        assert!(problem.starts_with(words), "{problem}");
    }
    let found = finished(reply(
        &mut machine,
        r#"{"docstrings": {"empty": "Do nothing.", "ok": "Other words."}}"#,
    ));
    assert_eq!(found.docstrings["a.py:ok"], "Return the sum.\n\nOf all.");
    assert_eq!(found.docstrings["a.py:empty"], "Do nothing.");
    let missing: Vec<&str> = found.missing.keys().map(String::as_str).collect();
    assert_eq!(missing, ["a.py:gone", "a.py:long", "a.py:name", "a.py:number"]);
}

#[test]
fn a_docstring_can_be_in_a_script_without_spaces() {
    let mut machine = DescribeMachine::new(vec![definition("a.py", "f", "def f(): ...")]);
    let _ = step(&mut machine, Event::Started);
    let found = finished(reply(&mut machine, r#"{"docstrings": {"f": "合計を返す。"}}"#));
    assert_eq!(found.docstrings["a.py:f"], "合計を返す。");
}

#[test]
fn a_reply_that_cannot_be_read_goes_back_and_a_failed_request_ends_the_work() {
    let mut machine = DescribeMachine::new(vec![definition("a.py", "f", "def f(): ...")]);
    let _ = step(&mut machine, Event::Started);
    assert!(machine.step(Event::Started).is_err());
    let again = reply(&mut machine, "I cannot.");
    assert_eq!(names(&again).2, ["`f`: there is no JSON block"]);
    let failed = step(&mut machine, Event::Replied(Reply::Failed { reason: "no line".to_owned() }));
    assert_eq!(failed, Action::GaveUp { path: "a.py".to_owned(), why: "no line".to_owned() });
    assert!(machine.step(Event::Started).is_err());
}
