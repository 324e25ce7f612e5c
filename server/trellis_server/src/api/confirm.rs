//! Confirms references with an installed type checker.

use std::path::Path;

use trellis_python::{FileId, Index, Unit};

use super::symbol_query::SymbolQuery;
use super::symbols::{
    Completeness as _, FindReferencingSymbolsParams, FindReferencingSymbolsResult,
};
use crate::type_checker::{Checker, Question, Start};
use trellis_project::symbols::locations::Reference;
use trellis_workflows::fault::Fault;

/// Sets `confirmedBy` on possible references that the checker finds too, and reports if it finds
/// others. `folder` is the base of the index's names. Starts a program and may take half a minute.
pub fn confirm(
    index: &Index,
    folder: &Path,
    params: &FindReferencingSymbolsParams,
    mut result: FindReferencingSymbolsResult,
) -> Result<FindReferencingSymbolsResult, Fault> {
    let Some(checker) = params.confirm else { return Ok(result) };
    let real = |name: &str| folder.join(name).canonicalize().unwrap_or_default();
    let whole = real("");
    let mut found = asked(index, folder, checker, params)?;
    found.iter_mut().for_each(|it| it.0 = it.0.canonicalize().unwrap_or_default());
    let mut more = Vec::new();
    if found.is_empty() {
        let name = checker.name();
        more.push(format!("{name} found no references, not even the definition"));
    }
    let own = |it: &Reference| {
        let (line, column) = start(index, it);
        (real(&it.file), line, column)
    };
    let own: Vec<Start> = result.references.iter().map(own).collect();
    for (shape, start) in result.references.iter_mut().zip(&own) {
        if !shape.certain {
            shape.confirmed_by = Some(found.contains(start).then(|| checker.name()));
        }
    }
    found.retain(|it| it.0.starts_with(&whole) && !own.contains(it));
    found.sort();
    more.extend(found.iter().map(|(file, line, _)| {
        let file = file.strip_prefix(&whole).unwrap_or(file).display();
        format!("{} also refers to it at {file}:{}", checker.name(), line + 1)
    }));
    Ok(result.also_incomplete(more))
}

/// Returns the references found by the checker.
fn asked(
    index: &Index,
    folder: &Path,
    checker: Checker,
    params: &FindReferencingSymbolsParams,
) -> Result<Vec<Start>, Fault> {
    let real = |name: &str| folder.join(name).canonicalize().unwrap_or_default();
    let meant = SymbolQuery::of(params.name_path.as_deref(), params.at.as_ref(), None)?;
    let (file, offset) = meant.place(index)?;
    let text = index.text(file).unwrap_or_default();
    let (line, column) = index.lines(file, &text).position(offset, Unit::Utf16);
    let (folder, path) = (real(""), real(index.path(file)));
    let question = Question { folder: &folder, file: &path, text: &text, line, column };
    checker.references(&question)
}

/// Returns line and column from 0, in UTF-16 units, as checkers report them.
fn start(index: &Index, it: &Reference) -> (usize, usize) {
    let point = it.range.start;
    let utf16 = |file: FileId| {
        let text = index.text(file)?;
        let lines = index.lines(file, &text);
        let offset = lines.offset(point.line - 1, point.column - 1, Unit::Char);
        Some(lines.position(offset, Unit::Utf16))
    };
    index.file(&it.file).and_then(utf16).unwrap_or((point.line - 1, point.column - 1))
}
