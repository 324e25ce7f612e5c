//! A Docker engine without containers: a server on a socket that answers as an engine does, with a
//! worker that passes one test, and with a fault if the test asks for one.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read,
    sync::{Arc, Mutex, MutexGuard},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::{TcpListener, UnixListener},
    sync::Barrier,
    task::{JoinHandle, JoinSet},
};
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig};

use crate::fake_worker;

/// The way an engine differs from one that works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// Its API is that of Docker 18.09.
    Old,
    /// Its API is that of Docker 19.03, and it is a node of a swarm.
    OldInSwarm,
    /// It has processors of another kind.
    Architecture,
    /// It answers as a server does that requires TLS.
    Tls,
    /// It answers nothing.
    Silent,
    /// It answers nothing after a request whose path contains this.
    SilentAfter(&'static str),
    /// It answers nothing after its worker got an order to run tests.
    SilentInRun,
    /// It ends its worker and answers nothing once the worker has to measure lines.
    SilentInMeasuring,
    /// It has no image and reaches no registry.
    NoImage,
    /// It has no image, reaches no registry and has no space for images.
    NoSpaceForImages,
    /// It has no space for files.
    NoSpaceForFiles,
    /// It starts no container.
    NoContainers,
}

/// The message of an engine whose disk is full.
pub(crate) const FULL: &str = "write /var/lib/docker/x: no space left on device";

/// The memory of an engine.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) fault: Fault,
    pub(crate) has_image: bool,
    /// Labels by name.
    pub(crate) volumes: BTreeMap<String, BTreeMap<String, String>>,
    /// Digests of the contents in the volumes.
    pub(crate) contents: BTreeSet<String>,
    /// Method and path of each request, without the version.
    pub(crate) requests: Vec<String>,
    /// The next run waits here when it begins, and before it ends.
    pub(crate) barrier: Option<Arc<Barrier>>,
    containers: BTreeSet<String>,
}

/// A running server; stopped when dropped.
pub(crate) struct FakeEngine {
    pub(crate) name: String,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
    _folder: TempDir,
}

impl Drop for FakeEngine {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl FakeEngine {
    pub(crate) fn new(fault: Fault) -> FakeEngine {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("engine.sock");
        let listener = UnixListener::bind(&path).expect("a socket");
        let has_image = !matches!(fault, Fault::NoImage | Fault::NoSpaceForImages);
        let state = Arc::new(Mutex::new(State { fault, has_image, ..State::default() }));
        let task = tokio::spawn(serve(listener, state.clone()));
        FakeEngine { name: format!("unix://{}", path.display()), state, task, _folder: folder }
    }

    /// Starts an engine without faults on a port of this machine that speaks TLS.
    pub(crate) async fn with_tls(config: ServerConfig) -> FakeEngine {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let name = format!("tcp://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(State { has_image: true, ..State::default() }));
        let task = tokio::spawn(serve_tls(listener, Arc::new(config).into(), state.clone()));
        let folder = tempfile::tempdir().expect("a folder");
        FakeEngine { name, state, task, _folder: folder }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    /// Returns how many requests there were with this method and this in the path.
    pub(crate) fn requests(&self, method: &str, part: &str) -> usize {
        let state = self.state();
        let all = state.requests.iter();
        all.filter(|it| it.starts_with(method) && it.contains(part)).count()
    }
}

async fn serve(listener: UnixListener, state: Arc<Mutex<State>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(converse(Box::new(stream), state.clone()));
    }
}

async fn serve_tls(listener: TcpListener, tls: TlsAcceptor, state: Arc<Mutex<State>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (tls, state) = (tls.clone(), state.clone());
        connections.spawn(async move {
            if let Ok(stream) = tls.accept(stream).await {
                converse(Box::new(stream), state).await;
            }
        });
    }
}

async fn converse(stream: Box<dyn Pipe>, state: Arc<Mutex<State>>) {
    let mut stream = BufReader::new(stream);
    if let Some(request) = Request::read(&mut stream).await {
        answer(request, stream, state).await;
    }
}

/// A connection with or without TLS.
pub(crate) trait Pipe: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Pipe for T {}

struct Request {
    method: String,
    /// The path without version and parameters.
    path: String,
    body: Vec<u8>,
}

pub(crate) type Stream = BufReader<Box<dyn Pipe>>;

impl Request {
    async fn read(stream: &mut Stream) -> Option<Request> {
        let first = line(stream).await.filter(|it| !it.is_empty())?;
        let mut words = first.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?);
        let path = target.split('?').next()?;
        let path = match path.strip_prefix("/v1.") {
            Some(rest) => &rest[rest.find('/')?..],
            None => path,
        };
        let path = path.to_owned();
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let header = line(stream).await?.to_lowercase();
            match header.split_once(": ") {
                None => break,
                Some(("content-length", value)) => length = value.parse().ok()?,
                Some(("transfer-encoding", value)) => is_chunked = value == "chunked",
                Some(_) => {}
            }
        }
        let mut body = Vec::new();
        loop {
            if is_chunked {
                length = usize::from_str_radix(&line(stream).await?, 16).ok()?;
            }
            let begin = body.len();
            body.resize(begin + length, 0);
            stream.read_exact(&mut body[begin..]).await.ok()?;
            if !is_chunked {
                break;
            }
            let _ = line(stream).await?;
            if length == 0 {
                break;
            }
        }
        Some(Request { method, path, body })
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

async fn line(stream: &mut Stream) -> Option<String> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    Some(line.trim_end().to_owned())
}

async fn answer(request: Request, mut stream: Stream, state: Arc<Mutex<State>>) {
    let fault = {
        let mut state = state.lock().expect("no panic");
        state.requests.push(format!("{} {}", request.method, request.path));
        match state.fault {
            Fault::SilentAfter(part) if request.path.contains(part) => state.fault = Fault::Silent,
            _ => {}
        }
        state.fault
    };
    if fault == Fault::Silent {
        return std::future::pending().await;
    }
    match request.path.rsplit('/').next() {
        Some("attach") => {
            let head = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n";
            if stream.write_all(head.as_bytes()).await.is_ok() {
                let _ = fake_worker::work(stream, state).await;
            }
        }
        Some("events") => {
            let text = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"Type\":\"container\",\"Action\":\"create\"}\n";
            let _ = stream.write_all(text.as_bytes()).await;
            std::future::pending().await
        }
        _ => {
            let (status, body) = reply(&request, &mut state.lock().expect("no panic"));
            let length = body.len();
            let text = format!(
                "HTTP/1.1 {status} S\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
            );
            if stream.write_all(text.as_bytes()).await.is_ok() {
                let _ = stream.shutdown().await;
            }
        }
    }
}

fn reply(request: &Request, state: &mut State) -> (u16, String) {
    let ok = |value: Value| (200, value.to_string());
    let refuse = |status: u16, message: &str| (status, json!({ "message": message }).to_string());
    let fault = state.fault;
    let parts: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
    match (request.method.as_str(), parts.as_slice()) {
        _ if fault == Fault::Tls => {
            (400, "Client sent an HTTP request to an HTTPS server.\n".to_owned())
        }
        (_, ["_ping"]) => (200, "OK".to_owned()),
        (_, ["version"]) => ok(json!({ "ApiVersion": version(fault).1 })),
        (_, ["info"]) => ok(info(fault)),
        ("GET", ["containers", "json"]) => ok(json!([])),
        ("GET", ["volumes"]) => {
            let all = state.volumes.iter().map(|(name, labels)| volume(name, labels));
            ok(json!({ "Volumes": all.collect::<Vec<_>>() }))
        }
        ("POST", ["volumes", "create"]) => {
            let wanted = request.json();
            let name = wanted["Name"].as_str().expect("a name").to_owned();
            let labels = serde_json::from_value(wanted["Labels"].clone()).expect("labels");
            let labels = state.volumes.entry(name.clone()).or_insert(labels);
            ok(volume(&name, labels))
        }
        ("DELETE", ["volumes", name]) => match state.volumes.remove(*name) {
            Some(_) => (204, String::new()),
            None => refuse(404, "no such volume"),
        },
        ("GET", ["images", "get"]) => (200, "an archive".to_owned()),
        ("GET", ["images", ..]) if state.has_image => ok(json!({ "Id": "sha256:1" })),
        ("GET", ["images", ..]) => refuse(404, "no such image"),
        ("POST", ["images", "create"]) => {
            refuse(500, "dial tcp: lookup registry.invalid: no such host")
        }
        ("POST", ["images", "load"]) if fault == Fault::NoSpaceForImages => {
            ok(json!({ "errorDetail": { "message": FULL }, "error": FULL }))
        }
        ("POST", ["images", "load"]) => {
            assert_eq!(request.body, b"an archive");
            state.has_image = true;
            ok(json!({ "stream": "loaded" }))
        }
        ("POST", ["containers", "create"]) => {
            let id = format!("c{}", state.requests.len());
            state.containers.insert(id.clone());
            (201, json!({ "Id": id, "Warnings": [] }).to_string())
        }
        ("POST", ["containers", _, "start"]) if fault == Fault::NoContainers => {
            refuse(500, "failed to create shim task")
        }
        ("POST", ["containers", _, "start"]) => (204, String::new()),
        ("PUT", ["containers", _, "archive"]) if fault == Fault::NoSpaceForFiles => {
            refuse(500, FULL)
        }
        ("PUT", ["containers", _, "archive"]) => {
            state.contents.extend(names(&request.body));
            (200, String::new())
        }
        ("DELETE", ["containers", id]) if state.containers.remove(*id) => (204, String::new()),
        _ => refuse(404, "no such object"),
    }
}

/// Returns the versions of the engine and of its API.
fn version(fault: Fault) -> (&'static str, &'static str) {
    match fault {
        Fault::Old => ("18.09.1", "1.39"),
        Fault::OldInSwarm => ("19.03.15", "1.40"),
        _ => ("27.0.1", "1.47"),
    }
}

fn info(fault: Fault) -> Value {
    let is_node = fault == Fault::OldInSwarm;
    json!({
        "OSType": "linux",
        "Architecture": if fault == Fault::Architecture { "aarch64" } else { "x86_64" },
        "NCPU": 2,
        "ServerVersion": version(fault).0,
        "Swarm": { "NodeID": "n1", "LocalNodeState": if is_node { "active" } else { "inactive" } },
    })
}

fn volume(name: &str, labels: &BTreeMap<String, String>) -> Value {
    json!({
        "Name": name, "Labels": labels, "Driver": "local", "Mountpoint": "/m", "Scope": "local",
        "Options": {},
    })
}

/// Returns the names of the files in an archive.
fn names(archive: &[u8]) -> Vec<String> {
    let mut archive = tar::Archive::new(archive);
    let mut names = Vec::new();
    for entry in archive.entries().expect("entries") {
        let mut entry = entry.expect("an entry");
        names.push(entry.path().expect("a name").display().to_string());
        let _ = entry.read_to_end(&mut Vec::new()).expect("whole");
    }
    names
}
