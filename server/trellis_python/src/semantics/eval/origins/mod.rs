//! Follows values back to where they come from: through assignments to attributes, containers, and
//! the calls of a function. The type of an expression leaves these out, because other code may
//! write there too. What is found may therefore be incomplete, but each found value does reach the
//! expression.

mod calls;
mod containers;

use rustc_hash::FxHashSet;

use self::containers::Side;
use super::Eval;
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::Name;
use crate::semantics::types::{ClassType, Type};

/// Largest number of expressions that one walk visits.
const MOST_VISITED: u32 = 80;
/// Largest number of bindings, calls or writes that are followed from one place.
const MOST_FOLLOWED: usize = 24;

/// A question of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Visit {
    Value(ExprId),
    Contents(ExprId, Side),
    Join(KeyId, u32),
    Parameter(FunctionId, u32, Option<Side>),
}

/// A walk from an expression back to the values that reach it.
struct Walk<'e, 'i> {
    eval: &'e Eval<'i>,
    /// True if values of a known type are followed too, since they may be of a subclass.
    is_wide: bool,
    seen: FxHashSet<(FileId, Visit)>,
    left: u32,
}

impl Eval<'_> {
    /// Returns the types of the values that are known to reach an expression. Where its type is
    /// known, only that class and its subclasses count.
    pub(crate) fn origins(&self, file: FileId, expr: ExprId) -> Type {
        let known = self.expr(file, expr);
        let mut walk = Walk {
            eval: self,
            is_wide: !is_open(&known),
            seen: FxHashSet::default(),
            left: MOST_VISITED,
        };
        let found = walk.followed(file, expr);
        let fits = |it: &&Type| {
            !matches!(it, Type::Unknown | Type::None)
                && (is_open(&known) || self.narrows(it, &known))
        };
        Type::union(found.members().iter().filter(fits).cloned())
    }

    /// Returns whether a value is an instance of a subclass of a known class.
    fn narrows(&self, it: &Type, known: &Type) -> bool {
        known.members().iter().any(|known| match (it, known) {
            (Type::Instance(own), Type::Instance(known))
            | (Type::Class(own), Type::Class(known)) => self.derives(own, known),
            _ => false,
        })
    }
}

/// Returns whether values of any type may be meant.
fn is_open(it: &Type) -> bool {
    *it == Type::Never || it.members().contains(&Type::Unknown)
}

impl<'i> Walk<'_, 'i> {
    fn module(&self, file: FileId) -> &'i Module {
        self.eval.module(file)
    }

    /// Returns whether a place is visited for the first time and within the limit.
    fn enter(&mut self, file: FileId, visit: Visit) -> bool {
        if self.left == 0 || !self.seen.insert((file, visit)) {
            return false;
        }
        self.left -= 1;
        true
    }

    /// Returns the types of the values of an expression: its own type, if that is known.
    fn values(&mut self, file: FileId, expr: ExprId) -> Type {
        let own = self.eval.expr(file, expr);
        if !is_open(&own) && !self.is_wide {
            return own;
        }
        let found = self.followed(file, expr);
        let counts = |it: &&Type| is_open(&own) || self.eval.narrows(it, &own);
        let found: Vec<Type> = found.members().iter().filter(counts).cloned().collect();
        let known = own.members().iter().filter(|it| **it != Type::Unknown).cloned();
        Type::union(known.chain(found))
    }

    /// Returns the types of the values that reach an expression by ways that its type leaves out.
    fn followed(&mut self, file: FileId, expr: ExprId) -> Type {
        if !self.enter(file, Visit::Value(expr)) {
            return Type::Never;
        }
        let module = self.module(file);
        match module.expr(expr) {
            Expr::Name(_, Some(symbol), flow) => self.name(file, symbol, flow),
            Expr::Attribute(object, name, _) => self.attribute(file, object, name),
            Expr::Call(row) => self.call(file, &module.calls[row as usize]),
            Expr::Subscript(container, ..) => self.contents(file, container, Side::Values),
            Expr::Element(container, false) => self.contents(file, container, Side::Iterated),
            Expr::Part(whole, index) => self.part(file, whole, index),
            Expr::Narrowed(value, _) => self.values(file, value),
            Expr::Either(all) | Expr::And(all) | Expr::Or(all) => {
                self.all(file, module.list(all), Walk::values)
            }
            _ => Type::Never,
        }
    }

    fn all(
        &mut self,
        file: FileId,
        exprs: &[ExprId],
        of: impl Fn(&mut Self, FileId, ExprId) -> Type,
    ) -> Type {
        let exprs = exprs.iter().take(MOST_FOLLOWED);
        Type::union(exprs.map(|it| of(self, file, *it)).collect::<Vec<_>>())
    }

    // Names

    fn name(&mut self, file: FileId, symbol: SymbolId, flow: FlowId) -> Type {
        let module = self.module(file);
        let local = module.execution(module.symbol(symbol).scope);
        match module.key_of.get(&Key::Symbol(symbol)) {
            Some(key) => self.reaching(file, *key, flow, local),
            None => self.symbol(file, symbol),
        }
    }

    /// Returns the types of a variable at a place in the flow, narrowed by the tests before it.
    fn reaching(&mut self, file: FileId, key: KeyId, mut at: FlowId, local: ScopeId) -> Type {
        let module = self.module(file);
        loop {
            match module.flows[at.index()] {
                Flow::Unreachable => return Type::Never,
                Flow::Start(scope) if scope == local => return Type::Never,
                Flow::Start(_) => {
                    let Key::Symbol(symbol) = module.keys[key.index()] else { return Type::Never };
                    return self.symbol(file, symbol);
                }
                Flow::Assigned { key: assigned, to, .. } if assigned == key => {
                    return match to {
                        Assigned::Binding(binding) => self.binding(file, binding),
                        Assigned::Value(value) => self.values(file, value),
                        Assigned::Unknown => Type::Never,
                    };
                }
                Flow::Assigned { before, .. } => at = before,
                Flow::Tested { test, outcome, before } => {
                    if self.eval.concerns(module, test, key) {
                        let known = self.reaching(file, key, before, local);
                        let kept = self.eval.narrow(file, key, known.clone(), test, outcome);
                        // A test tells nothing of values that did not reach it.
                        let reached =
                            kept.members().iter().filter(|it| known.members().contains(it));
                        return Type::union(reached.cloned());
                    }
                    at = before;
                }
                Flow::Join(row) => {
                    if !self.enter(file, Visit::Join(key, row)) {
                        return Type::Never;
                    }
                    let ways = module.joins[row as usize].iter();
                    let ways = ways.map(|it| self.reaching(file, key, *it, local));
                    return Type::union(ways.collect::<Vec<_>>());
                }
            }
        }
    }

    /// Returns the types of all values that are assigned to a symbol.
    fn symbol(&mut self, file: FileId, symbol: SymbolId) -> Type {
        let bindings = self.module(file).symbol(symbol).bindings.iter().take(MOST_FOLLOWED);
        Type::union(bindings.map(|it| self.binding(file, *it)).collect::<Vec<_>>())
    }

    fn binding(&mut self, file: FileId, binding: BindingId) -> Type {
        match self.module(file).binding(binding).kind {
            BindingKind::Value(value) | BindingKind::Annotated(_, Some(value)) => {
                self.values(file, value)
            }
            BindingKind::Parameter(function, index) => self.parameter(file, function, index, None),
            BindingKind::Other | BindingKind::Annotated(..) => Type::Never,
            _ => self.eval.binding(file, binding),
        }
    }

    // Attributes

    fn attribute(&mut self, file: FileId, object: ExprId, name: Name) -> Type {
        let objects = self.values(file, object);
        let found = objects.members().iter().map(|it| self.member(file, it, name));
        Type::union(found.collect::<Vec<_>>())
    }

    /// Returns the types of an attribute of a value: its own type, and those of all values that are
    /// assigned to it.
    fn member(&mut self, file: FileId, object: &Type, name: Name) -> Type {
        let found = self.eval.attribute(object, name);
        let mut types: Vec<Type> = found.types;
        types.retain(|it| *it != Type::Unknown);
        if let (Type::Instance(class) | Type::Class(class), true) = (object, types.is_empty()) {
            types.extend(self.assigned(file, class, name));
        }
        if let Type::Instance(class) | Type::Class(class) = object
            && let Some(it) = self.eval.member(class, name, 0)
            && bundle::number(it.file).is_none()
        {
            let values = self.symbol(it.file, it.symbol);
            // Methods are bound, and a descriptor gives another object than itself.
            let is_itself = |it: &&Type| match it {
                Type::Instance(class) => !self.eval.is_descriptor(class),
                Type::Function(it) => self.module(it.file).function(it.function).class.is_none(),
                _ => true,
            };
            types.extend(values.members().iter().filter(is_itself).cloned());
        }
        Type::union(types)
    }

    /// Returns the types of the values that the file and the class's own file assign to an
    /// attribute of objects of a class: `node.next = other`.
    fn assigned(&mut self, file: FileId, class: &ClassType, name: Name) -> Vec<Type> {
        let mut files = vec![file];
        files.extend((class.file != file).then_some(class.file));
        let mut found = Vec::new();
        for file in files {
            let Some(writes) = self.eval.index.writes(file) else { continue };
            for (object, value) in writes.attribute(name).iter().take(MOST_FOLLOWED) {
                let objects = self.values(file, *object);
                let is_it = |it: &Type| match it {
                    Type::Instance(it) | Type::Class(it) => self.eval.derives(it, class),
                    _ => false,
                };
                if objects.members().iter().any(is_it) {
                    found.push(self.values(file, *value));
                }
            }
        }
        found
    }
}
