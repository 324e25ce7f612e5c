//! Searches all files that contain a word for identifiers with the same meaning.

use memchr::memmem;

use super::ask::ask_each;
use super::composed::{Affixes, looks_up};
use super::compounds::Compound;
use super::eval::Eval;
use super::ir::*;
use super::meaning::{Meaning, Target, Uncertainty};
use super::names::Name;
use super::search_target::SearchTarget;
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

impl SearchTarget {
    /// Returns the files that can contain matches, by path.
    fn files(&self, index: &Index) -> Vec<FileId> {
        let (names, callees) = (words(&self.names), words(&self.callees));
        let enums = self.enums.iter().map(|it| index.class_name(it));
        let compounds = self.compounds.iter().map(|it| it.name.text());
        let public = self.public_fields();
        let public = public.iter().map(|it| it.text());
        let others = WordSet::of(compounds.chain(enums).chain(public));
        let holds = |file: &FileId| {
            let of_file = index.words(*file);
            of_file.has_any(&names) && self.may_name(index, *file)
                || self.affixes.may_be_in(index, *file)
                || of_file.has_any(&others)
                || of_file.has_any(&callees) && unpacks(index, *file)
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
                let unpacks = unpacks(index, file);
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
            Role::Quoted(Quoted::Attribute(_) | Quoted::Tail) => self.members || self.globals,
            Role::Quoted(Quoted::Decorator(of)) => self.is_parameter_of(eval, file, of),
            Role::Quoted(Quoted::Key(_) | Quoted::Entry(_)) => {
                self.members || self.globals || self.parameters
            }
            Role::Slot(_) | Role::MatchArgument(_) => self.members,
            _ => true,
        }
    }

    /// Returns whether a target is a parameter of a function.
    fn is_parameter_of(&self, eval: &Eval<'_>, file: FileId, of: FunctionId) -> bool {
        let mut parameters = eval.module(file).function(of).parameters.iter();
        parameters.any(|it| self.targets.contains(&Target::Symbol(file, it.symbol)))
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
        let may_be = compound.is_private()
            || matches!(it.role, Role::Binding(_))
            || meaning.uncertainty.is_some();
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
        if doubt == Uncertainty::Fixture {
            return self.globals && self.may_be_fixture(eval.index)
                || self.members && self.is_fixture_of_class(eval);
        }
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

    /// Returns whether a target lies where fixtures are made.
    fn may_be_fixture(&self, index: &Index) -> bool {
        let fixture = Word::of("fixture");
        self.targets.iter().any(|it| match it {
            Target::Symbol(file, _) => {
                is_test_file(index.path(*file)) || index.words(*file).has(fixture)
            }
            _ => false,
        })
    }

    /// Returns whether a target is a fixture in a class, which may be a plugin.
    fn is_fixture_of_class(&self, eval: &Eval<'_>) -> bool {
        let is_fixture = |it: &Target| match it {
            Target::Symbol(file, symbol) => eval.names_fixture(*file, *symbol),
            _ => false,
        };
        self.targets.iter().any(is_fixture)
    }

    fn matches(&self, eval: &Eval<'_>, file: FileId) -> Vec<Match> {
        let occurrences = eval.module(file).occurrences.iter();
        let near = occurrences.filter(|it| self.is_near(eval, file, it));
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
        let mut found: Vec<Match> = near.filter_map(look).collect();
        found.extend(self.places_of_doubt(eval, file));
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

/// Returns whether a file may unpack a mapping.
fn unpacks(index: &Index, file: FileId) -> bool {
    index.text(file).is_some_and(|it| memmem::find(it.as_bytes(), b"**").is_some())
}

/// Returns whether a text contains `name=`.
fn has_keyword(text: &str, name: &str) -> bool {
    memmem::find_iter(text.as_bytes(), name).any(|at| {
        let behind = text[at + name.len()..].trim_start_matches([' ', '\t']);
        behind.starts_with('=')
    })
}
