//! Offers to resume stopped runs.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tower_lsp::Client;
use tower_lsp::ls_types::{MessageActionItem, MessageType};

use super::dispatch;
use super::server::without_links;
use crate::api::runs::{self, Run, RunKind, RunState};
use crate::rpc::{Context, Methods};

const RESUME: &str = "Resume";
const NOT_NOW: &str = "Not now";

/// Offers each stopped run in turn, and waits for the answer without a timeout.
pub(super) async fn offer(client: Client, context: Arc<Context>, methods: Methods) {
    let settings = context.settings();
    if !settings.offer_resume || !settings.trusted {
        return;
    }
    // The session owner ends after everything else.
    let folders = context.owner.roots().await.unwrap_or_default();
    let listing = tokio::task::spawn_blocking(move || runs::list(&folders));
    let found = match listing.await {
        Ok(found) => found.runs,
        Err(error) => return tracing::warn!("cannot list runs: {error}"),
    };
    // Resuming tasks requires their list and stack, which a person must give.
    let resumable = |it: &&Run| it.state == RunState::Stopped && it.kind == RunKind::Generate;
    for run in found.iter().filter(resumable) {
        let action = |title: &str| MessageActionItem {
            title: title.to_owned(),
            properties: Default::default(),
        };
        let actions = Some(vec![action(RESUME), action(NOT_NOW)]);
        let answer = client
            .show_message_request(MessageType::INFO, without_links(&question(run)), actions)
            .await;
        // Without an answer of the client the run stays stopped.
        if answer.ok().flatten().is_some_and(|it| it.title == RESUME)
            && let Err(error) =
                dispatch::call(methods.clone(), "trellis/generate", json!({ "out": run.out })).await
        {
            client.show_message(MessageType::ERROR, without_links(&error.message)).await;
        }
    }
}

fn question(run: &Run) -> String {
    let name = |it: &Path| it.file_name().unwrap_or(it.as_os_str()).to_string_lossy().into_owned();
    let Run { passed, total, .. } = run;
    format!("The run in {} stopped after {passed} of {total} nodes. Resume it?", name(&run.out))
}
