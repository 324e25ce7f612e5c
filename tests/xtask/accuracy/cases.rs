//! Cases in their written form: `[file, line, column]` with lines and columns from 1, columns in
//! code points.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lsp::Place;
use serde_json::Value;

pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) covers: String,
    /// The workspace folder, beside the cases.
    pub(crate) project: String,
    pub(crate) name: String,
    /// Position of the query; files are relative to the project, here and below.
    pub(crate) at: Place,
    /// Places that an answer must contain; `None` if not queried.
    pub(crate) references: Option<BTreeSet<Place>>,
    /// Places that an answer may contain besides.
    pub(crate) possible: BTreeSet<Place>,
    pub(crate) rename: Option<Rename>,
}

pub(crate) struct Rename {
    pub(crate) to: String,
    pub(crate) wanted: Wanted,
}

pub(crate) enum Wanted {
    /// These edits, and possibly some of the optional ones.
    Edits { edits: BTreeSet<Place>, optional: BTreeSet<Place> },
    /// A refusal, for this reason.
    Refusal(String),
}

/// Reads all cases of a file.
pub(crate) fn read(file: &Path) -> Result<Vec<Case>, String> {
    let failed = |error: String| format!("{}: {error}", file.display());
    let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    let cases = value.as_array().ok_or_else(|| failed("no array of cases".to_owned()))?;
    let wrong = |index: usize| failed(format!("case {} (from 1) lacks a field", index + 1));
    let each = cases.iter().enumerate();
    each.map(|(index, value)| case(value).ok_or_else(|| wrong(index))).collect()
}

fn case(value: &Value) -> Option<Case> {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let references = places(&value["references"]);
    Some(Case {
        id: text("id")?,
        covers: text("covers").unwrap_or_default(),
        project: text("project")?,
        name: text("name")?,
        at: place(&value["at"])?,
        rename: rename(&value["rename"], references.as_ref()),
        references,
        possible: places(&value["possible"]).unwrap_or_default(),
    })
}

fn rename(value: &Value, references: Option<&BTreeSet<Place>>) -> Option<Rename> {
    let to = value["to"].as_str()?.to_owned();
    let wanted = match value["refused"].as_str() {
        Some(reason) => Wanted::Refusal(reason.to_owned()),
        None => Wanted::Edits {
            edits: places(&value["edits"]).or_else(|| references.cloned())?,
            optional: places(&value["optionalEdits"]).unwrap_or_default(),
        },
    };
    Some(Rename { to, wanted })
}

fn places(value: &Value) -> Option<BTreeSet<Place>> {
    value.as_array()?.iter().map(place).collect()
}

fn place(value: &Value) -> Option<Place> {
    let number = |index: usize| value[index].as_u64()?.checked_sub(1)?.try_into().ok();
    Some(Place { file: PathBuf::from(value[0].as_str()?), line: number(1)?, column: number(2)? })
}
