//! Finds references and definitions, and renames symbols, with the resolver.

use std::ops::Range;

use super::{FileId, Index, Place, Word};
use crate::semantics::{self, Match, Role, SearchTarget, ask};

/// Kind of a reference to a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    /// A place that binds the name: `def`, `class`, an assignment, a parameter.
    Definition,
    /// A name in an import statement.
    Import,
    /// A name in `__all__`.
    Export,
    /// A parameter or field named in a call.
    Keyword,
    /// Any other use.
    Use,
}

impl ReferenceKind {
    /// Returns the lowercase name used in results.
    pub fn as_str(self) -> &'static str {
        match self {
            ReferenceKind::Definition => "definition",
            ReferenceKind::Import => "import",
            ReferenceKind::Export => "export",
            ReferenceKind::Keyword => "keyword",
            ReferenceKind::Use => "use",
        }
    }
}

/// One reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The identifier alone.
    pub place: Place,
    /// Kind of the reference.
    pub kind: ReferenceKind,
    /// The reason why the reference is only possible; `None` if it is certain.
    pub uncertainty: Option<&'static str>,
}

/// All references of the symbol at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct References {
    /// Name of the symbol.
    pub name: String,
    /// References, definitions included; by path, then by position.
    pub found: Vec<Reference>,
    /// True if every reference is certain and every file that contains the word could be read.
    pub complete: bool,
    /// The reasons why the list is incomplete, as sentences.
    pub reasons: Vec<String>,
}

/// All edits of a rename.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// Old name.
    pub from: String,
    /// New name.
    pub to: String,
    /// Disjoint ranges of each file, ascending; files by path.
    pub edits: Vec<(FileId, Vec<Range<usize>>)>,
    /// Unchanged places that may refer to the symbol, with the reason for the doubt.
    pub possible: Vec<(Place, &'static str)>,
    /// Use of the old name by something that no place shows, as a sentence.
    pub fixed_by: Option<String>,
}

/// The reason why a rename was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenameRefused {
    #[error("there is no name at this place")]
    NoName,
    #[error("{to:?} is not a Python identifier")]
    NoIdentifier { to: String },
    #[error("`{to}` is a Python keyword")]
    Keyword { to: String },
    #[error("`{to}` is a builtin, which the new name would hide")]
    Builtin { to: String },
    #[error("`{name}` is not defined in the workspace: {what}")]
    Outside { name: String, what: String },
    #[error("`{name}` is a module: rename its file instead")]
    Module { name: String },
    #[error("Python itself looks for the name `{name}`")]
    Special { name: String },
    #[error("`{name}` cannot have another name: {why}")]
    Convention { name: String, why: String },
    #[error("cannot determine what `{name}` refers to here: {why}")]
    Unknown { name: String, why: &'static str },
    /// `what` describes the symbol that already has the new name, `place` is its position.
    #[error("`{to}` would clash: {what}")]
    Clash { to: String, what: String, place: Option<Place> },
}

impl Index {
    /// Returns the definitions of the symbol at an offset.
    pub fn definition(&self, file: FileId, offset: usize) -> Vec<Place> {
        let Some(occurrence) = self.module(file).occurrence(offset as u32).copied() else {
            return Vec::new();
        };
        ask(self, |eval| {
            let targets = eval.meaning(file, &occurrence).targets;
            let mut places: Vec<Place> = targets
                .into_iter()
                .flat_map(|it| eval.definitions(it))
                .filter(|it| self.get(it.file).is_some())
                .collect();
            places.dedup();
            places
        })
    }

    /// Returns every reference of the symbol at an offset; `None` if there is no name.
    pub fn references(&self, file: FileId, offset: usize) -> Option<References> {
        self.references_in(file, offset, true)
    }

    /// Returns the certain references of the symbol at an offset. Of the documentation it analyzes
    /// only what has examples.
    pub fn certain_references(&self, file: FileId, offset: usize) -> Option<Vec<Reference>> {
        let all = self.references_in(file, offset, false)?.found;
        Some(all.into_iter().filter(|it| it.uncertainty.is_none()).collect())
    }

    fn references_in(&self, file: FileId, offset: usize, all_prose: bool) -> Option<References> {
        let occurrence = *self.module(file).occurrence(offset as u32)?;
        self.scan_words();
        let name = occurrence.name.text().to_owned();
        let wanted = ask(self, |eval| {
            let targets = eval.with_counterparts(eval.meaning(file, &occurrence).targets);
            let beyond: Vec<String> =
                targets.iter().filter_map(|it| eval.external_use_reason(*it)).collect();
            (!targets.is_empty()).then(|| (SearchTarget::new(eval, targets), beyond))
        });
        let Some((wanted, beyond)) = wanted else {
            return Some(self.nothing_known(file, &occurrence));
        };
        let prose =
            if all_prose { wanted.search_prose(self) } else { wanted.search_examples(self) };
        let matches = [wanted.search(self), prose].concat();
        let spoken =
            matches.iter().filter(|it| !matches!(it.occurrence.role, Role::MatchArgument(_)));
        let found: Vec<Reference> = spoken.map(|it| self.reference(it)).collect();
        let mut reasons: Vec<String> =
            found.iter().filter_map(|it| it.uncertainty).map(str::to_owned).collect();
        reasons.sort();
        reasons.dedup();
        reasons.extend(beyond);
        reasons.extend(self.unread(&name));
        Some(References { name, found, complete: reasons.is_empty(), reasons })
    }

    /// Returns only the place itself, for a name that could refer to anything.
    fn nothing_known(&self, file: FileId, it: &crate::semantics::Occurrence) -> References {
        let range = it.range();
        let why = "cannot determine what the name refers to here";
        let found = vec![Reference {
            place: Place { file, range },
            kind: ReferenceKind::Use,
            uncertainty: Some(why),
        }];
        References {
            name: it.name.text().to_owned(),
            found,
            complete: false,
            reasons: vec![why.to_owned()],
        }
    }

    /// Returns a reason for each file that contains a word and could not be parsed.
    fn unread(&self, word: &str) -> Vec<String> {
        let word = Word::of(word);
        let holding =
            self.files().filter(|it| self.words(*it).has(word) && self.module(*it).unread);
        holding.map(|it| format!("cannot parse {}", self.path(it))).collect()
    }

    fn reference(&self, it: &Match) -> Reference {
        let place = Place { file: it.file, range: it.occurrence.range() };
        Reference { place, kind: self.kind(it), uncertainty: it.uncertainty.map(|it| it.reason()) }
    }

    fn kind(&self, it: &Match) -> ReferenceKind {
        let module = self.module(it.file);
        match it.occurrence.role {
            _ if it.compound.is_some() => ReferenceKind::Use,
            Role::Binding(binding) if module.binding(binding).kind.is_transparent() => {
                ReferenceKind::Import
            }
            Role::Binding(_) => ReferenceKind::Definition,
            Role::Member(_) | Role::Part(..) => ReferenceKind::Import,
            Role::Export => ReferenceKind::Export,
            Role::Keyword(_) => ReferenceKind::Keyword,
            Role::Attribute(_) if module.binds_at(it.occurrence.at) => ReferenceKind::Definition,
            _ => ReferenceKind::Use,
        }
    }

    /// Returns the range of the name that would be renamed at an offset.
    pub fn prepare_rename(
        &self,
        file: FileId,
        offset: usize,
    ) -> Result<Range<usize>, RenameRefused> {
        semantics::prepare(self, file, offset)
    }

    /// Returns the edits that rename the symbol at an offset everywhere. Refused if a library, or
    /// code that takes names from data, looks for the name.
    pub fn rename(&self, file: FileId, offset: usize, to: &str) -> Result<Rename, RenameRefused> {
        semantics::rename(self, file, offset, to)
    }

    /// Does the same as [`Index::rename`] for a name that something looks for.
    pub fn rename_anyway(
        &self,
        file: FileId,
        offset: usize,
        to: &str,
    ) -> Result<Rename, RenameRefused> {
        semantics::rename_anyway(self, file, offset, to)
    }
}
