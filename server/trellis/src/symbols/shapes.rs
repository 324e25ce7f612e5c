//! Places, references and callers as JSON and as lines.

use std::ops::Range;

use code::{Caller, Index, Lines, Place, Reference, SymbolKind, Unit};
use serde_json::{Value, json};

use super::sheet::name_path;

/// `FILE:LINE:COLUMN` with numbers from 1; the file alone if it cannot be read any more.
pub(crate) fn spot(index: &Index, place: &Place) -> String {
    let path = index.path(place.file);
    let Some(text) = index.text(place.file) else { return path.to_owned() };
    let (line, column) = index.lines(place.file, &text).position(place.range.start, Unit::Char);
    format!("{path}:{}:{}", line + 1, column + 1)
}

/// `{file, range, line, enclosing}`; `line` is the text around, `enclosing` the name path of the innermost
/// class or function around, or null.
pub(crate) fn place(index: &Index, place: &Place) -> Option<Value> {
    let text = index.text(place.file)?;
    let lines = index.lines(place.file, &text);
    let (line, _) = lines.position(place.range.start, Unit::Char);
    Some(json!({
        "file": index.path(place.file),
        "range": stretch(&lines, &place.range),
        "line": text[lines.line(line)].trim(),
        "enclosing": enclosing(index, place),
    }))
}

fn enclosing(index: &Index, place: &Place) -> Option<String> {
    let outline = index.outline(place.file);
    let around = |it: &code::Symbol| {
        !matches!(it.kind, SymbolKind::Variable | SymbolKind::Attribute)
            && it.range.contains(&place.range.start)
            && it.name_range != place.range
    };
    // A child stands behind its parent, so the last one is the innermost.
    let innermost = outline.symbols.iter().rposition(around)?;
    Some(name_path(&outline, innermost))
}

/// `place` with `kind`, `certain` and `why` (of what is merely possible, else null).
pub(crate) fn reference(index: &Index, reference: &Reference) -> Option<Value> {
    let mut shape = place(index, &reference.place)?;
    shape["kind"] = reference.kind.as_str().into();
    shape["certain"] = reference.doubt.is_none().into();
    shape["why"] = reference.doubt.into();
    Some(shape)
}

/// A shape of this file as text, on two lines.
pub(crate) fn shown(it: &Value) -> String {
    let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let start = &it["range"]["start"];
    let confirmed = it["confirmedBy"].as_str();
    let confirmed = confirmed.map_or_else(String::new, |it| format!(", confirmed by {it}"));
    let kind = match (it["kind"].as_str(), it["why"].as_str()) {
        (Some(kind), Some(why)) => format!("  {kind}, possibly ({why}){confirmed}"),
        (Some(kind), None) => format!("  {kind}"),
        (None, Some(why)) => format!("  possibly ({why})"),
        (None, None) => String::new(),
    };
    let place = format!("{}:{}:{}", text("file"), start["line"], start["column"]);
    format!("{place}{kind}  {}\n    {}", text("enclosing"), text("line"))
}

/// A stretch as results give it, `{start: {line, column}, end}`: from 1, columns in characters.
pub(crate) fn stretch(lines: &Lines<'_>, range: &Range<usize>) -> Value {
    let place = |offset| {
        let (line, column) = lines.position(offset, Unit::Char);
        json!({ "line": line + 1, "column": column + 1 })
    };
    json!({ "start": place(range.start), "end": place(range.end) })
}

/// `{file, symbol, kind, uses: [{range, line, certain, why}]}`; `symbol` is a name path, and null with
/// `kind` for the module itself.
pub(crate) fn caller(index: &Index, caller: &Caller) -> Value {
    let outline = index.outline(caller.file);
    let symbol = caller.symbol.map(|it| it.symbol);
    let use_ = |(at, why): &(Place, Option<&str>)| {
        let shape = place(index, at)?;
        let (range, line) = (&shape["range"], &shape["line"]);
        Some(json!({ "range": range, "line": line, "certain": why.is_none(), "why": why }))
    };
    json!({
        "file": index.path(caller.file),
        "symbol": symbol.map(|it| name_path(&outline, it)),
        "kind": symbol.map(|it| outline.symbols[it].kind.as_str()),
        "uses": caller.uses.iter().filter_map(use_).collect::<Vec<_>>(),
    })
}

/// A caller as text: a line for it and one for each use.
pub(crate) fn caller_shown(it: &Value) -> String {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let (kind, symbol) = (it["kind"].as_str().unwrap_or("module"), text(&it["symbol"]));
    let use_ = |it: &Value| {
        let start = &it["range"]["start"];
        let why = it["why"].as_str().map_or_else(String::new, |it| format!("  possibly ({it})"));
        format!("\n    {}:{}  {}{why}", start["line"], start["column"], text(&it["line"]))
    };
    let uses: String = it["uses"].as_array().into_iter().flatten().map(use_).collect();
    let own = format!("{}  {kind} {symbol}", text(&it["file"]));
    own.trim_end().to_owned() + &uses
}
