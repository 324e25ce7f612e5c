//! The target of a search: symbols, with the properties that limit where to look.

use rustc_hash::FxHashSet;

use super::composed::{Affixes, affixes};
use super::compounds::{Compound, compounds};
use super::eval::Eval;
use super::ir::*;
use super::meaning::Target;
use super::names::{KNOWN, Name};
use super::types::ClassType;
use crate::index::FileId;

/// The targets of a search, with the properties that limit where to search.
pub(crate) struct SearchTarget {
    pub(super) targets: FxHashSet<Target>,
    pub(super) names: Vec<Name>,
    /// Parts of the names that code may put together with the rest.
    pub(super) affixes: Affixes,
    /// Names that code may put together from the name of a class, as in `"visit_" + cls.__name__`.
    pub(super) compounds: Vec<Compound>,
    /// Classes that have a target as a member.
    pub(super) owners: Vec<ClassType>,
    /// Those of them that are enums.
    pub(super) enums: Vec<ClassType>,
    /// True if a target is a parameter of a test.
    pub(super) tests: bool,
    /// True if strings in the file may be the name of a target that is bound in a function.
    pub(super) strings: bool,
    pub(super) members: bool,
    pub(super) globals: bool,
    pub(super) parameters: bool,
    pub(super) fields: bool,
    /// The only file to search, if all targets are bound in its functions and are not parameters.
    pub(super) only_in: Option<FileId>,
    /// The file of the functions whose parameters are the targets; in other files only keywords of
    /// calls can match.
    pub(super) keywords_beyond: Option<FileId>,
    /// The names by which the functions of the parameters are called.
    pub(super) callees: Vec<Name>,
}

impl SearchTarget {
    pub(crate) fn new(eval: &Eval<'_>, targets: impl IntoIterator<Item = Target>) -> SearchTarget {
        let mut wanted = SearchTarget {
            targets: targets.into_iter().collect(),
            names: Vec::new(),
            affixes: Affixes::default(),
            compounds: Vec::new(),
            owners: Vec::new(),
            enums: Vec::new(),
            tests: false,
            strings: false,
            members: false,
            globals: false,
            parameters: false,
            fields: false,
            only_in: None,
            keywords_beyond: None,
            callees: Vec::new(),
        };
        let all: Vec<Target> = wanted.targets.iter().copied().collect();
        let mut local = FxHashSet::default();
        for target in &all {
            local.extend(wanted.note(eval, *target));
        }
        wanted.names.sort_unstable();
        wanted.names.dedup();
        for class in all.iter().filter(|it| eval.is_class(**it)) {
            wanted.targets.extend(eval.members_named_after(*class));
            wanted.compounds = compounds(eval.index, &wanted.names);
            wanted.compounds.extend(eval.private_names(*class));
        }
        if wanted.members || wanted.globals {
            let affixes = wanted.names.iter().flat_map(|it| affixes(it.text()));
            wanted.affixes = Affixes::new(affixes.collect());
        }
        let file = local.iter().next().copied().filter(|_| local.len() == 1);
        if !wanted.members && !wanted.globals {
            if wanted.parameters { wanted.keywords_beyond = file } else { wanted.only_in = file }
        }
        wanted
    }

    /// Records the properties of a target. Returns its file if it is bound in a function.
    fn note(&mut self, eval: &Eval<'_>, target: Target) -> Option<FileId> {
        let name = match target {
            Target::Module(path) | Target::Outside(path) => {
                self.globals = true;
                Name::of(path.text().rsplit(['/', '.']).next().unwrap_or_default())
            }
            Target::Symbol(file, symbol) => {
                let module = eval.module(file);
                let it = module.symbol(symbol);
                self.names.push(it.name);
                match module.scopes[it.scope.index()].kind {
                    ScopeKind::Module => self.globals = true,
                    ScopeKind::Class(class) => {
                        self.members = true;
                        let info = eval.class(file, class);
                        let is_declared = |it: &BindingId| match module.binding(*it).kind {
                            BindingKind::Annotated(..) => true,
                            BindingKind::Value(value) => module.call(value).is_some(),
                            _ => false,
                        };
                        // A base class that is not known may make keywords of annotated names, and
                        // of names with a value such as `Integer()`.
                        self.fields |= info.has_fields
                            || !info.complete && it.bindings.iter().any(is_declared);
                        if self.fields {
                            self.callees.push(module.class(class).name);
                        }
                        self.owners.push(ClassType::bare(file, class));
                        self.enums.extend(info.is_enum.then(|| ClassType::bare(file, class)));
                    }
                    kind => {
                        let is_parameter = |it: &BindingId| {
                            matches!(module.binding(*it).kind, BindingKind::Parameter(..))
                        };
                        if it.bindings.iter().any(is_parameter) {
                            self.parameters = true;
                            self.note_callee(module, kind);
                        }
                        let is_definition = |it: &BindingId| {
                            let kind = module.binding(*it).kind;
                            matches!(kind, BindingKind::Function(_) | BindingKind::Class(_))
                        };
                        self.strings |= self.tests || it.bindings.iter().any(is_definition);
                        return Some(file);
                    }
                }
                return None;
            }
        };
        self.names.push(name);
        None
    }

    /// Records the name by which the function of a parameter is called.
    fn note_callee(&mut self, module: &Module, scope: ScopeKind) {
        let ScopeKind::Function(function) = scope else { return };
        let function = module.function(function);
        let Some(name) = function.name else { return };
        self.tests |= name.text().starts_with("test");
        let is_constructor = matches!(name.text(), "__init__" | "__new__");
        let class = function.class.filter(|_| is_constructor);
        self.callees.push(class.map_or(name, |it| module.class(it).name));
        self.callees.extend(class.map(|_| KNOWN.init));
    }
}
