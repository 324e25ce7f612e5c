//! A draft of five hundred functions with a model that answers each part mechanically.

use serde_json::{Value, json};
use trellis_engine::plan_draft::{
    Action, DraftMachine, DraftOptions, DraftSize, Event, Part, Sentences, SpecFile, plan_file,
};
use trellis_engine::{Machine, Reply};
use trellis_plan::{Sentence, SentenceKind};

use super::{fenced, function};

const FEATURES_OF_FILE: usize = 5;
const FUNCTIONS_OF_FEATURE: usize = 2;
const FUNCTIONS_OF_FILE: usize = FEATURES_OF_FILE * FUNCTIONS_OF_FEATURE;

/// Returns one sentence for each function.
fn sentences(files: usize) -> Sentences {
    let text = |number: usize| {
        format!(
            "Function {number} returns its argument, multiplied by {number}, for every whole number."
        )
    };
    let sentence = |number| Sentence { number, kind: SentenceKind::Sentence, text: text(number) };
    Sentences::new((1..=files * FUNCTIONS_OF_FILE).map(sentence).collect())
}

fn features(files: usize) -> Value {
    let feature = |at: usize| {
        let first = at * FUNCTIONS_OF_FEATURE + 1;
        json!({ "name": format!("Feature {at}"), "sentences": [first, first + 1] })
    };
    let all: Vec<Value> = (0..files * FEATURES_OF_FILE).map(feature).collect();
    json!({ "package": "many", "summary": "Multiplies.", "features": all })
}

fn path(file: usize) -> String {
    format!("part{}/file{file}.py", file / 10)
}

/// Each file uses the one before it: the last may use all others.
fn layout(files: usize) -> Value {
    let file = |at: usize| {
        let numbers = (0..FEATURES_OF_FILE).map(|it| (at * FEATURES_OF_FILE + it + 1).to_string());
        json!({
            "path": path(at), "purpose": format!("Functions of part {at}."),
            "features": numbers.collect::<Vec<_>>(),
            "uses": at.checked_sub(1).map(path).into_iter().collect::<Vec<_>>(),
        })
    };
    json!({ "files": (0..files).map(file).collect::<Vec<_>>() })
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

fn answer(part: &Part, files: usize) -> String {
    match part {
        Part::Features => fenced("json", &features(files).to_string()),
        Part::Layout => fenced("json", &layout(files).to_string()),
        Part::Review => fenced("json", &json!({ "findings": [] }).to_string()),
        Part::Interface(found) => {
            let file = (0..files).find(|it| path(*it) == *found).expect("a file");
            fenced("python", &interface(file))
        }
    }
}

/// The requests of a draft: part, and number of tokens.
struct Requests(Vec<(Part, usize)>);

impl Requests {
    fn largest(&self, is_meant: fn(&Part) -> bool) -> usize {
        let own = self.0.iter().filter(|it| is_meant(&it.0));
        own.map(|it| it.1).max().unwrap_or_default()
    }

    fn largest_about_a_file(&self) -> usize {
        self.largest(|it| matches!(it, Part::Interface(_)))
    }

    fn largest_review(&self) -> usize {
        self.largest(|it| *it == Part::Review)
    }
}

/// Drafts a package of this number of files, and checks the plan.
fn drafted(files: usize) -> Requests {
    let options = DraftOptions { size: DraftSize::Large, ..DraftOptions::default() };
    let mut machine = DraftMachine::new(sentences(files), options);
    let mut actions = machine.step(Event::Started).expect("a beginning");
    let mut asked = Vec::new();
    while let [Action::Ask { part, request, .. }] = &actions[..] {
        let messages = request.prompt.messages(1_000_000);
        let bytes: usize = messages.iter().map(|it| it.text.len()).sum();
        asked.push((part.clone(), bytes.div_ceil(4)));
        let reply = Reply::Text(answer(part, files));
        actions = machine.step(Event::Replied(reply)).expect("a reply");
    }
    let [Action::Finished(draft)] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!(draft.problems, []);
    let spec = SpecFile { path: "spec.md", hash: "abc" };
    let text = plan_file(draft, &spec, &sentences(files)).to_string();
    let plan = trellis_plan::read(text.as_bytes(), None).expect("a plan");
    assert_eq!(trellis_plan::check(&plan), []);
    let leaves = plan.nodes().iter().filter(|it| it.is_leaf()).count();
    assert_eq!(leaves, files * FUNCTIONS_OF_FILE);
    Requests(asked)
}

#[test]
fn questions_stay_small_in_a_draft_of_five_hundred_functions() {
    let (whole, larger) = (drafted(50), drafted(80));
    let total: usize = whole.0.iter().map(|it| it.1).sum();
    let features = whole.largest(|it| *it == Part::Features);
    let (file, review) = (whole.largest_about_a_file(), whole.largest_review());
    eprintln!(
        "{} requests, {total} tokens; largest: features {features}, file {file}, review {review}",
        whole.0.len()
    );
    let (of_larger, review_of_larger) = (larger.largest_about_a_file(), larger.largest_review());
    eprintln!("eight hundred functions: file {of_larger}, review {review_of_larger}");
    // Features, layout, fifty files, thirteen groups of four files.
    assert_eq!(whole.0.len(), 2 + 50 + 13);
    assert!(total < 300_000, "{total}");
    // The features have the whole specification.
    assert!(features < 12_000, "{features}");
    assert!(file < 6_500 && review < 4_500, "{file}, {review}");
    // Three hundred more functions add their names and the purposes of their files.
    assert!(of_larger < file + 700, "{of_larger}");
    assert!(review_of_larger < review + 1_800, "{review_of_larger}");
}
