//! Resolves identifiers to symbols.

use super::eval::{ContextId, Eval, Hit, keyword_parameter};
use super::ir::*;
use super::names::{KNOWN, Name};
use super::types::{FunctionType, Type};
use crate::index::FileId;

/// The object that a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Target {
    /// A symbol bound in a scope of a file.
    Symbol(FileId, SymbolId),
    /// A module or package.
    Module(Name),
    /// An object outside the workspace, by its dotted name.
    Outside(Name),
}

/// The targets of an identifier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) targets: Vec<Target>,
    /// The reason why the identifier may also refer to other symbols of its name.
    pub(crate) uncertainty: Option<Uncertainty>,
}

/// The reason why the target of a name is uncertain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Uncertainty {
    Receiver,
    Callee,
    Forwarded,
    Star,
    Spoken,
}

impl Uncertainty {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Uncertainty::Receiver => "the type of the object before the dot is unknown",
            Uncertainty::Callee => "the called function is unknown",
            Uncertainty::Forwarded => "the keyword is passed on through **kwargs",
            Uncertainty::Star => {
                "the name may come from a star import of a module outside the workspace"
            }
            Uncertainty::Spoken => "the name is in a string that is used to look up an attribute",
        }
    }
}

impl Meaning {
    fn certain(targets: Vec<Target>) -> Meaning {
        Meaning { targets, uncertainty: None }
    }

    fn doubtful(uncertainty: Uncertainty) -> Meaning {
        Meaning { targets: Vec::new(), uncertainty: Some(uncertainty) }
    }

    fn add(&mut self, target: Target) {
        if !self.targets.contains(&target) {
            self.targets.push(target);
        }
    }
}

impl Eval<'_> {
    /// Resolves an identifier at its place in the code.
    pub(crate) fn meaning(&self, file: FileId, it: &Occurrence) -> Meaning {
        let module = self.module(file);
        match it.role {
            Role::Binding(binding) => self.binding_meaning(file, binding),
            Role::Name(expr) => self.name_meaning(file, expr),
            Role::Attribute(expr) => self.attribute_meaning(file, expr),
            Role::Keyword(call) => self.keyword_meaning(file, call, it.name),
            Role::ClassKeyword(class) => self.class_keyword_meaning(file, class, it.name),
            Role::Member(path) => {
                Meaning::certain(self.member_targets(file, path, it.name, &mut Vec::new()))
            }
            Role::Part(path, index) => {
                Meaning::certain(self.part_target(file, path, index).into_iter().collect())
            }
            Role::Declared(symbol) => Meaning::certain(self.targets(file, symbol)),
            Role::Export => self.export_meaning(file, it.name),
            Role::Slot(class) | Role::MatchArgument(class) => {
                let symbol = module.bound(module.class(class).scope, it.name);
                Meaning::certain(symbol.map_or_else(Vec::new, |it| self.targets(file, it)))
            }
            Role::Spoken => Meaning::doubtful(Uncertainty::Spoken),
        }
    }

    fn binding_meaning(&self, file: FileId, id: BindingId) -> Meaning {
        let binding = self.module(file).binding(id);
        // Each import statement names its own module's member, even if others bind the same name.
        if binding.kind.is_transparent() {
            let mut targets = Vec::new();
            self.binding_targets(file, id, &mut targets, &mut Vec::new());
            return Meaning::certain(targets);
        }
        Meaning::certain(self.targets(file, binding.symbol))
    }

    fn name_meaning(&self, file: FileId, expr: ExprId) -> Meaning {
        let module = self.module(file);
        match module.expr(expr) {
            Expr::Name(_, Some(symbol), _) => Meaning::certain(self.targets(file, symbol)),
            Expr::Name(name, None, _) => match self.free_symbol(file, name) {
                Some((file, symbol)) => Meaning::certain(self.targets(file, symbol)),
                None if self.has_unknown_star(file) => Meaning::doubtful(Uncertainty::Star),
                None => Meaning::certain(vec![Target::Outside(name)]),
            },
            _ => Meaning::default(),
        }
    }

    fn has_unknown_star(&self, file: FileId) -> bool {
        self.module(file).stars.iter().any(|(_, path)| self.resolve(file, *path).is_none())
    }

    fn attribute_meaning(&self, file: FileId, expr: ExprId) -> Meaning {
        let Expr::Attribute(object, name, _) = self.module(file).expr(expr) else {
            return Meaning::default();
        };
        let found = self.attribute(&self.expr(file, object), name);
        let mut meaning = Meaning::default();
        for hit in found.hits {
            match hit {
                Hit::Module(module) => meaning.add(Target::Module(module)),
                Hit::Symbol(file, symbol) => {
                    self.targets(file, symbol).into_iter().for_each(|it| meaning.add(it));
                }
            }
        }
        if found.unknown && meaning.targets.is_empty() {
            match self.outside_module(file, object) {
                Some(module) => {
                    let path = format!("{}.{}", module.text(), name.text());
                    meaning.add(Target::Outside(Name::of(&path)));
                }
                None => meaning.uncertainty = Some(Uncertainty::Receiver),
            }
        }
        meaning
    }

    /// Returns the dotted name of a module outside the workspace, if an expression is one by its
    /// import.
    fn outside_module(&self, file: FileId, object: ExprId) -> Option<Name> {
        let (Expr::Name(..) | Expr::Attribute(..)) = self.module(file).expr(object) else {
            return None;
        };
        let imported = match self.module(file).expr(object) {
            Expr::Name(_, Some(symbol), _) => {
                let all = self.module(file).symbol(symbol).bindings.iter();
                let kinds: Vec<BindingKind> =
                    all.map(|it| self.module(file).binding(*it).kind).collect();
                match kinds.as_slice() {
                    [BindingKind::ImportAs(path)] => {
                        return self.resolve(file, *path).is_none().then_some(path.name);
                    }
                    [_, ..] => self.name_meaning(file, object),
                    [] => return None,
                }
            }
            Expr::Attribute(..) => self.attribute_meaning(file, object),
            _ => return None,
        };
        match imported.targets.as_slice() {
            [Target::Outside(name)] => Some(*name),
            _ => None,
        }
    }

    /// Returns whether an expression may be a module: a chain of names from an import.
    pub(crate) fn may_be_module(&self, file: FileId, expr: ExprId) -> bool {
        let module = self.module(file);
        match module.expr(expr) {
            Expr::Name(_, None, _) => true,
            Expr::Name(_, Some(symbol), _) => {
                let mut bindings = module.symbol(symbol).bindings.iter();
                bindings.any(|it| match module.binding(*it).kind {
                    BindingKind::Value(value) => module.call(value).is_some_and(|call| {
                        matches!(module.expr(call.function),
                            Expr::Name(name, ..) | Expr::Attribute(_, name, _)
                            if matches!(name.text(), "import_module" | "__import__"))
                    }),
                    BindingKind::Import(_) | BindingKind::ImportAs(_) => true,
                    BindingKind::From(..) | BindingKind::FromAs(..) => true,
                    _ => false,
                })
            }
            Expr::Attribute(object, ..) => self.may_be_module(file, object),
            _ => false,
        }
    }

    fn keyword_meaning(&self, file: FileId, call: ExprId, name: Name) -> Meaning {
        let Some(site) = self.module(file).call(call) else { return Meaning::default() };
        let callee = self.expr(file, site.function);
        let mut meaning = Meaning::default();
        for member in callee.members() {
            self.keyword_of(file, site, member, name, &mut meaning);
        }
        if callee == Type::Never {
            meaning.uncertainty = Some(Uncertainty::Callee);
        }
        if !meaning.targets.is_empty() {
            meaning.uncertainty = None;
        }
        meaning
    }

    /// Resolves a keyword in a class's header to a parameter of its bases' `__init_subclass__`.
    fn class_keyword_meaning(&self, file: FileId, class: ClassId, name: Name) -> Meaning {
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
                first.map_or_else(Vec::new, |it| self.candidates(&self.expr(file, it.value)))
            }
            other => self.candidates(other),
        };
        for function in &candidates {
            self.named_parameters(function, name, meaning);
            self.replaced_field(file, site, function, name, meaning);
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
            Type::Unknown => meaning.uncertainty = Some(Uncertainty::Callee),
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

    /// Returns whether a function passes its `**kwargs` on to another call.
    fn forwards_keywords(&self, function: &FunctionType) -> bool {
        let module = self.module(function.file);
        let mut parameters = module.function(function.function).parameters.iter();
        let Some(open) = parameters.find(|it| it.kind == ParameterKind::Keywords) else {
            return false;
        };
        let hands_on = |it: &Argument| {
            it.kind == ArgumentKind::Keywords
                && matches!(module.expr(it.value), Expr::Name(_, Some(symbol), _) if symbol == open.symbol)
        };
        module.arguments.iter().any(hands_on)
    }

    fn field(&self, of: &Type, name: Name, meaning: &mut Meaning) {
        if let Type::Class(class) | Type::Instance(class) = of {
            let fields = self.fields(class).into_iter();
            let named =
                fields.filter(|(file, symbol)| self.module(*file).symbol(*symbol).name == name);
            named.for_each(|(file, symbol)| meaning.add(Target::Symbol(file, symbol)));
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

    fn part_target(&self, file: FileId, path: ModulePath, index: u32) -> Option<Target> {
        let text = path.name.text();
        let end = text.match_indices('.').nth(index as usize).map_or(text.len(), |(at, _)| at);
        let part = ModulePath { name: Name::of(&text[..end]), ..path };
        Some(match self.resolve(file, part) {
            Some(module) => Target::Module(module),
            None => Target::Outside(part.name),
        })
    }

    fn export_meaning(&self, file: FileId, name: Name) -> Meaning {
        let own = self.module(file).global(name).map(|it| (file, it));
        if let Some((file, symbol)) = own.or_else(|| self.starred(file, name, &mut Vec::new())) {
            return Meaning::certain(self.targets(file, symbol));
        }
        let package = super::program::module_of(self.index.path(file));
        let submodule = self.index.submodule(package, name);
        Meaning::certain(submodule.map(Target::Module).into_iter().collect())
    }

    /// Returns the targets of a symbol: itself, and the sources of its imports under the same name.
    pub(crate) fn targets(&self, file: FileId, symbol: SymbolId) -> Vec<Target> {
        let mut targets = Vec::new();
        self.symbol_targets(file, symbol, &mut targets, &mut Vec::new());
        targets
    }

    fn symbol_targets(
        &self,
        file: FileId,
        symbol: SymbolId,
        targets: &mut Vec<Target>,
        seen: &mut Vec<(FileId, SymbolId)>,
    ) {
        if seen.contains(&(file, symbol)) {
            return;
        }
        seen.push((file, symbol));
        let module = self.module(file);
        let bindings = &module.symbol(symbol).bindings;
        let is_own = |it: &BindingId| !module.binding(*it).kind.is_transparent();
        if bindings.is_empty() || bindings.iter().any(is_own) {
            push(targets, Target::Symbol(file, symbol));
        }
        for binding in bindings.iter().filter(|it| !is_own(it)) {
            self.binding_targets(file, *binding, targets, seen);
        }
    }

    /// Adds the targets that an import statement binds.
    fn binding_targets(
        &self,
        file: FileId,
        binding: BindingId,
        targets: &mut Vec<Target>,
        seen: &mut Vec<(FileId, SymbolId)>,
    ) {
        match self.module(file).binding(binding).kind {
            BindingKind::From(path, member) => {
                self.member_targets(file, path, member, seen)
                    .into_iter()
                    .for_each(|it| push(targets, it));
            }
            BindingKind::Import(path) => {
                self.part_target(file, path, 0).into_iter().for_each(|it| push(targets, it));
            }
            _ => {}
        }
    }

    pub(crate) fn member_targets(
        &self,
        file: FileId,
        path: ModulePath,
        member: Name,
        seen: &mut Vec<(FileId, SymbolId)>,
    ) -> Vec<Target> {
        let outside = || {
            let dots = ".".repeat(path.level as usize);
            vec![Target::Outside(Name::of(&format!(
                "{dots}{}.{}",
                path.name.text(),
                member.text()
            )))]
        };
        let Some(module) = self.resolve(file, path) else { return outside() };
        let mut targets = Vec::new();
        for (file, symbol) in self.members(module, member) {
            self.symbol_targets(file, symbol, &mut targets, seen);
        }
        if targets.is_empty() {
            targets.extend(self.index.submodule(module, member).map(Target::Module));
        }
        if targets.is_empty() { outside() } else { targets }
    }
}

fn push(targets: &mut Vec<Target>, target: Target) {
    if !targets.contains(&target) {
        targets.push(target);
    }
}
