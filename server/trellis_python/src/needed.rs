//! Selects the lines of a file that a reader of one definition needs: the definition, what it uses
//! of the file, and the imports of both.

use std::collections::BTreeSet;

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;

use crate::lines::{Lines, Unit};
use crate::outline::{Outline, Symbol};
use crate::syntax::{blocks, parse};

/// Methods that a test framework runs around each test of a class.
const AROUND_TESTS: [&str; 12] = [
    "setUp",
    "tearDown",
    "setUpClass",
    "tearDownClass",
    "asyncSetUp",
    "asyncTearDown",
    "setup",
    "teardown",
    "setup_method",
    "teardown_method",
    "setup_class",
    "teardown_class",
];

/// Number of lines of a bound name's value that are selected in any case.
const CONSTANT: usize = 10;

/// Selected lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needed {
    /// Line numbers, from 1.
    pub lines: BTreeSet<u32>,
    /// Identifiers that occur in these lines.
    pub words: BTreeSet<String>,
}

/// Returns the lines that a definition needs. `path` has its name after those of enclosing
/// definitions. Definitions of up to `most` lines that it uses are selected whole, of longer ones
/// only the header. Empty if there is no such definition.
pub fn needed_by(source: &str, path: &[&str], most: usize) -> Needed {
    let search = Search::of(source, most);
    let is_start = |it: &usize| {
        let names = search.outline.path(*it).into_iter().map(|it| it.name.as_str());
        names.eq(path.iter().copied())
    };
    match (0..search.outline.symbols.len()).rfind(is_start) {
        Some(start) => search.from(vec![start]),
        None => Needed::default(),
    }
}

/// Returns the lines that the fixtures of these names need.
pub fn needed_fixtures(source: &str, names: &BTreeSet<String>, most: usize) -> Needed {
    let search = Search::of(source, most);
    let fixtures: Vec<usize> = (0..search.outline.symbols.len())
        .filter(|it| {
            let symbol = &search.outline.symbols[*it];
            symbol.parent.is_none() && search.is_fixture(symbol) && names.contains(&symbol.name)
        })
        .collect();
    match fixtures.is_empty() {
        true => Needed::default(),
        false => search.from(fixtures),
    }
}

struct Search<'a> {
    source: &'a str,
    outline: Outline,
    lines: Lines<'a>,
    most: usize,
    starts: Vec<usize>,
    /// Definitions around the starts; only their headers are selected.
    around: BTreeSet<usize>,
    found: Needed,
}

impl<'a> Search<'a> {
    fn of(source: &'a str, most: usize) -> Search<'a> {
        let (outline, lines) = (Outline::of(source), Lines::of(source));
        let (starts, around, found) = (Vec::new(), BTreeSet::new(), Needed::default());
        Search { source, outline, lines, most, starts, around, found }
    }

    fn from(mut self, starts: Vec<usize>) -> Needed {
        let parent = |it: &usize| self.outline.symbols[*it].parent;
        self.around =
            starts.iter().flat_map(|it| std::iter::successors(parent(it), parent)).collect();
        self.starts = starts;
        let mut open: Vec<usize> = self.starts.iter().chain(&self.around).copied().collect();
        open.extend(self.parts_for_all_methods());
        open.extend(self.automatic());
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        while let Some(index) = open.pop() {
            if seen.insert(index) {
                self.select(index);
                open.extend(self.used().into_iter().filter(|it| !seen.contains(it)));
            }
        }
        self.imports();
        self.found
    }

    /// Returns the methods of the classes around the starts that run for each of their methods.
    fn parts_for_all_methods(&self) -> Vec<usize> {
        let is_part = |it: &usize| {
            let symbol = &self.outline.symbols[*it];
            let is_method = symbol.parent.is_some_and(|it| self.around.contains(&it));
            let runs = AROUND_TESTS.contains(&symbol.name.as_str()) || symbol.name == "__init__";
            is_method && (runs || self.is_automatic(symbol))
        };
        (0..self.outline.symbols.len()).filter(is_part).collect()
    }

    /// Returns the fixtures that every test of the file uses, if a start is a test.
    fn automatic(&self) -> Vec<usize> {
        let names = self.starts.iter().map(|it| &self.outline.symbols[*it].name);
        let is_test = names.into_iter().any(|it| it.starts_with("test"));
        let is_used = |it: &usize| {
            let symbol = &self.outline.symbols[*it];
            is_test && symbol.parent.is_none() && self.is_automatic(symbol)
        };
        (0..self.outline.symbols.len()).filter(is_used).collect()
    }

    fn select(&mut self, index: usize) {
        let symbol = &self.outline.symbols[index];
        let (first, mut last) = self.line_range(symbol.range.start, symbol.range.end);
        let is_short = (last - first) < self.most as u32 && !self.around.contains(&index);
        if !self.starts.contains(&index) && !is_short {
            last = match &symbol.header {
                Some(header) => self.line_range(header.start, header.end).1,
                None => last.min(first + self.most.max(CONSTANT) as u32 - 1),
            };
        }
        let lines = self.source.lines().skip(first as usize - 1).take((last + 1 - first) as usize);
        self.found.words.extend(lines.flat_map(identifiers_in));
        self.found.lines.extend(first..=last);
    }

    /// Returns the symbols that the selected text names: those of the module, and those of classes
    /// around the starts.
    fn used(&self) -> Vec<usize> {
        let is_used = |it: &usize| {
            let symbol = &self.outline.symbols[*it];
            let is_in_reach = symbol.parent.is_none_or(|it| self.around.contains(&it));
            is_in_reach && self.found.words.contains(&symbol.name)
        };
        (0..self.outline.symbols.len()).filter(is_used).collect()
    }

    /// Selects the import statements that bind one of the found words.
    fn imports(&mut self) {
        let Ok(parsed) = parse(self.source) else { return };
        let mut ranges = Vec::new();
        collect_imports(parsed.suite(), &self.found.words, &mut ranges);
        for (start, end) in ranges {
            let (first, last) = self.line_range(start, end);
            self.found.lines.extend(first..=last);
        }
    }

    fn is_fixture(&self, symbol: &Symbol) -> bool {
        symbol.decorators.iter().any(|it| self.source[it.clone()].contains("fixture"))
    }

    /// Returns whether a symbol is a fixture that every test uses.
    fn is_automatic(&self, symbol: &Symbol) -> bool {
        symbol.decorators.iter().any(|it| self.source[it.clone()].contains("autouse=True"))
    }

    /// Returns the lines of a byte range, from 1.
    fn line_range(&self, start: usize, end: usize) -> (u32, u32) {
        let line = |offset| self.lines.position(offset, Unit::Utf8).0 as u32 + 1;
        (line(start), line(end.max(start + 1) - 1))
    }
}

/// Collects the byte ranges of imports, at any depth of the module's own blocks.
fn collect_imports(body: &[Stmt], words: &BTreeSet<String>, out: &mut Vec<(usize, usize)>) {
    for stmt in body {
        let aliases = match stmt {
            Stmt::Import(it) => &it.names[..],
            Stmt::ImportFrom(it) => &it.names[..],
            Stmt::If(_) | Stmt::Try(_) | Stmt::With(_) => {
                blocks(stmt).into_iter().for_each(|it| collect_imports(it, words, out));
                continue;
            }
            _ => continue,
        };
        let is_used = aliases.iter().any(|it| {
            let bound = it.asname.as_ref().unwrap_or(&it.name).as_str();
            bound == "*" || words.contains(bound.split('.').next().unwrap_or(bound))
        });
        if is_used {
            out.push((stmt.range().start().to_usize(), stmt.range().end().to_usize()));
        }
    }
}

/// Returns all words of a text that could be identifiers, those in strings included.
fn identifiers_in(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|it| it.starts_with(|c: char| !c.is_numeric())).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: &str = "\
import json
import os

import pytest

from shop import cart, prices

LIMIT = 5
OTHER = 6


@pytest.fixture
def basket():
    return cart.Basket(LIMIT)


@pytest.fixture(autouse=True)
def quiet():
    yield


def helper(it):
    return json.dumps(it)


def unused():
    return os.getcwd()


class TestCart:
    def setup_method(self):
        self.x = OTHER

    def test_a(self, basket):
        assert helper(basket) == '{}'

    def test_b(self):
        assert prices
";

    fn shown(needed: &Needed) -> Vec<&'static str> {
        let all: Vec<&str> = TESTS.lines().collect();
        let lines = needed.lines.iter().map(|it| all[*it as usize - 1]);
        lines.filter(|it| !it.is_empty()).collect()
    }

    #[test]
    fn a_test_stands_with_its_fixtures_helpers_and_imports() {
        let found = needed_by(TESTS, &["TestCart", "test_a"], 20);
        let text = shown(&found).join("\n");
        for part in [
            "import json",
            "import pytest",
            "from shop import",
            "LIMIT = 5",
            "OTHER = 6",
            "def basket",
            "return cart.Basket(LIMIT)",
            "def quiet",
            "return json.dumps",
            "class TestCart:",
            "def setup_method",
            "assert helper(basket)",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        for part in ["import os", "def unused", "test_b"] {
            assert!(!text.contains(part), "{part} stands in\n{text}");
        }
    }

    #[test]
    fn with_no_lines_for_others_their_headers_remain() {
        let text = shown(&needed_by(TESTS, &["helper"], 0)).join("\n");
        assert!(text.contains("import json") && text.contains("return json.dumps"), "{text}");
        let text = shown(&needed_by(TESTS, &["TestCart", "test_a"], 1)).join("\n");
        assert!(text.contains("def helper(it):") && !text.contains("json.dumps"), "{text}");
        assert_eq!(needed_by(TESTS, &["nobody"], 9), Needed::default());
    }

    #[test]
    fn fixtures_are_found_by_name() {
        let names = BTreeSet::from(["basket".to_owned(), "helper".to_owned()]);
        let text = shown(&needed_fixtures(TESTS, &names, 20)).join("\n");
        assert!(text.contains("def basket") && text.contains("LIMIT = 5"), "{text}");
        assert!(!text.contains("def helper"), "no fixture: {text}");
        assert!(!text.contains("def quiet"), "not named: {text}");
    }
}
