//! What renames take along, who calls whom, and what nobody uses.

use std::sync::Arc;

use code::{FileId, Index, NamePath, Texts, Words};

struct NoTexts;

impl Texts for NoTexts {
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

/// `file:line` of every edit of a rename, or the refusal.
fn renamed(index: &Index, path: &str, to: &str) -> Result<Vec<String>, String> {
    let (file, at) = definition(index, path);
    let rename = index.rename(file, at, to).map_err(|it| it.to_string())?;
    let line = |file: FileId, at: usize| index.text(file).unwrap()[..at].matches('\n').count() + 1;
    let spots =
        rename.edits.iter().flat_map(|(file, ranges)| ranges.iter().map(|it| (*file, it.start)));
    Ok(spots.map(|(file, at)| format!("{}:{}", index.path(file), line(file, at))).collect())
}

/// A class is taken for a protocol by what it has, so its names change with the protocol's.
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
        let name = |it: code::Caller| {
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
