//! Looks up attributes: the class or module that has them, and their types.

use super::Eval;
use super::solve::Solution;
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{ClassType, FunctionType, Type};

/// A symbol that an attribute refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hit {
    Symbol(FileId, SymbolId),
    Module(Name),
}

/// Result of an attribute lookup.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) hits: Vec<Hit>,
    pub(crate) types: Vec<Type>,
    /// True if the object may be of an unknown type.
    pub(crate) unknown: bool,
}

/// A member of a class, with the class that has it.
pub(crate) struct Member {
    pub(crate) owner: ClassType,
    pub(crate) file: FileId,
    pub(crate) symbol: SymbolId,
    /// Symbols of classes earlier in the lookup order that only assign the same attribute through
    /// `self`.
    pub(crate) assigned: Vec<(FileId, SymbolId)>,
}

impl Eval<'_> {
    /// Returns the type of an attribute where it is read: by its last assignment, or by its object.
    pub(super) fn attribute_at(
        &self,
        file: FileId,
        id: ExprId,
        object: ExprId,
        name: Name,
        flow: FlowId,
    ) -> Type {
        let whole = || {
            if let Some(value) = self.value_of_member(file, object, name) {
                return value;
            }
            if let Some(value) = self.fixture_param(file, object, name) {
                return value;
            }
            let found = self.attribute(&self.expr(file, object), name);
            let types = Type::union(found.types);
            if types == Type::Never { Type::Unknown } else { types }
        };
        let module = self.module(file);
        let Some(key) = module.key(id) else { return whole() };
        match self.flow(file, key, flow, &|_| whole()) {
            Type::Never => whole(),
            Type::Unknown => whole(),
            known => known,
        }
    }

    /// Looks up an attribute of a value.
    pub(crate) fn attribute(&self, object: &Type, name: Name) -> Found {
        let mut found = Found { unknown: *object == Type::Never, ..Found::default() };
        for member in object.members() {
            self.attribute_of(member, name, &mut found);
        }
        found
    }

    fn attribute_of(&self, object: &Type, name: Name, found: &mut Found) {
        match object {
            Type::Unknown | Type::Receiver => {
                found.unknown = true;
                found.types.push(Type::Unknown);
            }
            Type::Never | Type::Special(_) => {}
            Type::None => {
                let unknown = found.unknown;
                self.instance_attribute(&self.builtin(KNOWN.object), name, found);
                found.unknown = unknown;
            }
            Type::Module(module) => self.module_attribute(*module, name, found),
            Type::Class(class) => self.class_attribute(class, name, found),
            Type::Instance(_) | Type::Tuple(_) => self.instance_attribute(object, name, found),
            Type::Form(inner) => match &**inner {
                Type::Instance(class) => self.class_attribute(class, name, found),
                Type::Variable(file, symbol) => match self.bound_of(*file, *symbol) {
                    Some(Type::Instance(class)) => self.class_attribute(&class, name, found),
                    _ => found.unknown = true,
                },
                _ => found.unknown = true,
            },
            Type::Variable(file, symbol) => match self.bound_of(*file, *symbol) {
                Some(bound) => {
                    bound.members().iter().for_each(|it| self.attribute_of(it, name, found))
                }
                None => found.unknown = true,
            },
            Type::Super(it) => self.super_attribute(&it.0, &it.1, name, found),
            Type::Partial(partial) => self.partial_attribute(partial, name, found),
            Type::Callable(_) | Type::Wrapped(..) => found.unknown = true,
            Type::Function(function) => {
                let before = found.hits.len();
                let of = if self.dispatches(function) {
                    self.bundled("functools", Name::of("_SingleDispatchCallable"), &[])
                } else {
                    self.bundled("types", Name::of("FunctionType"), &[])
                };
                self.instance_attribute(&of, name, found);
                // Functions may have attributes that no code declares.
                found.unknown |= found.hits.len() == before;
            }
            Type::Union(members) => {
                members.iter().for_each(|it| self.attribute_of(it, name, found))
            }
        }
    }

    fn module_attribute(&self, module: Name, name: Name, found: &mut Found) {
        let members = self.members(module, name);
        found.types.extend(members.first().map(|(file, symbol)| self.symbol(*file, *symbol)));
        if members.is_empty() {
            if let Some(submodule) = self.index.submodule(module, name) {
                found.types.push(Type::Module(submodule));
                found.hits.push(Hit::Module(submodule));
                return;
            }
            // A module of the workspace may set names that no statement binds.
            let files = self.index.module_files(module);
            let dynamic = |file: FileId| {
                bundle::number(file).is_none() || self.module(file).global(KNOWN.getattr).is_some()
            };
            found.unknown |= files.iter().any(dynamic);
        }
        found.hits.extend(members.into_iter().map(|(file, symbol)| Hit::Symbol(file, symbol)));
    }

    pub(super) fn instance_attribute(&self, object: &Type, name: Name, found: &mut Found) {
        let Some(class) = self.class_of(object) else { return };
        let info = self.class(class.file, class.class);
        let Some(member) = self.member(&class, name, 0) else {
            // A subclass may have the attribute, for example a class that uses this mixin.
            let may_be_subclass = bundle::number(class.file).is_none() || !self.is_plain(&class);
            match self.bound_member(&class, KNOWN.getattr) {
                Some(Type::Function(dynamic)) => {
                    found.types.push(self.returns(&dynamic, None));
                    found.unknown = true;
                }
                Some(_) => found.unknown = true,
                None => found.unknown |= may_be_subclass || !info.complete,
            }
            return;
        };
        // `object` has few members, and an unknown base may have others of the same name.
        let values = info.is_enum.then(|| self.any_value(&class, &member, name)).flatten();
        let types = values.unwrap_or_else(|| self.member_type_of(&member, object, Some(&class)));
        found.types.push(types);
        self.hit(&member, found);
    }

    /// Returns whether a class of the bundle is that of plain values, whose subclasses are rare.
    fn is_plain(&self, class: &ClassType) -> bool {
        const PLAIN: [&str; 12] = [
            "str",
            "bytes",
            "int",
            "float",
            "bool",
            "list",
            "dict",
            "set",
            "tuple",
            "frozenset",
            "complex",
            "slice",
        ];
        PLAIN.contains(&self.module(class.file).class(class.class).name.text())
    }

    fn hit(&self, member: &Member, found: &mut Found) {
        found.hits.push(Hit::Symbol(member.file, member.symbol));
    }

    fn class_attribute(&self, class: &ClassType, name: Name, found: &mut Found) {
        if let Some(member) = self.member(class, name, 0) {
            found.types.push(self.member_type_of(&member, &Type::Class(class.clone()), None));
            self.hit(&member, found);
            return;
        }
        let info = self.class(class.file, class.class);
        let metaclass =
            info.metaclass.clone().or_else(|| self.bundled_class("builtins", KNOWN.type_));
        if let Some(metaclass) = metaclass {
            self.metaclass_attribute(class, metaclass, name, found);
        }
        found.unknown |= !info.complete;
    }

    fn metaclass_attribute(
        &self,
        class: &ClassType,
        metaclass: ClassType,
        name: Name,
        found: &mut Found,
    ) {
        match self.member(&metaclass, name, 0) {
            Some(member) => {
                let receiver = Type::Class(class.clone());
                found.types.push(self.member_type_of(&member, &receiver, Some(&metaclass)));
                self.hit(&member, found);
            }
            None => self.instance_attribute(&Type::Instance(metaclass), name, found),
        }
    }

    fn super_attribute(&self, class: &ClassType, receiver: &Type, name: Name, found: &mut Found) {
        let of = match receiver {
            Type::Class(it) => it.clone(),
            other => self.class_of(other).unwrap_or_else(|| class.clone()),
        };
        let info = self.class(of.file, of.class);
        let behind = info.mro.iter().position(|it| it.is_same(class)).map_or(1, |it| it + 1);
        match self.member(&of, name, behind) {
            Some(member) => {
                found.types.push(self.member_type_of(
                    &member,
                    receiver,
                    self.class_of(receiver).as_ref(),
                ));
                self.hit(&member, found);
                // A subclass may insert another class into the lookup order, but the written code
                // does not name it.
            }
            None => found.unknown = true,
        }
    }

    /// Returns the member that lookup finds, starting at index `from` of the lookup order.
    pub(crate) fn member(&self, class: &ClassType, name: Name, from: usize) -> Option<Member> {
        let info = self.class(class.file, class.class);
        let solution = Solution::of_class(class, &info);
        let mut found: Option<Member> = None;
        for base in info.mro.iter().skip(from) {
            let Some((file, symbol)) = self.own_member(base, name) else { continue };
            // For a search, a builtin class's member of the same name is a different attribute.
            if found.is_some() && bundle::number(base.file).is_some() {
                break;
            }
            let mut assigned = found.take().map_or_else(Vec::new, |it| {
                let mut all = it.assigned;
                all.push((it.file, it.symbol));
                all
            });
            let on_instance = self.module(file).symbol(symbol).on_instance;
            assigned.dedup();
            found = Some(Member { owner: solution.in_class(base), file, symbol, assigned });
            // A member that is only assigned through `self` also belongs to the base that has it.
            if !on_instance {
                break;
            }
        }
        found
    }

    /// Returns a member in the body of a class, or in the body of its counterpart.
    fn own_member(&self, class: &ClassType, name: Name) -> Option<(FileId, SymbolId)> {
        let of = |class: &ClassType| {
            let module = self.module(class.file);
            let symbol = module.bound(module.class(class.class).scope, name)?;
            let is_bound = !module.symbol(symbol).bindings.is_empty();
            is_bound.then_some((class.file, symbol))
        };
        of(class).or_else(|| of(&self.counterpart_class(class)?))
    }

    /// Returns the type of a member accessed on a receiver. `instance` is the receiver's class if
    /// the receiver is an instance.
    pub(super) fn member_type_of(
        &self,
        member: &Member,
        receiver: &Type,
        instance: Option<&ClassType>,
    ) -> Type {
        let info = self.class(member.owner.file, member.owner.class);
        if info.is_enum && self.is_enum_member(member) {
            let class = instance.cloned().or_else(|| match receiver {
                Type::Class(class) => Some(class.clone()),
                _ => None,
            });
            return Type::Instance(class.unwrap_or_else(|| member.owner.clone()));
        }
        let own = self.symbol(member.file, member.symbol);
        let others = member.assigned.iter().map(|(file, symbol)| self.symbol(*file, *symbol));
        let mut solution = Solution::of_class(&member.owner, &info);
        solution.receiver = Some(match receiver {
            Type::Class(class) => Type::Instance(class.clone()),
            other => other.clone(),
        });
        let bind = |it: &Type| self.bound_to(it, member, receiver, instance.is_some(), &solution);
        Type::union([own].into_iter().chain(others)).map(bind)
    }

    fn bound_to(
        &self,
        it: &Type,
        member: &Member,
        receiver: &Type,
        is_instance: bool,
        solution: &Solution,
    ) -> Type {
        match it {
            Type::Function(function) if function.bound.is_none() => {
                self.bound_function(function, member, receiver, is_instance)
            }
            Type::Wrapped(wrapper, inner) => {
                self.unwrapped((*wrapper, inner), member, receiver, is_instance)
            }
            Type::Instance(class) if is_instance || self.is_descriptor(class) => {
                let instance = if is_instance { receiver } else { &Type::None };
                self.described(class, instance).unwrap_or_else(|| solution.apply(it))
            }
            other => solution.apply(other),
        }
    }

    fn bound_function(
        &self,
        it: &FunctionType,
        member: &Member,
        receiver: &Type,
        is_instance: bool,
    ) -> Type {
        let bind = |object: Type| FunctionType {
            bound: Some((member.owner.clone(), object)),
            ..it.clone()
        };
        if self.is_property(it.file, it.function) {
            if !is_instance {
                return Type::Unknown;
            }
            return self.returns(&bind(receiver.clone()), None);
        }
        let class = match receiver {
            Type::Class(_) => receiver.clone(),
            other => self.class_of(other).map_or(Type::Unknown, Type::Class),
        };
        if self.has_decorator(it.file, it.function, KNOWN.staticmethod) {
            return Type::Function(it.clone().into());
        }
        if self.is_class_method(it.file, it.function) {
            return Type::Function(bind(class).into());
        }
        // A function stored in an attribute of the object is not bound to the object.
        let in_body = self.module(it.file).function(it.function).class.is_some();
        if is_instance && in_body {
            Type::Function(bind(receiver.clone()).into())
        } else {
            Type::Function(it.clone().into())
        }
    }

    pub(super) fn is_descriptor(&self, class: &ClassType) -> bool {
        self.class(class.file, class.class).mro.len() > 1
            && self.member(class, KNOWN.get, 0).is_some()
    }

    /// Returns the result of a descriptor's `__get__` for an instance, or for `None`.
    fn described(&self, class: &ClassType, instance: &Type) -> Option<Type> {
        let member = self.member(class, KNOWN.get, 0)?;
        let object = Type::Instance(class.clone());
        match self.member_type_of(&member, &object, Some(class)) {
            Type::Function(function) => {
                let function = self.overload_for(&function, instance);
                Some(self.returned(&function, None))
            }
            _ => None,
        }
    }
}
