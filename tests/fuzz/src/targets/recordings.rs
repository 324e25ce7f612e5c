//! Recordings of models' replies.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use trellis_llm::{ChatRequest, Model, ModelError, OpenError, Settings, open};

use super::{folder, runtime};
use crate::memory;

/// Maximum number of questions to one recording.
const MOST: usize = 64;

/// A recording that can be read, asked everything that it holds, records itself: the new file gives
/// the same replies, and skips the outages before them. An error names a line of the file, and no recording is changed by reading.
pub(super) fn run(input: &[u8]) {
    let (first, second) = (folder().join("first.jsonl"), folder().join("second.jsonl"));
    fs::write(&first, input).expect("a file");
    let _ = fs::remove_file(&second);
    let opened = memory::bounded(input, 1 << 20, 400, || replayed(&first, Some(&second)));
    match opened {
        Ok(model) => repeats(input, &model, &second),
        Err(OpenError::Malformed { line, .. }) => {
            let lines = input.iter().filter(|it| **it == b'\n').count() + 1;
            assert!((1..=lines).contains(&line), "line {line} of {lines}");
        }
        Err(error) => panic!("a file was refused: {error}"),
    }
    assert!(fs::read(&first).expect("a file") == input, "the recording was changed");
}

fn replayed(path: &Path, record: Option<&Path>) -> Result<Model, OpenError> {
    let settings = Settings { record: record.map(Path::to_owned), ..Settings::default() };
    open(&format!("recorded:{}", path.display()), &settings, |_| None)
}

fn repeats(input: &[u8], model: &Model, record: &Path) {
    let questions = questions(input);
    let first = answers(model, &questions);
    let again = replayed(record, None).unwrap_or_else(|error| {
        panic!("a recording that was written cannot be read: {error}");
    });
    let second = answers(&again, &questions);
    for (key, one) in &first {
        let two = &second[key];
        assert_eq!(one.is_empty(), two.is_empty(), "{key:?}");
        assert!(two.starts_with(one), "{key:?}: {one:?}, then {two:?}");
    }
}

/// Returns a question for each line, in their order; a further one for lines without attempt.
fn questions(input: &[u8]) -> Vec<ChatRequest> {
    let input = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
    let lines = input.split(|it| *it == b'\n').filter_map(|it| serde_json::from_slice(it).ok());
    lines.take(MOST).map(|line: Value| question(&line)).collect()
}

fn question(line: &Value) -> ChatRequest {
    let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    ChatRequest {
        node: text("node"),
        stage: text("stage"),
        attempt: line["attempt"].as_u64().and_then(|it| u32::try_from(it).ok()).unwrap_or_default(),
        messages: Vec::new(),
        tools: Arc::new([]),
        temperature: 0.0,
        max_output_tokens: None,
    }
}

/// Node, stage and attempt of a question.
type Key = (String, String, u32);

/// Returns the text and the calls of each reply, or the kind of its error, by question. Outages are
/// left out: an outage is recorded once, and a retry of the replay gets what comes after it.
fn answers(model: &Model, questions: &[ChatRequest]) -> BTreeMap<Key, Vec<String>> {
    let mut answers: BTreeMap<Key, Vec<String>> = BTreeMap::new();
    for question in questions {
        let key = (question.node.clone(), question.stage.clone(), question.attempt);
        let answers = answers.entry(key).or_default();
        match runtime().block_on(model.ask(question)) {
            Ok(reply) => answers.push(format!("{:?} {:?}", reply.text, reply.tool_calls)),
            Err(ModelError::Unavailable { .. }) => {}
            Err(error) => {
                let error = format!("{error:?}");
                answers.push(error.split([' ', '(']).next().unwrap_or_default().to_owned());
            }
        }
    }
    answers
}
