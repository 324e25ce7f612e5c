//! Narrows types by the assignments and tests before a place in the code.

use std::sync::Arc;

use super::{Eval, Question};
use crate::index::FileId;
use crate::semantics::ir::*;
use crate::semantics::names::KNOWN;
use crate::semantics::types::{ClassType, Type};

impl Eval<'_> {
    /// Returns the type of a key at a place in the flow. `start` returns the type at the start of a
    /// scope.
    pub(super) fn flow(
        &self,
        file: FileId,
        key: KeyId,
        mut at: FlowId,
        start: &dyn Fn(ScopeId) -> Type,
    ) -> Type {
        let module = self.module(file);
        loop {
            match module.flows[at.index()] {
                Flow::Unreachable => return Type::Never,
                Flow::Start(scope) => return start(scope),
                Flow::Assigned { key: assigned, to, .. } if assigned == key => {
                    return match to {
                        Assigned::Binding(binding) => self.assigned(file, binding),
                        Assigned::Value(value) => self.expr(file, value),
                        Assigned::Unknown => Type::Never,
                    };
                }
                // The root is another object now, so earlier assignments to its attributes no
                // longer hold.
                Flow::Assigned { key: assigned, .. } if module.is_affected(key, assigned) => {
                    return start(ScopeId(u32::MAX));
                }
                Flow::Assigned { before, .. } => at = before,
                Flow::Tested { test, outcome, before } => {
                    if self.concerns(module, test, key) {
                        let known = self.flow(file, key, before, start);
                        return self.narrow(file, key, known, test, outcome);
                    }
                    at = before;
                }
                Flow::Join(row) => {
                    let ways = &module.joins[row as usize];
                    if let [one] = ways.as_slice() {
                        at = *one;
                        continue;
                    }
                    return self.ask(Question::Join(file, key, row), || {
                        let ways = ways.iter().map(|way| self.flow(file, key, *way, start));
                        self.rejoined(file, key, Type::union(ways))
                    });
                }
            }
        }
    }

    /// Returns the type of a key where several ways meet. If a value may be of the declared class,
    /// its subclasses in the other ways tell nothing more.
    fn rejoined(&self, file: FileId, key: KeyId, joined: Type) -> Type {
        let Key::Symbol(symbol) = self.module(file).keys[key.index()] else { return joined };
        let members = joined.members();
        if members.len() < 2 {
            return joined;
        }
        let declared = self.annotated_type(file, symbol);
        let is_declared =
            |it: &&Type| declared.as_ref().is_some_and(|all| all.members().contains(it));
        let bases: Vec<ClassType> = members
            .iter()
            .filter(is_declared)
            .filter_map(|it| match it {
                Type::Instance(class) => Some(class.clone()),
                _ => None,
            })
            .collect();
        let adds = |it: &&Type| match it {
            Type::Instance(class) => {
                !bases.iter().any(|base| !base.is_same(class) && self.derives(class, base))
            }
            _ => true,
        };
        Type::union(members.iter().filter(adds).cloned())
    }

    /// Returns the type that the annotation of a variable or parameter declares.
    fn annotated_type(&self, file: FileId, symbol: SymbolId) -> Option<Type> {
        let module = self.module(file);
        let parameter =
            module.symbol(symbol).bindings.iter().find_map(|it| match module.binding(*it).kind {
                BindingKind::Parameter(function, index) => {
                    module.function(function).parameters[index as usize].annotation
                }
                _ => None,
            });
        match parameter {
            Some(annotation) => Some(self.annotation(file, annotation)),
            None => self.declared(file, symbol),
        }
    }

    pub(super) fn concerns(&self, module: &Module, test: ExprId, key: KeyId) -> bool {
        let is = |it: ExprId| module.key(it) == Some(key);
        match module.expr(test) {
            Expr::Name(..) | Expr::Attribute(..) | Expr::Subscript(..) => is(test),
            Expr::Not(inner) => self.concerns(module, inner, key),
            Expr::And(list) | Expr::Or(list) => {
                module.list(list).iter().any(|it| self.concerns(module, *it, key))
            }
            Expr::Compare(_, left, right) => {
                is(left) || is(right) || first_argument(module, left).is_some_and(is)
            }
            Expr::IsInstance(subject, _) => is(subject),
            Expr::Call(_) => first_argument(module, test).is_some_and(is),
            _ => false,
        }
    }

    /// Returns a key's type after a test with this outcome.
    pub(super) fn narrow(
        &self,
        file: FileId,
        key: KeyId,
        known: Type,
        test: ExprId,
        outcome: bool,
    ) -> Type {
        let module = self.module(file);
        let is = |it: ExprId| module.key(it) == Some(key);
        match module.expr(test) {
            Expr::Name(..) | Expr::Attribute(..) | Expr::Subscript(..) if is(test) && outcome => {
                without_none(&known)
            }
            Expr::Not(inner) => self.narrow(file, key, known, inner, !outcome),
            Expr::And(list) => self.chain(file, key, known, module.list(list), true, outcome),
            Expr::Or(list) => self.chain(file, key, known, module.list(list), false, outcome),
            Expr::Compare(op, left, right) => {
                self.compared(file, key, known, (op, left, right), outcome)
            }
            Expr::IsInstance(subject, class) if is(subject) => {
                self.narrow_to(&known, &self.expr(file, class), outcome)
            }
            Expr::Call(_) if first_argument(module, test).is_some_and(is) => {
                self.decided_by_call(file, known, test, outcome)
            }
            _ => known,
        }
    }

    /// Narrows a pattern's subject that has no name.
    pub(super) fn narrow_value(&self, file: FileId, known: Type, test: ExprId) -> Type {
        match self.module(file).expr(test) {
            Expr::IsInstance(_, class) => self.narrow_to(&known, &self.expr(file, class), true),
            Expr::Compare(Comparison::Is, ..) => Type::None,
            _ => known,
        }
    }

    /// Narrows by `and` (`all`) or `or`: the parts before the deciding one had the other outcome.
    fn chain(
        &self,
        file: FileId,
        key: KeyId,
        known: Type,
        parts: &[ExprId],
        all: bool,
        outcome: bool,
    ) -> Type {
        let mut before = known;
        let mut decided = Vec::new();
        for part in parts {
            decided.push(self.narrow(file, key, before.clone(), *part, !all));
            before = self.narrow(file, key, before, *part, all);
        }
        if outcome == all { before } else { Type::union(decided) }
    }

    fn compared(
        &self,
        file: FileId,
        key: KeyId,
        known: Type,
        (op, left, right): (Comparison, ExprId, ExprId),
        outcome: bool,
    ) -> Type {
        let module = self.module(file);
        let same = match op {
            Comparison::Is | Comparison::Equal => outcome,
            Comparison::IsNot | Comparison::NotEqual => !outcome,
            _ => return known,
        };
        let (subject, other) =
            if module.key(left) == Some(key) { (left, right) } else { (right, left) };
        if module.key(subject) == Some(key) {
            return match (module.expr(other), same) {
                (Expr::None, true) => Type::None,
                (Expr::None, false) => without_none(&known),
                _ => known,
            };
        }
        // `type(x) is C`
        let is_type = module.call(left).is_some_and(|call| {
            matches!(module.expr(call.function), Expr::Name(name, None, _) if name == KNOWN.type_)
        });
        if is_type && same { self.narrow_to(&known, &self.expr(file, right), true) } else { known }
    }

    /// Narrows by `isinstance(x, C)`, `issubclass(x, C)` and functions that return `TypeGuard` or
    /// `TypeIs`.
    fn decided_by_call(&self, file: FileId, known: Type, test: ExprId, outcome: bool) -> Type {
        let module = self.module(file);
        let Some(call) = module.call(test) else { return known };
        let arguments = module.arguments_of(call);
        if let (Expr::Name(name, ..), Some(classes)) =
            (module.expr(call.function), arguments.get(1))
        {
            let classes = || self.expr(file, classes.value);
            if name == KNOWN.isinstance {
                return self.narrow_to(&known, &classes(), outcome);
            }
            if name == KNOWN.issubclass {
                return self.narrow_class(&known, &classes(), outcome);
            }
        }
        match self.expr(file, call.function) {
            Type::Function(function) => match self.guards(&function) {
                Some(reported) if outcome => reported,
                _ => known,
            },
            _ => known,
        }
    }

    /// Returns the type that a function's `TypeGuard[…]` gives its argument.
    fn guards(&self, it: &crate::semantics::types::FunctionType) -> Option<Type> {
        let module = self.module(it.file);
        let Expr::Subscript(form, reported, _) = module.expr(module.function(it.function).returns?)
        else {
            return None;
        };
        match self.expr(it.file, form) {
            Type::Special(name) if matches!(name.text(), "TypeGuard" | "TypeIs") => {
                Some(self.annotation(it.file, reported))
            }
            _ => None,
        }
    }

    /// Returns the members that are (or are not) instances of a class, or of one of several.
    fn narrow_to(&self, known: &Type, classes: &Type, outcome: bool) -> Type {
        let Some(classes) = self.class_list(classes) else {
            return if outcome { Type::Unknown } else { known.clone() };
        };
        if !outcome {
            let stays = |it: &&Type| match self.class_of(it) {
                Some(own) => !classes.iter().any(|class| self.derives(&own, class)),
                None => true,
            };
            return Type::union(known.members().iter().filter(stays).cloned());
        }
        let mut kept = Vec::new();
        for member in known.members() {
            let Some(own) = self.class_of(member) else {
                if *member != Type::None {
                    kept.extend(classes.iter().cloned().map(Type::Instance));
                }
                continue;
            };
            for class in &classes {
                if self.derives(&own, class) {
                    kept.push(member.clone());
                } else if self.derives(class, &own) {
                    kept.push(Type::Instance(class.clone()));
                }
            }
        }
        if kept.is_empty() {
            kept.extend(classes.into_iter().map(Type::Instance));
        }
        Type::union(kept)
    }

    fn narrow_class(&self, known: &Type, classes: &Type, outcome: bool) -> Type {
        match self.class_list(classes) {
            Some(classes) if outcome => Type::union(classes.into_iter().map(Type::Class)),
            _ => known.clone(),
        }
    }

    /// Returns the classes in `C`, `(C, D)` and `C | D`; `None` if not all are known.
    fn class_list(&self, classes: &Type) -> Option<Vec<ClassType>> {
        let mut list = Vec::new();
        for member in classes.members() {
            match member {
                Type::Class(class) => list.push(class.clone()),
                Type::Tuple(inner) => {
                    for it in inner.iter() {
                        list.extend(self.class_list(it)?);
                    }
                }
                Type::Form(inner) => {
                    for it in inner.members() {
                        list.push(self.class_of(it)?);
                    }
                }
                _ => return None,
            }
        }
        Some(list)
    }

    /// Returns the class that a value is an instance of.
    pub(super) fn class_of(&self, value: &Type) -> Option<ClassType> {
        match value {
            Type::Instance(class) => Some(class.clone()),
            Type::Tuple(inner) => {
                let class = self.bundled_class("builtins", KNOWN.tuple)?;
                Some(ClassType {
                    arguments: Arc::new([Type::union(inner.iter().cloned())]),
                    ..class
                })
            }
            _ => None,
        }
    }
}

pub(super) fn without_none(known: &Type) -> Type {
    Type::union(known.members().iter().filter(|it| **it != Type::None).cloned())
}

fn first_argument(module: &Module, call: ExprId) -> Option<ExprId> {
    module.arguments_of(module.call(call)?).first().map(|it| it.value)
}
