//! Resolves identifiers to symbols.

use super::bundle;
use super::eval::{Eval, Hit};
use super::ir::*;
use super::meaning::{Meaning, Target, Uncertainty};
use super::names::{KNOWN, Name};
use super::types::Type;
use crate::index::FileId;

impl Eval<'_> {
    /// Resolves an identifier at its place in the code. In a line with a syntax error it may mean
    /// something else.
    pub(crate) fn meaning(&self, file: FileId, it: &Occurrence) -> Meaning {
        let meaning = self.meaning_of_role(file, it);
        if !self.module(file).is_broken_at(it.at) {
            return meaning;
        }
        Meaning { others: meaning.others.or(Some(Uncertainty::Unparsed)), ..meaning }
    }

    fn meaning_of_role(&self, file: FileId, it: &Occurrence) -> Meaning {
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
            Role::Quoted(rule) => self.quoted_meaning(file, it, rule),
        }
    }

    fn binding_meaning(&self, file: FileId, id: BindingId) -> Meaning {
        let binding = self.module(file).binding(id);
        // Each import statement names its own module's member, even if others bind the same name.
        if self.passes_on(file, binding.kind) {
            let mut targets = Vec::new();
            self.binding_targets(file, id, &mut targets, &mut Vec::new());
            if self.is_lazy(file, binding.kind, &targets) {
                return Meaning::doubtful(Uncertainty::Lazy);
            }
            return Meaning::certain(targets);
        }
        let asks = self.asks_for_unknown(file, binding.kind);
        let others = asks.then_some(Uncertainty::Fixture);
        Meaning { others, ..Meaning::certain(self.targets(file, binding.symbol)) }
    }

    /// Returns whether an import without a known target is of a module of the workspace that makes
    /// attributes on demand, by `__getattr__`.
    fn is_lazy(&self, file: FileId, kind: BindingKind, targets: &[Target]) -> bool {
        let (BindingKind::From(path, _), [Target::Outside(_)]) = (kind, targets) else {
            return false;
        };
        let module = self.resolve(file, path);
        module.is_some_and(|it| !self.members(it, KNOWN.getattr).is_empty())
    }

    /// Returns whether a name that is bound stands for an object with the same name elsewhere: an
    /// import, or a parameter for which pytest passes a fixture.
    pub(crate) fn passes_on(&self, file: FileId, kind: BindingKind) -> bool {
        match kind {
            BindingKind::Parameter(function, index) => {
                self.requested(file, function, index).is_some()
            }
            kind => kind.is_transparent(),
        }
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

    pub(super) fn attribute_meaning(&self, file: FileId, expr: ExprId) -> Meaning {
        let Expr::Attribute(object, name, _) = self.module(file).expr(expr) else {
            return Meaning::default();
        };
        let meaning = self.member_of(file, object, name);
        let outside = meaning.uncertainty.and_then(|_| self.outside_module(file, object));
        if let Some(module) = outside {
            let path = format!("{}.{}", module.text(), name.text());
            return Meaning::certain(vec![Target::Outside(Name::of(&path))]);
        }
        meaning
    }

    /// Resolves an attribute of the value of an expression: by its type, or else by the values that
    /// reach it.
    pub(super) fn member_of(&self, file: FileId, object: ExprId, name: Name) -> Meaning {
        let meaning = self.member_meaning(&self.expr(file, object), name);
        if meaning.uncertainty.is_none() {
            return meaning;
        }
        let found = self.member_meaning(&self.origins(file, object), name);
        let is_own =
            |it: &Target| matches!(it, Target::Symbol(file, _) if bundle::number(*file).is_none());
        // Other values may reach it as well.
        match found.targets.iter().any(is_own) {
            true => Meaning { others: meaning.uncertainty, ..found },
            false => meaning,
        }
    }

    /// Resolves an attribute of a value of a type.
    pub(super) fn member_meaning(&self, object: &Type, name: Name) -> Meaning {
        let mut meaning = Meaning::default();
        if self.attribute_targets(object, name, &mut meaning) {
            meaning.uncertainty = Some(Uncertainty::Receiver);
        }
        for class in self.instances_of_metaclasses(object) {
            self.attribute_targets(&Type::Class(class), name, &mut meaning);
        }
        meaning.if_unresolved()
    }

    /// Adds the targets of an attribute. Returns whether the object may be of an unknown type.
    pub(super) fn attribute_targets(
        &self,
        object: &Type,
        name: Name,
        meaning: &mut Meaning,
    ) -> bool {
        let found = self.attribute(object, name);
        for hit in found.hits {
            match hit {
                Hit::Module(module) => meaning.add(Target::Module(module)),
                Hit::Symbol(file, symbol) => {
                    self.targets(file, symbol).into_iter().for_each(|it| meaning.add(it));
                }
            }
        }
        found.unknown
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
                    BindingKind::Value(value) => imports(module, value),
                    BindingKind::Import(_) | BindingKind::ImportAs(_) => true,
                    BindingKind::From(..) | BindingKind::FromAs(..) => true,
                    _ => false,
                })
            }
            Expr::Attribute(object, ..) => self.may_be_module(file, object),
            _ => imports(module, expr),
        }
    }

    /// Returns the module of `sys.modules["name"]` or `sys.modules[__name__]`.
    pub(super) fn loaded_module(&self, file: FileId, of: ExprId, index: ExprId) -> Option<Name> {
        let module = self.module(file);
        if !is_modules(module, of) {
            return None;
        }
        match module.expr(index) {
            Expr::Name(name, None, _) if name.text() == "__name__" => {
                Some(super::program::module_of(self.index.path(file)))
            }
            _ => {
                let name = *module.texts.get(&index)?;
                self.resolve(file, ModulePath { level: 0, name })
            }
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
        let is_own = |it: &BindingId| !self.passes_on(file, module.binding(*it).kind);
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
            BindingKind::Parameter(function, index) => {
                let requested = self.requested(file, function, index).into_iter().flatten();
                requested.for_each(|it| push(targets, it));
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
        let members = self.members(module, member);
        for (file, symbol) in &members {
            self.symbol_targets(*file, *symbol, &mut targets, seen);
        }
        if targets.is_empty() {
            targets.extend(self.index.submodule(module, member).map(Target::Module));
        }
        // Members that were visited already are among the other targets, as of a stub and its
        // source, which import the same names.
        if targets.is_empty() && members.is_empty() { outside() } else { targets }
    }
}

/// Returns whether an expression is a call that imports a module, or `sys.modules[…]`.
fn imports(module: &Module, expr: ExprId) -> bool {
    if let Expr::Subscript(of, ..) = module.expr(expr) {
        return is_modules(module, of);
    }
    module.call(expr).is_some_and(|call| {
        matches!(module.expr(call.function),
            Expr::Name(name, ..) | Expr::Attribute(_, name, _)
            if matches!(name.text(), "import_module" | "__import__"))
    })
}

/// Returns whether an expression is `sys.modules`.
fn is_modules(module: &Module, expr: ExprId) -> bool {
    match module.expr(expr) {
        Expr::Attribute(of, name, _) if name.text() == "modules" => {
            matches!(module.expr(of), Expr::Name(name, ..) if name.text() == "sys")
        }
        _ => false,
    }
}

fn push(targets: &mut Vec<Target>, target: Target) {
    if !targets.contains(&target) {
        targets.push(target);
    }
}
