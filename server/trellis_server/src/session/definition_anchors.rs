//! Positions of the definitions in an open document, kept up to date without parsing at every
//! keystroke.

use std::ops::Range;
use std::sync::Arc;

use trellis_python::{Outline, Symbol, SymbolKind};

/// Kind of definition at an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnchorKind {
    Function,
    Method,
    Class,
}

/// A function or class outside of functions, or a method of such a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// `function` or `Class.method`; `name[1]` for the second definition of one name.
    pub name: Arc<str>,
    pub kind: AnchorKind,
    /// True for the name of a test or test class, in a file where pytest would collect tests.
    pub is_test: bool,
    /// Byte range of the name.
    pub at: Range<usize>,
}

/// The anchors of a text, in text order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anchors {
    pub all: Vec<Anchor>,
    /// True if the text had no syntax errors when it was parsed.
    pub whole: bool,
}

impl Anchors {
    /// Returns the anchors of an outline of `text`.
    pub fn of(outline: &Outline, text: &str) -> Anchors {
        let anchor = |number| anchor(outline, text, number);
        let all = (0..outline.symbols.len()).filter_map(anchor).collect();
        Anchors { all, whole: outline.errors.is_empty() }
    }

    /// Moves the anchors along with an edit. An anchor whose name is retyped stays; an anchor whose
    /// name the edit removes goes, unless the edit contains its definition.
    pub fn shift(&mut self, edit: &Range<usize>, by: &str) {
        let mut from = 0;
        self.all.retain_mut(|anchor| {
            let at = &mut anchor.at;
            if at.start >= edit.end {
                *at = moved(at.start, edit, by)..moved(at.end, edit, by);
            } else if at.start <= edit.start && edit.end <= at.end {
                at.end = moved(at.end, edit, by);
            } else if at.end > edit.start {
                let Some(found) = defined_in(by, last_name(&anchor.name), from) else {
                    return false;
                };
                from = found.end;
                *at = edit.start + found.start..edit.start + found.end;
            }
            true
        });
    }
}

fn moved(offset: usize, edit: &Range<usize>, by: &str) -> usize {
    offset - edit.len() + by.len()
}

/// Returns the place where a text defines a name, searched from an offset on.
fn defined_in(text: &str, name: &str, from: usize) -> Option<Range<usize>> {
    let is_definition = |at: usize| {
        let line = text[..at].trim_end_matches([' ', '\t']);
        line.len() < at && (line.ends_with("def") || line.ends_with("class"))
    };
    let ends =
        |at: usize| !text[at..].starts_with(|next: char| next.is_alphanumeric() || next == '_');
    let mut places = text[from..].match_indices(name).map(|(at, _)| from + at);
    let start = places.find(|at| is_definition(*at) && ends(at + name.len()))?;
    Some(start..start + name.len())
}

/// Returns `method` of `Class.method[1]`.
pub fn last_name(name: &str) -> &str {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.split('[').next().unwrap_or(last)
}

fn anchor(outline: &Outline, text: &str, number: usize) -> Option<Anchor> {
    let symbol = &outline.symbols[number];
    let kind = match symbol.kind {
        SymbolKind::Class => AnchorKind::Class,
        SymbolKind::Function => AnchorKind::Function,
        SymbolKind::Method | SymbolKind::Property => AnchorKind::Method,
        SymbolKind::Variable | SymbolKind::Attribute => return None,
    };
    let name = nameable(outline, number)?;
    let path = outline.path(number);
    let around = &path[..path.len() - 1];
    let is_test = match kind {
        AnchorKind::Class => is_test_class(symbol, text),
        _ => is_test_function(symbol, text) && around.iter().all(|it| is_test_class(it, text)),
    };
    Some(Anchor { name: name.into(), kind, is_test, at: symbol.name_range.clone() })
}

/// Returns the name of a symbol outside of functions in the form for people: `Class.method`,
/// `name[1]`.
pub fn nameable(outline: &Outline, number: usize) -> Option<String> {
    let (_, around) =
        outline.path(number).split_last().map(|(it, around)| (*it, around.to_vec()))?;
    let is_open = around.iter().all(|it| it.kind == SymbolKind::Class);
    is_open.then(|| outline.name_path(number).trim_start_matches('/').replace('/', "."))
}

/// A fixture named `test_data` is not a test.
fn is_test_function(symbol: &Symbol, text: &str) -> bool {
    let is_fixture = |it: &Range<usize>| text[it.clone()].contains("fixture");
    symbol.name.starts_with("test") && !symbol.decorators.iter().any(is_fixture)
}

/// pytest collects classes by name, and all unittest classes.
fn is_test_class(symbol: &Symbol, text: &str) -> bool {
    let header = symbol.header.clone().map_or("", |it| &text[it]);
    symbol.name.starts_with("Test") || header.contains("TestCase")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "import a\n\nclass Cart:\n    def total(self):\n        def inner(): ...\n        return 1\n\n    @property\n    def size(self): ...\n\ndef total(): ...\ndef total(x): ...\n";

    fn names(anchors: &Anchors) -> Vec<&str> {
        anchors.all.iter().map(|it| &*it.name).collect()
    }

    #[test]
    fn functions_and_methods_outside_of_functions_have_anchors() {
        let anchors = Anchors::of(&Outline::of(TEXT), TEXT);
        assert_eq!(names(&anchors), ["Cart", "Cart.total", "Cart.size", "total[0]", "total[1]"]);
        let tests = "class TestA:\n    def test_a(self): ...\n    def helper(self): ...\nclass B:\n    def test_b(self): ...\n@pytest.fixture\ndef test_data(): ...\ndef test_c(): ...\n";
        let anchors = Anchors::of(&Outline::of(tests), tests);
        let of_tests: Vec<&str> =
            anchors.all.iter().filter(|it| it.is_test).map(|it| &*it.name).collect();
        assert_eq!(of_tests, ["TestA", "TestA.test_a", "test_c"]);
    }

    #[test]
    fn an_edit_moves_what_is_behind_it_and_takes_what_it_deletes() {
        let text = "def a(): ...\ndef b(): ...\ndef c(): ...\n";
        type Places<'a> = &'a [(&'a str, usize)];
        let cases: [(Range<usize>, &str, Places<'_>); 6] = [
            // Insertions before, in and after a name.
            (13..13, "# x\n", &[("a", 4), ("b", 21), ("c", 34)]),
            (17..18, "bb", &[("a", 4), ("b", 17), ("c", 31)]),
            (5..5, "x", &[("a", 4), ("b", 18), ("c", 31)]),
            // Deleted, replaced by other text, retyped with text before it.
            (13..26, "", &[("a", 4), ("c", 17)]),
            (0..26, "def d(): ...\n", &[("c", 17)]),
            (0..39, "x = 'a b c'\ndef  a(): ...\ndef c(): ...\n", &[("a", 17), ("c", 30)]),
        ];
        for (edit, by, wanted) in cases {
            let mut anchors = Anchors::of(&Outline::of(text), text);
            anchors.shift(&edit, by);
            let found: Vec<(&str, usize)> =
                anchors.all.iter().map(|it| (&*it.name, it.at.start)).collect();
            assert_eq!(found, wanted, "{edit:?} {by:?}");
        }
    }

    proptest! {
        /// After any edits, an anchor whose name was not touched is still at its name.
        #[test]
        fn anchors_stay_at_their_names(
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0..30_usize, "[a-z #:\n\u{e9}]{0,8}"), 1..20),
        ) {
            let mut text = TEXT.to_owned();
            let mut anchors = Anchors::of(&Outline::of(TEXT), TEXT);
            let mut touched: Vec<Arc<str>> = Vec::new();
            for (at, length, by) in edits {
                let start = text.floor_char_boundary(at.index(text.len() + 1));
                let end = text.floor_char_boundary((start + length).min(text.len())).max(start);
                let meets = |it: &&Anchor| it.at.start < end && start <= it.at.end || it.at.start == start;
                touched.extend(anchors.all.iter().filter(meets).map(|it| it.name.clone()));
                anchors.shift(&(start..end), &by);
                text.replace_range(start..end, &by);
            }
            for anchor in &anchors.all {
                let there = text.get(anchor.at.clone());
                prop_assert!(there.is_some(), "{:?} in {:?}", anchor, text);
                if !touched.contains(&anchor.name) {
                    prop_assert_eq!(there, Some(last_name(&anchor.name)));
                }
            }
        }
    }
}
