//! Outlines and name paths.

use trellis_python::{NamePath, Outline};

/// Returns `path kind` of each symbol, followed by `header`, `docstring` and decorators if there
/// are any.
fn shown(source: &str) -> Vec<String> {
    let outline = Outline::of(source);
    let names =
        |index| outline.path(index).iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join("/");
    let text = |range: &std::ops::Range<usize>| source[range.clone()].to_owned();
    (outline.symbols.iter().enumerate())
        .map(|(index, it)| {
            let nth = if it.nth > 0 { format!("[{}]", it.nth) } else { String::new() };
            let mut line = format!("{}{nth} {}", names(index), it.kind.as_str());
            it.decorators.iter().for_each(|it| line += &format!(" {}", text(it)));
            it.header.iter().for_each(|it| line += &format!(" `{}`", text(it)));
            it.docstring.iter().for_each(|it| line += &format!(" {}", text(it)));
            assert_eq!(text(&it.name_range), it.name);
            line
        })
        .collect()
}

#[test]
fn everything_that_is_defined_is_listed() {
    let source = "\
X, (Y, *Z) = 1, (2, 3)
type Pair = tuple[int, int]
@decorated(1)
async def f(a: int, *, b=(1, 2)) -> dict[str, int]:
    'doc'
    local = 1
    def inner(): pass
if X:
    def g(): ...
else:
    def g(): ...
class A(Base, metaclass=M):
    \"\"\"Docs of A.\"\"\"
    field: int = 1
    @property
    def p(self): return 1
    @p.setter
    def p(self, v): pass
    class B: pass
try:
    import m
except ImportError:
    m = None
";
    assert_eq!(
        shown(source),
        [
            "X variable",
            "Y variable",
            "Z variable",
            "Pair variable",
            "f function @decorated(1) `async def f(a: int, *, b=(1, 2)) -> dict[str, int]` 'doc'",
            "f/inner function `def inner()`",
            "g function `def g()`",
            "g[1] function `def g()`",
            "A class `class A(Base, metaclass=M)` \"\"\"Docs of A.\"\"\"",
            "A/field attribute",
            "A/p property @property `def p(self)`",
            "A/p[1] property @p.setter `def p(self, v)`",
            "A/B class `class B`",
            "m variable",
        ]
    );
}

#[test]
fn broken_text_has_an_outline_too() {
    let outline = Outline::of(
        "def f(:\n    pass\n\nclass A:\n    def m(self):\n        return (\n\ndef g(): pass\n",
    );
    let names: Vec<&str> = outline.symbols.iter().map(|it| it.name.as_str()).collect();
    assert!(names.contains(&"f") && names.contains(&"A") && names.contains(&"m"), "{names:?}");
    assert!(!outline.errors.is_empty());
}

#[test]
fn name_paths() {
    let source = "class A:\n    def m(self): pass\n    def m(self, x): pass\nclass B:\n    class A:\n        def m(self): pass\ndef m(): pass\n";
    let outline = Outline::of(source);
    let found = |pattern: &str, substring| -> Vec<String> {
        let pattern = NamePath::parse(pattern).expect("a name path");
        let fits = |index: &usize| pattern.matches(&outline.path(*index), substring);
        let path = |index| {
            outline.path(index).iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join("/")
        };
        (0..outline.symbols.len()).filter(fits).map(path).collect()
    };
    for (pattern, substring, expected) in [
        ("m", false, vec!["A/m", "A/m", "B/A/m", "m"]),
        ("A/m", false, vec!["A/m", "A/m", "B/A/m"]),
        ("A.m", false, vec!["A/m", "A/m", "B/A/m"]),
        ("/A/m", false, vec!["A/m", "A/m"]),
        ("/A/m[1]", false, vec!["A/m"]),
        ("/m", false, vec!["m"]),
        ("B/m", false, vec![]),
        ("A", true, vec!["A", "B/A"]),
    ] {
        assert_eq!(found(pattern, substring), expected, "{pattern}");
    }
    for bad in ["", "/", "A//m", "m[x]", "m[", "a b", "m()"] {
        assert!(NamePath::parse(bad).is_err(), "{bad:?}");
    }
}

/// A definition whose name is not written yet: an editor throws away an outline with an empty name.
#[test]
fn definitions_without_a_name_are_left_out() {
    let outline = Outline::of(
        "def \n\nclass Also:\n    x = 1\n    def \n\nclass :\n    def inner(self): ...\n",
    );
    let names: Vec<&str> = outline.symbols.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["Also", "x", "inner"]);
}
