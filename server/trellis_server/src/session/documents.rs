//! Open documents of the editor.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use tower_lsp::ls_types::{TextDocumentContentChangeEvent, Uri};

use super::definition_anchors::Anchors;
use super::line_markers::LineMarkers;
use super::positions;
use trellis_python::{Lines, Unit};

/// One open document.
#[derive(Clone)]
pub struct Document {
    /// URI as the client writes it.
    pub uri: Uri,
    pub version: i32,
    pub text: Arc<str>,
    /// Number of the workspace folder that holds the document, and the document's name in its
    /// index.
    pub part: u64,
    pub name: String,
    /// Definitions as of the last parse, moved by later edits; `None` before the first parse.
    pub anchors: Option<Arc<Anchors>>,
    /// Lines with failures, moved by later edits.
    pub marks: LineMarkers,
}

/// One open document, with the workspace folder that holds it.
pub struct Open {
    pub document: Document,
    /// `None` for a file outside of all folders.
    pub root: Option<PathBuf>,
}

impl Document {
    /// Applies changes in their order; each range refers to the text after the preceding changes.
    pub fn apply(&mut self, changes: Vec<TextDocumentContentChangeEvent>, unit: Unit) {
        let mut text = String::from(&*self.text);
        for change in changes {
            let range = match change.range {
                Some(range) => positions::bytes(&Lines::of(&text), range, unit),
                None => 0..text.len(),
            };
            let (edit, by) = trimmed(&text, range, &change.text);
            if let Some(anchors) = &mut self.anchors {
                Arc::make_mut(anchors).shift(&edit, by);
            }
            self.marks.shift(&text, &edit, by);
            text.replace_range(edit, by);
        }
        self.text = text.into();
    }

    /// Stores the definitions found by a parse; returns whether any changed. Definitions of a text
    /// with syntax errors do not replace those of a valid text, since a half-typed definition is
    /// often not found.
    pub fn parsed(&mut self, anchors: Anchors) -> bool {
        let before = self.anchors.as_deref();
        if before.is_some_and(|it| it.whole && !anchors.whole || *it == anchors) {
            return false;
        }
        self.anchors = Some(Arc::new(anchors));
        true
    }
}

/// Trims an edit to the part that changes the text, since editors and formatters send more.
fn trimmed<'a>(text: &str, range: Range<usize>, by: &'a str) -> (Range<usize>, &'a str) {
    let old = &text[range.clone()];
    let same = |(a, b): &(char, char)| a == b;
    let head: usize =
        old.chars().zip(by.chars()).take_while(same).map(|(it, _)| it.len_utf8()).sum();
    let (old, by) = (&old[head..], &by[head..]);
    let tail: usize =
        old.chars().rev().zip(by.chars().rev()).take_while(same).map(|(it, _)| it.len_utf8()).sum();
    (range.start + head..range.end - tail, &by[..by.len() - tail])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tower_lsp::ls_types::{Position, Range as Places};
    use trellis_python::Outline;

    use super::*;

    fn document(text: &str) -> Document {
        let uri = "file:///a.py".parse().expect("a uri");
        let (version, part, marks) = (1, 1, LineMarkers::default());
        let anchors = Some(Arc::new(fresh(text)));
        let (text, name) = (text.into(), "a.py".to_owned());
        Document { uri, version, text, part, name, anchors, marks }
    }

    fn fresh(text: &str) -> Anchors {
        Anchors::of(&Outline::of(text), text)
    }

    #[test]
    fn a_broken_text_takes_nothing_away() {
        let mut document = document("def a(): ...\n");
        let known = document.anchors.clone();
        assert!(!document.parsed(fresh("def a(:\n\nclass B: ...\n")));
        assert_eq!(document.anchors, known);
        assert!(document.parsed(fresh("def b(): ...\n")));
        assert!(!document.parsed(fresh("def b(): ...\n")), "nothing is new");
    }

    proptest! {
        /// After any edits, once a valid text is parsed the anchors are those of that text.
        #[test]
        fn after_a_parse_the_anchors_are_those_of_the_text(
            edits in prop::collection::vec((0..8_u32, 0..12_u32, 0..3_u32, 0..9_u32, "[a-z():\n\u{e9} ]{0,6}"), 0..12),
        ) {
            let mut it = document("def a(): ...\n\nclass B:\n    def c(self): ...\n");
            for (line, column, lines, columns, text) in edits {
                let start = Position { line, character: column };
                let end = Position { line: line + lines, character: columns };
                let range = Some(Places { start, end });
                let range_length = None;
                it.apply(vec![TextDocumentContentChangeEvent { range, range_length, text }], Unit::Utf16);
            }
            let found = fresh(&it.text);
            let is_whole = found.whole;
            it.parsed(found.clone());
            if is_whole {
                prop_assert_eq!(it.anchors.as_deref(), Some(&found));
            }
            it.apply(vec![TextDocumentContentChangeEvent { range: None, range_length: None, text: "def z(): ...\n".to_owned() }], Unit::Utf16);
            let found = fresh(&it.text);
            it.parsed(found.clone());
            prop_assert_eq!(it.anchors.as_deref(), Some(&found));
        }
    }

    #[test]
    fn only_what_changes_is_an_edit() {
        for (by, wanted) in [
            ("abcdef", (6..6, "")),
            ("abXdef", (2..3, "X")),
            ("abcabcdef", (3..3, "abc")),
            ("", (0..6, "")),
            ("\u{e9}abcdef", (0..0, "\u{e9}")),
        ] {
            assert_eq!(trimmed("abcdef", 0..6, by), wanted, "{by}");
        }
        assert_eq!(trimmed("x\u{e9}y", 1..3, "\u{e8}"), (1..3, "\u{e8}"), "no half characters");
    }
}
