//! Call graphs computed function by function.

use std::sync::Arc;

use trellis_python::{Index, Located, Reach, TextSource, Words};

struct NoTexts;

impl TextSource for NoTexts {
    fn read(&self, _path: &str) -> Option<Arc<str>> {
        None
    }
}

const FILES: [(&str, &str); 3] = [
    (
        "test_shop.py",
        "from shop.cart import Cart as Basket\nfrom shop import total\n\ndef test_a():\n    assert helper() == 1\n\ndef helper():\n    basket = Basket()\n    return total(basket.prices())\n",
    ),
    ("shop/__init__.py", "from .money import total\n"),
    (
        "shop/cart.py",
        "from . import money\n\nclass Cart:\n    def __init__(self):\n        self.all = []\n\n    def prices(self):\n        return money.rounded(self.all)\n",
    ),
];
const MONEY: (&str, &str) = (
    "shop/money.py",
    "def total(it):\n    return sum(rounded(it))\n\ndef rounded(it):\n    return it\n\ndef unused():\n    return total([])\n",
);

#[test]
fn calls_are_followed_through_files_and_only_from_what_was_asked() {
    let mut index = Index::new(Arc::new(NoTexts));
    for (path, text) in FILES.iter().chain([&MONEY]) {
        index.put(path, Words::of(text), Some((*text).into()));
    }
    let located = |path: &str, name: &str| {
        let file = index.file(path).expect("there");
        let symbols = &index.outline(file).symbols;
        let symbol = symbols.iter().position(|it| it.name == name).expect("defined");
        Located { file, symbol }
    };
    let name = |it: Located| {
        format!("{}:{}", index.path(it.file), index.outline(it.file).symbols[it.symbol].name)
    };
    let mut reach = Reach::new(&index);
    let mut from = |callers: &[Located]| {
        let mut names: Vec<String> = reach.of(callers).into_iter().map(name).collect();
        names.sort();
        names
    };
    assert_eq!(from(&[located("test_shop.py", "test_a")]), ["test_shop.py:helper"]);
    assert_eq!(
        from(&[located("test_shop.py", "helper")]),
        ["shop/cart.py:__init__", "shop/cart.py:prices", "shop/money.py:total"]
    );
    let both = [located("shop/cart.py", "prices"), located("shop/money.py", "total")];
    assert_eq!(from(&both), ["shop/money.py:rounded"]);
    assert_eq!(from(&[located("shop/money.py", "rounded")]), Vec::<String>::new());
}
