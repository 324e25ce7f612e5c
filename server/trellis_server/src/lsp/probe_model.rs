//! `trellis/tryModel`: the editor's counterpart of `trellis doctor --model`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::oneshot;
use tower_lsp::Client;
use trellis_llm::Editor;

use super::editor_llm::one_line;
use super::protocol_ext::{ModelTried, ModelTriedParams};
use trellis_workflows::fault::Fault;
use trellis_workflows::models::{self, ModelArgs, ModelHandle, Models, ProbeResult};

/// Sends a tiny request to the named model, or to all models configured for the root folder, and
/// reports each outcome to the client.
pub(super) async fn run(
    client: Client,
    editor: Arc<dyn Editor>,
    roots: oneshot::Receiver<Vec<PathBuf>>,
    name: Option<String>,
) {
    // Without a folder, the server's working directory counts, as on the command line.
    let root = roots.await.ok().and_then(|it| it.into_iter().next());
    let root = root.unwrap_or_else(|| PathBuf::from("."));
    let args = ModelArgs::single_retry(name.clone()).with_editor(editor);
    // Opening reads files and certificates, which must not block the message loop.
    let opened = tokio::task::spawn_blocking(move || open(&args, &root)).await;
    let opened = opened
        .unwrap_or_else(|error| Err(Fault::internal(format!("cannot open the model: {error}"))));
    match opened {
        Err(fault) => send_outcome(&client, failed(name, 0, fault)).await,
        Ok(models) => {
            for opened in models.all() {
                send_outcome(&client, one(opened).await).await;
            }
        }
    }
}

fn open(args: &ModelArgs, root: &Path) -> Result<Models, Fault> {
    Models::open(args, &models::config(root)?, &models::env)
}

async fn send_outcome(client: &Client, outcome: ModelTriedParams) {
    client.send_notification::<ModelTried>(outcome).await;
}

async fn one(opened: &ModelHandle) -> ModelTriedParams {
    let since = Instant::now();
    match models::probe(opened).await {
        Ok(tried) => answered(tried),
        Err(fault) => {
            failed(Some(opened.model.name().to_owned()), since.elapsed().as_millis(), fault)
        }
    }
}

fn answered(tried: ProbeResult) -> ModelTriedParams {
    ModelTriedParams {
        model: Some(tried.name),
        ok: true,
        reply: Some(one_line(&tried.reply)),
        answered_by: tried.answered_by,
        milliseconds: whole(tried.milliseconds),
        input_tokens: tried.usage.map(|it| it.input_tokens),
        output_tokens: tried.usage.map(|it| it.output_tokens),
        usd: tried.usd,
        ..ModelTriedParams::default()
    }
}

fn failed(model: Option<String>, milliseconds: u128, fault: Fault) -> ModelTriedParams {
    ModelTriedParams {
        model,
        ok: false,
        milliseconds: whole(milliseconds),
        error: Some(fault.message),
        hint: fault.hint,
        ..ModelTriedParams::default()
    }
}

fn whole(milliseconds: u128) -> u64 {
    u64::try_from(milliseconds).unwrap_or(u64::MAX)
}
