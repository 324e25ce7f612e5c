//! Edits that say little about a bug, and edits of the same effect.

use trellis_python::{Mutant, Weakness, mutants};

/// Returns the edit of a source that is described in these words.
fn edit(source: &str, what: &str) -> Mutant {
    let found = mutants(source, |_| true).expect("Python");
    let said: Vec<String> = found.iter().map(|it| it.describe(source)).collect();
    let it = found.into_iter().find(|it| it.describe(source) == what);
    it.unwrap_or_else(|| panic!("{what} is none of {said:#?}"))
}

fn check(table: &[(&str, &str, Option<Weakness>)]) {
    for (source, what, expected) in table {
        assert_eq!(edit(source, what).weakness(source), *expected, "{what} in {source}");
    }
}

#[test]
fn what_an_author_gets_wrong_easily_is_no_weak_evidence() {
    let f = "def f(a, b):\n    return ";
    let table = [
        ("a < b", "changing `<` to `<=`"),
        ("a == 1", "changing `==` to `!=`"),
        ("len(a) == b", "changing `==` to `<=`"),
        ("a in b", "changing `in` to `not in`"),
        ("a - b", "changing `-` to `+`"),
        ("a - b", "changing `a - b` to `b - a`"),
        ("a and b", "changing `and` to `or`"),
        ("not a", "changing `not a` to `a`"),
        ("a > 50", "changing `50` to `51`"),
        ("a * 1", "changing `1` to `-1`"),
        ("f(a, True)", "changing `True` to `False`"),
        ("a[b]", "changing `b` to `b - 1`"),
        ("a[1:]", "adding `-1`"),
        ("g(a, b)", "changing `a, b` to `b, a`"),
        ("a.size < 3", "changing `a` to `b`"),
        ("min(a, b)", "changing `min` to `max`"),
        ("a.x + a.y + b.x", "changing `x` to `y`"),
    ];
    for (expression, what) in table {
        check(&[(&format!("{f}{expression}\n"), what, None)]);
    }
    check(&[
        ("def f(a):\n    g(a)\n", "adding `return`", None),
        ("async def f(a):\n    g(a)\n", "adding `await`", None),
    ]);
}

#[test]
fn what_satisfies_tests_for_other_reasons_is_weak_evidence() {
    use Weakness::{Added, Called, Course, Operands, Removed, Value};
    let f = "def f(a, b):\n    return ";
    let table = [
        // Words are not ordered, and every text contains the empty one.
        ("a == b", "changing `==` to `<=`", Operands),
        ("a.kind > 'x'", "changing `>` to `>=`", Operands),
        ("'.' in a", "changing `'.'` to `\"\"`", Value),
        ("a == b", "changing `==` to `in`", Operands),
        ("a % 'x'", "changing `%` to `*`", Operands),
        ("a > 50", "changing `50` to `500`", Value),
        ("a > 0.5", "changing `0.5` to `5.0`", Value),
        ("a.isdigit() and not b.isdigit()", "changing `a` to `b`", Operands),
        ("a == b", "changing `a` to `b`", Operands),
        ("f(a, b)", "leaving out `, b`", Removed),
        ("a.b()", "changing `a.b()` to `a`", Removed),
        ("hash(a)", "changing `hash(a)` to `max(0, hash(a))`", Added),
        ("a - 1", "changing `a - 1` to `a - 1 - b`", Added),
        ("a", "changing `a` to `a + 1`", Added),
        ("a.rstrip()", "changing `rstrip` to `strip`", Called),
    ];
    for (expression, what, weakness) in table {
        check(&[(&format!("{f}{expression}\n"), what, Some(weakness))]);
    }
    let os = "import os\n\ndef f(a):\n    os.listdir(a)\n    os.rmdir(a)\n";
    let cache = "class A:\n    def f(self, k):\n        self.c.get(k)\n        self.c.forget(k)\n";
    let count = "def f(a):\n    a -= 1\n    return a\n";
    let error = "def f(a):\n    raise KeyError(a)\n";
    check(&[
        (os, "changing `rmdir` to `listdir`", Some(Called)),
        (cache, "changing `forget` to `get`", Some(Called)),
        (count, "changing `-=` to `=`", Some(Course)),
        (error, "changing `KeyError` to `ValueError`", Some(Called)),
        (os, "leaving out `os.rmdir(a)`", Some(Removed)),
    ]);
}

#[test]
fn edits_of_the_same_effect_have_one_form() {
    let source =
        |test: &str| format!("LIMIT = 3\n\ndef f(a, b):\n    if {test}:\n        return 1\n");
    // Pairs of edits of one text, and whether they do the same on whole numbers.
    let table = [
        ("a > b", "changing `>` to `>=`", "changing `b` to `b - 1`", true),
        ("a > b", "changing `>` to `>=`", "changing `a` to `a + 1`", true),
        ("a > b", "changing `>` to `>=`", "changing `a` to `a - 1`", false),
        ("a > 18", "changing `>` to `>=`", "changing `18` to `17`", true),
        ("a > 18", "changing `>` to `>=`", "changing `18` to `19`", false),
        ("a < b", "changing `<` to `>=`", "changing `a < b` to `(not (a < b))`", true),
        ("a and b", "changing `a` to `(not (a))`", "changing `b` to `(not (b))`", false),
        ("a > LIMIT", "changing `>` to `>=`", "changing `3` to `2`", false),
    ];
    for (test, one, other, is_same) in table {
        let source = source(test);
        let effects = [one, other].map(|it| edit(&source, it).effect(&source).expect("Python"));
        assert_eq!(effects[0] == effects[1], is_same, "{one}, {other}: {effects:#?}");
    }
}
