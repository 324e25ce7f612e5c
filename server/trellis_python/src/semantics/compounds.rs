//! Finds names that code puts together from the names of classes: `visit_Name` for `Name`, where
//! `getattr(self, "visit_" + type(node).__name__)` looks the method up.

use rustc_hash::FxHashSet;

use super::composed::{Affixes, affixes, looks_up};
use super::eval::Eval;
use super::ir::*;
use super::meaning::Target;
use super::names::Name;
use super::types::ClassType;
use crate::index::{FileId, Index, Word};

/// A name put together from the name of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Compound {
    pub(crate) name: Name,
    /// The name of the class, and its offset in the whole.
    pub(crate) class: Name,
    pub(crate) at: u32,
}

/// A part of a name that may stand beside the name of a class.
#[derive(Clone, Copy)]
pub(crate) struct ClassPart {
    text: Name,
    is_prefix: bool,
    /// Set if the rest is the name of a class, to the class whose members are looked up by it.
    within: Option<ClassId>,
}

impl ClassPart {
    fn compound(&self, class: Name) -> Compound {
        let (part, name) = (self.text.text(), class.text());
        match self.is_prefix {
            true => {
                let name = Name::of(&format!("{part}{name}"));
                Compound { name, class, at: part.len() as u32 }
            }
            false => Compound { name: Name::of(&format!("{name}{part}")), class, at: 0 },
        }
    }

    /// Returns the rest of a name that has this part.
    fn rest<'n>(&self, name: &'n str) -> Option<&'n str> {
        let part = self.text.text();
        if self.is_prefix { name.strip_prefix(part) } else { name.strip_suffix(part) }
    }
}

impl Compound {
    /// Returns whether the whole is a private name with its class, as seen from outside of the class:
    /// `_Class__name`.
    pub(crate) fn is_private(&self) -> bool {
        let whole = self.name.text();
        self.at == 1
            && whole
                .strip_prefix('_')
                .and_then(|it| it.strip_prefix(self.class.text()))
                .is_some_and(|it| it.starts_with("__"))
    }

    /// Returns the whole after the class gets another name.
    pub(crate) fn renamed(&self, to: &str) -> String {
        let (at, length) = (self.at as usize, self.class.text().len());
        let whole = self.name.text();
        format!("{}{to}{}", &whole[..at], &whole[at + length..])
    }

    /// Returns an occurrence of the whole as one of the class's name.
    pub(crate) fn part_of(&self, it: &Occurrence) -> Occurrence {
        Occurrence { at: it.at + self.at, length: self.class.text().len() as u32, ..*it }
    }
}

/// Returns the names that code may put together from the names of classes.
pub(crate) fn compounds(index: &Index, names: &[Name]) -> Vec<Compound> {
    let of_part = |part: &ClassPart| names.iter().map(|it| part.compound(*it)).collect::<Vec<_>>();
    let mut found: Vec<Compound> =
        parts(index, |_| true).flat_map(|(_, part)| of_part(part)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the parts in files that name classes, look up names, and are wanted.
fn parts(
    index: &Index,
    is_wanted: impl Fn(&FileId) -> bool,
) -> impl Iterator<Item = (FileId, &ClassPart)> {
    let word = Word::of("__name__");
    let names_classes = move |it: &FileId| looks_up(index, *it) && index.words(*it).has(word);
    let files = index.files().filter(is_wanted).filter(names_classes);
    files.flat_map(|file| index.class_parts(file).iter().map(move |it| (file, it)))
}

impl Index {
    fn class_parts(&self, file: FileId) -> &[ClassPart] {
        let module = self.module(file);
        let class = |scope: ScopeId| {
            module.outwards(scope).find_map(|it| match module.scopes[it.index()].kind {
                ScopeKind::Class(class) => Some(class),
                _ => None,
            })
        };
        let part = |it: &Occurrence| {
            let (is_prefix, rest) = match it.role {
                Role::Quoted(Quoted::Prefix(rest)) => (true, rest),
                Role::Quoted(Quoted::Suffix(rest)) => (false, rest),
                _ => return None,
            };
            let within = class(it.scope).filter(|_| rest == Rest::ClassName);
            Some(ClassPart { text: it.name, is_prefix, within })
        };
        let read = || module.occurrences.iter().filter_map(part).collect();
        self.composing(file).parts.get_or_init(read)
    }
}

impl Eval<'_> {
    /// Returns the names of a class's private members as seen from outside of it: `_Class__name`.
    pub(crate) fn private_names(&self, class: Target) -> Vec<Compound> {
        let Target::Symbol(file, symbol) = class else { return Vec::new() };
        let module = self.module(file);
        let class = module.symbol(symbol).name;
        let of_class = |scope: ScopeId| match module.scopes[scope.index()].kind {
            ScopeKind::Class(it) => module.class(it).name == class,
            _ => false,
        };
        let members = module.symbols.iter().filter(|it| of_class(it.scope)).map(|it| it.name);
        let is_private = |it: &Name| it.text().starts_with("__") && !it.text().ends_with("__");
        let whole = |it: Name| Name::of(&format!("_{}{}", class.text(), it.text()));
        let private = members.filter(is_private).filter(|_| !class.text().starts_with('_'));
        private.map(|it| Compound { name: whole(it), class, at: 1 }).collect()
    }

    /// Returns the members that code looks up by the name of a class; none if another class has the
    /// same name.
    pub(crate) fn members_named_after(&self, class: Target) -> Vec<Target> {
        let Target::Symbol(file, symbol) = class else { return Vec::new() };
        let name = self.module(file).symbol(symbol).name;
        let exact: Vec<(ClassType, Compound)> = parts(self.index, |_| true)
            .filter_map(|(file, it)| Some((ClassType::bare(file, it.within?), it.compound(name))))
            .collect();
        if exact.is_empty() || !self.is_only_class(class, name) {
            return Vec::new();
        }
        let members = exact.iter().flat_map(|(around, it)| self.members_near(around, it.name));
        members.collect::<FxHashSet<Target>>().into_iter().collect()
    }

    /// Returns the members of a name in a class, its bases and the classes that derive from it.
    fn members_near(&self, around: &ClassType, name: Name) -> Vec<Target> {
        let word = Word::of(name.text());
        let member = |(file, class): (FileId, ClassId)| {
            let module = self.module(file);
            let symbol = module.bound(module.class(class).scope, name)?;
            let own = ClassType::bare(file, class);
            let is_near = self.derives(&own, around) || self.derives(around, &own);
            is_near.then_some(Target::Symbol(file, symbol))
        };
        self.classes_with(word).filter_map(member).collect()
    }

    /// Returns whether no other class of the workspace has a name.
    fn is_only_class(&self, class: Target, name: Name) -> bool {
        self.classes_with(Word::of(name.text())).all(|(file, it)| {
            let module = self.module(file);
            let it = module.class(it);
            it.name != name || Target::Symbol(file, module.binding(it.binding).symbol) == class
        })
    }

    /// Returns the classes in files with a word.
    fn classes_with(&self, word: Word) -> impl Iterator<Item = (FileId, ClassId)> + '_ {
        let files = self.index.files().filter(move |it| self.index.words(*it).has(word));
        let numbered = |file| {
            let count = self.module(file).classes.len() as u32;
            (0..count).map(move |it| (file, ClassId(it)))
        };
        files.flat_map(numbered)
    }

    /// Returns the class by whose name code looks up a member.
    pub(crate) fn class_named_in(
        &self,
        file: FileId,
        class: ClassId,
        member: Name,
    ) -> Option<Name> {
        let own = ClassType::bare(file, class);
        let affixes = Affixes::new(affixes(member.text()));
        let may_hold = |it: &FileId| affixes.may_be_in(self.index, *it);
        let near = parts(self.index, may_hold).filter(|(file, it)| {
            let around = it.within.map(|it| ClassType::bare(*file, it));
            around.is_some_and(|it| self.derives(&own, &it) || self.derives(&it, &own))
        });
        let mut classes = near.filter_map(|(_, it)| it.rest(member.text())).map(Name::of);
        classes.find(|name| {
            let mut all = self.classes_with(Word::of(name.text()));
            all.any(|(file, it)| self.module(file).class(it).name == *name)
        })
    }

    /// Returns whether a target is a class.
    pub(crate) fn is_class(&self, target: Target) -> bool {
        let Target::Symbol(file, symbol) = target else { return false };
        let module = self.module(file);
        let mut bindings = module.symbol(symbol).bindings.iter();
        bindings.any(|it| matches!(module.binding(*it).kind, BindingKind::Class(_)))
    }
}
