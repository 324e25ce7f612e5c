//! Uses that no code names: hooks, registries, protocols, positions, the library.

use std::sync::Arc;

use trellis_python::{FileId, Index, Located, TextSource, Words, is_document};

use crate::marked::Marked;

/// A document of a test.
struct Document(&'static str);

impl TextSource for Document {
    fn read(&self, _path: &str) -> Option<Arc<str>> {
        Some(self.0.into())
    }
}

fn index(files: &[(&str, &'static str)]) -> Index {
    let document = files.iter().find(|it| is_document(it.0)).map_or("", |it| it.1);
    let mut index = Index::new(Arc::new(Document(document)));
    for (path, text) in files {
        match is_document(path) {
            true => index.put_document(path),
            false => index.put(path, Words::of(text), Some((*text).into())),
        };
    }
    index
}

/// Returns the unused definitions; with a question mark what may be used.
fn unused(files: &[(&str, &'static str)]) -> Vec<String> {
    let index = index(files);
    let name = |it: &trellis_python::Unused| {
        let name = &index.outline(it.symbol.file).symbols[it.symbol.symbol].name;
        format!("{name}{}", if it.possibly_used { "?" } else { "" })
    };
    index.unused().iter().map(name).collect()
}

/// Returns why a deletion of the definition of a name in the first file is refused.
fn unseen(files: &[(&str, &'static str)], name: &str) -> Option<String> {
    let index = index(files);
    let file: FileId = index.file(files[0].0).unwrap();
    let outline = index.outline(file);
    let symbol = outline.symbols.iter().position(|it| it.name == name).unwrap();
    index.unseen_use(Located { file, symbol })
}

#[test]
fn hooks_and_fixtures_may_be_in_objects() {
    const PLUGIN: &str = "class P:\n    def pytest_runtest_setup(self, item): item.foo = 1\ndef pytest_configure(config): config.pluginmanager.register(P())\n";
    assert_eq!(unused(&[("conftest.py", PLUGIN)]), [""; 0]);
    assert!(unseen(&[("conftest.py", PLUGIN)], "pytest_runtest_setup").is_some());
    let hook = "class P:\n    def «pytest_runtest_setup»(self, item): ...\n";
    assert!(Marked::new(&[("conftest.py", hook)]).refusal("zz").contains("pytest looks for"));
    let parameter = "class P:\n    def pytest_runtest_setup(self, «item»): ...\n";
    assert!(Marked::new(&[("conftest.py", parameter)]).refusal("zz").contains("pytest passes"));
    Marked::new(&[
        ("conftest.py", "import pytest\nclass P:\n    @pytest.fixture\n    def «plug»(self): ...\n    def other(self): ...\n"),
        ("test_a.py", "def test_a(‹plug›): assert plug\n"),
    ])
    .check();
    let helper = "def «helper»(x): return x\nhelper(1)\n";
    let refusal = Marked::new(&[("conftest.py", helper)]).refusal("pytest_runtest_setup");
    assert!(refusal.contains("hook"), "{refusal}");
}

#[test]
fn settings_name_tests() {
    const TESTS: &str =
        "def check_a(): ...\nclass DescribeX:\n    def check_b(self): ...\ndef idle(): ...\n";
    const INI: &str = "[pytest]\npython_functions = check_*\n    spec\npython_classes = Describe\n";
    assert_eq!(unused(&[("a_checks.py", TESTS), ("pytest.ini", INI)]), ["idle"]);
    const TOML: &str = "[tool.pytest.ini_options]\npython_functions = [\n  \"check_*\"]\npython_classes = \"Describe*\"\n";
    assert_eq!(unused(&[("a_checks.py", TESTS), ("pyproject.toml", TOML)]), ["idle"]);
    const LOAD: &str = "def load_tests(loader, tests, pattern): return tests\n";
    assert_eq!(unused(&[("test_a.py", LOAD)]), [""; 0]);
}

#[test]
fn bases_may_keep_their_subclasses() {
    const KEPT: &str = "class Base:\n    def __init_subclass__(cls, **k): ...\nclass Impl(Base): ...\nclass Exporter: ...\nclass Csv(Exporter): ...\nclass Meta(type):\n    def __new__(m, n, b, d): return super().__new__(m, n, b, d)\nclass Colour(metaclass=Meta): ...\nclass Red(Colour): ...\nclass Plain: ...\nclass Other(Plain): ...\nExporter.__subclasses__()\n";
    assert_eq!(unused(&[("m.py", KEPT)]), ["Impl?", "Csv?", "Red?", "Other"]);
    assert!(unseen(&[("m.py", KEPT)], "Impl").unwrap().contains("`Base`"));
    assert_eq!(unseen(&[("m.py", KEPT)], "Other"), None);
}

#[test]
fn members_may_implement_a_protocol() {
    const FILE: &str = "from typing import Protocol, runtime_checkable\n@runtime_checkable\nclass HasNo(Protocol):\n    def fileno(self) -> int: ...\nclass File:\n    def fileno(self): return 1\n    def other(self): ...\nisinstance(File(), HasNo)\ndef number(it: HasNo): return it.fileno()\nnumber(File())\n";
    assert_eq!(unused(&[("m.py", FILE)]), ["other"]);
    let other = "from m import HasNo\n";
    let own = "class File:\n    def fileno(self): return 1\n    def other(self): ...\n";
    let files = [("f.py", own), ("m.py", FILE), ("o.py", other)];
    assert!(unseen(&files, "fileno").unwrap().contains("`HasNo.fileno`"));
    assert_eq!(unseen(&files, "other"), None);
}

#[test]
fn the_library_calls_methods_of_what_it_is_given() {
    const GIVEN: &str = "import contextlib\nclass Out:\n    def write(self, s): ...\nclass Ctx:\n    def close(self): ...\nclass Map:\n    def keys(self): return ['a']\n    def __getitem__(self, k): return 1\nclass Idle:\n    def write(self, s): ...\n    def close(self): ...\n    def keys(self): ...\nprint('x', file=Out())\nwith contextlib.closing(Ctx()): pass\nprint({**Map()}, Idle())\n";
    assert_eq!(unused(&[("m.py", GIVEN)]), ["write", "close", "keys"]);
    const STREAM: &str =
        "import sys\nclass Out:\n    def write(self, s): ...\nsys.stdout = Out()\n";
    assert_eq!(unused(&[("m.py", STREAM)]), [""; 0]);
    assert!(unseen(&[("m.py", GIVEN)], "write").unwrap().contains("`print`"));
    let keys = "class Map:\n    def «keys»(self): ...\n    def __getitem__(self, k): ...\n";
    assert!(Marked::new(&[("m.py", keys)]).refusal("names").contains("Python looks for"));
}

#[test]
fn a_deletion_that_moves_or_drops_something_else_is_refused() {
    let refused = |text: &'static str, name: &str| unseen(&[("m.py", text)], name);
    const POINT: &str = "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\n    b: int\nP(1, 2)\n";
    assert!(refused(POINT, "b").unwrap().contains("by position"));
    const NAMED: &str = "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\n    b: int = 1\nP(a=1)\n";
    assert_eq!(refused(NAMED, "b"), None);
    const COLOR: &str = "from enum import Enum, auto\nclass Color(Enum):\n    A = auto()\n    B = auto()\n    C = auto()\n";
    assert!(refused(COLOR, "B").unwrap().contains("auto()"));
    assert_eq!(refused(COLOR, "C"), None);
    const CALL: &str = "import re\ndef call(): print(1)\nres = call()\npattern = re.compile('x')\n";
    assert!(refused(CALL, "res").unwrap().contains("`call`"));
    assert_eq!(refused(CALL, "pattern"), None);
}

#[test]
fn names_of_members_are_data() {
    let mode = "from enum import StrEnum, auto\nclass Mode(StrEnum):\n    «FAST» = auto()\n";
    assert!(Marked::new(&[("m.py", mode)]).refusal("QUICK").contains("auto()"));
    crate::marked::check(
        "from enum import Enum\nclass Mode(Enum):\n    «FAST» = 1\nBY = {m.‹name›.lower(): m for m in Mode}\nclass Other:\n    name = ''\nOther().name\n",
    );
    let color = "from enum import Enum\nclass Color(Enum):\n    «RED» = 1\n";
    assert!(Marked::new(&[("m.py", color)]).refusal("_RED_").contains("reserve"));
}

#[test]
fn templates_may_use_what_code_does_not() {
    const CART: &str = "class Cart:\n    def total(self): ...\n    def idle(self): ...\nCart()\n";
    let files = [("m.py", CART), ("a.html", "{{ cart.total }} idle\n")];
    assert_eq!(unused(&files), ["total?", "idle"]);
}
