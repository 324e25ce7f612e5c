//! Classes and functions that stand in for others, and names that are made of a renamed one.

use crate::marked::{Marked, check};

#[test]
fn test_doubles_are_possible() {
    Marked::new(&[
        (
            "app.py",
            "class Mailer:\n    def «send»(self, m): ...\ndef notify(m: Mailer): return m.«send»('y')\ndef make(): return Mailer().«send»('x')\ndef other(x: object): ...\n",
        ),
        (
            "test_a.py",
            "import app\nclass FakeMailer:\n    def ‹send›(self, m): ...\nclass Phone:\n    def send(self, m): ...\ndef test_b(): app.notify(FakeMailer()); app.other(Phone())\n",
        ),
        (
            "test_b.py",
            "import app\nclass Fake:\n    def ‹send›(self, m): ...\nclass Other:\n    def send(self, m): ...\ndef test_a(monkeypatch):\n    monkeypatch.setattr(app, 'Mailer', Fake)\n    monkeypatch.setattr(app, 'notify', Other)\n",
        ),
        (
            "test_c.py",
            "from unittest.mock import patch\nimport app\nclass Fake:\n    def ‹send›(self, m): ...\ndef test_a():\n    with patch('app.Mailer', Fake): ...\n",
        ),
        (
            "test_d.py",
            "import app\nclass Fake:\n    def ‹send›(self, m): ...\napp.Mailer = Fake\n",
        ),
    ])
    .check();
}

#[test]
fn callbacks_have_the_parameters_of_their_protocol() {
    check(
        "from typing import Protocol\nclass Fn(Protocol):\n    def __call__(self, «qty»: int) -> int: ...\ndef double(‹qty›): return qty * 2\ndef other(qty): return qty\nclass Obj:\n    def __call__(self, ‹qty›): return qty\ndef run(f: Fn): return f(«qty»=3)\nrun(double), run(Obj())\n",
    );
}

#[test]
fn private_fields_of_attrs_are_keywords_without_underscores() {
    check(
        "from attrs import define\n@define\nclass Item:\n    «_qty»: int\n    def get(self): return self.«_qty»\nItem(‹qty›=2)\ndef f(qty): ...\nf(qty=1)\n",
    );
    check(
        "from dataclasses import dataclass\n@dataclass\nclass Item:\n    «_qty»: int\ndef f(qty): ...\nf(qty=1)\nItem(«_qty»=1)\n",
    );
}

#[test]
fn private_names_from_outside_have_the_name_of_the_class() {
    check(
        "class «Account»:\n    def __init__(self): self.__money = 3\na = «Account»()\na._‹Account›__money\ngetattr(a, '_‹Account›__money')\n",
    );
}

#[test]
fn modules_are_taken_from_those_that_are_loaded() {
    Marked::new(&[
        (
            "tool.py",
            "import sys\ndef «go»(): ...\nme = sys.modules[__name__]\ndef call(): return me.«go»()\n",
        ),
        ("run.py", "import tool, sys\nsys.modules['tool'].«go»()\nsys.modules['other'].x\n"),
    ])
    .check();
}
