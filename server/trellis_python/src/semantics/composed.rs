//! Finds code that puts names together and looks them up: `getattr(self, "visit_" + kind)`.

use std::sync::OnceLock;

use memchr::memmem;
use rustc_hash::FxHashSet;

use super::compounds::ClassPart;
use super::eval::Eval;
use super::ir::*;
use super::meaning::Target;
use super::names::Name;
use super::types::{ClassType, Type};
use crate::index::{FileId, Index, Word};

/// Functions that look up a name at run time.
const LOOKUPS: [&str; 10] = [
    "getattr",
    "setattr",
    "hasattr",
    "delattr",
    "globals",
    "vars",
    "getmembers",
    "methodcaller",
    "attrgetter",
    "__dict__",
];

/// Returns the beginnings and ends of a name that code may put together with the rest: up to or
/// from each underscore, and up to each capital letter in `visitName`.
pub(crate) fn affixes(name: &str) -> Vec<Name> {
    let mut found = Vec::new();
    let letters: Vec<(usize, char)> = name.char_indices().collect();
    for pair in letters.windows(2) {
        let ((at, first), (next, second)) = (pair[0], pair[1]);
        match (first, second) {
            ('_', '_') => {}
            ('_', _) => {
                found.extend([&name[..next], &name[at..]]);
                // A single word is put before many others.
                found.extend(Some(&name[..at]).filter(|it| it.contains('_')));
            }
            (first, second) if first.is_lowercase() && second.is_uppercase() => {
                found.push(&name[..next]);
            }
            _ => {}
        }
    }
    found.retain(|it| it.len() > 1 && it.len() < name.len());
    found.into_iter().map(Name::of).collect()
}

/// Parts of names that code puts together with the rest, for a search in many files.
#[derive(Default)]
pub(crate) struct Affixes {
    names: Vec<(Name, [Word; 2])>,
}

impl Affixes {
    pub(crate) fn new(names: Vec<Name>) -> Affixes {
        // In `"%s_handler"` the letter of the placeholder seems to belong to the word.
        let words = |it: Name| [Word::of(it.text()), Word::of(&format!("s{}", it.text()))];
        Affixes { names: names.into_iter().map(|it| (it, words(it))).collect() }
    }

    /// Returns whether a file may put one of the names together and look it up.
    pub(crate) fn may_be_in(&self, index: &Index, file: FileId) -> bool {
        let has = |it: &Word| index.words(file).has(*it);
        let holds = |(_, words): &(Name, [Word; 2])| words.iter().any(has);
        index.composing(file).looks_up && self.names.iter().any(holds)
    }

    pub(crate) fn contains(&self, name: Name) -> bool {
        self.names.iter().any(|it| it.0 == name)
    }
}

/// Names that a file puts together.
pub(crate) struct Composing {
    /// True if the file may look up names at run time.
    looks_up: bool,
    /// Parts of names that may stand beside the name of a class.
    pub(super) parts: OnceLock<Box<[ClassPart]>>,
}

/// Returns whether a file may look up names at run time.
pub(crate) fn looks_up(index: &Index, file: FileId) -> bool {
    index.composing(file).looks_up
}

impl Module {
    /// Returns whether only a run knows a string: no part of it is written here. Names are followed
    /// to their values for some steps.
    fn is_computed(&self, expr: ExprId, steps: u32) -> bool {
        match self.expr(expr) {
            Expr::String => false,
            Expr::Binary(left, right, _) => {
                self.is_computed(left, steps) && self.is_computed(right, steps)
            }
            Expr::Call(row) => match self.expr(self.calls[row as usize].function) {
                Expr::Attribute(object, ..) => {
                    self.expr(object) != Expr::String || self.is_joined(row)
                }
                _ => true,
            },
            Expr::Element(of, _) => match self.expr(of) {
                Expr::List(all) | Expr::Tuple(all) | Expr::Set(all) => {
                    self.list(all).iter().any(|it| self.is_computed(*it, steps))
                }
                _ => true,
            },
            Expr::Name(_, Some(symbol), _) if steps > 0 => {
                match self.symbol(symbol).bindings.as_slice() {
                    [one] => match self.binding(*one).kind {
                        BindingKind::Value(value) => self.is_computed(value, steps - 1),
                        _ => true,
                    },
                    _ => true,
                }
            }
            _ => true,
        }
    }

    /// Returns whether a call is `"_".join(…)`, whose parts are written elsewhere.
    fn is_joined(&self, row: u32) -> bool {
        let function = self.calls[row as usize].function;
        matches!(self.expr(function), Expr::Attribute(_, name, _) if name.text() == "join")
    }
}

impl Index {
    pub(super) fn composing(&self, file: FileId) -> &Composing {
        static NONE: Composing = Composing { looks_up: false, parts: OnceLock::new() };
        let Some(it) = self.get(file) else { return &NONE };
        it.composing.get_or_init(|| Composing {
            looks_up: LOOKUPS.iter().any(|it| self.words(file).may_hold(it))
                || self.reads_names(file),
            parts: OnceLock::new(),
        })
    }

    /// Returns whether a file reads the names of functions or classes: `f.__name__`.
    fn reads_names(&self, file: FileId) -> bool {
        let read = |it: &std::sync::Arc<str>| memmem::find(it.as_bytes(), b".__name__").is_some();
        self.words(file).may_hold("__name__") && self.text(file).as_ref().is_some_and(read)
    }

    /// Returns the name of a class.
    pub(crate) fn class_name(&self, it: &ClassType) -> &'static str {
        self.module(it.file).class(it.class).name.text()
    }
}

impl Eval<'_> {
    /// Returns the places where members of enums are looked up by computed names: `Color[name]`.
    pub(crate) fn computed_keys(&self, file: FileId, enums: &[ClassType]) -> Vec<Occurrence> {
        let module = self.module(file);
        self.enum_keys(file, enums, |it| module.expr(it) != Expr::String)
    }

    /// Returns the places where the names of an enum's members are read: `color.name`.
    pub(crate) fn member_names(&self, file: FileId, enums: &[ClassType]) -> Vec<Occurrence> {
        if enums.is_empty() {
            return Vec::new();
        }
        let module = self.module(file);
        let is_member = |it: &Type| match it {
            Type::Instance(class) => enums.iter().any(|it| self.derives(class, it)),
            _ => false,
        };
        let reads = |it: &&Occurrence| match it.role {
            Role::Attribute(expr) if matches!(it.name.text(), "name" | "_name_") => {
                match module.expr(expr) {
                    Expr::Attribute(object, ..) => {
                        self.expr(file, object).members().iter().any(is_member)
                    }
                    _ => false,
                }
            }
            _ => false,
        };
        module.occurrences.iter().filter(reads).copied().collect()
    }

    /// Returns whether members of an enum are looked up by names that only a run knows.
    pub(crate) fn is_looked_up_by_data(&self, file: FileId, of: &ClassType) -> bool {
        let module = self.module(file);
        let enums = std::slice::from_ref(of);
        !self.enum_keys(file, enums, |it| module.is_computed(it, 3)).is_empty()
    }

    /// Returns the places where members of enums are looked up by wanted keys.
    fn enum_keys(
        &self,
        file: FileId,
        enums: &[ClassType],
        is_wanted: impl Fn(ExprId) -> bool,
    ) -> Vec<Occurrence> {
        if enums.is_empty() {
            return Vec::new();
        }
        let module = self.module(file);
        let computed = module.exprs.iter().filter_map(|it| match it {
            Expr::Subscript(value, index, _) if is_wanted(*index) => Some(*value),
            _ => None,
        });
        let values: FxHashSet<ExprId> = computed.collect();
        let is_enum = |expr: ExprId| match self.expr(file, expr) {
            Type::Class(class) => enums.iter().any(|it| self.derives(it, &class)),
            _ => false,
        };
        let looks_up = |it: &&Occurrence| match it.role {
            Role::Name(expr) | Role::Attribute(expr) => values.contains(&expr) && is_enum(expr),
            _ => false,
        };
        module.occurrences.iter().filter(looks_up).copied().collect()
    }

    /// Returns the places where attributes of some classes are looked up by computed names:
    /// `getattr(self, name)`.
    pub(crate) fn computed_attributes(
        &self,
        file: FileId,
        owners: &[ClassType],
    ) -> Vec<Occurrence> {
        if owners.is_empty() || !looks_up(self.index, file) {
            return Vec::new();
        }
        let module = self.module(file);
        let is_owner = |object: ExprId| {
            let object = self.expr(file, object);
            object.members().iter().any(|it| match it {
                Type::Class(class) | Type::Instance(class) => {
                    owners.iter().any(|it| self.derives(class, it) || self.derives(it, class))
                }
                _ => false,
            })
        };
        let is_computed = |call: &&Call| match module.arguments_of(call) {
            [object, name, ..] => module.is_computed(name.value, 3) && is_owner(object.value),
            _ => false,
        };
        let is_lookup = |call: &&Call| {
            matches!(module.expr(call.function),
            Expr::Name(name, ..) if matches!(name.text(), "getattr" | "setattr" | "hasattr"))
        };
        let found = module.calls.iter().filter(is_lookup).filter(is_computed);
        let functions: FxHashSet<ExprId> = found.map(|it| it.function).collect();
        let is_found =
            |it: &&Occurrence| matches!(it.role, Role::Name(expr) if functions.contains(&expr));
        module.occurrences.iter().filter(is_found).copied().collect()
    }

    /// Returns whether a name put together in a class may be a member of a target's class: a
    /// related one, or any if the text has several words. Outside of classes it may be a member of
    /// any class.
    pub(crate) fn may_look_up(&self, file: FileId, it: &Occurrence, target: Target) -> bool {
        let Target::Symbol(home, symbol) = target else { return false };
        let module = self.module(home);
        let ScopeKind::Class(class) = module.scopes[module.symbol(symbol).scope.index()].kind
        else {
            return home == file || self.names_module(file, home);
        };
        let around = self.class_around(file, it.scope);
        let own = ClassType::bare(home, class);
        let is_specific = it.name.text().trim_matches('_').contains('_');
        is_specific || around.is_none_or(|it| self.derives(&it, &own) || self.derives(&own, &it))
    }

    /// Returns whether a file has the name of another file's module.
    fn names_module(&self, file: FileId, home: FileId) -> bool {
        let module = super::program::module_of(self.index.path(home)).text();
        let name = module.rsplit(['/', '.']).next().unwrap_or(module);
        self.index.words(file).may_hold(name)
    }

    /// Returns the class around a scope.
    pub(super) fn class_around(&self, file: FileId, scope: ScopeId) -> Option<ClassType> {
        let module = self.module(file);
        module.outwards(scope).find_map(|it| match module.scopes[it.index()].kind {
            ScopeKind::Class(class) => Some(ClassType::bare(file, class)),
            _ => None,
        })
    }
}
