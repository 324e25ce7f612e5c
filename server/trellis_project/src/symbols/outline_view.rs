//! The outline of a file in results, and its text form.

use schemars::JsonSchema;
use serde::Serialize;
use trellis_python::{Lines, Outline, SymbolKind, Unit};

use super::locations::{Position, Range, stretch};

/// A definition with its inner definitions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    pub name: String,
    /// `Class/name`, `name[1]` for the second with that name in its scope.
    pub name_path: String,
    /// `class`, `function`, `method`, `property`, `variable` or `attribute`.
    pub kind: &'static str,
    /// The whole definition, decorators included.
    pub range: Range,
    /// The position of its name.
    pub name_range: Range,
    /// From `async`, `def` or `class` to before the colon; null for names that are only bound.
    pub signature: Option<String>,
    /// Its direct inner definitions, down to the requested levels.
    pub children: Vec<Definition>,
    /// The line of its name, without its margin; for text, not part of results.
    #[serde(skip)]
    preview: String,
}

/// A definition that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SymbolMatch {
    pub name: String,
    /// `Class/name`, `name[1]` for the second with that name in its scope.
    pub name_path: String,
    /// `class`, `function`, `method`, `property`, `variable` or `attribute`.
    pub kind: &'static str,
    /// The whole definition, decorators included.
    pub range: Range,
    /// The position of its name.
    pub name_range: Range,
    /// From `async`, `def` or `class` to before the colon; null for names that are only bound.
    pub signature: Option<String>,
    /// Relative to the folder of the request.
    pub file: String,
    /// The docstring as a string literal, quotes included; null without one.
    pub docstring: Option<String>,
    /// Each with its `@`.
    pub decorators: Vec<String>,
    /// The line of its name, without its indentation.
    pub preview: String,
    /// Its text; null if you did not ask for it.
    pub body: Option<String>,
    /// Its direct inner definitions; left out if you asked for no levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<Vec<Definition>>,
}

/// A text with its outline and line index.
pub struct OutlineView<'a> {
    source: &'a str,
    outline: &'a Outline,
    lines: Lines<'a>,
    /// Direct children of each symbol.
    children: Vec<Vec<usize>>,
}

impl<'a> OutlineView<'a> {
    pub fn of(source: &'a str, outline: &'a Outline) -> OutlineView<'a> {
        let mut children = vec![Vec::new(); outline.symbols.len()];
        for (index, symbol) in outline.symbols.iter().enumerate() {
            if let Some(parent) = symbol.parent {
                children[parent].push(index);
            }
        }
        OutlineView { source, outline, lines: Lines::of(source), children }
    }

    /// Returns the top-level symbols with their descendants, down to `depth` levels.
    pub fn tree(&self, depth: usize) -> Vec<Definition> {
        let symbols = self.outline.symbols.iter().enumerate();
        let top = symbols.filter(|(_, it)| it.parent.is_none());
        top.map(|(index, _)| self.definition(index, depth)).collect()
    }

    /// Returns a symbol with its descendants, down to `depth` levels.
    pub fn definition(&self, index: usize, depth: usize) -> Definition {
        let symbol = &self.outline.symbols[index];
        Definition {
            name: symbol.name.clone(),
            name_path: name_path(self.outline, index),
            kind: symbol.kind.as_str(),
            range: stretch(&self.lines, &symbol.range),
            name_range: stretch(&self.lines, &symbol.name_range),
            signature: symbol.header.as_ref().map(|it| self.text(it)),
            children: self.below(index, depth),
            preview: self.preview(index),
        }
    }

    /// Returns a symbol of the file at `path` as a search result.
    pub fn found(&self, path: &str, index: usize, body: bool, depth: usize) -> SymbolMatch {
        let symbol = &self.outline.symbols[index];
        let Definition { name, name_path, kind, range, name_range, signature, children, preview } =
            self.definition(index, depth);
        SymbolMatch {
            name,
            name_path,
            kind,
            range,
            name_range,
            signature,
            file: path.to_owned(),
            docstring: symbol.docstring.as_ref().map(|it| self.text(it)),
            decorators: symbol.decorators.iter().map(|it| self.text(it)).collect(),
            preview,
            body: body.then(|| self.text(&symbol.range)),
            children: (depth > 0).then_some(children),
        }
    }

    fn below(&self, index: usize, depth: usize) -> Vec<Definition> {
        let below = if depth == 0 { &[][..] } else { &self.children[index] };
        below.iter().map(|it| self.definition(*it, depth - 1)).collect()
    }

    fn text(&self, range: &std::ops::Range<usize>) -> String {
        self.source[range.clone()].to_owned()
    }

    fn preview(&self, index: usize) -> String {
        let at = self.outline.symbols[index].name_range.start;
        let (line, _) = self.lines.position(at, Unit::Char);
        self.source[self.lines.line(line)].trim().to_owned()
    }
}

impl Definition {
    /// Returns a line for the definition, indented by `margin`, followed by the lines of its
    /// children.
    pub fn branch(&self, margin: usize) -> Vec<String> {
        let Position { line, column } = self.name_range.start;
        let bound = [SymbolKind::Variable, SymbolKind::Attribute].map(SymbolKind::as_str);
        let shown = match &self.signature {
            Some(header) => header.split_whitespace().collect::<Vec<_>>().join(" "),
            None if bound.contains(&self.kind) => self.preview.clone(),
            None => self.name.clone(),
        };
        let (kind, path) = (self.kind, &self.name_path);
        // The header of a class without bases adds nothing to its path.
        let shown = if shown == format!("{kind} {}", self.name) { String::new() } else { shown };
        let own = format!("{:margin$}{line}:{column}  {kind} {path}  {shown}", "");
        let own = own.trim_end().to_owned();
        let below = self.children.iter().flat_map(|it| it.branch(margin + 4));
        std::iter::once(own).chain(below).collect()
    }
}

impl SymbolMatch {
    /// Returns lines with the location, the text or its first line, and the children.
    pub fn shown(&self) -> Vec<String> {
        let Position { line, column } = self.name_range.start;
        let text = self.body.as_ref().unwrap_or(&self.preview);
        let (kind, name) = (self.kind, &self.name_path);
        let own = format!("{}:{line}:{column}  {kind} {name}\n    {text}", self.file);
        let below = self.children.iter().flatten().flat_map(|it| it.branch(4));
        std::iter::once(own).chain(below).collect()
    }
}

/// Returns `Class/name`, or `name[1]` for the second definition of that name in its scope.
pub fn name_path(outline: &Outline, index: usize) -> String {
    let names = outline.path(index).into_iter().map(|it| it.name.as_str());
    let nth = outline.symbols[index].nth;
    let number = if nth > 0 { format!("[{nth}]") } else { String::new() };
    names.collect::<Vec<_>>().join("/") + &number
}
