//! Locations, references and callers in results, and their text form.

use schemars::JsonSchema;
use serde::Serialize;
use trellis_python::{Index, Lines, SymbolKind, Unit};

use super::outline_view::name_path;

/// A position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// A range of a text, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    pub start: Position,
    pub end: Position,
}

/// A place in a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// Relative to the folder of the request.
    pub file: String,
    pub range: Range,
    /// The text of the line, without its indentation.
    pub line: String,
    /// Name path of the innermost class or function around; null at module level.
    pub enclosing: Option<String>,
}

/// A place that refers to a symbol, or may refer to it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reference {
    /// Relative to the folder of the request.
    pub file: String,
    pub range: Range,
    /// The text of the line, without its indentation.
    pub line: String,
    /// Name path of the innermost class or function around; null at module level.
    pub enclosing: Option<String>,
    /// The kind of place, such as `definition`, `import` or `use`.
    pub kind: &'static str,
    /// Whether it certainly refers to the symbol.
    pub certain: bool,
    /// Why it is only possible; null if it is certain.
    pub why: Option<&'static str>,
    /// The type checker that also found this possible reference, null if it did not; left out if you asked none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed_by: Option<Option<&'static str>>,
}

/// A place that may refer to a symbol.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PossibleReference {
    /// Relative to the folder of the request.
    pub file: String,
    pub range: Range,
    /// The text of the line, without its indentation.
    pub line: String,
    /// Name path of the innermost class or function around; null at module level.
    pub enclosing: Option<String>,
    /// Why it is only possible.
    pub why: &'static str,
}

/// A function, class or module that uses a symbol.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Caller {
    /// Relative to the folder of the request.
    pub file: String,
    /// Its name path; null for the module itself.
    pub symbol: Option<String>,
    /// Its kind; null for the module itself.
    pub kind: Option<&'static str>,
    /// In the order of the text.
    pub uses: Vec<Use>,
}

/// One use of a symbol.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Use {
    pub range: Range,
    /// The text of the line, without its indentation.
    pub line: String,
    /// Whether it certainly refers to the symbol.
    pub certain: bool,
    /// Why it is only possible; null if it is certain.
    pub why: Option<&'static str>,
}

/// Returns `FILE:LINE:COLUMN` with numbers from 1; the file alone if it can no longer be read.
pub fn spot(index: &Index, place: &trellis_python::Place) -> String {
    let path = index.path(place.file);
    let Some(text) = index.text(place.file) else { return path.to_owned() };
    let (line, column) = index.lines(place.file, &text).position(place.range.start, Unit::Char);
    format!("{path}:{}:{}", line + 1, column + 1)
}

/// Returns a location for results; `None` if the file can no longer be read.
pub fn place(index: &Index, place: &trellis_python::Place) -> Option<Location> {
    let text = index.text(place.file)?;
    let lines = index.lines(place.file, &text);
    let (line, _) = lines.position(place.range.start, Unit::Char);
    Some(Location {
        file: index.path(place.file).to_owned(),
        range: stretch(&lines, &place.range),
        line: text[lines.line(line)].trim().to_owned(),
        enclosing: enclosing(index, place),
    })
}

fn enclosing(index: &Index, place: &trellis_python::Place) -> Option<String> {
    let outline = index.outline(place.file);
    let around = |it: &trellis_python::Symbol| {
        !matches!(it.kind, SymbolKind::Variable | SymbolKind::Attribute)
            && it.range.contains(&place.range.start)
            && it.name_range != place.range
    };
    // A child follows its parent, so the last match is the innermost.
    let innermost = outline.symbols.iter().rposition(around)?;
    Some(name_path(&outline, innermost))
}

/// Returns a reference for results; `None` if the file can no longer be read.
pub fn reference(index: &Index, reference: &trellis_python::Reference) -> Option<Reference> {
    let Location { file, range, line, enclosing } = place(index, &reference.place)?;
    Some(Reference {
        file,
        range,
        line,
        enclosing,
        kind: reference.kind.as_str(),
        certain: reference.uncertainty.is_none(),
        why: reference.uncertainty,
        confirmed_by: None,
    })
}

/// Returns a possible reference; `None` if the file can no longer be read.
pub fn possible(
    index: &Index,
    at: &trellis_python::Place,
    why: &'static str,
) -> Option<PossibleReference> {
    let Location { file, range, line, enclosing } = place(index, at)?;
    Some(PossibleReference { file, range, line, enclosing, why })
}

/// Returns a range of a text for results.
pub fn stretch(lines: &Lines<'_>, range: &std::ops::Range<usize>) -> Range {
    let point = |offset| {
        let (line, column) = lines.position(offset, Unit::Char);
        Position { line: line + 1, column: column + 1 }
    };
    Range { start: point(range.start), end: point(range.end) }
}

pub fn user(index: &Index, caller: &trellis_python::Caller) -> Caller {
    let outline = index.outline(caller.file);
    let symbol = caller.symbol.map(|it| it.symbol);
    let use_ = |(at, why): &(trellis_python::Place, Option<&'static str>)| {
        let Location { range, line, .. } = place(index, at)?;
        Some(Use { range, line, certain: why.is_none(), why: *why })
    };
    Caller {
        file: index.path(caller.file).to_owned(),
        symbol: symbol.map(|it| name_path(&outline, it)),
        kind: symbol.map(|it| outline.symbols[it].kind.as_str()),
        uses: caller.uses.iter().filter_map(use_).collect(),
    }
}

/// Formats position, kind and enclosing symbol, and the source line below.
fn two_lines(
    file: &str,
    Position { line, column }: Position,
    kind: &str,
    enclosing: Option<&str>,
    text: &str,
) -> String {
    let enclosing = enclosing.unwrap_or_default();
    format!("{file}:{line}:{column}{kind}  {enclosing}\n    {text}")
}

impl Location {
    /// Returns the text form, on two lines.
    pub fn shown(&self) -> String {
        two_lines(&self.file, self.range.start, "", self.enclosing.as_deref(), &self.line)
    }
}

impl Reference {
    /// Returns the text form, on two lines.
    pub fn shown(&self) -> String {
        let confirmed = self.confirmed_by.flatten();
        let confirmed = confirmed.map_or_else(String::new, |it| format!(", confirmed by {it}"));
        let kind = match self.why {
            Some(why) => format!("  {}, possibly ({why}){confirmed}", self.kind),
            None => format!("  {}", self.kind),
        };
        two_lines(&self.file, self.range.start, &kind, self.enclosing.as_deref(), &self.line)
    }
}

impl PossibleReference {
    /// Returns the text form, on two lines.
    pub fn shown(&self) -> String {
        let why = format!("  possibly ({})", self.why);
        two_lines(&self.file, self.range.start, &why, self.enclosing.as_deref(), &self.line)
    }
}

impl Caller {
    /// Returns the text form: one line for the caller and one per use.
    pub fn shown(&self) -> String {
        let (kind, symbol) = (self.kind.unwrap_or("module"), self.symbol.as_deref());
        let use_ = |it: &Use| {
            let Position { line, column } = it.range.start;
            let why = it.why.map_or_else(String::new, |it| format!("  possibly ({it})"));
            format!("\n    {line}:{column}  {}{why}", it.line)
        };
        let own = format!("{}  {kind} {}", self.file, symbol.unwrap_or_default());
        own.trim_end().to_owned() + &self.uses.iter().map(use_).collect::<String>()
    }
}
