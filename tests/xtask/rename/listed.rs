//! Places that Trellis lists as possible and leaves unchanged, and whether a broken suite misses
//! them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lsp::{Place, Texts};
use serde_json::Value;

use super::names::Definition;
use super::suite::{BrokenSuite, Suite};
use crate::accuracy::edits::{self, Edit};

/// How the listed places relate to a broken suite.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Listed {
    /// With the listed places changed as well the suite passes.
    Whole,
    /// A line of the exception is listed.
    Line,
    /// Places are listed, but changing them does not suffice, and no line of the exception is among
    /// them.
    Others,
    /// No place is listed.
    Nothing,
}

impl Listed {
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Listed::Whole => "passes with the listed places changed",
            Listed::Line => "a failing line is listed",
            Listed::Others => "places are listed that do not suffice",
            Listed::Nothing => "no place is listed",
        }
    }
}

/// Asks for the possible places of a rename, and tries them out in the suite.
pub(crate) fn judged(
    trellis: &Path,
    suite: &Suite,
    renamed: &Definition,
    certain: &[Edit],
    broken: &BrokenSuite,
) -> Result<Listed, String> {
    let root = &suite.copied().project.folder;
    let mut texts = Texts::default();
    let possible = possible(trellis, root, renamed)?;
    if possible.is_empty() {
        return Ok(Listed::Nothing);
    }
    let known: BTreeSet<&Place> = certain.iter().map(|it| &it.start).collect();
    let can_change = |it: &&Place| !known.contains(it) && is_named(it, &renamed.name, &mut texts);
    let more: BTreeSet<Place> = possible.iter().filter(can_change).cloned().collect();
    let mut all = edits::plain(&more, &renamed.name, &renamed.to());
    all.extend_from_slice(certain);
    all.sort();
    let changed = edits::applied_below(root, &all, &mut texts);
    if !more.is_empty() && suite.breaks(&changed, renamed)?.is_none() {
        return Ok(Listed::Whole);
    }
    let lines: BTreeSet<(PathBuf, u64)> = broken.why.lines.iter().cloned().collect();
    let fails = |it: &Place| lines.contains(&(it.file.clone(), it.line as u64 + 1));
    Ok(if possible.iter().any(fails) { Listed::Line } else { Listed::Others })
}

/// Returns the possible places. Not all of them have the old name: some have a part of it, or a name
/// that is put together from it.
fn possible(trellis: &Path, root: &Path, renamed: &Definition) -> Result<BTreeSet<Place>, String> {
    let mut command = Command::new(trellis);
    command.args(["symbols", "rename", &renamed.to(), "--dry-run", "--json", "--at"]);
    command.arg(renamed.shown()).arg("--project").arg(root).current_dir(root);
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", trellis.display()))?;
    let result: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("`trellis symbols rename --at {}`: {error}: {said}", renamed.shown())
    })?;
    let listed = result["possible"].as_array().into_iter().flatten();
    Ok(listed.filter_map(|it| place(root, it)).collect())
}

fn place(root: &Path, value: &Value) -> Option<Place> {
    let start = &value["range"]["start"];
    let number = |name: &str| start[name].as_u64()?.checked_sub(1)?.try_into().ok();
    let file = root.join(value["file"].as_str()?);
    Some(Place { file, line: number("line")?, column: number("column")? })
}

fn is_named(place: &Place, name: &str, texts: &mut Texts) -> bool {
    let line = texts.line(&place.file, place.line).unwrap_or_default();
    line.chars().skip(place.column).take(name.chars().count()).eq(name.chars())
}
