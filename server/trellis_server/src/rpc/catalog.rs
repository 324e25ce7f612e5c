//! All methods, with names and handlers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::context::Context;
use super::table::{Effect, Table};
use super::{fixes, graphs, plans, run_tests, stacks, symbols};
use crate::api::list_models::{ListModelsParams, ModelList};
use crate::api::{self, files, jobs, log, runs};
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::generate;

/// Returns all methods, for one server.
pub fn table(context: Arc<Context>) -> Table {
    let mut table = Table::new(context);
    work(&mut table);
    about_runs(&mut table);
    fixes::register(&mut table);
    graphs::register(&mut table);
    plans::register(&mut table);
    stacks::register(&mut table);
    symbols::register(&mut table);
    run_tests::register(&mut table);
    table
}

/// Registers methods that start or control long work.
fn work(table: &mut Table) {
    table.call("trellis/generate", Effect::Runs, start_run);
    table.call("trellis/retryNode", Effect::Runs, retry_node);
    table.call("trellis/listModels", Effect::Runs, list_models);
    table.files("trellis/job", Effect::Reads, |it, params| jobs::job(&it.jobs, params));
    table.files("trellis/jobs", Effect::Reads, |it, params| jobs::list(&it.jobs, params));
    table.files("trellis/cancelJob", Effect::Reads, |it, params| jobs::cancel(&it.jobs, params));
    table.files("trellis/pauseJob", Effect::Reads, |it, params| jobs::pause(&it.jobs, params));
    table.files("trellis/resumeJob", Effect::Reads, |it, params| jobs::resume(&it.jobs, params));
}

fn about_runs(table: &mut Table) {
    table.call("trellis/listRuns", Effect::Reads, |context, params: runs::ListRuns| async move {
        let folders = match params.root {
            Some(root) => vec![context.root(Some(&root)).await],
            None => context.folders().await,
        };
        blocking(move || Ok(runs::list(&folders))).await
    });
    table.call(
        "trellis/listFiles",
        Effect::Reads,
        |context, params: files::ListFiles| async move {
            let out = context.root(Some(&params.out)).await;
            blocking(move || files::list(&out)).await
        },
    );
    table.call("trellis/readFile", Effect::Reads, |context, params: files::ReadFile| async move {
        let out = context.root(Some(&params.out)).await;
        blocking(move || files::read(&out, &params.path)).await
    });
    table.call("trellis/log", Effect::Reads, |context, params: log::LogParams| async move {
        let root = context.root(params.root.as_deref()).await;
        blocking(move || log::log(&root, params)).await
    });
}

/// Runs work that would block a message loop on a thread of its own.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let work = tokio::task::spawn_blocking(work).await;
    work.unwrap_or_else(|error| Err(Fault::internal(format!("the job crashed: {error}"))))
}

async fn start_run(
    context: Arc<Context>,
    params: api::generate::Generate,
) -> Result<api::generate::Started, Fault> {
    let root = context.root(None).await;
    start(&context, "generate", params, root, None).await
}

async fn list_models(context: Arc<Context>, params: ListModelsParams) -> Result<ModelList, Fault> {
    let root = context.root(params.root.as_deref()).await;
    api::list_models::list_models(&root, &params).await
}

async fn retry_node(
    context: Arc<Context>,
    params: api::generate::RetryNode,
) -> Result<api::generate::Started, Fault> {
    let root = context.root(None).await;
    start(&context, "retryNode", params.run, root, Some(params.node)).await
}

async fn start(
    context: &Context,
    method: &'static str,
    params: api::generate::Generate,
    root: PathBuf,
    only: Option<String>,
) -> Result<api::generate::Started, Fault> {
    let args = blocking(move || params.resolve(&root)).await?;
    let title = match &only {
        Some(node) => format!("{node} in {}", name(&args.out)),
        None => format!("{} from {}", name(&args.out), name(&args.graph)),
    };
    let order = generate::GenerateRequest { only, ..args.order(context.editor.clone())? };
    let job = context.jobs.start(method, title, |duty| async move {
        let (summary, exit) = generate::generate(order, duty.control, &duty.reporter).await?;
        let mut result = serde_json::to_value(&summary)
            .map_err(|error| Fault::new(Exit::Internal, format!("no summary: {error}")))?;
        result["exitCode"] = Value::from(exit as u8);
        Ok(result)
    });
    Ok(api::generate::Started { job })
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
