//! Facts on the functions and statements of a file.

use trellis_python::{FileFacts, StatementKind};

const CART: &str = "\
RATE = 3

class Cart:
    def total(self, items=[]):
        price = sum(it.price
                    for it in items) * RATE
        if price > 10:
            price -= 1
        else:
            return price
        return self.rounded(price)

    def rounded(self, price, places):
        return round(price)
";

#[test]
fn functions_have_names_lines_and_calls() {
    let facts = FileFacts::of(CART).expect("Python");
    let found: Vec<_> =
        facts.functions.iter().map(|it| (it.name.as_str(), it.first, it.last)).collect();
    assert_eq!(found, [("Cart.total", 4, 11), ("Cart.rounded", 13, 14)]);
    assert!(facts.functions[0].calls.contains("rounded"));
    assert_eq!(facts.function_at(6), Some(0));
    assert_eq!(facts.function_at(1), None);
}

#[test]
fn statements_have_kinds_branches_and_parts_by_line() {
    let facts = FileFacts::of(CART).expect("Python");
    let at = |line: u32| &facts.statements[facts.statement_at(line).expect("a statement")];
    assert_eq!((at(6).first, at(6).last, at(6).kind), (5, 6, StatementKind::Assignment));
    assert_eq!(at(6).parts_of_lines.keys().copied().collect::<Vec<_>>(), [5, 6]);
    assert_eq!((at(7).kind, at(7).branches.clone()), (StatementKind::Condition, vec![8, 10]));
    assert!(at(1).binds.contains("RATE") && at(1).function.is_none());
}

#[test]
fn odd_constructs_are_named_and_sound_ones_are_not() {
    let table = [
        ("def f(a=[]):\n    return a\n", Some("a default value is shared by all calls")),
        ("def f(a):\n    return 1\n", Some("the parameter `a` is never used")),
        ("def f(a):\n    if a:\n        return 1\n", Some("some paths through it return nothing")),
        ("x = 1 if y is 'a' else 2\n", Some("`is` compares with a literal")),
        ("x = y == y\n", Some("something is compared with itself")),
        ("x = y or y\n", Some("both sides of a condition are the same")),
        ("try:\n    x()\nexcept:\n    pass\n", Some("a bare `except` catches everything")),
        (
            "def f(a):\n    for x in a:\n        a.remove(x)\n",
            Some("the loop changes what it iterates over"),
        ),
        ("x.y = x.y\n", Some("something is assigned to itself")),
        ("x + 1\n", Some("the value is computed and discarded")),
        ("def f(a):\n    while True:\n        if a():\n            return 1\n", None),
        ("def f(a):\n    if a:\n        return 1\n    else:\n        return 2\n", None),
        ("def f(a):\n    raise NotImplementedError\n", None),
    ];
    for (source, expected) in table {
        let facts = FileFacts::of(source).expect("Python");
        let found: Vec<&str> =
            facts.statements.iter().flat_map(|it| it.oddities.iter().map(String::as_str)).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{source}");
    }
}

#[test]
fn headers_of_classes_are_statements_and_declarations_hold_nothing() {
    let text = "from a import B as C\nimport d.e\n\nclass Page(C, Base, metaclass=Meta):\n    size: int\n    width: int = 3\n\nclass Plain:\n    x = page.size\n";
    let facts = FileFacts::of(text).expect("Python");
    let at = |line: u32| facts.statements.iter().find(|it| it.first == line);
    let header = at(4).expect("a header with bases");
    assert_eq!((header.kind, header.last, header.parts), (StatementKind::Definition, 4, 1));
    assert!(header.binds.contains("Page") && header.reads.contains("Meta"));
    assert_eq!(at(5).expect("a declaration").kind, StatementKind::Other);
    assert_eq!(at(6).expect("a value").kind, StatementKind::Assignment);
    assert!(at(8).is_none(), "nothing can be wrong in it");
    let read = at(9).expect("a value");
    assert_eq!(read.attributes.iter().collect::<Vec<_>>(), ["size"]);
    assert_eq!(facts.imports.iter().collect::<Vec<_>>(), ["C", "d"]);
}
