//! Follows what containers hold back to where it is put into them.

use super::super::Eval;
use super::{MOST_FOLLOWED, Visit, Walk, is_open};
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{ClassType, Type};
use crate::semantics::writes::{Content, last_name};

/// The part of a container's contents that is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    /// Results of iteration: elements, or the keys of a mapping.
    Iterated,
    /// Items, or the values of a mapping.
    Values,
}

/// Functions that pass on the elements of their first argument.
const COPIES: [&str; 10] =
    ["list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "deque", "copy", "filter"];

impl Walk<'_, '_> {
    /// Returns the types of what a container holds.
    pub(super) fn contents(&mut self, file: FileId, container: ExprId, side: Side) -> Type {
        let own = self.own_contents(file, container, side);
        if !is_open(&own) {
            return own;
        }
        if !self.keeps(file, container, side) || !self.enter(file, Visit::Contents(container, side))
        {
            return Type::Never;
        }
        let known: Vec<Type> =
            own.members().iter().filter(|it| **it != Type::Unknown).cloned().collect();
        let written = self.written(file, container, side);
        let created = self.created(file, container, side);
        Type::union(known.into_iter().chain([written, created]))
    }

    /// Returns whether a container gives out the objects that are put into it, as those of the
    /// library do. A class of the workspace may give out anything.
    fn keeps(&self, file: FileId, container: ExprId, side: Side) -> bool {
        let own = self.eval.expr(file, container);
        let keeps = |it: &Type| !matches!(it, Type::Instance(_)) || self.is_plain(it, side);
        own.members().iter().all(keeps)
    }

    /// Returns whether a value is a container that gives out what is put into it.
    fn is_plain(&self, it: &Type, side: Side) -> bool {
        let Type::Instance(class) = it else { return false };
        let name = if side == Side::Iterated { KNOWN.iter } else { KNOWN.getitem };
        let member = self.eval.member(class, name, 0);
        bundle::number(class.file).is_some()
            || member.is_some_and(|it| bundle::number(it.file).is_some())
    }

    fn own_contents(&self, file: FileId, container: ExprId, side: Side) -> Type {
        let own = self.eval.expr(file, container);
        match side {
            Side::Iterated => self.eval.element(&own, false),
            Side::Values if self.eval.is_mapping(&own) => own.map(|it| match it {
                Type::Instance(class) => class.arguments.get(1).cloned().unwrap_or(Type::Unknown),
                _ => Type::Unknown,
            }),
            Side::Values => self.eval.element(&own, false),
        }
    }

    /// Returns the types of what the expression that creates a container puts into it.
    fn created(&mut self, file: FileId, container: ExprId, side: Side) -> Type {
        let module = self.module(file);
        match module.expr(container) {
            Expr::Name(_, Some(symbol), _) => self.held_by(file, symbol, side),
            Expr::Attribute(object, name, _) => {
                let objects = self.values(file, object);
                let found = objects.members().iter().map(|it| self.held_by_member(it, name, side));
                Type::union(found.collect::<Vec<_>>())
            }
            Expr::List(all) | Expr::Tuple(all) | Expr::Set(all) => {
                self.all(file, module.list(all), Walk::values)
            }
            Expr::Dict(all) => {
                let place = usize::from(side == Side::Values);
                let wanted = module.list(all).chunks_exact(2).map(|it| it[place]);
                self.all(file, &wanted.collect::<Vec<_>>(), Walk::values)
            }
            Expr::ListComp(of) | Expr::SetComp(of) | Expr::Generator(of) => self.values(file, of),
            Expr::DictComp(key, _) if side == Side::Iterated => self.values(file, key),
            Expr::DictComp(_, value) => self.values(file, value),
            Expr::Either(all) | Expr::And(all) | Expr::Or(all) => {
                self.all(file, module.list(all), |walk, file, it| walk.contents(file, it, side))
            }
            Expr::Call(row) => self.contents_of_call(file, &module.calls[row as usize], side),
            Expr::Subscript(of, index, _) if module.expr(index) == Expr::Slice => {
                self.contents(file, of, side)
            }
            _ => Type::Never,
        }
    }

    fn held_by(&mut self, file: FileId, symbol: SymbolId, side: Side) -> Type {
        let module = self.module(file);
        let bindings = module.symbol(symbol).bindings.iter().take(MOST_FOLLOWED);
        let found = bindings.map(|it| match module.binding(*it).kind {
            BindingKind::Value(value) | BindingKind::Annotated(_, Some(value)) => {
                self.contents(file, value, side)
            }
            BindingKind::Parameter(function, index) => {
                self.parameter(file, function, index, Some(side))
            }
            _ => Type::Never,
        });
        Type::union(found.collect::<Vec<_>>())
    }

    fn held_by_member(&mut self, object: &Type, name: Name, side: Side) -> Type {
        let Some((file, symbol)) = self.eval.owned(object, name) else { return Type::Never };
        self.held_by(file, symbol, side)
    }

    /// Returns the types of what statements put into a container with this name.
    fn written(&mut self, file: FileId, container: ExprId, side: Side) -> Type {
        let Some(name) = last_name(self.module(file), container) else { return Type::Never };
        let own = self.eval.expr(file, container);
        if !own.members().iter().any(|it| self.is_plain(it, side)) {
            return Type::Never;
        }
        let is_mapping = self.eval.is_mapping(&own);
        let owner = self.owner(file, container);
        let mut files = vec![file];
        files.extend(owner.map(|(home, _)| home).filter(|it| *it != file));
        let mut found = Vec::new();
        for file in files {
            let Some(writes) = self.eval.index.writes(file) else { continue };
            for it in writes.contents(name).iter().take(MOST_FOLLOWED) {
                if owner.is_some() && self.owner(file, it.container) == owner {
                    found.push(self.content(file, it, side, is_mapping));
                }
            }
        }
        Type::union(found)
    }

    fn content(&mut self, file: FileId, it: &Content, side: Side, is_mapping: bool) -> Type {
        match it.key {
            _ if it.is_spread => self.contents(file, it.value, side),
            Some(key) if is_mapping && side == Side::Iterated => self.values(file, key),
            _ => self.values(file, it.value),
        }
    }

    /// Returns the symbol that holds a container: that of its variable, or of its attribute.
    fn owner(&mut self, file: FileId, container: ExprId) -> Option<(FileId, SymbolId)> {
        match self.module(file).expr(container) {
            Expr::Name(_, Some(symbol), _) => Some((file, symbol)),
            Expr::Attribute(object, name, _) => {
                let objects = self.eval.expr(file, object);
                objects.members().iter().find_map(|it| self.eval.owned(it, name))
            }
            _ => None,
        }
    }

    /// Returns the types of what the result of a call holds.
    fn contents_of_call(&mut self, file: FileId, call: &Call, side: Side) -> Type {
        let module = self.module(file);
        let first = module.arguments_of(call).first().map(|it| it.value);
        match (module.expr(call.function), first) {
            (Expr::Attribute(object, name, _), None) if name.text() == "values" => {
                self.contents(file, object, Side::Values)
            }
            (Expr::Attribute(object, name, _), None) if name.text() == "keys" => {
                self.contents(file, object, Side::Iterated)
            }
            (Expr::Attribute(object, name, _), None) if name.text() == "copy" => {
                self.contents(file, object, side)
            }
            (Expr::Name(name, ..) | Expr::Attribute(_, name, _), Some(first))
                if COPIES.contains(&name.text()) && !self.runs_own(file, call) =>
            {
                self.contents(file, first, side)
            }
            _ => self.returned(file, call, Some(side)),
        }
    }

    /// Returns the types of the n-th part of an unpacked value.
    pub(super) fn part(&mut self, file: FileId, whole: ExprId, index: i32) -> Type {
        let module = self.module(file);
        let pairs = match module.expr(whole) {
            Expr::Element(pairs, false) => module.call(pairs),
            _ => module.call(whole),
        };
        if let Some(call) = pairs
            && let Some(found) = self.part_of_pair(file, call, index)
        {
            return found;
        }
        self.values(file, whole).map(|it| match it {
            Type::Tuple(members) => self.eval.part_of(members, index),
            _ => Type::Never,
        })
    }

    /// Returns the types of a part of `mapping.items()`, `mapping.popitem()`, `enumerate(items)` or
    /// `zip(a, b)`.
    fn part_of_pair(&mut self, file: FileId, call: &Call, index: i32) -> Option<Type> {
        let module = self.module(file);
        let argument = |index: usize| module.arguments_of(call).get(index).map(|it| it.value);
        match module.expr(call.function) {
            Expr::Attribute(object, name, _) if matches!(name.text(), "items" | "popitem") => {
                let side = if index == 0 { Side::Iterated } else { Side::Values };
                Some(self.contents(file, object, side))
            }
            Expr::Name(name, None, _) if name.text() == "enumerate" && index == 1 => {
                Some(self.contents(file, argument(0)?, Side::Iterated))
            }
            Expr::Name(name, None, _) if name.text() == "zip" => {
                let part = argument(usize::try_from(index).ok()?)?;
                Some(self.contents(file, part, Side::Iterated))
            }
            _ => None,
        }
    }
}

impl Eval<'_> {
    /// Returns the symbol of an attribute in a class of the workspace.
    fn owned(&self, object: &Type, name: Name) -> Option<(FileId, SymbolId)> {
        let (Type::Instance(class) | Type::Class(class)) = object else { return None };
        let member = self.member(class, name, 0)?;
        bundle::number(member.file).is_none().then_some((member.file, member.symbol))
    }

    /// Returns whether iteration over a value gives keys.
    fn is_mapping(&self, it: &Type) -> bool {
        let has_keys = |class: &ClassType| self.member(class, Name::of("keys"), 0).is_some();
        it.members().iter().any(|it| matches!(it, Type::Instance(class) if has_keys(class)))
    }
}
