//! Keywords that reach a function in mappings, or through a function of a library.

use crate::marked::{Marked, check};

#[test]
fn merged_mappings_are_followed() {
    check(
        "def f(«qty»=1, **kw): return «qty»\nDEF = {'«qty»': 6}\nf(**dict(DEF, z=1))\nf(**{**DEF, 'y': 1})\nf(**(DEF | {'q': 1}))\nmore = DEF.copy()\nf(**more)\nOTHER = {'qty': 1}\nprint(OTHER)\n",
    );
    check(
        "def f(«qty»=1): return «qty»\nclass C:\n    defaults = {'«qty»': 4}\n    def run(self): return f(**self.defaults)\n    def run2(self, **over):\n        o = {**self.defaults, **over}\n        return f(**o)\n    def run3(self, **over): ...\nC().run2(‹qty›=9)\nC().run3(qty=9)\n",
    );
}

#[test]
fn calls_with_mappings_of_unknown_keys_are_possible() {
    check(
        "import json\nfrom dataclasses import dataclass\n@dataclass\nclass Item:\n    «qty»: int\n‹Item›(**json.load(open('data.json')))\nItem(**{'other': 1})\nItem(1)\n",
    );
    check(
        "def main(«qty», name): return «qty»\ndef other(**kw): return main(**kw)\n‹main›(**vars(parse()))\nother(‹qty›=1)\nother(**load())\nprint(**load())\n",
    );
    check(
        "class Item:\n    def __init__(self, qty): self.«qty» = qty\n    def clone(self): return ‹Item›(**vars(self))\n    def log(self): return dict(**{'a': 1})\n",
    );
    check(
        "from dataclasses import dataclass, replace\n@dataclass(frozen=True)\nclass R:\n    «low»: int\n    def shift(self, **ch): return R(**{**self.__dict__, **ch})\nR(1).shift(‹low›=4)\n",
    );
}

#[test]
fn functions_of_libraries_hand_keywords_on() {
    check(
        "import asyncio, inspect\nfrom concurrent.futures import ThreadPoolExecutor\ndef f(«qty»): return «qty»\nThreadPoolExecutor().submit(f, «qty»=3)\nasyncio.to_thread(f, «qty»=3)\nsig = inspect.signature(f)\nsig.bind(‹qty›=3)\nsig.parameters['‹qty›']\n'{qty}'.format(qty=1)\ndict(qty=1)\nprint(dict(a=1)['qty'])\n",
    );
}

#[test]
fn fields_of_unknown_bases_are_keywords_of_queries() {
    check(
        "from django.db import models\nclass Item(models.Model):\n    «qty» = models.IntegerField()\n    label = 'x'\nItem(‹qty›=3).«qty»\nItem.objects.filter(‹qty›=3)\n",
    );
    check("from elsewhere import Base\nclass Item(Base):\n    «label» = 'x'\nItem(label=3)\n");
}

#[test]
fn a_keyword_that_is_passed_already_is_a_clash() {
    let text = "def f(«a», **kw): ...\nf(1, **{'b': 3, 'c': 4})\n";
    assert!(Marked::new(&[("m.py", text)]).refusal("b").contains("already passes `b=`"));
}
