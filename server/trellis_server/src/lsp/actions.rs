//! Code actions: generate tests for a function, retry a node, propose a fix for a failing test, add
//! a missing import.

use tower_lsp::ls_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Command, Diagnostic,
    DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier, Position, TextDocumentEdit,
    TextEdit, WorkspaceEdit,
};
use trellis_python::{
    Import, ImportGroups, Lines, NamePath, Symbol, SymbolKind, add_import, is_test_file,
};

use super::commands::{FunctionName, GenerateTests, Repair, RetryNode, Test};
use super::from_lsp;
use super::lenses::Around;
use crate::session::definition_anchors::nameable;
use crate::session::{At, GeneratedProjects, Snapshot, positions};

/// Maximum number of definitions of one name that are offered.
const CANDIDATES: usize = 10;

const GENERATE: CodeActionKind = CodeActionKind::new("refactor.generateTests");
const RETRY: CodeActionKind = CodeActionKind::new("refactor.retryNode");

/// Returns every kind of code action.
pub(super) fn kinds() -> Vec<CodeActionKind> {
    vec![CodeActionKind::QUICKFIX, GENERATE, RETRY]
}

/// Returns the code actions at a place.
pub(super) fn of(
    view: &Snapshot,
    params: &CodeActionParams,
    grounds: &GeneratedProjects,
    known: from_lsp::Client,
) -> Vec<CodeActionOrCommand> {
    let wanted = |kind: &CodeActionKind| match &params.context.only {
        Some(only) => only.iter().any(|it| holds(it.as_str(), kind.as_str())),
        None => true,
    };
    let asked = Asked { view, params, known };
    let mut actions = Vec::new();
    if wanted(&GENERATE) || wanted(&RETRY) {
        actions.extend(asked.of_function(grounds).unwrap_or_default());
    }
    if wanted(&CodeActionKind::QUICKFIX) {
        actions.extend(params.context.diagnostics.iter().filter_map(fix));
        actions.extend(params.context.diagnostics.iter().find_map(repair));
        actions.extend(asked.imports().unwrap_or_default());
    }
    actions.retain(|it| it.kind.as_ref().is_some_and(&wanted));
    actions.into_iter().filter_map(|it| shown(it, known)).collect()
}

/// Returns whether a kind equals or contains another.
fn holds(outer: &str, inner: &str) -> bool {
    let rest = inner.strip_prefix(outer);
    rest.is_some_and(|it| outer.is_empty() || it.is_empty() || it.starts_with('.'))
}

/// Returns an action in a form the client accepts: older clients accept only `Command`, not
/// `CodeAction`.
fn shown(action: CodeAction, known: from_lsp::Client) -> Option<CodeActionOrCommand> {
    match known.action_literals {
        true => Some(CodeActionOrCommand::CodeAction(action)),
        false => action.command.map(CodeActionOrCommand::Command),
    }
}

fn doing(kind: CodeActionKind, title: String, command: Command) -> CodeAction {
    let command = Some(Command { title: title.clone(), ..command });
    CodeAction { title, kind: Some(kind), command, ..CodeAction::default() }
}

/// Returns the action that proposes a fix for a failing test.
fn fix(diagnostic: &Diagnostic) -> Option<CodeAction> {
    let data = diagnostic.data.clone()?;
    let test: Test = serde_json::from_value(data).ok()?;
    let title = format!("Fix {}\u{2026}", test.test);
    let action = doing(CodeActionKind::QUICKFIX, title, test.propose_fix());
    Some(CodeAction { diagnostics: Some(vec![diagnostic.clone()]), ..action })
}

/// Returns the action that repairs all failing tests of the project.
fn repair(diagnostic: &Diagnostic) -> Option<CodeAction> {
    let test: Test = serde_json::from_value(diagnostic.data.clone()?).ok()?;
    let command = Repair { root: test.root }.command();
    Some(doing(CodeActionKind::QUICKFIX, command.title.clone(), command))
}

struct Asked<'a> {
    view: &'a Snapshot,
    params: &'a CodeActionParams,
    known: from_lsp::Client,
}

impl<'a> Asked<'a> {
    fn place(&self, at: Position) -> Option<(At<'a>, usize)> {
        self.view.place(&self.params.text_document.uri, at, self.known.unit)
    }

    /// Returns the actions for the function whose header holds the place: generate tests, and retry
    /// its node.
    fn of_function(&self, grounds: &GeneratedProjects) -> Option<Vec<CodeAction>> {
        let (at, offset) = self.place(self.params.range.start)?;
        let outline = at.part.index().outline(at.file);
        let on_header = |it: &Symbol| {
            let header = it.header.as_ref();
            header.is_some_and(|it| it.start <= offset && offset <= it.end)
        };
        let number = outline.symbols.iter().rposition(on_header)?;
        let name = nameable(&outline, number)?;
        let around = Around::of_file(self.view, at, grounds)?;
        let mut actions = Vec::new();
        let is_function = outline.symbols[number].kind != SymbolKind::Class;
        if is_function && !is_test_file(&around.path) {
            let function = FunctionName { file_path: around.path.clone(), name: name.clone() };
            let command = GenerateTests { project_root: around.root.clone(), function }.command();
            actions.push(doing(GENERATE, format!("Generate tests for {name}"), command));
        }
        let node = around.generated.as_ref().and_then(|it| it.node(&around.path, &name));
        if let Some(node) = node.filter(|it| it.is_open()) {
            let title = format!("Retry node {}", node.id);
            let command = RetryNode { node: node.id, out: around.root }.command();
            actions.push(doing(RETRY, title, command));
        }
        Some(actions)
    }

    /// Returns imports that would bind the name at the place, if it is unresolved.
    fn imports(&self) -> Option<Vec<CodeAction>> {
        let (at, offset) = self.place(self.params.range.start)?;
        let text = at.part.index().text(at.file)?;
        let name = word(&text, offset)?;
        if !trellis_python::unresolved(&text).is_ok_and(|it| it.contains(name)) {
            return None;
        }
        let index = at.part.index();
        let is_used = |package: &str| index.files().any(|it| index.words(it).may_hold(package));
        let well_known = trellis_python::import_for(name, &text, is_used).into_iter();
        let mut all: Vec<Import> = well_known.chain(self.own(at, name)).collect();
        let mut seen = std::collections::HashSet::new();
        all.retain(|it| seen.insert(it.clone()));
        let is_only = all.len() == 1;
        let action = |import: Import| {
            let edit = self.edit(at, &text, &import)?;
            let title = format!("Add `{import}`");
            let kind = Some(CodeActionKind::QUICKFIX);
            let preferred = is_only.then_some(true);
            let edit = Some(edit);
            Some(CodeAction { title, kind, edit, is_preferred: preferred, ..CodeAction::default() })
        };
        Some(all.into_iter().filter_map(action).collect())
    }

    /// Returns imports of workspace definitions with this name, outside of tests.
    fn own(&self, at: At<'_>, name: &str) -> Vec<Import> {
        let index = at.part.index();
        let Ok(pattern) = NamePath::parse(&format!("/{name}")) else { return Vec::new() };
        let found = index.find(&pattern, false, &[]).into_iter();
        let is_offered =
            |it: &trellis_python::Located| it.file != at.file && !is_test_file(index.path(it.file));
        let import = |it: trellis_python::Located| {
            let symbol = &index.outline(it.file).symbols[it.symbol];
            let is_top = symbol.parent.is_none() && symbol.name == name;
            let module = index.import_name(it.file, at.file).filter(|_| is_top)?;
            Some(Import::from(&module, name))
        };
        found.filter(is_offered).filter_map(import).take(CANDIDATES).collect()
    }

    fn edit(&self, at: At<'_>, text: &str, import: &Import) -> Option<WorkspaceEdit> {
        let index = at.part.index();
        let tops: std::collections::HashSet<&str> =
            index.files().flat_map(|it| tops(index.path(it))).collect();
        let groups = ImportGroups { local: &|it| tops.contains(it) };
        let edits = add_import(text, import, &groups).ok()?;
        let lines = Lines::of(text);
        let edit = |it: &trellis_python::TextEdit| TextEdit {
            range: positions::range(&lines, &it.range, self.known.unit),
            new_text: it.text.clone(),
        };
        let edits: Vec<TextEdit> = edits.as_slice().iter().map(edit).collect();
        let (uri, version) = (self.view.uri(at)?, self.view.document(at).map(|it| it.version));
        Some(match self.known.versioned_edits {
            true => {
                let text_document = OptionalVersionedTextDocumentIdentifier { uri, version };
                let edits = edits.into_iter().map(OneOf::Left).collect();
                let changes =
                    DocumentChanges::Edits(vec![TextDocumentEdit { text_document, edits }]);
                WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() }
            }
            false => {
                let changes = Some([(uri, edits)].into_iter().collect());
                WorkspaceEdit { changes, ..WorkspaceEdit::default() }
            }
        })
    }
}

/// Returns the first names of imports that may mean a file of the workspace: its top folder, or the
/// one below `src`.
fn tops(path: &str) -> impl Iterator<Item = &str> {
    let first = |path: &str| path.split('/').next().map(|it| it.len());
    let top = first(path).map(|it| &path[..it]);
    let below = path.strip_prefix("src/").and_then(|it| Some(&it[..first(it)?]));
    top.into_iter().chain(below).map(|it| it.trim_end_matches(".py"))
}

/// Returns the identifier around an offset.
fn word(text: &str, offset: usize) -> Option<&str> {
    let inside = |it: char| it.is_alphanumeric() || it == '_';
    let start = text[..offset].rfind(|it| !inside(it));
    let start = start.map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    let end = text[offset..].find(|it| !inside(it)).map_or(text.len(), |at| offset + at);
    let word = &text[start..end];
    word.starts_with(|it: char| !it.is_numeric()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_holds_those_below_it() {
        for (outer, inner, wanted) in [
            ("", "quickfix", true),
            ("refactor", "refactor.generateTests", true),
            ("refactor.generateTests", "refactor.generateTests", true),
            ("refactor.gen", "refactor.generateTests", false),
            ("source", "quickfix", false),
        ] {
            assert_eq!(holds(outer, inner), wanted, "{outer} {inner}");
        }
    }

    #[test]
    fn words_are_whole() {
        for (text, offset, wanted) in [
            ("a = Path()", 6, Some("Path")),
            ("a = Path()", 8, Some("Path")),
            ("\u{e9}t\u{e9}.x", 2, Some("\u{e9}t\u{e9}")),
            ("1 + 2", 0, None),
            ("( )", 1, None),
        ] {
            assert_eq!(word(text, offset), wanted, "{text} {offset}");
        }
    }
}
