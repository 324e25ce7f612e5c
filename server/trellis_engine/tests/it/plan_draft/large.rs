//! A draft of five hundred functions with a model that answers each part mechanically.

use serde_json::{Value, json};
use trellis_engine::plan_draft::{
    Action, DraftMachine, DraftOptions, DraftSize, Event, Part, Sentences, SpecFile, plan_file,
};
use trellis_engine::{Machine, Reply};
use trellis_plan::{Sentence, SentenceKind};

use super::{fenced, function};

const FILES: usize = 50;
const FEATURES_OF_FILE: usize = 5;
const FUNCTIONS_OF_FEATURE: usize = 2;
/// Each function serves a sentence of its own.
const FUNCTIONS: usize = FILES * FEATURES_OF_FILE * FUNCTIONS_OF_FEATURE;
const FUNCTIONS_OF_FILE: usize = FEATURES_OF_FILE * FUNCTIONS_OF_FEATURE;

fn sentences() -> Sentences {
    let text = |number: usize| {
        format!(
            "Function {number} returns its argument, multiplied by {number}, for every whole number."
        )
    };
    let sentence = |number| Sentence { number, kind: SentenceKind::Sentence, text: text(number) };
    Sentences::new((1..=FUNCTIONS).map(sentence).collect())
}

fn features() -> Value {
    let feature = |at: usize| {
        let first = at * FUNCTIONS_OF_FEATURE + 1;
        json!({ "name": format!("Feature {at}"), "sentences": [first, first + 1] })
    };
    let all: Vec<Value> = (0..FILES * FEATURES_OF_FILE).map(feature).collect();
    json!({ "package": "many", "summary": "Multiplies.", "features": all })
}

fn path(file: usize) -> String {
    format!("part{}/file{file}.py", file / 10)
}

/// Each file uses the one before it: the last may use all others.
fn layout() -> Value {
    let file = |at: usize| {
        let numbers = (0..FEATURES_OF_FILE).map(|it| (at * FEATURES_OF_FILE + it + 1).to_string());
        json!({
            "path": path(at), "purpose": format!("Functions of part {at}."),
            "features": numbers.collect::<Vec<_>>(),
            "uses": at.checked_sub(1).map(path).into_iter().collect::<Vec<_>>(),
        })
    };
    json!({ "files": (0..FILES).map(file).collect::<Vec<_>>() })
}

fn interface(file: usize) -> String {
    let one = |number: usize| {
        let uses = (number > FUNCTIONS_OF_FILE).then(|| {
            let module = path((number - 1) / FUNCTIONS_OF_FILE - 1);
            format!(
                "{}.times_{}",
                module.trim_end_matches(".py").replace('/', "."),
                number - FUNCTIONS_OF_FILE
            )
        });
        let examples =
            [format!("times_{number}(1) == {number}"), format!("times_{number}(0) == 0")];
        let examples: Vec<&str> = examples.iter().map(String::as_str).collect();
        let header = format!("def times_{number}(value: int) -> int");
        function(&header, &examples, &number.to_string(), &uses.unwrap_or_default())
    };
    (1..=FUNCTIONS_OF_FILE)
        .map(|it| one(file * FUNCTIONS_OF_FILE + it))
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn answer(part: &Part) -> String {
    match part {
        Part::Features => fenced("json", &features().to_string()),
        Part::Layout => fenced("json", &layout().to_string()),
        Part::Review => fenced("json", &json!({ "findings": [] }).to_string()),
        Part::Interface(found) => {
            let file = (0..FILES).find(|it| path(*it) == *found).expect("a file");
            fenced("python", &interface(file))
        }
    }
}

#[test]
fn questions_stay_small_in_a_draft_of_five_hundred_functions() {
    let options = DraftOptions { size: DraftSize::Large, ..DraftOptions::default() };
    let mut machine = DraftMachine::new(sentences(), options);
    let mut actions = machine.step(Event::Started).expect("a beginning");
    let mut asked: Vec<(Part, usize)> = Vec::new();
    while let [Action::Ask { part, request, .. }] = &actions[..] {
        let messages = request.prompt.messages(1_000_000);
        let bytes: usize = messages.iter().map(|it| it.text.len()).sum();
        asked.push((part.clone(), bytes.div_ceil(4)));
        let reply = Reply::Text(answer(part));
        actions = machine.step(Event::Replied(reply)).expect("a reply");
    }
    let [Action::Finished(draft)] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!(draft.problems, []);
    let spec = SpecFile { path: "spec.md", hash: "abc" };
    let text = plan_file(draft, &spec, &sentences()).to_string();
    let plan = trellis_plan::read(text.as_bytes(), None).expect("a plan");
    assert_eq!(trellis_plan::check(&plan), []);
    assert_eq!(plan.nodes().iter().filter(|it| it.is_leaf()).count(), FUNCTIONS);
    let most = |is_meant: fn(&Part) -> bool| {
        asked.iter().filter(|it| is_meant(&it.0)).map(|it| it.1).max().unwrap_or_default()
    };
    let of_interfaces = most(|it| matches!(it, Part::Interface(_)));
    let of_reviews = most(|it| *it == Part::Review);
    let of_others = most(|it| matches!(it, Part::Features | Part::Layout));
    let total: usize = asked.iter().map(|it| it.1).sum();
    println!(
        "{} requests, {total} tokens; largest: features or layout {of_others}, interface {of_interfaces}, review {of_reviews}",
        asked.len()
    );
    let reviews = FUNCTIONS / 40 + usize::from(FUNCTIONS % 40 > 0);
    assert_eq!(asked.len(), 2 + FILES + reviews);
    assert!(of_others < 12_000, "{of_others}");
    assert!(of_interfaces < 6_500, "{of_interfaces}");
    assert!(of_reviews < 4_500, "{of_reviews}");
}
