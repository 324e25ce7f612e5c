//! Functions on small texts: names, signatures, edits, classes, known imports.

use trellis_python::import_for;
use trellis_python::{
    Candidate, EditRefused, Fragment, SearchReplace, Signature, enforce, search_replace, unresolved,
};

#[test]
fn names_used_but_never_bound() {
    let cases: &[(&str, &[&str])] = &[
        ("def f(a: List[int]):\n    return math.sqrt(a)\n", &["List", "math"]),
        ("x = [i for i in range(3) if i]\n", &[]),
        ("x = [i for i in rows for j in i]\nprint(j)\n", &["j", "rows"]),
        ("class A:\n    k = 1\n    def f(self):\n        return k\n", &["k"]),
        ("def f():\n    global g\n    g = 1\n    return g\n", &["g"]),
        ("def f(x=d):\n    d = 1\n    return lambda y, *z: (x, y, z, w)\n", &["d", "w"]),
        ("try:\n    pass\nexcept E as e:\n    print(e)\n", &["E"]),
        ("match v:\n    case {'a': [x, *r], **k}:\n        print(x, r, k)\n", &["v"]),
        ("if (n := g()) > 1:\n    print(n)\n", &["g"]),
        ("def f[T](x: T) -> T:\n    return x\n", &[]),
    ];
    for (source, expect) in cases {
        let found: Vec<String> = unresolved(source).expect(source).into_iter().collect();
        assert_eq!(found, *expect, "{source}");
    }
}

#[test]
fn the_specification_wins_over_a_generated_signature() {
    let cases = [
        ("def f(a: int) -> int", "def f(a: int) -> int:\n    return a\n", None),
        ("def f(a)", "def f(a: int) -> int:\n    return a\n", None),
        (
            "def f(numbers: list[int]) -> int",
            "def f(values):\n    return sum(values) + len([values for values in values])\n",
            Some(
                "def f(numbers: list[int]) -> int:\n    return sum(numbers) + len([numbers for numbers in numbers])\n",
            ),
        ),
        (
            "f(a, b=2)",
            "@cache\ndef f(a, b=3): return a\n",
            Some("@cache\ndef f(a, b=2): return a\n"),
        ),
        ("def f(a, b)", "def f(a):\n    return a\n", Some("def f(a, b):\n    return a\n")),
        ("async def f(a):", "def f(a):\n    return a\n", Some("async def f(a):\n    return a\n")),
        (
            "def f(a, *, k=1)",
            "def f(a, k=1):\n    return k\n",
            Some("def f(a, *, k=1):\n    return k\n"),
        ),
        (
            "def f(a: int, b)",
            "def f(b, a):\n    return a - b\n",
            Some("def f(a: int, b):\n    return a - b\n"),
        ),
    ];
    for (spec, source, expect) in cases {
        let signature = Signature::parse(spec).expect(spec);
        assert_eq!(enforce(source, &signature).expect(source).as_deref(), expect, "{spec}");
    }
    assert!(Signature::parse("def f(a: -> int").is_err());
}

#[test]
fn search_and_replace_is_exact_then_tolerant_and_never_ambiguous() {
    let text = "def f(x):\n    if x:\n        return 1\n    return 1\n\ndef g():\n    total = sum(values)\n    return total\n";
    let edit = |search: &str, replace: &str, occurrence| SearchReplace {
        path: String::new(),
        search: search.to_owned(),
        replace: replace.to_owned(),
        occurrence,
    };
    let ok = |e: SearchReplace| search_replace(text, &e).expect("applies").edits.apply(text);
    assert!(ok(edit("return total", "return 2", None)).ends_with("    return 2\n"));
    assert_eq!(ok(edit("return 1", "return 0", Some(0))).matches("return 0").count(), 2);
    assert!(ok(edit("return 1", "return 9", Some(2))).contains("    return 9\n\ndef g"));
    assert!(
        ok(edit("if x :\n    return 1", "if not x:\n    return 1", None))
            .contains("    if not x:\n        return 1\n")
    );
    assert!(
        ok(edit("total = sum(value)\nreturn total", "total = sum(value)\nreturn 0", None))
            .contains("    total = sum(values)\n    return 0\n")
    );
    let candidate = |line, text: &str| Candidate { line, text: text.to_owned() };
    let candidates = vec![candidate(3, "return 1"), candidate(4, "return 1")];
    assert_eq!(
        search_replace(text, &edit("return 1", "", None)),
        Err(EditRefused::Ambiguous { candidates })
    );
    assert_eq!(search_replace(text, &edit("while True:", "", None)), Err(EditRefused::NotFound));
    assert_eq!(search_replace(text, &edit(" ", "", None)), Err(EditRefused::EmptySearch));
    assert_eq!(
        search_replace(text, &edit("return 1", "", Some(3))),
        Err(EditRefused::NoSuchOccurrence { wanted: 3, found: 2 })
    );
}

#[test]
fn a_fragment_keeps_comments_and_hoists_imports() {
    let source = "\"\"\"Doc.\"\"\"\n# about x\nx = 1  # one\nimport os, sys as s\n\n# the function\n@deco\ndef f():\n    # inside\n    return 1\n# end\n\nif __name__ == '__main__':\n    f()\n";
    let fragment = Fragment::parse(source).expect("parses");
    let items: Vec<&str> = fragment.items.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(fragment.docstring.as_deref(), Some("\"\"\"Doc.\"\"\""));
    assert_eq!(
        fragment.imports.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["import os", "import sys as s"]
    );
    assert_eq!(
        items,
        ["# about x\nx = 1  # one", "# the function\n@deco\ndef f():\n    # inside\n    return 1"]
    );
    let again = Fragment::parse(&fragment.to_source()).expect("parses");
    assert_eq!(again, fragment);
}

#[test]
fn well_known_names_come_from_where_everyone_takes_them() {
    let cases = [
        ("math", "math.pi", Some("import math")),
        ("math", "x = math", None),
        ("List", "List", Some("from typing import List")),
        ("defaultdict", "defaultdict(int)", Some("from collections import defaultdict")),
        ("np", "np.array", Some("import numpy as np")),
        ("pd", "pd.DataFrame", None),
        ("datetime", "datetime.now()", Some("from datetime import datetime")),
        ("datetime", "datetime.datetime.now()", Some("import datetime")),
        ("total", "total + 1", None),
    ];
    for (name, source, expect) in cases {
        let import = import_for(name, source, |package| package == "numpy");
        assert_eq!(import.map(|i| i.to_string()).as_deref(), expect, "{name} in {source}");
    }
}

#[test]
fn methods_come_out_of_a_class_and_leave_the_rest() {
    let class = "class A:\n    x = 1\n\n    # why\n    def f(self):\n        return '''\n  raw'''\n\n    def g(self): pass\n";
    let (rest, out) = trellis_python::remove_methods(class, &|name| name == "f").expect("a class");
    assert_eq!(rest, "class A:\n    x = 1\n\n    def g(self): pass");
    assert_eq!(out[0].text, "# why\ndef f(self):\n    return '''\n  raw'''");
    let (empty, _) = trellis_python::remove_methods("class A:\n    def f(self): pass\n", &|_| true)
        .expect("a class");
    assert_eq!(empty, "class A:\n    pass");
}

#[test]
fn tests_are_counted_as_pytest_collects_them() {
    let cases: &[(&str, &[(&str, usize)])] = &[
        (
            "def test_a(): pass\nasync def test_b(): pass\ndef helper():\n    def test_c(): pass\n",
            &[("test_a", 1), ("test_b", 1)],
        ),
        (
            "@pytest.fixture\ndef test_data(): pass\n@fixture(scope='module')\ndef test_more(): pass\n",
            &[],
        ),
        (
            "@pytest.mark.parametrize('a, b', [(1, '],'), (2, '['),  # (3, 3),\n])\ndef test_a(a, b): pass\n",
            &[("test_a", 2)],
        ),
        (
            "@parametrize(['a', 'b', 'c'], [(1, 2, 3)] )\n@parametrize(argnames='x', argvalues=(1, 2, 3))\ndef test_a(a, b, c, x): pass\n",
            &[("test_a", 3)],
        ),
        ("@pytest.mark.parametrize('a', ROWS)\ndef test_a(a): pass\n", &[("test_a", 1)]),
        (
            "class TestA:\n    @parametrize('a', [1, 2])\n    def test_x(self, a): pass\n    def test_y(self): pass\n    def help(self): pass\n",
            &[("TestA", 3)],
        ),
        (
            "class AddTests(unittest.TestCase):\n    def test_x(self): pass\nclass Helper:\n    def test_x(self): pass\n",
            &[("AddTests", 1)],
        ),
        (
            "def test_a(): pass\ndef test_b(): pass\n@parametrize('a', [1, 2])\ndef test_a(a): pass\n",
            &[("test_b", 1), ("test_a", 2)],
        ),
    ];
    for (source, expect) in cases {
        let found = trellis_python::tests(source).expect(source);
        let found: Vec<(&str, usize)> =
            found.iter().map(|it| (it.name.as_str(), it.cases)).collect();
        assert_eq!(found, *expect, "{source}");
    }
}

#[test]
fn test_functions_are_counted_as_they_are_written() {
    let source = "@parametrize('a', [1, 2, 3])\ndef test_a(a): pass\nclass TestB:\n    @parametrize('b', [1, 2])\n    def test_x(self, b): pass\n    def test_y(self): pass\n    def test_y(self): pass\n    def helper(self): pass\n";
    let found = trellis_python::tests(source).expect("parses");
    let found: Vec<(&str, usize, usize)> =
        found.iter().map(|it| (it.name.as_str(), it.functions, it.cases)).collect();
    assert_eq!(found, [("test_a", 1, 3), ("TestB", 2, 4)]);
}

#[test]
fn imports_are_found_wherever_they_stand() {
    let source = "import a\ntry:\n    import b.c as d\nexcept ImportError:\n    pass\ndef f():\n    from .e import g, h\n";
    let found: Vec<String> = trellis_python::all_imports(source)
        .expect("parses")
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found, ["import a", "import b.c as d", "from .e import g", "from .e import h"]);
}

#[test]
fn what_is_laid_out_reads_as_black_would_have_it() {
    let rows = "'one': 1, ".repeat(12);
    let table = [
        ("x = 'a'\ndef f( a,b ): return a\n", Some("x = \"a\"\n\n\ndef f(a, b):\n    return a\n")),
        ("x = [1,\n  2,]\n", Some("x = [\n    1,\n    2,\n]\n")),
        ("def f(:\n", None),
    ];
    for (source, expect) in table {
        assert_eq!(trellis_python::formatted(source).as_deref(), expect, "{source}");
    }
    let long = trellis_python::formatted(&format!("x = {{{rows}}}\n")).expect("Python");
    assert!(long.lines().all(|line| line.len() <= 88) && long.lines().count() > 10, "{long}");
    // The formatter needs minutes for ten thousand consecutive comments: such a text stays
    // unchanged.
    let padding = "# long\n\n".repeat(10_000);
    assert_eq!(trellis_python::formatted(&format!("import os\n{padding}x = os.sep\n")), None);
}
