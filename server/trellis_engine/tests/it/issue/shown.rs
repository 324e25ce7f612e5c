//! Tests of the selection of files for a prompt.

use trellis_engine::issue::{ShownFile, ShownPart, shown};

const CART: &str = "class Cart:\n    def add(self, price):\n        return price\n";
const RECEIPT: &str = "from shop.cart import Cart\n\n\ndef receipt(cart):\n    return str(cart)\n";

fn files(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

fn of(words: &str, all: &[(String, String)]) -> Vec<ShownFile> {
    shown(words, all, |path| path.starts_with("tests/"))
}

fn paths(all: &[ShownFile]) -> Vec<&str> {
    all.iter().map(|it| it.path.as_str()).collect()
}

/// Returns a file so large that the project is not small.
fn filler() -> (String, String) {
    let body = (0..600).map(|it| format!("def filler_{it}():\n    return {it}\n")).collect();
    ("shop/filler.py".to_owned(), body)
}

#[test]
fn a_small_project_is_shown_whole_with_one_test_module() {
    let all = files(&[
        ("README.md", "# Shop\n"),
        ("shop/__init__.py", ""),
        ("shop/cart.py", CART),
        ("shop/other.py", "X = 1\n"),
        ("shop/receipt.py", RECEIPT),
        ("tests/test_cart.py", "from shop.cart import Cart\n\n\ndef test_add():\n    pass\n"),
        ("tests/test_x.py", "def test_x():\n    pass\n"),
    ]);
    let found = of("`Cart.apply(code)` sets a code.", &all);
    assert_eq!(
        paths(&found),
        ["shop/cart.py", "shop/other.py", "shop/receipt.py", "tests/test_cart.py"]
    );
    assert!(found.iter().all(|it| it.part == ShownPart::Whole));
}

#[test]
fn a_larger_project_is_shown_as_far_as_the_words_name_it() {
    let mut all = files(&[
        ("shop/cart.py", CART),
        ("shop/receipt.py", RECEIPT),
        ("shop/tax.py", "def vat():\n    return 1\n"),
        ("tests/test_tax.py", "from shop.tax import vat\n\n\ndef test_vat():\n    pass\n"),
    ]);
    all.push(filler());
    let table: [(&str, &[&str]); 6] = [
        ("Write `shop/tax.py` anew.", &["shop/tax.py", "tests/test_tax.py"]),
        ("The module shop.tax lacks rates.", &["shop/tax.py", "tests/test_tax.py"]),
        ("A `receipt` is too long.", &["shop/receipt.py", "tests/test_tax.py"]),
        ("A Cart can be empty.", &["shop/cart.py", "tests/test_tax.py"]),
        ("The receipt of a Cart.", &["shop/cart.py", "shop/receipt.py", "tests/test_tax.py"]),
        ("Nothing of it.", &["tests/test_tax.py"]),
    ];
    for (words, wanted) in table {
        assert_eq!(paths(&of(words, &all)), wanted, "{words}");
    }
}

#[test]
fn of_a_long_file_the_named_parts_are_whole() {
    let all = [filler()];
    let found = of("`filler_7` is wrong.", &all);
    let [it] = &found[..] else { panic!("{found:?}") };
    assert_eq!(it.part, ShownPart::Signatures);
    assert!(it.text.contains("def filler_7():\n    return 7\n"), "{}", it.text);
    assert!(it.text.contains("def filler_8():\n    ...\n"), "{}", it.text);
}
