//! Searches all files that contain a word for identifiers with the same meaning.

use memchr::memmem;
use rustc_hash::FxHashSet;

use super::ask::ask_each;
use super::composed::{Affixes, affixes, looks_up};
use super::compounds::{Compound, compounds};
use super::eval::Eval;
use super::ir::*;
use super::meaning::{Meaning, Target, Uncertainty};
use super::names::Name;
use super::types::ClassType;
use crate::index::{DocumentKind, FileId, Index, Word, WordSet};
use crate::test_files::is_test_file;

/// An identifier that refers, or may refer, to the search target.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    pub(crate) file: FileId,
    pub(crate) occurrence: Occurrence,
    pub(crate) meaning: Meaning,
    /// Set if the match is only possible.
    pub(crate) uncertainty: Option<Uncertainty>,
    /// Set if the name is a part of another one, whose symbols the meaning has.
    pub(crate) compound: Option<Compound>,
}

/// The targets of a search, with the properties that limit where to search.
pub(crate) struct SearchTarget {
    targets: FxHashSet<Target>,
    names: Vec<Name>,
    /// Parts of the names that code may put together with the rest.
    affixes: Affixes,
    /// Names that code may put together from the name of a class, as in `"visit_" + cls.__name__`.
    compounds: Vec<Compound>,
    /// Classes that have a target as a member.
    owners: Vec<ClassType>,
    /// Those of them that are enums.
    enums: Vec<ClassType>,
    /// True if a target is a parameter of a test.
    tests: bool,
    /// True if strings in the file may be the name of a target that is bound in a function.
    strings: bool,
    members: bool,
    globals: bool,
    parameters: bool,
    fields: bool,
    /// The only file to search, if all targets are bound in its functions and are not parameters.
    only_in: Option<FileId>,
    /// The file of the functions whose parameters are the targets; in other files only keywords of
    /// calls can match.
    keywords_beyond: Option<FileId>,
    /// The names by which the functions of the parameters are called.
    callees: Vec<Name>,
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
                        self.fields |= info.has_fields;
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
    }

    /// Returns the files that can contain matches, by path.
    fn files(&self, index: &Index) -> Vec<FileId> {
        let names = words(&self.names);
        let enums = self.enums.iter().map(|it| index.class_name(it));
        let others = WordSet::of(self.compounds.iter().map(|it| it.name.text()).chain(enums));
        let holds = |file: &FileId| {
            let of_file = index.words(*file);
            of_file.has_any(&names) && self.may_name(index, *file)
                || self.affixes.may_be_in(index, *file)
                || of_file.has_any(&others)
                || self.owners.iter().any(|it| it.file == *file && looks_up(index, *file))
        };
        let mut files: Vec<FileId> = match self.only_in {
            Some(file) => vec![file],
            None => index.files().filter(holds).collect(),
        };
        files.sort_by_key(|it| index.path(*it));
        files
    }

    fn may_name(&self, index: &Index, file: FileId) -> bool {
        match self.keywords_beyond {
            Some(home) if home != file => {
                if self.tests && is_test_file(index.path(file)) {
                    return true;
                }
                let text = index.text(file).unwrap_or_default();
                let unpacks = text.contains("**");
                let is_named = |name: &str| {
                    has_keyword(&text, name)
                        || unpacks
                            && ["'", "\""]
                                .iter()
                                .any(|it| text.contains(&format!("{it}{name}{it}")))
                };
                self.names.iter().any(|it| is_named(it.text()))
            }
            _ => true,
        }
    }

    /// Returns whether an identifier needs to be resolved.
    fn is_near(&self, eval: &Eval<'_>, file: FileId, it: &Occurrence) -> bool {
        if let Role::Quoted(Quoted::Prefix(_) | Quoted::Suffix(_)) = it.role {
            return self.affixes.contains(it.name)
                && Affixes::new(vec![it.name]).may_be_in(eval.index, file)
                && self.targets.iter().any(|target| eval.may_look_up(file, it, *target));
        }
        if !self.names.contains(&it.name) {
            return self.compound(it.name).is_some();
        }
        match it.role {
            Role::Attribute(expr) => match eval.module(file).expr(expr) {
                Expr::Attribute(object, ..) => {
                    self.members || self.globals && eval.may_be_module(file, object)
                }
                _ => false,
            },
            Role::Keyword(_) | Role::ClassKeyword(_) => self.parameters || self.fields,
            Role::Quoted(Quoted::Plain | Quoted::LookedUp) => {
                self.members || self.globals || self.strings
            }
            Role::Quoted(Quoted::Attribute(_)) => self.members || self.globals,
            Role::Quoted(Quoted::Key(_) | Quoted::Entry(_)) => {
                self.members || self.globals || self.parameters
            }
            Role::Slot(_) | Role::MatchArgument(_) => self.members,
            _ => true,
        }
    }

    fn compound(&self, name: Name) -> Option<Compound> {
        self.compounds.iter().find(|it| it.name == name).copied()
    }

    /// Returns the match of a name put together from the target's: certain where code looks it up
    /// by the target, possible where the name is bound otherwise.
    fn compound_match(&self, eval: &Eval<'_>, file: FileId, it: &Occurrence) -> Option<Match> {
        let compound = self.compound(it.name)?;
        let meaning = eval.meaning(file, it);
        let certain = meaning.targets.iter().any(|it| self.targets.contains(it));
        let may_be = matches!(it.role, Role::Binding(_)) || meaning.uncertainty.is_some();
        let uncertainty = (!certain).then_some(Uncertainty::Compound);
        (certain || may_be).then_some(Match {
            file,
            occurrence: compound.part_of(it),
            meaning,
            uncertainty,
            compound: Some(compound),
        })
    }

    /// Returns whether a doubt concerns the targets. A parameter is no attribute, whatever a string
    /// says, but a mapping that a call unpacks may have it as a key.
    fn may_mean(&self, eval: &Eval<'_>, it: &Occurrence, file: FileId, doubt: Uncertainty) -> bool {
        let of_string = matches!(doubt, Uncertainty::Plain | Uncertainty::Key);
        if self.members || self.globals || self.strings || !of_string {
            return true;
        }
        let module = eval.module(file);
        let is_key = match it.role {
            // A mapping with a name is followed to the calls that unpack it.
            Role::Quoted(Quoted::Entry(place)) => {
                !matches!(module.expectations[place.index()], Expectation::Symbol(_))
            }
            Role::Quoted(Quoted::Key(_)) => true,
            _ => false,
        };
        is_key && module.arguments.iter().any(|it| it.kind == ArgumentKind::Keywords)
    }

    fn matches(&self, eval: &Eval<'_>, file: FileId) -> Vec<Match> {
        let occurrences = eval.module(file).occurrences.iter();
        let near = occurrences.filter(|it| self.is_near(eval, file, it));
        let computed =
            [eval.computed_keys(file, &self.enums), eval.computed_attributes(file, &self.owners)];
        let computed = computed.concat().into_iter().map(|it| Match {
            file,
            occurrence: it,
            meaning: Meaning::doubtful(Uncertainty::Computed),
            uncertainty: Some(Uncertainty::Computed),
            compound: None,
        });
        let look = |it: &Occurrence| {
            eval.refresh();
            if !self.names.contains(&it.name) && self.compound(it.name).is_some() {
                return self.compound_match(eval, file, it);
            }
            let meaning = eval.meaning(file, it);
            let certain = meaning.targets.iter().any(|it| self.targets.contains(it));
            let doubt = meaning.uncertainty.or(meaning.others).filter(|_| !certain);
            let uncertainty = doubt.filter(|doubt| self.may_mean(eval, it, file, *doubt));
            (certain || uncertainty.is_some()).then_some(Match {
                file,
                occurrence: *it,
                meaning,
                uncertainty,
                compound: None,
            })
        };
        let mut found: Vec<Match> = near.filter_map(look).chain(computed).collect();
        let mentions = eval.index.mentions(file, &self.names);
        let other =
            mentions.iter().filter(|it| !found.iter().any(|known| known.occurrence.at == it.at));
        let other: Vec<Match> =
            other.filter(|it| !is_resolved(eval, file, it.at)).filter_map(look).collect();
        found.extend(other);
        found.sort_by_key(|it| it.occurrence.at);
        found
    }

    /// Returns all matches that may be certain, by path and position: those in code, then those in
    /// settings.
    pub(crate) fn search(&self, index: &Index) -> Vec<Match> {
        let settings = self.documents(index, |_, it| it == DocumentKind::Settings);
        let files = [self.files(index), settings].concat();
        ask_each(index, &files, |eval, file| self.matches(eval, file))
    }

    /// Returns the matches in documentation, templates and notebooks, by path and position. Only
    /// those in examples that import the name are certain.
    pub(crate) fn search_prose(&self, index: &Index) -> Vec<Match> {
        self.search_documents(index, |_, it| it != DocumentKind::Settings)
    }

    /// Returns the matches in documents with examples that import something: all certain ones in
    /// prose, and some of the others.
    pub(crate) fn search_examples(&self, index: &Index) -> Vec<Match> {
        let import = Word::of("import");
        let has_examples = |kind| matches!(kind, DocumentKind::Prose | DocumentKind::Notebook);
        self.search_documents(index, |file, kind| {
            has_examples(kind) && index.words(file).has(import)
        })
    }

    fn search_documents(
        &self,
        index: &Index,
        is_wanted: impl Fn(FileId, DocumentKind) -> bool,
    ) -> Vec<Match> {
        let files = self.documents(index, is_wanted);
        ask_each(index, &files, |eval, file| self.matches(eval, file))
    }

    /// Returns the documents that can contain matches, by path. They name no local names, and
    /// parameters only beside their functions.
    fn documents(
        &self,
        index: &Index,
        is_wanted: impl Fn(FileId, DocumentKind) -> bool,
    ) -> Vec<FileId> {
        let is_anywhere = self.members || self.globals;
        let (names, callees) = (words(&self.names), words(&self.callees));
        let holds = |file: &FileId| {
            let of_file = || index.words(*file);
            let is_named =
                |kind| is_anywhere || kind != DocumentKind::Settings && of_file().has_any(&callees);
            index.document(*file).is_some_and(|kind| {
                of_file().has_any(&names) && is_named(kind) && is_wanted(*file, kind)
            })
        };
        if !is_anywhere && !self.parameters {
            return Vec::new();
        }
        let mut files: Vec<FileId> = index.documents().filter(holds).collect();
        files.sort_by_key(|it| index.path(*it));
        files
    }
}

/// Returns whether the code at an offset of a document means a known symbol.
fn is_resolved(eval: &Eval<'_>, file: FileId, at: u32) -> bool {
    let occurrences = &eval.module(file).occurrences;
    let there = occurrences.binary_search_by_key(&at, |it| it.at).ok();
    there.is_some_and(|it| {
        let targets = eval.meaning(file, &occurrences[it]).targets;
        targets.iter().any(|it| !matches!(it, Target::Outside(_)))
    })
}

fn words(names: &[Name]) -> WordSet {
    WordSet::of(names.iter().map(|it| it.text()))
}

/// Returns whether a text contains `name=`.
fn has_keyword(text: &str, name: &str) -> bool {
    memmem::find_iter(text.as_bytes(), name).any(|at| {
        let behind = text[at + name.len()..].trim_start_matches([' ', '\t']);
        behind.starts_with('=')
    })
}
