//! Tests of recording: the written lines, and their replay.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use trellis_llm::{Model, ModelError, OpenError, Settings, open};

use crate::{ask, no_env};

const SOURCE: &str = concat!(
    r#"{"node":"a","stage":"tests","attempt":0,"reply":"t\n\"ü\"","usage":{"input_tokens":5,"output_tokens":2},"#,
    r#""latency_ms":40,"model":"big-1"}"#,
    "\n",
    r#"{"node":"a","stage":"task","tool_calls":[{"name":"done","arguments":{"z":1,"b":[2]}}]}"#,
    "\n",
    r#"{"node":"a","stage":"fix","attempt":0,"error":{"status":429}}"#,
    "\n",
    r#"{"node":"a","stage":"fix","attempt":1,"error":{"status":401}}"#,
    "\n",
    r#"{"node":"a","stage":"fix","attempt":2,"error":"timeout"}"#,
    "\n",
    r#"{"node":"a","stage":"fix","attempt":3,"error":"truncated","reply":"def"}"#,
    "\n",
    r#"{"node":"a","stage":"fix","attempt":4,"error":"unreachable"}"#,
    "\n",
    r#"{"node":"a","stage":"fix","attempt":5,"reply":""}"#,
    "\n",
    r#"{"node":"b","stage":"tests","error":{"status":500}}"#,
    "\n",
    r#"{"node":"b","stage":"tests","reply":"after a retry"}"#,
    "\n",
);

const QUESTIONS: [(&str, &str, u32); 10] = [
    ("a", "tests", 0),
    ("a", "task", 3),
    ("a", "fix", 0),
    ("a", "fix", 1),
    ("a", "fix", 2),
    ("a", "fix", 3),
    ("a", "fix", 4),
    ("a", "fix", 6),
    ("a", "diagnosis", 1),
    ("b", "tests", 0),
];

fn open_recording(path: &Path, record: Option<&Path>) -> Result<Model, OpenError> {
    let settings = Settings { record: record.map(Path::to_owned), ..Settings::default() };
    open(&format!("recorded:{}", path.display()), &settings, no_env)
}

/// Returns all outcomes, with the recording's own name masked.
async fn hear_all(model: &Model) -> Vec<String> {
    let mut received = Vec::new();
    for (node, stage, attempt) in QUESTIONS {
        let mut result = model.ask(&ask(node, stage, attempt)).await;
        // A line without a model is recorded under the name of the replayed recording.
        if let Ok(reply) = &mut result
            && reply.model.starts_with("recorded:")
        {
            reply.model = "RECORDING".to_owned();
        }
        received.push(format!("{result:?}").replace(model.name(), "RECORDING"));
    }
    received
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn a_recording_of_a_recording_says_the_same() {
    let dir = TempDir::new().unwrap();
    let (source, copy) = (dir.path().join("source.jsonl"), dir.path().join("copy.jsonl"));
    fs::write(&source, SOURCE).unwrap();
    let first = hear_all(&open_recording(&source, Some(&copy)).unwrap()).await;
    let second = hear_all(&open_recording(&copy, None).unwrap()).await;
    assert_eq!(first, second);
    // Nine lines for ten requests: a missing reply stays missing.
    let lines = lines(&copy);
    assert_eq!(lines.len(), 9);
    assert_eq!(
        lines[0],
        json!({
            "node": "a", "stage": "tests", "attempt": 0, "reply": "t\n\"ü\"",
            "usage": {"input_tokens": 5, "output_tokens": 2}, "latency_ms": 40, "model": "big-1",
        })
    );
    assert_eq!(lines[1]["tool_calls"], json!([{"name": "done", "arguments": {"z": 1, "b": [2]}}]));
    assert_eq!(
        lines[2],
        json!({"node": "a", "stage": "fix", "attempt": 0, "error": {"status": 429}})
    );
    assert_eq!(lines[5]["error"], "truncated");
}

#[tokio::test]
async fn a_resumed_recording_is_continued_on_a_line_of_its_own() {
    let dir = TempDir::new().unwrap();
    let (source, copy) = (dir.path().join("source.jsonl"), dir.path().join("copy.jsonl"));
    fs::write(&source, SOURCE).unwrap();
    fs::write(&copy, r#"{"node":"z","stage":"tests","reply":"earlier"}"#).unwrap();
    let model = open_recording(&source, Some(&copy)).unwrap();
    model.ask(&ask("b", "tests", 0)).await.unwrap();
    // Read while the recorder is still open: each line is written through at once.
    let nodes: Vec<Value> = lines(&copy).iter().map(|line| line["node"].clone()).collect();
    assert_eq!(nodes, ["z", "b"]);
}

#[tokio::test]
async fn a_question_that_could_not_be_replayed_is_not_recorded() {
    let dir = TempDir::new().unwrap();
    let (source, copy) = (dir.path().join("source.jsonl"), dir.path().join("copy.jsonl"));
    fs::write(&source, SOURCE).unwrap();
    let model = open_recording(&source, Some(&copy)).unwrap();
    let error = model.ask(&ask("a", "daydream", 0)).await.unwrap_err();
    assert!(matches!(error, ModelError::NotRecorded { .. }), "{error}");
    assert!(error.to_string().ends_with("unknown stage `daydream`"), "{error}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_an_error_and_no_gap() {
    let dir = TempDir::new().unwrap();
    let source = dir.path().join("source.jsonl");
    fs::write(&source, SOURCE).unwrap();
    let model = open_recording(&source, Some(Path::new("/dev/full"))).unwrap();
    let error = model.ask(&ask("b", "tests", 0)).await.unwrap_err();
    assert!(matches!(error, ModelError::NotRecorded { .. }), "{error}");
}

#[test]
fn unusable_targets_are_refused_before_the_run() {
    let dir = TempDir::new().unwrap();
    let source = dir.path().join("source.jsonl");
    fs::write(&source, SOURCE).unwrap();
    let error = open_recording(&source, Some(&source)).unwrap_err();
    assert!(matches!(error, OpenError::RecordsOnItself { .. }), "{error}");
    let error =
        open_recording(&source, Some(&dir.path().join("no/such/folder.jsonl"))).unwrap_err();
    assert!(matches!(error, OpenError::Unrecordable { .. }), "{error}");
}
