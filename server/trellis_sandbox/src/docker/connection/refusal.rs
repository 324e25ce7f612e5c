//! Refusals that come before the request.
//!
//! In TLS 1.3, a client's handshake ends before the engine has looked at its certificate, and an
//! `ssh` may end at any time. If such an error arrives while hyper has no request on its way, hyper
//! drops it, and the request fails with "connection was not ready". The streams of this module keep
//! the error for the request.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::{TryFutureExt, future::MapOk};
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};

/// A connector whose streams keep a refusal for the request.
#[derive(Clone, Debug)]
pub(super) struct RefusalConnector<C>(pub(super) C);

impl<C: tower_service::Service<hyper::Uri>> tower_service::Service<hyper::Uri>
    for RefusalConnector<C>
{
    type Response = RefusalStream<C::Response>;
    type Error = C::Error;
    type Future = MapOk<C::Future, fn(C::Response) -> Self::Response>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), C::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, url: hyper::Uri) -> Self::Future {
        self.0.call(url).map_ok(RefusalStream::new)
    }
}

/// A stream that keeps a refusal for the request.
pub(super) struct RefusalStream<S> {
    stream: S,
    has_request: bool,
    /// The error that came before a request.
    refusal: Option<io::Error>,
}

impl<S> RefusalStream<S> {
    fn new(stream: S) -> RefusalStream<S> {
        RefusalStream { stream, has_request: false, refusal: None }
    }
}

impl<S: Read + Unpin> RefusalStream<S> {
    /// Returns what the engine says of its end, or `error` if it says nothing.
    fn reason(&mut self, error: io::Error, context: &mut Context<'_>) -> io::Error {
        let mut bytes = [0; 1];
        let mut buffer = ReadBuf::new(&mut bytes);
        match Pin::new(&mut self.stream).poll_read(context, buffer.unfilled()) {
            Poll::Ready(Err(reason)) => reason,
            _ => error,
        }
    }
}

impl<S: Read + Unpin> Read for RefusalStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.refusal.is_some() {
            return Poll::Pending;
        }
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Ready(Err(error)) if !self.has_request => {
                self.refusal = Some(error);
                Poll::Pending
            }
            read => read,
        }
    }
}

impl<S: Read + Write + Unpin> Write for RefusalStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.has_request = true;
        if let Some(refusal) = self.refusal.take() {
            return Poll::Ready(Err(refusal));
        }
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(self.reason(error, context))),
            written => written,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: Connection> Connection for RefusalStream<S> {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}

#[cfg(test)]
mod tests {
    use std::{error::Error as _, io, task::Poll};

    use futures_util::stream;
    use hyper::{Request, client::conn::http1};
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncWrite, duplex, join, sink};
    use tokio_util::io::StreamReader;

    use super::RefusalStream;

    /// Sends a request to an engine that refuses the client once it was read `before` times; returns
    /// the error.
    async fn refusal(
        mut before: usize,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> String {
        let refused = stream::poll_fn(move |_| match before {
            0 => Poll::Ready(Some(Err::<&[u8], _>(io::Error::other("certificate required")))),
            _ => {
                before -= 1;
                Poll::Pending
            }
        });
        let io = join(StreamReader::new(refused), writer);
        let stream = RefusalStream::new(TokioIo::new(io));
        let (mut sender, connection) = http1::handshake(stream).await.expect("a connection");
        let driven = tokio::spawn(connection);
        tokio::task::yield_now().await;
        let sent = sender.send_request(Request::new(String::new())).await;
        driven.abort();
        let error = sent.expect_err("refused");
        error.source().map_or_else(|| error.to_string(), ToString::to_string)
    }

    #[tokio::test]
    async fn the_request_gets_an_error_that_came_before_it() {
        assert_eq!(refusal(0, sink()).await, "certificate required");
    }

    #[tokio::test]
    async fn the_request_gets_the_reason_if_it_cannot_be_sent() {
        let (near, far) = duplex(64);
        drop(far);
        assert_eq!(refusal(1, near).await, "certificate required");
    }
}
