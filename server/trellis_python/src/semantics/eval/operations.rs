//! Evaluates operators, loops, unpacking, `with` and `await` through the methods that they call.

use std::sync::Arc;

use super::Eval;
use super::narrowing::without_none;
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{ClassType, FunctionType, Type};

/// Largest number of elements of a display that are evaluated.
const MOST_ELEMENTS: usize = 32;

impl Eval<'_> {
    /// Returns the result type of a method without arguments.
    fn method(&self, object: &Type, name: Name) -> Option<Type> {
        let class = self.class_of(object)?;
        match self.bound_member(&class, name)? {
            Type::Function(function) => Some(self.returns(&function, None)),
            _ => None,
        }
    }

    pub(super) fn elements(&self, file: FileId, items: &[ExprId]) -> Type {
        let module = self.module(file);
        let of = |it: &ExprId| match module.expr(*it) {
            Expr::Starred(inner) => self.element(&self.expr(file, inner), false),
            _ => self.expr(file, *it),
        };
        let all = Type::union(items.iter().take(MOST_ELEMENTS).map(of));
        if all == Type::Never { Type::Unknown } else { all }
    }

    pub(super) fn tuple(&self, file: FileId, items: &[ExprId]) -> Type {
        let module = self.module(file);
        let mut parts = Vec::new();
        for it in items.iter().take(MOST_ELEMENTS + 1) {
            match module.expr(*it) {
                Expr::Starred(inner) => match self.expr(file, inner) {
                    Type::Tuple(inner) => parts.extend(inner.iter().cloned()),
                    _ => return self.builtin_of(KNOWN.tuple, [self.elements(file, items)]),
                },
                _ => parts.push(self.expr(file, *it)),
            }
        }
        if parts.len() > MOST_ELEMENTS {
            return self.builtin_of(KNOWN.tuple, [self.elements(file, items)]);
        }
        Type::Tuple(parts.into())
    }

    pub(super) fn dict(&self, file: FileId, items: &[ExprId]) -> Type {
        let every_second =
            |from: usize| -> Vec<ExprId> { items.iter().skip(from).step_by(2).copied().collect() };
        let (keys, values) =
            (self.elements(file, &every_second(0)), self.elements(file, &every_second(1)));
        self.builtin_of(KNOWN.dict, [keys, values])
    }

    /// Evaluates `a or b` and `a and b`. In `a or b`, `a` contributes no `None`; in `a and b`, `a`
    /// contributes only its false values.
    pub(super) fn shortcut(&self, file: FileId, items: &[ExprId], is_or: bool) -> Type {
        let Some((last, before)) = items.split_last() else { return Type::Unknown };
        let before = before.iter().map(|it| {
            let of = self.expr(file, *it);
            if is_or {
                without_none(&of)
            } else {
                of.map(|it| if *it == Type::None { Type::None } else { Type::Never })
            }
        });
        Type::union(before.chain([self.expr(file, *last)]))
    }

    pub(super) fn binary(&self, file: FileId, left: ExprId, right: ExprId, method: Name) -> Type {
        let (of_left, of_right) = (self.expr(file, left), self.expr(file, right));
        if method.text() == "__or__"
            && let Some(form) = self.alternative(&of_left, &of_right)
        {
            return form;
        }
        of_left.map(|it| {
            let own = self.class_of(it).and_then(|class| self.operated(&class, method, &of_right));
            own.unwrap_or_else(|| self.reflected(it, &of_right, method))
        })
    }

    fn operated(&self, class: &ClassType, method: Name, right: &Type) -> Option<Type> {
        let Type::Function(function) = self.bound_member(class, method)? else { return None };
        // The right operand selects the overload.
        let function = self.overload_for(&function, right);
        Some(self.returned(&function, None))
    }

    /// Returns the type of a comparison: `bool`, unless a class of the workspace defines another.
    pub(super) fn comparison(
        &self,
        file: FileId,
        op: Comparison,
        left: ExprId,
        right: ExprId,
    ) -> Type {
        let method = match op {
            Comparison::Equal => "__eq__",
            Comparison::NotEqual => "__ne__",
            Comparison::Less => "__lt__",
            Comparison::LessEqual => "__le__",
            Comparison::Greater => "__gt__",
            Comparison::GreaterEqual => "__ge__",
            _ => return self.builtin(KNOWN.bool),
        };
        let own = |it: &Type| {
            let class = self.class_of(it).filter(|it| bundle::number(it.file).is_none())?;
            let reported = self.operated(&class, Name::of(method), &self.expr(file, right))?;
            Some(reported).filter(|it| *it != Type::Unknown)
        };
        self.expr(file, left).map(|it| own(it).unwrap_or_else(|| self.builtin(KNOWN.bool)))
    }

    /// Returns the type of values sent into a generator, by its annotation.
    pub(super) fn sent(&self, file: FileId, function: FunctionId) -> Type {
        let Some(returns) = self.module(file).function(function).returns else {
            return Type::Unknown;
        };
        match self.annotation(file, returns) {
            Type::Instance(class)
                if [KNOWN.generator, KNOWN.async_generator]
                    .iter()
                    .any(|it| self.is_bundled(&class, *it)) =>
            {
                class.arguments.get(1).cloned().unwrap_or(Type::Unknown)
            }
            _ => Type::Unknown,
        }
    }

    /// Returns the type of `yield from`: what a generator returns.
    pub(super) fn delegated(&self, generator: &Type) -> Type {
        generator.map(|it| match it {
            Type::Instance(class) if self.is_bundled(class, KNOWN.generator) => {
                class.arguments.get(2).cloned().unwrap_or(Type::Unknown)
            }
            Type::Instance(class) if bundle::number(class.file).is_some() => Type::None,
            Type::Tuple(_) => Type::None,
            _ => Type::Unknown,
        })
    }

    /// Returns the overload whose one argument accepts a value.
    pub(super) fn overload_for(&self, function: &FunctionType, given: &Type) -> FunctionType {
        let overloads = self.overloads(function);
        let takes = |it: &&FunctionId| self.fits(given, &self.parameter(function.file, **it, 1));
        let chosen = overloads.iter().find(takes).or(overloads.first());
        FunctionType { function: chosen.copied().unwrap_or(function.function), ..function.clone() }
    }

    /// Evaluates the reflected method of the right operand, such as `__radd__`.
    fn reflected(&self, left: &Type, right: &Type, method: Name) -> Type {
        let reflected = Name::of(&format!("__r{}", &method.text()[2..]));
        match self.class_of(right).and_then(|class| self.operated(&class, reflected, left)) {
            Some(known) => known,
            None => Type::Unknown,
        }
    }

    /// Returns the element type of an iterable.
    pub(crate) fn element(&self, iterable: &Type, is_async: bool) -> Type {
        iterable.map(|it| match it {
            Type::Tuple(members) => Type::union(members.iter().cloned()),
            Type::Class(class) if self.class(class.file, class.class).is_enum => {
                Type::Instance(class.clone())
            }
            Type::Instance(_) => self.iterated(it, is_async),
            Type::Variable(file, symbol) => match self.bound_of(*file, *symbol) {
                Some(bound) => self.element(&bound, is_async),
                None => Type::Unknown,
            },
            _ => Type::Unknown,
        })
    }

    fn iterated(&self, it: &Type, is_async: bool) -> Type {
        let (iter, next) =
            if is_async { (KNOWN.aiter, KNOWN.anext) } else { (KNOWN.iter, KNOWN.next) };
        let Some(iterator) = self.method(it, iter) else {
            return self.method(it, KNOWN.getitem).unwrap_or(Type::Unknown);
        };
        iterator.map(|it| {
            let element = self.method(it, next).unwrap_or(Type::Unknown);
            if is_async { self.awaited(&element) } else { element }
        })
    }

    /// Returns the n-th part of an unpacked value; a negative index counts from the end.
    pub(super) fn part(&self, whole: &Type, index: i32) -> Type {
        whole.map(|it| match it {
            Type::Tuple(members) => self.part_of(members, index),
            Type::Instance(class) if self.class(class.file, class.class).has_fields => {
                let fields = self.fields(class);
                let place = usize::try_from(index).ok().and_then(|index| fields.get(index));
                place.map_or(Type::Unknown, |(file, symbol)| self.symbol(*file, *symbol))
            }
            other => self.element(other, false),
        })
    }

    pub(super) fn part_of(&self, members: &Arc<[Type]>, index: i32) -> Type {
        let place = if index < 0 { members.len() as i32 + index } else { index };
        usize::try_from(place).ok().and_then(|it| members.get(it)).cloned().unwrap_or(Type::Unknown)
    }

    /// Returns the type that the n-th pattern of `case C(a, b)` matches: by `__match_args__`, or
    /// the n-th field.
    pub(super) fn positional(&self, whole: &Type, index: u32) -> Type {
        whole.map(|it| match it {
            Type::Instance(class) => {
                let fields = self.fields(class);
                match fields.get(index as usize) {
                    Some((file, symbol)) if self.class(class.file, class.class).has_fields => {
                        self.symbol(*file, *symbol)
                    }
                    // `case str(text)`
                    _ if index == 0 && bundle::number(class.file).is_some() => it.clone(),
                    _ => Type::Unknown,
                }
            }
            _ => Type::Unknown,
        })
    }

    pub(super) fn entered(&self, manager: &Type, is_async: bool) -> Type {
        let name = if is_async { KNOWN.aenter } else { KNOWN.enter };
        manager.map(|it| {
            let entered = self.method(it, name).unwrap_or(Type::Unknown);
            if is_async { self.awaited(&entered) } else { entered }
        })
    }

    pub(super) fn awaited(&self, value: &Type) -> Type {
        value.map(|it| {
            let waiting = self.method(it, KNOWN.await_).unwrap_or(Type::Unknown);
            match &waiting {
                // The generator's third argument is its return type.
                Type::Instance(class) => class.arguments.get(2).cloned().unwrap_or(Type::Unknown),
                _ => Type::Unknown,
            }
        })
    }

    /// Returns instances of the classes in `except (A, B) as e` or `case C()`.
    pub(super) fn instance_of(&self, class: &Type) -> Type {
        class.map(|it| match it {
            Type::Class(class) => Type::Instance(class.clone()),
            Type::Tuple(all) => Type::union(all.iter().map(|it| self.instance_of(it))),
            Type::Form(inner) => (**inner).clone(),
            _ => Type::Unknown,
        })
    }

    /// Evaluates `value[index]` for an instance.
    pub(super) fn item(&self, file: FileId, class: &ClassType, index: ExprId) -> Type {
        if let Some(declared) = self.field_at(file, class, index) {
            return declared;
        }
        let is_tuple = || {
            let mro = &self.class(class.file, class.class).mro;
            mro.iter().any(|it| self.is_bundled(it, KNOWN.named_tuple))
        };
        if let Some(number) = self.module(file).number(index).filter(|_| is_tuple()) {
            return self.part(&Type::Instance(class.clone()), number);
        }
        let Some(Type::Function(function)) = self.bound_member(class, KNOWN.getitem) else {
            return Type::Unknown;
        };
        let function = self.overload_for(&function, &self.expr(file, index));
        self.returned(&function, None)
    }
}
