//! Tests of the changes that a model's answer makes to an existing repository.

use std::collections::BTreeMap;

use trellis_engine::repair::{explanation, parse_diagnosis, repaired, suggested};
use trellis_engine::{EditableFiles, Suspect};

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

#[test]
fn reasoning_and_drafts_before_an_answer_do_not_count() {
    let fixed = CART.replace("> 100", ">= 100");
    let (old, new) = ("    if total > 100:", "    if total >= 100:");
    let good = block("shop/cart.py", old, new);
    let example = block("path/to/file.py", "old lines", "new lines");
    let numbered = block("shop/cart.py", ">5 |     if total > 100:", ">5 |     if total >= 100:");
    let wider = "def shipping(total):\n    if total > 100:";
    let table = [
        // A draft of the same lines, in other words and in a wider block.
        block("shop/cart.py", old, "    if total > 99:") + "No, the boundary is 100.\n" + &good,
        block("shop/cart.py", old, "    if total > 99:")
            + &block("shop/cart.py", wider, &wider.replace('>', ">=")),
        // The format of the question, repeated.
        format!("Like this:\n{example}So:\n{good}"),
        format!("<think>\n{}</think>\n{good}", block("shop/cart.py", old, "    if False:")),
        // Numbers and marks of the question.
        numbered.clone(),
        numbered.replace(">5 |     if total >= 100:", new),
    ];
    for answer in table {
        let changed = repaired(&answer, &suspects(), &files());
        let changed = changed.unwrap_or_else(|why| panic!("{answer}: {why:?}"));
        assert_eq!(changed["shop/cart.py"], fixed, "{answer}");
    }
}

#[test]
fn the_words_before_the_blocks_explain_them() {
    let good = block("shop/cart.py", "    if total > 100:", "    if total >= 100:");
    let table = [
        (format!("The boundary is\nfree, too.\n\n{good}"), Some("The boundary is free, too.")),
        (
            format!("<think>Hm.</think>The boundary.\n\n`shop/cart.py`:\n{good}"),
            Some("The boundary."),
        ),
        ("The boundary.\n```python\nx = 1\n```\nIt is done.".to_owned(), Some("The boundary.")),
        (good.clone(), None),
        ("{\"file_path\": \"shop/cart.py\"}".to_owned(), None),
    ];
    for (answer, wanted) in table {
        assert_eq!(explanation(&answer).as_deref(), wanted, "{answer}");
    }
    let long = explanation(&format!("{}\n{good}", "word ".repeat(1000))).expect("words");
    assert!(long.chars().count() < 620 && long.ends_with(" \u{2026}"), "{long}");
}

#[test]
fn the_last_report_of_an_answer_counts() {
    let said = |cause: &str| format!("{{\"root_cause\": {cause:?}, \"suggested_fixes\": []}}");
    let table = [
        format!("total = {{100}}; a first guess: {}\nNo.\n{}", said("a"), said("b")),
        format!("```json\n{}\n```\nOr rather\n```json\n{}\n```", said("a"), said("b")),
        format!("<think>{}</think>{} and {{}} more", said("a"), said("b")),
        said("b"),
    ];
    for answer in table {
        assert_eq!(parse_diagnosis(&answer).expect("a report").root_cause, "b", "{answer}");
    }
    let sure = |text: &str| {
        let fixes = format!("{{\"suggested_fixes\": [{{\"description\": \"x\"{text}}}]}}");
        parse_diagnosis(&fixes).expect("a report").ideas[0].confidence
    };
    assert_eq!(sure(""), None, "it is not asked for");
    assert_eq!(sure(", \"confidence\": 7"), Some(1.0));
}
