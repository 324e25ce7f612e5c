//! Lists the definitions of a file: classes, functions, methods and the names bound in modules and
//! classes.

use std::{collections::HashMap, ops::Range};

use ruff_python_ast::{Decorator, Expr, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};

use crate::functions::documented;
use crate::lines::{Lines, Unit};
use crate::syntax::{SyntaxError, blocks, full_range, line_start};
use crate::tree::Tree;

mod after_edit;
mod indent;

/// Kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A class.
    Class,
    /// A function outside a class body.
    Function,
    /// A function in a class body.
    Method,
    /// A method that is read like an attribute.
    Property,
    /// A name bound in a module.
    Variable,
    /// A name bound in a class body.
    Attribute,
}

impl SymbolKind {
    /// All kinds.
    pub const ALL: [SymbolKind; 6] = [
        SymbolKind::Class,
        SymbolKind::Function,
        SymbolKind::Method,
        SymbolKind::Property,
        SymbolKind::Variable,
        SymbolKind::Attribute,
    ];

    /// Returns the lowercase name of the kind, as people type it.
    pub fn as_str(self) -> &'static str {
        match self {
            SymbolKind::Class => "class",
            SymbolKind::Function => "function",
            SymbolKind::Method => "method",
            SymbolKind::Property => "property",
            SymbolKind::Variable => "variable",
            SymbolKind::Attribute => "attribute",
        }
    }
}

/// One definition. Ranges are byte ranges of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Name without enclosing symbols.
    pub name: String,
    /// Kind of the symbol.
    pub kind: SymbolKind,
    /// Range of the whole definition, decorators included.
    pub range: Range<usize>,
    /// Range of the name.
    pub name_range: Range<usize>,
    /// Start of the name as line and column, so that users of a symbol list need not load the
    /// source.
    pub place: NamePlace,
    /// Range from `async`, `def` or `class` up to the colon; `None` for bound names.
    pub header: Option<Range<usize>>,
    /// Range from the first statement of the body to the end of the last; `None` for bound names.
    pub body: Option<Range<usize>>,
    /// The string literal that documents the symbol, including its quotes.
    pub docstring: Option<Range<usize>>,
    /// Decorators, each with its `@`.
    pub decorators: Vec<Range<usize>>,
    /// Index of the enclosing symbol in [`Outline::symbols`].
    pub parent: Option<usize>,
    /// Number of the symbol, from 0, among those of the same name and parent.
    pub nth: usize,
}

impl Symbol {
    /// Returns the text of the docstring without quotes and margin; escapes are not decoded.
    pub fn documentation(&self, source: &str) -> Option<String> {
        self.docstring.clone().map(|it| documented(&source[it]))
    }
}

/// Start of a name: 0-based line, and 0-based column in each unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamePlace {
    /// 0-based line.
    pub line: u32,
    /// UTF-8 bytes before the name on the line.
    pub utf8: u32,
    /// UTF-16 code units before the name on the line.
    pub utf16: u32,
    /// Characters before the name on the line.
    pub chars: u32,
}

impl NamePlace {
    /// Returns the column in a unit.
    pub fn column(self, unit: Unit) -> usize {
        let column = match unit {
            Unit::Utf8 => self.utf8,
            Unit::Utf16 => self.utf16,
            Unit::Char => self.chars,
        };
        column as usize
    }
}

/// The symbols of a file in source order; a parent precedes its children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// All symbols.
    pub symbols: Vec<Symbol>,
    /// Syntax errors. The outline also contains the code around them.
    pub errors: Vec<SyntaxError>,
}

impl Outline {
    /// Computes the outline of a module.
    pub fn of(source: &str) -> Outline {
        match Tree::of(source) {
            Ok(tree) => Outline::of_tree(&tree),
            Err(error) => Outline { symbols: Vec::new(), errors: vec![error] },
        }
    }

    pub(crate) fn of_tree(tree: &Tree<'_>) -> Outline {
        let lines = Lines::of(tree.text());
        let (symbols, seen) = (Vec::new(), HashMap::new());
        let mut walk = Walk { source: tree.text(), lines, symbols, seen };
        walk.body(tree.body(), None, Scope::Module);
        let mut symbols = walk.symbols;
        if tree.is_broken() {
            indent::nest(tree, &mut symbols);
        }
        Outline { symbols, errors: tree.errors.clone() }
    }

    /// Returns a name path that matches only this symbol of the file: `/Class/name`, `/name[1]`.
    pub fn name_path(&self, index: usize) -> String {
        let names = self.path(index).into_iter().map(|it| format!("/{}", it.name));
        let counterparts = |it: &&Symbol| {
            let symbol = &self.symbols[index];
            it.parent == symbol.parent && it.name == symbol.name
        };
        let many = self.symbols.iter().filter(counterparts).nth(1).is_some();
        let number = if many { format!("[{}]", self.symbols[index].nth) } else { String::new() };
        names.collect::<String>() + &number
    }

    /// Returns the symbols from the outermost enclosing one to this one.
    pub fn path(&self, index: usize) -> Vec<&Symbol> {
        let mut path: Vec<&Symbol> =
            std::iter::successors(self.symbols.get(index), |it| self.symbols.get(it.parent?))
                .collect();
        path.reverse();
        path
    }
}

/// Kind of the scope whose body is visited.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Module,
    Class,
    Function,
}

struct Walk<'a> {
    source: &'a str,
    lines: Lines<'a>,
    symbols: Vec<Symbol>,
    seen: HashMap<(Option<usize>, String), usize>,
}

impl Walk<'_> {
    fn body(&mut self, body: &[Stmt], parent: Option<usize>, scope: Scope) {
        body.iter().for_each(|stmt| self.statement(stmt, parent, scope));
    }

    fn statement(&mut self, stmt: &Stmt, parent: Option<usize>, scope: Scope) {
        match stmt {
            Stmt::FunctionDef(def) => self.function(stmt, def, parent, scope),
            Stmt::ClassDef(def) => self.class(stmt, def, parent),
            Stmt::Assign(it) => {
                it.targets.iter().for_each(|target| self.bound(target, stmt, parent, scope));
            }
            Stmt::AnnAssign(it) => self.bound(&it.target, stmt, parent, scope),
            Stmt::TypeAlias(it) => self.bound(&it.name, stmt, parent, scope),
            // Blocks such as `if` do not open a scope.
            _ => blocks(stmt).into_iter().for_each(|block| self.body(block, parent, scope)),
        }
    }

    fn function(
        &mut self,
        stmt: &Stmt,
        def: &StmtFunctionDef,
        parent: Option<usize>,
        scope: Scope,
    ) {
        let property = def.decorator_list.iter().any(is_property);
        let kind = match (scope, property) {
            (Scope::Class, true) => SymbolKind::Property,
            (Scope::Class, false) => SymbolKind::Method,
            _ => SymbolKind::Function,
        };
        let end = def.returns.as_ref().map_or(def.parameters.range.end(), |it| it.end());
        let header = Some(self.header(def.name.range(), end));
        let symbol = Found {
            name: def.name.as_str(),
            at: def.name.range(),
            kind,
            header,
            body: &def.body,
            decorators: &def.decorator_list,
        };
        let index = self.push(symbol, full_range(stmt), parent);
        self.body(&def.body, index.or(parent), Scope::Function);
    }

    fn class(&mut self, stmt: &Stmt, def: &StmtClassDef, parent: Option<usize>) {
        let types = def.type_params.as_ref().map_or(def.name.range().end(), |it| it.range.end());
        let end = def.arguments.as_ref().map_or(types, |it| it.range.end());
        let header = Some(self.header(def.name.range(), end));
        let symbol = Found {
            name: def.name.as_str(),
            at: def.name.range(),
            kind: SymbolKind::Class,
            header,
            body: &def.body,
            decorators: &def.decorator_list,
        };
        let index = self.push(symbol, full_range(stmt), parent);
        self.body(&def.body, index.or(parent), Scope::Class);
    }

    /// Returns the header's range. The keyword is on the line of the name, or on a line joined to
    /// it by a backslash.
    fn header(&self, name: TextRange, end: ruff_text_size::TextSize) -> Range<usize> {
        let before = &self.source[..name.start().to_usize()];
        let mut start = line_start(before, before.len());
        while before[..start].ends_with("\\\n") {
            start = line_start(before, start - 1);
        }
        let indent = before[start..].len() - before[start..].trim_start().len();
        start + indent..end.to_usize()
    }

    /// Adds the names that an assignment binds. Names bound inside functions are not symbols.
    fn bound(&mut self, target: &Expr, stmt: &Stmt, parent: Option<usize>, scope: Scope) {
        let kind = match scope {
            Scope::Module => SymbolKind::Variable,
            Scope::Class => SymbolKind::Attribute,
            Scope::Function => return,
        };
        match target {
            Expr::Name(name) => {
                let symbol = Found {
                    name: name.id.as_str(),
                    at: name.range,
                    kind,
                    header: None,
                    body: &[],
                    decorators: &[],
                };
                self.push(symbol, stmt.range(), parent);
            }
            Expr::Tuple(it) => {
                it.elts.iter().for_each(|each| self.bound(each, stmt, parent, scope))
            }
            Expr::List(it) => it.elts.iter().for_each(|each| self.bound(each, stmt, parent, scope)),
            Expr::Starred(it) => self.bound(&it.value, stmt, parent, scope),
            _ => {}
        }
    }

    fn place(&self, offset: usize) -> NamePlace {
        let (line, utf8) = self.lines.position(offset, Unit::Utf8);
        let column = |unit| self.lines.position(offset, unit).1 as u32;
        let plain = self.source[offset - utf8..offset].is_ascii();
        let (utf8, line) = (utf8 as u32, line as u32);
        match plain {
            true => NamePlace { line, utf8, utf16: utf8, chars: utf8 },
            false => {
                NamePlace { line, utf8, utf16: column(Unit::Utf16), chars: column(Unit::Char) }
            }
        }
    }

    /// Adds a symbol and returns its index; `None` for a definition whose name is not written yet,
    /// which is left out.
    fn push(&mut self, found: Found<'_>, range: TextRange, parent: Option<usize>) -> Option<usize> {
        if found.name.is_empty() {
            return None;
        }
        let count = self.seen.entry((parent, found.name.to_owned())).or_default();
        let nth = *count;
        *count += 1;
        self.symbols.push(Symbol {
            name: found.name.to_owned(),
            kind: found.kind,
            range: bytes(range),
            name_range: bytes(found.at),
            place: self.place(found.at.start().to_usize()),
            header: found.header,
            body: body_range(found.body),
            docstring: docstring(found.body),
            decorators: found.decorators.iter().map(|it| bytes(it.range)).collect(),
            parent,
            nth,
        });
        Some(self.symbols.len() - 1)
    }
}

struct Found<'a> {
    name: &'a str,
    at: TextRange,
    kind: SymbolKind,
    header: Option<Range<usize>>,
    body: &'a [Stmt],
    decorators: &'a [Decorator],
}

fn bytes(range: TextRange) -> Range<usize> {
    range.start().to_usize()..range.end().to_usize()
}

fn body_range(body: &[Stmt]) -> Option<Range<usize>> {
    let (first, last) = body.first().zip(body.last())?;
    Some(full_range(first).start().to_usize()..last.end().to_usize())
}

fn docstring(body: &[Stmt]) -> Option<Range<usize>> {
    match body.first() {
        Some(Stmt::Expr(it)) if it.value.is_string_literal_expr() => Some(bytes(it.value.range())),
        _ => None,
    }
}

/// Returns whether a decorator makes a property: `@property`, `@functools.cached_property`,
/// `@name.setter` and similar.
fn is_property(decorator: &Decorator) -> bool {
    match &decorator.expression {
        Expr::Name(name) => matches!(name.id.as_str(), "property" | "cached_property"),
        Expr::Attribute(it) => {
            matches!(
                it.attr.as_str(),
                "cached_property" | "setter" | "getter" | "deleter" | "abstractproperty"
            )
        }
        _ => false,
    }
}
