//! Tests of the losses by a change of an existing file.

use trellis_engine::issue::losses;

const BEFORE: &str = "\
from dataclasses import dataclass

LIMIT = 5


@dataclass(frozen=True)
class Item:
    sku: str
    price: int

    def total(self, count):
        if count < 1:
            raise ValueError('count')
        return self.price * count


def format_cents(cents):
    return str(cents)


def _own():
    return 1
";

fn taken(words: &str, after: &str) -> Vec<String> {
    losses(words, "shop.py", BEFORE, after).taken
}

#[test]
fn public_names_decorators_and_checks_are_missed() {
    let table = [
        (
            "def format_cents(cents):\n    return str(cents)\n",
            "",
            "shop.py has lost `format_cents`",
        ),
        ("LIMIT = 5\n", "", "shop.py has lost `LIMIT`"),
        ("    price: int\n", "", "shop.py has lost `Item.price`"),
        ("class Item", "class Thing", "`Item`, `Item.price`, `Item.sku`, `Item.total`"),
        ("@dataclass(frozen=True)", "@dataclass", "`Item` is without @dataclass(frozen=True) now"),
        ("        if count < 1:\n            raise ValueError('count')\n", "", "Item.total"),
        // Private names, and equivalent code in other words, are free to change.
        ("def _own():\n    return 1\n", "", ""),
        ("raise ValueError('count')", "raise ValueError('how many?')", ""),
        ("return str(cents)", "return f'{cents}'", ""),
    ];
    for (from, to, wanted) in table {
        let after = BEFORE.replacen(from, to, 1);
        assert_ne!(after, BEFORE, "{from}");
        let found = taken("Give it a discount.", &after).join("\n");
        assert!(found.contains(wanted) && found.is_empty() == wanted.is_empty(), "{from}: {found}");
    }
}

#[test]
fn what_the_words_want_away_may_go() {
    let after = BEFORE.replace("format_cents", "as_money");
    let table = [
        ("Rename `format_cents` to `as_money`.", true),
        ("`format_cents` is no longer needed.", true),
        ("`format_cents` gives whole cents.", false),
        ("Remove `format_cent`.", false),
    ];
    for (words, may_go) in table {
        assert_eq!(taken(words, &after).is_empty(), may_go, "{words}");
    }
}

#[test]
fn a_rewritten_file_is_reported_with_its_lines() {
    let rewritten =
        |path: &str, before: &str, after: &str| losses("", path, before, after).rewritten;
    let lines =
        |range: std::ops::Range<u32>| range.map(|it| format!("line {it}\n")).collect::<String>();
    for (all, gone, is_reported) in [(30, 10, false), (30, 11, true), (9, 8, false)] {
        let reported = rewritten("a.txt", &lines(0..all), &lines(gone..all));
        assert_eq!(!reported.is_empty(), is_reported, "{gone} of {all}: {reported:?}");
    }
    assert!(rewritten("a.txt", &lines(0..30), &lines(0..60)).is_empty(), "more is no loss");
    let reported = rewritten("a.txt", &lines(0..12), &lines(5..12));
    assert_eq!(reported, ["a.txt was rewritten: 5 of its 12 lines are gone"]);
}
