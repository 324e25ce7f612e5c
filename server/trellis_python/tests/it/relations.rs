//! Renames with all related symbols, callers, and unused symbols.

use std::sync::Arc;

use trellis_python::{FileId, Index, NamePath, TextSource, Words};

struct NoTexts;

impl TextSource for NoTexts {
    fn read(&self, _path: &str) -> Option<Arc<str>> {
        None
    }
}

fn index(files: &[(&str, &str)]) -> Index {
    let mut index = Index::new(Arc::new(NoTexts));
    for (path, text) in files {
        index.put(path, Words::of(text), Some((*text).into()));
    }
    index
}

fn definition(index: &Index, path: &str) -> (FileId, usize) {
    let found = index.find(&NamePath::parse(path).unwrap(), false, &[]);
    let it = found.first().unwrap_or_else(|| panic!("no {path}"));
    (it.file, index.outline(it.file).symbols[it.symbol].name_range.start)
}

/// Returns `file:line` of every edit of a rename, or the refusal.
fn renamed(index: &Index, path: &str, to: &str) -> Result<Vec<String>, String> {
    let (file, at) = definition(index, path);
    let rename = index.rename(file, at, to).map_err(|it| it.to_string())?;
    let line = |file: FileId, at: usize| index.text(file).unwrap()[..at].matches('\n').count() + 1;
    let spots =
        rename.edits.iter().flat_map(|(file, ranges)| ranges.iter().map(|it| (*file, it.start)));
    Ok(spots.map(|(file, at)| format!("{}:{}", index.path(file), line(file, at))).collect())
}

/// A class implements a protocol by its members, so their names change with the protocol's.
#[test]
fn protocols_are_renamed_with_the_classes_that_have_their_members() {
    let text = "\
from typing import Protocol
class Drawable(Protocol):
    def draw(self) -> str: ...
    def size(self) -> int: ...
class Badge:
    def draw(self) -> str: return 'b'
    def size(self) -> int: return 1
class Pen:
    def draw(self) -> str: return 'p'
def render(it: Drawable) -> str: return it.draw()
render(Badge())
Pen().draw()
";
    let index = index(&[("m.py", text)]);
    let together = Ok(vec!["m.py:3".to_owned(), "m.py:6".to_owned(), "m.py:10".to_owned()]);
    assert_eq!(renamed(&index, "Drawable/draw", "paint"), together);
    assert_eq!(renamed(&index, "Badge/draw", "paint"), together);
    assert_eq!(
        renamed(&index, "Pen/draw", "paint"),
        Ok(vec!["m.py:9".to_owned(), "m.py:12".to_owned()])
    );
}

#[test]
fn names_that_python_would_refuse_are_refused() {
    let text = "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\nP(x=1)\n";
    let refusal = renamed(&index(&[("m.py", text)]), "P/x", "_x").unwrap_err();
    assert!(refusal.contains("NamedTuple"), "{refusal}");
}

#[test]
fn uses_under_another_name_are_uses() {
    let index = index(&[
        ("shop.py", "def start(): pass\ndef stop(): pass\ndef idle(): idle()\n"),
        (
            "main.py",
            "from shop import start as begin\nimport shop as s\ndef go():\n    return begin()\ndef end(): s.stop()\ngo(); end()\n",
        ),
    ]);
    let callers = |path: &str| -> Vec<String> {
        let (file, at) = definition(&index, path);
        let name = |it: trellis_python::Caller| {
            let symbol = it.symbol.map(|it| index.outline(it.file).symbols[it.symbol].name.clone());
            symbol.unwrap_or_else(|| index.path(it.file).to_owned())
        };
        index.callers(file, at).unwrap().into_iter().map(name).collect()
    };
    assert_eq!(callers("start"), ["go"]);
    assert_eq!(callers("stop"), ["end"]);
    assert_eq!(callers("go"), ["main.py"]);
    let unused: Vec<String> = index
        .unused()
        .iter()
        .map(|it| index.outline(it.symbol.file).symbols[it.symbol.symbol].name.clone())
        .collect();
    assert_eq!(unused, ["idle"]);
}

/// Returns the `line` of every certain reference.
fn references(text: &str, line: usize, column: usize) -> Vec<usize> {
    let index = index(&[("a.py", text)]);
    let file = index.file("a.py").unwrap();
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let found = index.references(file, start + column - 1).unwrap().found;
    let certain = found.iter().filter(|it| it.uncertainty.is_none());
    certain.map(|it| text[..it.place.range.start].matches('\n').count() + 1).collect()
}

/// An inherited method that returns its own object returns the class of the receiver.
const RECEIVERS: &str = "\
class Base:
    @classmethod
    def one(cls, fn): return cls()
    def copy(self):
        new = self.__class__()
        return new
    def me(self): return self
    def go(self): ...
class Sub(Base):
    def go(self): ...
Sub.one('x').go()
Sub().copy().go()
Sub().me().go()
Base().me().go()
";

/// Operators are methods.
const OPERATORS: &str = "\
class R:
    def go(self): ...
class Q:
    def __eq__(self, o): return R()
    def __lt__(self, o) -> R: ...
def f(q: Q):
    (q == 3).go()
    (q < 3).go()
    x = q == 1
    x.go()
";

/// A class may redefine an attribute of a builtin class.
const OWN_ATTRIBUTES: &str = "\
class MyErr(Exception):
    def __init__(self, x):
        self.args = (x,)
try: pass
except ValueError as e:
    print(e.args)
except MyErr as e:
    print(e.args)
";

const SLOTS: &str = "\
class Impl:
    __slots__ = ('plugin',)
    def __init__(self, plugin):
        self.plugin = plugin
";

const FACTORY: &str = "\
import typing as t
class Command:
    def go(self): ...
def mk(n: int) -> t.Callable[[t.Callable], Command]: ...
@mk(1)
def b(): ...
b.go()
";

const DYNAMIC: &str = "\
class Caller:
    def extra(self): ...
class Relay:
    def __getattr__(self, name: str) -> Caller: ...
def f(r: Relay):
    r.hello.extra()
";

const ANNOTATED_SELF: &str = "\
from typing import Self, TypeVar
T = TypeVar('T')
class H:
    def get(self): ...
    def a(self: Self): self.get()
    def b(self: T) -> T: self.get()
";

const SENT: &str = "\
import typing
class Resp:
    def read(self): ...
def flow(r) -> typing.Generator[int, Resp, None]:
    response = yield r
    response.read()
";

const FIELDS: &str = "\
from typing import NamedTuple
class Foo:
    def go(self): ...
class N(NamedTuple):
    a: int
    f: Foo
def g(n: N):
    n[1].go()
    n.f.go()
";

/// Cases found by comparing answers on real projects with those of a type checker.
#[test]
fn what_real_projects_do_is_understood() {
    for (text, line, column, expected) in [
        (RECEIVERS, 8, 9, vec![8, 14]),
        (RECEIVERS, 10, 9, vec![10, 11, 12, 13]),
        (OPERATORS, 2, 9, vec![2, 7, 8, 10]),
        (OWN_ATTRIBUTES, 3, 14, vec![3, 8]),
        (SLOTS, 4, 14, vec![2, 4]),
        (FACTORY, 3, 9, vec![3, 7]),
        (DYNAMIC, 2, 9, vec![2, 6]),
        (ANNOTATED_SELF, 4, 9, vec![4, 5, 6]),
        (SENT, 3, 9, vec![3, 6]),
        (FIELDS, 3, 9, vec![3, 8, 9]),
    ] {
        assert_eq!(references(text, line, column), expected, "{text}");
    }
}

/// Returns the reasons why an answer may be incomplete.
fn reasons(text: &str, path: &str) -> Vec<String> {
    let index = index(&[("m.py", text)]);
    let (file, at) = definition(&index, path);
    index.references(file, at).unwrap().reasons
}

#[test]
fn what_others_may_call_is_said() {
    let thread = "import threading\nclass T(threading.Thread):\n    def run(self): ...\n    def own(self): ...\n";
    assert_eq!(
        reasons(thread, "T/run"),
        ["`T.run` overrides `Thread.run` from the standard library, which may call it"]
    );
    assert_eq!(reasons(thread, "T/own"), [""; 0]);
    let unknown = "from elsewhere import Base\nclass W(Base):\n    def hook(self): ...\n";
    assert_eq!(
        reasons(unknown, "W/hook"),
        ["a base class of `W` is outside the workspace and may use `hook`"]
    );
    let spoken = "from unittest import mock\ndef helper(): ...\nmock.patch('m.helper')\nsetattr(m, 'helper', 1)\n";
    assert_eq!(
        reasons(spoken, "helper"),
        ["the name is in a string that is used to look up an attribute"]
    );
}

/// Returns the number of places that a rename changes, or `None` if it is refused. The position is
/// in the first file.
fn changed(files: &[(&str, &str)], line: usize, column: usize, to: &str) -> Option<usize> {
    let index = index(files);
    let text = files[0].1;
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rename = index.rename(index.file(files[0].0).unwrap(), start + column - 1, to).ok()?;
    Some(rename.edits.iter().map(|(_, ranges)| ranges.len()).sum())
}

/// Programs that earlier versions of rename broke.
#[test]
fn renames_break_nothing_that_worked() {
    let overriding = "class S:\n    def go(self, word): ...\nclass D(S):\n    def go(self, word): return word\ndef talk(s: S): return s.go(word=1)\n";
    assert_eq!(changed(&[("m.py", overriding)], 4, 18, "zz"), Some(4));
    assert_eq!(changed(&[("m.py", overriding)], 2, 18, "zz"), Some(4));
    let capture = "def f(v):\n    match v:\n        case (x, y): return x\n";
    assert_eq!(changed(&[("m.py", capture)], 3, 15, "_"), None);
    let nonlocal = "def a():\n    v = 1\n    def b():\n        c = 5\n        def d():\n            nonlocal v\n            v += 1\n            return v\n        return d() + c\n    return b()\n";
    assert_eq!(changed(&[("m.py", nonlocal)], 2, 5, "c"), None);
    assert_eq!(changed(&[("m.py", nonlocal)], 4, 9, "v"), None);
    assert_eq!(changed(&[("m.py", nonlocal)], 2, 5, "w"), Some(4));
    assert_eq!(changed(&[("m.py", "def p(x): return [z := i for i in x], z\n")], 1, 24, "z"), None);
    let package = [
        ("p/core.py", "class Engine: pass\n"),
        ("p/__init__.py", "from .core import Engine\n"),
        ("p/sub.py", ""),
    ];
    assert_eq!(changed(&package, 1, 7, "sub"), None);
    assert_eq!(changed(&package, 1, 7, "Motor"), Some(2));
    let starred =
        [("m.py", "def q(): return 2\nfrom a import *\n"), ("a.py", "def helper(): return 1\n")];
    assert_eq!(changed(&starred, 1, 5, "helper"), None);
    let chain = [
        ("a.py", "__all__ = ['pub']\ndef pub(): return 1\n"),
        ("b.py", "from a import *\n"),
        ("c.py", "from b import *\npub()\n"),
    ];
    assert_eq!(changed(&chain, 2, 5, "_pub"), None);
    let versions = [
        (
            "m.py",
            "import sys\nif sys.version_info >= (3, 8):\n    def algo(x, mode=1): return mode\nelse:\n    def algo(x, mode=0): return mode\n",
        ),
        ("c.py", "from m import algo\nalgo(1, mode=4)\n"),
    ];
    assert_eq!(changed(&versions, 3, 17, "zz"), Some(5));
    let written =
        [("a.py", "def find(): return 1\n"), ("c.py", "from a import \u{fb01}nd\n\u{fb01}nd()\n")];
    assert_eq!(changed(&written, 1, 5, "zz"), Some(3));
    let given = "class K:\n    def go(self): return 1\nk = K()\nk.tag = 3\nk.go()\n";
    assert_eq!(changed(&[("m.py", given)], 2, 9, "tag"), None);
    assert_eq!(changed(&[("m.py", given)], 2, 9, "run"), Some(2));
    let private = "class A:\n    def __h(self): return 1\n    def p(self): return self.__h()\nclass B(A):\n    def __h(self): return 2\n";
    assert_eq!(changed(&[("m.py", private)], 2, 9, "zz"), Some(2));
    assert_eq!(changed(&[("m.py", "class A:\n    __v = 1\nA._A__v\n")], 2, 5, "__w"), None);
}

/// A stub beside its source, and a package that imports from both.
#[test]
fn a_name_that_stub_and_source_import_is_inside() {
    let files = [
        ("src/attr/_v.py", "class V: ...\n"),
        ("src/attr/_v.pyi", "class V: ...\n"),
        ("src/attr/__init__.py", "from ._v import V\n"),
        ("src/attr/__init__.pyi", "from ._v import V\n"),
        ("tests/test_v.py", "from attr import V\n"),
    ];
    assert_eq!(changed(&files, 1, 7, "W"), Some(5));
}

#[test]
fn a_parameter_that_only_the_override_has_is_renamed() {
    let text =
        "class D(dict):\n    def keys(self, multi=False): return multi\nD().keys(multi=True)\n";
    assert_eq!(changed(&[("m.py", text)], 2, 20, "many"), Some(3));
}

#[test]
fn hooks_of_plugins_keep_their_names() {
    let text = "from pluggy import HookimplMarker\nhookimpl = HookimplMarker('x')\nclass P:\n    @hookimpl\n    def hello(self, arg): return arg\n";
    assert_eq!(changed(&[("m.py", text)], 5, 9, "zz"), None);
    assert_eq!(changed(&[("m.py", text)], 5, 21, "zz"), None);
}
