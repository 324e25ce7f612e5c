//! Finds the parameters that a function's results depend on.

use rustc_hash::FxHashSet;

use crate::semantics::ir::*;

/// Largest number of expressions that are read.
const MOST_READ: usize = 300;
/// Number of parameters that are followed.
pub(super) const MOST_PARAMETERS: usize = 64;

/// A walk from a function's results back to its parameters.
pub(super) struct Influences<'m> {
    module: &'m Module,
    function: FunctionId,
    found: u64,
    seen: FxHashSet<ExprId>,
    open: Vec<ExprId>,
}

impl Influences<'_> {
    /// Returns the parameters that a function's results depend on, as bits.
    pub(super) fn of(module: &Module, function: FunctionId) -> u64 {
        let (seen, open) = (FxHashSet::default(), Vec::new());
        let mut walk = Influences { module, function, found: 0, seen, open };
        walk.results(function);
        while let Some(it) = walk.open.pop() {
            if walk.seen.len() < MOST_READ && walk.seen.insert(it) {
                walk.read(it);
            }
        }
        walk.found
    }

    fn results(&mut self, function: FunctionId) {
        let of = self.module.function(function);
        self.open.extend(of.returned.iter().chain(&of.yielded).chain(&of.delegated));
    }

    fn read(&mut self, id: ExprId) {
        match self.module.expr(id) {
            Expr::Name(_, Some(symbol), _) => self.name(symbol),
            Expr::Lambda(function) => self.results(function),
            Expr::Call(row) => {
                let call = &self.module.calls[row as usize];
                self.open.push(call.function);
                self.open.extend(self.module.arguments_of(call).iter().map(|it| it.value));
            }
            other => self.open.extend(other.parts(self.module)),
        }
    }

    fn name(&mut self, symbol: SymbolId) {
        let symbol = self.module.symbol(symbol);
        if !self.module.function(self.function).inside.scopes.contains(&symbol.scope.0) {
            return;
        }
        for binding in &symbol.bindings {
            match self.module.binding(*binding).kind {
                BindingKind::Value(value) | BindingKind::Annotated(_, Some(value)) => {
                    self.open.push(value);
                }
                BindingKind::Function(function) => self.results(function),
                BindingKind::Parameter(function, index) if function == self.function => {
                    self.found |= 1 << index.min(MOST_PARAMETERS as u32 - 1);
                }
                _ => {}
            }
        }
    }
}
