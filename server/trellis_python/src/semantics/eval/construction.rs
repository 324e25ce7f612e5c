//! Evaluates the construction of objects: the constructor that runs, and the class's type arguments.

use std::sync::Arc;

use super::Eval;
use super::calls::function_of;
use super::functions::CallSite;
use super::solve::Solution;
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::KNOWN;
use crate::semantics::types::{ClassType, FunctionType, Type};

impl Eval<'_> {
    pub(super) fn constructed(&self, class: &ClassType, site: CallSite<'_>) -> Type {
        if bundle::number(class.file).is_some()
            && let Some(special) = self.constructed_specially(class, site)
        {
            return special;
        }
        if let Some(reported) = self.decided_by_new(class, site) {
            return reported;
        }
        let info = self.class(class.file, class.class);
        if info.parameters.is_empty() || !class.arguments.is_empty() {
            return Type::Instance(class.clone());
        }
        let own = self.own_class_type(class.file, class.class);
        let mut solution = Solution::default();
        for constructor in self.candidates(&Type::Class(class.clone())).into_iter().take(1) {
            let constructor = self.chosen(&constructor, Some(site));
            self.learn(&constructor, site, true, &mut solution);
            // Expressed in terms of the called class, not of the class that has the constructor.
            let owner = constructor.bound.as_ref().map(|(owner, _)| owner.clone());
            if let Some(owner) = owner.filter(|it| !it.is_same(class)) {
                let base = self.as_base(&own, &owner);
                let mut through = Solution::default();
                let info = self.class(owner.file, owner.class);
                for (wanted, (file, symbol)) in
                    base.iter().flat_map(|it| it.arguments.iter()).zip(&info.parameters)
                {
                    self.solve(
                        wanted,
                        &solution.finish(&Type::Variable(*file, *symbol), self),
                        &mut through,
                    );
                }
                solution = through;
            }
        }
        if info.has_fields {
            self.learn_fields(class, site, &mut solution);
        }
        let unknown = |it: &Type| match solution.apply(it) {
            Type::Variable(..) => Type::Unknown,
            known => known,
        };
        let arguments = own.arguments.iter().map(unknown).collect();
        Type::Instance(ClassType { arguments, ..own })
    }

    /// Returns the return type of an annotated `__new__`.
    fn decided_by_new(&self, class: &ClassType, site: CallSite<'_>) -> Option<Type> {
        let constructor = self.candidates(&Type::Class(class.clone())).pop()?;
        let of = self.module(constructor.file).function(constructor.function);
        let is_own = |it: ExprId| self.annotation(constructor.file, it) == Type::Receiver;
        if of.name != Some(KNOWN.new) || of.returns.is_none_or(is_own) {
            return None;
        }
        Some(self.returns(&constructor, Some(site))).filter(|it| *it != Type::Unknown)
    }

    /// Returns the type of `Mock(spec=A)`: that of the mock, and an instance of what it stands for.
    fn stand_in(&self, class: &ClassType, site: CallSite<'_>) -> Option<Type> {
        let is_spec = |it: &&Argument| match it.kind {
            ArgumentKind::Keyword(name) => matches!(name.text(), "spec" | "spec_set"),
            _ => false,
        };
        let spec = self.module(site.file).arguments_of(site.call).iter().find(is_spec)?;
        if bundle::file("unittest/mock") != Some(class.file) {
            return None;
        }
        let of = self.expr(site.file, spec.value).map(|it| match it {
            Type::Class(of) => Type::Instance(of.clone()),
            other => other.clone(),
        });
        Some(Type::union([Type::Instance(class.clone()), of]))
    }

    /// Evaluates `super()`, `type(x)`, wrappers of functions, and `NewType("X", Base)`.
    fn constructed_specially(&self, class: &ClassType, site: CallSite<'_>) -> Option<Type> {
        let arguments = self.module(site.file).arguments_of(site.call);
        let first = || arguments.first().map(|it| self.expr(site.file, it.value));
        let name = self.module(class.file).class(class.class).name;
        if name == KNOWN.super_ {
            return Some(self.super_object(site));
        }
        if name == KNOWN.type_ && arguments.len() == 1 {
            return Some(first()?.map(|it| match it {
                Type::Instance(class) => Type::Class(class.clone()),
                Type::Variable(..) => Type::Form(it.clone().into()),
                _ => Type::Unknown,
            }));
        }
        if let Some(stand_in) = self.stand_in(class, site) {
            return Some(stand_in);
        }
        if let Some(wrapped) = self.wrapped(name, site) {
            return Some(wrapped);
        }
        if name == KNOWN.new_type {
            let base = arguments.get(1)?;
            return Some(self.expr(site.file, base.value));
        }
        None
    }

    fn super_object(&self, site: CallSite<'_>) -> Type {
        let module = self.module(site.file);
        let arguments = module.arguments_of(site.call);
        if let [class, object] = arguments {
            return match self.expr(site.file, class.value) {
                Type::Class(class) => {
                    Type::Super(Arc::new((class, self.expr(site.file, object.value))))
                }
                _ => Type::Unknown,
            };
        }
        let around =
            module.outwards(site.call.scope).find_map(|it| match module.scopes[it.index()].kind {
                ScopeKind::Function(function) => {
                    let of = module.function(function);
                    Some((function, of.class?))
                }
                _ => None,
            });
        let Some((function, class)) = around else { return Type::Unknown };
        let own = self.own_class_type(site.file, class);
        let is_class = self.is_class_method(site.file, function);
        let object = if is_class { Type::Class(own.clone()) } else { Type::Instance(own.clone()) };
        Type::Super(Arc::new((own, object)))
    }

    /// Returns `__init__`, or `__new__` if only that is defined outside `object`.
    pub(super) fn constructor(&self, class: &ClassType) -> Option<FunctionType> {
        let own = if class.arguments.is_empty() {
            self.own_class_type(class.file, class.class)
        } else {
            class.clone()
        };
        let object = |it: &super::attributes::Member| self.is_bundled(&it.owner, KNOWN.object);
        let init = self.member(&own, KNOWN.init, 0).filter(|it| !object(it));
        let member = init.or_else(|| self.member(&own, KNOWN.new, 0).filter(|it| !object(it)))?;
        let instance = Type::Instance(own.clone());
        function_of(self.member_type_of(&member, &instance, Some(&own)))
    }

    /// Learns a dataclass's type parameters from the arguments for its fields, as from a
    /// constructor's parameters.
    fn learn_fields(&self, class: &ClassType, site: CallSite<'_>, into: &mut Solution) {
        let arguments = self.module(site.file).arguments_of(site.call);
        let fields = self.fields(class);
        for (index, argument) in arguments.iter().enumerate() {
            let field = match argument.kind {
                ArgumentKind::Positional => fields.get(index),
                ArgumentKind::Keyword(name) => fields
                    .iter()
                    .find(|(file, symbol)| self.module(*file).symbol(*symbol).name == name),
                _ => None,
            };
            if let Some((file, symbol)) = field {
                let given = self.expr(site.file, argument.value);
                self.solve(&self.symbol(*file, *symbol), &given, into);
            }
        }
    }

    /// Returns the annotated names of a class and its bases, bases first: the parameters of a
    /// dataclass's constructor.
    pub(crate) fn fields(&self, class: &ClassType) -> Vec<(FileId, SymbolId)> {
        let mut fields: Vec<(FileId, SymbolId)> = Vec::new();
        for base in self.class(class.file, class.class).mro.iter().rev() {
            if bundle::number(base.file).is_some() {
                continue;
            }
            let module = self.module(base.file);
            let scope = module.class(base.class).scope;
            let own = module.symbols.iter().enumerate().filter(|(_, it)| {
                let annotated =
                    |it: &BindingId| matches!(module.binding(*it).kind, BindingKind::Annotated(..));
                it.scope == scope && !it.on_instance && it.bindings.first().is_some_and(annotated)
            });
            for (number, it) in own {
                let same = |(file, symbol): &(FileId, SymbolId)| {
                    self.module(*file).symbol(*symbol).name == it.name
                };
                let field = (base.file, SymbolId(number as u32));
                match fields.iter().position(same) {
                    Some(place) => fields[place] = field,
                    None => fields.push(field),
                }
            }
        }
        fields
    }
}
