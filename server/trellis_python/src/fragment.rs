//! Splits a module's text into its imports and its other top-level statements with their comments.

use ruff_python_ast::{Expr, Stmt};

use crate::imports::{Import, imports_of};
use crate::scope::bound_names;
use crate::syntax::{self, SyntaxError, full_range, line_end, line_start};

/// Kind of a top-level statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    Function,
    Class,
    /// An assignment to names.
    Binding,
    /// Anything else: `try`, `if`, a bare call.
    Other,
}

/// One top-level statement, or several that share a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub kind: ItemKind,
    /// Names that the statement binds in the module, in order of appearance.
    pub names: Vec<String>,
    /// The statement with its decorators and the comments right above it, without a final line
    /// break.
    pub text: String,
}

/// A parsed module: a model's reply for one node, or a whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    /// The module docstring as written, including its quotes and the comments above it.
    pub docstring: Option<String>,
    /// Top-level imports, one per bound name, wherever they were.
    pub imports: Vec<Import>,
    /// The other statements, in order.
    pub items: Vec<Item>,
}

impl Fragment {
    /// Parses a module. Line breaks become `\n`. An `if __name__ == "__main__":` block is left out,
    /// because it is not part of a definition.
    pub fn parse(source: &str) -> Result<Fragment, SyntaxError> {
        let source = source.replace("\r\n", "\n").replace('\r', "\n");
        let source = source.strip_prefix('\u{feff}').unwrap_or(&source);
        let parsed = syntax::parse(source)?;
        let mut fragment = Fragment::default();
        for (index, piece) in split_from(source, parsed.suite(), 0).into_iter().enumerate() {
            match piece.only {
                Some(stmt) if index == 0 && is_string(stmt) => {
                    let above = &source[piece.start..full_range(stmt).end().to_usize()];
                    fragment.docstring = Some(above.to_owned());
                }
                Some(stmt) if is_main_guard(stmt) => {}
                stmt => match stmt.and_then(imports_of) {
                    Some(imports) => fragment.add_imports(imports),
                    None => fragment.items.push(piece.item),
                },
            }
        }
        Ok(fragment)
    }

    /// Returns the item that defines a function or class of this name (the last one, as for
    /// Python).
    pub fn definition(&self, name: &str) -> Option<&Item> {
        self.items.iter().rev().find(|item| item.is_definition() && item.binds(name))
    }

    /// Replaces every definition of `name`. Returns false if there is none.
    pub fn replace_definition(&mut self, name: &str, with: Vec<Item>) -> bool {
        let is_old = |item: &Item| item.is_definition() && item.binds(name);
        let Some(at) = self.items.iter().position(is_old) else { return false };
        self.items.retain(|item| !is_old(item));
        self.items.splice(at..at, with);
        true
    }

    /// Adds the imports that are missing.
    pub fn add_imports(&mut self, imports: impl IntoIterator<Item = Import>) {
        for import in imports {
            if !self.imports.contains(&import) {
                self.imports.push(import);
            }
        }
    }

    /// Returns the fragment as module text, with the imports at the top in the given order.
    pub fn to_source(&self) -> String {
        let mut out = String::new();
        if let Some(docstring) = &self.docstring {
            out.push_str(docstring);
            out.push('\n');
        }
        for import in &self.imports {
            out.push_str(&import.to_string());
            out.push('\n');
        }
        render_items(&mut out, &self.items);
        out
    }
}

impl Item {
    pub fn is_definition(&self) -> bool {
        matches!(self.kind, ItemKind::Function | ItemKind::Class)
    }

    pub fn binds(&self, name: &str) -> bool {
        self.names.iter().any(|bound| bound == name)
    }
}

/// Appends items with the blank lines that PEP 8 requires: two around definitions, none between
/// plain statements.
pub(crate) fn render_items<'a>(out: &mut String, items: impl IntoIterator<Item = &'a Item>) {
    let mut plain_before = false;
    for item in items {
        let plain = !item.is_definition();
        if !out.is_empty() {
            out.push_str(if plain && plain_before { "" } else { "\n\n" });
        }
        out.push_str(&item.text);
        out.push('\n');
        plain_before = plain;
    }
}

/// A run of whole lines that holds one statement, or several that share a line.
pub(crate) struct Piece<'a> {
    /// The statement, if it is alone on its lines.
    pub(crate) only: Option<&'a Stmt>,
    /// Offsets of the item's text: its first byte, and the end of its last line.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) item: Item,
}

/// Splits a body that starts at offset `from` into pieces. Comments belong to the statement below
/// them, those at the end to the last statement.
pub(crate) fn split_from<'a>(source: &str, body: &'a [Stmt], from: usize) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let mut done = from;
    for stmt in body {
        let range = full_range(stmt);
        let start = line_start(source, range.start().to_usize());
        let end = line_end(source, range.end().to_usize());
        let names = bound_names(std::slice::from_ref(stmt));
        match pieces.last_mut() {
            Some(last) if start < done => {
                last.only = None;
                last.item.kind = ItemKind::Other;
                last.item.names.extend(names);
                last.end = last.end.max(end);
            }
            _ => {
                let start = comments_start(source, done, start);
                let item = Item { kind: kind_of(stmt), names, text: String::new() };
                pieces.push(Piece { only: Some(stmt), start, end, item });
            }
        }
        done = done.max(end);
    }
    if let Some(last) = pieces.last_mut() {
        last.end = source.len();
    }
    for piece in &mut pieces {
        piece.item.text = source[piece.start..piece.end].trim_end().to_owned();
    }
    pieces
}

/// Returns the start of the comments above a statement, or the statement's own start if there are
/// none.
fn comments_start(source: &str, done: usize, start: usize) -> usize {
    let between = &source[done..start];
    done + between.find('#').map_or(between.len(), |at| line_start(between, at))
}

fn kind_of(stmt: &Stmt) -> ItemKind {
    match stmt {
        Stmt::FunctionDef(_) => ItemKind::Function,
        Stmt::ClassDef(_) => ItemKind::Class,
        Stmt::Assign(_) | Stmt::AnnAssign(_) | Stmt::TypeAlias(_) => ItemKind::Binding,
        _ => ItemKind::Other,
    }
}

pub(crate) fn is_string(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Expr(expr) if matches!(*expr.value, Expr::StringLiteral(_)))
}

/// Returns whether a statement is `if __name__ == "__main__":`, with the operands in either order.
pub(crate) fn is_main_guard(stmt: &Stmt) -> bool {
    let Stmt::If(branch) = stmt else { return false };
    let Expr::Compare(compare) = &*branch.test else { return false };
    let is_name = |e: &Expr| matches!(e, Expr::Name(name) if name.id.as_str() == "__name__");
    is_name(&compare.left) || compare.comparators.iter().any(is_name)
}
