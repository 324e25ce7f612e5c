//! Commands that inspect.

use std::fs;

use crate::world::{Plot, World, repository};

#[test]
fn the_published_dialect_is_met_in_the_wild() {
    let graph = repository().join("../shared/data/rpg-encoder/graph.json");
    if !graph.exists() {
        eprintln!("skipped: {} is not there", graph.display());
        return;
    }
    let world = World::new();
    let graph = graph.display().to_string();
    let order = world.trellis(&["plan", "order", &graph, "--json"]).exits(0).json();
    assert_eq!(order["order"].as_array().map(Vec::len), Some(984), "888 entities and 96 areas");
    let _ = world.trellis(&["plan", "show", &graph]).exits(0).says("rpg-encoder");
    let checked = world.trellis(&["plan", "check", &graph, "--json"]).exits(65).json();
    assert_eq!(checked["dialect"], "rpg-encoder");
}

#[test]
fn plan_commands_print_what_they_promise() {
    let world = World::new();
    world.plant(&Plot::garden());
    let order = world.trellis(&["plan", "order", "rpg.json"]).exits(0);
    // First the nodes without dependencies, then those between, last those without dependents.
    assert_eq!(order.stdout, "double\nsquare\nsummed\nnegated\nshifted\ntenfold\n");
    let deps = world.trellis(&["plan", "deps", "rpg.json", "summed", "--json"]).exits(0).json();
    assert!(deps.to_string().contains("negated") && deps.to_string().contains("double"), "{deps}");
    let _ = world.trellis(&["plan", "deps", "rpg.json", "sumed"]).exits(65).says("summed");
    assert!(
        world.trellis(&["plan", "show", "rpg.json"]).exits(0).stdout.contains("src/lib/top.py")
    );
    let _ = world.trellis(&["plan", "check", "rpg.json"]).exits(0);
    let _ = world.trellis(&["plan", "check", "rpg.json", "--dialect", "pottery"]).exits(64);
}

#[test]
fn lists_of_tasks_are_looked_at_like_graphs() {
    let world = World::new();
    let list = r#"{"tech_stack": "nodejs-api", "tasks": [
        {"id": "db", "description": "Set up the database", "story_points": 2},
        {"id": "mail", "description": "Send mails"},
        {"id": "users", "description": "Keep users", "story_points": 5, "depends_on": ["db"]},
        {"id": "signup", "description": "Sign up", "story_points": 3, "depends_on": ["mail", "users"]}]}"#;
    world.write("tasks.json", list);
    let checked = world.trellis(&["plan", "check", "tasks.json"]).exits(0).says("dialect: tasks");
    assert_eq!(checked.stdout, "no problems in 4 nodes and 3 edges\n");
    let order = world.trellis(&["plan", "order", "tasks.json"]).exits(0).stdout;
    assert_eq!(order, "db\nmail\nusers\nsignup\n");
    let shown = world.trellis(&["plan", "show", "tasks.json"]).exits(0).stdout;
    assert!(shown.contains("task Keep users  (users)"), "{shown}");
    let levels = world.trellis(&["plan", "levels", "tasks.json"]).exits(0).stdout;
    assert_eq!(
        levels,
        "0: db, mail\n1: users\n2: signup\nlongest chain: db -> users -> signup (10 of 11)\n"
    );
    let levels = world.trellis(&["plan", "levels", "tasks.json", "--json"]).exits(0).json();
    assert_eq!(levels["levels"], serde_json::json!([["db", "mail"], ["users"], ["signup"]]));
    assert_eq!((&levels["chainWeight"], &levels["weight"]), (&10.into(), &11.into()));
    let args = ["generate", "tasks.json", "--out", "out", "--model", "recorded:none.jsonl"];
    let _ = world.trellis(&args).exits(65).says("is a list of tasks, not a planning graph");

    world.write("tasks.json", &list.replace("[\"db\"]", "[\"signup\", \"ghost\"]"));
    let ran = world.trellis(&["plan", "check", "tasks.json", "--dialect", "tasks"]).exits(65);
    for words in ["[unknown-id] users", "signup -> users -> signup"] {
        assert!(ran.stdout.contains(words), "{}", ran.stdout);
    }
    let _ = world.trellis(&["plan", "check", "tasks.json", "--dialect", "rpg"]).exits(65);
    let cyclic = world.trellis(&["plan", "levels", "tasks.json", "--json"]).exits(0).json();
    assert_eq!(cyclic["problems"][0]["kind"], "unknown-id", "{cyclic}");
}

#[test]
fn test_runs_a_folder_and_gives_structure() {
    let world = World::new();
    world
        .write("p/test_a.py", "def test_good():\n    pass\n\ndef test_bad():\n    assert 1 == 2\n");
    let ran = world.trellis(&["test", "p", "--json"]).exits(1).json();
    assert_eq!(ran["outcome"], "failed");
    assert_eq!(ran["tests"][0]["id"], "test_a.py::test_good");
    assert_eq!(ran["tests"][1]["failure"]["line"], 5);
    assert!(ran["limits"].as_array().is_some_and(|limits| !limits.is_empty()));
    let _ = world.trellis(&["test", "nowhere.py"]).exits(65).says("nowhere.py");
    fs::remove_file(world.root().join("p/test_a.py")).expect("a file");
    let _ = world.trellis(&["test", "p"]).exits(1);
}

#[test]
fn status_and_report_say_what_a_run_did() {
    let world = World::new();
    let _ = world.trellis(&["status", "."]).exits(65).says("output folder");
    let _ = world.grow(&Plot::garden(), &[]).exits(0);
    assert_eq!(world.trellis(&["status", "out", "--json"]).exits(0).json()["counts"]["passed"], 6);
    let report = world.trellis(&["report", "out"]).exits(0).stdout;
    for line in [
        "# Code Generation Report",
        "- **Nodes Passed**: 6 (100%)",
        "| basic | 2 | 2 | 0 | 0 | 100% |",
        "feat: complete basic",
    ] {
        assert!(report.contains(line), "`{line}` is missing in\n{report}");
    }
}

#[test]
fn symbols_are_found_by_name_path() {
    let world = World::new();
    world.write("lib/a.py", "class Cart:\n    \"\"\"Holds items.\"\"\"\n    def total(self) -> int:\n        return 0\n");
    world.write("lib/b.py", "# é\ndef total(): pass\n");
    world.write("lib/.gitignore", "built/\n");
    world.write("lib/built/c.py", "def total(): pass\n");
    let find = |more: &[&str]| {
        let ran =
            world.trellis(&[&["symbols", "find", "--in=lib", "--json"], more].concat()).exits(0);
        ran.json()["symbols"].as_array().expect("symbols").clone()
    };
    let all = find(&["total"]);
    let names: Vec<String> =
        all.iter().map(|it| format!("{}:{}", it["file"], it["namePath"])).collect();
    assert_eq!(names, ["\"a.py\":\"Cart/total\"", "\"b.py\":\"total\""]);
    assert_eq!(all[0]["signature"], "def total(self) -> int");
    assert_eq!(all[0]["nameRange"]["start"], serde_json::json!({ "line": 3, "column": 9 }));
    assert_eq!(find(&["/total"]).len(), 1);
    assert_eq!(find(&["tot", "--substring", "--kind=method"]).len(), 1);
    assert_eq!(find(&["Cart", "--body"])[0]["docstring"], "\"\"\"Holds items.\"\"\"");
    let _ = world.trellis(&["symbols", "find", "a b"]).exits(64).says("is not a name path");
}

#[test]
fn references_say_where_and_how_sure() {
    let world = World::new();
    world.write("lib/a.py", "class Cart:\n    def total(self): ...\n");
    world.write(
        "lib/b.py",
        "from a import Cart\n\ndef show(it):\n    it.total()\n    Cart().total()\n",
    );
    let refs = |more: &[&str]| {
        let ran =
            world.trellis(&[&["symbols", "refs", "--in=lib", "--json"], more].concat()).exits(0);
        ran.json()
    };
    let all = refs(&["Cart/total"]);
    let line = |it: &serde_json::Value| {
        let place = format!("{}:{}", it["file"], it["range"]["start"]["line"]);
        format!("{place} {} {} {}", it["enclosing"], it["kind"], it["certain"]).replace('"', "")
    };
    let lines: Vec<String> =
        all["references"].as_array().expect("a list").iter().map(line).collect();
    let wanted = ["a.py:2 Cart definition true", "b.py:4 show use false", "b.py:5 show use true"];
    assert_eq!(lines, wanted);
    assert_eq!(all["complete"], false, "the type of a parameter is unknown");
    assert_eq!(refs(&["--at", "b.py:5:6"])["references"].as_array().map(Vec::len), Some(3));
    let at = ["symbols", "definition", "--in=lib", "--at=lib/b.py:5:13", "--json"];
    let defined = world.trellis(&at).exits(0).json();
    assert_eq!(defined["definitions"][0]["file"], "a.py");
    world.write("lib/c.py", "def total(): ...\n");
    let _ = world.trellis(&["symbols", "refs", "total", "--in=lib"]).exits(65).says("c.py:1:5");
    let _ = world.trellis(&["symbols", "refs", "--at=b.py", "--in=lib"]).exits(64);
}
