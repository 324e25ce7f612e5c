//! `trellis serve`: serves programs other than editors.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::output::Output;
use trellis_server::rpc;
use trellis_server::websocket::{self, Address, ServeRequest};
use trellis_workflows::fault::{Exit, Fault};

/// Serve local programs: JSON-RPC on a WebSocket with a token.
#[derive(Args)]
pub(crate) struct ServeArgs {
    /// Folders that clients may work in.
    #[arg(default_value = ".", value_name = "PROJECT")]
    folders: Vec<PathBuf>,
    /// Port on 127.0.0.1; 0 picks a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Let web pages of this origin connect, such as http://localhost:3000. Repeatable.
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    allow_origin: Vec<String>,
    /// Exit after this many seconds without a client and a job.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    idle_exit: Option<u64>,
    /// Exit when this process exits.
    #[arg(long, value_name = "PID")]
    parent: Option<u32>,
    /// Print all methods and types as an OpenRPC document, and exit.
    #[arg(long)]
    describe: bool,
}

pub(crate) async fn run(args: ServeArgs, output: &mut Output) -> Result<Exit, Fault> {
    if args.describe {
        return describe(output).await;
    }
    let order = ServeRequest {
        folders: super::served(&args.folders)?,
        port: args.port,
        origins: args.allow_origin,
        idle_exit: args.idle_exit.map(Duration::from_secs),
        parent: args.parent,
    };
    websocket::serve(order, |address| match output.is_json() {
        true => output.json(address),
        false => output.text(human(address)),
    })
    .await
}

fn human(address: &Address) -> String {
    let file = address.token_file.display();
    format!("listening on {}\ntoken in    {file}", address.url)
}

async fn describe(output: &mut Output) -> Result<Exit, Fault> {
    let document = document().await?;
    match output.is_json() {
        true => output.json(&document)?,
        false => output.text(format_args!("{document:#}"))?,
    }
    Ok(Exit::Done)
}

/// Returns all methods and their types as an OpenRPC document.
pub(super) async fn document() -> Result<Value, Fault> {
    let context = rpc::Context::of_folders(Vec::new())?;
    let document = rpc::describe(&rpc::table(context.clone()));
    context.owner.stop().await;
    Ok(document)
}

/// Checks a web origin in the form browsers send: scheme and host, with an optional port.
fn origin(text: &str) -> Result<String, String> {
    let text = text.trim_end_matches('/');
    let name = text.split_once("://").map(|(_, name)| name).unwrap_or_default();
    match name.is_empty() || name.contains(['/', '*', '?', '#']) {
        true => Err("an origin is a scheme and a host, such as http://localhost:3000".to_owned()),
        false => Ok(text.to_owned()),
    }
}
