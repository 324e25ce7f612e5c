//! Lowers a syntax tree to the tables of [`super::ir`].

mod affixes;
mod annotations;
mod bound;
mod calls;
mod code_strings;
mod decorator_words;
mod definitions;
mod doctests;
mod exports;
mod exprs;
mod marks;
mod notebooks;
mod patterns;
mod statements;
mod strings;
mod targets;
mod templates;
mod unparsed;

use ruff_python_ast::{Identifier, PySourceType};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;

use self::bound::Bound;
pub(crate) use self::doctests::lower_document;
pub(crate) use self::notebooks::lower_notebook;
use super::ir::*;
use super::names::Name;
use crate::syntax::refuse_depth;

/// Lowers a text, including the parts around syntax errors.
pub(crate) fn lower(source: &str) -> Module {
    if refuse_depth(source).is_err() {
        return Module { unread: true, ..Module::default() };
    }
    let parsed = parse_unchecked_source(source, PySourceType::Python);
    let mut lower = Lower::new(source);
    let body = &parsed.syntax().body;
    lower.declare(&Bound::of(body));
    lower.body(body);
    if !parsed.errors().is_empty() {
        lower.unparsed_names(parsed.tokens());
        lower.lines_with_errors(parsed.errors());
    }
    lower.finish()
}

/// Returns the name of an identifier in Unicode's NFKC form, as Python reads it.
fn normal(text: &str) -> Name {
    if text.is_ascii() { Name::of(text) } else { Name::of(&text.nfkc().collect::<String>()) }
}

/// Flow of code that cannot be reached.
const UNREACHABLE: FlowId = FlowId(0);
/// Largest length in bytes of a string whose item can be narrowed.
const LONGEST_KEY: usize = 40;

struct Lower<'a> {
    source: &'a str,
    module: Module,
    words: FxHashMap<&'a str, Name>,
    scope: ScopeId,
    flow: FlowId,
    /// The innermost function; `None` in classes and the module.
    function: Option<FunctionId>,
    /// Rows of the joins after and at the head of each enclosing loop.
    loops: Vec<(u32, u32)>,
    /// Flows from which each enclosing `try` block may be left by an exception.
    tries: Vec<Vec<FlowId>>,
    /// The expectation of the expression that is lowered next.
    expectation: ExpectationId,
}

impl<'a> Lower<'a> {
    fn new(source: &'a str) -> Self {
        let mut module = Module::default();
        module.scopes.push(Scope { kind: ScopeKind::Module, parent: None });
        module.expectations.push(Expectation::Nothing);
        module.flows.extend([Flow::Unreachable, Flow::Start(MODULE)]);
        let words = FxHashMap::default();
        let (loops, tries) = (Vec::new(), Vec::new());
        Lower {
            source,
            module,
            words,
            scope: MODULE,
            flow: FlowId(1),
            function: None,
            loops,
            tries,
            expectation: strings::NOTHING,
        }
    }

    fn finish(mut self) -> Module {
        // The more a role tells, the earlier.
        let rank = |it: &Occurrence| match it.role {
            Role::Quoted(Quoted::Unparsed) => 4,
            Role::Quoted(Quoted::Plain | Quoted::Path(..)) => 3,
            Role::Quoted(Quoted::Decorator(_)) => 2,
            Role::Keyword(_) => 2,
            Role::Quoted(Quoted::LookedUp) => 1,
            _ => 0,
        };
        self.module.occurrences.sort_unstable_by_key(|it| (it.at, rank(it)));
        // An annotation may be lowered twice, as a type and as a value, and a string by its rule
        // and as any string.
        self.module.occurrences.dedup_by_key(|it| it.at);
        let module = &mut self.module;
        module.exprs.shrink_to_fit();
        module.occurrences.shrink_to_fit();
        module.flows.shrink_to_fit();
        module.lists.shrink_to_fit();
        self.module
    }

    fn text(&self, range: TextRange) -> &'a str {
        &self.source[range.start().to_usize()..range.end().to_usize()]
    }

    /// Returns the name at a range of the text.
    fn name(&mut self, range: TextRange) -> Name {
        let text = self.text(range);
        *self.words.entry(text).or_insert_with(|| normal(text))
    }

    // Scopes

    fn open(&mut self, kind: ScopeKind) -> ScopeId {
        self.module.scopes.push(Scope { kind, parent: Some(self.scope) });
        ScopeId(self.module.scopes.len() as u32 - 1)
    }

    /// Creates symbols for all names that a body binds.
    fn declare(&mut self, bound: &Bound<'_>) {
        for text in &bound.globals {
            let name = Name::of(text);
            let symbol = self.symbol_in(MODULE, name);
            self.module.names.insert((self.scope, name), symbol);
            self.module.shared.insert(symbol);
        }
        for text in &bound.nonlocals {
            let name = Name::of(text);
            if let Some(symbol) = self.enclosing(name) {
                self.module.shared.insert(symbol);
                self.module.names.insert((self.scope, name), symbol);
            }
        }
        for text in bound.names.iter().filter(|it| !it.is_empty()) {
            self.symbol_in(self.scope, Name::of(text));
        }
    }

    /// Returns the symbol that `nonlocal` refers to: a name of an enclosing function.
    fn enclosing(&self, name: Name) -> Option<SymbolId> {
        let around = self.module.outwards(self.scope).skip(1);
        let is_function =
            |it: &ScopeId| matches!(self.module.scopes[it.index()].kind, ScopeKind::Function(_));
        around.filter(is_function).find_map(|it| self.module.bound(it, name))
    }

    fn symbol_in(&mut self, scope: ScopeId, name: Name) -> SymbolId {
        let next = SymbolId(self.module.symbols.len() as u32);
        let symbol = *self.module.names.entry((scope, name)).or_insert(next);
        if symbol == next {
            let bindings = Vec::new();
            self.module.symbols.push(Symbol { scope, name, bindings, on_instance: false });
        }
        symbol
    }

    /// Returns the symbol of a name read in the current scope, if this file binds it.
    fn lookup(&self, name: Name) -> Option<SymbolId> {
        let mut direct = true;
        for scope in self.module.outwards(self.scope) {
            let kind = self.module.scopes[scope.index()].kind;
            let is_class = matches!(kind, ScopeKind::Class(_));
            let hidden = is_class && !direct; // methods do not see the names of their class
            direct &= kind == ScopeKind::TypeParameters;
            if hidden {
                continue;
            }
            let Some(symbol) = self.module.bound(scope, name) else { continue };
            let it = self.module.symbol(symbol);
            if is_class && it.on_instance {
                continue;
            }
            if is_class && it.bindings.is_empty() {
                // Bound later in this class body: until then the name is the module's, even if
                // functions lie between.
                return self.module.bound(MODULE, name);
            }
            return Some(symbol);
        }
        None
    }

    // Bindings

    /// Binds a name in the current scope.
    fn bind(&mut self, name: &Identifier, kind: BindingKind) -> BindingId {
        self.bind_at(name.range(), kind)
    }

    fn bind_at(&mut self, range: TextRange, kind: BindingKind) -> BindingId {
        let name = self.name(range);
        let symbol = self.symbol_in(self.scope, name);
        let binding = self.add_binding(symbol, range, kind);
        self.occurs(range, Role::Binding(binding));
        let key = self.key(Key::Symbol(symbol));
        self.assigned(key, Assigned::Binding(binding));
        binding
    }

    fn add_binding(&mut self, symbol: SymbolId, range: TextRange, kind: BindingKind) -> BindingId {
        let binding = BindingId(self.module.bindings.len() as u32);
        self.module.bindings.push(Binding { symbol, at: range.start().to_u32(), kind });
        let it = &mut self.module.symbols[symbol.index()];
        it.bindings.push(binding);
        it.on_instance = false;
        binding
    }

    fn occurs(&mut self, range: TextRange, role: Role) {
        if range.is_empty() {
            return; // inserted by the parser for a missing name
        }
        let name = self.name(range);
        self.occurs_as(range, name, role);
    }

    /// Records a name that a text spells in its own way.
    fn occurs_as(&mut self, range: TextRange, name: Name, role: Role) {
        let (at, scope) = (range.start().to_u32(), self.scope);
        let length = range.len().to_u32();
        self.module.occurrences.push(Occurrence { at, length, name, role, scope });
    }

    // Flow

    fn key(&mut self, key: Key) -> KeyId {
        let next = KeyId(self.module.keys.len() as u32);
        let id = *self.module.key_of.entry(key).or_insert(next);
        if id == next {
            self.module.keys.push(key);
        }
        id
    }

    /// Returns the key of an expression that can be narrowed.
    fn key_of(&mut self, expr: ExprId) -> Option<KeyId> {
        let key = match self.module.expr(expr) {
            Expr::Name(_, Some(symbol), _) => Key::Symbol(symbol),
            Expr::Name(name, None, _) => Key::Free(name),
            Expr::Attribute(object, name, _) => Key::Attribute(self.key_of(object)?, name),
            Expr::Subscript(object, index, _) => {
                let index = self.module.item(index)?;
                Key::Item(self.key_of(object)?, index)
            }
            _ => return None,
        };
        Some(self.key(key))
    }

    /// Lowers an expression between brackets; keeps the text of a string.
    fn key_expr(&mut self, key: &ruff_python_ast::Expr) -> ExprId {
        let expr = self.expr(key);
        let text = key.as_string_literal_expr().map(|it| it.value.to_str());
        let is_short = |it: &&str| it.len() <= LONGEST_KEY;
        if let (Some(text), Expr::String) = (text.filter(is_short), self.module.expr(expr)) {
            self.module.texts.insert(expr, Name::of(text));
        }
        expr
    }

    fn push_flow(&mut self, flow: Flow) -> FlowId {
        self.module.flows.push(flow);
        FlowId(self.module.flows.len() as u32 - 1)
    }

    fn assigned(&mut self, key: KeyId, to: Assigned) {
        if self.flow != UNREACHABLE {
            self.flow = self.push_flow(Flow::Assigned { key, to, before: self.flow });
        }
    }

    /// Returns the flow after a test with an outcome.
    fn tested(&mut self, test: ExprId, outcome: bool, before: FlowId) -> FlowId {
        if before == UNREACHABLE || !self.tells(test) {
            return before;
        }
        self.push_flow(Flow::Tested { test, outcome, before })
    }

    /// Returns whether a test can narrow a name; creates the keys of the names in it.
    fn tells(&mut self, test: ExprId) -> bool {
        match self.module.expr(test) {
            Expr::Name(..) | Expr::Attribute(..) | Expr::Subscript(..) => {
                self.key_of(test).is_some()
            }
            Expr::Not(inner) => self.tells(inner),
            Expr::And(list) | Expr::Or(list) => {
                let parts = self.module.list(list).to_vec();
                parts.into_iter().fold(false, |any, it| self.tells(it) | any)
            }
            Expr::Compare(_, left, right) => {
                self.key_of(left).is_some() | self.tells_call(left) | self.key_of(right).is_some()
            }
            Expr::IsInstance(subject, _) => self.key_of(subject).is_some(),
            Expr::Call(_) => self.tells_call(test),
            _ => false,
        }
    }

    /// Returns whether `isinstance(x, …)`, `issubclass(x, …)`, `callable(x)` or `type(x)` can
    /// narrow its first argument.
    fn tells_call(&mut self, call: ExprId) -> bool {
        let Some(call) = self.module.call(call) else { return false };
        let first = self.module.arguments_of(call).first().map(|it| it.value);
        first.is_some_and(|it| self.key_of(it).is_some())
    }

    fn open_join(&mut self, antecedents: Vec<FlowId>) -> (u32, FlowId) {
        let row = self.module.joins.len() as u32;
        self.module.joins.push(antecedents);
        (row, self.push_flow(Flow::Join(row)))
    }

    /// Joins several flows.
    fn join(&mut self, mut flows: Vec<FlowId>) -> FlowId {
        flows.retain(|it| *it != UNREACHABLE);
        flows.sort_unstable();
        flows.dedup();
        match flows.as_slice() {
            [] => UNREACHABLE,
            [one] => *one,
            _ => self.open_join(flows).1,
        }
    }

    // Rows

    fn push(&mut self, expr: Expr) -> ExprId {
        self.module.exprs.push(expr);
        ExprId(self.module.exprs.len() as u32 - 1)
    }

    fn push_list(&mut self, items: &[ExprId]) -> List {
        let start = self.module.lists.len() as u32;
        self.module.lists.extend_from_slice(items);
        List { start, length: items.len() as u32 }
    }
}
