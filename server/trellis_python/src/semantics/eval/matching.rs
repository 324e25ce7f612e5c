//! Matches the arguments of a call with parameters, and chooses overloads.

use super::Eval;
use super::functions::CallSite;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{ClassType, FunctionType, Type};

impl Eval<'_> {
    /// Returns the first overload that accepts the arguments.
    pub(super) fn chosen(
        &self,
        function: &FunctionType,
        site: Option<CallSite<'_>>,
    ) -> FunctionType {
        let overloads = self.overloads(function);
        let of = |it: &FunctionId| FunctionType { function: *it, ..function.clone() };
        let (Some(site), Some(first)) = (site, overloads.first()) else {
            return overloads.first().map_or_else(|| function.clone(), of);
        };
        let mut fits = overloads.iter().map(of).filter(|it| self.takes(it, site));
        let Some(fitting) = fits.next() else { return of(first) };
        if self.takes_unpacked(&fitting, site) {
            return fitting;
        }
        fits.find(|it| self.takes_unpacked(it, site)).unwrap_or(fitting)
    }

    /// Returns whether a function takes any number of arguments where a call unpacks some.
    fn takes_unpacked(&self, function: &FunctionType, site: CallSite<'_>) -> bool {
        let arguments = self.module(site.file).arguments_of(site.call);
        let mut unpacked = (0..arguments.len())
            .filter(|it| arguments[*it].kind == ArgumentKind::Starred)
            .peekable();
        if unpacked.peek().is_none() {
            return true;
        }
        let matched = self.matched(function, site);
        unpacked.all(|index| matched.iter().any(|(_, argument)| *argument == index))
    }

    /// Returns the functions marked `@overload` under a function's name, in order.
    pub(crate) fn overloads(&self, function: &FunctionType) -> Vec<FunctionId> {
        let module = self.module(function.file);
        let Some(binding) = module.function(function.function).binding else { return Vec::new() };
        let bindings = &module.symbol(module.binding(binding).symbol).bindings;
        if bindings.len() < 2 {
            return Vec::new();
        }
        let overload = |it: &BindingId| match module.binding(*it).kind {
            BindingKind::Function(it) if self.has_decorator(function.file, it, KNOWN.overload) => {
                Some(it)
            }
            _ => None,
        };
        bindings.iter().filter_map(overload).collect()
    }

    fn takes(&self, function: &FunctionType, site: CallSite<'_>) -> bool {
        let module = self.module(function.file);
        let parameters = &module.function(function.function).parameters;
        let arguments = self.module(site.file).arguments_of(site.call);
        let matched = self.matched(function, site);
        let open = arguments
            .iter()
            .any(|it| matches!(it.kind, ArgumentKind::Starred | ArgumentKind::Keywords));
        if matched.len() < arguments.len() && !open {
            return false;
        }
        let first = usize::from(function.bound.is_some());
        let is_given = |index: usize| matched.iter().any(|(parameter, _)| *parameter == index);
        let needs = |it: &Parameter| {
            it.default.is_none()
                && !matches!(it.kind, ParameterKind::Variadic | ParameterKind::Keywords)
        };
        let missing = parameters
            .iter()
            .enumerate()
            .skip(first)
            .any(|(index, it)| needs(it) && !is_given(index));
        if missing && !open {
            return false;
        }
        matched.iter().all(|(parameter, argument)| {
            let wanted = self.accepted(function, *parameter);
            let given = self.argument(site, *argument);
            self.may_be(&given, &wanted)
        })
    }

    /// Returns the type of an argument; of an unpacked one, that of its elements.
    pub(super) fn argument(&self, site: CallSite<'_>, index: usize) -> Type {
        let argument = self.module(site.file).arguments_of(site.call)[index];
        let value = self.expr(site.file, argument.value);
        if argument.kind == ArgumentKind::Starred { self.element(&value, false) } else { value }
    }

    /// Returns the type of one argument for a parameter.
    fn accepted(&self, function: &FunctionType, index: usize) -> Type {
        let parameter = self.module(function.file).function(function.function).parameters[index];
        match (parameter.kind, parameter.annotation) {
            (ParameterKind::Variadic | ParameterKind::Keywords, Some(annotation)) => {
                self.annotation(function.file, annotation)
            }
            (ParameterKind::Variadic | ParameterKind::Keywords, None) => Type::Unknown,
            _ => self.parameter(function.file, function.function, index),
        }
    }

    /// Returns whether a value may be given for a parameter, as far as the types are known.
    fn may_be(&self, given: &Type, wanted: &Type) -> bool {
        let one = |it: &Type, wanted: &Type| match (it, wanted) {
            (Type::Unknown | Type::Never, _) => true,
            (_, Type::Unknown | Type::Variable(..) | Type::Receiver) => true,
            (Type::None, other) => *other == Type::None,
            (Type::Instance(own), Type::Instance(wanted)) => {
                let info = self.class(own.file, own.class);
                let is_protocol = self.class(wanted.file, wanted.class).is_protocol
                    || bundle::number(wanted.file).is_some() && self.is_abstract(wanted);
                self.derives(own, wanted)
                    || !info.complete
                    || is_protocol && self.has_members_of(own, wanted)
            }
            (Type::Tuple(_), Type::Instance(wanted)) => {
                self.is_bundled(wanted, KNOWN.tuple) || self.is_abstract(wanted)
            }
            (Type::Function(_) | Type::Callable(_) | Type::Class(_), Type::Callable(_)) => true,
            (Type::Class(own), Type::Class(wanted)) => self.derives(own, wanted),
            (Type::Class(_), Type::Form(_)) | (Type::Tuple(_), Type::Tuple(_)) => true,
            (Type::Instance(_), Type::Tuple(_) | Type::None | Type::Class(_) | Type::Form(_)) => {
                false
            }
            _ => false,
        };
        given.members().iter().any(|it| wanted.members().iter().any(|wanted| one(it, wanted)))
    }

    fn is_abstract(&self, class: &ClassType) -> bool {
        bundle::file("typing") == Some(class.file)
    }

    /// Returns whether a class has every member that an interface names.
    pub(crate) fn has_members_of(&self, own: &ClassType, wanted: &ClassType) -> bool {
        let module = self.module(wanted.file);
        let scope = module.class(wanted.class).scope;
        let mut names = module.names.keys().filter(|(of, _)| *of == scope).map(|(_, name)| *name);
        names.all(|name| self.member(own, name, 0).is_some())
    }

    /// Returns the indexes of parameters and arguments that correspond.
    pub(crate) fn matched(
        &self,
        function: &FunctionType,
        site: CallSite<'_>,
    ) -> Vec<(usize, usize)> {
        let parameters = &self.module(function.file).function(function.function).parameters;
        let arguments = self.module(site.file).arguments_of(site.call);
        let mut pairs = Vec::new();
        let mut next = usize::from(function.bound.is_some());
        for (index, argument) in arguments.iter().enumerate() {
            match argument.kind {
                ArgumentKind::Positional => {
                    let Some(parameter) = parameters.get(next) else { continue };
                    match parameter.kind {
                        ParameterKind::Variadic => pairs.push((next, index)),
                        ParameterKind::PositionalOnly | ParameterKind::Ordinary => {
                            pairs.push((next, index));
                            next += 1;
                        }
                        _ => {}
                    }
                }
                ArgumentKind::Keyword(name) => {
                    let open =
                        || parameters.iter().position(|it| it.kind == ParameterKind::Keywords);
                    let place = keyword_parameter(parameters, name).or_else(open);
                    pairs.extend(place.map(|it| (it, index)))
                }
                // An unpacked argument may fill any later parameter.
                ArgumentKind::Starred => {
                    let variadic = parameters.get(next);
                    if variadic.is_some_and(|it| it.kind == ParameterKind::Variadic) {
                        pairs.push((next, index));
                    } else {
                        next = parameters.len();
                    }
                }
                ArgumentKind::Keywords => {}
            }
        }
        pairs
    }
}

/// count.
pub(crate) fn keyword_parameter(parameters: &[Parameter], name: Name) -> Option<usize> {
    let named = |it: &Parameter| {
        it.name == name && matches!(it.kind, ParameterKind::Ordinary | ParameterKind::KeywordOnly)
    };
    parameters.iter().position(named)
}
