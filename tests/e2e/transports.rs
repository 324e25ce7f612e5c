//! `trellis serve` and the description of all methods, from outside: output, refusals, shutdown.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ::lsp::{Failure, patience};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};

use crate::runs::editor;
use crate::world::{Plot, Ran, World, repository};

/// If set, the recorded files are written again.
const RECORD: &str = "TRELLIS_RECORD_WIRE";

fn wire(name: &str) -> PathBuf {
    repository().join("fixtures/wire").join(name)
}

/// Compares a text with the recording, or records it.
#[track_caller]
fn assert_recorded(name: &str, found: &str) {
    if std::env::var_os(RECORD).is_some() {
        fs::create_dir_all(wire("")).expect("a folder");
        fs::write(wire(name), found).expect("recorded");
    }
    let recorded = fs::read_to_string(wire(name)).unwrap_or_default();
    let differs = found.lines().zip(recorded.lines()).find(|(a, b)| a != b);
    assert!(
        found == recorded,
        "fixtures/wire/{name} is not what is said now, from {differs:?} on; if that is right, run this with {RECORD}=1"
    );
}

#[test]
fn the_description_is_the_recorded_one_and_every_method_in_it_answers() {
    let world = World::new();
    let printed = world.trellis(&["serve", "--describe"]).exits(0);
    assert_recorded("openrpc.json", &printed.stdout);
    let document = printed.json();
    let mut client = editor(&world, Value::Null);
    for method in document["methods"].as_array().expect("methods") {
        let name = method["name"].as_str().expect("a name");
        for part in ["summary", "x-effect"] {
            assert!(method[part].as_str().is_some_and(|it| !it.is_empty()), "{name}: no {part}");
        }
        // No method accepts a list, so nothing is done.
        match client.request(name, json!([]), patience()).expect_err("refused") {
            Failure::Refused { code, message, .. } => assert_eq!(code, -32602, "{name}: {message}"),
            failure => panic!("{name}: {failure}"),
        }
    }
    let nothing = client.request("trellis/nothing", json!({}), patience()).expect_err("refused");
    assert!(matches!(nothing, Failure::Refused { code: -32601, .. }), "{nothing}");
}

#[test]
fn everything_that_is_referred_to_in_the_description_is_there() {
    let world = World::new();
    let document = world.trellis(&["--json", "serve", "--describe"]).exits(0).json();
    let mut left = vec![&document];
    let mut count = 0;
    while let Some(value) = left.pop() {
        if let Some(to) = value.get("$ref").and_then(Value::as_str) {
            let there = to.strip_prefix('#').and_then(|it| document.pointer(it));
            assert!(there.is_some(), "{to} is not there");
            count += 1;
        }
        match value {
            Value::Array(all) => left.extend(all),
            Value::Object(all) => left.extend(all.values()),
            _ => {}
        }
    }
    assert!(count > 100, "{count} references");
}

/// Returns the shape of a value: kinds of texts, numbers and booleans, and lists by their items.
fn shape(value: &Value) -> Value {
    match value {
        Value::Null => json!("null"),
        Value::Bool(_) => json!("boolean"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("text"),
        Value::Array(all) => {
            let mut shapes: Vec<Value> = all.iter().map(shape).collect();
            shapes.sort_by_key(Value::to_string);
            shapes.dedup();
            Value::Array(shapes)
        }
        Value::Object(all) => {
            all.iter().map(|(key, it)| (key.clone(), shape(it))).collect::<Map<_, _>>().into()
        }
    }
}

#[test]
fn messages_of_every_family_look_as_they_were_recorded() {
    let world = World::new();
    world.write("shop/cart.py", "class Cart:\n    def total(self):\n        return 1\n");
    world.write("shop/till.py", "from shop.cart import Cart\n\nCart().total()\n");
    world.write("pyproject.toml", "[project]\nname = \"shop\"\n");
    let plot = Plot::default().function("double", "basic", &[], &[], "2 * x").tests(
        "double",
        "basic",
        [2, 4, 6],
    );
    let _ = world.grow(&plot, &[]).exits(0);
    let mut client = editor(&world, Value::Null);
    let mut count = 0;
    for family in ["code", "edits", "faults", "graphs", "jobs", "runs", "symbols"] {
        let name = format!("{family}.json");
        let text = fs::read_to_string(wire(&name)).expect("recorded messages");
        let mut exchanges: Vec<Value> = serde_json::from_str(&text).expect("a list");
        for exchange in &mut exchanges {
            let method = exchange["method"].as_str().expect("a method").to_owned();
            let answer = match client.request(&method, exchange["params"].clone(), patience()) {
                Ok(result) => json!({ "result": shape(&result) }),
                Err(Failure::Refused { code, .. }) => json!({ "error": code }),
                Err(failure) => panic!("{method}: {failure}"),
            };
            let said = exchange.as_object_mut().expect("an object");
            said.retain(|key, _| ["method", "params"].contains(&key.as_str()));
            said.extend(answer.as_object().cloned().unwrap_or_default());
            count += 1;
        }
        assert_recorded(&name, &format!("{:#}\n", Value::Array(exchanges)));
    }
    assert!(count > 20, "{count} exchanges");
}

/// A running `trellis serve`, with its address.
pub(crate) struct Served {
    child: Child,
    address: Value,
    token_file: PathBuf,
}

impl Served {
    pub(crate) fn start(world: &World, more: &[&str]) -> Served {
        let run = world.root().join("run");
        fs::create_dir_all(&run).expect("a folder");
        let mut command = world.command(&["--json", "serve"]);
        command.args(more).env("XDG_RUNTIME_DIR", &run).stdout(Stdio::piped());
        let mut child = command.spawn().expect("trellis starts");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("standard output"));
        output.read_line(&mut line).expect("a line");
        let address: Value = serde_json::from_str(&line).expect("JSON");
        let token_file = run.join(format!("trellis/serve-{}.token", address["pid"]));
        assert!(token_file.exists(), "{}", token_file.display());
        Served { child, address, token_file }
    }

    /// Returns the status of the response to a handshake with these headers.
    fn handshake(&self, headers: &str) -> String {
        let head = self.connected(headers).1;
        head.split(' ').nth(1).unwrap_or_default().to_owned()
    }

    /// Opens a connection, and returns it with the first line of the response.
    fn connected(&self, headers: &str) -> (BufReader<TcpStream>, String) {
        let mut stream = TcpStream::connect(self.place()).expect("a connection");
        stream.set_read_timeout(Some(patience())).expect("patience");
        write!(stream, "GET / HTTP/1.1\r\n{headers}\r\n").expect("written");
        let mut stream = BufReader::new(stream);
        let mut first = String::new();
        stream.read_line(&mut first).expect("an answer");
        (stream, first)
    }

    fn place(&self) -> &str {
        let url = self.address["url"].as_str().and_then(|it| it.strip_prefix("ws://"));
        url.expect("an address")
    }

    /// Sends one request on a connection of its own, and returns the whole response.
    pub(crate) fn ask(&self, method: &str, params: Value) -> Value {
        let token = self.address["token"].as_str().expect("a token");
        let host = format!("Host: {}\r\n", self.place());
        let (mut stream, first) =
            self.connected(&format!("{host}{UPGRADE}Authorization: Bearer {token}\r\n"));
        assert!(first.contains("101"), "{first}");
        let mut headers = (&mut stream).lines().map(|it| it.expect("a header"));
        assert!(headers.any(|it| it.is_empty()), "the headers have no end");
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        send(stream.get_mut(), &question.to_string());
        serde_json::from_slice(&received(&mut stream)).expect("JSON")
    }

    /// Waits for an orderly end.
    fn ends(mut self) {
        let status = self.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0));
        assert!(!self.token_file.exists(), "the token is still there");
    }
}

/// Sends one text in one frame of RFC 6455, with an all-zero mask.
fn send(stream: &mut TcpStream, text: &str) {
    let length = u16::try_from(text.len()).expect("a short question").to_be_bytes();
    let frame = [&[0x81, 0x80 | 126][..], &length, &[0; 4], text.as_bytes()].concat();
    stream.write_all(&frame).expect("sent");
}

/// Returns the payload of the next frame.
fn received(stream: &mut impl Read) -> Vec<u8> {
    let mut bytes = |count: usize| {
        let mut bytes = vec![0; count];
        stream.read_exact(&mut bytes).expect("a frame");
        bytes
    };
    let head = bytes(2);
    assert_eq!(head[0], 0x81, "a whole text");
    let length = match head[1] {
        126 => bytes(2),
        127 => bytes(8),
        short => vec![short],
    };
    let length = length.iter().fold(0, |sum, it| sum * 256 + usize::from(*it));
    bytes(length)
}

impl Drop for Served {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[test]
fn it_ends_in_order_when_it_is_told_to_and_when_nobody_is_there() {
    let world = World::new();
    let told = Served::start(&world, &[]);
    let pid = i32::try_from(told.child.id()).ok().and_then(Pid::from_raw).expect("a number");
    kill_process(pid, Signal::TERM).expect("told");
    told.ends();
    Served::start(&world, &["--idle-exit", "1"]).ends();
    let mut parent = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat");
    let served = Served::start(&world, &["--parent", &parent.id().to_string()]);
    drop(parent.stdin.take());
    parent.wait().expect("it ends");
    served.ends();
}

#[test]
fn only_a_handshake_with_the_token_opens_the_socket() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let token = served.address["token"].as_str().expect("a token");
    let (host, key) =
        (format!("Host: {}\r\n", served.place()), format!("Authorization: Bearer {token}\r\n"));
    let table = [
        (format!("{host}{UPGRADE}{key}"), "101"),
        (format!("{host}{UPGRADE}"), "401"),
        // Even with the token there is no plain HTTP.
        (format!("{host}{key}"), "403"),
        (format!("Host: example.com\r\n{UPGRADE}{key}"), "403"),
        (format!("{UPGRADE}{key}"), "403"),
        (format!("{host}{UPGRADE}{key}Origin: https://example.com\r\n"), "403"),
    ];
    for (headers, status) in table {
        assert_eq!(served.handshake(&headers), status, "{headers}");
    }
}

#[test]
fn who_never_shows_a_token_is_let_go() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let mut stream = TcpStream::connect(served.place()).expect("a connection");
    // Less than the 30 s after which the library itself gives up: with 64 such connections that
    // would block others.
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("patience");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("the server closes it");
    assert_eq!(said, "");
}

#[test]
fn an_edit_that_a_crash_cut_short_is_taken_back_before_anybody_is_served() {
    let world = World::new();
    world.write("pyproject.toml", "");
    world.write("a.py", "new\n");
    let path = world.root().join("a.py").canonicalize().expect("a file");
    // SHA-256 of "old\n" and "new\n".
    let file = json!({
        "shown": path,
        "path": path,
        "before": "01d09d19c2139a46aebfb577780d123d7396e97201bc7ead210a2ebff8239dee",
        "after": "7aa7a5359173d05b63cfd682e3c38487f3cb4f7f1d60659fe59fab1505977d4c",
    });
    let record = json!({ "version": 1, "id": 1, "what": "test", "undoes": null, "files": [file] });
    world.write(".trellis/edits/1.pending/0.before", "old\n");
    world.write(".trellis/edits/1.pending/edit.json", &record.to_string());
    let _served = Served::start(&world, &[]);
    assert_eq!(world.read("a.py"), "old\n");
}

#[test]
fn a_token_that_a_killed_server_left_is_taken_away() {
    let world = World::new();
    let mut killed = Served::start(&world, &[]);
    let left = killed.token_file.clone();
    killed.child.kill().expect("killed");
    killed.child.wait().expect("it ends");
    assert!(left.exists(), "nobody could take it away");
    let next = Served::start(&world, &[]);
    assert!(!left.exists() && next.token_file.exists());
}

#[test]
fn nobody_else_can_read_the_token_or_say_where_it_is_kept() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&served.token_file), 0o600);
    assert_eq!(mode(served.token_file.parent().expect("a folder")), 0o700);
    let arguments = fs::read(format!("/proc/{}/cmdline", served.child.id())).expect("arguments");
    let token = served.address["token"].as_str().expect("a token");
    assert!(!String::from_utf8_lossy(&arguments).contains(token));
    let limits = fs::read_to_string(format!("/proc/{}/limits", served.child.id()));
    let limits = limits.expect("limits");
    let core = limits.lines().find(|it| it.starts_with("Max core file size")).expect("a limit");
    assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{core}");
    // In a folder that others can write, they may have put a link in place of the subfolder.
    let run = world.root().join("shared");
    fs::create_dir_all(world.root().join("theirs")).expect("a folder");
    fs::create_dir_all(&run).expect("a folder");
    std::os::unix::fs::symlink(world.root().join("theirs"), run.join("trellis")).expect("a link");
    let mut command = world.command(&["serve"]);
    let ran = Ran::of(command.env("XDG_RUNTIME_DIR", &run).output().expect("trellis starts"));
    let _ = ran.exits(69).says("does not belong to you");
    assert_eq!(fs::read_dir(world.root().join("theirs")).expect("a folder").count(), 0);
}

#[test]
fn what_cannot_be_served_is_refused_in_words() {
    let world = World::new();
    world.write("file.py", "");
    let table: [(&[&str], i32, &str); 6] = [
        (&["serve", "none"], 65, "none does not exist"),
        (&["serve", "file.py"], 65, "is not a folder"),
        (&["mcp", "none"], 65, "give folders that exist"),
        (&["serve", "--allow-origin", "*"], 64, "a scheme and a host"),
        (&["serve", "--idle-exit", "0"], 64, "--idle-exit"),
        (&["serve", "--parent", "0"], 65, "not a process id"),
    ];
    for (arguments, code, words) in table {
        let _ = world.trellis(arguments).exits(code).says(words);
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let _ = world.trellis(&["serve", "--port", &port]).exits(69).says("choose another `--port`");
}

#[test]
fn a_client_of_mcp_that_leaves_at_once_is_no_error() {
    let world = World::new();
    // The server's standard input is at its end.
    let _ = world.trellis(&["mcp"]).exits(0);
}
