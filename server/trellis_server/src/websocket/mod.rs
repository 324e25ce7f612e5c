//! `trellis serve`: the methods and events over a WebSocket, for programs of the same user on the
//! same machine.
//!
//! The server listens only on the loopback interface. A client presents a [`token`] that only this
//! user can read; [`auth`] checks it before the handshake, and refuses web pages. Clients get
//! events through [`subscriptions`]; a [`connection_count`] tells whether the server is idle.

mod auth;
mod connection_count;
mod subscriptions;
mod token;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jsonrpsee::server::{
    BatchRequestConfig, Methods, Server, ServerConfig, StopHandle, serve_with_graceful_shutdown,
    stop_channel,
};
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::jobs::Jobs;
use crate::parent_watch;
use crate::rpc::{self, Context};
use auth::{AccessPolicy, AuthLayer};
use connection_count::Counter;
use subscriptions::Subscriptions;
use token::Token;
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::signals::cancel_on_signal;

/// Maximum bytes of a client's message.
const REQUEST_AT_MOST: u32 = 16 << 20;
/// Maximum bytes of a response.
const ANSWER_AT_MOST: u32 = 64 << 20;
/// Maximum number of WebSockets.
const CONNECTIONS: u32 = 16;
/// Maximum number of sockets, including those without a token yet.
const SOCKETS: usize = 64;
/// Timeout for presenting the token; programs on this machine need less than a second.
const HANDSHAKE: Duration = Duration::from_secs(2);
const SUBSCRIPTIONS_EACH: u32 = 16;
/// Maximum calls per message.
const BATCH: u32 = 100;
/// Maximum messages in transit to one client; further ones wait.
const UNDER_WAY: u32 = 64;
/// Timeout for clients to read the last events, and again to close.
const LAST_PATIENCE: Duration = Duration::from_secs(5);
/// Pause between attempts when the system provides no more sockets.
const BREATH: Duration = Duration::from_millis(100);

/// Options of the server.
pub struct ServeRequest {
    /// Real paths, without symbolic links.
    pub folders: Vec<PathBuf>,
    /// Port; 0 for any free one.
    pub port: u16,
    /// Web origins whose pages may connect, such as `http://localhost:3000`.
    pub origins: Vec<String>,
    /// Time without connections and jobs after which the server ends.
    pub idle_exit: Option<Duration>,
    /// Process whose end ends the server.
    pub parent: Option<u32>,
}

/// Address of the running server.
#[derive(Debug, Serialize)]
pub struct Address {
    pub url: String,
    /// Token, sent as `Authorization: Bearer TOKEN` or as `?token=TOKEN`.
    pub token: String,
    pub pid: u32,
    /// File with the token, removed with the server.
    #[serde(skip)]
    pub token_file: PathBuf,
}

/// Serves until a signal, the end of the parent process or idleness; `ready` is called once clients
/// can connect.
pub async fn serve(
    order: ServeRequest,
    ready: impl FnOnce(&Address) -> Result<(), Fault>,
) -> Result<Exit, Fault> {
    let ending = CancellationToken::new();
    cancel_on_signal(ending.clone())?;
    order.parent.map_or(Ok(()), |process| end_with(process, ending.clone()))?;
    let (listener, port) = listen(order.port).await?;
    let token = Token::new()?;
    let context = Context::of_folders(order.folders)?;
    context.settle_edits().await;
    let mut table = rpc::table(context.clone());
    let telling = Subscriptions::register(&mut table)?;
    let rules = Arc::new(AccessPolicy::new(token.text(), order.origins));
    let (guests, (stop, server)) = (Counter::default(), stop_channel());
    let accepting = accept(listener, rules, table.module.into(), guests.clone(), stop);
    let accepting = tokio::spawn(accepting);
    ready(&Address {
        url: format!("ws://{}:{port}", Ipv4Addr::LOCALHOST),
        token: token.text().to_owned(),
        pid: std::process::id(),
        token_file: token.path().to_owned(),
    })?;
    tokio::select! {
        () = ending.cancelled() => {}
        () = idle(&guests, &context.jobs, order.idle_exit) => {}
    }
    accepting.abort();
    // Clients still receive the end of their jobs.
    context.end().await;
    telling.end(LAST_PATIENCE).await;
    // An error means that the server has stopped already.
    let _ = server.stop();
    if timeout(LAST_PATIENCE, server.stopped()).await.is_err() {
        tracing::warn!("a client did not close its connection in time");
    }
    context.owner.stop().await;
    Ok(Exit::Done)
}

fn end_with(process: u32, ending: CancellationToken) -> Result<(), Fault> {
    parent_watch::watch(process, move || ending.cancel()).map_err(|error| {
        Fault::input(format!("cannot watch process {process}: {error}"))
            .hint("give `--parent` the number of a running process, or leave it out")
    })
}

async fn listen(port: u16) -> Result<(TcpListener, u16), Fault> {
    let socket = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let bound = TcpListener::bind(socket).await;
    let bound = bound.and_then(|it| it.local_addr().map(|address| (it, address.port())));
    bound.map_err(|error| {
        Fault::unavailable(format!("cannot listen on {socket}: {error}"))
            .hint("choose another `--port`, or leave it out to use a free one")
    })
}

/// Accepts connections, each served by a task of its own.
async fn accept(
    listener: TcpListener,
    rules: Arc<AccessPolicy>,
    methods: Methods,
    guests: Counter,
    stop: StopHandle,
) {
    let builder = Server::builder().set_config(limits()).to_service_builder();
    let sockets = Arc::new(Semaphore::new(SOCKETS));
    // The semaphore is never closed.
    while let Ok(place) = sockets.clone().acquire_owned().await {
        let socket = match listener.accept().await {
            Ok((socket, _)) => socket,
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                sleep(BREATH).await;
                continue;
            }
        };
        let (guest, stopped) = (guests.enter(), stop.clone().shutdown());
        let mut service = builder.clone().build(methods.clone(), stop.clone());
        let closed = service.on_session_closed();
        let gate = AuthLayer::new(rules.clone(), service);
        let admitted = gate.admitted();
        tokio::spawn(async move {
            // Small messages must not be delayed to be combined; without this option they are only
            // slower.
            let _ = socket.set_nodelay(true);
            let serving = serve_with_graceful_shutdown(socket, gate, stopped);
            tokio::select! {
                // An error means that a client disconnected.
                _ = serving => closed.await,
                // Clients without a token must not block those with one.
                () = late(&admitted) => {}
            }
            drop((guest, place));
        });
    }
}

/// Completes when a client was not authorized in time.
async fn late(admitted: &CancellationToken) {
    if timeout(HANDSHAKE, admitted.cancelled()).await.is_ok() {
        std::future::pending().await
    }
}

fn limits() -> ServerConfig {
    ServerConfig::builder()
        .ws_only()
        .max_request_body_size(REQUEST_AT_MOST)
        .max_response_body_size(ANSWER_AT_MOST)
        .max_connections(CONNECTIONS)
        .max_subscriptions_per_connection(SUBSCRIPTIONS_EACH)
        .set_batch_request_config(BatchRequestConfig::Limit(BATCH))
        .set_message_buffer_capacity(UNDER_WAY)
        .build()
}

/// Waits until there was no connection and no job for the given time.
async fn idle(guests: &Counter, jobs: &Jobs, patience: Option<Duration>) {
    let Some(patience) = patience else { return std::future::pending().await };
    loop {
        let mut watch = guests.watch();
        // An error would mean that the counter is gone, but it is held here.
        let _ = watch.wait_for(|count| *count == 0).await;
        jobs.all_ended().await;
        if timeout(patience, watch.changed()).await.is_err() {
            return;
        }
    }
}
