//! Names in strings: exact where a rule is known, possible elsewhere.

use crate::marked::{Marked, check};

#[test]
fn members_of_enums_are_named_by_key() {
    check(
        "from enum import Enum\nclass Color(Enum):\n    «RED» = 1\n    BLUE = 2\n    @classmethod\n    def default(cls): return cls['«RED»']\nColor['«RED»']\nColor.«RED»\nfor name in ('BLUE', '‹RED›'): ‹Color›[name]\n",
    );
}

#[test]
fn keys_of_typed_dicts_are_fields() {
    check(
        "from typing import TypedDict\nclass Movie(TypedDict, total=False):\n    «title»: str\n    year: int\ndef label(it: Movie) -> str: return it['«title»'] + it.get('«title»', '')\nfilm: Movie = {'«title»': 'Up', 'year': 2009}\ndel film['«title»']\nfilm['«title»'] = 'Down'\n'«title»' in film\nMovie(«title»='x')\nMovie({'«title»': 'x'})\nMovie(**{'«title»': 'x'})\nlabel({'«title»': 'x'})\nlabel(it={'«title»': 'x'})\n",
    );
    check(
        "from typing import TypedDict\nclass Movie(TypedDict):\n    «title»: str\nclass Shelf(TypedDict):\n    top: Movie\n    rest: list[Movie]\ndef make() -> Shelf:\n    return {'top': {'«title»': 'a'}, 'rest': [{'«title»': 'b'}]}\nall: list[Movie] = [{'«title»': 'x'}, {'«title»': 'y'}]\nby_name: dict[str, Movie] = {'‹title›': {'«title»': 'x'}}\nlater: Movie\nlater = {'«title»': 'z'}\n",
    );
}

#[test]
fn mappings_of_an_object_hold_its_attributes() {
    check(
        "from dataclasses import dataclass, asdict\n@dataclass\nclass P:\n    «x»: int\n    y: int\np = P(1, 2)\nasdict(p)['«x»']\nvars(p)['«x»']\np.__dict__['«x»']\nd = asdict(p)\nd['«x»']\nd.get('«x»')\nassert asdict(p) == {'«x»': 1, 'y': 2}\nP(**{'«x»': 1})\n",
    );
    check(
        "from typing import NamedTuple\nclass P(NamedTuple):\n    «x»: int\ndef f(p: P):\n    p._asdict()['«x»']\n    p._replace(«x»=1)\n",
    );
    check("def «helper»(): ...\nglobals()['«helper»']()\n");
}

#[test]
fn attributes_that_are_looked_up_by_string_belong_to_the_object() {
    check(
        "class A:\n    def «go»(self): ...\nclass B:\n    def go(self): ...\ngetattr(A(), '«go»')()\nhasattr(B(), 'go')\na = A()\nsetattr(a, '«go»', 1)\ndef f(x): getattr(x, '‹go›')\ndef test_a(monkeypatch): monkeypatch.setattr(A, '«go»', None)\n",
    );
    check(
        "from operator import methodcaller\nclass A:\n    def «go»(self): ...\nmethodcaller('‹go›')\n",
    );
    check(
        "class A:\n    __slots__ = {'«size»': 'in cm'}\n    def __init__(self): self.«size» = 1\n",
    );
}

#[test]
fn dotted_paths_are_followed() {
    let files = [
        ("app/__init__.py", ""),
        ("app/middleware.py", "class «Timing»:\n    def run(self): ...\n"),
        (
            "settings.py",
            "MIDDLEWARE = ['app.middleware.«Timing»', 'app.middleware.Other', 'elsewhere.‹Timing›']\nENTRY = 'app.middleware:«Timing»'\n",
        ),
        (
            "test_m.py",
            "from unittest.mock import patch\n@patch('app.middleware.«Timing».run')\ndef test_a(run): ...\ndef test_b(monkeypatch): monkeypatch.setattr('app.middleware.«Timing»', 1)\n",
        ),
    ];
    Marked::new(&files).check();
    let method = [
        ("app/__init__.py", ""),
        ("app/core.py", "class A:\n    def «run»(self): ...\n"),
        (
            "test_m.py",
            "from unittest.mock import patch\npatch('app.core.A.«run»')\npatch('app.core.B.‹run›')\n",
        ),
    ];
    Marked::new(&method).check();
}

#[test]
fn keywords_of_unpacked_dicts_are_parameters() {
    check("def f(«size», b=1): return «size»\nf(**{'«size»': 1, 'b': 2})\n");
    check(
        "def f(«size», b=1): return «size»\nkw = {'«size»': 1}\nkw['«size»'] = 2\nf(**kw)\nother = {'size': 1}\n",
    );
    check("def f(«size»): return «size»\nfor it in [{'«size»': 1}]: f(**it)\n");
    check("def f(«size»): return «size»\nfor it in [{'size': 1}]: print(it)\n");
}

#[test]
fn other_strings_are_possible_and_comments_are_not() {
    check(
        "import json\nclass A:\n    \"\"\"go\"\"\"\n    def «go»(self): ... # go\nCOMMANDS = {'‹go›': 1}\ndef f(d): return d['‹go›']\nprint('go on')\n",
    );
    // A local name is no attribute, whatever a string says.
    check("def f(«n»):\n    return {'n': «n»}\n");
}

#[test]
fn names_that_are_put_together_are_possible() {
    check(
        "class Visitor:\n    def visit(self, node): return getattr(self, '‹visit_›' + node.kind)()\n    def «visit_name»(self): ...\nclass Other:\n    def visit(self, node): return getattr(self, 'visit_' + node.kind)()\n",
    );
    check(
        "class H:\n    def run(self, it):\n        getattr(self, f'‹on_›{it}')\n        getattr(self, '‹on_›%s' % it)\n        getattr(self, '‹on_›{}'.format(it))\n        getattr(self, it + '‹_event›')\n        getattr(self, 'off_' + it)\n    def «on_event»(self): ...\n",
    );
    check("def «cmd_add»(): ...\ndef run(name): globals()['‹cmd_›' + name]()\n");
    // Without a look-up the text is only a text.
    check("class A:\n    def «visit_name»(self): ...\nprint('visit_' + 'x')\n");
}

#[test]
fn names_in_generated_code_are_put_together_too() {
    check(
        "class T:\n    def «make_module_async»(self): ...\n    def make_module(self): ...\ndef write(it, end): return f'{it}.‹make_module›{end}()'\ndef other(it, name): return f'make {name} module'\nclass Writer:\n    def write(self, end): return f'‹make_module›{end}'\n    def other(self, end): return f'make{end}'\ngetattr\n",
    );
}

#[test]
fn what_a_library_looks_for_is_refused() {
    let visitor = "import ast\nclass V(ast.NodeVisitor):\n    def «visit_Name»(self, node): ...\n";
    assert!(Marked::new(&[("m.py", visitor)]).refusal("zz").contains("`NodeVisitor`"));
    let table = "class T:\n    def «_repr_html_»(self): ...\n";
    assert!(Marked::new(&[("m.py", table)]).refusal("zz").contains("IPython"));
}

#[test]
fn attributes_given_to_a_module_from_outside_are_in_the_way() {
    let files = [("m.py", "def «go»(): ...\n"), ("n.py", "import m\nm.tag = 1\nm.go()\n")];
    assert!(Marked::new(&files).refusal("tag").contains("n.py"));
}

#[test]
fn templates_name_attributes() {
    check(
        "class Loop:\n    def «length»(self): ...\nT = '{% if x.‹length› %}{{ loop.‹length› }} length'\nU = '{0.‹length›}'\nV = '%(‹length›)s length'\nW = '{it.‹length›!r:>3}'\n",
    );
}

#[test]
fn methods_that_code_looks_up_by_a_class_are_renamed_with_it() {
    for lookup in [
        "f'visit_{type(node).__name__}'",
        "'visit_' + node.__class__.__name__",
        "'visit_%s' % type(node).__name__",
        "'visit_{}'.format(type(node).__name__)",
    ] {
        check(&format!(
            "class «Name»: ...\nclass V:\n    def visit(self, node): return getattr(self, {lookup})(node)\n    def visit_«Name»(self, node): ...\nclass W(V):\n    def visit_«Name»(self, node):\n        super().visit_«Name»(node)\n        self.visit_Other()\nclass U:\n    def visit_‹Name›(self): ...\ndef f(v: V, w): v.visit_«Name»(w.visit_‹Name›)\n«Name»()\n",
        ));
    }
    check(
        "class «Name»: ...\nclass V:\n    def visit(self, node): return getattr(self, node.__class__.__name__ + '_handler')(node)\n    def «Name»_handler(self, node): ...\n",
    );
    check(
        "class «Sum»: ...\nclass V:\n    def visit(self, node): return getattr(self, f'visit_{type(node).__name__}')(node)\n    def visit_Name(self, node): ...\n    visit_«Sum» = visit_Name\n",
    );
}

#[test]
fn members_of_an_enum_that_data_names_are_refused() {
    let text = "from enum import Enum\nclass Unit(Enum):\n    «DAYS» = 1\ndef unit(name): return Unit[name.upper()]\n";
    assert!(Marked::new(&[("m.py", text)]).refusal("zz").contains("members of `Unit`"));
    check(
        "from enum import Enum\nclass Unit(Enum):\n    «DAYS» = 1\nclass Other(Enum):\n    A = 1\ndef other(name): return Other[name.upper()]\nUnit['«DAYS»']\n",
    );
}

#[test]
fn methods_named_after_one_of_several_classes_are_possible() {
    let files = [
        (
            "m.py",
            "class V:\n    def visit(self, node): return getattr(self, f'visit_{type(node).__name__}')(node)\n    def visit_‹Name›(self, node): ...\n",
        ),
        ("a.py", "class «Name»: ...\n"),
        ("b.py", "class Name: ...\n"),
    ];
    Marked::new(&[files[1], files[0], files[2]]).check();
    check(
        "class «Name»: ...\nclass V:\n    def visit(self, node): return getattr(self, f'visit_{type(node).__name__.lower()}')(node)\n    def visit_‹Name›(self, node): ...\n",
    );
}

#[test]
fn a_method_named_after_a_class_keeps_its_name() {
    let text = "class V:\n    def visit(self, node): return getattr(self, f'visit_{type(node).__name__}')(node)\n    def «visit_Name»(self, node): ...\nclass Name: ...\nclass Clash:\n    def visit_x(self): ...\n";
    let refusal = Marked::new(&[("m.py", text)]).refusal("zz");
    assert!(
        refusal.contains("code looks up `visit_Name` by the name of the class `Name`"),
        "{refusal}"
    );
    let text = "class V:\n    def visit(self, node): return getattr(self, f'visit_{type(node).__name__}')(node)\n    def visit_Name(self, node): ...\n    def visit_Other(self, node): ...\nclass «Name»: ...\n";
    let refusal = Marked::new(&[("m.py", text)]).refusal("Other");
    assert!(refusal.contains("`visit_Other` would clash"), "{refusal}");
}

#[test]
fn what_a_wrapper_stands_in_for_is_refused() {
    let wrapper = |body: &str| {
        let rest = "    def other(self): ...\n";
        format!(
            "from typing import BinaryIO\nclass Echo:\n    def __init__(self, input: BinaryIO): self._input = input\n    def __getattr__(self, name): return getattr(self._input, name)\n{body}{rest}"
        )
    };
    let text = wrapper("    def «read»(self, n=-1): return self._input.read(n)\n");
    assert!(Marked::new(&[("m.py", &text)]).refusal("zz").contains("`Echo` takes the place"));
    check(&wrapper("    def «echo»(self): ...\n"));
}

#[test]
fn the_keyword_of_an_unknown_partial_is_possible() {
    check(
        "from functools import partial\nclass A:\n    def __init__(self, «key»): self.k = «key»\ndef f(o): return partial(o, ‹key›=1)\npartial(A, «key»=1)\n",
    );
}

/// A module may be a value of a protocol, and its functions keep their names.
#[test]
fn a_protocol_that_a_module_implements_keeps_its_names() {
    let text = "import json\nfrom typing import Protocol\nclass P(Protocol):\n    def «loads»(self, s): ...\nclass S:\n    def loads(self, s): ...\ndefault: P = json\n";
    assert!(Marked::new(&[("m.py", text)]).refusal("zz").contains("the module `json`"));
}

#[test]
fn examples_in_docstrings_use_the_names_of_the_module() {
    check(
        "class A:\n    def «go»(self, n=1):\n        \"\"\"go\n\n        >>> a = A()\n        >>> a.«go»(\n        ...     n=2)\n        go\n        >>> [it.«go»() for it in [a]]\n        \"\"\"\n",
    );
    check(
        "def add(«left», right):\n    r'''\n    >>> from m import add\n    >>> left = 1\n    >>> add(«left»=left, right=2)\n    3\n    '''\n    return «left» + right\n",
    );
    check(
        "\"\"\"\n>>> from m import «add» as plus\n>>> «add»(1)\n... comment\n\"\"\"\ndef «add»(x): ...\n",
    );
}

#[test]
fn settings_hold_paths_and_other_documents_are_possible() {
    let files = [
        ("shop/__init__.py", ""),
        ("shop/cli.py", "def «main»(): ...\nclass Thing:\n    def run(self): ...\n"),
        (
            "pyproject.toml",
            "[project.scripts]\nshop = \"shop.cli:«main»\"\nmain = 1\n[tool.x]\ny = 'elsewhere.‹main›'\n",
        ),
        ("logging.yml", "class: shop.cli.«main»\n"),
        ("package.json", "{\"main\": \"shop.cli.main\"}"),
        ("README.md", "main is `‹main›()`.\n\n```python\n‹main›()\n```\nmain\n    ‹main›\n"),
        (
            "GUIDE.md",
            "  ```python\n  from shop.cli import «main»\n  ```\n```py\n«main»()\n```\n```\n‹main›\n```\n```console\n$ ‹main›\n```\n",
        ),
        (
            "docs/b.rst",
            ">>> from shop import cli\n>>> cli.«main»(\n...     1)\nmain\n>>> def main(): ...\n>>> main()\n",
        ),
        ("docs/a.rst", "main\n.. autofunction:: shop.cli.‹main›\n"),
        ("page.html", "<main>{{ ‹main› }}</main>"),
        ("a.ipynb", "{\"source\": [\"‹main›()\"]}"),
        (
            "b.ipynb",
            "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"x = \\\"\\u00e9\\\"; from shop import cli\\n\", \"cli.«main»()\"]}, {\"cell_type\": \"markdown\", \"source\": \"‹main›\"}, {\"cell_type\": \"code\", \"source\": \"cli.«main»(\\\"‹main›\\\")\\nmain = 1\\nprint(main)\"}]}",
        ),
    ];
    Marked::new(&files).check();
    let method = [
        files[0],
        ("shop/cli.py", "class «Thing»:\n    def run(self): ...\n"),
        ("setup.cfg", "x = shop.cli:«Thing».run [extra]\n"),
    ];
    Marked::new(&method).check();
    let local = [("m.py", "def f(«main»): return «main»\n"), ("README.md", "`main`")];
    Marked::new(&local).check();
}

#[test]
fn documents_that_name_a_function_may_name_its_parameters() {
    let files = [
        ("m.py", "def total(«size»=1): return «size»\n"),
        (
            "README.md",
            "The size of `total`: `‹size›` is a number.\n```python\nfrom m import total\ntotal(«size»=2)\ntotal(key=‹size›)\n```\n",
        ),
        ("GUIDE.md", "```python\ntotal(‹size›=3)\n```\n"),
        ("OTHER.md", "`size` in general: `print(size=1)`"),
        (
            "a.ipynb",
            "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"from m import total\\n\", \"total(«size»=2)\"]}]}",
        ),
        ("page.html", "<b>size</b>{{ total(‹size›=1) }}"),
        ("pyproject.toml", "size = 'total.size'\n"),
    ];
    Marked::new(&files).check();
    let constructor = [
        ("m.py", "class Box:\n    def __init__(self, «size»): self.size = «size»\n"),
        ("README.md", "`Box(‹size›=1)`\n"),
        ("OTHER.md", "`size`"),
    ];
    Marked::new(&constructor).check();
}

#[test]
fn a_document_that_means_two_symbols_has_both_renamed() {
    let files = [
        ("a.py", "def «size»(): ...\n"),
        ("b.py", "def «size»(): ...\n"),
        (
            "README.md",
            "```python\nif 1:\n    from a import «size»\nelse:\n    from b import «size»\n«size»()\n```\n",
        ),
    ];
    Marked::new(&files).check_rename();
}

#[test]
fn strings_name_parameters_of_tests_and_no_other_local_names() {
    check(
        "def test_a():\n    «result» = 1\n    d = {'result': 2}\n    assert d['result'] > «result»\n",
    );
}

/// Receivers whose type is not all that they can be.
#[test]
fn a_default_a_library_class_and_a_module_are_no_limits() {
    check(
        "class M:\n    def «update»(self, d): ...\ndef assoc(d, factory=dict): factory().‹update›(d)\ndef merge(d={}): d.‹update›(1)\nM().«update»(1)\n",
    );
    check(
        "class M:\n    «methods» = None\n    def __init_subclass__(cls):\n        for base in cls.__bases__: base.‹methods›\n''.methods\n",
    );
    let files =
        [("m.py", "class A:\n    def «curry»(self): ...\n"), ("n.py", "import m\nm.‹curry›\n")];
    Marked::new(&files).check();
}

#[test]
fn a_branch_that_narrows_tells_nothing_after_it() {
    check(
        "class Item: ...\nclass Table(Item):\n    def inv(self): ...\nclass AoT(Item):\n    def «inv»(self): ...\ndef f(value: Item):\n    if not isinstance(value, AoT):\n        value.x = 1\n    value.‹inv›()\n    if isinstance(value, AoT):\n        value.«inv»()\n",
    );
}

#[test]
fn parameters_of_tests_are_named_in_other_ways() {
    check(
        "import pytest\nNAMES = '‹a›, b'\n@pytest.mark.parametrize(NAMES, [(1, 2)])\ndef test_a(«a», b): assert «a» < b\n",
    );
    check(
        "import pytest\nboth = pytest.mark.parametrize('‹n›', [1])\n@both\ndef test_a(«n»): assert «n»\n",
    );
    let files = [
        ("test_m.py", "def test_a(«n»): assert «n»\n"),
        ("conftest.py", "def pytest_generate_tests(metafunc): metafunc.parametrize('‹n›', [1])\n"),
        ("m.py", "print('n')\n"),
    ];
    Marked::new(&files).check();
}

#[test]
fn mappings_are_filled_in_several_ways() {
    check(
        "class A:\n    def __init__(self): self.«size» = 1\na = A()\na.__dict__.update(«size»=2)\na.__dict__.update({'«size»': 3})\n",
    );
    check("def f(«size»=0): return «size»\nkw = dict(«size»=1)\nf(**kw)\nf(**dict(«size»=2))\n");
    check("from enum import Enum\nclass C(Enum):\n    «RED» = 1\nC.__members__['«RED»']\n");
}

#[test]
fn mocks_stand_for_what_they_are_made_of() {
    check(
        "from unittest.mock import Mock, patch\nclass A:\n    def «load»(self): ...\nm = Mock(spec=A)\nm.«load»()\npatch.multiple(A, «load»=1)\n",
    );
}

#[test]
fn attributes_that_are_looked_up_by_computed_names_are_possible() {
    check(
        "class A:\n    def run(self, kind): return ‹getattr›(self, '_'.join(['on', kind]))()\n    def «on_start»(self): ...\nclass B:\n    def run(self, kind): return getattr(self, kind)()\n",
    );
    check(
        "class A:\n    def «go»(self): ...\n    def run(self):\n        for name in ('stay', '‹go›'): getattr(self, name)()\n",
    );
}

#[test]
fn a_path_may_be_a_part_of_a_string() {
    let files = [
        ("app/__init__.py", ""),
        ("app/cli.py", "def «main»(): ...\n"),
        (
            "setup.py",
            "E = ['run = app.cli:«main»', 'python -m app.cli', 'see app.cli.«main»']\nM = 'app.‹main›'\n",
        ),
    ];
    Marked::new(&files).check();
}

#[test]
fn entry_points_and_hooks_are_not_unused() {
    let marked = Marked::new(&[
        ("shop/__init__.py", ""),
        (
            "shop/cli.py",
            "def «main»(): ...\ndef pytest_configure(config): ...\ndef do_add(): ...\ndef lost(): ...\ndef run(name): globals()['do_' + name]()\nrun('x')\n",
        ),
        ("pyproject.toml", "[project.scripts]\nshop = 'shop.cli:main'\n"),
        (
            "test_m.py",
            "import unittest\nclass Case(unittest.IsolatedAsyncioTestCase):\n    def test_x(self): ...\nclass Helper: ...\n",
        ),
    ]);
    let unused = marked.index.unused().into_iter().map(|it| {
        let outline = marked.index.outline(it.symbol.file);
        (outline.symbols[it.symbol.symbol].name.clone(), it.possibly_used)
    });
    let expected = [("do_add", true), ("lost", false), ("Helper", false)];
    let expected = expected.map(|(name, possibly)| (name.to_owned(), possibly));
    assert_eq!(unused.collect::<Vec<_>>(), expected);
}

#[test]
fn callees_of_which_nothing_is_known_may_take_a_keyword() {
    check(
        "from functools import partial\nfrom typing import Callable\nclass A:\n    def __init__(self, «key»=1): self.k = «key»\ndef make(o): return partial(o, 1)\ndef use(f: Callable[..., A], o):\n    f(‹key›=1)\n    make(o)(‹key›=2)\n",
    );
    check("def test_a():\n    class «S»: ...\n    assert repr(«S») == '‹S›'\n");
}
