//! Tests of the changes that a model's answer makes to an existing repository.

use std::collections::BTreeMap;

use trellis_engine::repair::{
    RepairFacts, ask_repair, ask_report, parse_diagnosis, repaired, suggested,
};
use trellis_engine::{EditableFiles, FixWith, Stage, Suspect};

const CART: &str =
    "import os\n\n\ndef shipping(total):\n    if total > 100:\n        return 0\n    return 5\n";

struct Files(BTreeMap<String, String>);

impl EditableFiles for Files {
    fn text(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned()
    }

    fn read_only(&self, path: &str) -> Option<&'static str> {
        path.starts_with("tests/").then_some("tests say what is wanted")
    }
}

fn files() -> Files {
    let texts =
        [("shop/cart.py", CART), ("shop/a.py", "x = 1\n"), ("tests/test_cart.py", "y = 1\n")];
    Files(texts.map(|(path, text)| (path.to_owned(), text.to_owned())).into())
}

fn suspects() -> Vec<Suspect> {
    let suspect = |path: &str, symbol: &str| Suspect {
        path: path.to_owned(),
        line: 4,
        symbol: symbol.to_owned(),
        source: CART.to_owned(),
        ..Suspect::default()
    };
    vec![suspect("shop/cart.py", "shipping"), suspect("shop/a.py", "")]
}

fn block(path: &str, search: &str, replace: &str) -> String {
    format!("{path}\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n")
}

#[test]
fn an_answer_changes_files_or_says_why_not() {
    let fixed = CART.replace("> 100", ">= 100");
    let (old, new) = ("    if total > 100:", "    if total >= 100:");
    let table = [
        (block("shop/cart.py", old, new), Ok(fixed.as_str())),
        // A path may be the end of a suspect's path.
        (block("cart.py", old, new), Ok(&fixed)),
        (format!("```python\n{}```\n", &fixed[11..]), Ok(&fixed)),
        (block("shop/none.py", old, new), Err("there is no file shop/none.py")),
        (block("tests/test_cart.py", "y = 1", "y = 2"), Err("tests say what is wanted")),
        (block("shop/cart.py", "nothing of it", "x"), Err("was refused: neither the search text")),
        (block("shop/cart.py", old, "    if total >= 100"), Err("would be broken")),
        (block("shop/cart.py", old, old), Err("changes nothing")),
        ("I do not know.".to_owned(), Err("holds no search/replace block")),
        ("```python\ndef other():\n    pass\n```".to_owned(), Err("not clear which `other`")),
        (
            format!("```python\nimport re\n\n\n{}```\n", &fixed[11..]),
            Err("shop/cart.py has no `import re`"),
        ),
    ];
    for (answer, wanted) in table {
        match (repaired(&answer, &suspects(), &files()), wanted) {
            (Ok(changed), Ok(text)) => {
                let wanted = BTreeMap::from([("shop/cart.py".to_owned(), text.to_owned())]);
                assert_eq!(changed, wanted, "{answer}");
            }
            (Err(why), Err(wanted)) => {
                assert!(why.for_model.contains(wanted), "{why:?} is not {wanted}");
                // What the model should do is nothing for a person.
                let requests = ["answer with", "name files", "give the whole"];
                assert!(!requests.iter().any(|it| why.problem.contains(it)), "{why:?}");
            }
            (found, _) => panic!("{answer}: {found:?}"),
        }
    }
}

#[test]
fn a_question_holds_the_failure_the_suspects_and_what_was_tried() {
    let repair = RepairFacts {
        tests: ["tests/test_cart.py::test_a", "tests/test_cart.py::test_b"]
            .map(str::to_owned)
            .into(),
        test_file: ("tests/test_cart.py".to_owned(), "assert shipping(100) == 0".to_owned()),
        failure: "assert 5 == 0".to_owned(),
        files: vec![("shop/a.py".to_owned(), "x = 1\n".to_owned())],
        suspects: suspects(),
        earlier: vec!["shipping returned 1: another test failed".to_owned()],
        complaint: Some("it changes nothing".to_owned()),
        issue: Some("big carts cost shipping".to_owned()),
        cause: Some("the boundary is left out".to_owned()),
        others: vec!["a larger fix".to_owned()],
    };
    let ask = ask_repair(&repair, 0, FixWith::OneReply);
    let text: String = ask.prompt.messages(12_000).iter().map(|it| it.text.as_str()).collect();
    for part in [
        "assert 5 == 0",
        "- `shipping` in `shop/cart.py`:",
        "- `the top level` in `shop/a.py`:",
        "## `shop/cart.py`, from line 4\n",
        "## `shop/a.py`\n",
        "assert shipping(100) == 0",
        "shipping returned 1",
        "Make `tests/test_cart.py::test_a` pass",
        "It could not be used: it changes nothing",
        "big carts cost shipping",
        "the boundary is left out",
        "a larger fix",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert_eq!(ask.stage, Stage::Repair);
    let report = ask_report(&repair);
    assert_eq!(report.stage, Stage::Report);
    let asked: String = report.prompt.messages(12_000).iter().map(|it| it.text.as_str()).collect();
    assert!(asked.contains("Say why `tests/test_cart.py::test_a` fails"), "{asked}");
    assert!(!asked.contains("shipping returned 1"), "before anything is tried: {asked}");
    assert_ne!(
        ask.tier,
        ask_repair(&repair, 2, FixWith::OneReply).tier,
        "the third attempt is a strong model's"
    );
}

#[test]
fn what_a_diagnosis_suggests_is_made_as_it_says() {
    let report = |path: &str, search: &str| {
        format!(
            "{{\"root_cause\": \"the boundary\", \"suggested_fixes\": [{{\"description\": \"include it\", \
             \"changes\": [{{\"file_path\": {path:?}, \"search_text\": {search:?}, \"replace_text\": \"total >= 100\"}}]}}]}}"
        )
    };
    let of = |path: &str, search: &str| {
        let said = parse_diagnosis(&report(path, search)).expect("a report");
        assert!(said.ideas[0].is_complete());
        suggested(&said.ideas[0], &suspects(), &files())
    };
    let changed = of("shop/cart.py", "total > 100").expect("a change");
    assert_eq!(changed["shop/cart.py"], CART.replace("> 100", ">= 100"));
    assert!(of("tests/test_cart.py", "y = 1").is_err(), "tests are read-only");
    assert!(of("shop/cart.py", "nothing like it").is_err());
    let vague = "{\"root_cause\": \"the boundary\", \"suggested_fixes\": [{\"description\": \"include it\"}]}";
    assert!(!parse_diagnosis(vague).expect("a report").ideas[0].is_complete());
}

/// Compares every prompt about failing tests with its snapshot.
#[test]
fn questions_as_they_are_sent() {
    let plain = RepairFacts {
        tests: vec!["tests/test_cart.py::test_a".to_owned()],
        test_file: ("tests/test_cart.py".to_owned(), "assert shipping(100) == 0".to_owned()),
        failure: "tests/test_cart.py::test_a\nE       assert 5 == 0".to_owned(),
        files: vec![("shop/cart.py".to_owned(), CART.to_owned())],
        suspects: vec![Suspect {
            path: "shop/cart.py".to_owned(),
            symbol: "shipping".to_owned(),
            why: "line 5 `if total > 100:`; executed by the failing test".to_owned(),
            ..Suspect::default()
        }],
        ..RepairFacts::default()
    };
    let long = RepairFacts { files: Vec::new(), suspects: suspects(), ..plain.clone() };
    let tried = RepairFacts {
        cause: Some("the boundary is left out".to_owned()),
        earlier: vec!["breaks test_b\n-    if total > 100:\n+    if total > 99:\n".to_owned()],
        issue: Some("big carts cost shipping".to_owned()),
        ..plain.clone()
    };
    for (name, it) in [("short_file", plain), ("long_file", long), ("tried", tried)] {
        let asks = [
            ("report", ask_report(&it)),
            ("repair", ask_repair(&it, 0, FixWith::OneReply)),
            ("repair_with_tools", ask_repair(&it, 0, FixWith::Tools)),
        ];
        for (stage, ask) in asks {
            let all = ask.prompt.messages(12_000).into_iter().map(|it| it.text);
            crate::snapshot::check(&format!("{stage}_{name}"), &all.collect::<Vec<_>>().join("\n"));
        }
    }
}
