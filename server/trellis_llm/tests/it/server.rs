//! A provider on loopback that answers from a list and records the requests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One answer.
#[derive(Clone)]
pub(crate) enum Canned {
    /// Status, further header lines (each with its line break), body.
    Say(u16, &'static str, String),
    /// Pieces of a streamed answer, after this content type; the connection is closed after the
    /// last one.
    Stream(&'static str, Vec<String>),
    /// Pieces of a streamed answer, after which the connection stays open without further data.
    Stall(&'static str, Vec<String>),
    /// Promises a longer body than it sends, then closes.
    Break,
    /// Accepts the request and never answers.
    Hang,
}

impl Canned {
    /// Creates an answer with status and body, without further headers.
    pub(crate) fn say(status: u16, body: &str) -> Self {
        Self::Say(status, "", body.to_owned())
    }
}

/// A received request.
#[derive(Clone)]
pub(crate) struct Request {
    /// Request line and headers, in lower case.
    pub(crate) head: String,
    /// The body, JSON; null if it is empty.
    pub(crate) body: Value,
}

/// The server; it ends with the test's runtime.
pub(crate) struct Server {
    /// `http://127.0.0.1:PORT`.
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    /// Number of stalled connections that the client closed.
    pub(crate) left: Arc<AtomicUsize>,
}

impl Server {
    /// Answers one request per connection, from the list in order; the last answer is repeated.
    pub(crate) async fn start(answers: Vec<Canned>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&requests);
        let left = Arc::new(AtomicUsize::new(0));
        let gone = Arc::clone(&left);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, answers.clone(), Arc::clone(&noted), Arc::clone(&gone)));
            }
        });
        Self { url, requests, left }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    answers: Vec<Canned>,
    requests: Arc<Mutex<Vec<Request>>>,
    left: Arc<AtomicUsize>,
) {
    let request = read_request(&mut stream).await;
    let number = {
        let mut requests = requests.lock().unwrap();
        requests.push(request);
        requests.len() - 1
    };
    let text = match &answers[number.min(answers.len() - 1)] {
        Canned::Say(status, headers, body) => {
            let length = body.len();
            format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
            )
        }
        Canned::Stream(kind, pieces) | Canned::Stall(kind, pieces) => {
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            for piece in pieces {
                stream.write_all(piece.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
            }
            if let Canned::Stall(..) = &answers[number.min(answers.len() - 1)] {
                // Returns when the client closes the connection.
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest).await;
                left.fetch_add(1, Ordering::SeqCst);
                return;
            }
            String::new()
        }
        Canned::Break => "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"choices\"".to_owned(),
        Canned::Hang => std::future::pending().await,
    };
    stream.write_all(text.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
}

async fn read_request(stream: &mut TcpStream) -> Request {
    let mut bytes = Vec::new();
    loop {
        stream.read_buf(&mut bytes).await.unwrap();
        let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |it| it.parse().unwrap());
        let body = &bytes[end + 4..];
        if body.len() == length {
            let body = if body.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(body) };
            return Request { head, body: body.unwrap() };
        }
    }
}
