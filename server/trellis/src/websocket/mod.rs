//! `trellis serve`: the methods and events over a WebSocket, for programs of the same person on the same machine.
//!
//! It listens on the loopback and nowhere else. Who connects shows a [`token`] that only that person can read; the
//! [`gate`] asks for it before the handshake, and refuses pages of the web. [`events`] are subscribed to; a [`counter`]
//! knows whether anybody is there.

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

use crate::error::{Exit, Fault};
use crate::jobs::Jobs;
use crate::parent_watch;
use crate::rpc::{self, Context};
use crate::signals::cancel_on_signal;
use auth::{AccessPolicy, AuthLayer};
use connection_count::Counter;
use subscriptions::Subscriptions;
use token::Token;

/// Bytes of one message of a client.
const REQUEST_AT_MOST: u32 = 16 << 20;
/// Bytes of one answer.
const ANSWER_AT_MOST: u32 = 64 << 20;
/// WebSockets at once.
const CONNECTIONS: u32 = 16;
/// Sockets at once, those that have shown no token yet among them.
const SOCKETS: usize = 64;
/// How long one may take to show the token; programs of this machine need no second.
const HANDSHAKE: Duration = Duration::from_secs(2);
const SUBSCRIPTIONS_EACH: u32 = 16;
/// Calls in one message.
const BATCH: u32 = 100;
/// Messages on their way to one client; who has more to say waits.
const UNDER_WAY: u32 = 64;
/// How long clients may take to read the last events, and then to close.
const LAST_PATIENCE: Duration = Duration::from_secs(5);
/// Between tries where the system hands out no more sockets.
const BREATH: Duration = Duration::from_millis(100);

/// What to serve, and until when.
pub(crate) struct ServeRequest {
    /// As they are on the disk, without symbolic links.
    pub(crate) folders: Vec<PathBuf>,
    /// 0 for any that is free.
    pub(crate) port: u16,
    /// Web origins whose pages may connect, such as `http://localhost:3000`.
    pub(crate) origins: Vec<String>,
    /// Ends when nobody was connected and no job ran for so long.
    pub(crate) idle_exit: Option<Duration>,
    /// Ends with this process.
    pub(crate) parent: Option<u32>,
}

/// How the server is reached.
#[derive(Debug, Serialize)]
pub(crate) struct Address {
    pub(crate) url: String,
    /// Shown as `Authorization: Bearer TOKEN`, or as `?token=TOKEN`.
    pub(crate) token: String,
    pub(crate) pid: u32,
    /// Holds the token, and goes with the server.
    #[serde(skip)]
    pub(crate) token_file: PathBuf,
}

/// Serves until a signal, the end of the parent or idleness; `ready` is called once clients can connect.
pub(crate) async fn serve(
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
    // Clients still hear how their jobs end.
    context.end().await;
    telling.end(LAST_PATIENCE).await;
    // An error means that it has stopped.
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

/// Takes connections, each served by a task of its own.
async fn accept(
    listener: TcpListener,
    rules: Arc<AccessPolicy>,
    methods: Methods,
    guests: Counter,
    stop: StopHandle,
) {
    let builder = Server::builder().set_config(limits()).to_service_builder();
    let sockets = Arc::new(Semaphore::new(SOCKETS));
    // It is never closed.
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
            // Small messages are not to wait for more; without this they are slower.
            let _ = socket.set_nodelay(true);
            let serving = serve_with_graceful_shutdown(socket, gate, stopped);
            tokio::select! {
                // An error is a client that went away.
                _ = serving => closed.await,
                // Those who show no token are not to keep out those who have one.
                () = late(&admitted) => {}
            }
            drop((guest, place));
        });
    }
}

/// Over when a client has not been let in for too long.
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

/// Waits until nobody was connected and no job ran for so long.
async fn idle(guests: &Counter, jobs: &Jobs, patience: Option<Duration>) {
    let Some(patience) = patience else { return std::future::pending().await };
    loop {
        let mut watch = guests.watch();
        // Errors mean that the counter is gone, which is held here.
        let _ = watch.wait_for(|count| *count == 0).await;
        jobs.all_ended().await;
        if timeout(patience, watch.changed()).await.is_err() {
            return;
        }
    }
}
