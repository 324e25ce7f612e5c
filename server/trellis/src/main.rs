//! `trellis`: the sidecar and command line. It knows every other crate; nothing knows it.

use std::process::ExitCode;
use std::time::Duration;

mod agent;
mod api;
mod async_stdin;
mod budget;
mod cli;
mod code_view;
mod config;
mod convert;
mod edits;
mod embedding_index;
mod error;
mod event_bus;
mod forge;
mod generate;
mod issue;
mod job_control;
mod jobs;
mod llm_client;
mod llm_session;
mod localize;
mod lsp;
mod mcp;
mod models;
mod nested;
mod node_status;
mod output;
mod parent_watch;
mod plan_file;
mod plan_search;
mod project;
mod proposals;
mod repair;
mod reporter;
mod results;
mod rpc;
mod sandbox;
mod session;
mod signals;
mod sources;
mod stacks;
mod symbols;
mod tasks;
mod tools;
mod websocket;
mod workspace;
mod write_tests;

/// Virtual memory only. Python of a model's making can be nested as deeply as it likes, and the walks
/// over its syntax tree are recursive.
pub(crate) const STACK_BYTES: usize = 256 << 20;

/// A thread that waits for a disk which does not answer keeps no process.
pub(crate) const LAST_WORK: Duration = Duration::from_secs(5);

/// What a crash leaves on the disk would hold the keys of this process. Programs that it starts get the same.
fn leave_no_core() {
    let nothing = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    // A limit can always be lowered.
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, nothing);
}

fn main() -> ExitCode {
    leave_no_core();
    // Fails only where the pool is there already, which nothing before this line has made.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).build_global();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build();
    match runtime {
        // On a worker: the main thread has the system's stack, and children die with the thread that
        // started them.
        Ok(runtime) => {
            let end = runtime.block_on(async { tokio::spawn(cli::main()).await });
            runtime.shutdown_timeout(LAST_WORK);
            end.map_or_else(|_| error::Exit::Internal.into(), ExitCode::from)
        }
        Err(error) => {
            output::Output::new(false).note(format_args!("error: cannot start: {error}"));
            error::Exit::Internal.into()
        }
    }
}
