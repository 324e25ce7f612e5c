//! The worker of a fake engine: it knows the contents that it was sent, and passes one test.

use std::{
    collections::BTreeSet,
    io,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};

use crate::fake_engine::{Fault, State, Stream};

/// Does the work of a worker on the pipes of its container.
pub(crate) async fn work(mut stream: Stream, state: Arc<Mutex<State>>) -> io::Result<()> {
    let mut length = String::new();
    stream.read_line(&mut length).await?;
    let mut bundle = vec![0; length.trim().parse().map_err(io::Error::other)?];
    stream.read_exact(&mut bundle).await?;
    say(&mut stream, &json!({ "ready": { "pytest": "8", "hidden": true } })).await?;
    let mut wanted = BTreeSet::new();
    let mut line = String::new();
    while stream.read_line(&mut line).await? > 0 {
        let order: Value = serde_json::from_str(&line)?;
        line.clear();
        if order["op"] == "measure" {
            if state.lock().expect("no panic").fault == Fault::SilentInMeasuring {
                state.lock().expect("no panic").fault = Fault::Silent;
                return Ok(());
            }
            say(&mut stream, &json!({ "measuring": null })).await?;
        } else if order["op"] == "lay" {
            let news = missing(&order, &mut wanted, &state);
            say(&mut stream, &news).await?;
        } else if order["op"] == "run" {
            if state.lock().expect("no panic").fault == Fault::SilentInRun {
                state.lock().expect("no panic").fault = Fault::Silent;
                std::future::pending::<()>().await;
            }
            let barrier = state.lock().expect("no panic").barrier.take();
            if let Some(barrier) = barrier {
                barrier.wait().await;
                barrier.wait().await;
            }
            run(&mut stream, &order).await?;
        }
    }
    Ok(())
}

/// Returns the reply to an order of files: the digests that are nowhere.
fn missing(order: &Value, wanted: &mut BTreeSet<String>, state: &Mutex<State>) -> Value {
    let set = order["set"].as_array().into_iter().flatten();
    let files = set.map(|it| &it[1]).filter(|it| it["kind"] == "file");
    wanted.extend(files.filter_map(|it| Some(it["content"].as_str()?.to_owned())));
    let state = state.lock().expect("no panic");
    wanted.retain(|it| order["contents"].get(it).is_none() && !state.contents.contains(it));
    if wanted.is_empty() { json!({ "laid": null }) } else { json!({ "missing": wanted }) }
}

async fn run(stream: &mut Stream, order: &Value) -> io::Result<()> {
    let test = "test_a.py::test_a";
    let events = [
        json!({ "event": "phase", "doing": "start", "id": "" }),
        json!({ "event": "collected", "ids": [test] }),
        json!({
            "event": "test", "id": test, "outcome": "passed", "seconds": 0.1, "path": "test_a.py",
            "line": 1, "reason": null, "failure": null, "stdout": "", "stderr": "",
        }),
        json!({ "event": "finish", "status": 0 }),
    ];
    let token = order["token"].as_str().unwrap_or_default();
    for (number, event) in events.iter().enumerate() {
        frame(stream, b'E', format!("{token} {number} {event}\n").as_bytes()).await?;
    }
    let ended = json!({
        "id": order["id"], "code": 0, "signal": null, "left_behind": 0, "clean": true, "why": null,
        "uncollected": null, "memory_kill": false,
    });
    say(stream, &json!({ "ended": ended })).await
}

async fn say(stream: &mut Stream, message: &Value) -> io::Result<()> {
    frame(stream, b'C', message.to_string().as_bytes()).await
}

/// Sends a frame on the standard output of the container.
async fn frame(stream: &mut Stream, channel: u8, payload: &[u8]) -> io::Result<()> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).map(u32::to_be_bytes);
    let head = length(payload).map_err(io::Error::other)?;
    let frame = [&[channel], head.as_slice(), payload].concat();
    let head = length(&frame).map_err(io::Error::other)?;
    stream.write_all(&[&[1, 0, 0, 0], head.as_slice(), &frame].concat()).await?;
    stream.flush().await
}
