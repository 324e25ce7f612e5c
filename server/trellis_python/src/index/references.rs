//! References, definitions and renames: what the resolver is asked for.

use std::ops::Range;

use super::{FileId, Index, Place};
use crate::semantics::{self, Match, Role, SearchTarget, ask};

/// How a place refers to a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    /// Binds the name: `def`, `class`, an assignment, a parameter.
    Definition,
    /// Names it in an import statement.
    Import,
    /// Names it in `__all__`.
    Export,
    /// Names a parameter or field in a call.
    Keyword,
    /// Anything else.
    Use,
}

impl ReferenceKind {
    /// In lowercase, as results name it.
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
    /// The identifier, nothing around it.
    pub place: Place,
    /// How it refers.
    pub kind: ReferenceKind,
    /// Why it is only possible; `None`: it is certain.
    pub uncertainty: Option<&'static str>,
}

/// All references of the symbol at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct References {
    /// Its name.
    pub name: String,
    /// Definitions included; by path, then by place.
    pub found: Vec<Reference>,
    /// Whether no reference is merely possible and every file that holds the word could be read.
    pub complete: bool,
    /// Why it is not complete, as sentences.
    pub reasons: Vec<String>,
}

/// Every place that a rename changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// What stands there now.
    pub from: String,
    /// What is written there.
    pub to: String,
    /// Disjoint places of each file, ascending; files by path.
    pub edits: Vec<(FileId, Vec<Range<usize>>)>,
    /// Places that may mean the symbol and are not changed, and why they only may.
    pub possible: Vec<(Place, &'static str)>,
}

/// Why a rename was not made. Nothing was changed.
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
    #[error("cannot determine what `{name}` refers to here: {why}")]
    Unknown { name: String, why: &'static str },
    /// `what` says who has the new name already, `place` where.
    #[error("`{to}` would clash: {what}")]
    Clash { to: String, what: String, place: Option<Place> },
}

impl Index {
    /// Where the symbol at an offset is defined.
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

    /// Every reference of the symbol at an offset; `None` where no name stands.
    pub fn references(&self, file: FileId, offset: usize) -> Option<References> {
        let occurrence = *self.module(file).occurrence(offset as u32)?;
        let name = occurrence.name.text().to_owned();
        let wanted = ask(self, |eval| {
            let targets = eval.with_counterparts(eval.meaning(file, &occurrence).targets);
            let beyond: Vec<String> =
                targets.iter().filter_map(|it| eval.called_from_beyond(*it)).collect();
            (!targets.is_empty()).then(|| (SearchTarget::new(eval, targets), beyond))
        });
        let Some((wanted, beyond)) = wanted else {
            return Some(self.nothing_known(file, &occurrence));
        };
        let matches = wanted.search(self);
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

    /// Of a name that could be anything only the place itself is told.
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

    /// Files that hold a word and could not be understood.
    fn unread(&self, word: &str) -> Vec<String> {
        let holding =
            self.files().filter(|it| self.words(*it).may_hold(word) && self.module(*it).unread);
        holding.map(|it| format!("cannot parse {}", self.path(it))).collect()
    }

    fn reference(&self, it: &Match) -> Reference {
        let place = Place { file: it.file, range: it.occurrence.range() };
        Reference { place, kind: self.kind(it), uncertainty: it.uncertainty.map(|it| it.reason()) }
    }

    fn kind(&self, it: &Match) -> ReferenceKind {
        let module = self.module(it.file);
        match it.occurrence.role {
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

    /// The name that would be renamed at an offset.
    pub fn prepare_rename(
        &self,
        file: FileId,
        offset: usize,
    ) -> Result<Range<usize>, RenameRefused> {
        semantics::prepare(self, file, offset)
    }

    /// The edits that give the symbol at an offset another name everywhere.
    pub fn rename(&self, file: FileId, offset: usize, to: &str) -> Result<Rename, RenameRefused> {
        semantics::rename(self, file, offset, to)
    }
}
