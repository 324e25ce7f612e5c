//! Stored form of outlines, each of which is decoded when a query needs it.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use trellis_python::{NamePlace, Outline, OutlineSource, Symbol, SymbolKind, SyntaxError};

#[derive(Serialize, Deserialize)]
struct StoredOutline<'a> {
    #[serde(borrow)]
    symbols: Vec<StoredSymbol<'a>>,
    #[serde(borrow)]
    errors: Vec<(u32, u32, &'a str)>,
}

type Bytes = (u32, u32);

#[derive(Serialize, Deserialize)]
struct StoredSymbol<'a> {
    name: &'a str,
    /// Index into [`SymbolKind::ALL`].
    kind: u8,
    range: Bytes,
    name_range: Bytes,
    header: Option<Bytes>,
    place: (u32, u32, u32, u32),
    docstring: Option<Bytes>,
    body: Option<Bytes>,
    decorators: Vec<Bytes>,
    parent: Option<u32>,
    nth: u32,
}

/// Outlines in the bytes of a cache file. Most of them are never needed.
pub(super) struct CachedOutlines {
    pub(super) bytes: Vec<u8>,
    pub(super) ranges: Vec<Range<usize>>,
}

impl OutlineSource for CachedOutlines {
    fn outline(&self, number: usize) -> Outline {
        let bytes = self.ranges.get(number).and_then(|it| self.bytes.get(it.clone()));
        // The checksum was right, so there is an outline.
        bytes.and_then(restored_outline).unwrap_or_default()
    }
}

pub(super) fn outline_bytes(outline: &Outline) -> postcard::Result<Vec<u8>> {
    let symbols = outline.symbols.iter().map(stored).collect();
    let errors =
        outline.errors.iter().map(|it| (it.line as u32, it.column as u32, &*it.message)).collect();
    postcard::to_stdvec(&StoredOutline { symbols, errors })
}

fn stored(symbol: &Symbol) -> StoredSymbol<'_> {
    let bytes = |it: &Range<usize>| (it.start as u32, it.end as u32);
    let kind = SymbolKind::ALL.iter().position(|it| *it == symbol.kind);
    StoredSymbol {
        name: &symbol.name,
        kind: kind.unwrap_or_default() as u8,
        range: bytes(&symbol.range),
        name_range: bytes(&symbol.name_range),
        header: symbol.header.as_ref().map(bytes),
        docstring: symbol.docstring.as_ref().map(bytes),
        body: symbol.body.as_ref().map(bytes),
        place: (symbol.place.line, symbol.place.utf8, symbol.place.utf16, symbol.place.chars),
        decorators: symbol.decorators.iter().map(bytes).collect(),
        parent: symbol.parent.map(|it| it as u32),
        nth: symbol.nth as u32,
    }
}

fn restored_outline(bytes: &[u8]) -> Option<Outline> {
    let outline: StoredOutline<'_> = postcard::from_bytes(bytes).ok()?;
    let error = |(line, column, message): &(u32, u32, &str)| SyntaxError {
        line: *line as usize,
        column: *column as usize,
        message: (*message).to_owned(),
    };
    let symbols: Option<Vec<Symbol>> = outline.symbols.iter().map(symbol).collect();
    Some(Outline { symbols: symbols?, errors: outline.errors.iter().map(error).collect() })
}

fn symbol(it: &StoredSymbol<'_>) -> Option<Symbol> {
    let range = |(start, end): Bytes| start as usize..end as usize;
    let (line, utf8, utf16, chars) = it.place;
    Some(Symbol {
        name: it.name.to_owned(),
        kind: *SymbolKind::ALL.get(it.kind as usize)?,
        range: range(it.range),
        name_range: range(it.name_range),
        header: it.header.map(range),
        docstring: it.docstring.map(range),
        body: it.body.map(range),
        place: NamePlace { line, utf8, utf16, chars },
        decorators: it.decorators.iter().copied().map(range).collect(),
        parent: it.parent.map(|it| it as usize),
        nth: it.nth as usize,
    })
}
