//! Conversions from protocol types to internal types.

use std::path::PathBuf;

use tower_lsp::ls_types::{ClientCapabilities, InitializeParams, MarkupKind, PositionEncodingKind};

use crate::session::positions::path;
use trellis_python::Unit;

/// Client capabilities that affect answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) unit: Unit,
    /// The client accepts edits with document versions.
    pub(super) versioned_edits: bool,
    /// The client asks a person to confirm annotated edits of a rename.
    pub(super) confirms_renames: bool,
    /// The client accepts document symbols as a tree.
    pub(super) symbol_tree: bool,
    /// The client can report changed files.
    pub(super) watches_files: bool,
    /// The client can be asked to refresh lenses.
    pub(super) refreshes_lenses: bool,
    /// The client shows related locations of a diagnostic.
    pub(super) related_information: bool,
    /// The client shows Markdown in hovers.
    pub(super) markdown: bool,
    /// The client accepts code actions beyond plain commands.
    pub(super) action_literals: bool,
    /// The client shows progress of work started by the server.
    pub(super) shows_progress: bool,
    /// Features that can be registered dynamically.
    pub(super) dynamic: Dynamic,
}

/// Features for which the client accepts dynamic registration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dynamic {
    pub(super) definition: bool,
    pub(super) references: bool,
    pub(super) rename: bool,
    pub(super) symbols: bool,
    /// Lenses, and the texts of documents.
    pub(super) lenses: bool,
}

fn dynamic(capabilities: &ClientCapabilities) -> Dynamic {
    let document = capabilities.text_document.as_ref();
    let workspace = capabilities.workspace.as_ref();
    let is = |it: Option<bool>| it.unwrap_or(false);
    let definition = document.and_then(|it| it.definition.as_ref());
    let references = document.and_then(|it| it.references.as_ref());
    let rename = document.and_then(|it| it.rename.as_ref());
    let symbols = workspace.and_then(|it| it.symbol.as_ref());
    let lenses = document.and_then(|it| it.code_lens.as_ref());
    let texts = document.and_then(|it| it.synchronization.as_ref());
    Dynamic {
        definition: is(definition.and_then(|it| it.dynamic_registration)),
        references: is(references.and_then(|it| it.dynamic_registration)),
        rename: is(rename.and_then(|it| it.dynamic_registration)),
        symbols: is(symbols.and_then(|it| it.dynamic_registration)),
        lenses: is(lenses.and_then(|it| it.dynamic_registration))
            && is(texts.and_then(|it| it.dynamic_registration)),
    }
}

/// Reads the client's capabilities. Chooses the cheapest position encoding the client offers, or
/// UTF-16, which every client supports.
pub(super) fn client(capabilities: &ClientCapabilities) -> Client {
    let general = capabilities.general.as_ref();
    let offered = general.and_then(|it| it.position_encodings.as_deref()).unwrap_or_default();
    let unit = match () {
        () if offered.contains(&PositionEncodingKind::UTF8) => Unit::Utf8,
        () if offered.contains(&PositionEncodingKind::UTF16) => Unit::Utf16,
        () if offered.contains(&PositionEncodingKind::UTF32) => Unit::Char,
        () => Unit::Utf16,
    };
    let workspace = capabilities.workspace.as_ref();
    let document = capabilities.text_document.as_ref();
    let edits = workspace.and_then(|it| it.workspace_edit.as_ref());
    let symbols = document.and_then(|it| it.document_symbol.as_ref());
    let renaming = document.and_then(|it| it.rename.as_ref());
    let watching = workspace.and_then(|it| it.did_change_watched_files.as_ref());
    let lenses = workspace.and_then(|it| it.code_lens.as_ref());
    let diagnostics = document.and_then(|it| it.publish_diagnostics.as_ref());
    let hover = document.and_then(|it| it.hover.as_ref()?.content_format.as_deref());
    let actions = document.and_then(|it| it.code_action.as_ref());
    let window = capabilities.window.as_ref();
    Client {
        unit,
        markdown: hover.is_some_and(|it| it.contains(&MarkupKind::Markdown)),
        action_literals: actions.is_some_and(|it| it.code_action_literal_support.is_some()),
        shows_progress: window.and_then(|it| it.work_done_progress).unwrap_or(false),
        dynamic: dynamic(capabilities),
        refreshes_lenses: lenses.and_then(|it| it.refresh_support).unwrap_or(false),
        related_information: diagnostics.and_then(|it| it.related_information).unwrap_or(false),
        versioned_edits: edits.and_then(|it| it.document_changes).unwrap_or(false),
        confirms_renames: edits.is_some_and(|it| it.change_annotation_support.is_some())
            && renaming.and_then(|it| it.honors_change_annotations).unwrap_or(false),
        symbol_tree: symbols
            .and_then(|it| it.hierarchical_document_symbol_support)
            .unwrap_or(false),
        watches_files: watching.and_then(|it| it.dynamic_registration).unwrap_or(false),
    }
}

/// Returns the folders to serve, possibly none.
pub(super) fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    #[expect(deprecated, reason = "clients of 3.5 and before know nothing else")]
    let old = params.root_uri.as_ref();
    match &params.workspace_folders {
        Some(folders) => folders.iter().filter_map(|it| path(&it.uri)).collect(),
        None => old.and_then(path).into_iter().collect(),
    }
}
