//! A person at a terminal decides about fixes.

use std::process::Command;

use serde_json::{Value, json};

use crate::implement::{CODE, made, new_tests, shop};
use crate::repair::{CALCULATOR, block, both, calculator, files, good_add, good_zero, mended};
use crate::world::{World, real_python, repository};

/// Expected outputs, each with the text typed then.
pub(crate) type Steps<'a> = &'a [(&'a str, &'a str)];

/// The same code in a shorter form.
const TERSE: &str = "from shop.cart import total\n\n\ndef discounted(prices, percent):\n    if not 0 <= percent <= 100:\n        raise ValueError\n    return total(prices) * (100 - percent) / 100\n";

/// The prompt for a decision.
const ASKED: &str = "[q] stop? ";

/// Repairs `p` with a question for each fix; types each answer when asked. Returns the exit code
/// and the output.
fn decided(world: &World, editor: &str, steps: Steps<'_>) -> (i64, String) {
    let arguments = "repair p --trials 0 --sandbox local --approve supervised --no-report --model recorded:replies.jsonl";
    at_terminal(world, arguments, editor, steps)
}

pub(crate) fn at_terminal(
    world: &World,
    arguments: &str,
    editor: &str,
    steps: Steps<'_>,
) -> (i64, String) {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let trellis = world.command(&arguments);
    let mut python = Command::new(real_python());
    python.arg("-B").arg(repository().join("tests/peers/terminal.py"));
    python.arg(json!(steps).to_string()).arg(trellis.get_program()).args(trellis.get_args());
    python.env_clear().current_dir(world.root());
    python.envs(trellis.get_envs().filter_map(|(name, value)| Some((name, value?))));
    python.env("EDITOR", editor).env("TERM", "dumb");
    let ended = python.output().expect("python starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    let told: Value =
        serde_json::from_slice(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {said}"));
    (told["code"].as_i64().expect("a code"), told["shown"].as_str().expect("text").to_owned())
}

#[test]
fn a_person_approves_sends_back_or_leaves_what_was_made_of_an_issue() {
    const REVIEW: &str = "[l]eave on its branch? ";
    let table: [(Steps<'_>, i64, Option<&str>); 4] = [
        (
            &[(REVIEW, "what?\n"), (REVIEW, "e\n"), ("nothing changed", ""), (REVIEW, "a\n")],
            0,
            Some(CODE),
        ),
        (&[(REVIEW, "s\n"), ("next prompt)? ", "say less\n"), (REVIEW, "a\n")], 0, Some(TERSE)),
        (&[(REVIEW, "l\n")], 2, None),
        // The end of the input.
        (&[(REVIEW, "\u{4}")], 2, None),
    ];
    for (steps, code, wanted) in table {
        let world = shop(&[
            ("scaffold", &[new_tests()]),
            ("implementation", &[made(CODE)]),
            ("fix", &[made(TERSE)]),
        ]);
        let arguments = "implement p --issue 42 --lld p/docs/lld.md --sandbox local --model recorded:replies.jsonl";
        let (ended, shown) = at_terminal(&world, arguments, "false", steps);
        let there = wanted.is_some().then(|| world.read("p/shop/discount.py"));
        assert_eq!((ended, there.as_deref()), (code, wanted), "{steps:?}\n{shown}");
        assert!(shown.contains("+def discounted"), "{shown}");
    }
}

/// The prompt for a reason after `r`.
const WHY: &str = "for no reason: ";

#[test]
fn a_person_accepts_edits_rejects_skips_or_stops() {
    let turned = mended().replace("a + b", "b + a");
    let edited = mended().replace("return a + b", "return b+a");
    let other = CALCULATOR.replace("a - b", "a + b");
    let table: [(&str, Steps<'_>, i64, &str); 8] = [
        ("false", &[(ASKED, "what?\n"), (ASKED, "a\n"), (ASKED, "Yes\n")], 0, &mended()),
        ("sed -i s/a.+.b/b+a/", &[(ASKED, "e\n"), (ASKED, "a\n")], 0, &edited),
        // An editor that fails, then one that breaks the text: the question is repeated, and
        // another fix requested.
        (
            "false",
            &[(ASKED, "e\n"), ("ended with", ""), (ASKED, "a\n"), (ASKED, "a\n")],
            0,
            &mended(),
        ),
        (
            "sed -i s/def/fed/",
            &[(ASKED, "e\n"), ("your edit does not work", ""), (ASKED, "s\n"), (ASKED, "s\n")],
            1,
            CALCULATOR,
        ),
        (
            "false",
            &[(ASKED, "r\n"), (WHY, "too clever\n"), (ASKED, "a\n"), (ASKED, "a\n")],
            0,
            &turned,
        ),
        ("false", &[(ASKED, "a\n"), (ASKED, "s\n")], 1, &other),
        ("false", &[(ASKED, "a\n"), (ASKED, "q\n")], 1, &other),
        // The end of the input.
        ("false", &[(ASKED, "\u{4}")], 1, CALCULATOR),
    ];
    for (editor, steps, code, wanted) in table {
        let second = block("    return a - b", "    return b + a");
        let world = calculator(&[&good_add(), &second], &[&good_zero()]);
        let (ended, shown) = decided(&world, editor, steps);
        assert_eq!(
            (ended, world.read("p/calculator.py").as_str()),
            (code, wanted),
            "{steps:?}\n{shown}"
        );
        assert!(shown.contains("+    return a + b"), "{shown}");
    }
}

#[test]
fn an_interrupted_question_changes_nothing() {
    let world = both();
    let before = files(&world);
    let (code, shown) = decided(&world, "false", &[(ASKED, "\u{3}")]);
    assert_eq!((code, files(&world)), (130, before), "{shown}");
}

#[test]
fn what_a_model_wrote_moves_no_cursor() {
    let hostile = block("    return a - b", "    return a + b  # \u{1b}[2J\u{1b}[31mred\u{202e}\r");
    let world = calculator(&[&hostile], &[&good_zero()]);
    let (_, shown) = decided(&world, "false", &[(ASKED, "q\n")]);
    assert!(shown.contains("return a + b  # \\u{1b}[2J"), "{shown}");
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
}
