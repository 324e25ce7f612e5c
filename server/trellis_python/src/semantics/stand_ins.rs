//! Classes and functions that stand in for others without deriving from them: test doubles and
//! callbacks.

use super::bundle;
use super::eval::{CallSite, Eval};
use super::ir::*;
use super::meaning::Target;
use super::names::{KNOWN, Name};
use super::search_target::SearchTarget;
use super::types::{ClassType, Type};
use crate::index::FileId;

/// Functions that exchange an object for another one.
const EXCHANGING: [&str; 3] = ["setattr", "object", "patch"];

impl Eval<'_> {
    /// Returns the members of the targets' names in classes of a file that stand in for the targets'
    /// classes: instances are passed where these are declared, or the classes are exchanged.
    pub(super) fn stand_ins(&self, file: FileId, wanted: &SearchTarget) -> Vec<Occurrence> {
        if wanted.owners.is_empty() {
            return Vec::new();
        }
        let module = self.module(file);
        let classes = (0..module.classes.len() as u32).map(ClassId);
        let members = classes.flat_map(|class| {
            let scope = module.class(class).scope;
            let bound = wanted.names.iter().filter_map(move |it| module.bound(scope, *it));
            bound.map(move |it| (class, it))
        });
        let other = members.filter(|(class, symbol)| {
            let own = ClassType::bare(file, *class);
            let is_related = wanted.owners.iter().any(|it| self.derives(&own, it));
            !is_related
                && !wanted.targets.contains(&Target::Symbol(file, *symbol))
                && self.stands_in(file, &own, &wanted.owners)
        });
        other.filter_map(|(_, symbol)| module.binding_occurrence(symbol)).collect()
    }

    fn stands_in(&self, file: FileId, class: &ClassType, owners: &[ClassType]) -> bool {
        let module = self.module(file);
        let passed = module.calls.iter().any(|call| {
            self.is_passed(file, call, class, owners)
                || self.is_exchanged(file, call, class, owners)
        });
        let is_class = |value: ExprId| self.has_class(file, value, class);
        passed
            || module.stores.iter().any(|(to, value)| {
                is_class(*value)
                    && self.is_one_of(&self.attribute_meaning(file, *to).targets, owners)
            })
    }

    /// Returns whether a call passes an instance of a class where one of some others is declared.
    fn is_passed(
        &self,
        file: FileId,
        call: &Call,
        class: &ClassType,
        owners: &[ClassType],
    ) -> bool {
        let given = |value: ExprId| {
            let is_it = |it: &Type| matches!(it, Type::Instance(of) if of.is_same(class));
            self.expr(file, value).members().iter().any(is_it)
        };
        let arguments = self.module(file).arguments_of(call);
        let passed: Vec<usize> =
            (0..arguments.len()).filter(|it| given(arguments[*it].value)).collect();
        let is_declared = |it: &Type| match it {
            Type::Instance(of) => owners.iter().any(|it| self.derives(it, of) && !self.is_root(of)),
            _ => false,
        };
        !passed.is_empty()
            && self
                .declared_for(file, call, &passed)
                .iter()
                .any(|it| it.members().iter().any(is_declared))
    }

    /// Returns whether a class is `object`, which any value is.
    fn is_root(&self, of: &ClassType) -> bool {
        self.is_bundled(of, KNOWN.object)
    }

    /// Returns the types that functions of the workspace declare for some arguments of a call.
    fn declared_for(&self, file: FileId, call: &Call, arguments: &[usize]) -> Vec<Type> {
        let callee = self.expr(file, call.function);
        let candidates = self.candidates(&callee).into_iter();
        let own = candidates.filter(|it| bundle::number(it.file).is_none());
        let declared = own.flat_map(|function| {
            let pairs = self.matched(&function, CallSite { file, call }).into_iter();
            let pairs = pairs.filter(|(_, argument)| arguments.contains(argument));
            pairs
                .map(|(it, _)| self.parameter(function.file, function.function, it))
                .collect::<Vec<_>>()
        });
        declared.collect()
    }

    /// Returns whether a call exchanges one of some classes for a class: `setattr(m, "C", Fake)`.
    fn is_exchanged(
        &self,
        file: FileId,
        call: &Call,
        class: &ClassType,
        owners: &[ClassType],
    ) -> bool {
        let module = self.module(file);
        let arguments = module.arguments_of(call);
        let name = module.last_name(call.function);
        let exchanges = name.is_some_and(|it| EXCHANGING.contains(&it.text()))
            && arguments.iter().any(|it| self.has_class(file, it.value, class));
        let names = |it: &Occurrence| match it.role {
            Role::Quoted(Quoted::Attribute(of)) => {
                arguments.first().is_some_and(|it| it.value == of)
            }
            Role::Quoted(Quoted::Path(..)) => true,
            _ => false,
        };
        let mut named = module.occurrences.iter().filter(|it| names(it));
        exchanges && named.any(|it| self.is_one_of(&self.meaning(file, it).targets, owners))
    }

    /// Returns whether a value is a class, or an instance of it.
    fn has_class(&self, file: FileId, value: ExprId, class: &ClassType) -> bool {
        let is_it =
            |it: &Type| matches!(it, Type::Class(of) | Type::Instance(of) if of.is_same(class));
        self.expr(file, value).members().iter().any(is_it)
    }

    /// Returns whether a target is one of some classes.
    fn is_one_of(&self, targets: &[Target], classes: &[ClassType]) -> bool {
        let is_bound = |it: &ClassType| {
            let module = self.module(it.file);
            let symbol = module.binding(module.class(it.class).binding).symbol;
            targets.contains(&Target::Symbol(it.file, symbol))
        };
        classes.iter().any(is_bound)
    }

    /// Returns the parameters of the targets' names in functions and classes of a file that are passed
    /// where a protocol with `__call__` is declared, if its parameters are the targets.
    pub(super) fn callback_parameters(
        &self,
        file: FileId,
        wanted: &SearchTarget,
    ) -> Vec<Occurrence> {
        let protocols = self.callback_protocols(wanted);
        if protocols.is_empty() {
            return Vec::new();
        }
        let module = self.module(file);
        let is_protocol = |it: &Type| match it {
            Type::Instance(of) => protocols.iter().any(|it| it.is_same(of)),
            _ => false,
        };
        let passed = module.calls.iter().flat_map(|call| {
            let arguments = module.arguments_of(call).iter().enumerate();
            let declared = arguments.filter(|(index, _)| {
                let types = self.declared_for(file, call, &[*index]);
                types.iter().any(|it| it.members().iter().any(is_protocol))
            });
            declared.map(|(_, it)| it.value).collect::<Vec<_>>()
        });
        let functions = passed.flat_map(|it| self.candidates(&self.expr(file, it)));
        let own = functions.filter(|it| it.file == file);
        let mut symbols: Vec<SymbolId> = own
            .flat_map(|it| &module.function(it.function).parameters)
            .filter(|it| wanted.names.contains(&it.name))
            .map(|it| it.symbol)
            .filter(|it| !wanted.targets.contains(&Target::Symbol(file, *it)))
            .collect();
        symbols.sort_unstable();
        symbols.dedup();
        symbols.into_iter().filter_map(|it| module.binding_occurrence(it)).collect()
    }

    /// Returns the protocols whose `__call__` has one of the targets as a parameter.
    fn callback_protocols(&self, wanted: &SearchTarget) -> Vec<ClassType> {
        let protocol = |it: &Target| {
            let Target::Symbol(file, symbol) = it else { return None };
            let module = self.module(*file);
            let scope = module.symbol(*symbol).scope;
            let ScopeKind::Function(function) = module.scopes[scope.index()].kind else {
                return None;
            };
            let of = module.function(function);
            let class = of.class.filter(|_| of.name == Some(KNOWN.call))?;
            self.class(*file, class).is_protocol.then(|| ClassType::bare(*file, class))
        };
        wanted.targets.iter().filter_map(protocol).collect()
    }

    /// Returns the keywords of constructors of attrs that fill private fields among the targets: attrs
    /// leaves out the underscores.
    pub(super) fn private_keywords(&self, file: FileId, wanted: &SearchTarget) -> Vec<Occurrence> {
        let public = wanted.public_fields();
        if public.is_empty() {
            return Vec::new();
        }
        let module = self.module(file);
        let of_attrs = |it: &Type| match it {
            Type::Class(class) => {
                let made = |it: &&ClassType| self.derives(class, it) && self.is_made_by_attrs(it);
                wanted.owners.iter().any(|it| made(&it))
            }
            _ => false,
        };
        let fills = |it: &&Occurrence| match it.role {
            Role::Keyword(call) if public.contains(&it.name) => {
                let function = module.call(call).map(|it| it.function);
                function.is_some_and(|it| self.expr(file, it).members().iter().any(of_attrs))
            }
            _ => false,
        };
        module.occurrences.iter().filter(fills).copied().collect()
    }

    /// Returns whether a class has a decorator of a library that is not bundled.
    fn is_made_by_attrs(&self, it: &ClassType) -> bool {
        let module = self.module(it.file);
        let is_unknown = |decorator: &ExprId| {
            let target = module.call(*decorator).map_or(*decorator, |call| call.function);
            self.expr(it.file, target) == Type::Unknown
        };
        module.class(it.class).decorators.iter().any(is_unknown)
    }
}

impl SearchTarget {
    /// Returns the names of private fields without their underscores.
    pub(super) fn public_fields(&self) -> Vec<Name> {
        let private = self.names.iter().map(|it| it.text()).filter(|it| it.starts_with('_'));
        let public = private.map(|it| it.trim_start_matches('_')).filter(|it| !it.is_empty());
        public.filter(|_| self.fields).map(Name::of).collect()
    }
}

impl Module {
    /// Returns the first place that binds a symbol.
    fn binding_occurrence(&self, symbol: SymbolId) -> Option<Occurrence> {
        let binds = |it: &&Occurrence| match it.role {
            Role::Binding(binding) => self.binding(binding).symbol == symbol,
            _ => false,
        };
        self.occurrences.iter().find(binds).copied()
    }
}
