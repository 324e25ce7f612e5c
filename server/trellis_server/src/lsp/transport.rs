//! Moves messages between the client and the service: every request gets one response, within
//! bounds.
//!
//! Changes are read while responses wait to be written, so that neither side waits for the other to
//! read first. Pending requests are bounded by number and unsent responses by bytes; beyond these
//! bounds nothing more is read.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::Poll;

use futures_util::future::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde::Serialize;
use tokio::sync::mpsc;
use tower_lsp::ClientSocket;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

use super::codec::{Frame, refusal};
use super::reply::Reply;
use super::stdio::ClientOutput;

/// Maximum pending requests: more than any client has, so that changes never queue behind queries.
const OPEN_AT_MOST: usize = 16_384;
/// Bytes of unsent responses above which no further ones are produced.
const ANSWERS_UNSENT: usize = 64 << 20;
/// Bytes of unsent notifications above which no further ones are taken. Small, since waiting
/// notifications can still be merged with newer ones.
const NEWS_UNSENT: usize = 256 << 10;

/// Future that handles a message.
pub(super) type Answering =
    Pin<Box<dyn Future<Output = Result<Option<Reply>, tower_lsp::ExitedError>> + Send>>;

/// Reason why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The client sent `exit`, regularly after `shutdown`.
    Exit { after_shutdown: bool },
    /// The client closed the stream or reads no more.
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fresh,
    Serving,
    ShutDown,
}

/// Connection between a client and the service.
pub(super) struct Transport<S> {
    service: S,
    socket: ClientSocket,
    output: ClientOutput,
    phase: Phase,
    open: FuturesUnordered<Pin<Box<dyn Future<Output = Option<Reply>> + Send>>>,
    unsent: Vec<u8>,
}

/// One step of the loop.
enum Event {
    Sent,
    Deaf,
    Answered(Option<Reply>),
    News(Request),
    Came(Option<Frame>),
}

impl<S: FnMut(Request) -> Answering> Transport<S> {
    pub(super) fn new(service: S, socket: ClientSocket, output: ClientOutput) -> Transport<S> {
        let (open, unsent) = (FuturesUnordered::new(), Vec::new());
        Transport { service, socket, output, phase: Phase::Fresh, open, unsent }
    }

    /// Serves until the input ends or the client reads no more.
    pub(super) async fn serve(&mut self, mut input: mpsc::Receiver<Frame>) -> End {
        loop {
            match self.turn(Some(&mut input)).await {
                Event::Sent => {}
                Event::Deaf | Event::Came(None) => return End::Closed,
                Event::Answered(response) => self.answer(response),
                Event::News(request) => self.put(&request),
                Event::Came(Some(frame)) => {
                    if let Some(end) = self.take(frame).await {
                        return end;
                    }
                }
            }
        }
    }

    /// Waits until the last responses are made and written. Ends once the work behind pending
    /// responses ends.
    pub(super) async fn finish(mut self) {
        while !self.open.is_empty() || !self.unsent.is_empty() {
            match self.turn(None).await {
                Event::Answered(response) => self.answer(response),
                Event::News(request) => self.put(&request),
                Event::Deaf => return,
                Event::Sent | Event::Came(_) => {}
            }
        }
        drop(self.output.sender);
        // An error means that the client read no more.
        let _ = self.output.all_out.await;
    }

    async fn turn(&mut self, input: Option<&mut mpsc::Receiver<Frame>>) -> Event {
        let unsent = self.unsent.len();
        // The second bound is for clients that send refused requests and never read.
        let reads = self.open.len() < OPEN_AT_MOST && unsent < 2 * ANSWERS_UNSENT;
        let came = async {
            match input {
                Some(input) if reads => input.recv().await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            room = self.output.sender.reserve(), if unsent > 0 => match room {
                Ok(room) => {
                    room.send(std::mem::take(&mut self.unsent));
                    Event::Sent
                }
                Err(_) => Event::Deaf,
            },
            () = self.output.sender.closed() => Event::Deaf,
            Some(response) = self.open.next(), if unsent < ANSWERS_UNSENT => Event::Answered(response),
            Some(request) = self.socket.next(), if unsent < NEWS_UNSENT => Event::News(request),
            frame = came => Event::Came(frame),
        }
    }

    async fn take(&mut self, frame: Frame) -> Option<End> {
        match frame {
            Frame::Refused(response) => {
                let why = response.error().map(|it| it.message.clone()).unwrap_or_default();
                tracing::warn!("refused the client's message: {why}");
                self.answer(Some(response.into()));
            }
            Frame::Response(response) => {
                // The requester may have ended.
                let _ = futures_util::SinkExt::send(&mut self.socket, response).await;
            }
            Frame::Request(request) if request.method() == "exit" => {
                let after_shutdown = self.phase == Phase::ShutDown;
                // `exit` ends pending requests and has no response.
                let _ = (self.service)(request).await;
                return Some(End::Exit { after_shutdown });
            }
            Frame::Request(request) => self.call(request).await,
        }
        None
    }

    async fn call(&mut self, request: Request) {
        let id = request.id().cloned();
        if let Some((code, why)) = self.refused(&request) {
            return self.answer(id.map(|id| refusal(id, code, why).into()));
        }
        let begins = request.method() == "initialize";
        if request.method() == "shutdown" {
            self.phase = Phase::ShutDown;
        }
        let answering = AssertUnwindSafe((self.service)(request)).catch_unwind();
        let mut answering = Box::pin(answering.map(move |end| match end {
            Ok(Ok(response)) => response,
            Ok(Err(exited)) => broken(id, &exited.to_string()),
            Err(_) => broken(id, "the handler crashed; see the server's log"),
        }));
        if begins {
            // Later messages depend on this one.
            let response = answering.await;
            if response.as_ref().is_some_and(Reply::is_ok) {
                self.phase = Phase::Serving;
            }
            return self.answer(response);
        }
        // Each request is polled once before the next is read, so changes and queries keep their
        // order.
        match futures_util::poll!(&mut answering) {
            Poll::Ready(response) => self.answer(response),
            Poll::Pending => self.open.push(answering),
        }
    }

    /// Returns the reason why a message is not passed on; notifications get no response.
    fn refused(&self, request: &Request) -> Option<(ErrorCode, String)> {
        let (method, is_request) = (request.method(), request.id().is_some());
        match self.phase {
            Phase::Fresh if method == "initialize" && is_request => None,
            Phase::Fresh => {
                let why = format!("{method} came before `initialize`, which must be first");
                Some((ErrorCode::ServerError(-32002), why))
            }
            Phase::ShutDown => {
                let why =
                    format!("{method} came after `shutdown`, after which only `exit` is allowed");
                Some((ErrorCode::InvalidRequest, why))
            }
            Phase::Serving if method == "shutdown" && !is_request => {
                Some((ErrorCode::InvalidRequest, "`shutdown` without an id".to_owned()))
            }
            Phase::Serving if method.starts_with("$/") && is_request => {
                Some((ErrorCode::MethodNotFound, format!("there is no request {method}")))
            }
            Phase::Serving => None,
        }
    }

    fn answer(&mut self, response: Option<Reply>) {
        if let Some(response) = response {
            self.put(&response);
        }
    }

    fn put(&mut self, message: &impl Serialize) {
        match serde_json::to_vec(message) {
            Ok(body) => {
                self.unsent.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
                self.unsent.extend(body);
            }
            Err(error) => tracing::error!("a message is not valid JSON: {error}"),
        }
    }
}

fn broken(id: Option<Id>, why: &str) -> Option<Reply> {
    let error = Error { message: why.to_owned().into(), ..Error::internal_error() };
    id.map(|id| Response::from_error(id, error).into())
}
