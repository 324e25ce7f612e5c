//! Names in strings that a call executes, fills or follows, and in strings of decorators.

use crate::marked::{Marked, check};

#[test]
fn names_in_code_are_possible() {
    check(
        "import timeit\ndef «compute»(x): ...\neval('‹compute›(2)')\nexec('print(‹compute›(4))')\ntimeit.timeit('‹compute›(1)', setup='from m import ‹compute›')\nprint('compute it')\n",
    );
}

#[test]
fn fields_of_format_strings_are_keys_of_the_mapping() {
    check(
        "import string\nclass Item:\n    def __init__(self, q): self.«qty» = q\ni = Item(3)\n'{«qty»!r} {other}'.format(**vars(i))\n'{«qty»}'.format_map(vars(i))\nstring.Template('$«qty» ${«qty»}x $qty_').substitute(vars(i))\nlater = string.Template('$‹qty›')\n'{qty}'.format(qty=3)\n",
    );
}

#[test]
fn names_in_namespaces_are_attributes() {
    check("class C:\n    «temper» = 4\nassert '«temper»' in dir(C())\n");
    Marked::new(&[
        ("conf.py", "«LIMIT» = 3\n"),
        (
            "test_a.py",
            "import os\nfrom unittest.mock import patch\npatch.dict('conf.__dict__', ‹LIMIT›=8)\npatch.dict(os.environ, LIMIT='8')\n",
        ),
    ])
    .check();
}

#[test]
fn keywords_of_mocks_name_attributes() {
    Marked::new(&[
        ("net.py", "class Client:\n    def «get»(self, url): ...\n"),
        (
            "test_a.py",
            "from unittest.mock import Mock\nimport net\nMock(spec=net.Client, **{'‹get›.return_value': 5})\nMock().configure_mock(**{'‹get›.side_effect': 5, 'get.other': 1})\n",
        ),
    ])
    .check();
}

#[test]
fn targets_of_patches_are_put_together() {
    Marked::new(&[
        ("net.py", "def «fetch»(url): ...\n"),
        (
            "test_net.py",
            "from unittest.mock import patch\nimport net\nPATH = 'net'\npatch(f'{PATH}.‹fetch›')\npatch(PATH + '.‹fetch›')\npatch(f'{net.__name__}.‹fetch›.x')\npatch('{}.‹fetch›'.format(PATH))\npatch('%s.‹fetch›' % PATH)\n",
        ),
        ("other.py", "def f(name): return name + '.fetch'\n"),
    ])
    .check();
}

#[test]
fn groups_by_the_beginning_of_names_are_looked_up() {
    Marked::new(&[
        (
            "acts.py",
            "def «do_start»(): ...\ndef all_(): return [f for n, f in globals().items() if n.startswith('‹do_›')]\n",
        ),
        (
            "run.py",
            "import inspect, acts\n[f for n, f in inspect.getmembers(acts) if n.startswith('‹do_›')]\n",
        ),
        ("far.py", "def f(x): return getattr(x, 'go') if x.startswith('do_') else None\n"),
    ])
    .check();
    check(
        "REG = {}\ndef reg(f): REG[f.__name__] = f; return f\n@reg\ndef «step_one»(): ...\nREG['‹step_›' + 'one']()\n",
    );
    check(
        "class Settings:\n    «db»: str = ''\n    def __init__(self):\n        for k in type(self).__annotations__: ‹setattr›(self, k, k.upper())\n",
    );
}

#[test]
fn strings_may_begin_with_a_class() {
    check("class «Parent»: ...\nrel = '‹Parent›.id'\njoin = 'Child.x == ‹Parent›.id'\n");
    check("class A: ...\ndef «app»(): ...\nlog = 'app.log'\n");
}

#[test]
fn decorators_fill_parameters_by_name() {
    check(
        "@command()\n@option('--‹dry-run›', default=1)\n@option('-n', '--name', default='x')\n@argument('name')\ndef main(«dry_run», name): return «dry_run»\n@option('--dry-run')\ndef other(x): ...\n",
    );
    check("@app.get('/items/{‹item_id›}/<int:‹item_id›>/item_ids')\ndef show(«item_id»): ...\n");
}

#[test]
fn variables_may_be_read_by_their_names() {
    check(
        "def f():\n    «qty» = 3\n    g(**‹locals›())\n    eval('‹qty› + 1')\n    ‹eval›(load())\n    eval('2')\n    return «qty»\ndef h():\n    qty = 1\n    return locals()\n",
    );
}

#[test]
fn modules_may_make_attributes_on_demand() {
    Marked::new(&[
        ("pkg/impl.py", "def «heavy»(): ...\n"),
        ("pkg/__init__.py", "_lazy = {'‹heavy›': '.impl'}\ndef __getattr__(name): ...\n"),
        ("run.py", "from pkg import ‹heavy›\nheavy()\n"),
        ("other/__init__.py", ""),
        ("walk.py", "from other import heavy\n"),
    ])
    .check();
}

#[test]
fn examples_may_be_listed() {
    check(
        "def «add_up»(xs): ...\n__test__ = {'x': '>>> ‹add_up›([2])\\n2\\n', 'y': '''\n>>> «add_up»([3])\n3\n'''}\n",
    );
}

#[test]
fn command_lines_run_code() {
    Marked::new(&[
        ("app.py", "def «smoke»(): ...\n"),
        (
            "tox.ini",
            "[testenv]\ncommands = python -c \"from app import ‹smoke›; ‹smoke›()\"\n# a smoke\n",
        ),
        ("ci.yml", "run: |\n  from app import ‹smoke›\n  import smoke_signals, smoke\n"),
        ("Makefile", "run:\n\tpython -c \"import app; app.«smoke»()\"\nsmoke: run\n"),
        ("Procfile", "web: gunicorn app:«smoke»\n"),
        ("run.sh", "gunicorn app:«smoke»\nsmoke\n"),
    ])
    .check();
}

#[test]
fn documentation_has_blocks_of_code() {
    Marked::new(&[
        ("m.py", "def «add_up»(xs): ...\n"),
        (
            "docs/a.rst",
            "Title\n=====\n\n.. code-block:: python\n   :linenos:\n\n   ‹add_up›([3])\n\nExample::\n\n  if 1:\n    ‹add_up›([4])\n\n.. note::\n\n   To add_up is easy.\n\n- A list\n\n  of add_up\n",
        ),
        ("docs/api.rst", ".. autosummary::\n\n   m.‹add_up›\n"),
        ("docs/b.md", "::: m.‹add_up›\n"),
    ])
    .check();
}
