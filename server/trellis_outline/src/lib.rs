//! Tests in the text of JavaScript, TypeScript and Go, found with tree-sitter.

mod document;
mod go;
mod javascript;
mod language;
mod names;

use std::ops::{Range, RangeInclusive};

pub use document::Document;
pub use language::Language;

/// A test, or a group of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlinedTest {
    /// The id of a run, without its path: titles with `::` between them, or Go's `TestX/subtest`.
    pub name: String,
    pub is_group: bool,
    /// Byte range of the definition.
    pub range: Range<usize>,
    /// Lines of the definition, from 1.
    pub lines: RangeInclusive<u32>,
}

/// The tests of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestOutline {
    /// In source order, a group before its tests.
    pub tests: Vec<OutlinedTest>,
    /// True if there are tests of which only a run knows the names.
    pub has_unnamed: bool,
}

/// Returns the tests of a text.
pub fn tests(text: &str, language: Language) -> TestOutline {
    Document::new(text, language).tests()
}
