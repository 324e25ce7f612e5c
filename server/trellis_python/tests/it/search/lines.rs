//! Whole lines are never found within other lines.

use trellis_python::EditRefused;

use super::{applied, check, check_ambiguous};

const RATES: &str = "max_rate = 10\nrate     = 10\n\n\ndef f():\n    return rate\n";

#[test]
fn a_line_is_not_the_end_of_another() {
    check(&[
        (
            RATES,
            ["rate = 10\n", "rate = 5\n"],
            "max_rate = 10\nrate     = 5\n\n\ndef f():\n    return rate\n",
        ),
        (
            "class Page:\n    def __init__(self):\n        self.items = []\n\n    def names(self):\n        items = []\n        return items\n",
            ["items = []\n", "items = ['top']\n"],
            "class Page:\n    def __init__(self):\n        self.items = []\n\n    def names(self):\n        items = ['top']\n        return items\n",
        ),
        // The same without line breaks at the ends, as in JSON.
        (
            "self.items = []\nitems = []\n",
            ["items = []", "items = [1]"],
            "self.items = []\nitems = [1]\n",
        ),
        ("return 10\nreturn 1\n", ["return 1", "return 2"], "return 10\nreturn 2\n"),
        // The last line has no line break.
        ("größe_max = 1\nmax = 1", ["max = 1\n", "max = 2\n"], "größe_max = 1\nmax = 2"),
        // The first of several lines.
        (
            "if a:\n    pass\nelif x:\n    return 1\nif x:\n\treturn 1\n",
            ["if x:\n    return 1\n", "if x:\n    return 2\n"],
            "if a:\n    pass\nelif x:\n    return 1\nif x:\n\treturn 2\n",
        ),
        (
            "elif x:\n    return 10\nif x:\n    return 1\n",
            ["if x:\n    return 1", "if x:\n    return 2"],
            "elif x:\n    return 10\nif x:\n    return 2\n",
        ),
        // The indentation is exactly that of one line.
        (
            "def f():\n    if x:\n        return 1\n    return 1\n",
            ["    return 1\n", "    return 2\n"],
            "def f():\n    if x:\n        return 1\n    return 2\n",
        ),
    ]);
}

#[test]
fn a_part_of_a_line_is_found_in_it() {
    check(&[
        ("x = foo(a, b)\n", ["foo(a", "foo(1, a"], "x = foo(1, a, b)\n"),
        ("max_rate = 10\n", ["rate = 10", "rate = 5"], "max_rate = 5\n"),
    ]);
    let all = applied("f(\n    item,\n    items,\n)\n", ["item", "it"], Some(0));
    assert_eq!(all.as_deref(), Ok("f(\n    it,\n    its,\n)\n"));
}

#[test]
fn several_lines_like_the_search_are_ambiguous() {
    check_ambiguous("x = 1\nif a:\n    x = 1\n    xx = 1\n", ["x = 1\n", "x = 2\n"], &[1, 3]);
    check_ambiguous("x = 1\nif a:\n    x = 1\n    xx = 1\n", ["x = 1", "x = 2"], &[1, 3]);
    // Either a part of a line or a line with other spaces.
    check_ambiguous(RATES, ["rate = 10", "rate = 5"], &[1, 2]);
    let second = applied("max = 1\nx = 1\n    x = 1\n", ["x = 1\n", "x = 2\n"], Some(2));
    assert_eq!(second.as_deref(), Ok("max = 1\nx = 1\n    x = 2\n"));
    let all = applied("max = 1\nx = 1\n    x = 1\n", ["x = 1\n", "x = 2\n"], Some(0));
    assert_eq!(all.as_deref(), Ok("max = 1\nx = 2\n    x = 2\n"));
}

#[test]
fn the_end_of_another_line_is_not_alike() {
    for text in ["max_rate = 10\n", "max_rate = 10", "    max_rate = 10\r\nx = 1\r\n"] {
        let refused = applied(text, ["rate = 10\n", "rate = 5\n"], None);
        assert!(matches!(refused, Err(EditRefused::Uncertain { .. })), "{refused:?}");
    }
}

/// It is a guess which of the equal signs differs.
#[test]
fn a_merge_that_depends_on_equal_words_is_refused() {
    let edit = ["=+=====\nthree\n", "2f=======\n3\n"];
    let refused = applied("one\ntwo\n=======\nthree\n", edit, None);
    assert!(matches!(refused, Err(EditRefused::Uncertain { .. })), "{refused:?}");
}

/// The byte order mark is no part of the first line.
#[test]
fn the_first_line_may_follow_a_byte_order_mark() {
    check(&[
        ("\u{feff}x = 1\ny = 2\n", ["x = 1\n", "x = 2\n"], "\u{feff}x = 2\ny = 2\n"),
        ("\u{feff}x = 1\ny = 2", ["x = 1\ny = 2\n", "x = 1\ny = 3\n"], "\u{feff}x = 1\ny = 3"),
        ("\u{c}x = 1\nmax = 1\n", ["x = 1\n", "x = 2\ny = 1\n"], "\u{c}x = 2\ny = 1\nmax = 1\n"),
    ]);
}

/// Only what changes between search and replacement is changed.
#[test]
fn a_changed_line_keeps_the_spaces_of_the_file() {
    check(&[
        (
            "rate     = 10  # why\nwhole    = 'a  b'\n",
            ["rate = 10 # why\nwhole = 'a b'\n", "rate = 5 # why\nwhole = 'a b' + c\n"],
            "rate     = 5  # why\nwhole    = 'a  b' + c\n",
        ),
        (
            "def f():\n    größe  = 1\n",
            ["größe = 1\n", "if a:\n    größe = 2\n"],
            "def f():\n    if a:\n        größe = 2\n",
        ),
        // A deeper line.
        (
            "def f():\n\tif a:\n\t\tx  = 1\n\ty  = 2\n",
            ["    if a:\n        x = 1\n    y = 2\n", "    if a:\n        x = 1\n        y = 3\n"],
            "def f():\n\tif a:\n\t\tx  = 1\n\t\ty  = 3\n",
        ),
    ]);
}

#[test]
fn blank_lines_before_a_search_are_lines() {
    check(&[
        ("x = 1\n\n\ny = 1\n", ["\n\ny = 1\n", "\n\ny = 2\n"], "x = 1\n\n\ny = 2\n"),
        ("x = 1\n\ny = 1\n", ["\n\ny = 1\n", "y = 2\n"], "x = 1\n\ny = 2\n"),
        ("x = 1\n\ny = 1\n", ["\n\ny = 1\n", "\n\n\ny = 2\n"], "x = 1\n\n\ny = 2\n"),
    ]);
}

#[test]
fn a_line_may_be_the_end_of_another_where_a_word_begins() {
    let text = "class Box:\n    def twice(self): return self.n * 3\n";
    let made = applied(text, ["self.n * 3\n", "self.n * 2\n"], None);
    assert_eq!(made.as_deref(), Ok(text.replace("* 3", "* 2").as_str()));
    let refused = applied(text, ["n * 3\n", "n * 2\n"], None);
    assert!(refused.is_err(), "{refused:?}");
}
