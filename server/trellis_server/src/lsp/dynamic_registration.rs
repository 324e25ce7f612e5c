//! Registers features with the client that settings switch on and off: symbols, unless another
//! server provides them, and lenses of tests in other languages than Python.
//!
//! Clients without dynamic registration keep sending requests for symbols, and get empty answers.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tower_lsp::Client;
use tower_lsp::ls_types::{Registration, TextDocumentSyncKind, Unregistration};

use super::from_lsp::Dynamic;

/// Timeout for a response of the client.
const CLIENT_PATIENCE: Duration = Duration::from_secs(10);

/// Keeps registrations in the wanted state.
pub(super) async fn keep(
    client: Client,
    all: Vec<Registration>,
    mut wanted: watch::Receiver<bool>,
) {
    let mut registered = false;
    while !all.is_empty() {
        let now = *wanted.borrow_and_update();
        if now != registered {
            let reported = tokio::time::timeout(CLIENT_PATIENCE, request(&client, &all, now)).await;
            match reported {
                Ok(Ok(())) => registered = now,
                Ok(Err(_)) | Err(_) => {
                    return tracing::warn!("the editor does not accept feature registrations");
                }
            }
        }
        if wanted.changed().await.is_err() {
            return;
        }
    }
}

async fn request(
    client: &Client,
    all: &[Registration],
    wanted: bool,
) -> tower_lsp::jsonrpc::Result<()> {
    if wanted {
        return client.register_capability(all.to_vec()).await;
    }
    let unregistration =
        |it: &Registration| Unregistration { id: it.id.clone(), method: it.method.clone() };
    client.unregister_capability(all.iter().map(unregistration).collect()).await
}

/// Returns the registrations of symbols in Python.
pub(super) fn symbols(dynamic: Dynamic) -> Vec<Registration> {
    let python = json!([{ "language": "python" }]);
    let of_text = json!({ "documentSelector": python });
    let renames = json!({ "documentSelector": python, "prepareProvider": true });
    let all: [(bool, &str, Value); 4] = [
        (dynamic.definition, "textDocument/definition", of_text.clone()),
        (dynamic.references, "textDocument/references", of_text),
        (dynamic.rename, "textDocument/rename", renames),
        (dynamic.symbols, "workspace/symbol", json!({})),
    ];
    let wanted = all.into_iter().filter(|(wanted, ..)| *wanted);
    wanted.map(|(_, method, options)| registration("trellis", method, options)).collect()
}

/// Returns the registrations of lenses in JavaScript, TypeScript and Go, and of the texts for them.
pub(super) fn outlines(dynamic: Dynamic) -> Vec<Registration> {
    if !dynamic.lenses {
        return Vec::new();
    }
    let languages = LANGUAGES.map(|it| json!({ "scheme": "file", "language": it }));
    let selector = json!({ "documentSelector": languages });
    let edits =
        json!({ "documentSelector": languages, "syncKind": TextDocumentSyncKind::INCREMENTAL });
    let all = [
        ("textDocument/didOpen", selector.clone()),
        ("textDocument/didChange", edits),
        ("textDocument/didClose", selector.clone()),
        ("textDocument/codeLens", selector),
    ];
    all.map(|(method, options)| registration("trellis-outlines", method, options)).to_vec()
}

/// Names that editors give to the languages.
const LANGUAGES: [&str; 5] =
    ["javascript", "javascriptreact", "typescript", "typescriptreact", "go"];

fn registration(id: &str, method: &str, options: Value) -> Registration {
    let register_options = Some(options);
    Registration { id: format!("{id}-{method}"), method: method.to_owned(), register_options }
}
