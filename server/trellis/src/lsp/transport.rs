//! Moves messages between the client and the service: every request gets one answer, and bounds hold.
//!
//! Changes are taken in while answers wait to be read, so that neither side ever waits for the other to read first.
//! What is open is bounded by number, what is unsent by bytes; beyond that nothing more is read.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::Poll;

use futures_util::future::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};
use tower_lsp::ClientSocket;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

use super::codec::{Frame, refusal};

/// Requests without an answer: more than any client has, so that changes never queue behind questions.
const OPEN_AT_MOST: usize = 16_384;
/// Bytes of answers that wait to be read by the client; then no further ones are made.
const ANSWERS_UNSENT: usize = 64 << 20;
/// The same for what we say of our own accord. It is small, since what is not said yet can still become one with what
/// is newer.
const NEWS_UNSENT: usize = 256 << 10;

/// What handles a message.
pub(super) type Answering =
    Pin<Box<dyn Future<Output = Result<Option<Response>, tower_lsp::ExitedError>> + Send>>;

/// Why a conversation is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The client said `exit`, as it should after `shutdown`.
    Exit { after_shutdown: bool },
    /// It closed the stream or takes nothing more.
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fresh,
    Serving,
    ShutDown,
}

/// A client and the service it talks to.
pub(super) struct Transport<S> {
    service: S,
    socket: ClientSocket,
    output: mpsc::Sender<Vec<u8>>,
    all_out: oneshot::Receiver<()>,
    phase: Phase,
    open: FuturesUnordered<Pin<Box<dyn Future<Output = Option<Response>> + Send>>>,
    unsent: Vec<u8>,
}

/// One turn of the loop.
enum Event {
    Sent,
    Deaf,
    Answered(Option<Response>),
    News(Request),
    Came(Option<Frame>),
}

impl<S: FnMut(Request) -> Answering> Transport<S> {
    pub(super) fn new(
        service: S,
        socket: ClientSocket,
        (output, all_out): (mpsc::Sender<Vec<u8>>, oneshot::Receiver<()>),
    ) -> Transport<S> {
        let (open, unsent) = (FuturesUnordered::new(), Vec::new());
        Transport { service, socket, output, all_out, phase: Phase::Fresh, open, unsent }
    }

    /// Serves until there is nothing more to read, or nobody who reads.
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

    /// Waits for the last answers and until they are out. It ends when all that answers depend on ends.
    pub(super) async fn finish(mut self) {
        while !self.open.is_empty() || !self.unsent.is_empty() {
            match self.turn(None).await {
                Event::Answered(response) => self.answer(response),
                Event::News(request) => self.put(&request),
                Event::Deaf => return,
                Event::Sent | Event::Came(_) => {}
            }
        }
        drop(self.output);
        // An error means that the client took no more.
        let _ = self.all_out.await;
    }

    async fn turn(&mut self, input: Option<&mut mpsc::Receiver<Frame>>) -> Event {
        let unsent = self.unsent.len();
        // The second bound is for clients that send what is refused at once, and never read.
        let reads = self.open.len() < OPEN_AT_MOST && unsent < 2 * ANSWERS_UNSENT;
        let came = async {
            match input {
                Some(input) if reads => input.recv().await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            room = self.output.reserve(), if unsent > 0 => match room {
                Ok(room) => {
                    room.send(std::mem::take(&mut self.unsent));
                    Event::Sent
                }
                Err(_) => Event::Deaf,
            },
            () = self.output.closed() => Event::Deaf,
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
                self.answer(Some(response));
            }
            Frame::Response(response) => {
                // Whoever asked may be gone.
                let _ = futures_util::SinkExt::send(&mut self.socket, response).await;
            }
            Frame::Request(request) if request.method() == "exit" => {
                let after_shutdown = self.phase == Phase::ShutDown;
                // It ends what is open; there is no answer.
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
            return self.answer(id.map(|id| refusal(id, code, why)));
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
            // What comes next counts on it.
            let response = answering.await;
            if response.as_ref().is_some_and(Response::is_ok) {
                self.phase = Phase::Serving;
            }
            return self.answer(response);
        }
        // Each gets as far as it can before the next is read: changes and questions stay in their order.
        match futures_util::poll!(&mut answering) {
            Poll::Ready(response) => self.answer(response),
            Poll::Pending => self.open.push(answering),
        }
    }

    /// Why a message is not passed on; notifications get no answer.
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

    fn answer(&mut self, response: Option<Response>) {
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

fn broken(id: Option<Id>, why: &str) -> Option<Response> {
    let error = Error { message: why.to_owned().into(), ..Error::internal_error() };
    id.map(|id| Response::from_error(id, error))
}
