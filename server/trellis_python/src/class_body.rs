//! Inserts methods into the body of one class and removes them. All other bytes stay as they are.

use ruff_python_ast::{ModModule, Stmt, StmtClassDef};
use ruff_python_parser::Parsed;
use ruff_text_size::Ranged;

use crate::fragment::{Item, Piece, split_from};
use crate::reindent::{StringLines, shift};
use crate::syntax::{self, SyntaxError, full_range, line_start};

const INDENT: &str = "    ";

/// Adds a method (a `def` at top level, comments and decorators included) at the end of a class. A
/// body of nothing but `pass` or `...` is replaced. `class` is the text of one class definition.
pub fn insert_method(class: &str, method: &str) -> Result<String, SyntaxError> {
    let class = ClassText::parse(class)?;
    let kept = class.without(|piece| matches!(piece.item.text.trim(), "pass" | "..."));
    let method = method.trim_matches('\n').trim_end();
    let method = indented(method, &class.indent)?;
    let blank = if kept.len() == class.header_end { "" } else { "\n" };
    Ok(format!("{kept}\n{blank}{method}"))
}

/// Removes the methods whose names `which` accepts from a class. Returns the class and the removed
/// methods with dedented texts, in order. A body left empty becomes `pass`.
pub fn remove_methods(
    class: &str,
    which: &dyn Fn(&str) -> bool,
) -> Result<(String, Vec<Item>), SyntaxError> {
    let class = ClassText::parse(class)?;
    let wanted = |piece: &Piece<'_>| {
        piece.item.is_definition() && piece.item.names.iter().any(|name| which(name))
    };
    let out: Vec<Item> =
        class.pieces().into_iter().filter(wanted).map(|it| class.dedented_item(it)).collect();
    if out.is_empty() {
        return Ok((class.original.to_owned(), out));
    }
    let rest = class.without(wanted);
    let empty = class.pieces().iter().all(wanted);
    let pass = if empty { format!("\n{}pass", class.indent) } else { String::new() };
    Ok((format!("{rest}{pass}"), out))
}

/// The text of one class. A body on the header's line is first moved to its own line.
struct ClassText<'a> {
    original: &'a str,
    source: String,
    module: Parsed<ModModule>,
    /// Offset of the end of the header's last line, before the line break.
    header_end: usize,
    indent: String,
}

impl<'a> ClassText<'a> {
    fn parse(original: &'a str) -> Result<Self, SyntaxError> {
        let source = original.trim_end();
        let module = syntax::parse(source)?;
        let class = last_class(&module)?;
        let first = full_range(&class.body[0]).start().to_usize();
        let colon = colon_of(source, class);
        let Some(line_break) = source[colon..first].find('\n') else {
            let body = source[first..].trim_start();
            let source = format!("{}\n{INDENT}{body}", source[..first].trim_end());
            let module = syntax::parse(&source)?;
            let indent = INDENT.to_owned();
            return Ok(ClassText { original, source, module, header_end: colon + 1, indent });
        };
        let indent = source[line_start(source, first)..first].to_owned();
        let header_end = colon + line_break;
        Ok(ClassText { original, source: source.to_owned(), module, header_end, indent })
    }

    fn pieces(&self) -> Vec<Piece<'_>> {
        let body = last_class(&self.module).map_or(&[][..], |class| &class.body);
        split_from(&self.source, body, self.header_end + 1)
    }

    /// Returns the class without the pieces that `which` accepts and the blank lines below them.
    fn without(&self, which: impl Fn(&Piece<'_>) -> bool) -> String {
        let mut out = self.source[..self.header_end].to_owned();
        let mut done = self.header_end;
        for piece in self.pieces().iter().filter(|piece| which(piece)) {
            out.push_str(&self.source[done..line_start(&self.source, piece.start)]);
            let behind = &self.source[piece.end..];
            let blank = behind.len() - behind.trim_start().len();
            done = line_start(&self.source, piece.end + blank).max(piece.end);
        }
        if done == self.header_end {
            return self.source.clone();
        }
        out.push_str(&self.source[done..]);
        out.truncate(out.trim_end().len().max(self.header_end));
        out
    }

    /// Returns a piece as an item dedented to top level.
    fn dedented_item(&self, piece: Piece<'_>) -> Item {
        let strings = StringLines::of(&self.source, &self.module);
        let start = line_start(&self.source, piece.start);
        let text = shift(&self.source, start..piece.end, &strings, |line| {
            line.strip_prefix(&self.indent).unwrap_or(line).to_owned()
        });
        Item { text: text.trim_end().to_owned(), ..piece.item }
    }
}

fn last_class(module: &Parsed<ModModule>) -> Result<&StmtClassDef, SyntaxError> {
    let no_class = || SyntaxError { line: 1, column: 1, message: "not a class".to_owned() };
    module.suite().iter().rev().find_map(Stmt::as_class_def_stmt).ok_or_else(no_class)
}

/// Returns the offset of the colon that ends the header.
fn colon_of(source: &str, class: &StmtClassDef) -> usize {
    let parameters = class.type_params.as_ref().map(|it| it.range().end());
    let arguments = class.arguments.as_ref().map(|it| it.range().end());
    let before = arguments.or(parameters).unwrap_or(class.name.range.end()).to_usize();
    before + source[before..].find(':').unwrap_or(0)
}

/// Indents code. The inside of multi-line strings stays unchanged.
pub(crate) fn indented(source: &str, indent: &str) -> Result<String, SyntaxError> {
    let module = syntax::parse(source)?;
    let strings = StringLines::of(source, &module);
    Ok(shift(source, 0..source.len(), &strings, |line| format!("{indent}{line}")))
}
