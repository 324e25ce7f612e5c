//! What the client says it can do.

use std::path::Path;

use serde_json::{Value, json};

use crate::text::Encoding;
use crate::uri::uri_of;

/// Parameters of `initialize`: an ordinary editor that renames, watches files and shows progress. It announces that it
/// pulls diagnostics and then never does, so that no server spends time on them.
pub(crate) fn parameters(root: &Path, encodings: &[Encoding], options: &Value) -> Value {
    let uri = uri_of(root);
    let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
    json!({
        "processId": std::process::id(),
        "clientInfo": {"name": "trellis-tests"},
        "rootPath": root.to_string_lossy(),
        "rootUri": uri,
        "workspaceFolders": [{"uri": uri, "name": name}],
        "initializationOptions": options,
        "capabilities": capabilities(encodings),
    })
}

fn capabilities(encodings: &[Encoding]) -> Value {
    let names: Vec<&str> = encodings.iter().map(|it| it.name()).collect();
    json!({
        "general": {"positionEncodings": names},
        "window": {"workDoneProgress": true},
        "workspace": {
            "applyEdit": true,
            "configuration": true,
            "didChangeConfiguration": {"dynamicRegistration": true},
            "didChangeWatchedFiles": {"dynamicRegistration": true, "relativePatternSupport": true},
            "symbol": {"dynamicRegistration": false},
            "workspaceEdit": {"documentChanges": true},
            "workspaceFolders": true,
        },
        "textDocument": {
            "synchronization": {"didSave": true},
            "definition": {},
            "diagnostic": {},
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
            "publishDiagnostics": {},
            "references": {},
            "rename": {"prepareSupport": true},
        },
    })
}
