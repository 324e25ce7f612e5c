//! Registers symbol features with the client: none while another server provides them.
//!
//! Clients without dynamic registration keep sending such requests, and get empty answers.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tower_lsp::Client;
use tower_lsp::ls_types::{Registration, Unregistration};

use super::from_lsp::{self, Dynamic};

/// Timeout for a response of the client.
const CLIENT_PATIENCE: Duration = Duration::from_secs(10);

/// Keeps the registrations in the wanted state.
pub(super) async fn keep(
    client: Client,
    known: from_lsp::Client,
    mut wanted: watch::Receiver<bool>,
) {
    let all = registrations(known.dynamic);
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

fn registrations(dynamic: Dynamic) -> Vec<Registration> {
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
    wanted
        .map(|(_, method, options)| Registration {
            id: format!("trellis-{method}"),
            method: method.to_owned(),
            register_options: Some(options),
        })
        .collect()
}
