//! Finds override families: methods that override each other must keep one name.

use rustc_hash::FxHashSet;

use crate::index::{FileId, RenameRefused, Word, WordSet};
use crate::semantics::bundle;
use crate::semantics::eval::{Eval, keyword_parameter};
use crate::semantics::ir::*;
use crate::semantics::meaning::Target;
use crate::semantics::names::Name;
use crate::semantics::types::ClassType;

type ClassKey = (FileId, ClassId);

/// Returns the members of this name in all classes related to those of the targets.
pub(super) fn of_members(
    eval: &Eval<'_>,
    targets: &FxHashSet<Target>,
    name: Name,
) -> Result<Vec<Target>, RenameRefused> {
    let mut family = Family::new(eval, name);
    for class in classes_of(eval, targets) {
        family.join(class)?;
    }
    loop {
        let before = family.members.len();
        family.descend()?;
        family.join_protocols()?;
        if family.members.len() == before {
            return Ok(family.members);
        }
    }
}

/// Returns the parameters of this name in the methods that override those of the targets, or are
/// overridden by them: a call through the base may run any of them.
pub(super) fn of_parameters(
    eval: &Eval<'_>,
    targets: &FxHashSet<Target>,
    name: Name,
) -> Result<Vec<Target>, RenameRefused> {
    let mut found = Vec::new();
    for target in targets {
        let Target::Symbol(file, symbol) = target else { continue };
        let module = eval.module(*file);
        let ScopeKind::Function(function) =
            module.scopes[module.symbol(*symbol).scope.index()].kind
        else {
            continue;
        };
        let of = module.function(function);
        let (Some(_), Some(method), Some(binding)) = (of.class, of.name, of.binding) else {
            continue;
        };
        if super::is_special(method.text()) {
            continue; // constructors and similar methods are called by the class's own name
        }
        let own = FxHashSet::from_iter([Target::Symbol(*file, module.binding(binding).symbol)]);
        let members = match of_members(eval, &own, method) {
            Err(_) if !is_library_parameter(eval, *file, of, name) => continue,
            members => members?,
        };
        for member in members {
            let Target::Symbol(file, symbol) = member else { continue };
            let module = eval.module(file);
            for binding in &module.symbol(symbol).bindings {
                if let BindingKind::Function(function) = module.binding(*binding).kind {
                    let named =
                        module.function(function).parameters.iter().find(|it| it.name == name);
                    found.extend(named.map(|it| Target::Symbol(file, it.symbol)));
                }
            }
        }
    }
    Ok(found)
}

/// Returns whether a method of the standard library that a method overrides has a parameter of a
/// name.
fn is_library_parameter(eval: &Eval<'_>, file: FileId, of: &Function, name: Name) -> bool {
    let (Some(class), Some(method)) = (of.class, of.name) else { return false };
    let info = eval.class(file, class);
    let bundled = info.mro.iter().filter(|it| bundle::number(it.file).is_some());
    let mut functions = bundled.flat_map(|base| {
        let module = eval.module(base.file);
        let symbol = module.bound(module.class(base.class).scope, method);
        let bindings = symbol.into_iter().flat_map(|it| &module.symbol(it).bindings);
        bindings.filter_map(|it| match module.binding(*it).kind {
            BindingKind::Function(function) => Some(module.function(function)),
            _ => None,
        })
    });
    functions.any(|it| keyword_parameter(&it.parameters, name).is_some())
}

/// Returns the classes that have the targets as members.
fn classes_of(eval: &Eval<'_>, targets: &FxHashSet<Target>) -> Vec<ClassKey> {
    let class = |target: &Target| {
        let Target::Symbol(file, symbol) = target else { return None };
        let module = eval.module(*file);
        match module.scopes[module.symbol(*symbol).scope.index()].kind {
            ScopeKind::Class(class) => Some((*file, class)),
            _ => None,
        }
    };
    targets.iter().filter_map(class).collect()
}

struct Family<'e, 'i> {
    eval: &'e Eval<'i>,
    name: Name,
    /// Classes that have the member, themselves or from a base.
    classes: FxHashSet<ClassKey>,
    members: Vec<Target>,
}

impl<'e, 'i> Family<'e, 'i> {
    fn new(eval: &'e Eval<'i>, name: Name) -> Self {
        Family { eval, name, classes: FxHashSet::default(), members: Vec::new() }
    }
}

impl Family<'_, '_> {
    /// Adds a class and all its bases that have the member.
    fn join(&mut self, class: ClassKey) -> Result<(), RenameRefused> {
        if !self.classes.insert(class) {
            return Ok(());
        }
        let info = self.eval.class(class.0, class.1);
        // A private name is a different one in each class.
        let reach = if self.is_private() { 1 } else { info.mro.len() };
        for base in info.mro.iter().take(reach) {
            let Some(target) = self.own(base) else { continue };
            if bundle::number(base.file).is_some() {
                let of = self.eval.module(base.file).class(base.class).name.text();
                let what =
                    format!("it overrides `{of}.{}` from the standard library", self.name.text());
                return Err(RenameRefused::Outside { name: self.name.text().to_owned(), what });
            }
            if !self.members.contains(&target) {
                self.members.push(target);
            }
            self.classes.insert((base.file, base.class));
        }
        Ok(())
    }

    fn own(&self, class: &ClassType) -> Option<Target> {
        let module = self.eval.module(class.file);
        let symbol = module.bound(module.class(class.class).scope, self.name)?;
        let is_bound = !module.symbol(symbol).bindings.is_empty();
        is_bound.then_some(Target::Symbol(class.file, symbol))
    }

    /// Adds every class of the workspace that derives from an added one, with its other bases.
    fn descend(&mut self) -> Result<(), RenameRefused> {
        if self.classes.is_empty() || self.is_private() {
            return Ok(());
        }
        let mut names: FxHashSet<Name> = FxHashSet::default();
        loop {
            let known = self.classes.len();
            let new: Vec<Name> = self
                .classes
                .iter()
                .map(|it| self.class_name(*it))
                .filter(|it| !names.contains(it))
                .collect();
            if new.is_empty() {
                return Ok(());
            }
            names.extend(new.iter().copied());
            for class in self.naming(&new) {
                if !self.classes.contains(&class) && self.derives(class) {
                    self.join(class)?;
                }
            }
            if self.classes.len() == known {
                return Ok(());
            }
        }
    }

    /// Adds the protocols that classes of the family implement, and the classes that implement
    /// protocols of the family. A class implements a protocol if it has all its members, related or
    /// not.
    fn join_protocols(&mut self) -> Result<(), RenameRefused> {
        if self.classes.is_empty() || self.is_private() {
            return Ok(());
        }
        let index = self.eval.index;
        let word = Word::of(self.name.text());
        let holds = |file: &FileId| index.words(*file).has(word);
        let mut files: Vec<FileId> = index.files().filter(holds).collect();
        files.sort_by_key(|it| index.path(*it));
        let numbered = |file: FileId| {
            (0..self.eval.module(file).classes.len()).map(move |it| (file, ClassId(it as u32)))
        };
        let all: Vec<ClassKey> = files.into_iter().flat_map(numbered).collect();
        let strange: Vec<ClassKey> =
            all.into_iter().filter(|it| !self.classes.contains(it)).collect();
        for class in strange {
            let own = ClassType::bare(class.0, class.1);
            if self.own(&own).is_some() && self.serves(&own) {
                self.join(class)?;
            }
        }
        self.refuse_served_outside()
    }

    /// Refuses if a module of the standard library that is imported beside a protocol of the family
    /// has all its members: it may be a value of the protocol.
    fn refuse_served_outside(&self) -> Result<(), RenameRefused> {
        for (file, class) in &self.classes {
            let protocol = ClassType::bare(*file, *class);
            if !self.eval.class(*file, *class).is_protocol || self.own(&protocol).is_none() {
                continue;
            }
            if let Some(module) = self.module_like(&protocol) {
                let of = self.class_name((*file, *class)).text();
                let what = format!("the module `{module}` has all members of the protocol `{of}`");
                return Err(RenameRefused::Outside { name: self.name.text().to_owned(), what });
            }
        }
        Ok(())
    }

    fn module_like(&self, protocol: &ClassType) -> Option<&'static str> {
        let eval = self.eval;
        let of = eval.module(protocol.file);
        let scope = of.class(protocol.class).scope;
        let wanted: Vec<Name> =
            of.names.keys().filter(|(of, _)| *of == scope).map(|(_, name)| *name).collect();
        let word = Word::of(of.class(protocol.class).name.text());
        let holds = |it: &FileId| eval.index.words(*it).has(word);
        let imported = eval.index.files().filter(holds).flat_map(|file| {
            let bindings = eval.module(file).bindings.iter();
            bindings.filter_map(move |it| match it.kind {
                BindingKind::Import(path) | BindingKind::ImportAs(path) => Some((file, path)),
                _ => None,
            })
        });
        let serves = |(file, path): &(FileId, ModulePath)| {
            let files = eval.resolve(*file, *path).map(|it| eval.index.module_files(it));
            let bundled = files.and_then(|it| it.stub).filter(|it| bundle::number(*it).is_some());
            bundled
                .is_some_and(|it| wanted.iter().all(|name| eval.module(it).global(*name).is_some()))
        };
        imported.into_iter().find(serves).map(|(_, path)| path.name.text())
    }

    /// Returns whether a class and one of the family are a protocol and its implementation.
    fn serves(&self, class: &ClassType) -> bool {
        let is_protocol = |it: &ClassType| self.eval.class(it.file, it.class).is_protocol;
        self.classes.iter().any(|(file, other)| {
            let other = ClassType::bare(*file, *other);
            is_protocol(&other) && self.eval.has_members_of(class, &other)
                || is_protocol(class) && self.eval.has_members_of(&other, class)
        })
    }

    fn is_private(&self) -> bool {
        self.name.text().starts_with("__") && !self.name.text().ends_with("__")
    }

    fn class_name(&self, (file, class): ClassKey) -> Name {
        self.eval.module(file).class(class).name
    }

    /// Returns the classes with bases in files that contain one of the words. Aliases of classes
    /// are found only if their files name the class.
    fn naming(&self, words: &[Name]) -> Vec<ClassKey> {
        let index = self.eval.index;
        let words = WordSet::of(words.iter().map(|it| it.text()));
        let holds = |file: &FileId| index.words(*file).has_any(&words);
        let mut files: Vec<FileId> = index.files().filter(holds).collect();
        files.sort_by_key(|it| index.path(*it));
        let of = |file: FileId| {
            let classes = self.eval.module(file).classes.iter().enumerate();
            let based = classes.filter(|(_, it)| !it.bases.is_empty());
            based.map(move |(number, _)| (file, ClassId(number as u32))).collect::<Vec<_>>()
        };
        files.into_iter().flat_map(of).collect()
    }

    fn derives(&self, (file, class): ClassKey) -> bool {
        let info = self.eval.class(file, class);
        info.mro.iter().any(|it| self.classes.contains(&(it.file, it.class)))
    }
}

/// Returns the classes that have a target as a member, with all classes that derive from them.
pub(super) fn relatives(eval: &Eval<'_>, targets: &FxHashSet<Target>, name: Name) -> Vec<ClassKey> {
    let mut family = Family::new(eval, name);
    family.classes.extend(classes_of(eval, targets));
    // Errors were already reported when the family was first computed.
    let _ = family.descend();
    let mut all: Vec<ClassKey> = family.classes.into_iter().collect();
    all.sort_unstable();
    all
}
