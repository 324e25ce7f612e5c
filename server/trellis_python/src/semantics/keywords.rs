//! Resolves keywords of calls and of classes' headers to parameters and fields.

use super::eval::{ContextId, Eval, keyword_parameter};
use super::ir::*;
use super::meaning::{Meaning, Target, Uncertainty};
use super::names::{KNOWN, Name};
use super::types::{FunctionType, Type};
use crate::index::FileId;

impl Eval<'_> {
    pub(super) fn keyword_meaning(&self, file: FileId, call: ExprId, name: Name) -> Meaning {
        let call = self.module(file).call(call);
        call.map_or_else(Meaning::default, |it| self.keyword_in(file, it, name))
    }

    /// Resolves a keyword of a call.
    pub(super) fn keyword_in(&self, file: FileId, site: &Call, name: Name) -> Meaning {
        let callee = self.expr(file, site.function);
        let mut meaning = self.keyword_of_callee(file, site, &callee, name);
        if meaning.uncertainty == Some(Uncertainty::Callee) {
            let origins = self.origins(file, site.function);
            meaning.targets = self.keyword_of_callee(file, site, &origins, name).targets;
        }
        meaning.if_unresolved()
    }

    fn keyword_of_callee(&self, file: FileId, site: &Call, callee: &Type, name: Name) -> Meaning {
        let mut meaning = Meaning::default();
        for member in callee.members() {
            self.keyword_of(file, site, member, name, &mut meaning);
        }
        if *callee == Type::Never {
            meaning.uncertainty = Some(Uncertainty::Callee);
        }
        meaning.if_unresolved()
    }

    /// Resolves a keyword in a class's header to a parameter of its bases' `__init_subclass__`.
    pub(super) fn class_keyword_meaning(
        &self,
        file: FileId,
        class: ClassId,
        name: Name,
    ) -> Meaning {
        let own = self.own_class_type(file, class);
        let mut meaning = Meaning::default();
        if let Some(member) = self.member(&own, KNOWN.init_subclass, 1) {
            let module = self.module(member.file);
            for binding in &module.symbol(member.symbol).bindings {
                if let BindingKind::Function(function) = module.binding(*binding).kind {
                    let around = ContextId::default();
                    let file = member.file;
                    let function = FunctionType { file, function, bound: None, around };
                    self.named_parameters(&function, name, &mut meaning);
                }
            }
        }
        meaning
    }

    fn keyword_of(
        &self,
        file: FileId,
        site: &Call,
        callee: &Type,
        name: Name,
        meaning: &mut Meaning,
    ) {
        let candidates = match callee {
            Type::Class(class)
                if self.is_bundled(class, KNOWN.partial)
                    || self.is_bundled(class, KNOWN.partialmethod) =>
            {
                let first = self.module(file).arguments_of(site).first();
                let called = first.map_or(Type::Unknown, |it| self.expr(file, it.value));
                if called.members().contains(&Type::Unknown) {
                    meaning.uncertainty = Some(Uncertainty::Callee);
                }
                self.candidates(&called)
            }
            other => self.candidates(other),
        };
        for function in &candidates {
            self.named_parameters(function, name, meaning);
            self.handed_on(file, site, function, name, meaning);
            self.replaced_field(file, site, function, name, meaning);
        }
        if candidates.iter().all(|it| super::bundle::number(it.file).is_some()) {
            self.initialized_field(file, site, name, meaning);
        }
        match callee {
            Type::Class(class)
                if candidates.iter().all(|it| super::bundle::number(it.file).is_some()) =>
            {
                let info = self.class(class.file, class.class);
                if info.has_fields {
                    self.field(callee, name, meaning);
                } else if !info.complete {
                    meaning.uncertainty = Some(Uncertainty::Callee);
                }
            }
            // The bases of a class with fields may hand keywords on in a constructor of their own.
            Type::Class(class)
                if self.class(class.file, class.class).has_fields && meaning.targets.is_empty() =>
            {
                let mut fields = Meaning::default();
                self.field(callee, name, &mut fields);
                if !fields.targets.is_empty() {
                    meaning.uncertainty = Some(Uncertainty::Forwarded);
                }
            }
            Type::None | Type::Module(_) => {}
            // Nothing is known of what runs.
            _ if candidates.is_empty() => meaning.uncertainty = Some(Uncertainty::Callee),
            _ => {}
        }
    }

    /// Adds a parameter of a function and of all its overloads.
    fn named_parameters(&self, function: &FunctionType, name: Name, meaning: &mut Meaning) {
        let module = self.module(function.file);
        let before = meaning.targets.len();
        for it in self.siblings(function.file, function.function) {
            let parameters = &module.function(it).parameters;
            if let Some(index) = keyword_parameter(parameters, name) {
                meaning.add(Target::Symbol(function.file, parameters[index].symbol));
            }
        }
        if meaning.targets.len() == before && self.forwards_keywords(function) {
            meaning.uncertainty = Some(Uncertainty::Forwarded);
        }
    }

    /// Resolves a keyword of a library's function that takes any: `submit(f, x=1)` hands it on to
    /// `f`, and `bind(x=1)` to a function that is not known.
    fn handed_on(
        &self,
        file: FileId,
        site: &Call,
        function: &FunctionType,
        name: Name,
        meaning: &mut Meaning,
    ) {
        let of = self.module(function.file).function(function.function);
        let is_open = of.parameters.iter().any(|it| it.kind == ParameterKind::Keywords);
        if !is_open || super::bundle::number(function.file).is_none() {
            return;
        }
        for argument in self.module(file).arguments_of(site) {
            let given = self.expr(file, argument.value);
            let functions = given.members().iter().filter(|it| is_code(it));
            let called: Vec<FunctionType> = functions.flat_map(|it| self.candidates(it)).collect();
            called.iter().for_each(|it| self.named_parameters(it, name, meaning));
        }
        if of.name.is_some_and(|it| matches!(it.text(), "bind" | "bind_partial")) {
            meaning.uncertainty = Some(Uncertainty::Forwarded);
        }
    }

    /// Returns whether a function passes its `**kwargs` on to another call.
    fn forwards_keywords(&self, function: &FunctionType) -> bool {
        let module = self.module(function.file);
        let mut parameters = module.function(function.function).parameters.iter();
        let Some(open) = parameters.find(|it| it.kind == ParameterKind::Keywords) else {
            return false;
        };
        let hands_on = |it: &Argument| {
            it.kind == ArgumentKind::Keywords && self.carries(function.file, it.value, open.symbol)
        };
        module.arguments.iter().any(hands_on)
    }

    pub(super) fn field(&self, of: &Type, name: Name, meaning: &mut Meaning) {
        if let Type::Class(class) | Type::Instance(class) = of {
            let fields = self.fields(class).into_iter();
            let named =
                fields.filter(|(file, symbol)| self.module(*file).symbol(*symbol).name == name);
            named.for_each(|(file, symbol)| meaning.add(Target::Symbol(file, symbol)));
        }
    }

    /// Resolves field names in `super().__init__(x=1)` and `Base.__init__(self, x=1)` of dataclasses.
    fn initialized_field(&self, file: FileId, site: &Call, name: Name, meaning: &mut Meaning) {
        let object = match self.module(file).expr(site.function) {
            Expr::Attribute(object, of, _) if of == KNOWN.init => self.expr(file, object),
            _ => return,
        };
        for it in object.members() {
            let class = match it {
                Type::Super(of) => &of.0,
                Type::Class(class) => class,
                _ => continue,
            };
            if self.class(class.file, class.class).has_fields {
                self.field(&Type::Class(class.clone()), name, meaning);
            }
        }
    }

    /// Resolves field names in `replace(point, x=1)` of dataclasses and `point._replace(x=1)` of
    /// named tuples.
    fn replaced_field(
        &self,
        file: FileId,
        site: &Call,
        function: &FunctionType,
        name: Name,
        meaning: &mut Meaning,
    ) {
        if super::bundle::number(function.file).is_none() {
            return;
        }
        let of = self.module(function.file).function(function.function).name.map(Name::text);
        match (of, &function.bound) {
            (Some("_replace"), Some((_, object))) => self.field(object, name, meaning),
            (Some("replace"), None) => {
                if let Some(first) = self.module(file).arguments_of(site).first() {
                    let object = self.expr(file, first.value);
                    object.members().iter().for_each(|it| self.field(it, name, meaning));
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a value is a function or class.
fn is_code(it: &Type) -> bool {
    matches!(it, Type::Function(_) | Type::Class(_) | Type::Partial(_))
}
