//! The examples with a specification: drafted, generated, installed, tested, traced.

use std::process::Command;

use serde_json::Value;

use crate::world::{Ran, World, repository};

/// Drafts and generates an example, installs the result into an environment of its own, and follows
/// every sentence to tests that passed.
fn check(example: &str, package: &str, (nodes, integrated): (usize, usize), used: &str) {
    let world = World::new();
    for name in ["spec.md", "replies.jsonl"] {
        let path = repository().join("fixtures/examples").join(example).join(name);
        world.write(name, &std::fs::read_to_string(path).expect("a file"));
    }
    let model = "recorded:replies.jsonl";
    let draft = world.trellis(&["plan", "draft", "spec.md", "--model", model, "--json"]);
    assert_eq!(draft.exits(0).json()["problems"], serde_json::json!([]));
    let _ = world.trellis(&["plan", "check", "plan.json"]).exits(0);
    let ran =
        world.trellis(&["generate", "plan.json", "--out", package, "--model", model, "--json"]);
    let ran = ran.exits(0).json();
    let features = ran["acceptance"].as_array().expect("features");
    assert!(!features.is_empty() && features.iter().all(|it| it["outcome"] == "holds"), "{ran:#}");
    let flows = ran["integration"].as_object().expect("flows");
    let tested = flows.values().filter(|it| it["outcome"] == "passed").count();
    assert_eq!(tested, integrated, "{ran:#}");
    let run = ["plan", "trace", "plan.json", "--run", package, "--json"];
    let trace = world.trellis(&run).exits(0).json();
    let mut served = 0;
    for sentence in trace["sentences"].as_array().expect("sentences") {
        for node in sentence["nodes"].as_array().into_iter().flatten() {
            served += 1;
            let tests = node["tests"].as_array().map_or(0, Vec::len);
            assert!(node["status"] == "passed" && tests > 0, "{sentence:#}");
        }
    }
    assert!(served >= nodes, "{trace:#}");
    let plan: Value = serde_json::from_str(&world.read("plan.json")).expect("JSON");
    let all = plan["nodes"].as_array().expect("nodes");
    assert_eq!(all.iter().filter(|it| it["node_type"] == "leaf").count(), nodes);
    installed(&world, package, used);
}

/// Installs a package into a new environment; there, an expression holds and the tests pass, without
/// the sources beside them.
fn installed(world: &World, package: &str, used: &str) {
    let environment = world.root().join("environment");
    let run = |command: &mut Command| Ran::of(command.output().expect("it starts")).exits(0);
    let _ = run(world.shell("python3").args(["-m", "venv"]).arg(&environment));
    let python = environment.join("bin/python");
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pytest"];
    let _ = run(world.shell(&python).args(install).arg(format!("./{package}")));
    let _ = run(world.shell(&python).args(["-c", used]));
    let (tests, copy) = (world.root().join(package).join("tests"), world.root().join("alone"));
    let _ = run(world.shell("cp").arg("-r").arg(tests).arg(&copy));
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider"];
    let ran = run(world.shell(&python).args(pytest).arg(&copy));
    assert!(ran.stdout.contains(" passed"), "{}", ran.stdout);
}

#[test]
fn a_library_is_drafted_generated_and_installed() {
    let used = "from spans.lists import gaps\nfrom spans.notation import read_spans, written\nassert [written(it) for it in gaps(read_spans('5..8, 1..3'))] == ['3..5']";
    check("draft-library", "spans", (11, 5), used);
}

#[test]
fn a_service_is_drafted_generated_and_installed() {
    let used = "import io\nfrom noted.application import make_application\nfrom noted.notes import NoteStore\nbody = b'{\"title\": \"a\", \"text\": \"b\"}'\nstarted = []\nask = {'REQUEST_METHOD': 'POST', 'PATH_INFO': '/notes', 'CONTENT_LENGTH': str(len(body)), 'wsgi.input': io.BytesIO(body)}\nmake_application(NoteStore())(ask, lambda status, headers: started.append(status))\nassert started == ['201 Created']";
    check("draft-service", "noted", (16, 4), used);
}
