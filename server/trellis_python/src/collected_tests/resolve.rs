//! Follows names, imports and base classes to their definitions.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Modules;
use super::module::{Binding, Class, ModuleName, Names, TestLines, TestModule};

/// Longest chain of imports, aliases or nested classes that is followed.
const LONGEST_CHAIN: usize = 32;

/// A definition with its place.
#[derive(Clone)]
pub(super) struct Definition<T> {
    pub(super) path: String,
    pub(super) lines: TestLines,
    pub(super) value: T,
}

/// The thing that a name stands for.
#[derive(Clone)]
pub(super) enum Entity {
    /// `true` if a decorator makes several cases of the function.
    Function(Definition<bool>),
    Class(Definition<Arc<Class>>),
    Module(String, Arc<TestModule>),
    Flag(bool),
    /// Something outside of the project, by its last name.
    External(String),
}

/// A class with its bases, in the order in which their members are looked up.
pub(super) struct Bases {
    classes: Vec<Definition<Arc<Class>>>,
    pub(super) is_test_case: bool,
}

impl Bases {
    pub(super) fn has_cases(&self) -> bool {
        self.classes.iter().any(|it| it.value.has_cases)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.classes.iter().flat_map(|it| it.value.members.keys())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.classes.iter().any(|it| it.value.members.contains_key(name))
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        match self.classes.iter().find_map(|it| it.value.members.get(name))? {
            Binding::Flag(it) => Some(*it),
            _ => None,
        }
    }
}

pub(super) struct Resolver<'a> {
    modules: &'a dyn Modules,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(modules: &'a dyn Modules) -> Resolver<'a> {
        Resolver { modules }
    }

    /// Returns the names of a module, with those of its `import *`.
    pub(super) fn names(&self, path: &str, module: &TestModule) -> BTreeSet<String> {
        let mut seen = BTreeSet::from([path.to_owned()]);
        let mut names: BTreeSet<String> = module.names.keys().cloned().collect();
        let mut open: Vec<(String, ModuleName)> =
            module.stars.iter().map(|it| (path.to_owned(), it.clone())).collect();
        while let Some((from, name)) = open.pop() {
            let Some((path, module)) = self.modules.find(&from, &name) else { continue };
            if !seen.insert(path.clone()) {
                continue;
            }
            names.extend(module.names.keys().filter(|it| !it.starts_with('_')).cloned());
            open.extend(module.stars.iter().map(|it| (path.clone(), it.clone())));
        }
        names
    }

    /// Returns what a module's name stands for; `None` for values that are no test.
    pub(super) fn global(
        &self,
        path: &str,
        module: &Arc<TestModule>,
        name: &str,
    ) -> Option<Entity> {
        self.name(path, module, name, LONGEST_CHAIN)
    }

    pub(super) fn flag(&self, path: &str, module: &Arc<TestModule>, name: &str) -> Option<bool> {
        match self.global(path, module, name)? {
            Entity::Flag(it) => Some(it),
            _ => None,
        }
    }

    /// Returns the classes in which the members of a class are looked up.
    pub(super) fn bases(&self, class: &Definition<Arc<Class>>) -> Bases {
        let mut found = Bases { classes: Vec::new(), is_test_case: false };
        self.add_bases(class, &mut found, LONGEST_CHAIN);
        // A base that is reached twice comes after all classes that derive from it.
        let mut seen: BTreeSet<*const Class> = BTreeSet::new();
        found.classes.reverse();
        found.classes.retain(|it| seen.insert(Arc::as_ptr(&it.value)));
        found.classes.reverse();
        found
    }

    fn add_bases(&self, class: &Definition<Arc<Class>>, found: &mut Bases, fuel: usize) {
        found.classes.push(class.clone());
        let Some(fuel) = fuel.checked_sub(1) else { return };
        let Some(module) = self.module_of(&class.path) else { return };
        for base in &class.value.bases {
            match self.dotted(&class.path, &module, base, fuel) {
                Some(Entity::Class(it)) => self.add_bases(&it, found, fuel),
                Some(Entity::External(name)) => found.is_test_case |= name.ends_with("TestCase"),
                _ => {}
            }
        }
    }

    /// Returns what a member of a class stands for.
    pub(super) fn member(&self, bases: &Bases, name: &str) -> Option<Entity> {
        let holder = bases.classes.iter().find(|it| it.value.members.contains_key(name))?;
        let module = self.module_of(&holder.path)?;
        let members = &holder.value.members;
        self.binding(&holder.path, &module, members, members.get(name)?, LONGEST_CHAIN)
    }

    fn module_of(&self, path: &str) -> Option<Arc<TestModule>> {
        let file = path.rsplit('/').next().unwrap_or(path);
        let stem = file.strip_suffix(".py").unwrap_or(file);
        let name = if stem == "__init__" { "" } else { stem };
        let own = ModuleName { level: 1, name: name.to_owned() };
        self.modules.find(path, &own).map(|(_, module)| module)
    }

    fn name(
        &self,
        path: &str,
        module: &Arc<TestModule>,
        name: &str,
        fuel: usize,
    ) -> Option<Entity> {
        let fuel = fuel.checked_sub(1)?;
        if let Some(binding) = module.names.get(name) {
            return self.binding(path, module, &module.names, binding, fuel);
        }
        let stars = module.stars.iter().filter(|_| !name.starts_with('_'));
        let mut found = stars.filter_map(|it| {
            let (path, module) = self.modules.find(path, it)?;
            self.name(&path, &module, name, fuel)
        });
        found.next()
    }

    fn binding(
        &self,
        path: &str,
        module: &Arc<TestModule>,
        names: &Names,
        binding: &Binding,
        fuel: usize,
    ) -> Option<Entity> {
        let path_of = || path.to_owned();
        match binding {
            Binding::Function { lines, has_cases } => Some(Entity::Function(Definition {
                path: path_of(),
                lines: *lines,
                value: *has_cases,
            })),
            Binding::Class(class) => {
                let (lines, value) = (class.lines, class.clone());
                Some(Entity::Class(Definition { path: path_of(), lines, value }))
            }
            Binding::Import { module, name } => self.imported(path, module, name.as_deref(), fuel),
            // A member may be bound to another member.
            Binding::Alias(other) => match names.get(other) {
                Some(Binding::Alias(_)) | None => self.dotted(path, module, other, fuel),
                Some(it) => self.binding(path, module, names, it, fuel.checked_sub(1)?),
            },
            Binding::Flag(it) => Some(Entity::Flag(*it)),
            Binding::Other => None,
        }
    }

    fn imported(
        &self,
        path: &str,
        module: &ModuleName,
        name: Option<&str>,
        fuel: usize,
    ) -> Option<Entity> {
        let found = self.modules.find(path, module);
        let Some(name) = name else {
            let external = || Entity::External(module.name.clone());
            return Some(found.map_or_else(external, |(path, it)| Entity::Module(path, it)));
        };
        if let Some((path, module)) = found
            && let Some(entity) = self.name(&path, &module, name, fuel)
        {
            return Some(entity);
        }
        let dot = if module.name.is_empty() { "" } else { "." };
        let inner = ModuleName { name: format!("{}{dot}{name}", module.name), ..module.clone() };
        let found = self.modules.find(path, &inner);
        let external = || Entity::External(name.to_owned());
        Some(found.map_or_else(external, |(path, it)| Entity::Module(path, it)))
    }

    /// Returns what a name with dots stands for.
    fn dotted(
        &self,
        path: &str,
        module: &Arc<TestModule>,
        name: &str,
        fuel: usize,
    ) -> Option<Entity> {
        if let Some((start, rest)) = self.module_in(path, module, name) {
            return rest
                .split_terminator('.')
                .try_fold(start, |it, part| self.attribute(it, part, fuel));
        }
        let mut parts = name.split('.');
        let first = parts.next()?;
        let Some(start) = self.name(path, module, first, fuel) else {
            // A builtin, such as `object`.
            return (!module.names.contains_key(first)).then(|| last_of(name));
        };
        parts.try_fold(start, |entity, part| self.attribute(entity, part, fuel))
    }

    /// Returns the longest part of a name with dots that an `import` made a module, and the rest.
    fn module_in<'n>(
        &self,
        path: &str,
        module: &TestModule,
        name: &'n str,
    ) -> Option<(Entity, &'n str)> {
        let first = name.split('.').next()?;
        let Binding::Import { module, name: None } = module.names.get(first)? else { return None };
        let ends = name.match_indices('.').map(|(at, _)| at).collect::<Vec<_>>();
        ends.into_iter().rev().find_map(|end| {
            let full = format!("{}{}", module.name, &name[first.len()..end]);
            let (path, found) = self.modules.find(path, &ModuleName { level: 0, name: full })?;
            Some((Entity::Module(path, found), &name[end + 1..]))
        })
    }

    fn attribute(&self, of: Entity, name: &str, fuel: usize) -> Option<Entity> {
        match of {
            Entity::Module(path, module) => self.name(&path, &module, name, fuel).or_else(|| {
                let is_package = path.ends_with("__init__.py");
                let inner = ModuleName { level: 1, name: name.to_owned() };
                let (path, module) = self.modules.find(&path, &inner).filter(|_| is_package)?;
                Some(Entity::Module(path, module))
            }),
            Entity::Class(class) => self.member(&self.bases(&class), name),
            Entity::External(_) => Some(Entity::External(name.to_owned())),
            Entity::Function(_) | Entity::Flag(_) => None,
        }
    }
}

fn last_of(name: &str) -> Entity {
    Entity::External(name.rsplit('.').next().unwrap_or(name).to_owned())
}
