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

/// Number of functions that call each other in [`calls_in_circles`].
const MANY: usize = 30;

/// Returns a base class with many subclasses that override a method, and functions without
/// annotations that call each other in many ways.
fn calls_in_circles() -> String {
    let mut text = "class Base:\n    def subs(self): return self\n".to_owned();
    for it in 0..MANY {
        let parent = if it < 2 { "Base".to_owned() } else { format!("C{}", it / 2) };
        text += &format!("class C{it}({parent}):\n    def subs(self): return f{it}(self)\n");
        let [next, other, far] = [it + 1, it * 3 + 1, it * 7 + 5].map(|it| it % MANY);
        text += &format!(
            "def f{it}(x):\n    if x: return f{next}(x)\n    if x is None: return f{other}(f{far}(x))\n    return C{it}()\n"
        );
    }
    text
}

/// Evaluating each call anew, on each way to it, would take hours.
#[test]
fn a_method_is_renamed_where_functions_call_each_other_in_circles() {
    let users = (0..150).map(|it| format!("f{}(C{}()).subs()\n", it % MANY, (it * 11) % MANY));
    let user = format!("from m0 import *\n{}", users.collect::<String>());
    let texts = [&*calls_in_circles(), &user];
    let index = index(&texts);
    let [home, user] = ["m0.py", "m1.py"].map(|it| index.file(it).unwrap());
    let at = texts[0].find("subs").unwrap();
    let rename = index.rename(home, at, "replaced").unwrap();
    let edits = |file| rename.edits.iter().find(|it| it.0 == file).map_or(0, |it| it.1.len());
    assert_eq!([edits(home), edits(user)], [1 + MANY, 150]);
}

/// The types of a value are followed through long chains of calls.
#[test]
fn a_result_is_known_through_a_long_chain_of_calls() {
    let mut text = "class Base:\n    def subs(self): pass\n".to_owned();
    for it in 0..150 {
        text += &format!("def f{it}(): return f{}()\n", it + 1);
    }
    text += "def f150(): return Base()\nf0().subs()\n";
    let index = index(&[&text]);
    let file = index.file("m0.py").unwrap();
    let rename = index.rename(file, text.find("subs").unwrap(), "replaced").unwrap();
    assert_eq!(rename.edits[0].1.len(), 2);
}
