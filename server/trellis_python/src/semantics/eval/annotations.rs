//! Evaluates annotations: expressions read as types.

use std::sync::Arc;

use super::{Eval, Question};
use crate::index::FileId;
use crate::semantics::ir::*;
use crate::semantics::names::KNOWN;
use crate::semantics::types::{ClassType, Type};

impl Eval<'_> {
    /// Returns the values that an annotation allows. `Final` and `ClassVar` alone are returned
    /// unchanged.
    pub(crate) fn annotation(&self, file: FileId, id: ExprId) -> Type {
        self.ask(Question::Annotation(file, id), || {
            let written = self.expr(file, id);
            self.values_of(&written)
        })
    }

    fn values_of(&self, written: &Type) -> Type {
        written.map(|it| match it {
            Type::Class(class) => Type::Instance(class.clone()),
            Type::Form(inner) => (**inner).clone(),
            Type::None | Type::Variable(..) | Type::Receiver => it.clone(),
            Type::Special(name) => match name.text() {
                "Final" | "ClassVar" | "InitVar" => it.clone(),
                "Self" => Type::Receiver,
                "Callable" => Type::Callable(Arc::new((None, Type::Unknown))),
                "Tuple" => self.builtin(KNOWN.tuple),
                "LiteralString" => self.builtin(KNOWN.str),
                "Never" | "NoReturn" => Type::Unknown,
                _ => Type::Unknown,
            },
            _ => Type::Unknown,
        })
    }

    /// Evaluates `value[index]`.
    pub(super) fn subscript(&self, file: FileId, value: ExprId, index: ExprId) -> Type {
        let of = self.expr(file, value);
        of.map(|it| match it {
            Type::Special(name) => self.special(file, name.text(), index),
            Type::Class(class) => self.subscripted_class(file, class, index),
            // A generic alias with its variables filled in.
            Type::Form(inner) => self.filled(inner, &self.type_arguments(file, index)),
            Type::Tuple(members) => match self.module(file).number(index) {
                Some(number) => self.part_of(members, number),
                None if matches!(self.module(file).expr(index), Expr::Slice) => it.clone(),
                None => Type::union(members.iter().cloned()),
            },
            Type::Instance(class) => self.item(file, class, index),
            _ => Type::Unknown,
        })
    }

    fn subscripted_class(&self, file: FileId, class: &ClassType, index: ExprId) -> Type {
        let info = self.class(class.file, class.class);
        if info.is_enum {
            return Type::Instance(class.clone());
        }
        if self.is_bundled(class, KNOWN.tuple) {
            return Type::Form(self.tuple_of(file, index).into());
        }
        let arguments = self.type_arguments(file, index);
        if self.is_bundled(class, KNOWN.type_) {
            return class_object(arguments.first().unwrap_or(&Type::Unknown));
        }
        if self.member(class, KNOWN.class_getitem, 0).is_some() && info.parameters.is_empty() {
            return Type::Class(class.clone());
        }
        Type::Class(ClassType { arguments: arguments.into(), ..class.clone() })
    }

    /// Returns the types between the brackets.
    fn type_arguments(&self, file: FileId, index: ExprId) -> Vec<Type> {
        let module = self.module(file);
        match module.expr(index) {
            Expr::Tuple(list) => {
                module.list(list).iter().map(|it| self.annotation(file, *it)).collect()
            }
            _ => vec![self.annotation(file, index)],
        }
    }

    fn special(&self, file: FileId, name: &str, index: ExprId) -> Type {
        let module = self.module(file);
        let first = || match module.expr(index) {
            Expr::Tuple(list) => {
                module.list(list).first().map_or(Type::Unknown, |it| self.annotation(file, *it))
            }
            _ => self.annotation(file, index),
        };
        let form = |it: Type| Type::Form(it.into());
        match name {
            "Optional" => form(Type::union([first(), Type::None])),
            "Union" => form(Type::union(self.type_arguments(file, index))),
            "Annotated" | "ClassVar" | "Final" | "Required" | "NotRequired" | "ReadOnly"
            | "InitVar" | "Unpack" => form(first()),
            "Type" => class_object(&first()),
            "Tuple" => form(self.tuple_of(file, index)),
            "Callable" => form(self.callable(file, index)),
            "Literal" => form(self.literal(file, index)),
            "TypeGuard" | "TypeIs" => form(self.builtin(KNOWN.bool)),
            "Generic" | "Protocol" => {
                Type::Special(if name == "Protocol" { KNOWN.protocol } else { KNOWN.generic })
            }
            _ => Type::Unknown,
        }
    }

    /// Evaluates `tuple[A, B]` and `tuple[A, ...]`.
    fn tuple_of(&self, file: FileId, index: ExprId) -> Type {
        let module = self.module(file);
        let Expr::Tuple(list) = module.expr(index) else {
            return Type::Tuple([self.annotation(file, index)].into());
        };
        match module.list(list) {
            [each, dots] if module.expr(*dots) == Expr::Ellipsis => {
                self.builtin_of(KNOWN.tuple, [self.annotation(file, *each)])
            }
            all => Type::Tuple(all.iter().map(|it| self.annotation(file, *it)).collect()),
        }
    }

    /// Evaluates `Callable[[A, B], R]`.
    fn callable(&self, file: FileId, index: ExprId) -> Type {
        let module = self.module(file);
        let Expr::Tuple(list) = module.expr(index) else { return Type::Unknown };
        let [parameters, returns] = module.list(list) else { return Type::Unknown };
        let parameters = match module.expr(*parameters) {
            Expr::List(list) => {
                Some(module.list(list).iter().map(|it| self.annotation(file, *it)).collect())
            }
            _ => None,
        };
        Type::Callable(Arc::new((parameters, self.annotation(file, *returns))))
    }

    /// Evaluates `Literal["a", Color.RED]`: instances of the classes of the listed values.
    fn literal(&self, file: FileId, index: ExprId) -> Type {
        let module = self.module(file);
        match module.expr(index) {
            Expr::Tuple(list) => {
                Type::union(module.list(list).iter().map(|it| self.expr(file, *it)))
            }
            _ => self.expr(file, index),
        }
    }

    /// Evaluates `A | B` as a type; `None` unless both sides are types.
    pub(super) fn alternative(&self, left: &Type, right: &Type) -> Option<Type> {
        let is_type = |it: &Type| {
            matches!(
                it,
                Type::Class(_) | Type::Form(_) | Type::None | Type::Variable(..) | Type::Special(_)
            )
        };
        let either =
            matches!(left, Type::Class(_) | Type::Form(_) | Type::Variable(..) | Type::Special(_))
                || matches!(
                    right,
                    Type::Class(_) | Type::Form(_) | Type::Variable(..) | Type::Special(_)
                );
        // An unknown name beside a type counts as an unknown type.
        let fine = |it: &Type| is_type(it) || *it == Type::Unknown;
        (either && fine(left) && fine(right))
            .then(|| Type::Form(Type::union([self.values_of(left), self.values_of(right)]).into()))
    }

    /// Replaces an alias's variables, in order of first occurrence.
    fn filled(&self, inner: &Type, arguments: &[Type]) -> Type {
        let mut variables = Vec::new();
        collect_variables(inner, &mut variables);
        let mut solution = super::solve::Solution::default();
        for (variable, argument) in variables.iter().zip(arguments) {
            self.solve(variable, argument, &mut solution);
        }
        Type::Form(solution.apply(inner).into())
    }
}

/// Returns the type of `type[C]`.
fn class_object(of: &Type) -> Type {
    Type::Form(
        of.map(|it| match it {
            Type::Instance(class) => Type::Class(class.clone()),
            Type::Variable(..) | Type::Receiver => Type::Form(it.clone().into()),
            _ => Type::Unknown,
        })
        .into(),
    )
}

fn collect_variables(it: &Type, found: &mut Vec<Type>) {
    match it {
        Type::Variable(..) if !found.contains(it) => found.push(it.clone()),
        Type::Instance(class) | Type::Class(class) => {
            class.arguments.iter().for_each(|it| collect_variables(it, found));
        }
        Type::Tuple(inner) | Type::Union(inner) => {
            inner.iter().for_each(|it| collect_variables(it, found))
        }
        Type::Form(inner) => collect_variables(inner, found),
        Type::Callable(inner) => {
            inner.0.iter().flatten().for_each(|it| collect_variables(it, found));
            collect_variables(&inner.1, found);
        }
        _ => {}
    }
}
