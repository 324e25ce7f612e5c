//! Hunks that are applied one by one, and found again in a changed text.

use std::collections::BTreeSet;

use proptest::prelude::*;
use trellis_python::{Hunk, HunkError, apply_hunks, hunks, is_shown_as, rebase, with_ends_of};

fn all(hunks: &[Hunk]) -> BTreeSet<usize> {
    (0..hunks.len()).collect()
}

#[test]
fn a_change_is_cut_where_lines_stay() {
    let table = [
        ("", "", vec![]),
        ("a\n", "a\n", vec![]),
        ("", "a\n", vec!["@@ -0,0 +1 @@"]),
        ("a\n", "", vec!["@@ -1 +0,0 @@"]),
        ("a\nb\nc\n", "A\nb\nC\n", vec!["@@ -1 +1 @@", "@@ -3 +3 @@"]),
        ("a\nb\nc\n", "a\nx\ny\nb\n", vec!["@@ -1,0 +2,2 @@", "@@ -3 +4,0 @@"]),
        ("a\nb\n", "a\nb", vec!["@@ -2 +2 @@"]),
        ("a\r\nb\r\n", "a\r\nB\r\n", vec!["@@ -2 +2 @@"]),
        ("größe = 1\nb", "größe = 2\nb", vec!["@@ -1 +1 @@"]),
    ];
    for (old, new, headers) in table {
        let found: Vec<String> = hunks(old, new).iter().map(Hunk::header).collect();
        assert_eq!(found, headers, "{old:?} to {new:?}");
    }
}

#[test]
fn some_hunks_give_some_of_the_change() {
    let (old, new) = ("a\r\nb\r\nc\r\nlast", "A\r\nb\r\nlast\r\nöne more");
    let pieces = hunks(old, new);
    assert_eq!(pieces.len(), 2, "{pieces:?}");
    let taken = |at: &[usize]| apply_hunks(old, &pieces, &at.iter().copied().collect());
    assert_eq!(taken(&[0]), "A\r\nb\r\nc\r\nlast");
    assert_eq!(taken(&[1]), "a\r\nb\r\nlast\r\nöne more");
    assert_eq!((taken(&[]), taken(&[0, 1])), (old.to_owned(), new.to_owned()));
}

#[test]
fn a_change_moves_with_its_lines_or_has_no_place() {
    let old = "import a\n\ndef f():\n    x = 1\n    return x\n\ndef g():\n    return 2\n";
    let new = old.replace("x = 1", "x = 3").replace("return 2", "return 4");
    let gone = |line| Err(HunkError::Gone { line });
    let table = [
        (format!("# mine\n{old}"), Ok(format!("# mine\n{new}"))),
        (old.replace("import a", "import b"), Ok(new.replace("import a", "import b"))),
        (format!("{old}\ndef h(): ...\n"), Ok(format!("{new}\ndef h(): ...\n"))),
        (old.replace("x = 1", "x = 2"), gone(4)),
        (old.replace("return 2", "return 5"), gone(8)),
        (String::new(), gone(4)),
        (format!("{old}{old}"), Err(HunkError::Several { line: 4, places: vec![4, 12] })),
    ];
    for (now, wanted) in table {
        assert_eq!(rebase(old, &hunks(old, &new), &now), wanted, "{now}");
    }
}

#[test]
fn hunks_keep_their_order() {
    let (old, new) = ("one\na\ntwo\nthree\nb\nfour\n", "one\nA\ntwo\nthree\nB\nfour\n");
    let now = "three\nb\nfour\none\na\ntwo\n";
    assert_eq!(rebase(old, &hunks(old, new), now), Err(HunkError::Crossed { line: 5 }));
}

/// Generates texts of few distinct lines, with either line break, and with or without a final one.
fn text() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec(prop::sample::select(vec!["a", "ü", "", "x = 1"]), 0..12);
    (lines, any::<bool>(), any::<bool>()).prop_map(|(lines, windows, ends)| {
        let line_break = if windows { "\r\n" } else { "\n" };
        let end = if ends && !lines.is_empty() { line_break } else { "" };
        lines.join(line_break) + end
    })
}

proptest! {
    #[test]
    fn none_is_the_old_text_and_all_the_new_one(old in text(), new in text()) {
        let pieces = hunks(&old, &new);
        prop_assert_eq!(apply_hunks(&old, &pieces, &BTreeSet::new()), old.clone());
        prop_assert_eq!(apply_hunks(&old, &pieces, &all(&pieces)), new);
        for pair in pieces.windows(2) {
            prop_assert!(pair[0].old_lines.end < pair[1].old_lines.start, "{:?}", pieces);
        }
    }

    /// After some hunks are applied, the difference to the new text is exactly the other hunks.
    #[test]
    fn any_part_and_then_the_rest_is_the_whole(old in text(), new in text(), bits in any::<u16>()) {
        let pieces = hunks(&old, &new);
        let (taken, left): (BTreeSet<usize>, BTreeSet<usize>) =
            (0..pieces.len()).partition(|at| bits >> (at % 16) & 1 == 1);
        let part = apply_hunks(&old, &pieces, &taken);
        // Line by line: each hunk is applied or not.
        let mut expected = String::new();
        let lines: Vec<&str> = old.split_inclusive('\n').collect();
        let mut at = 0;
        for (number, piece) in pieces.iter().enumerate() {
            expected += &lines[at..piece.old_lines.start].concat();
            expected += if left.contains(&number) { &piece.old } else { &piece.new };
            at = piece.old_lines.end;
        }
        expected += &lines[at..].concat();
        prop_assert_eq!(&part, &expected);
        let rest = hunks(&part, &new);
        prop_assert_eq!(apply_hunks(&part, &rest, &all(&rest)), new);
    }

    /// A hunk found again gives the same result as without the changes of others.
    #[test]
    fn on_the_same_text_nothing_moves(old in text(), new in text()) {
        let pieces = hunks(&old, &new);
        if let Ok(text) = rebase(&old, &pieces, &old) {
            prop_assert_eq!(text, new);
        }
    }
}

/// File text, the text as an editor shows it, the edited text, and the expected file text.
const SHOWN: [(&str, &str, &str, &str); 11] = [
    ("", "", "x\n", "x\n"),
    ("a\nb\n", "a\nb\n", "a\nB\n", "a\nB\n"),
    ("\u{feff}a\r\nb\r\n", "a\r\nb\r\n", "a\r\nx\r\nb\r\n", "\u{feff}a\r\nx\r\nb\r\n"),
    ("a\r\nb\nc\r\nd", "a\r\nb\r\nc\r\nd", "a\r\nb\r\nC\r\nd", "a\r\nb\nC\r\nd"),
    ("a\nb\nc\r\n", "a\nb\nc\n", "a\nx\nb\nc\ny\n", "a\nx\nb\nc\r\ny\r\n"),
    ("a\r\nb\nc\n", "a\nb\nc\n", "A\nB\nx\nc\n", "A\r\nB\nx\nc\n"),
    ("a\rb\nc\n", "a\nb\nc\n", "a\nb\nc\n", "a\rb\nc\n"),
    ("a\r\nb\r\n", "a\r\nb\r\n", "a\r\nb", "a\r\nb"),
    ("a\r\nb", "a\r\nb", "a\r\nb\r\nc", "a\r\nb\r\nc"),
    ("a\nb\n", "a\nb\n", "", ""),
    ("b\rb\n", "b\nb\n", "\n\n", "\r\r"),
];

#[test]
fn what_an_editor_changes_by_itself_is_no_change() {
    for (text, shown, edited, wanted) in SHOWN {
        assert!(is_shown_as(text, shown), "{text:?} as {shown:?}");
        assert_eq!(with_ends_of(text, shown), text, "{shown:?}");
        assert_eq!(with_ends_of(text, edited), wanted, "{text:?} to {edited:?}");
        assert!(edited == shown || !is_shown_as(text, edited), "{text:?} as {edited:?}");
    }
    // Line ends of one single kind are a deliberate choice.
    assert!(!is_shown_as("a\r\nb\r\n", "a\nb\n"));
    assert!(!is_shown_as("a\n", "a"));
}

proptest! {
    #[test]
    fn an_edited_text_has_the_lines_it_was_given(
        text in "\u{feff}?([abc]{0,2}(\n|\r\n|\r)){0,6}[ab]{0,2}",
        edited in "([abc]{0,2}\r\n){0,6}[ab]{0,2}",
    ) {
        let kept = with_ends_of(&text, &edited);
        let plain = |it: &str| it.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
        prop_assert_eq!(plain(&kept), plain(&edited));
        prop_assert_eq!(kept.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
    }
}
