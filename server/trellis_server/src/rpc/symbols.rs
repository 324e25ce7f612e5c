//! Methods for symbols: queries to the live indexes, and edits planned from them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::Context;
use super::table::{Effect, Table};
use super::workspace_query::{HasLocation, QueryScope, name_in, place, text, within};
use crate::api::confirm::confirm;
use crate::api::edits::{
    EditResult, InsertAfterSymbolParams, InsertBeforeSymbolParams, Planned,
    ReplaceSymbolBodyParams, ReplaceTextParams, SymbolEdit, Target, UndoEditParams, Undoable,
    plan_replace_text, undo_edit,
};
use crate::api::plan as graphs;
use crate::api::plan_vs_code::{CheckPlannedParams, check_planned};
use crate::api::refactorings::{
    RenameSymbolParams, SafeDeleteSymbolParams, plan_delete, plan_rename,
};
use crate::api::symbol_query::SourcePosition;
use crate::api::symbols::{
    Completeness, DocumentSymbolsParams, FindCallersParams, FindDefinitionParams,
    FindReferencingSymbolsParams, FindReferencingSymbolsResult, FindSymbolParams, FindUnusedParams,
    document_symbols, find_callers, find_definition, find_referencing_symbols, find_symbol,
    find_unused,
};
use crate::api::unsearched::beside;
use crate::session::Snapshot;
use trellis_project::edits;
use trellis_project::project;
use trellis_store::disk::is_inside;
use trellis_workflows::fault::{Fault, FaultKind};

macro_rules! placed {
    ($($params:ty $(: $at:ident)?),* $(,)?) => {$(
        impl HasLocation for $params {
            fn root(&self) -> Option<&Path> {
                self.root.as_deref()
            }
            $(fn at(&mut self) -> Option<&mut SourcePosition> {
                AsAt::as_at(&mut self.$at)
            })?
        }
    )*};
}

/// A source position that may be absent.
trait AsAt {
    fn as_at(&mut self) -> Option<&mut SourcePosition>;
}

impl AsAt for SourcePosition {
    fn as_at(&mut self) -> Option<&mut SourcePosition> {
        Some(self)
    }
}

impl AsAt for Option<SourcePosition> {
    fn as_at(&mut self) -> Option<&mut SourcePosition> {
        self.as_mut()
    }
}

placed!(
    FindSymbolParams,
    FindReferencingSymbolsParams: at,
    FindCallersParams: at,
    FindDefinitionParams: at,
    FindUnusedParams,
    CheckPlannedParams,
    RenameSymbolParams: at,
    SafeDeleteSymbolParams: at,
);

pub(super) fn register(table: &mut Table) {
    ask(table, "trellis/findSymbol", |it, params| find_symbol(it.index, params));
    table.call("trellis/findReferencingSymbols", Effect::Reads, references);
    ask(table, "trellis/findCallers", |it, params| {
        let found = find_callers(it.index, params)?;
        let more = beside(it.folder, it.index, &found.name)?.all();
        Ok(found.also_incomplete(it.problems.iter().cloned().chain(more)))
    });
    ask(table, "trellis/findDefinition", |it, params| find_definition(it.index, params));
    ask(table, "trellis/findUnused", |it, _: &FindUnusedParams| {
        Ok(find_unused(it.index).also_incomplete(it.problems.to_vec()))
    });
    ask(table, "trellis/checkPlanned", |it, params: &CheckPlannedParams| {
        let plan = graphs::read(&it.folder.join(&params.graph), params.dialect)?;
        Ok(check_planned(it.index, &plan).also_incomplete(it.problems.to_vec()))
    });
    table.question("trellis/documentSymbols", |view, params: &DocumentSymbolsParams| {
        let file = place(view, Some(&params.file));
        Ok(document_symbols(&text(view, &file)?, params))
    });
    edits_of(table);
}

/// The type checker may be a program of the project's environment, which requires trust.
async fn references(
    context: Arc<Context>,
    params: FindReferencingSymbolsParams,
) -> Result<FindReferencingSymbolsResult, Fault> {
    if params.confirm.is_some() {
        context.may_run()?;
    }
    let asking = context.asker.ask(move |view| {
        within(view, params.root(), |it| {
            let mut params = params.clone();
            params.at().into_iter().for_each(|at| it.named(at));
            let found = find_referencing_symbols(it.index, &params)?;
            let found = confirm(it.index, it.folder, &params, found)?;
            let more = beside(it.folder, it.index, &found.name)?.all();
            Ok(found.also_incomplete(it.problems.iter().cloned().chain(more)))
        })
    });
    asking.await.map_err(Fault::from)?
}

fn edits_of(table: &mut Table) {
    change(table, "trellis/replaceSymbolBody", at_symbol::<ReplaceSymbolBodyParams>);
    change(table, "trellis/insertBeforeSymbol", at_symbol::<InsertBeforeSymbolParams>);
    change(table, "trellis/insertAfterSymbol", at_symbol::<InsertAfterSymbolParams>);
    change(table, "trellis/replaceText", |view, params: ReplaceTextParams| {
        let folder = place(view, params.root.as_deref());
        let file = folder.join(&params.path);
        let planned = plan_replace_text(below(&folder, &file), text(view, &file)?, &params)?;
        Ok((planned, file, params.dry_run))
    });
    change(table, "trellis/renameSymbol", |view, mut params: RenameSymbolParams| {
        let folder = whole(view, params.root.as_deref(), &mut params.path)?;
        let dry_run = params.dry_run;
        let planned = within(view, Some(&folder), |it| {
            let mut params = params.clone();
            params.at().into_iter().for_each(|at| it.named(at));
            let mut planned = plan_rename(it.index, &params, &targets(it.folder))?;
            let more = beside(it.folder, it.index, &planned.result.from)?.all();
            planned.result =
                planned.result.also_incomplete(it.problems.iter().cloned().chain(more));
            Ok(planned)
        })?;
        Ok((planned, folder, dry_run))
    });
    change(table, "trellis/safeDeleteSymbol", |view, mut params: SafeDeleteSymbolParams| {
        let folder = whole(view, params.root.as_deref(), &mut params.path)?;
        let dry_run = params.dry_run;
        let planned = within(view, Some(&folder), |it| {
            let mut params = params.clone();
            params.at().into_iter().for_each(|at| it.named(at));
            let unsearched = |name: &str| beside(it.folder, it.index, name);
            let mut planned = plan_delete(it.index, &params, &targets(it.folder), &unsearched)?;
            if let Some(refusal) = planned.result.refusal() {
                return Err(refusal);
            }
            planned.result = planned.result.also_incomplete(it.problems.iter().cloned());
            Ok(planned)
        })?;
        Ok((planned, folder, dry_run))
    });
    table.call(
        "trellis/undoEdit",
        Effect::Writes,
        |context, mut params: UndoEditParams| async move {
            params.root = Some(context.root(params.root.as_deref()).await);
            super::catalog::blocking(move || undo_edit(&params)).await
        },
    );
}

/// Registers a query about one folder.
fn ask<P, R>(
    table: &mut Table,
    name: &'static str,
    answer: fn(&QueryScope<'_>, &P) -> Result<R, Fault>,
) where
    P: HasLocation + Clone + DeserializeOwned + JsonSchema + Send + Sync + 'static,
    R: Serialize + JsonSchema + Send + 'static,
{
    table.question(name, move |view, params: &P| {
        within(view, params.root(), |scope| {
            let mut params = params.clone();
            params.at().into_iter().for_each(|at| scope.named(at));
            answer(&scope, &params)
        })
    });
}

/// Plans an edit from the client's texts; returns the plan, its project, and whether it is a dry
/// run.
type Plan<P, R> = fn(&Snapshot, P) -> Result<(Planned<R>, PathBuf, bool), Fault>;

/// Registers an edit: planned from the client's texts, and written if the disk has the same texts.
fn change<P, R>(table: &mut Table, name: &'static str, plan: Plan<P, R>)
where
    P: Clone + DeserializeOwned + JsonSchema + Send + Sync + 'static,
    R: Undoable + Serialize + JsonSchema + Send + 'static,
{
    table.call(name, Effect::Writes, move |context: Arc<Context>, params: P| {
        let planning = context.asker.ask(move |view| plan(view, params.clone()));
        async move {
            let (planned, project, dry_run) = planning.await.map_err(Fault::from)??;
            let folders = context.folders().await;
            let write = move || {
                inside(&planned, &folders)?;
                if !dry_run {
                    edits::recover(&project::root_of(&project)?)?;
                    saved(&planned)?;
                }
                planned.write(&project, dry_run)
            };
            super::catalog::blocking(write).await
        }
    });
}

/// Refuses an edit of files outside the workspace's folders, also through links.
fn inside<R>(planned: &Planned<R>, folders: &[PathBuf]) -> Result<(), Fault> {
    match planned.texts().find(|(path, _)| !is_inside(folders, path)) {
        None => Ok(()),
        Some((path, _)) => Err(super::error::outside(path)),
    }
}

/// Refuses an edit of texts that the editor has not saved, since the disk has others.
fn saved<R>(planned: &Planned<R>) -> Result<(), Fault> {
    for (path, source) in planned.texts() {
        let on_disk = edits::read(path)?;
        if on_disk != source {
            let shown = path.display();
            return Err(Fault::input(format!("{shown} is not saved, or someone else changed it"))
                .kind(FaultKind::Unsaved)
                .hint("save the file, then try again; nothing was changed"));
        }
    }
    Ok(())
}

/// Plans an edit at a symbol of one file.
fn at_symbol<P>(view: &Snapshot, params: P) -> Result<(Planned<EditResult>, PathBuf, bool), Fault>
where
    SymbolEdit: TryFrom<P, Error = Fault>,
{
    let edit = SymbolEdit::try_from(params)?;
    let folder = place(view, edit.root());
    let file = match edit.path() {
        Some(path) => folder.join(path),
        None => {
            let name = within(view, edit.root(), |it| edit.file(it.index, it.folder))?;
            folder.join(name)
        }
    };
    let planned = edit.plan(below(&folder, &file), text(view, &file)?)?;
    Ok((planned, file, edit.is_dry_run()))
}

/// Returns a file as a target, named relative to a folder.
fn below(folder: &Path, file: &Path) -> Target {
    Target { path: file.to_owned(), shown: name_in(folder, &file.to_string_lossy()) }
}

fn targets(folder: &Path) -> impl Fn(&str) -> Target {
    let folder = folder.to_owned();
    move |name| Target { path: folder.join(name), shown: name.to_owned() }
}

/// Returns the folder that a change covers. For a single file without a root, that is the whole
/// project around it, and `path` becomes relative to the project.
fn whole(
    view: &Snapshot,
    root: Option<&Path>,
    path: &mut Option<String>,
) -> Result<PathBuf, Fault> {
    let folder = place(view, root);
    let Some(file) = path.as_ref().map(|it| folder.join(it)) else { return Ok(folder) };
    let folder = if root.is_some() { folder } else { project::root_of(&file)? };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    *path = Some(name_in(&real(&folder), &real(&file).to_string_lossy()));
    Ok(folder)
}
