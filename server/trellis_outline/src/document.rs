//! A text with its syntax tree.

use std::ops::Range;

use tree_sitter::{InputEdit, Parser, Point, Tree};

use crate::{Language, TestOutline, go, javascript};

/// A text whose tree follows its edits: only what they changed is parsed again.
#[derive(Clone)]
pub struct Document {
    language: Language,
    text: String,
    tree: Tree,
    /// True if the tree is of an earlier text.
    is_edited: bool,
}

impl Document {
    pub fn new(text: &str, language: Language) -> Document {
        let tree = parsed(text, language, None);
        Document { language, text: text.to_owned(), tree, is_edited: false }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces a byte range, without parsing.
    ///
    /// # Panics
    ///
    /// If the range is not one of the text, or splits a character.
    pub fn edit(&mut self, range: Range<usize>, by: &str) {
        let start_position = point(&self.text, range.start);
        let old_end_position = point(&self.text, range.end);
        self.text.replace_range(range.clone(), by);
        let new_end_byte = range.start + by.len();
        self.tree.edit(&InputEdit {
            start_byte: range.start,
            old_end_byte: range.end,
            new_end_byte,
            start_position,
            old_end_position,
            new_end_position: point(&self.text, new_end_byte),
        });
        self.is_edited = true;
    }

    /// Parses what the edits since the last parse changed.
    pub fn parse(&mut self) {
        if std::mem::take(&mut self.is_edited) {
            self.tree = parsed(&self.text, self.language, Some(&self.tree));
        }
    }

    /// Returns the tests of the text, also between syntax errors.
    pub fn tests(&mut self) -> TestOutline {
        self.parse();
        let root = self.tree.root_node();
        match self.language {
            Language::Go => go::tests(root, &self.text),
            _ => javascript::tests(root, &self.text),
        }
    }
}

fn parsed(text: &str, language: Language, before: Option<&Tree>) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).expect("the grammars fit the library");
    parser.parse(text, before).expect("a parse without time limit ends with a tree")
}

/// Returns the row of an offset, and the bytes before it in the row.
fn point(text: &str, offset: usize) -> Point {
    let before = &text.as_bytes()[..offset];
    let row = before.iter().filter(|it| **it == b'\n').count();
    let line = before.iter().rposition(|it| *it == b'\n').map_or(0, |at| at + 1);
    Point::new(row, offset - line)
}
