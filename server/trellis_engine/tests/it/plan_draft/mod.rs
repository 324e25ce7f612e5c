//! Drafts of plans with scripted replies.

mod checks;
mod large;
mod person;

use serde_json::{Value, json};
use trellis_engine::plan_draft::{
    Action, Draft, DraftMachine, DraftOptions, Event, Part, Sentences, SpecFile, plan_file,
};
use trellis_engine::{Machine, Reply};
use trellis_plan::{Sentence, SentenceKind};

const SENTENCES: [&str; 4] = [
    "Prices.",
    "A price list is read from lines such as `apple 3`.",
    "The total of a basket is the sum of its prices.",
    "An unknown article is an error.",
];

fn sentences() -> Sentences {
    let sentence = |(index, text): (usize, &str)| Sentence {
        number: index + 1,
        kind: SentenceKind::Sentence,
        text: text.to_owned(),
    };
    Sentences::new(SENTENCES.into_iter().enumerate().map(sentence).collect())
}

fn fenced(language: &str, text: &str) -> String {
    format!("I thought about it.\n\n```{language}\n{text}\n```\n")
}

fn features(package: &str, background: &[usize]) -> String {
    let text = json!({
        "package": package, "summary": "Prices of baskets.",
        "features": [
            {"name": "Reading", "features": [{"name": "Read a price list", "sentences": [2]}]},
            {"name": "Total of a basket", "sentences": [3, 4]},
        ],
        "background": background,
    });
    fenced("json", &text.to_string())
}

fn layout(uses_of_prices: &[&str], features_of_basket: &[&str]) -> String {
    let text = json!({
        "files": [
            {"path": "basket.py", "purpose": "Totals.", "features": features_of_basket, "uses": ["lists/prices.py"]},
            {"path": "lists/prices.py", "purpose": "Price lists.", "features": ["1.1"], "uses": uses_of_prices},
        ],
        "flows": [{"from": "lists/prices.py", "to": "basket.py", "data": "prices by article"}],
    });
    fenced("json", &text.to_string())
}

fn function(header: &str, examples: &[&str], serves: &str, uses: &str) -> String {
    let examples: String = examples.iter().map(|it| format!("        {it}\n")).collect();
    let uses = if uses.is_empty() { String::new() } else { format!("    Uses: {uses}\n") };
    format!(
        "{header}:\n    \"\"\"Return it.\n\n    Examples:\n{examples}\n    Serves: {serves}\n{uses}    \"\"\"\n    ...\n"
    )
}

fn prices() -> String {
    let header = "def read_prices(lines: list[str]) -> dict[str, int]";
    let examples = ["read_prices(['apple 3']) == {'apple': 3}", "read_prices([]) == {}"];
    fenced("python", &function(header, &examples, "2", ""))
}

fn basket(uses: &str, example: &str) -> String {
    let header = "def total(articles: list[str], prices: dict[str, int]) -> int";
    let examples = [example, "total([], {}) == 0"];
    let text = function(header, &examples, "3, 4", uses);
    fenced("python", &format!("from shopping.lists.prices import read_prices\n\n\n{text}"))
}

const EXAMPLE: &str = "total(['a'], {'a': 3}) == 3";

fn review(findings: &Value) -> String {
    fenced("json", &json!({ "findings": findings }).to_string())
}

/// Answers requests with replies in order; returns all actions.
fn play(options: DraftOptions, replies: &[String]) -> Vec<Action> {
    let mut machine = DraftMachine::new(sentences(), options);
    let mut replies = replies.iter();
    let mut actions = machine.step(Event::Started).expect("a beginning");
    while let Some(Action::Ask { .. }) = actions.last() {
        let Some(reply) = replies.next() else { return actions };
        let next = machine.step(Event::Replied(Reply::Text(reply.clone()))).expect("a reply");
        actions.extend(next);
    }
    actions
}

fn good() -> [String; 5] {
    let basket = basket("lists.prices.read_prices", EXAMPLE);
    [features("shopping", &[1]), layout(&[], &["2"]), prices(), basket, review(&json!([]))]
}

/// Returns the texts of the requests of a part.
fn asked(actions: &[Action], wanted: &Part) -> Vec<String> {
    let texts = actions.iter().filter_map(|it| match it {
        Action::Ask { part, request, .. } if part == wanted => {
            Some(request.prompt.messages(20_000).into_iter().map(|it| it.text).collect())
        }
        _ => None,
    });
    texts.collect()
}

fn finished(actions: &[Action]) -> &Draft {
    match actions.last() {
        Some(Action::Finished(draft)) => draft,
        other => panic!("not finished: {other:?}"),
    }
}

#[test]
fn good_replies_become_a_plan_without_problems_whose_nodes_name_their_sentences() {
    let actions = play(DraftOptions::default(), &good());
    let draft = finished(&actions);
    assert_eq!(draft.problems, []);
    let spec = SpecFile { path: "spec.md", hash: "abc" };
    let text = plan_file(draft, &spec, &sentences()).to_string();
    let plan = trellis_plan::read(text.as_bytes(), None).expect("a plan");
    assert_eq!(trellis_plan::check(&plan), []);
    let leaves: Vec<_> = plan.nodes().iter().filter(|it| it.is_leaf()).collect();
    let ids: Vec<&str> = leaves.iter().map(|it| &*it.id).collect();
    assert_eq!(ids, ["shopping.lists.prices.read_prices", "shopping.basket.total"]);
    let total = plan.find("shopping.basket.total").expect("a node");
    let needs: Vec<&str> = plan.depends_on(total).iter().map(|it| plan.id(*it)).collect();
    assert_eq!(needs, ["shopping.lists.prices.read_prices"]);
    assert_eq!(plan.node(total).examples, [EXAMPLE, "total([], {}) == 0"]);
    assert_eq!(plan.node(total).extra.get("serves").expect("sentences").get(), "[3,4]");
    assert_eq!(&*plan.node(total).docstring.clone().expect("a docstring"), "Return it.");
    let spec = plan.spec().expect("readable").expect("a specification");
    assert_eq!((spec.sentences, spec.background), (sentences().kept().to_vec(), vec![1]));
}

#[test]
fn special_methods_are_planned_as_a_part_of_their_class() {
    let class = "class Basket:\n    \"\"\"Articles.\n\n    Serves: 3\n    \"\"\"\n\n    def __init__(self, articles: list[str]) -> None:\n        \"\"\"Keep them.\n\n        Serves: 3\n        \"\"\"\n        ...\n\n\n";
    let header = "def total(articles: list[str], prices: dict[str, int]) -> int";
    let uses = "lists.prices.read_prices, Basket.__init__";
    let text = format!("{class}{}", function(header, &[EXAMPLE], "3, 4", uses));
    let mut replies = good();
    replies[3] = fenced("python", &text);
    let actions = play(DraftOptions::default(), &replies);
    let spec = SpecFile { path: "spec.md", hash: "abc" };
    let text = plan_file(finished(&actions), &spec, &sentences()).to_string();
    let plan = trellis_plan::read(text.as_bytes(), None).expect("a plan");
    assert_eq!(trellis_plan::check(&plan), []);
    let basket = plan.find("shopping.basket.Basket").expect("a class");
    let docstring = plan.node(basket).docstring.clone().expect("a docstring");
    assert!(docstring.contains("`def __init__(self, articles: list[str]) -> None`: Keep them."));
    let total = plan.find("shopping.basket.total").expect("a function");
    assert!(plan.depends_on(total).contains(&basket));
    assert_eq!(plan.find("shopping.basket.Basket.__init__"), None);
}

#[test]
fn each_file_is_asked_for_after_those_that_it_uses_and_shows_them() {
    let actions = play(DraftOptions::default(), &good());
    let parts: Vec<&Part> = actions
        .iter()
        .filter_map(|it| if let Action::Ask { part, .. } = it { Some(part) } else { None })
        .collect();
    let file = |path: &str| Part::Interface(path.to_owned());
    let expected =
        [Part::Features, Part::Layout, file("lists/prices.py"), file("basket.py"), Part::Review];
    assert_eq!(parts, expected.iter().collect::<Vec<_>>());
    let basket = &asked(&actions, &file("basket.py"))[0];
    assert!(basket.contains("def read_prices(lines: list[str])"), "{basket}");
    assert!(basket.contains("4. An unknown article is an error."), "{basket}");
}

#[test]
fn usual_mistakes_go_back_with_their_reasons_and_are_corrected() {
    let file = |path: &str| Part::Interface(path.to_owned());
    let mistakes = [
        (0, features("shopping", &[]), Part::Features, "sentence 1 is neither served nor"),
        (0, features("shopping", &[1, 9]), Part::Features, "there are no sentences 9"),
        (0, features("json", &[1]), Part::Features, "is a name of Python's standard library"),
        (0, fenced("json", "{\"features\": 3}"), Part::Features, "cannot be read"),
        (1, layout(&["basket.py"], &["2"]), Part::Layout, "use each other in a circle"),
        (1, layout(&["other.py"], &["2"]), Part::Layout, "uses other.py, which is not a file"),
        (1, layout(&[], &["2", "3"]), Part::Layout, "has 3, which is not a feature"),
        (1, layout(&[], &["1.1"]), Part::Layout, "feature 2 (Total of a basket) is in no file"),
        (3, basket("load", EXAMPLE), file("basket.py"), "uses `load`, which this file"),
        (3, basket("", "total(['a'], 3) == 3"), file("basket.py"), "does not fit its type"),
        (3, basket("", EXAMPLE).replace("3, 4", "3"), file("basket.py"), "serves sentence 4"),
        (3, basket("", EXAMPLE).replace("-> int", ""), file("basket.py"), "have no type: return"),
        (3, basket("", EXAMPLE).replace("total(art", "sum(art"), file("basket.py"), "hides a name"),
    ];
    for (at, bad, part, why) in mistakes {
        let mut replies = good().to_vec();
        replies.insert(at, bad);
        let actions = play(DraftOptions::default(), &replies);
        let requests = asked(&actions, &part);
        assert_eq!(requests.len(), 2, "{why}");
        assert!(requests[1].contains(why), "{why}: {}", requests[1]);
        assert_eq!(finished(&actions).problems, [], "{why}");
    }
}

#[test]
fn after_two_repetitions_a_usable_part_stays_with_its_problems() {
    let mut replies = good().to_vec();
    let wrong = basket("load", EXAMPLE);
    replies.splice(3..4, [wrong.clone(), wrong.clone(), wrong]);
    let actions = play(DraftOptions::default(), &replies);
    let problems = &finished(&actions).problems;
    assert_eq!(problems.len(), 1);
    assert!(problems[0].text.contains("`load`"), "{problems:?}");
}

#[test]
fn a_part_without_any_usable_reply_ends_the_draft() {
    let mut replies = good().to_vec();
    let circular = layout(&["basket.py"], &["2"]);
    replies.splice(1..2, [circular.clone(), circular.clone(), circular]);
    let actions = play(DraftOptions::default(), &replies);
    assert!(
        matches!(actions.last(), Some(Action::GaveUp { part: Part::Layout, why }) if why.contains("circle")),
        "{actions:?}"
    );
}

#[test]
fn findings_of_the_review_go_back_to_their_file_once() {
    let finding = json!([{"file": "basket.py", "kind": "missing", "problem": "Unknown articles."}]);
    let mut replies = good().to_vec();
    replies[4] = review(&finding);
    replies.push(basket("lists.prices.read_prices", "total(['b'], {'b': 4}) == 4"));
    let actions = play(DraftOptions::default(), &replies);
    let requests = asked(&actions, &Part::Interface("basket.py".to_owned()));
    assert!(requests[1].contains("missing: Unknown articles."), "{}", requests[1]);
    let draft = finished(&actions);
    assert!(draft.interfaces[1].text.contains("{'b': 4}"), "{draft:?}");
}
