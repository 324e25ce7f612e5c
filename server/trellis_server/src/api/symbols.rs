//! Queries on symbols: definitions and uses.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_python::{Index, Located, Outline, SymbolKind, Unused};

use super::symbol_query::{SourcePosition, SymbolQuery, no_name, parsed};
use crate::type_checker::Checker;
use trellis_project::symbols::locations::{
    Caller, Location, Range, Reference, place, reference, spot, user,
};
use trellis_project::symbols::outline_view::{self, Definition, OutlineView};
use trellis_project::symbols::unique::name;
use trellis_workflows::fault::Fault;

/// Results that say whether they are complete.
pub trait Completeness: Sized {
    /// Returns `complete` and `reasons`.
    fn doubts(&mut self) -> (&mut bool, &mut Vec<String>);

    /// Adds reasons why the result may be incomplete, such as unreadable files.
    fn also_incomplete(mut self, more: impl IntoIterator<Item = String>) -> Self {
        let (complete, reasons) = self.doubts();
        let before = reasons.len();
        reasons.extend(more);
        *complete &= reasons.len() == before;
        self
    }
}

macro_rules! reasoned {
    ($($result:ty),*) => {$(
        impl $crate::api::symbols::Completeness for $result {
            fn doubts(&mut self) -> (&mut bool, &mut Vec<String>) {
                (&mut self.complete, &mut self.reasons)
            }
        }
    )*};
}
pub(super) use reasoned;

/// Finds definitions by name or name path.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindSymbolParams {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
    pub name_path: String,
    /// Folder or file to search; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Whether the last part of the name path may be any part of the symbol's name.
    #[serde(default)]
    pub substring: bool,
    /// Only symbols of these kinds; all kinds if empty.
    #[serde(default)]
    pub kinds: Vec<Kind>,
    /// Whether results include the text of the definitions.
    #[serde(default)]
    pub body: bool,
    /// How many levels of inner definitions to include; 0 if left out.
    #[serde(default)]
    pub depth: usize,
}

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    Class,
    Function,
    Method,
    Property,
    Variable,
    Attribute,
}

impl Kind {
    /// All kinds, in the order of [`SymbolKind::ALL`].
    pub const ALL: [Kind; 6] = [
        Kind::Class,
        Kind::Function,
        Kind::Method,
        Kind::Property,
        Kind::Variable,
        Kind::Attribute,
    ];
}

impl From<Kind> for SymbolKind {
    fn from(kind: Kind) -> SymbolKind {
        match kind {
            Kind::Class => SymbolKind::Class,
            Kind::Function => SymbolKind::Function,
            Kind::Method => SymbolKind::Method,
            Kind::Property => SymbolKind::Property,
            Kind::Variable => SymbolKind::Variable,
            Kind::Attribute => SymbolKind::Attribute,
        }
    }
}

/// The definitions found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindSymbolResult {
    /// By file, in text order.
    pub symbols: Vec<outline_view::SymbolMatch>,
}

pub fn find_symbol(index: &Index, params: &FindSymbolParams) -> Result<FindSymbolResult, Fault> {
    let pattern = parsed(&params.name_path)?;
    let kinds: Vec<SymbolKind> = params.kinds.iter().map(|it| (*it).into()).collect();
    let all = index.find(&pattern, params.substring, &kinds);
    let in_file = |matches: &[Located]| {
        let file = matches.first()?.file;
        let (text, outline) = (index.text(file)?, index.outline(file));
        let sheet = OutlineView::of(&text, &outline);
        let found =
            |it: &Located| sheet.found(index.path(file), it.symbol, params.body, params.depth);
        Some(matches.iter().map(found).collect::<Vec<_>>())
    };
    let symbols = all.chunk_by(|a, b| a.file == b.file).filter_map(in_file).flatten().collect();
    Ok(FindSymbolResult { symbols })
}

/// Shows what one file defines, as a tree.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DocumentSymbolsParams {
    /// The file; one with syntax errors is shown as far as it can be parsed.
    pub file: PathBuf,
    /// The number of levels to show, from 1; all if left out.
    #[serde(default)]
    pub depth: Option<u32>,
}

/// What a file defines.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentSymbolsResult {
    /// As requested.
    pub file: String,
    /// Top-level definitions, in text order.
    pub symbols: Vec<Definition>,
    /// Where the file is not valid Python, as sentences.
    pub errors: Vec<String>,
}

/// Returns the result for a file with this text.
pub fn document_symbols(source: &str, params: &DocumentSymbolsParams) -> DocumentSymbolsResult {
    let outline = Outline::of(source);
    let below = params.depth.map_or(usize::MAX, |it| (it as usize).saturating_sub(1));
    DocumentSymbolsResult {
        file: params.file.to_string_lossy().into_owned(),
        symbols: OutlineView::of(source, &outline).tree(below),
        errors: outline.errors.iter().map(ToString::to_string).collect(),
    }
}

/// Lists all references of a symbol: uses, imports, exports, its definition.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindReferencingSymbolsParams {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
    #[serde(default)]
    pub name_path: Option<String>,
    /// A place where the symbol is named, instead of its name path.
    #[serde(default)]
    pub at: Option<SourcePosition>,
    /// Folder to search; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// An installed type checker to run as well: results show which possible references it confirms.
    #[serde(default)]
    pub confirm: Option<Checker>,
}

/// References of a symbol.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindReferencingSymbolsResult {
    /// Sorted by path and position.
    pub references: Vec<Reference>,
    /// Whether there are certainly no others.
    pub complete: bool,
    /// Why there may be others, as sentences.
    pub reasons: Vec<String>,
    /// The name, for files that were not searched.
    #[serde(skip)]
    pub name: String,
}

/// Finds references without a type checker; [`super::confirm::confirm`] adds that.
pub fn find_referencing_symbols(
    index: &Index,
    params: &FindReferencingSymbolsParams,
) -> Result<FindReferencingSymbolsResult, Fault> {
    let meant = SymbolQuery::of(params.name_path.as_deref(), params.at.as_ref(), None)?;
    let (file, offset) = meant.place(index)?;
    let found = index.references(file, offset).ok_or_else(no_name)?;
    Ok(FindReferencingSymbolsResult {
        references: found.found.iter().filter_map(|it| reference(index, it)).collect(),
        complete: found.reasons.is_empty(),
        reasons: found.reasons,
        name: found.name,
    })
}

/// Lists what uses a symbol: the functions and classes around the uses.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindCallersParams {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
    #[serde(default)]
    pub name_path: Option<String>,
    /// A place where the symbol is named, instead of its name path.
    #[serde(default)]
    pub at: Option<SourcePosition>,
    /// Folder to search; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
}

/// What uses a symbol.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindCallersResult {
    /// Sorted by path and position.
    pub callers: Vec<Caller>,
    /// Whether there are certainly no others.
    pub complete: bool,
    /// Why there may be others, as sentences.
    pub reasons: Vec<String>,
    /// The name, for files that were not searched.
    #[serde(skip)]
    pub name: String,
}

pub fn find_callers(index: &Index, params: &FindCallersParams) -> Result<FindCallersResult, Fault> {
    let meant = SymbolQuery::of(params.name_path.as_deref(), params.at.as_ref(), None)?;
    let (file, offset) = meant.place(index)?;
    let callers = index.callers(file, offset).ok_or_else(no_name)?;
    let all = index.references(file, offset).ok_or_else(no_name)?;
    Ok(FindCallersResult {
        callers: callers.iter().map(|it| user(index, it)).collect(),
        complete: all.reasons.is_empty(),
        reasons: all.reasons,
        name: all.name,
    })
}

/// Shows where the symbol at a place is defined.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindDefinitionParams {
    /// A place where the symbol is named.
    pub at: SourcePosition,
    /// Folder to search; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
}

/// Where a symbol is defined.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindDefinitionResult {
    /// The places of its definitions; empty if no file of the folder defines it.
    pub definitions: Vec<Location>,
}

pub fn find_definition(
    index: &Index,
    params: &FindDefinitionParams,
) -> Result<FindDefinitionResult, Fault> {
    let (file, offset) = SymbolQuery::of(None, Some(&params.at), None)?.place(index)?;
    let places = index.definition(file, offset);
    Ok(FindDefinitionResult {
        definitions: places.iter().filter_map(|it| place(index, it)).collect(),
    })
}

/// Lists functions, classes and methods that nothing uses outside their own text.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindUnusedParams {
    /// Folder to search; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
}

/// The unused definitions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindUnusedResult {
    /// By file, in text order.
    pub unused: Vec<UnusedSymbol>,
    /// Known gaps, as sentences: unused definitions that are not listed, and listed ones that may be used.
    pub left_out: [&'static str; 5],
    /// Whether every file could be read.
    pub complete: bool,
    /// Why something may still be used, as sentences.
    pub reasons: Vec<String>,
}

/// A definition that nothing uses.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnusedSymbol {
    pub name: String,
    /// `Class/name`, `name[1]` for the second with that name in its scope.
    pub name_path: String,
    /// `class`, `function`, `method` or `property`.
    pub kind: &'static str,
    /// The whole definition, decorators included.
    pub range: Range,
    /// The position of its name.
    pub name_range: Range,
    /// From `async`, `def` or `class` to before the colon.
    pub signature: Option<String>,
    /// Relative to the folder of the request.
    pub file: String,
    /// `FILE:LINE:COLUMN`.
    pub place: String,
    /// Code somewhere reads this name from an object of unknown type.
    pub possibly_used: bool,
}

const LEFT_OUT: [&str; 5] = [
    "names that Python or pytest looks for (`__init__`, `test_…`, `Test…`)",
    "methods that override or implement others",
    "anything with a decorator, which may use it elsewhere",
    "variables and attributes",
    "names in `__all__`, which count as used; imports do not",
];

pub fn find_unused(index: &Index) -> FindUnusedResult {
    let reasons = broken(index);
    FindUnusedResult {
        unused: index.unused().iter().filter_map(|it| unused(index, *it)).collect(),
        left_out: LEFT_OUT,
        complete: reasons.is_empty(),
        reasons,
    }
}

/// Returns files with syntax errors, whose uses may be missing.
fn broken(index: &Index) -> Vec<String> {
    let broken = index.files().filter(|it| !index.outline(*it).errors.is_empty());
    let mut paths: Vec<&str> = broken.map(|it| index.path(it)).collect();
    paths.sort_unstable();
    paths
        .iter()
        .map(|it| format!("{it} has syntax errors and may use the listed symbols"))
        .collect()
}

fn unused(index: &Index, it: Unused) -> Option<UnusedSymbol> {
    let (file, symbol) = (it.symbol.file, it.symbol.symbol);
    let (text, outline) = (index.text(file)?, index.outline(file));
    let shape = OutlineView::of(&text, &outline).definition(symbol, 0);
    Some(UnusedSymbol {
        name: shape.name,
        name_path: shape.name_path,
        kind: shape.kind,
        range: shape.range,
        name_range: shape.name_range,
        signature: shape.signature,
        file: index.path(file).to_owned(),
        place: spot(index, &name(index, it.symbol)),
        possibly_used: it.possibly_used,
    })
}

reasoned!(FindReferencingSymbolsResult, FindCallersResult, FindUnusedResult);
