//! Tests of the examples in docstrings.

use trellis_python::doctests;

const SOURCE: &str = r#"""">>> start()
0
"""


class Cart:
    """A cart.

    >>> cart = Cart()
    >>> for it in cart:
    ...     print(it)
    tea

    Prose is no output.
    """

    def total(self):
        r'''The total.

            >>> Cart().total()  # doctest: +SKIP
            {'a':
               1}'''


def plain():
    """Has no example: a > b >> c."""


__test__ = {"more": ">>> 1 + 1\n2\n"}
"#;

#[test]
fn examples_are_found_with_their_output_by_the_definition_around_them() {
    let found = doctests(SOURCE).expect("valid Python");
    let found: Vec<(&str, Vec<&str>)> = (found.iter())
        .map(|(name, it)| (name.as_str(), it.iter().map(String::as_str).collect()))
        .collect();
    let wanted = [
        ("", vec![">>> start()\n0", ">>> 1 + 1\n2"]),
        ("Cart", vec![">>> cart = Cart()", ">>> for it in cart:\n...     print(it)\ntea"]),
        ("Cart.total", vec![">>> Cart().total()  # doctest: +SKIP\n{'a':\n   1}"]),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn the_place_and_the_prose_of_an_example_do_not_count() {
    let moved = SOURCE
        .replace("class Cart:", "import os\n\n\nclass Cart:")
        .replace("A cart.", "A shopping cart.\n\n    It holds what is bought.")
        .replace("            >>> Cart().total()  # doctest: +SKIP\n            {'a':\n               1}", "        >>> Cart().total()  # doctest: +SKIP\n        {'a':\n           1}");
    assert_ne!(moved, SOURCE);
    assert_eq!(doctests(&moved), doctests(SOURCE));
    for changed in ["0\n\"\"\"", "print(it)", "+SKIP", "   1}", "2\\n"] {
        let other = SOURCE.replacen(changed, &changed.replace(['0', 't', 'S', '1', '2'], "7"), 1);
        assert_ne!(doctests(&other), doctests(SOURCE), "{changed}");
    }
}
