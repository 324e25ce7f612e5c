//! Large loads: checks that time and memory grow in proportion to the work, and that the editor
//! stays responsive.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use lsp::{Client, Failure, uri_of};
use serde_json::{Value, json};

use super::{Failed, Measured, PATIENCE, Times, connect};
use crate::chains;
use crate::symbols::process::{resident, usage};
use crate::symbols::server::Server;

/// Nodes of the largest graph; measurements are compared with a quarter of it.
const NODES: usize = 10_000;
const JOBS: u32 = 2;
/// Pause between two queries while nodes are generated.
const PAUSE: Duration = Duration::from_millis(50);
/// Files of the largest workspace; measurements are compared with a tenth of it.
const FILES: usize = 100_000;
const FILES_IN_A_FOLDER: usize = 500;
/// Timeout for reading all files.
const READING: Duration = Duration::from_secs(600);
/// Eight hours with a change every other second.
const HOURS: usize = 8;
const CHANGES_AN_HOUR: usize = 1_800;
/// Changes between pauses; work that waits for a pause runs then.
const BURST: usize = 50;
/// Longer than the 300 ms after which the server refreshes.
const REST: Duration = Duration::from_millis(400);
/// Files that are opened in turn.
const EDITED: usize = 40;

/// Generates a graph, and one a quarter as large, with a model without latency.
pub(super) fn grow(server: &Server) -> Measured {
    println!("growing nodes whose replies take no time, {JOBS} at once, in the sidecar:");
    let [small, large] = [NODES / 4, NODES].map(|nodes| grown(server, nodes));
    let (small, large) = (small?, large?);
    println!(
        "  with four times the nodes {:.2} times the time and {:.2} times the memory a node",
        large.time / small.time / 4.0,
        large.memory / small.memory / 4.0
    );
    Ok(())
}

struct Grown {
    /// Seconds.
    time: f64,
    /// Memory in MiB above that at the start.
    memory: f64,
}

fn grown(server: &Server, nodes: usize) -> Result<Grown, Failed> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    chains::write(&root, nodes)?;
    let mut client = connect(server, &root)?;
    client.request("workspace/symbol", json!({ "query": "f1" }), PATIENCE)?;
    let (before, since) = (resident(client.process_id()), Instant::now());
    let params = json!({
        "graph": "rpg.json", "out": "out", "sandbox": "local", "jobs": JOBS,
        "model": format!("recorded:{}", root.join("replies.jsonl").display()),
    });
    let started = client.request("trellis/generate", params, PATIENCE)?;
    let job = json!({ "job": started["job"] });
    let (mut asked, mut peak) = (Times::default(), before);
    let ended = loop {
        asked.add(client.timed("workspace/symbol", json!({ "query": "f1" }), PATIENCE)?.took);
        peak = peak.max(resident(client.process_id()));
        let shape = client.request("trellis/job", job.clone(), PATIENCE)?;
        if shape["state"] != "running" {
            break shape;
        }
        client.listen(PAUSE)?;
    };
    let (time, memory) = (since.elapsed().as_secs_f64(), peak - before);
    client.shutdown()?;
    let passed = passed(&root)?;
    if passed != nodes {
        return Err(Failed::Other(format!("{passed} of {nodes} nodes passed: {ended}")));
    }
    println!(
        "  {nodes} nodes: {time:.0} s, {:.1} ms each; memory {before:.0} MiB, at most {peak:.0} MiB, {:.1} KiB each; symbols asked meanwhile: {}",
        time * 1000.0 / nodes as f64,
        memory * 1024.0 / nodes as f64,
        asked.shown()
    );
    Ok(Grown { time, memory })
}

fn passed(root: &Path) -> Result<usize, Failed> {
    let text = fs::read_to_string(root.join("out/docs/generation_checkpoint.json"))?;
    let found: Value = serde_json::from_str(&text).map_err(|it| Failed::Other(it.to_string()))?;
    let nodes = found.as_object().into_iter().flatten();
    Ok(nodes.filter(|(_, it)| it["status"] == "passed").count())
}

/// Reads a workspace, and one a tenth as large.
pub(super) fn index(server: &Server) -> Measured {
    println!("reading a workspace until its symbols are known:");
    let [small, large] = [read(server, FILES / 10)?, read(server, FILES)?];
    let each = (large - small) * 1024.0 / (FILES - FILES / 10) as f64;
    println!("  each file more takes {each:.1} KiB");
    Ok(())
}

/// Reads this number of files; returns the memory with all of them known, in MiB.
fn read(server: &Server, files: usize) -> Result<f64, Failed> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let megabytes = written(&root, files)? as f64 / 1e6;
    let mut client = connect(server, &root)?;
    let query = json!({ "query": format!("Holder{}", files - 1) });
    let first = client.timed("workspace/symbol", query.clone(), READING)?;
    if first.value.as_array().is_none_or(Vec::is_empty) {
        return Err(Failed::Other("the last file's class was not found".to_owned()));
    }
    let again = client.timed("workspace/symbol", query, PATIENCE)?.took.as_secs_f64() * 1000.0;
    client.listen(REST)?;
    let [now, peak] = [resident(client.process_id()), usage(client.process_id()).peak];
    client.shutdown()?;
    println!(
        "  {files} files, {megabytes:.1} MB: {:.1} s, then {again:.2} ms a question; memory {now:.0} MiB, at most {peak:.0} MiB",
        first.took.as_secs_f64()
    );
    Ok(now)
}

/// Writes files with a class, its methods and a function each; returns their bytes.
fn written(root: &Path, files: usize) -> Result<usize, Failed> {
    let mut bytes = 0;
    for i in 0..files {
        let folder = root.join(format!("part_{}", i / FILES_IN_A_FOLDER));
        if i % FILES_IN_A_FOLDER == 0 {
            fs::create_dir(&folder)?;
        }
        let text = format!(
            "import math\n\n\nclass Holder{i}:\n    \"\"\"Holds {i}.\"\"\"\n\n    def __init__(self, value: int = {i}) -> None:\n        self.value = value\n\n    \
             def root(self) -> float:\n        return math.sqrt(self.value)\n\n\ndef hold_{i}(value: int) -> Holder{i}:\n    \"\"\"Return a holder.\"\"\"\n    held = Holder{i}(value)\n    return held\n"
        );
        bytes += text.len();
        fs::write(folder.join(format!("module_{i}.py")), text)?;
    }
    Ok(bytes)
}

/// Types, saves, opens and closes for as many changes as the simulated hours have.
pub(super) fn edit(server: &Server) -> Measured {
    println!("{HOURS} hours of editing, {CHANGES_AN_HOUR} changes each:");
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    written(&root, FILES_IN_A_FOLDER)?;
    let mut client = connect(server, &root)?;
    let mut memory = Vec::new();
    for hour in 0..HOURS {
        let mut asked = Times::default();
        for change in 0..CHANGES_AN_HOUR {
            let number = hour * CHANGES_AN_HOUR + change;
            if change % BURST == 0 {
                client.listen(REST)?;
            }
            asked.add(changed(&mut client, &root, number)?);
        }
        client.listen(REST)?;
        memory.push(resident(client.process_id()));
        println!(
            "  hour {}: {:.0} MiB; lenses after a change: {}",
            hour + 1,
            memory[hour],
            asked.shown()
        );
    }
    client.shutdown()?;
    println!("  the last hour's memory to the second's: {:.3}", memory[HOURS - 1] / memory[1]);
    Ok(())
}

/// Makes one change and sends the query that an editor sends after it. Every other change reverts
/// the preceding one; a file is open for a burst of changes, and saved at its end.
fn changed(client: &mut Client, root: &Path, number: usize) -> Result<Duration, Failure> {
    let (burst, within) = (number / BURST, number % BURST);
    let file = root.join(format!("part_0/module_{}.py", burst % EDITED));
    let uri = uri_of(&file);
    if within == 0 {
        client.open(&file)?;
    }
    let at = |character: usize| json!({ "line": 14, "character": character });
    let change = match within % 2 {
        0 => json!({ "range": { "start": at(0), "end": at(0) }, "text": "    held = None\n" }),
        _ => {
            json!({ "range": { "start": at(0), "end": json!({ "line": 15, "character": 0 }) }, "text": "" })
        }
    };
    let document = json!({ "uri": uri, "version": number + 2 });
    let params = json!({ "textDocument": document, "contentChanges": [change] });
    let named = json!({ "textDocument": { "uri": uri } });
    let since = Instant::now();
    client.notify("textDocument/didChange", params);
    let at = client.timed("textDocument/codeLens", named.clone(), PATIENCE)?.at;
    if within == BURST - 1 {
        client.notify("textDocument/didSave", named.clone());
        client.notify("textDocument/didClose", named);
    }
    Ok(at.duration_since(since))
}
