//! Outlines after an edit: only the top-level statements around the edit are parsed.
//!
//! A statement at the left margin starts with the lexer in its first state, and ends every block
//! before it. Between two such statements that the edit left alone, valid text therefore means the
//! same by itself as in the file. Anything else is left to the parse of the whole file.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::{Outline, Symbol};
use crate::lines::count_ends;
use crate::syntax::refuse_depth;
use crate::tree::Tree;

impl Outline {
    /// Computes the outline of a module from that of an older text: the same as [`Outline::of`],
    /// and faster if the texts differ in few places.
    pub fn after_edit(before: &str, outline: &Outline, source: &str) -> Outline {
        match before == source {
            true => outline.clone(),
            false => updated(before, outline, source).unwrap_or_else(|| Outline::of(source)),
        }
    }
}

/// Returns the outline of a text; `None` if the whole text has to be parsed.
fn updated(before: &str, outline: &Outline, source: &str) -> Option<Outline> {
    if !outline.errors.is_empty() || refuse_depth(source).is_err() {
        return None;
    }
    let edited = Edited::between(before, outline, source);
    let tree = Tree::of(&source[edited.new.clone()]).ok()?;
    tree.errors.is_empty().then(|| edited.spliced(before, outline, source, Outline::of_tree(&tree)))
}

/// The statements that an edit touched.
struct Edited {
    /// Ranges in the older and the newer text.
    old: Range<usize>,
    new: Range<usize>,
    /// Symbols of the older outline in the range.
    symbols: Range<usize>,
}

impl Edited {
    /// Returns the statements in which two texts differ.
    fn between(before: &str, outline: &Outline, source: &str) -> Edited {
        let (head, tail) = common(before.as_bytes(), source.as_bytes());
        let tops = || {
            let numbered = outline.symbols.iter().enumerate();
            let starts = numbered.filter(|(_, it)| it.parent.is_none());
            let starts = starts.map(|(number, it)| (number, it.range.start));
            starts.filter(|(_, at)| starts_statement(before, *at))
        };
        let moved = |at: usize| at + source.len() - before.len();
        // The first byte of the statement is unchanged, so it is still at the left margin.
        let start = tops().take_while(|(_, at)| *at < head).last().map_or(0, |(_, at)| at);
        let is_behind = |(_, at): &(usize, usize)| {
            *at >= before.len() - tail && *at > start && starts_statement(source, moved(*at))
        };
        let end = tops().find(is_behind);
        let first = tops().find(|(_, at)| *at == start).filter(|_| start > 0).map_or(0, |it| it.0);
        let last = end.map_or(outline.symbols.len(), |it| it.0);
        let end = end.map_or(before.len(), |it| it.1);
        Edited { old: start..end, new: start..moved(end), symbols: first..last }
    }

    /// Returns the older outline with the symbols of the newer range.
    fn spliced(&self, before: &str, outline: &Outline, source: &str, part: Outline) -> Outline {
        let (head, tail) =
            (&outline.symbols[..self.symbols.start], &outline.symbols[self.symbols.end..]);
        let lines = |text: &str, range: Range<usize>| count_ends(&text[range]) as u32;
        let of_part = Shift {
            bytes: self.new.start,
            lines: lines(source, 0..self.new.start),
            symbols: head.len(),
        };
        let (old, new) = (lines(before, self.old.clone()), lines(source, self.new.clone()));
        let of_tail = Shift {
            bytes: self.new.end.wrapping_sub(self.old.end),
            lines: new.wrapping_sub(old),
            symbols: (head.len() + part.symbols.len()).wrapping_sub(self.symbols.end),
        };
        let part = part.symbols.iter().map(|it| of_part.of(it));
        let tail = tail.iter().map(|it| of_tail.of(it));
        let mut symbols = head.iter().cloned().chain(part).chain(tail).collect::<Vec<_>>();
        number(&mut symbols);
        Outline { symbols, errors: Vec::new() }
    }
}

/// Numbers the top-level symbols of the same name; the others keep their parents.
fn number(symbols: &mut [Symbol]) {
    let mut seen: FxHashMap<&str, usize> = FxHashMap::default();
    for Symbol { name, nth, .. } in symbols.iter_mut().filter(|it| it.parent.is_none()) {
        let count = seen.entry(name).or_default();
        *nth = *count;
        *count += 1;
    }
}

/// A move of symbols: differences, which wrap around where they are negative.
struct Shift {
    bytes: usize,
    lines: u32,
    symbols: usize,
}

impl Shift {
    fn of(&self, symbol: &Symbol) -> Symbol {
        let at = |it: usize| it.wrapping_add(self.bytes);
        let range = |it: &Range<usize>| at(it.start)..at(it.end);
        let mut place = symbol.place;
        place.line = place.line.wrapping_add(self.lines);
        Symbol {
            name: symbol.name.clone(),
            kind: symbol.kind,
            range: range(&symbol.range),
            name_range: range(&symbol.name_range),
            place,
            header: symbol.header.as_ref().map(range),
            body: symbol.body.as_ref().map(range),
            docstring: symbol.docstring.as_ref().map(range),
            decorators: symbol.decorators.iter().map(range).collect(),
            parent: symbol.parent.map(|it| it.wrapping_add(self.symbols)),
            nth: symbol.nth,
        }
    }
}

/// Returns whether a statement at an offset is at the left margin: it begins its line, which no
/// backslash joins to the line before.
fn starts_statement(text: &str, at: usize) -> bool {
    let before = &text[..at];
    let line = before.strip_suffix('\n').map(|it| it.strip_suffix('\r').unwrap_or(it));
    match line.or_else(|| before.strip_suffix('\r')) {
        Some(line) => !line.ends_with('\\'),
        None => before.is_empty(),
    }
}

/// Bytes that are compared at once.
const CHUNK: usize = 64;

/// Returns the lengths of the common beginning and of the common end, which do not overlap.
fn common(a: &[u8], b: &[u8]) -> (usize, usize) {
    let same = |(a, b): &(&[u8], &[u8])| a == b;
    let chunks = a.chunks_exact(CHUNK).zip(b.chunks_exact(CHUNK)).take_while(same).count();
    let mut head = chunks * CHUNK;
    head += a[head..].iter().zip(&b[head..]).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[head..], &b[head..]);
    let chunks = a.rchunks_exact(CHUNK).zip(b.rchunks_exact(CHUNK)).take_while(same).count();
    let tail = chunks * CHUNK;
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    (head, tail + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "import a\n\n@d\ndef f():\n    return 1\n\nclass A:\n    x = 1\n\n\ny = 2\n";

    #[test]
    fn only_the_statements_around_an_edit_are_parsed() {
        let outline = Outline::of(TEXT);
        let cases: [(&str, &str, Option<&str>); 7] = [
            ("return 1", "return 12", Some("@d\ndef f():\n    return 12\n\n")),
            ("x = 1", "x = z = 1", Some("class A:\n    x = z = 1\n\n\n")),
            ("y = 2", "y = 3", Some("y = 3\n")),
            ("import a", "import ab", Some("import ab\n\n")),
            ("@d", "@e", Some("@e\ndef f():\n    return 1\n\n")),
            // The end of one statement and the start of the next are in the middle.
            ("1\n\nclass", "2\n\n\n class", None),
            ("return 1", "return (", None),
        ];
        for (old, new, wanted) in cases {
            let text = TEXT.replacen(old, new, 1);
            let edited = Edited::between(TEXT, &outline, &text);
            if let Some(wanted) = wanted {
                assert_eq!(&text[edited.new], wanted, "{new}");
            }
            assert_eq!(updated(TEXT, &outline, &text).is_some(), wanted.is_some(), "{new}");
        }
        assert_eq!(Outline::after_edit(TEXT, &outline, TEXT), outline, "nothing changed");
    }
}
