//! From the protocol's types to ours.

use std::path::PathBuf;

use tower_lsp::ls_types::{ClientCapabilities, InitializeParams, PositionEncodingKind};

use crate::state::positions::path;
use code::Unit;

/// What the client can do, as far as answers depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) unit: Unit,
    /// Takes edits with the versions they are meant for.
    pub(super) versioned_edits: bool,
    /// Takes symbols of a document as a tree.
    pub(super) symbol_tree: bool,
    /// Reports changed files when asked to.
    pub(super) watches_files: bool,
}

/// Of encodings that the client offers, the one that costs least; UTF-16 is what everyone knows.
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
    let watching = workspace.and_then(|it| it.did_change_watched_files.as_ref());
    Client {
        unit,
        versioned_edits: edits.and_then(|it| it.document_changes).unwrap_or(false),
        symbol_tree: symbols
            .and_then(|it| it.hierarchical_document_symbol_support)
            .unwrap_or(false),
        watches_files: watching.and_then(|it| it.dynamic_registration).unwrap_or(false),
    }
}

/// The folders to serve; none is possible.
pub(super) fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    #[expect(deprecated, reason = "clients of 3.5 and before know nothing else")]
    let old = params.root_uri.as_ref();
    match &params.workspace_folders {
        Some(folders) => folders.iter().filter_map(|it| path(&it.uri)).collect(),
        None => old.and_then(path).into_iter().collect(),
    }
}
