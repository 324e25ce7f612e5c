//! The client's capabilities.

use std::path::Path;

use serde_json::{Value, json};

use crate::text::Encoding;
use crate::uri::uri_of;

/// Returns the parameters of `initialize`: an ordinary editor with renames, watched files and
/// progress. It announces pull diagnostics but never pulls any, so that no server spends time on
/// them.
///
/// `more` holds capabilities that are merged over the default ones.
pub(crate) fn parameters(
    root: &Path,
    encodings: &[Encoding],
    options: &Value,
    more: &Value,
) -> Value {
    let mut capabilities = capabilities(encodings);
    put(&mut capabilities, more);
    let uri = uri_of(root);
    let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
    json!({
        "processId": std::process::id(),
        "clientInfo": {"name": "trellis-tests"},
        "rootPath": root.to_string_lossy(),
        "rootUri": uri,
        "workspaceFolders": [{"uri": uri, "name": name}],
        "initializationOptions": options,
        "capabilities": capabilities,
    })
}

/// Merges the fields of one object into another, at all depths.
fn put(into: &mut Value, more: &Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                put(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (into, more) => *into = more.clone(),
    }
}

fn capabilities(encodings: &[Encoding]) -> Value {
    let names: Vec<&str> = encodings.iter().map(|it| it.name()).collect();
    json!({
        "general": {"positionEncodings": names},
        "window": {"workDoneProgress": true},
        "workspace": {
            "applyEdit": true,
            "codeLens": {"refreshSupport": true},
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
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "publishDiagnostics": {"relatedInformation": true, "versionSupport": true},
            "references": {},
            "rename": {"prepareSupport": true},
        },
    })
}
