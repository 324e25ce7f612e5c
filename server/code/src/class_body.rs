//! Surgery on the body of one class: methods in, methods out, everything else as it was.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt, StmtClassDef};
use ruff_text_size::{Ranged, TextRange};

use crate::fragment::{Item, is_string, split};
use crate::syntax::{self, SyntaxError, full_range, line_start};

const INDENT: &str = "    ";

/// Adds a method (a `def` at top level, comments and decorators included) at the end of a class; a
/// body of nothing but `pass` or `...` gives way. `class` is the text of one class definition.
pub fn insert_method(class: &str, method: &str) -> Result<String, SyntaxError> {
    let mut taken = ClassText::parse(class)?;
    taken.items.retain(|item| !is_placeholder(&item.text));
    let lines = method.trim_matches('\n').trim_end();
    taken.items.push(Item {
        kind: crate::ItemKind::Function,
        names: Vec::new(),
        text: lines.to_owned(),
    });
    taken.render()
}

/// Takes the methods of these names out of a class and returns it with their texts (dedented), in
/// order. A body left empty becomes `pass`.
pub fn remove_methods(
    class: &str,
    which: &dyn Fn(&str) -> bool,
) -> Result<(String, Vec<Item>), SyntaxError> {
    let mut taken = ClassText::parse(class)?;
    let wanted = |item: &Item| item.is_definition() && item.names.iter().any(|name| which(name));
    let (out, rest): (Vec<Item>, Vec<Item>) = taken.items.into_iter().partition(wanted);
    taken.items = rest;
    Ok((taken.render()?, out))
}

fn is_placeholder(text: &str) -> bool {
    matches!(text.trim(), "pass" | "...")
}

/// A class as its header, its body's statements (dedented) and its indentation.
struct ClassText {
    header: String,
    indent: String,
    items: Vec<Item>,
}

impl ClassText {
    fn parse(source: &str) -> Result<ClassText, SyntaxError> {
        let module = syntax::parse(source)?;
        let classes = module.suite().iter().rev();
        let class =
            classes.filter_map(|s| if let Stmt::ClassDef(c) = s { Some(c) } else { None }).next();
        let Some(class) = class else {
            return Err(SyntaxError { line: 1, column: 1, message: "not a class".to_owned() });
        };
        let (header, body) = cut_header(source, class);
        let indent: String = body.chars().take_while(|c| *c == ' ' || *c == '\t').collect();
        let indent = if indent.is_empty() { INDENT.to_owned() } else { indent };
        let block = format!("class _:\n{}", ensure_indented(&body, &indent));
        let dedented = shift(&block, |line| line.strip_prefix(&indent).unwrap_or(line).to_owned())?;
        let dedented = dedented.split_once('\n').map_or("", |(_, body)| body).to_owned();
        let parsed = syntax::parse(&dedented)?;
        let items = split(&dedented, parsed.suite()).into_iter().map(|piece| piece.item).collect();
        Ok(ClassText { header, indent, items })
    }

    fn render(mut self) -> Result<String, SyntaxError> {
        if self.items.is_empty() {
            let text = "pass".to_owned();
            self.items.push(Item { kind: crate::ItemKind::Other, names: Vec::new(), text });
        }
        let mut body = String::new();
        let mut definition_before = true;
        for (index, item) in self.items.iter().enumerate() {
            if index > 0 && (definition_before || item.is_definition()) {
                body.push('\n');
            }
            body.push_str(&item.text);
            body.push('\n');
            definition_before = item.is_definition() || is_docstring(&item.text);
        }
        let indented = shift(&body, |line| format!("{}{line}", self.indent))?;
        Ok(format!("{}\n{}", self.header, indented.trim_end()))
    }
}

fn is_docstring(text: &str) -> bool {
    syntax::parse(text)
        .is_ok_and(|module| matches!(module.suite().as_slice(), [only] if is_string(only)))
}

/// The text up to the header's colon, and the body; a body on the header's line gets its own.
fn cut_header(source: &str, class: &StmtClassDef) -> (String, String) {
    let first = full_range(&class.body[0]).start().to_usize();
    let line = line_start(source, first);
    let class_line = class.name.range.start().to_usize();
    let header_end = class.arguments.as_ref().map_or(class.name.range.end(), |a| a.range().end());
    let colon = header_end.to_usize() + source[header_end.to_usize()..].find(':').unwrap_or(0);
    if line <= class_line || source[line..first].contains(':') {
        return (source[..first].trim_end().to_owned(), source[first..].to_owned());
    }
    let body_start = source[colon..].find('\n').map_or(first, |at| colon + at + 1);
    (source[..body_start].trim_end().to_owned(), source[body_start..].to_owned())
}

fn ensure_indented(body: &str, indent: &str) -> String {
    if body.starts_with([' ', '\t', '\n', '#']) {
        body.to_owned()
    } else {
        format!("{indent}{body}")
    }
}

/// Changes the start of every line that holds code, blank lines and the inside of multi-line strings
/// excepted; docstrings move with their code.
fn shift(source: &str, change: impl Fn(&str) -> String) -> Result<String, SyntaxError> {
    let parsed = syntax::parse(source)?;
    let mut strings = Strings(Vec::new());
    strings.visit_body(parsed.suite());
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let inside = strings.0.iter().any(|r| r.start().to_usize() < at && at < r.end().to_usize());
        if inside || line.trim().is_empty() {
            out.push_str(line);
        } else {
            out.push_str(&change(line));
        }
        at += line.len();
    }
    Ok(out)
}

/// Ranges of string literals that are data, not docstrings.
struct Strings(Vec<TextRange>);

impl<'a> Visitor<'a> for Strings {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !is_string(stmt) {
            visitor::walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::StringLiteral(_)
            | Expr::FString(_)
            | Expr::BytesLiteral(_)
            | Expr::TString(_) => {
                self.0.push(expr.range());
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}
