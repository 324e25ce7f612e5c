//! Commands that find and show: search, dependencies with statuses, code.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::world::{Plot, World, repository};

fn desk() -> String {
    repository().join("fixtures/search/rpg.json").display().to_string()
}

fn ids(found: &Value) -> Vec<&str> {
    let results = found["results"].as_array().expect("results");
    results.iter().map(|it| it["id"].as_str().expect("an id")).collect()
}

#[test]
fn search_finds_by_name_and_by_meaning() {
    let world = World::new();
    let graph = desk();
    let search = |more: &[&str]| {
        let ran = world.trellis(&[&["plan", "search", &graph, "--json"], more].concat()).exits(0);
        ran.json()
    };
    assert_eq!(ids(&search(&["average"]))[0], "statistics.calculate_mean");
    let exact = search(&["calculate mean", "--top=1"]);
    let keys: Vec<&String> = exact["results"][0].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["id", "name", "score", "matched", "path", "subgraph"]);
    let mut first = exact["results"][0].clone();
    assert!(first["score"].as_f64().is_some_and(|it| (2.0..3.0).contains(&it)), "{first}");
    first["score"] = json!(0);
    let expected = json!({
        "id": "statistics.calculate_mean", "name": "calculate_mean", "score": 0,
        "matched": ["calculate", "mean"], "path": "src/desk/statistics/central.py",
        "subgraph": "statistics",
    });
    assert_eq!(first, expected);
    let inside = search(&["average", "--subgraph=billing", "--top=50"]);
    assert!(ids(&inside).iter().all(|it| it.starts_with("billing.")), "{inside}");
    assert_eq!(ids(&search(&["levenstein", "--by=words"])), ["text.levenshtein"]);

    let text = world.trellis(&["plan", "search", &graph, "sums of values", "--top=1"]).exits(0);
    assert!(text.stdout.contains("*Sum* of the *values* divided"), "{}", text.stdout);
    let none = world.trellis(&["plan", "search", &graph, "xyzzy", "--by=words"]).exits(0);
    assert_eq!(none.stdout, "no node matches \"xyzzy\"; try other words\n");
    let _ = world.trellis(&["plan", "search", &graph, "?!"]).exits(64).says("no word");
    let _ = world.trellis(&["plan", "search", &graph]).exits(64);
    let wrong = ["plan", "search", &graph, "a", "--subgraph=kitchen"];
    let _ = world.trellis(&wrong).exits(65).says("there are billing, geometry");
    let unknown = ["plan", "search", &graph, "a", "--embeddings=word2vec"];
    let _ = world.trellis(&unknown).exits(69).says("known kinds: builtin");
}

#[test]
fn a_file_of_queries_is_answered_line_by_line() {
    let world = World::new();
    let queries = world.write("queries.txt", "average\n\nparse url\n").display().to_string();
    let ran = world.trellis(&["plan", "search", &desk(), "--queries", &queries, "--json"]).exits(0);
    let lines: Vec<Value> =
        ran.stdout.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    let firsts: Vec<&str> = lines.iter().map(|it| ids(it)[0]).collect();
    assert_eq!(firsts, ["statistics.calculate_mean", "network.parse_url"]);
    assert!(lines.iter().all(|it| it["milliseconds"].is_f64()), "{lines:?}");
}

/// Starts an embeddings service on the loopback interface: each text becomes its counts of the
/// letters `a` and `b`. Ends with the process.
fn letters() -> (String, std::sync::Arc<std::sync::Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = std::sync::Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let body = read_body(&mut stream);
            let count = |text: &str, letter| text.matches(letter).count();
            let texts = body["input"].as_array().expect("texts").iter();
            let vectors: Vec<Value> = texts
                .map(|it| it.as_str().expect("a text"))
                .map(|it| json!([count(it, 'a'), count(it, 'b')]))
                .collect();
            noted.lock().expect("no panic").push(body);
            let answer = json!({ "embeddings": vectors }).to_string();
            let length = answer.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close");
            write!(stream, "{head}\r\n\r\n{answer}").expect("written");
        }
    });
    (url, asked)
}

fn read_body(stream: &mut impl Read) -> Value {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).expect("a request");
        bytes.extend(&buffer[..read]);
        let end = bytes.windows(4).position(|it| it == b"\r\n\r\n");
        let body = end.and_then(|end| serde_json::from_slice(&bytes[end + 4..]).ok());
        if let Some(body) = body {
            return body;
        }
        assert!(read > 0, "the request ends too early");
    }
}

#[test]
fn vectors_of_a_service_are_kept_and_a_damaged_store_is_made_anew() {
    let world = World::new();
    let node = |id: &str| {
        json!({"id": id, "name": id, "type": "function", "node_type": "leaf",
            "file_path": "src/x.py", "docstring": ""})
    };
    let graph = json!({"nodes": [node("aaa"), node("bbb")], "edges": [], "metadata": {}});
    world.write("rpg.json", &graph.to_string());
    let (url, asked) = letters();
    let search = || {
        let arguments = ["plan", "search", "rpg.json", "b", "--by=meaning", "--json"];
        let mut command = world.command(&arguments);
        command.env("OLLAMA_HOST", &url).env("TRELLIS_EMBEDDINGS", "ollama:letters");
        command.env("TRELLIS_CACHE", world.root().join("cache"));
        let ran = crate::world::Ran::of(command.output().expect("trellis starts")).exits(0);
        assert_eq!(ids(&ran.json()), ["bbb"], "{}", ran.stdout);
        let bodies = std::mem::take(&mut *asked.lock().expect("no panic"));
        bodies.iter().map(|it| it["input"].clone()).collect::<Vec<Value>>()
    };
    let all = vec![json!(["aaa", "x", "bbb"]), json!(["b"])];
    assert_eq!(search(), all);
    assert_eq!(search(), vec![json!(["b"])], "only the query is new");
    let stores = fs::read_dir(world.root().join("cache/vectors")).expect("a folder");
    let store = stores.flatten().next().expect("a store").path();
    fs::write(&store, "damaged").expect("written");
    assert_eq!(search(), all);
    assert_eq!(search(), vec![json!(["b"])]);
}

/// Creates a folder as a run leaves it: A needs B, B needs C; B exists in the code, C failed.
fn chain() -> World {
    let world = World::new();
    let plot = Plot::default()
        .function("A", "top", &["B"], &[], "1")
        .function("B", "base", &["C"], &[], "1")
        .function("C", "base", &[], &[], "1");
    world.write("out/docs/rpg.json", &plot.graph().to_string());
    let entry = |status: &str| json!({ "status": status, "timestamp": "2026-01-01T00:00:00Z" });
    let checkpoint = json!({"B": entry("passed"), "C": entry("failed"), "A": entry("skipped")});
    world.write("out/docs/generation_checkpoint.json", &checkpoint.to_string());
    world.write("out/src/lib/base.py", "LIMIT = 3\n\n\nclass Box:\n    \"\"\"Holds.\"\"\"\n\n    def open(self) -> int:\n        return 1\n\n\ndef B(x: int) -> int:\n    \"\"\"Return 1.\n\n    Always.\n    \"\"\"\n    return 1\n");
    world
}

#[test]
fn a_needs_b_needs_c_and_b_shows_both() {
    let world = chain();
    let drawn = world.trellis(&["plan", "deps", "out/docs/rpg.json", "B"]).exits(0).stdout;
    let expected = "\
who needs it:
B
`-- A [skipped]
what it needs:
B
`-- C [failed: possible root cause]
";
    assert_eq!(drawn, expected);
    let found =
        world.trellis(&["plan", "deps", "out/docs/rpg.json", "B", "--json"]).exits(0).json();
    assert_eq!(found["status"], "passed");
    assert_eq!(found["incoming"][0]["id"], "A");
    let outgoing = json!([{"id": "C", "name": "C", "hops": 1, "from": "B", "role": "dependency", "status": "failed"}]);
    assert_eq!(found["outgoing"], outgoing);

    fs::copy(world.root().join("out/docs/rpg.json"), world.root().join("rpg.json"))
        .expect("a copy");
    let away = ["plan", "deps", "rpg.json", "C", "--json"];
    let found = world.trellis(&away).exits(0).json();
    assert_eq!((&found["status"], &found["outgoing"]), (&Value::Null, &json!([])));
    let told = world.trellis(&[&away[..], &["--status", "out"]].concat()).exits(0).json();
    assert_eq!(told["status"], "failed");
    let nowhere = [&away[..], &["--status", "nowhere"]].concat();
    let _ = world.trellis(&nowhere).exits(65).says("generation_checkpoint.json");
}

#[test]
fn code_is_seen_by_file_and_by_node() {
    let world = chain();
    let view =
        |more: &[&str]| world.trellis(&[&["code", "view", "--root=out"], more].concat()).exits(0);
    let signatures = "\
src/lib/base.py
    4  class Box  # Holds.
    7      def open(self) -> int
   11  def B(x: int) -> int  # Return 1.
";
    assert_eq!(view(&["src/lib/base.py", "--signatures"]).stdout, signatures);
    assert_eq!(view(&["src/lib/base.py"]).stdout, world.read("out/src/lib/base.py"));
    let drilled = view(&["src/lib/base.py", "--symbol=Box/open"]).stdout;
    assert_eq!(drilled, "    def open(self) -> int:\n        return 1\n");

    let node = view(&["B", "--json"]).json();
    let source = world.read("out/src/lib/base.py");
    let source = &source[source.find("def B").expect("B")..];
    let expected = json!({
        "path": "src/lib/base.py", "generated": true,
        "symbols": [{"name": "B", "kind": "function", "line": 11, "endLine": 16,
            "signature": "def B(x: int) -> int", "preview": "Return 1."}],
        "node": "B", "status": "passed", "testPath": "tests/test_base.py", "source": source,
    });
    assert_eq!(node, expected);

    for (what, shown) in [
        ("C", "C in src/lib/base.py"),
        ("A", "A in src/lib/top.py"),
        ("src/lib/top.py", "src/lib/top.py"),
    ] {
        assert_eq!(view(&[what]).stdout, format!("{shown}: not yet generated\n"));
    }
    assert_eq!(view(&["C", "--json"]).json()["generated"], false);
    let _ = view(&["C"]).says("C [failed: possible root cause]");

    let fails =
        |more: &[&str]| world.trellis(&[&["code", "view", "--root=out"], more].concat()).exits(65);
    let _ = fails(&["BB"]).says("did you mean `B`?");
    let _ = fails(&["src/lib/base.py", "--symbol=close"]).says("it defines Box, Box/open, B");
    let _ = world.trellis(&["code", "view", "nothing.py"]).exits(65).says("no file or node");
}

/// The seed's scenario: "expected 5.0, got nan" leads through search, view and dependencies to the
/// zero check that is missing upstream.
#[test]
fn expected_5_got_nan_leads_to_the_missing_zero_check_upstream() {
    let world = World::new();
    let node = |id: &str, name: &str, doc: &str, needs: &[&str]| {
        json!({
            "id": id, "name": name, "type": "function", "node_type": "leaf", "subgraph_id": "stats",
            "file_path": "src/stats/basic.py", "docstring": doc, "dependencies": needs,
        })
    };
    let nodes = [
        node(
            "stats.validate",
            "validate_values",
            "Refuse values nothing can be computed from.",
            &[],
        ),
        node("stats.mean", "calculate_mean", "Arithmetic mean of numbers.", &["stats.validate"]),
        node("stats.report", "format_report", "Lines for a page.", &["stats.mean"]),
    ];
    let graph = json!({ "nodes": nodes, "edges": [], "metadata": {"project_name": "stats"} });
    world.write("out/docs/rpg.json", &graph.to_string());
    world.write(
        "out/src/stats/basic.py",
        "import math\n\n\ndef validate_values(values: list[float]) -> list[float]:\n    return [it for it in values if it is not None]\n\n\n\
         def calculate_mean(values: list[float]) -> float:\n    known = validate_values(values)\n    count = float(len(known))\n    \
         return sum(known) / count if count else math.nan\n",
    );
    let rpg = "out/docs/rpg.json";
    let found = world.trellis(&[
        "plan",
        "search",
        rpg,
        "expected 5.0, got nan: mean calculation",
        "--json",
    ]);
    assert_eq!(ids(&found.exits(0).json())[0], "stats.mean");
    let seen = world.trellis(&["code", "view", "stats.mean", "--root=out"]).exits(0).stdout;
    assert!(seen.contains("return sum(known) / count if count else math.nan"), "{seen}");
    let below = world.trellis(&["plan", "deps", rpg, "stats.mean"]).exits(0).stdout;
    assert!(below.contains("`-- stats.validate validate_values"), "{below}");
    assert!(below.contains("`-- stats.report format_report"), "{below}");
    let upstream = world.trellis(&["code", "view", "stats.validate", "--root=out"]).exits(0).stdout;
    assert!(upstream.contains("def validate_values") && !upstream.contains("raise"), "{upstream}");
}

#[test]
fn flows_go_from_where_data_comes_in_to_where_the_result_comes_out() {
    let world = World::new();
    let graph = repository().join("fixtures/ml-library/rpg.json").display().to_string();
    let covered = |along: &str| -> u64 {
        let found = world.trellis(&["plan", "flows", &graph, along, "--json"]).exits(0).json();
        let all = found["subgraphs"].as_array().expect("a list").iter();
        all.map(|it| it["covered"].as_u64().expect("a number")).sum()
    };
    let [data, structure, both] =
        ["--along=data-flow", "--along=structure", "--along=both"].map(covered);
    assert!(data < structure && structure <= both, "{data} {structure} {both}");
    let text = world.trellis(&["plan", "flows", &graph]).exits(0).stdout;
    assert!(text.contains("models: "), "{text}");
}
