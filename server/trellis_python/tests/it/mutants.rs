//! Mutants of small texts.

use trellis_python::{MutantKind, mutants};

/// Returns every mutant that is valid Python, as "line kind: description".
fn all(source: &str) -> Vec<String> {
    let found = mutants(source, |_| true).expect("Python");
    let python = found.iter().filter(|it| it.apply(source).is_some());
    python.map(|it| format!("{} {:?}: {}", it.line, it.kind, it.describe(source))).collect()
}

#[test]
fn each_construct_has_the_edits_that_would_repair_it() {
    let table = [
        ("boundary", "def f(a, b):\n    return a < b\n", "2 Boundary: changing `<` to `<=`"),
        ("comparison", "def f(a):\n    return a == 1\n", "2 Comparison: changing `==` to `!=`"),
        (
            "membership",
            "def f(a):\n    return 1 not in a\n",
            "2 Comparison: changing `not in` to `in`",
        ),
        ("arithmetic", "x = 1 + 2\n", "1 Operator: changing `+` to `-`"),
        ("assignment with an operator", "x = 1\nx ^= 2\n", "2 Operator: changing `^=` to `&=`"),
        ("operands", "def f(a, b):\n    return a - b\n", "2 Operator: changing `a - b` to `b - a`"),
        (
            "parentheses",
            "def f(a, b):\n    return a + b / 2\n",
            "2 Operator: changing `a + b / 2` to `(a + b) / 2`",
        ),
        ("logic", "def f(a, b):\n    return a and b\n", "2 Logic: changing `and` to `or`"),
        (
            "a `not` too many",
            "def f(a):\n    return not a\n",
            "2 Negation: changing `not a` to `a`",
        ),
        (
            "a condition",
            "def f(a):\n    if a:\n        return 1\n",
            "2 Negation: changing `a` to `(not (a))`",
        ),
        ("a number", "x = 7\n", "1 Constant: changing `7` to `8`"),
        ("a truth value", "x = True\n", "1 Constant: changing `True` to `False`"),
        ("an index", "def f(a, i):\n    return a[i]\n", "2 OffByOne: changing `i` to `i - 1`"),
        ("a slice", "def f(a):\n    return a[1:]\n", "2 OffByOne: adding `-1`"),
        (
            "arguments",
            "def f(a, b):\n    return g(a, b)\n",
            "2 Arguments: changing `a, b` to `b, a`",
        ),
        (
            "an option",
            "x = sorted([2], reverse=True)\n",
            "1 Arguments: leaving out `, reverse=True`",
        ),
        ("a variable", "def f(a, b):\n    return a.x\n", "2 Name: changing `a` to `b`"),
        (
            "an undefined name",
            "def f(output):\n    def g(s):\n        return open(output_path, s)\n",
            "3 Undefined: changing `output_path` to `output`",
        ),
        (
            "a misspelt function",
            "import shutil\n\ndef compute(a):\n    return computed(a)\n",
            "4 Undefined: changing `computed` to `compute`",
        ),
        (
            "a forgotten `self`",
            "class A:\n    def f(self):\n        self.size = 1\n        return size\n",
            "4 Undefined: changing `size` to `self.size`",
        ),
        ("a method", "def f(a):\n    a.append(1)\n", "2 Sibling: changing `append` to `extend`"),
        ("a function", "x = min(1, 2)\n", "1 Sibling: changing `min` to `max`"),
        (
            "an attribute",
            "class A:\n    def f(self):\n        self.a = 1\n        self.b = 2\n        return self.a\n",
            "5 Sibling: changing `a` to `b`",
        ),
        ("a clamp", "def f(a):\n    return a - 1\n", "2 Wrap: changing `a - 1` to `max(0, a - 1)`"),
        ("a copy", "def f(a):\n    return a\n", "2 Wrap: changing `a` to `(a).copy()`"),
        (
            "an await",
            "async def f(a):\n    return a()\n",
            "2 Keyword: changing `a()` to `await a()`",
        ),
        ("a return", "def f(a):\n    f(a)\n", "2 Keyword: adding `return`"),
        (
            "a loop left too early",
            "def f(a):\n    for x in a:\n        break\n",
            "3 Keyword: changing `break` to `continue`",
        ),
        (
            "a missing base case",
            "def f(a):\n    return f(a[1:])\n",
            "2 Guard: adding `if not a: return a`",
        ),
        (
            "a missing check",
            "def f(a):\n    if a.b:\n        return 1\n",
            "2 Guard: changing `a.b` to `(not a or a.b)`",
        ),
        (
            "an endless loop",
            "def f(queue):\n    while True:\n        queue.pop()\n",
            "2 Loop: changing `True` to `queue`",
        ),
        (
            "a statement too many",
            "def f(a):\n    a.sort()\n    return a\n",
            "2 Delete: leaving out `a.sort()`",
        ),
        ("the order", "def f(a):\n    a.x()\n    a.y()\n", "3 Move: moving `a.x() a.y()`"),
        ("a recursion", "def f(a, b):\n    return f(a, b)\n", "2 Combine: changing `a` to `a - b`"),
        (
            "a base case",
            "def f(a):\n    return len(a) == 0\n",
            "2 Boundary: changing `== 0` to `<= 1`",
        ),
        (
            "an index of two parts",
            "def f(a, i, j):\n    return a[i, j]\n",
            "2 Arguments: changing `i, j` to `j, i`",
        ),
        (
            "a maximum",
            "def f(a):\n    m = 0\n    m = a\n    return m\n",
            "3 Wrap: changing `a` to `max(m, a)`",
        ),
        (
            "an exception",
            "try:\n    pass\nexcept KeyError:\n    pass\n",
            "3 Sibling: changing `KeyError` to `Exception`",
        ),
        ("a default value", "def f(a=1):\n    return a\n", "1 Constant: changing `1` to `2`"),
    ];
    for (name, source, expected) in table {
        let found = all(source);
        assert!(found.iter().any(|it| it == expected), "{name}: {expected} not in\n{found:#?}");
    }
}

#[test]
fn a_statement_moves_into_a_loop_and_out_of_it() {
    let inside = "def f(a):\n    n = 0\n    for x in a:\n        n += x\n        return n\n";
    let outside = "def f(a):\n    n = 0\n    for x in a:\n        n += x\n    return n\n";
    for (from, to) in [(inside, outside), (outside, inside)] {
        let found = mutants(from, |_| true).expect("Python");
        let moved = found.iter().filter(|it| it.kind == MutantKind::Move);
        let texts: Vec<String> = moved.filter_map(|it| it.apply(from)).collect();
        assert!(texts.iter().any(|it| it == to), "{to} not in\n{texts:#?}");
    }
}

#[test]
fn only_wanted_lines_change_and_never_a_docstring_or_an_annotation() {
    let source = "def f(a: int = 1) -> 'list[int]':\n    '''Say 1 < 2.'''\n    return a + 1\n";
    let found = mutants(source, |line| line == 3).expect("Python");
    assert!(!found.is_empty());
    assert!(found.iter().all(|it| it.line == 3), "{found:#?}");
    for it in mutants(source, |_| true).expect("Python") {
        let text = it.apply(source).unwrap_or_default();
        let kept = text.is_empty() || text.contains("'list[int]'") && text.contains("Say 1 < 2.");
        assert!(kept, "{it:?}");
    }
}

#[test]
fn a_name_that_may_be_defined_has_no_replacement() {
    let table = [
        ("a builtin", "def f(path):\n    return len(path)\n"),
        ("a star import", "from os.path import *\n\ndef f(path):\n    return abspath(path)\n"),
        ("bound later", "def f(path):\n    return paths[path]\n\npaths = {}\n"),
        ("of a comprehension", "def f(path):\n    return [it for it in path]\n"),
        ("an unlike name of the module", "import shutil\n\ndef f():\n    return computed\n"),
    ];
    for (name, source) in table {
        let found = mutants(source, |_| true).expect("Python");
        let found: Vec<_> = found.iter().filter(|it| it.kind == MutantKind::Undefined).collect();
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

#[test]
fn what_is_no_python_has_no_mutants() {
    assert!(mutants("def f(:\n", |_| true).is_err());
}
