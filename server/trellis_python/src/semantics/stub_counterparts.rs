//! Finds symbols that stand for the same object (stub counterparts, overloads, aliases), and their
//! definitions.

use super::eval::Eval;
use super::ir::*;
use super::meaning::Target;
use super::names::Name;
use crate::index::{FileId, Place};

impl Eval<'_> {
    /// Adds the counterparts in stubs or sources, and the overloads, of targets.
    pub(crate) fn with_counterparts(&self, targets: Vec<Target>) -> Vec<Target> {
        let mut all = targets;
        for number in 0..all.len() {
            if let Target::Symbol(file, symbol) = all[number] {
                if let Some((file, symbol)) = self.counterpart(file, symbol) {
                    all.extend(self.targets(file, symbol));
                }
                all.extend(self.overloaded(file, symbol));
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the targets of a parameter in all overloads of its function and in the function
    /// itself.
    fn overloaded(&self, file: FileId, symbol: SymbolId) -> Vec<Target> {
        let module = self.module(file);
        let it = module.symbol(symbol);
        let is_parameter =
            |it: &BindingId| matches!(module.binding(*it).kind, BindingKind::Parameter(..));
        let ScopeKind::Function(function) = module.scopes[it.scope.index()].kind else {
            return Vec::new();
        };
        if !it.bindings.iter().any(is_parameter) {
            return Vec::new();
        }
        let all = self.siblings(file, function).into_iter().map(|it| module.function(it));
        let named = all.flat_map(|it| it.parameters.iter()).filter(|other| other.name == it.name);
        named.map(|it| Target::Symbol(file, it.symbol)).collect()
    }

    /// Returns the definitions of a target: its `def`s and `class`es, or else its first binding.
    pub(crate) fn definitions(&self, target: Target) -> Vec<Place> {
        match target {
            Target::Outside(_) => Vec::new(),
            Target::Module(module) => self
                .index
                .module_files(module)
                .iter()
                .map(|file| Place { file, range: 0..0 })
                .collect(),
            Target::Symbol(file, symbol) => {
                let module = self.module(file);
                let it = module.symbol(symbol);
                let of = |id: &BindingId| (*id, module.binding(*id).kind);
                let all: Vec<(BindingId, BindingKind)> = it.bindings.iter().map(of).collect();
                if let [(_, BindingKind::FromAs(path, member))] = all.as_slice() {
                    return self
                        .member_targets(file, *path, *member, &mut vec![(file, symbol)])
                        .into_iter()
                        .flat_map(|it| self.definitions(it))
                        .collect();
                }
                if let [(_, BindingKind::ImportAs(path))] = all.as_slice() {
                    let module = self.resolve(file, *path).map(Target::Module);
                    return module.into_iter().flat_map(|it| self.definitions(it)).collect();
                }
                let defined = |kind: BindingKind| {
                    matches!(
                        kind,
                        BindingKind::Function(_)
                            | BindingKind::Class(_)
                            | BindingKind::Annotated(..)
                    )
                };
                let chosen: Vec<BindingId> = match all.iter().any(|(_, kind)| defined(*kind)) {
                    true => {
                        all.iter().filter(|(_, kind)| defined(*kind)).map(|(id, _)| *id).collect()
                    }
                    false => all.first().map(|(id, _)| *id).into_iter().collect(),
                };
                let place = |id: BindingId| {
                    let at = module.binding(id).at as usize;
                    Place { file, range: at..at + it.name.text().len() }
                };
                let mut places: Vec<Place> = chosen.into_iter().map(place).collect();
                if let Some((file, symbol)) = self.counterpart(file, symbol) {
                    let at = self
                        .module(file)
                        .symbol(symbol)
                        .bindings
                        .first()
                        .map(|it| self.module(file).binding(*it).at as usize);
                    places
                        .extend(at.map(|at| Place { file, range: at..at + it.name.text().len() }));
                }
                places
            }
        }
    }

    /// Returns the members of a class, or of its bases, that run when the class is called.
    pub(crate) fn constructors(&self, target: Target) -> Vec<Target> {
        let classes = self.aliased(target).into_iter().filter_map(|it| match it {
            Target::Symbol(file, symbol) => Some((file, symbol)),
            _ => None,
        });
        let mut found = Vec::new();
        for (file, symbol) in classes {
            let module = self.module(file);
            for binding in &module.symbol(symbol).bindings {
                let BindingKind::Class(class) = module.binding(*binding).kind else { continue };
                let own = self.own_class_type(file, class);
                for name in ["__new__", "__init__", "__post_init__"] {
                    let member = self.member(&own, Name::of(name), 0);
                    found.extend(member.map(|it| Target::Symbol(it.file, it.symbol)));
                }
            }
        }
        found
    }

    /// Returns a target and the targets it is an alias of.
    pub(crate) fn aliased(&self, target: Target) -> Vec<Target> {
        let mut all = vec![target];
        let mut place = 0;
        while let Some(target) = all.get(place).copied() {
            place += 1;
            let Target::Symbol(file, symbol) = target else { continue };
            let module = self.module(file);
            for binding in &module.symbol(symbol).bindings {
                if let BindingKind::FromAs(path, member) = module.binding(*binding).kind {
                    for it in self.member_targets(file, path, member, &mut vec![(file, symbol)]) {
                        if !all.contains(&it) {
                            all.push(it);
                        }
                    }
                }
            }
        }
        all
    }

    /// Returns whether an offset is inside the definition of a target.
    pub(crate) fn is_inside(&self, target: Target, file: FileId, at: u32) -> bool {
        let Target::Symbol(home, symbol) = target else { return false };
        let module = self.module(home);
        let holds = |it: &BindingId| {
            let (start, end) = match module.binding(*it).kind {
                BindingKind::Function(function) => module.function(function).range,
                BindingKind::Class(class) => module.class(class).range,
                _ => return false,
            };
            start <= at && at < end
        };
        home == file && module.symbol(symbol).bindings.iter().any(holds)
    }

    /// Returns the functions bound to one name in one scope: overloads, and alternatives in `if`.
    pub(crate) fn siblings(&self, file: FileId, function: FunctionId) -> Vec<FunctionId> {
        let module = self.module(file);
        let Some(binding) = module.function(function).binding else { return vec![function] };
        let bindings = &module.symbol(module.binding(binding).symbol).bindings;
        let functions = bindings.iter().filter_map(|it| match module.binding(*it).kind {
            BindingKind::Function(it) => Some(it),
            _ => None,
        });
        functions.collect()
    }

    /// Returns the reason why code outside the workspace may use a member: a base of its class,
    /// from outside, has the member or may have it.
    pub(crate) fn external_use_reason(&self, target: Target) -> Option<String> {
        let Target::Symbol(file, symbol) = target else { return None };
        if let Some(convention) = self.convention(target) {
            return Some(convention);
        }
        let module = self.module(file);
        let it = module.symbol(symbol);
        let ScopeKind::Class(class) = module.scopes[it.scope.index()].kind else { return None };
        let info = self.class(file, class);
        let (own, name) = (module.class(class).name.text(), it.name.text());
        if super::bundle::number(file).is_some() {
            return None;
        }
        let base = info.mro.iter().find(|base| {
            let module = self.module(base.file);
            super::bundle::number(base.file).is_some()
                && module.bound(module.class(base.class).scope, it.name).is_some()
        });
        if name.starts_with("__") && name.ends_with("__") {
            return Some(format!("Python itself looks for `{own}.{name}`"));
        }
        match base {
            Some(base) => {
                let base = self.module(base.file).class(base.class).name.text();
                Some(format!(
                    "`{own}.{name}` overrides `{base}.{name}` from the standard library, which \
                     may call it"
                ))
            }
            None if !info.complete => Some(format!(
                "a base class of `{own}` is outside the workspace and may use `{name}`"
            )),
            None => None,
        }
    }

    /// Returns whether a method overrides one of a base, or may do so because a base of its class
    /// is unknown.
    pub(crate) fn may_override(&self, file: FileId, symbol: SymbolId) -> bool {
        let module = self.module(file);
        let it = module.symbol(symbol);
        let ScopeKind::Class(class) = module.scopes[it.scope.index()].kind else { return false };
        let own = self.own_class_type(file, class);
        !self.class(file, class).complete || self.member(&own, it.name, 1).is_some()
    }
}
