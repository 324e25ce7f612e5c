//! Third-party clients: a library for language servers, the official one of MCP, one for
//! WebSockets. Each runs a script in `tests/peers`, which asserts what it sees.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::plan_draft;
use crate::world::{Plot, Ran, World, binary, repository};

/// Returns the interpreter for which `cargo xtask test` installs the libraries.
fn python() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../peers");
    let wanted = repository().join("tests/peers/requirements.txt");
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    assert!(
        read(&home.join("installed")).is_some_and(|it| Some(it) == read(&wanted)),
        "{} has not the libraries of {}: run `cargo xtask test`",
        home.display(),
        wanted.display()
    );
    home.join("venv/bin/python")
}

/// Creates a small project, a graph with its recording, tests that never end, and tests that fail.
fn world() -> World {
    let world = World::new();
    let mut plot = Plot::garden();
    let tests = [1, 2, 3].map(|it| format!("\n\ndef test_{it}():\n    assert unused() == 1\n"));
    let tests = format!("```python\nfrom shop.cart import unused\n{}```\n", tests.concat());
    plot.reply("shop/cart.py::unused", "write_tests", 0, &tests);
    let fix =
        "twice.py\n<<<<<<< SEARCH\n    return x\n=======\n    return 2 * x\n>>>>>>> REPLACE\n";
    plot.reply("test_twice.py::test_twice", "repair", 0, fix);
    plot.replies.extend(plan_draft::replies());
    world.plant(&plot);
    for (path, text) in [
        ("spec.md", plan_draft::specification().as_str()),
        ("pyproject.toml", "[project]\nname = \"shop\"\n"),
        ("shop/__init__.py", ""),
        ("shop/cart.py", CART),
        ("shop/till.py", TILL),
        ("stuck/pytest.ini", "[pytest]\n"),
        (
            "stuck/test_stuck.py",
            "import threading\n\n\ndef test_stuck():\n    threading.Event().wait()\n",
        ),
        ("broken/pytest.ini", "[pytest]\n"),
        ("broken/twice.py", "def twice(x):\n    return x\n"),
        (
            "broken/test_twice.py",
            "from twice import twice\n\n\ndef test_twice():\n    assert twice(2) == 4\n",
        ),
    ] {
        world.write(path, text);
    }
    world
}

const CART: &str = "\
import math


class Cart:
    def total(self):
        return math.fsum([1])


def unused():
    return 1
";

const TILL: &str = "\
from shop.cart import Cart


def pay(cart: Cart):
    return cart.total()
";

/// Runs a client in a world and returns its report.
fn peer(world: &World, script: &str) -> Value {
    let real = world.root().canonicalize().expect("a folder");
    let recording = real.join("replies.jsonl");
    let order = json!({ "binary": binary(), "root": real, "model": format!("recorded:{}", recording.display()) });
    let like = world.command(&[]);
    let run = world.root().join("run");
    std::fs::create_dir_all(&run).expect("a folder");
    let mut command = Command::new(python());
    command.arg("-B").arg(repository().join("tests/peers").join(script)).env_clear();
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("XDG_RUNTIME_DIR", run).current_dir(world.root());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the client starts");
    let mut input = child.stdin.take().expect("standard input");
    writeln!(input, "{order}").expect("it takes its order");
    drop(input);
    Ran::of(child.wait_with_output().expect("the client ends")).exits(0).json()
}

fn all_passed() -> Value {
    let names = ["double", "square", "shifted", "summed", "negated", "tenfold"];
    names.iter().map(|it| ((*it).to_owned(), json!("passed"))).collect()
}

#[test]
fn a_library_for_language_servers_runs_the_whole_conversation() {
    let world = world();
    assert_eq!(peer(&world, "editor_client.py")["nodes"], all_passed());
}

#[test]
fn the_official_mcp_client_lists_and_calls_every_tool() {
    let world = world();
    let tools = peer(&world, "model_client.py")["tools"].as_array().cloned().unwrap_or_default();
    assert!(
        tools.contains(&json!("plan_order")) && tools.contains(&json!("run_tests")),
        "{tools:?}"
    );
}

#[test]
fn a_websocket_client_runs_a_generation_and_hears_of_it() {
    let world = world();
    let report = peer(&world, "socket_client.py");
    assert_eq!((&report["nodes"], &report["refused"]), (&all_passed(), &json!(6)));
}
