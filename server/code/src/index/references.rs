//! References, definitions and renames: what the resolver is asked for.

use std::ops::Range;

use super::{FileId, Index, Place};

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

/// One reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The identifier, nothing around it.
    pub place: Place,
    /// How it refers.
    pub kind: ReferenceKind,
    /// Why it is only possible: set where the receiver's type is unknown.
    pub doubt: Option<&'static str>,
}

/// All references of the symbol at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct References {
    /// Its name.
    pub name: String,
    /// Definitions included; by path, then by place.
    pub found: Vec<Reference>,
    /// Whether no reference is merely possible and nothing was left unread.
    pub complete: bool,
    /// Why it is not complete, as sentences.
    pub reasons: Vec<String>,
}

/// Every place that a rename changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// What is written there.
    pub to: String,
    /// Disjoint places of each file, ascending.
    pub edits: Vec<(FileId, Vec<Range<usize>>)>,
    /// Places that may mean the symbol and are not changed.
    pub possible: Vec<Place>,
}

/// Why a rename was not made. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenameRefused {
    #[error("there is no name at this place")]
    NoName,
}

impl Index {
    /// Where the symbol at an offset is defined.
    pub fn definition(&self, _file: FileId, _offset: usize) -> Vec<Place> {
        Vec::new()
    }

    /// Every reference of the symbol at an offset; `None` where no name stands.
    pub fn references(&self, _file: FileId, _offset: usize) -> Option<References> {
        None
    }

    /// The name that would be renamed at an offset.
    pub fn prepare_rename(
        &self,
        _file: FileId,
        _offset: usize,
    ) -> Result<Range<usize>, RenameRefused> {
        Err(RenameRefused::NoName)
    }

    /// The edits that give the symbol at an offset another name.
    pub fn rename(
        &self,
        _file: FileId,
        _offset: usize,
        _to: &str,
    ) -> Result<Rename, RenameRefused> {
        Err(RenameRefused::NoName)
    }
}
