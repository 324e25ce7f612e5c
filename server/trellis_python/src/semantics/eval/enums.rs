//! Evaluates the members of enums and their values.

use super::Eval;
use super::attributes::Member;
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{ClassType, Type};

impl Eval<'_> {
    pub(super) fn is_enum_member(&self, member: &Member) -> bool {
        self.is_member_symbol(member.file, member.symbol)
    }

    fn is_member_symbol(&self, file: FileId, symbol: SymbolId) -> bool {
        let module = self.module(file);
        let symbol = module.symbol(symbol);
        let is_value = |it: &BindingId| matches!(module.binding(*it).kind, BindingKind::Value(_));
        !symbol.on_instance
            && symbol.bindings.iter().all(is_value)
            && !symbol.name.text().starts_with('_')
    }

    /// Returns the type of `Color.RED.value` and `Color["RED"].value`: that of the one member.
    pub(super) fn value_of_member(&self, file: FileId, object: ExprId, name: Name) -> Option<Type> {
        if name != KNOWN.value && name != KNOWN.own_value {
            return None;
        }
        let module = self.module(file);
        let (class, key) = match module.expr(object) {
            Expr::Attribute(class, key, _) => (class, key),
            Expr::Subscript(class, key, _) => (class, *module.texts.get(&key)?),
            _ => return None,
        };
        let Type::Class(class) = self.expr(file, class) else { return None };
        let member = self.member(&class, name, 0)?;
        self.values_are_assigned(&class, &member).then_some(())?;
        let symbol =
            self.module(class.file).bound(self.module(class.file).class(class.class).scope, key)?;
        self.member_value(&class, symbol)
    }

    /// Returns the type of `color.value` of an unknown member: that of all members.
    pub(super) fn any_value(&self, class: &ClassType, member: &Member, name: Name) -> Option<Type> {
        if name != KNOWN.value && name != KNOWN.own_value {
            return None;
        }
        if name == KNOWN.value
            && let Some(own) = self.member(class, KNOWN.own_value, 0)
            && bundle::number(own.file).is_none()
        {
            return Some(self.symbol(own.file, own.symbol));
        }
        self.values_are_assigned(class, member).then_some(())?;
        let values =
            self.members_of(class).into_iter().filter_map(|it| self.member_value(class, it));
        Some(Type::union(values)).filter(|it| *it != Type::Never)
    }

    /// Returns whether the values of an enum's members are what the class body assigns to them.
    fn values_are_assigned(&self, class: &ClassType, member: &Member) -> bool {
        let is_bundled = |name: Name| {
            self.member(class, name, 0).is_none_or(|it| bundle::number(it.file).is_some())
        };
        let is_enum = self.class(class.file, class.class).is_enum;
        is_enum && bundle::number(member.file).is_some() && is_bundled(KNOWN.new)
    }

    /// Returns the symbols of the members of an enum.
    fn members_of(&self, class: &ClassType) -> Vec<SymbolId> {
        let module = self.module(class.file);
        let scope = module.class(class.class).scope;
        let symbols = (0..module.symbols.len() as u32).map(SymbolId);
        symbols
            .filter(|it| {
                module.symbol(*it).scope == scope && !module.symbol(*it).bindings.is_empty()
            })
            .filter(|it| self.is_member_symbol(class.file, *it))
            .collect()
    }

    /// Returns the type of the value that a member is assigned.
    fn member_value(&self, class: &ClassType, symbol: SymbolId) -> Option<Type> {
        let module = self.module(class.file);
        let BindingKind::Value(value) =
            module.binding(*module.symbol(symbol).bindings.first()?).kind
        else {
            return None;
        };
        let value = self.expr(class.file, value);
        match &value {
            Type::Instance(it) if self.is_bundled(it, KNOWN.auto) => {
                let mro = &self.class(class.file, class.class).mro;
                let is_text = mro.iter().any(|it| self.is_bundled(it, KNOWN.str_enum));
                Some(self.builtin(if is_text { KNOWN.str } else { KNOWN.int }))
            }
            _ => Some(value),
        }
    }

    /// Returns the type of a parameter of an enum's `__init__`, which receives the members' values.
    pub(super) fn enum_parameter(
        &self,
        file: FileId,
        function: FunctionId,
        index: usize,
    ) -> Option<Type> {
        let of = self.module(file).function(function);
        let class = ClassType::bare(file, of.class.filter(|_| of.name == Some(KNOWN.init))?);
        let place = index.checked_sub(1)?;
        if !self.class(class.file, class.class).is_enum {
            return None;
        }
        let values =
            self.members_of(&class).into_iter().filter_map(|it| self.member_value(&class, it));
        Some(Type::union(values.map(|it| match it {
            Type::Tuple(parts) => self.part_of(&parts, place as i32),
            one if place == 0 => one,
            _ => Type::Unknown,
        })))
    }
}
