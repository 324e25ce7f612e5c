//! Code that reads variables of a function by their names: `locals()`, `eval(text)`.

use rustc_hash::FxHashSet;

use super::eval::Eval;
use super::ir::*;
use super::meaning::Target;
use crate::index::FileId;

impl Eval<'_> {
    /// Returns the places where variables of the functions that bind some targets are read by names
    /// that only a run knows.
    pub(super) fn local_readers(
        &self,
        file: FileId,
        targets: &FxHashSet<Target>,
    ) -> Vec<Occurrence> {
        let module = self.module(file);
        let local = targets.iter().filter_map(|it| match it {
            Target::Symbol(home, symbol) if *home == file => {
                let scope = module.symbol(*symbol).scope;
                let kind = module.scopes[scope.index()].kind;
                matches!(kind, ScopeKind::Function(_)).then_some(scope)
            }
            _ => None,
        });
        let scopes: FxHashSet<ScopeId> = local.collect();
        if scopes.is_empty() {
            return Vec::new();
        }
        let reads =
            |it: &&Call| scopes.contains(&module.execution(it.scope)) && module.reads_variables(it);
        module.names_of_functions(module.calls.iter().filter(reads))
    }
}

impl Module {
    /// Returns whether a call reads variables around it by names that are not written there.
    fn reads_variables(&self, call: &Call) -> bool {
        let Expr::Name(name, None, _) = self.expr(call.function) else { return false };
        let first = self.arguments_of(call).first();
        match name.text() {
            "locals" => true,
            "vars" | "dir" => first.is_none(),
            "eval" | "exec" => first.is_some_and(|it| self.expr(it.value) != Expr::String),
            _ => false,
        }
    }
}
