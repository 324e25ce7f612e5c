//! Files that are not plans: position and message of the error.

use trellis_plan::{Dialect, read};

fn check(text: &str, line: usize, column: usize, message: &str) {
    let error = read(text.as_bytes(), None).expect_err(text);
    assert!(error.message.contains(message), "{text}: {error}");
    assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
}

#[test]
fn broken_json_names_line_and_column() {
    check("", 1, 1, "invalid JSON: EOF");
    check("{\n  \"nodes\": [\n    {\"id\": }\n  ]\n}", 3, 12, "invalid JSON: expected value");
    check("{\"nodes\": []} x", 1, 15, "trailing characters");
    check("{\"nodes\": [", 1, 11, "invalid JSON: EOF");
    check("[1]", 1, 1, "the file holds an array");
}

#[test]
fn cut_off_file_says_so() {
    let error = read(b"{\"nodes\": [", None).expect_err("cut off");
    assert_eq!(error.hint.as_deref(), Some("the file ends too early; was it truncated?"));
}

#[test]
fn wrong_shapes_name_the_field_and_its_place() {
    check("{\"nodes\": {}}", 1, 11, "`nodes` is an object, expected an array");
    check("{\"nodes\":\n  [7]}", 2, 4, "expected an object");
    check("{\"nodes\": [{\n \"id\": 7}]}", 2, 8, "`id` is a number, expected a string");
    check("{\"nodes\": [{\"name\": \"x\"}]}", 1, 21, "a node has no `id`");
    check("{\"nodes\":\n [{}]}", 2, 2, "a node has no `id`");
    check("{\"nodes\": [{\"id\": \"\"}]}", 1, 19, "`id` of a node is empty");
    check(
        "{\"nodes\": [{\"id\":\"a\",\n\"node_type\":\"feature\"}]}",
        2,
        13,
        "`node_type` is `feature`, expected `leaf` or `composite`",
    );
    check("{\"nodes\": [{\"id\":\"a\",\"red_gate\":\"no\"}]}", 1, 33, "`red_gate` is `no`");
    check(
        "{\"nodes\": [{\"id\":\"a\",\"dependencies\":\"b\"}]}",
        1,
        37,
        "`dependencies` is a string, expected an array",
    );
    check("{\"nodes\": [],\n\"edges\": [{\"source\":\"a\"}]}", 2, 21, "an edge has no `target`");
    check("{\"nodes\": [],\n\"metadata\": 3}", 2, 13, "`metadata` is a number");
    check("{\"nodes\": [{\"id\":\n\"\\ud800\"}]}", 2, 8, "hex escape");
}

#[test]
fn unknown_dialect_lists_the_known_ones() {
    check("{\"vertices\": []}", 1, 1, "none of rpg, zerorepo, codermind, rpg-encoder, tasks");
    check("{\"vertices\": []}", 1, 1, "found the keys vertices");
    check("{}", 1, 1, "found an empty object");
}

#[test]
fn forcing_a_dialect_overrides_detection() {
    let text = br#"{"nodes": [{"id": "a", "meta": {"path": "src/x.py:go", "description": "d"}}]}"#;
    assert_eq!(read(text, None).expect("plain").dialect(), Dialect::Rpg);
    let plan = read(text, Some(Dialect::ZeroRepo)).expect("forced");
    assert_eq!(plan.dialect(), Dialect::ZeroRepo);
    assert_eq!(&*plan.nodes()[0].name, "go");
    let error = read(text, Some(Dialect::CoderMind)).expect_err("no root");
    assert!(error.message.contains("`root` is missing"), "{error}");
}

#[test]
fn byte_order_mark_is_accepted_and_other_encodings_are_not() {
    let plan = read(b"\xef\xbb\xbf{\"nodes\": []}", None).expect("with mark");
    assert!(plan.nodes().is_empty());
    let error = read(b"{\n\"nodes\": \"\xff\"}", None).expect_err("not UTF-8");
    assert_eq!((error.line, error.column, &*error.message), (2, 11, "not valid UTF-8"));
}

#[test]
fn deep_nesting_is_an_error_and_no_crash() {
    let depth = 5_000;
    let nested = format!(
        "{{\"root\":{}{}}}",
        "{\"id\":\"a\",\"children\":[".repeat(depth),
        "]}".repeat(depth)
    );
    let error = read(nested.as_bytes(), None).expect_err("too deep");
    assert!(error.message.contains("nested deeper than"), "{error}");
    let extra = format!("{{\"nodes\":[],\"x\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(read(extra.as_bytes(), None).expect("unknown field").extra().len(), 1);
}

#[test]
fn dialect_names_parse_and_print() {
    for dialect in Dialect::ALL {
        assert_eq!(dialect.to_string().parse(), Ok(dialect));
    }
    let error = "RPG".parse::<Dialect>().expect_err("case matters");
    assert_eq!(
        error.to_string(),
        "unknown dialect `RPG`, expected one of rpg, zerorepo, codermind, rpg-encoder, tasks"
    );
}

#[test]
fn an_error_is_one_short_line_whatever_it_quotes() {
    let value = "a\nb".to_owned() + &"c".repeat(5000);
    let node = serde_json::json!({ "id": "a", "name": "a", "node_type": value });
    let text = serde_json::json!({ "metadata": {}, "nodes": [node], "edges": [] }).to_string();
    let message = read(text.as_bytes(), None).expect_err("a wrong kind").message;
    assert!(message.starts_with("`node_type` is `a\\nbc"), "{message}");
    assert!(message.ends_with("expected `leaf` or `composite`"), "{message}");
    assert!(message.len() < 400 && !message.contains('\n'), "{message}");
}
