//! Detects conflicts of names that are looked up through scopes: names that the new one would hide,
//! and names that would hide it.

use rustc_hash::FxHashSet;

use super::{Check, Checked};
use crate::index::{FileId, Place};
use crate::semantics::ir::*;
use crate::semantics::search::Match;

impl Check<'_, '_> {
    /// Refuses if a scope between a use of the name and its binding scope binds the new name.
    pub(super) fn uses(&self) -> Checked {
        for it in self.matches {
            let module = self.eval.module(it.file);
            let symbol = match it.occurrence.role {
                Role::Name(expr) => match module.expr(expr) {
                    Expr::Name(_, symbol, _) => symbol,
                    _ => continue,
                },
                // `:=` in a comprehension binds further out.
                Role::Binding(binding) => Some(module.binding(binding).symbol),
                _ => continue,
            };
            let home = symbol.map_or(ScopeId(0), |it| module.symbol(it).scope);
            for scope in visible(module, it.occurrence.scope) {
                if scope == home {
                    break;
                }
                if home == ScopeId(0) && self.reads_before(module, it, scope) {
                    break;
                }
                self.refuse_bound(it.file, scope)?;
                // `global` leads straight to the binding.
                let declared = symbol.is_some() && module.bound(scope, self.from) == symbol;
                if declared && home == ScopeId(0) {
                    break;
                }
            }
            if symbol.is_none() {
                self.refuse_bound(it.file, ScopeId(0))?;
            }
        }
        Ok(())
    }

    /// Returns whether a use in a class's body runs before the body binds the new name and so reads
    /// the module's name.
    fn reads_before(&self, module: &Module, it: &Match, scope: ScopeId) -> bool {
        let is_class = matches!(module.scopes[scope.index()].kind, ScopeKind::Class(_));
        is_class
            && module
                .bound(scope, self.to)
                .is_some_and(|symbol| precedes(module, &it.occurrence, symbol))
    }

    /// Refuses if a use of the new name, meant for an outer scope, would resolve to the renamed
    /// symbol.
    pub(super) fn captured(&self) -> Checked {
        let own = self.symbols().filter(|(file, symbol)| !self.is_set_through_self(*file, *symbol));
        let own = own.map(|(file, symbol)| (file, self.scope_of(file, symbol)));
        let scopes: FxHashSet<(FileId, ScopeId)> = own.chain(self.importing()).collect();
        for (file, home) in scopes {
            let module = self.eval.module(file);
            let named = module.occurrences.iter().filter(|it| it.name == self.to);
            for it in named {
                // `:=` in a comprehension binds further out, past the comprehension's own names.
                let binds_out = matches!(it.role, Role::Binding(binding)
                    if module.symbol(module.binding(binding).symbol).scope != it.scope);
                let reads = binds_out || matches!(it.role, Role::Name(_) | Role::Declared(_));
                if reads
                    && self.passes_through(module, it, home)
                    && !self.still_reads_module(module, it, home)
                {
                    return self.read_already(file, it);
                }
            }
        }
        Ok(())
    }

    pub(super) fn read_already(&self, file: FileId, it: &Occurrence) -> Checked {
        let path = self.eval.index.path(file);
        let what = format!("{path} already uses another `{}`", self.to.text());
        self.conflict(what, Some(Place { file, range: it.range() }))
    }

    /// Refuses if a class body reads the module's name as in `name = name`, which works only
    /// because the class binds the name as well.
    pub(super) fn released(&self) -> Checked {
        for (file, symbol) in self.symbols().filter(|(file, symbol)| self.is_member(*file, *symbol))
        {
            let module = self.eval.module(file);
            let home = self.scope_of(file, symbol);
            let past = |expr: ExprId| matches!(module.expr(expr), Expr::Name(_, other, _) if other != Some(symbol));
            let reads_past = |it: &&Occurrence| {
                it.name == self.from
                    && it.scope == home
                    && matches!(it.role, Role::Name(expr) if past(expr))
            };
            let between = |scope: ScopeId| {
                scope != home && scope != ScopeId(0) && module.bound(scope, self.from).is_some()
            };
            if let Some(it) = module.occurrences.iter().find(reads_past)
                && module.outwards(home).any(between)
            {
                let place =
                    Place { file, range: it.at as usize..it.at as usize + self.from.text().len() };
                let what = format!(
                    "the body of the class would read `{}` from the function around it",
                    self.from.text()
                );
                return self.conflict(what, Some(place));
            }
        }
        Ok(())
    }

    /// Returns whether a name in a class's body still reads the module's name, because the body
    /// binds the same name only later.
    fn still_reads_module(&self, module: &Module, it: &Occurrence, home: ScopeId) -> bool {
        let outer = match it.role {
            Role::Name(expr) => match module.expr(expr) {
                Expr::Name(_, symbol, _) => symbol.map_or(ScopeId(0), |it| module.symbol(it).scope),
                _ => return false,
            },
            _ => return false,
        };
        let is_class = matches!(module.scopes[home.index()].kind, ScopeKind::Class(_));
        let renamed = module.bound(home, self.from);
        is_class
            && it.scope == home
            && outer == ScopeId(0)
            && renamed.is_some_and(|symbol| precedes(module, it, symbol))
    }

    /// Returns whether an attribute is assigned through `self`. Such attributes are not names of
    /// the class's scope.
    fn is_set_through_self(&self, file: FileId, symbol: SymbolId) -> bool {
        self.eval.module(file).symbol(symbol).on_instance
    }

    /// Returns whether the lookup of the new name passes through a scope.
    fn passes_through(&self, module: &Module, it: &Occurrence, home: ScopeId) -> bool {
        let symbol = match it.role {
            Role::Name(expr) => match module.expr(expr) {
                Expr::Name(_, symbol, _) => symbol,
                _ => None,
            },
            Role::Declared(symbol) => Some(symbol),
            Role::Binding(binding) => Some(module.binding(binding).symbol),
            _ => None,
        };
        for scope in visible(module, it.scope) {
            if scope == home {
                return true;
            }
            // Bound here, or declared here with `global`.
            let known = module.bound(scope, self.to);
            let is_here = |it: SymbolId| [scope, ScopeId(0)].contains(&module.symbol(it).scope);
            if known.is_some() && known == symbol && symbol.is_some_and(is_here) {
                return false;
            }
            // Bound later in this class body: until then the lookup goes straight to the module.
            let is_class = matches!(module.scopes[scope.index()].kind, ScopeKind::Class(_));
            if is_class && known.is_some() {
                return home == ScopeId(0);
            }
        }
        false
    }
}

/// Returns the scopes that a lookup visits, from the inside out.
fn visible(module: &Module, from: ScopeId) -> impl Iterator<Item = ScopeId> + '_ {
    let mut direct = true;
    module.outwards(from).filter(move |scope| {
        let kind = module.scopes[scope.index()].kind;
        let hidden = matches!(kind, ScopeKind::Class(_)) && !direct;
        direct &= kind == ScopeKind::TypeParameters;
        !hidden
    })
}

/// Returns whether a name is read before a symbol of the same body is bound.
fn precedes(module: &Module, it: &Occurrence, symbol: SymbolId) -> bool {
    let (Role::Name(expr), Some(first)) = (it.role, module.symbol(symbol).bindings.first()) else {
        return false;
    };
    let binding = module.binding(*first);
    match binding.kind {
        // Expressions are numbered in evaluation order.
        BindingKind::Value(value) | BindingKind::Annotated(_, Some(value)) => expr <= value,
        _ => it.at < binding.at,
    }
}
