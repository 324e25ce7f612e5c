//! Questions about the tables of one file.

use super::ir::*;
use super::names::Name;

impl Module {
    pub(crate) fn list(&self, list: List) -> &[ExprId] {
        &self.lists[list.start as usize..(list.start + list.length) as usize]
    }

    pub(crate) fn arguments_of(&self, call: &Call) -> &[Argument] {
        let List { start, length } = call.arguments;
        &self.arguments[start as usize..(start + length) as usize]
    }

    pub(crate) fn expr(&self, id: ExprId) -> Expr {
        self.exprs[id.index()]
    }

    pub(crate) fn call(&self, id: ExprId) -> Option<&Call> {
        match self.expr(id) {
            Expr::Call(row) => Some(&self.calls[row as usize]),
            _ => None,
        }
    }

    /// Returns whether an offset is in a line with a syntax error.
    pub(crate) fn is_broken_at(&self, at: u32) -> bool {
        self.broken.iter().any(|it| it.contains(&at))
    }

    pub(crate) fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.index()]
    }

    pub(crate) fn binding(&self, id: BindingId) -> &Binding {
        &self.bindings[id.index()]
    }

    pub(crate) fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    pub(crate) fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    pub(crate) fn bound(&self, scope: ScopeId, name: Name) -> Option<SymbolId> {
        self.names.get(&(scope, name)).copied()
    }

    /// Returns the symbol of a name bound at the top level.
    pub(crate) fn global(&self, name: Name) -> Option<SymbolId> {
        self.bound(ScopeId(0), name)
    }

    /// Returns the identifier at an offset; the offset may also be the identifier's end.
    pub(crate) fn occurrence(&self, offset: u32) -> Option<&Occurrence> {
        let behind = self.occurrences.partition_point(|it| it.at <= offset);
        let around = |it: &&Occurrence| offset <= it.at + it.length;
        self.occurrences[..behind].last().filter(around)
    }

    /// Returns the symbol that a name at an offset binds.
    pub(crate) fn symbol_bound_at(&self, at: u32) -> Option<SymbolId> {
        self.bindings.iter().find(|it| it.at == at).map(|it| it.symbol)
    }

    /// Returns the offset of the alias that an import gives the name at an offset.
    pub(crate) fn alias_behind(&self, at: u32) -> Option<u32> {
        let place = self.occurrences.binary_search_by_key(&at, |it| it.at).ok()?;
        let next = self.occurrences.get(place + 1)?;
        match next.role {
            Role::Binding(binding) => {
                let kind = self.binding(binding).kind;
                matches!(kind, BindingKind::FromAs(..) | BindingKind::ImportAs(_))
                    .then_some(next.at)
            }
            _ => None,
        }
    }

    /// Returns whether a name at an offset is bound there.
    pub(crate) fn binds_at(&self, at: u32) -> bool {
        self.bindings.iter().any(|it| it.at == at)
    }

    /// Returns the scope of the innermost function or class, or of the module, around a scope.
    pub(crate) fn execution(&self, mut scope: ScopeId) -> ScopeId {
        while let Scope {
            kind: ScopeKind::Comprehension | ScopeKind::TypeParameters,
            parent: Some(parent),
        } = self.scopes[scope.index()]
        {
            scope = parent;
        }
        scope
    }

    /// Returns a scope and its enclosing scopes, from the inside out.
    pub(crate) fn outwards(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> + '_ {
        std::iter::successors(Some(scope), |it| self.scopes[it.index()].parent)
    }
}
