//! What answers make of the files of a project.

use std::collections::BTreeMap;

use cycle::feature::changes;
use cycle::repair::Sources;

struct Files(BTreeMap<&'static str, &'static str>);

impl Sources for Files {
    fn text(&self, path: &str) -> Option<String> {
        self.0.get(path).map(|it| (*it).to_owned())
    }

    fn read_only(&self, path: &str) -> Option<&'static str> {
        path.starts_with("tests/").then_some("tests are read-only")
    }
}

const CART: &str = "def total(prices):\n    return sum(prices)\n";

fn files() -> Files {
    Files([("shop/cart.py", CART), ("tests/test_cart.py", "x = 1\n")].into())
}

#[test]
fn whole_files_and_edits_are_taken_together() {
    let table = [
        ("shop/tax.py\n```python\nVAT = 0.2\n```\n", vec![("shop/tax.py", "VAT = 0.2\n")]),
        ("### `shop/tax.py`\n\n```python\nVAT = 0.2\n```\n", vec![("shop/tax.py", "VAT = 0.2\n")]),
        ("**./shop/tax.py**:\n```\nVAT = 0.2\n```\n", vec![("shop/tax.py", "VAT = 0.2\n")]),
        ("Here:\n```python shop/Tax.py\nVAT = 0.2\n```\n", vec![("shop/Tax.py", "VAT = 0.2\n")]),
        ("```js:web/app.js\nlet a;\n```\n", vec![("web/app.js", "let a;\n")]),
        (
            "shop/cart.py\n<<<<<<< SEARCH\n    return sum(prices)\n=======\n    return sum(prices, 0)\n>>>>>>> REPLACE\n\nshop/tax.py\n```python\nVAT = 0.2\n```\n",
            vec![
                ("shop/cart.py", "def total(prices):\n    return sum(prices, 0)\n"),
                ("shop/tax.py", "VAT = 0.2\n"),
            ],
        ),
        // A file that is not there is made by a block that searches for nothing.
        ("a.py\n<<<<<<< SEARCH\n=======\nA = 1\n>>>>>>> REPLACE\n", vec![("a.py", "A = 1\n")]),
    ];
    for (answer, wanted) in table {
        let wanted = wanted.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned()));
        assert_eq!(changes(answer, &files()), Ok(wanted.collect()), "{answer}");
    }
}

#[test]
fn what_cannot_be_used_is_told_and_changes_nothing() {
    let table = [
        ("I would rather not.", "it holds no file under its path"),
        ("```python\nVAT = 0.2\n```\n", "it holds no file under its path"),
        (
            "shop/cart.py\n```python\ndef total(prices):\n    return sum(prices)\n```\n",
            "it holds no file",
        ),
        (
            "tests/test_cart.py\n```python\nx = 2\n```\n",
            "tests/test_cart.py may not be changed: tests are read-only",
        ),
        ("shop/tax.py\n```python\ndef (:\n```\n", "shop/tax.py would be broken"),
        ("a.py\n```\nA = 1\n```\na.py\n```\nA = 2\n```\n", "it holds a.py twice"),
        ("b.py\n<<<<<<< SEARCH\nA\n=======\nB\n>>>>>>> REPLACE\n", "there is no file b.py"),
        ("<<<<<<< SEARCH\nA\n=======\nB\n>>>>>>> REPLACE\n", "a search/replace block has no path"),
        (
            "shop/cart.py\n<<<<<<< SEARCH\nnowhere\n=======\nB\n>>>>>>> REPLACE\n",
            "the edit of shop/cart.py was refused",
        ),
    ];
    for (answer, wanted) in table {
        let why = changes(answer, &files()).expect_err(answer);
        assert!(why.starts_with(wanted), "{answer}: {why}");
    }
}
