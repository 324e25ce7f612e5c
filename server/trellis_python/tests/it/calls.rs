//! Call graphs of small projects.

use std::sync::Arc;

use trellis_python::{
    Calls, Index, SymbolKind, TextSource, Words, calls, definition_graph, dynamic_definitions,
};

struct NoTexts;

impl TextSource for NoTexts {
    fn read(&self, _path: &str) -> Option<Arc<str>> {
        None
    }
}

fn of(files: &[(&str, &str)]) -> Calls {
    calls(&index(files))
}

fn index(files: &[(&str, &str)]) -> Index {
    let mut index = Index::new(Arc::new(NoTexts));
    for (path, text) in files {
        index.put(path, Words::of(text), Some((*text).into()));
    }
    index
}

/// Formats the edges as `a.f -> b.g`, with a question mark if the edge is only possible.
fn edges(calls: &Calls) -> Vec<String> {
    let name = |at: usize| {
        let it = &calls.nodes[at];
        format!("{}.{}", it.path.trim_end_matches(".py").replace('/', "."), it.name)
    };
    let shown = calls.edges.iter().map(|it| {
        let mark = if it.uncertainty.is_some() { "?" } else { "" };
        format!("{} -> {}{mark}", name(it.caller), name(it.callee))
    });
    shown.collect()
}

type Case = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "calls in one file, recursion and mutual recursion",
        &[(
            "m.py",
            "def a(n):\n    return b(n) if n else a(n - 1)\ndef b(n):\n    return a(n)\ndef c():\n    pass\n",
        )],
        &["m.a -> m.a", "m.a -> m.b", "m.b -> m.a"],
    ),
    (
        "methods through self, a property, and an object that is made",
        &[(
            "m.py",
            "class A:\n    def __init__(self):\n        self.x = 1\n    @property\n    def size(self):\n        return self.x\n    def run(self):\n        return self._step() + self.size\n    def _step(self):\n        return 1\ndef main():\n    return A().run()\n",
        )],
        &[
            "m.A.run -> m.A.size",
            "m.A.run -> m.A._step",
            "m.main -> m.A.__init__",
            "m.main -> m.A.run",
        ],
    ),
    (
        "imports with aliases, from a module and of a module",
        &[
            ("p/__init__.py", "from p.low import deep\n"),
            ("p/low.py", "def deep():\n    pass\ndef other():\n    pass\n"),
            (
                "top.py",
                "from p import deep as d\nimport p.low as low\nimport p\ndef f():\n    d()\n    low.other()\ndef g():\n    p.low.deep()\n",
            ),
        ],
        &["top.f -> p.low.deep", "top.f -> p.low.other", "top.g -> p.low.deep"],
    ),
    (
        "inheritance: what a subclass does not have is the base's, and super",
        &[
            (
                "base.py",
                "class Base:\n    def __init__(self, x):\n        self.x = x\n    def one(self):\n        return self.two()\n    def two(self):\n        return 2\n",
            ),
            (
                "sub.py",
                "from base import Base\nclass Sub(Base):\n    def two(self):\n        return super().two() + self.three()\n    def three(self):\n        return self.one()\ndef make() -> Sub:\n    return Sub(3)\ndef use():\n    return make().one()\n",
            ),
        ],
        &[
            "base.Base.one -> base.Base.two",
            "sub.Sub.two -> base.Base.two",
            "sub.Sub.two -> sub.Sub.three",
            "sub.Sub.three -> base.Base.one",
            "sub.make -> base.Base.__init__",
            "sub.use -> base.Base.one",
            "sub.use -> sub.make",
        ],
    ),
    (
        "decorators, defaults, comprehensions, lambdas and callbacks",
        &[(
            "m.py",
            "def deco(f):\n    return f\ndef default():\n    return 1\ndef item(x):\n    return x\n@deco\ndef a(x=default()):\n    return [item(y) for y in x if keep(y)]\ndef keep(y):\n    return y\ndef b(xs):\n    return sorted(xs, key=item), (lambda: keep(1))\n",
        )],
        &[
            "m.a -> m.deco",
            "m.a -> m.default",
            "m.a -> m.item",
            "m.a -> m.keep",
            "m.b -> m.item",
            "m.b -> m.keep",
        ],
    ),
    (
        "functions inside functions, and classes inside functions",
        &[(
            "m.py",
            "def outer():\n    def inner():\n        return helper()\n    class C:\n        x = helper()\n    return inner()\ndef helper():\n    pass\n",
        )],
        &["m.outer -> m.outer.inner", "m.outer -> m.helper", "m.outer.inner -> m.helper"],
    ),
    (
        "what nobody can resolve, what is outside, and what stands in no function",
        &[(
            "m.py",
            "import os\nfrom gone import lost\ndef run():\n    pass\ndef f(x):\n    x.run()\n    lost()\n    os.getcwd()\n    nothing()\n    len(x)\nrun()\nclass K:\n    made = run()\n",
        )],
        &[],
    ),
    (
        "names that hide a function are others",
        &[(
            "m.py",
            "def run():\n    pass\ndef f(run):\n    run()\ndef g():\n    run = 1\n    return run\n",
        )],
        &[],
    ),
    (
        "a method that is replaced is not used",
        &[(
            "m.py",
            "class A:\n    def step(self): pass\n    def stop(self):\n        self.step = None\n",
        )],
        &[],
    ),
    (
        "one of several types",
        &[(
            "m.py",
            "class A:\n    def go(self): pass\nclass B:\n    def go(self): pass\ndef f(it: A | B):\n    it.go()\ndef g(it: A | B, b: B):\n    it.go()\n    b.go()\n",
        )],
        &["m.f -> m.A.go?", "m.f -> m.B.go?", "m.g -> m.A.go?", "m.g -> m.B.go"],
    ),
    (
        "a class that is only named runs nothing; a dataclass runs what it has",
        &[(
            "m.py",
            "from dataclasses import dataclass\n@dataclass\nclass D:\n    x: int\n    def __post_init__(self): pass\ndef f(it: D):\n    return isinstance(it, D)\ndef g():\n    return D(1)\n",
        )],
        &["m.g -> m.D.__post_init__"],
    ),
    (
        "a stub beside its source is no second function",
        &[
            ("m.py", "def f(x):\n    return x\n"),
            ("m.pyi", "def f(x: int) -> int: ...\n"),
            ("n.py", "from m import f\ndef g():\n    return f(1)\n"),
        ],
        &["n.g -> m.f"],
    ),
    (
        "a broken file gives what can be read of it",
        &[("m.py", "def f():\n    return g()\ndef h(:\n    pass\ndef g():\n    return 1\n")],
        &["m.f -> m.g"],
    ),
];

#[test]
fn uses_are_resolved_across_files() {
    for (name, files, wanted) in CASES {
        let calls = of(files);
        assert_eq!(edges(&calls), *wanted, "{name}: {:#?}", calls.edges);
    }
}

#[test]
fn a_node_says_what_and_where_it_is() {
    let text = "\
import x

class A:
    @x.deco
    async def go(
        self, n: int = 1
    ) -> None:
        r'''Go.

            Far \\d.
        '''

    def go(self): return 1
";
    let calls = of(&[("pkg/m.py", text), ("pkg/empty.py", "X = 1\n")]);
    let [first, second] = calls.nodes.as_slice() else { panic!("{:#?}", calls.nodes) };
    assert_eq!((first.path.as_str(), first.name.as_str()), ("pkg/m.py", "A.go"));
    assert_eq!((first.name_path.as_str(), second.name_path.as_str()), ("/A/go[0]", "/A/go[1]"));
    assert_eq!((first.kind, first.first, first.last), (SymbolKind::Method, 4, 11));
    assert_eq!(first.signature, "async def go(\n        self, n: int = 1\n    ) -> None");
    assert_eq!(first.docstring, "Go.\n\nFar \\d.");
    assert_eq!((second.signature.as_str(), second.docstring.as_str()), ("def go(self)", ""));
    assert_eq!(calls.edges, []);
}

#[test]
fn many_files_are_answered_together() {
    let file = |n: usize| {
        let imported = (n + 1) % 300;
        format!(
            "from m{imported} import f as g\nclass C:\n    def go(self):\n        return self.on()\n    def on(self):\n        return g()\ndef f():\n    return C().go()\n"
        )
    };
    let files: Vec<(String, String)> = (0..300).map(|n| (format!("m{n}.py"), file(n))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let calls = of(&files);
    assert_eq!((calls.nodes.len(), calls.edges.len()), (900, 900));
    assert!(calls.edges.iter().all(|it| it.uncertainty.is_none()));
}

#[test]
fn definitions_use_classes_and_answer_for_their_inner_functions() {
    let text = "\
class A:
    def __init__(self): pass
class B(A):
    rate = A()
    def go(self):
        def inner():
            return helper(A)
        return inner()
    class Deep:
        def far(self) -> B: ...
def helper(it: A):
    return A()
helper(1)
";
    let found = definition_graph(&index(&[("m.py", text)]), |_| true);
    let names: Vec<&str> = found.nodes.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["A", "A.__init__", "B", "B.go", "B.Deep", "B.Deep.far", "helper"]);
    let expected = [
        "m.B -> m.A",
        "m.B.go -> m.A",
        "m.B.go -> m.helper",
        "m.B.Deep.far -> m.B",
        "m.helper -> m.A",
    ];
    assert_eq!(edges(&found), expected);
    let inner = found.nodes.iter().flat_map(|it| &it.inner);
    let inner: Vec<(&str, &str, u32)> =
        inner.map(|it| (it.name.as_str(), it.signature.as_str(), it.first)).collect();
    assert_eq!(inner, [("B.go.inner", "def inner()", 6)]);
}

#[test]
fn files_that_nobody_wants_have_no_nodes_and_no_uses() {
    let files = [("a.py", "def f(): ...\n"), ("b.py", "import a\ndef g():\n    a.f()\n")];
    let found = definition_graph(&index(&files), |path| path == "a.py");
    assert_eq!((found.nodes.len(), found.edges.len()), (1, 0));
}

#[test]
fn definitions_at_run_time_are_found_by_their_lines() {
    let text = "\
import sys
globals()['a'] = 1
for name in ('b', 'c'):
    setattr(sys.modules[__name__], name, 1)
exec('def d(): ...')
E = type('E', (), {})
globals().update(f=1)
class G:
    def h(self):
        setattr(self, 'x', type(self))
        return globals()['a']
";
    assert_eq!(dynamic_definitions(text), [2, 4, 5, 6, 7]);
    assert_eq!(dynamic_definitions("exec(\n"), [1]);
}

#[test]
fn docstrings_are_as_inspect_returns_them() {
    let text = "def f():\n    \"\"\"  One.\n\n\tTwo.\n      Three.\n    \"\"\"\n";
    let found = of(&[("m.py", text)]);
    assert_eq!(found.nodes[0].docstring, "One.\n\n  Two.\nThree.");
}

/// Both graphs resolve the same uses; they differ in what is a node.
#[test]
fn the_graphs_agree_where_there_are_only_functions() {
    let files = [
        ("a.py", "from b import g\ndef f(x):\n    return g(x) if x else f(x)\n"),
        ("b.py", "import a\ndef g(x):\n    return a.f(x)\ndef h():\n    return [g]\n"),
    ];
    assert_eq!(definition_graph(&index(&files), |_| true), of(&files));
}
