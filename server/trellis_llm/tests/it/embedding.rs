//! Tests of embedders: the built-in one, and services.

use std::time::Duration;

use serde_json::json;
use trellis_llm::{
    EMBEDDERS, Embedder, ModelError, OpenError, RetryPolicy, Secret, Settings, Vectors,
    open_embedder,
};

use crate::live::KEY;
use crate::no_env;
use crate::server::{Canned, Server};

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|it| (*it).to_owned()).collect()
}

fn connect(spec: &str, server: &Server) -> Embedder {
    let settings = Settings {
        api_key: Secret::new(KEY),
        base_url: Some(server.url.clone()),
        retry: RetryPolicy { first_wait: Duration::ZERO, ..RetryPolicy::default() },
        ..Settings::default()
    };
    open_embedder(spec, &settings, no_env).unwrap()
}

/// Returns the similarity of two texts by the built-in embedder.
async fn likeness(a: &str, b: &str) -> f32 {
    let embedder = open_embedder("builtin", &Settings::default(), no_env).unwrap();
    let vectors = embedder.embed(&texts(&[a, b])).await.unwrap();
    let second = vectors.rows().nth(1).unwrap();
    vectors.similarities(second).unwrap()[0]
}

#[tokio::test]
async fn the_built_in_embedder_knows_what_words_mean() {
    for (query, near, far) in [
        ("average", "calculate mean: sum of the values divided by their count", "open a file"),
        ("delete a folder", "remove directory", "sort the list"),
        ("hide password", "mask secret", "polygon area"),
    ] {
        let (near, far) = (likeness(query, near).await, likeness(query, far).await);
        assert!(near > far + 0.1, "{query}: {near} {far}");
    }
    assert!((likeness("Total Price", "total  price").await - 1.0).abs() < 1e-6);
    assert_eq!(likeness("", "anything").await, 0.0);
}

#[tokio::test]
async fn openai_compatible_services_are_asked_in_batches_and_answer_in_any_order() {
    let entry = |index: usize| json!({"index": index, "embedding": [index as f32 + 1.0, 0.0]});
    let page = |count: usize| {
        let data: Vec<_> = (0..count).rev().map(entry).collect();
        Canned::say(200, &json!({"object": "list", "data": data}).to_string())
    };
    let busy = Canned::Say(429, "retry-after: 0\r\n", "slow down".to_owned());
    let server = Server::start(vec![busy, page(64), page(6)]).await;
    let embedder = connect("openai:small", &server);
    let all: Vec<String> = (0..70).map(|it| format!("text {it}")).collect();
    let vectors = embedder.embed(&all).await.unwrap();
    assert_eq!((vectors.len(), vectors.dimensions()), (70, 2));
    assert!(vectors.rows().all(|row| row == [1.0, 0.0]), "each has length 1");

    let requests = server.requests();
    assert_eq!(requests.len(), 3, "the refused one was put again");
    let head = &requests[1].head;
    assert!(head.starts_with("post /v1/embeddings http/1.1"), "{head}");
    assert!(head.contains(&format!("authorization: bearer {KEY}")), "{head}");
    assert_eq!(requests[1].body["input"].as_array().unwrap().len(), 64);
    let expected = json!({"model": "small", "input": &all[64..]});
    assert_eq!(requests[2].body, expected);
}

#[tokio::test]
async fn ollama_is_asked_in_its_own_form() {
    let body = json!({"model": "nomic", "embeddings": [[3.0, 4.0], [0.0, 0.0]]}).to_string();
    let server = Server::start(vec![Canned::say(200, &body)]).await;
    let embedder = connect("ollama:nomic", &server);
    let vectors = embedder.embed(&texts(&["a", "b"])).await.unwrap();
    let rows: Vec<&[f32]> = vectors.rows().collect();
    assert_eq!(rows, [[0.6, 0.8], [0.0, 0.0]]);
    let request = server.requests().remove(0);
    assert!(request.head.starts_with("post /api/embed http/1.1"), "{}", request.head);
    assert_eq!(request.body, json!({"model": "nomic", "input": ["a", "b"]}));
    assert_eq!(embedder.identity(), format!("ollama:nomic at {}/api/embed", server.url));
}

#[tokio::test]
async fn answers_that_do_not_fit_are_refused_and_say_why() {
    let data = |rows: serde_json::Value| json!({"data": rows}).to_string();
    let row = |index: usize, vector: &[f32]| json!({"index": index, "embedding": vector});
    for (status, body, expected) in [
        (200, data(json!([row(0, &[1.0])])), "1 embeddings for 2 texts"),
        (200, data(json!([row(0, &[1.0]), row(0, &[1.0])])), "1 embeddings for 2 texts"),
        (200, data(json!([row(0, &[1.0]), row(1, &[])])), "empty, or of different lengths"),
        (200, data(json!([row(0, &[]), row(1, &[])])), "empty, or of different lengths"),
        (200, "<html>login</html>".to_owned(), "it holds no embeddings"),
        (200, format!("Bearer {KEY}"), "[redacted]"),
        (404, r#"{"error": "model not found"}"#.to_owned(), "status 404: model not found"),
    ] {
        let server = Server::start(vec![Canned::say(status, &body)]).await;
        let error = connect("openai:m", &server).embed(&texts(&["a", "b"])).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!error.to_string().contains(KEY) && !error.hint().is_empty());
        assert_eq!(server.requests().len(), 1, "{error}");
    }
    let server = Server::start(vec![Canned::say(503, "")]).await;
    let error = connect("ollama:m", &server).embed(&texts(&["a"])).await.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable { tries: 5, .. }), "{error}");
}

#[test]
fn names_that_lead_nowhere_say_so() {
    for (spec, expected) in [
        ("", "unknown embeddings ``; known kinds: builtin, openai:MODEL, ollama:MODEL"),
        ("recorded:x", "unknown embeddings `recorded:x`"),
        ("builtin:x", "unknown embeddings `builtin:x`"),
        ("ollama:", "`ollama:` names a provider, but no model or file"),
        ("openai:m", "no API key for `openai:m`: OPENAI_API_KEY is not set"),
    ] {
        let error = open_embedder(spec, &Settings::default(), no_env).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
        assert!(!error.hint().is_empty());
    }
    let elsewhere = |name: &str| (name == "OLLAMA_HOST").then(|| "box:11434".to_owned());
    assert!(open_embedder("ollama:m", &Settings::default(), elsewhere).is_ok(), "needs no key");
    let bad = |name: &str| (name == "OLLAMA_HOST").then(|| "ftp://box".to_owned());
    let error = open_embedder("ollama:m", &Settings::default(), bad).unwrap_err();
    assert!(matches!(error, OpenError::BadBaseUrl { .. }), "{error}");
    assert_eq!(EMBEDDERS[0], "builtin");
}

#[test]
fn vectors_come_out_even_and_of_length_one() {
    for (dimensions, numbers) in
        [(2, vec![1.0]), (0, vec![1.0]), (1, vec![f32::NAN]), (1, vec![f32::INFINITY])]
    {
        assert_eq!(Vectors::new(dimensions, numbers.clone()), None, "{dimensions} {numbers:?}");
    }
    let vectors = Vectors::new(2, vec![3.0, 4.0, -5.0, 0.0, 0.0, 0.0]).unwrap();
    assert_eq!(vectors.similarities(&[1.0, 0.0]), Some(vec![0.6, -1.0, 0.0]));
    assert_eq!(vectors.similarities(&[1.0]), None, "of another embedder");
    assert_eq!(Vectors::default().similarities(&[1.0]), Some(Vec::new()));
}
