//! Capabilities that the server announces.

use tower_lsp::ls_types::{
    CodeActionOptions, CodeActionProviderCapability, CodeLensOptions,
    DidChangeWatchedFilesRegistrationOptions, ExecuteCommandOptions, FileSystemWatcher,
    GlobPattern, HoverProviderCapability, InitializeResult, OneOf, Registration, RenameOptions,
    SaveOptions, ServerCapabilities, ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkDoneProgressOptions,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};

use super::{actions, commands, from_lsp, to_lsp};

pub(super) fn of(known: from_lsp::Client) -> InitializeResult {
    let dynamic = known.dynamic;
    let folders = WorkspaceFoldersServerCapabilities {
        supported: Some(true),
        change_notifications: Some(OneOf::Left(true)),
    };
    let capabilities = ServerCapabilities {
        position_encoding: Some(to_lsp::encoding(known.unit)),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync())),
        definition_provider: now(dynamic.definition),
        references_provider: now(dynamic.references),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: now(dynamic.symbols),
        rename_provider: (!dynamic.rename).then(|| {
            OneOf::Right(RenameOptions {
                prepare_provider: Some(true),
                work_done_progress_options: WorkDoneProgressOptions::default(),
            })
        }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(actions::kinds()),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: commands::names(),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(folders),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    };
    let info = ServerInfo {
        name: "trellis".to_owned(),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
    };
    InitializeResult { capabilities, server_info: Some(info), ..InitializeResult::default() }
}

/// Announces a feature, unless the client accepts a later registration, which can be withdrawn.
fn now<T>(later: bool) -> Option<OneOf<bool, T>> {
    (!later).then_some(OneOf::Left(true))
}

fn sync() -> TextDocumentSyncOptions {
    TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
            include_text: Some(false),
        })),
        ..TextDocumentSyncOptions::default()
    }
}

/// Returns a registration for changes of Python files, ignore rules, and results of nodes and
/// tests.
pub(super) fn watched_files() -> Registration {
    let globs = [
        "**/*.py",
        "**/*.pyi",
        "**/.gitignore",
        "**/.ignore",
        "**/docs/rpg.json",
        "**/docs/generation_checkpoint.json",
        "**/.trellis/registry.json",
        "**/trellis.toml",
    ];
    let watcher = |glob: &str| FileSystemWatcher {
        glob_pattern: GlobPattern::String(glob.to_owned()),
        kind: None,
    };
    let options =
        DidChangeWatchedFilesRegistrationOptions { watchers: globs.map(watcher).to_vec() };
    Registration {
        id: "trellis-files".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: serde_json::to_value(options).ok(),
    }
}
