//! `trellis symbols refs` and `definition`: where a symbol is used, where it is defined.

use std::path::PathBuf;

use clap::Args;
use code::{Index, Place, Reference, Unit};
use serde_json::{Value, json};

use super::checker::{Checker, Question, Start};
use super::edit::root_of;
use super::place::{At, Meant, ScopeArgs, SymbolArgs, no_name};
use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::sources::Workspace;
use crate::symbols::shapes::{place, reference, shown};

#[derive(Args)]
pub(super) struct RefsArgs {
    #[command(flatten)]
    symbol: SymbolArgs,
    /// Ask an installed type checker, too, and say which of the possible references it confirms.
    #[arg(long, value_enum, value_name = "CHECKER")]
    confirm: Option<Checker>,
}

#[derive(Args)]
pub(super) struct DefinitionArgs {
    /// A place where the symbol is named, with line and column from 1.
    #[arg(long, value_name = "FILE:LINE:COLUMN")]
    at: At,
    /// Folder to look in.
    #[arg(long, default_value = ".", value_name = "PATH")]
    r#in: PathBuf,
}

/// What is known of a symbol's references.
struct Known {
    /// Shapes, in the order of paths and places.
    references: Vec<Value>,
    /// Where each starts, as a checker says it but for the file, which is as the index names it.
    starts: Vec<(String, usize, usize)>,
    /// Where the symbol was asked for, likewise, and the text of that file.
    asked: (String, usize, usize),
    text: String,
    reasons: Vec<String>,
}

pub(super) fn refs(args: &RefsArgs, output: &mut Output) -> Result<Exit, Fault> {
    let (mut workspace, meant) = args.symbol.open()?;
    let mut known = workspace.ask(|index| ask(index, &meant))?;
    if let Some(checker) = args.confirm {
        confirm(&mut known, checker, &workspace)?;
    }
    // What could not be read may hold some, too.
    known.reasons.extend(workspace.problems());
    let Known { references, reasons, .. } = known;
    if output.is_json() {
        let complete = reasons.is_empty();
        let shape = json!({ "references": references, "complete": complete, "reasons": reasons });
        output.json(&shape)?;
    } else {
        output.text(references.iter().map(shown).collect::<Vec<_>>().join("\n"))?;
        reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    }
    Ok(Exit::Done)
}

fn ask(index: &Index, meant: &Meant) -> Result<Known, Fault> {
    let (file, offset) = meant.place(index)?;
    let found = index.references(file, offset).ok_or_else(no_name)?;
    let start = |it: &Place| {
        let text = index.text(it.file).unwrap_or_default();
        let (line, column) = index.lines(it.file, &text).position(it.range.start, Unit::Utf16);
        (index.path(it.file).to_owned(), line, column)
    };
    let shape = |it: &Reference| Some((reference(index, it)?, start(&it.place)));
    let (references, starts) = found.found.iter().filter_map(shape).unzip();
    Ok(Known {
        references,
        starts,
        asked: start(&Place { file, range: offset..offset }),
        text: index.text(file).unwrap_or_default().to_string(),
        reasons: found.reasons,
    })
}

/// Marks the possible references that a checker finds as well with `confirmedBy`, and says when it finds
/// others.
fn confirm(known: &mut Known, checker: Checker, workspace: &Workspace) -> Result<(), Fault> {
    let real = |name: &str| workspace.file(name).canonicalize().unwrap_or_default();
    let (file, line, column) = &known.asked;
    let (folder, file) = (real(""), real(file));
    let question =
        Question { folder: &folder, file: &file, text: &known.text, line: *line, column: *column };
    let mut found = checker.references(&root_of(&folder)?, &question)?;
    found.iter_mut().for_each(|it| it.0 = it.0.canonicalize().unwrap_or_default());
    if found.is_empty() {
        let name = checker.name();
        known.reasons.push(format!("{name} found no reference at all, not even the definition"));
    }
    let own: Vec<Start> =
        known.starts.iter().map(|(file, line, column)| (real(file), *line, *column)).collect();
    for (shape, start) in known.references.iter_mut().zip(&own) {
        if shape["certain"] == false {
            shape["confirmedBy"] = found.contains(start).then(|| checker.name()).into();
        }
    }
    found.retain(|it| it.0.starts_with(&folder) && !own.contains(it));
    found.sort();
    let more = found.iter().map(|(file, line, _)| {
        let file = file.strip_prefix(&folder).unwrap_or(file).display();
        format!("{} refers to it at {file}:{} as well", checker.name(), line + 1)
    });
    known.reasons.extend(more);
    Ok(())
}

pub(super) fn definition(args: &DefinitionArgs, output: &mut Output) -> Result<Exit, Fault> {
    let scope = ScopeArgs { r#in: args.r#in.clone(), at: Some(args.at.clone()) };
    let (mut workspace, meant) = SymbolArgs { name_path: None, scope }.open()?;
    let found: Result<Vec<Value>, Fault> = workspace.ask(|index| {
        let (file, offset) = meant.place(index)?;
        let places = index.definition(file, offset);
        Ok(places.iter().filter_map(|it| place(index, it)).collect())
    });
    let found = found?;
    workspace.problems().iter().for_each(|it| output.note(format_args!("warning: {it}")));
    if output.is_json() {
        output.json(&json!({ "definitions": found }))?;
    } else {
        output.text(found.iter().map(shown).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Done)
}
