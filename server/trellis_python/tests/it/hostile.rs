//! For any text, questions terminate without a panic.

use std::sync::Arc;

use proptest::prelude::*;
use trellis_python::{Index, TextSource, Words};

struct NoTexts;

impl TextSource for NoTexts {
    fn read(&self, _path: &str) -> Option<Arc<str>> {
        None
    }
}

const SOURCES: [&str; 3] = [
    include_str!("../../../../fixtures/python/jobs/jobs/runner.py"),
    include_str!("../../../../fixtures/python/game/game/units.py"),
    include_str!("../../../../fixtures/python/ledger/ledger/totals.py"),
];

fn index(texts: &[&str]) -> Index {
    let mut index = Index::new(Arc::new(NoTexts));
    for (number, text) in texts.iter().enumerate() {
        index.put(&format!("m{number}.py"), Words::of(text), Some((*text).into()));
    }
    index
}

/// Asks all questions at some offsets, and checks that answers are inside the text.
fn ask(index: &Index, offsets: &[usize]) {
    for file in index.files() {
        let text = index.text(file).unwrap();
        for offset in offsets.iter().map(|it| it % (text.len() + 1)) {
            let found = index.references(file, offset).map_or_else(Vec::new, |it| it.found);
            let places = found.into_iter().map(|it| it.place).chain(index.definition(file, offset));
            for it in places {
                assert!(index.text(it.file).unwrap().get(it.range.clone()).is_some(), "{it:?}");
            }
            let _ = index.rename(file, offset, "fresh_name");
        }
    }
}

/// Generates a real text with a part removed or moved.
fn mutated() -> impl Strategy<Value = String> {
    let place = 0..100_000_usize;
    (0..SOURCES.len(), place.clone(), 0..200_usize, place, any::<bool>()).prop_map(
        |(source, at, length, to, keep)| {
            let mut text: Vec<char> = SOURCES[source].chars().collect();
            let start = at % text.len();
            let end = (start + length).min(text.len());
            let cut: Vec<char> =
                if keep { text[start..end].to_vec() } else { text.drain(start..end).collect() };
            let to = to % (text.len() + 1);
            text.splice(to..to, cut);
            text.into_iter().collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn mutated_sources_are_answered(text in mutated(), offsets in prop::collection::vec(0..100_000_usize, 4)) {
        ask(&index(&[&text, SOURCES[1]]), &offsets);
    }

    #[test]
    fn arbitrary_texts_are_answered(text in "[a-z_(): \\n\\t='\"\\[\\].,*@{}é🙂\\\\]{0,200}", offsets in prop::collection::vec(0..200_usize, 4)) {
        ask(&index(&[&text]), &offsets);
    }
}

/// Classes and values defined by themselves.
#[test]
fn circles_end() {
    let circles = [
        "class A(B): pass\nclass B(A): pass\nA().x\n",
        "def f(): return g()\ndef g(): return f()\nf().x\n",
        "x = y\ny = x\nx.z\n",
        "from m0 import *\nfrom m0 import a\na.b\n",
        "import m0\nm0.m0.m0.x\n",
        "class A:\n    def f(self): return [self.f()]\nA().f().x\n",
        "def f(x):\n    while True:\n        x = [x]\n    x.y\n",
        "T = list['T']\nx: T = []\nx[0][0].y\n",
        "class A(type(A)): pass\nA.x\n",
        "a = lambda: a()\na().x\n",
        "def f(n):\n    if n: return (f(n - 1),)\n    return f\nf(1).x\n",
    ];
    for text in circles {
        let offsets: Vec<usize> = (0..text.len()).collect();
        ask(&index(&[text]), &offsets);
    }
}
