//! Requests to a live model, against a server of the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::world::{Plot, World};

/// Answers every chat completion with the result of `reply` for the last message; ends with the
/// process.
fn serve(reply: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &reply);
        }
    });
    format!("http://{address}/v1")
}

fn answer(mut stream: TcpStream, reply: &impl Fn(&str) -> String) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let request: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    let prompt =
        request["messages"].as_array().and_then(|all| all.last()).expect("a message")["content"]
            .as_str()
            .expect("text")
            .to_owned();
    let body = serde_json::json!({
        "id": "1", "object": "chat.completion", "model": "tiny",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply(&prompt)}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12},
    })
    .to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).expect("an answer");
}

#[test]
fn any_openai_compatible_server_can_grow_a_node() {
    let base = serve(|prompt| {
        if prompt.contains("VERDICT: A, B or C") {
            "A".to_owned()
        } else if prompt.contains("Write a pytest module") {
            "```python\nfrom lib.a import f\n\ndef test_a():\n    assert f(1) == 2\n\ndef test_b():\n    assert f(2) == 3\n\ndef test_c():\n    assert f(0) == 1\n```".to_owned()
        } else if prompt.contains("## Failure") {
            "```python\ndef f(x: int) -> int:\n    return x + 1\n```".to_owned()
        } else {
            "```python\ndef f(x: int) -> int:\n    return x\n```".to_owned()
        }
    });
    let world = World::new();
    world.plant(&Plot::default().function("f", "a", &[], &[], "x + 1"));
    let mut command = world.command(&[
        "generate",
        "rpg.json",
        "--out",
        "out",
        "--model",
        "openai:tiny",
        "--json",
    ]);
    command.env("OPENAI_BASE_URL", base).env("OPENAI_API_KEY", "sk-very-secret-value-0123456789");
    let ran = crate::world::Ran::of(command.output().expect("trellis starts")).exits(0);
    assert_eq!(ran.json()["passedByFixes"], serde_json::json!([0, 1]));
    assert_eq!(world.journal("model_call")[0]["input_tokens"], 7);
    for (path, text) in world.tree() {
        assert!(!text.contains("sk-very-secret"), "{path} holds the key");
    }
    assert!(!world.read("out/.trellis/journal.jsonl").contains("sk-very-secret"));
}
