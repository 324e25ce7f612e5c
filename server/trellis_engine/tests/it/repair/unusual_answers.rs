//! Tests of answers in unusual forms: applied as meant, or refused as a whole.

use std::collections::BTreeMap;

use trellis_engine::repair::repaired;
use trellis_engine::{EditableFiles, Suspect};

const ONE: &str =
    "LIMIT = 10\n\n\ndef one(x):\n    return x + 1\n\n\ndef two(x):\n    return x + 2\n";
const OTHER: &str = "def three(x):\n    return x + 1\n";

struct Files;

impl EditableFiles for Files {
    fn text(&self, path: &str) -> Option<String> {
        let texts = BTreeMap::from([("app/one.py", ONE), ("app/other.py", OTHER)]);
        texts.get(path).map(|it| (*it).to_owned())
    }

    fn read_only(&self, _path: &str) -> Option<&'static str> {
        None
    }
}

fn made(answer: &str) -> Result<BTreeMap<String, String>, String> {
    let suspect = |(path, symbol): (&str, &str)| Suspect {
        path: path.to_owned(),
        line: 1,
        symbol: symbol.to_owned(),
        ..Suspect::default()
    };
    let all = [("app/one.py", "one"), ("app/one.py", "two"), ("app/other.py", "three")];
    repaired(answer, &all.map(suspect), &Files).map_err(|it| it.for_model)
}

#[track_caller]
fn makes(answer: &str, wanted: &[(&str, &str)]) {
    let wanted = wanted.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    assert_eq!(made(answer), Ok(wanted.collect()), "{answer}");
}

#[track_caller]
fn is_refused(answer: &str, words: &str) {
    let why = made(answer).expect_err(answer);
    assert!(why.contains(words), "{why} for {answer}");
}

fn block(search: &str, replace: &str) -> String {
    format!("<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n")
}

/// The block of a fix of `one`.
fn fix() -> String {
    block("def one(x):\n    return x + 1", "def one(x):\n    return x + 3")
}

fn fixed() -> String {
    ONE.replace("x + 1", "x + 3")
}

#[test]
fn a_path_may_have_marks_and_words_around_it() {
    let leads = [
        "a/app/one.py",
        "File: app/one.py",
        "**File: `app/one.py`**",
        "### 1. `app/one.py`",
        "- app/one.py (line 4):",
        "app/one.py:4-5",
        "app\\one.py",
        "The cause is in `app/one.py`, not in the tests:",
        "### Changes to app/one.py",
        "app/one.py\n\nThe function adds too little:",
    ];
    for lead in leads {
        makes(&format!("{lead}\n{}", fix()), &[("app/one.py", &fixed())]);
    }
    for mark in [
        "```python:app/one.py",
        "```python app/one.py",
        "```app/one.py",
        "```py title=\"app/one.py\"",
    ] {
        makes(&format!("Here:\n{mark}\n{}```\n", fix()), &[("app/one.py", &fixed())]);
    }
}

#[test]
fn a_block_is_for_no_file_that_only_an_earlier_block_names() {
    let three = block("    return x + 1", "    return x + 9");
    let answer = format!("app/one.py\n{}\nThen in `app/other.py`, the same:\n{three}", fix());
    let other = OTHER.replace("x + 1", "x + 9");
    makes(&answer, &[("app/one.py", &fixed()), ("app/other.py", &other)]);
    // Words without a path stay with the file.
    let two = block("    return x + 2", "    return x + 4");
    let both = fixed().replace("x + 2", "x + 4");
    makes(&format!("app/one.py\n{}\nAnd as well:\n{two}", fix()), &[("app/one.py", &both)]);
    let unclear = format!("Either app/one.py or app/other.py is wrong:\n{three}");
    is_refused(&unclear, "not clear which file");
}

#[test]
fn marks_within_a_text_are_text() {
    let sample = "def one(x):\n    \"\"\"Shows:\n<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\n    \"\"\"\n    return x + 3";
    let answer = format!("app/one.py\n{}", block("def one(x):\n    return x + 1", sample));
    let wanted = ONE.replace("def one(x):\n    return x + 1", sample);
    makes(&answer, &[("app/one.py", &wanted)]);
    makes(&format!("```python\n{sample}\n```\n"), &[("app/one.py", &wanted)]);
    let tag = "    return x + 3  # </think>";
    let answer = format!("app/one.py\n{}", block("    return x + 1", tag));
    makes(&answer, &[("app/one.py", &ONE.replace("    return x + 1", tag))]);
}

#[test]
fn other_numbers_of_signs_and_other_marks_are_known() {
    let marks = [
        ("<<<<<< SEARCH", "======", ">>>>>> REPLACE"),
        ("<<<<<<<< SEARCH", "========", ">>>>>>>> REPLACE"),
        ("------- SEARCH", "=======", "+++++++ REPLACE"),
        ("<<<<<<< ORIGINAL", "=======", ">>>>>>> UPDATED"),
    ];
    for (start, middle, end) in marks {
        let answer =
            format!("app/one.py\n{start}\n    return x + 1\n{middle}\n    return x + 3\n{end}\n");
        makes(&answer, &[("app/one.py", &fixed())]);
    }
}

#[test]
fn no_part_of_an_answer_is_dropped() {
    let both = fixed().replace("x + 2", "x + 4");
    let (one, two) = ("def one(x):\n    return x + 3", "def two(x):\n    return x + 4");
    makes(
        &format!("```python\n{one}\n```\nand\n```python\n{two}\n```\n"),
        &[("app/one.py", &both)],
    );
    // The later of two definitions of a name counts.
    let draft = "def one(x):\n    return x";
    makes(
        &format!("```python\n{draft}\n```\nNo:\n```python\n{one}\n```\n"),
        &[("app/one.py", &fixed())],
    );
    let json = |from: &str, to: &str| {
        format!(
            "```json\n{{\"file_path\": \"app/one.py\", \"search_text\": \"{from}\", \"replace_text\": \"{to}\"}}\n```\n"
        )
    };
    let answer = json("x + 1", "x + 3") + &json("x + 2", "x + 4");
    makes(&answer, &[("app/one.py", &both)]);
    makes(&format!("app/one.py\n{}\n{}", fix(), json("x + 2", "x + 4")), &[("app/one.py", &both)]);
    let answer = format!("app/one.py\n{}\nAlso:\n```python\n{two}\n```\n", fix());
    is_refused(&answer, "another `two`");
    // What was there before, or is there now, says nothing else.
    let shown =
        format!("Before:\n```python\ndef one(x):\n    return x + 1\n```\napp/one.py\n{}", fix());
    makes(&shown, &[("app/one.py", &fixed())]);
    is_refused(&format!("```python\nLIMIT = 50\n\n\n{one}\n```\n"), "it changes `LIMIT`");
    makes(&format!("```python\nLIMIT = 10\n\n\n{one}\n```\n"), &[("app/one.py", &fixed())]);
}

#[test]
fn code_may_be_under_the_path_of_its_file() {
    let whole = fixed().replace("LIMIT = 10", "LIMIT = 50");
    makes(&format!("app/one.py\n```python\n{whole}```\n"), &[("app/one.py", &whole)]);
    let one = "def one(x):\n    return x + 3";
    makes(&format!("app/one.py\n```python\n{one}\n```\n"), &[("app/one.py", &fixed())]);
}

#[test]
fn an_answer_that_was_cut_off_changes_nothing() {
    is_refused("```python\ndef one(x):\n    return x + 3\n", "no end");
    let first = "<<<<<<< SEARCH\n    return x + 1\n=======\n    return x + 3\n";
    is_refused(&format!("app/one.py\n{first}\napp/other.py\n{}", fix()), "has no end");
    is_refused(&format!("<think>\nPerhaps:\napp/one.py\n{}", fix()), "no search/replace block");
    makes(
        &format!("<thinking>\napp/one.py\n{}</thinking>\napp/one.py\n{}", block("x", "y"), fix()),
        &[("app/one.py", &fixed())],
    );
}

#[test]
fn comments_in_place_of_code_are_refused() {
    for line in ["# ... rest of the function unchanged ...", "# ...", "# \u{2026} existing code"] {
        let answer = format!("app/one.py\n{}", block("    return x + 1", &format!("    {line}")));
        is_refused(&answer, "takes the place of lines that would be lost");
    }
    let honest = "    # The rest is the same for all.\n    return x + 3";
    let answer = format!("app/one.py\n{}", block("    return x + 1", honest));
    makes(&answer, &[("app/one.py", &ONE.replace("    return x + 1", honest))]);
}

#[test]
fn blocks_are_meant_for_the_text_that_was_shown() {
    // Both have lines of the other around their own.
    let first = block("LIMIT = 10\n\n\ndef one(x):", "LIMIT = 20\n\n\ndef one(x):");
    let second = block(
        "LIMIT = 10\n\n\ndef one(x):\n    return x + 1",
        "LIMIT = 10\n\n\ndef one(x):\n    return x + 3",
    );
    let wanted = fixed().replace("LIMIT = 10", "LIMIT = 20");
    makes(&format!("app/one.py\n{first}{second}"), &[("app/one.py", &wanted)]);
    // The later of two changes of a line counts, and the others stay.
    let again = block("    return x + 1", "    return x * 7");
    let two = block("    return x + 2", "    return x + 4");
    let wanted = ONE.replace("x + 1", "x * 7").replace("x + 2", "x + 4");
    let answer = format!("app/one.py\n{}{two}No:\n{again}", fix());
    makes(&answer, &[("app/one.py", &wanted)]);
}
