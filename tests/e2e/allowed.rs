//! Permissions of tests: set by flags and by the user's own settings, never by a project or a
//! model.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use ::lsp::patience;
use serde_json::{Value, json};

use crate::runs::{call, editor, ended, start};
use crate::world::{Plot, Ran, World};

const OWN: &str = "home/.config/trellis/trellis.toml";

/// Creates a project whose one test expects `STAGE` to be `wanted`.
fn project(wanted: &str) -> World {
    let world = World::new();
    let text = format!(
        "import os\n\ndef test_stage():\n    assert os.environ.get('STAGE', '') == '{wanted}'\n"
    );
    world.write("p/test_a.py", &text);
    world
}

fn test(world: &World, more: &[&str]) -> Command {
    let mut command = world.command(&["test", "p", "--sandbox=local", "--json"]);
    command.args(more).env("STAGE", "mine");
    command
}

fn outcome(command: &mut Command) -> String {
    let ran = Ran::of(command.output().expect("trellis starts"));
    ran.json()["outcome"].as_str().expect("an outcome").to_owned()
}

#[test]
fn variables_come_from_flags_then_from_the_person_s_own_file_and_not_by_themselves() {
    let world = project("");
    assert_eq!(outcome(&mut test(&world, &[])), "passed");
    let world = project("flag");
    assert_eq!(outcome(&mut test(&world, &["--env=STAGE=flag"])), "passed");
    world.write(OWN, "[sandbox]\nenv = { STAGE = \"file\" }\n");
    assert_eq!(outcome(&mut test(&world, &["--env=STAGE=flag"])), "passed");
    let world = project("file");
    world.write(OWN, "[sandbox]\nenv = { STAGE = \"file\" }\n");
    assert_eq!(outcome(&mut test(&world, &[])), "passed");
    let world = project("mine");
    assert_eq!(outcome(&mut test(&world, &["--pass-env=STAGE"])), "passed");
    world.write(OWN, "[sandbox]\npass_env = [\"STAGE\"]\n");
    assert_eq!(outcome(&mut test(&world, &[])), "passed");
    let ran = Ran::of(test(&world, &["--pass-env=NOPE"]).output().expect("trellis starts"));
    let _ = ran.exits(0).says("NOPE should be passed to the tests, but it is not set here");
}

#[test]
fn every_workflow_gives_them_to_its_tests() {
    let world = project("mine");
    world.write("p/code.py", "def f():\n    return 1\n");
    world.write(OWN, "[sandbox]\nenv = { STAGE = \"mine\" }\n");
    let nothing = world.trellis(&[
        "repair",
        "p",
        "--trials=0",
        "--sandbox=local",
        "--model=recorded:none",
        "--json",
    ]);
    assert_eq!(nothing.exits(0).json()["outcome"], "nothingToDo");
    let found = world.trellis(&["localize", "p", "--sandbox=local", "--trials=0", "--json"]);
    assert_eq!(found.exits(0).json()["failures"], json!([]));
}

#[test]
fn a_project_cannot_say_what_its_tests_may_have() {
    let world = project("");
    for text in ["[sandbox]\nnetwork = true\n", "[sandbox]\n", "[sandbox.env]\nSTAGE = \"x\"\n"] {
        world.write("p/trellis.toml", text);
        let ran = world.trellis(&["test", "p", "--sandbox=local"]).exits(65);
        let _ = ran.says("a project cannot set `[sandbox]`").says(".config/trellis/trellis.toml");
    }
}

/// Engines get the project's code, so that only the person names them.
#[test]
fn a_project_cannot_say_which_engines_get_its_code() {
    let world = project("");
    let text = "[[engines]]\nhost = \"unix:///nowhere.sock\"\n";
    world.write("p/trellis.toml", text);
    let ran = world.trellis(&["test", "p"]).exits(65);
    let _ = ran.says("a project cannot set `engines`").says(".config/trellis/trellis.toml");
    world.write("p/trellis.toml", "");
    world.write(OWN, text);
    let _ = world.trellis(&["test", "p"]).exits(69).says("/nowhere.sock");
    let named = ["test", "p", "--engine=unix:///other.sock"];
    let _ = world.trellis(&named).exits(69).says("/other.sock");
    let _ = world.trellis(&[&named[..], &["--sandbox=local"]].concat()).exits(65);
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let world = project("");
    for (text, words) in [
        ("[sandbox]\nmemory = 5\n", "`sandbox.memory` is in MiB, from 64"),
        ("[sandbox]\ncores = 0\n", "must be at least 1"),
        ("[sandbox]\nrun_seconds = 0\n", "must be at least 1"),
        ("[sandbox]\npass_env = [\"A=B\"]\n", "contain variable names"),
        ("[sandbox]\nnetwrok = true\n", "unknown field `netwrok`"),
    ] {
        world.write(OWN, text);
        let _ = world.trellis(&["test", "p", "--sandbox=local"]).exits(65).says(words);
    }
    world.write(OWN, "");
    for (flag, code, words) in [
        ("--env=STAGE", 65, "`STAGE` is not a variable with a value"),
        ("--env==x", 65, "is not the name of a variable"),
        ("--memory=1", 64, "--memory"),
        ("--cores=0", 64, "--cores"),
        ("--python=/nowhere", 69, "/nowhere cannot run the tests: /nowhere does not exist"),
    ] {
        let _ = world.trellis(&["test", "p", "--sandbox=local", flag]).exits(code).says(words);
    }
    let both = world.trellis(&["test", "p", "--sandbox=docker", "--python=/usr/bin/python3"]);
    let _ = both.exits(65).says("a container cannot use a Python environment on this machine");
}

#[test]
fn the_report_says_that_the_network_was_open() {
    let world = project("");
    for (more, enforced) in [(vec![], true), (vec!["--network"], false)] {
        let ran = Ran::of(test(&world, &more).output().expect("trellis starts")).exits(0).json();
        let limits = ran["limits"].as_array().expect("limits");
        let network = limits.iter().find(|it| it["name"] == "network").expect("told");
        assert_eq!(network["enforced"], enforced, "{network}");
    }
}

/// `[sandbox] run_seconds` applies unless a flag overrides it.
#[test]
fn a_whole_run_has_the_time_that_the_person_gives() {
    let world = World::new();
    world.write("p/test_a.py", "def test_a():\n    while True: pass\n");
    world.write(OWN, "[sandbox]\nrun_seconds = 1\n");
    let ran = Ran::of(test(&world, &[]).output().expect("trellis starts")).exits(1).json();
    assert_eq!(ran["outcome"], "timedOut", "{ran}");
    assert!(ran["reason"].as_str().is_some_and(|it| it.contains("the whole run")), "{ran}");
    let more = ["--run-timeout=600", "--timeout=1"];
    let ran = Ran::of(test(&world, &more).output().expect("trellis starts")).exits(1).json();
    assert!(ran["reason"].as_str().is_some_and(|it| it.contains("one test")), "{ran}");
}

/// The editor sets permissions like a person; a change of the user's own file applies at once.
#[test]
fn the_editor_says_it_with_a_request() {
    let world = project("editor");
    let root = world.root().join("p");
    let mut client = editor(&world, Value::Null);
    let run = |client: &mut ::lsp::Client, allow: Value| {
        let params = json!({ "root": root, "sandbox": "local", "allow": allow });
        call(client, "runTests", params)["outcome"].clone()
    };
    assert_eq!(run(&mut client, json!({})), "failed");
    assert_eq!(run(&mut client, json!({ "env": ["STAGE=editor"] })), "passed");
    assert_eq!(run(&mut client, json!({})), "failed");
    world.write(OWN, "[sandbox]\nenv = { STAGE = \"editor\" }\n");
    assert_eq!(run(&mut client, json!({})), "passed");
    let params = json!({ "root": root, "sandbox": "local", "allow": { "memory": 0 } });
    let refused = client.request("trellis/runTests", params, patience()).expect_err("refused");
    assert!(refused.to_string().contains("too small"), "{refused}");
    let _ = client.shutdown();
}

/// A resumed folder may come from a stranger: permissions in its journal are ignored, and none are
/// stored there.
#[test]
fn no_journal_keeps_or_says_what_tests_may_have() {
    let world = World::new();
    let plot = Plot::three();
    let _ = world.grow(&plot, &["--env=STAGE=a-secret", "--network"]).exits(0);
    let journal = world.read("out/.trellis/journal.jsonl");
    assert!(!journal.contains("a-secret") && !journal.contains("\"network\""), "{journal}");
    // An interpreter that leaves a trace, named by the folder.
    let trace = world.root().join("started");
    let program = world.write("own/python", &format!("#!/bin/sh\ntouch {}\n", trace.display()));
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("set");
    let said =
        format!("\"options\":{{\"allow\":{{\"python\":{:?}}},", program.display().to_string());
    assert!(journal.contains("\"options\":{"), "{journal}");
    let forged = journal.replacen("\"options\":{", &said, 1);
    world.write("out/.trellis/journal.jsonl", &forged);
    let mut client = editor(&world, json!({ "trusted": true }));
    let job = start(&mut client, "generate", json!({ "out": "out" }));
    let _ = ended(&mut client, &job);
    assert!(!trace.exists(), "the folder's interpreter was started");
    let _ = client.shutdown();
}

#[test]
fn an_activated_environment_counts() {
    let world = World::new();
    world.write("p/test_a.py", "import theirs\n\ndef test_a():\n    assert theirs.VALUE == 5\n");
    let environment = world.root().join("elsewhere");
    let mut make = Command::new("python3");
    let made = make.args(["-m", "venv", "--without-pip"]).arg(&environment).status();
    assert!(made.expect("python3").success());
    let libraries = std::fs::read_dir(environment.join("lib")).expect("a folder");
    let packages = libraries.flatten().next().expect("one").path().join("site-packages");
    std::fs::write(packages.join("theirs.py"), "VALUE = 5\n").expect("written");
    let run = |more: &[&str], activated: Option<&Path>| {
        let mut command = test(&world, more);
        command.envs(activated.map(|it| ("VIRTUAL_ENV", it)));
        Ran::of(command.output().expect("trellis starts"))
    };
    assert_eq!(run(&[], None).json()["outcome"], "collectionError");
    let ran = run(&[], Some(&environment)).exits(0);
    let _ = ran.says("the activated environment").says("has no pytest");
    let named = format!("--python={}", environment.display());
    let _ = run(&[&named], None).exits(0);
}

/// Names as people and models write them.
#[test]
fn a_requirement_that_is_named_as_it_is_imported_is_installed() {
    let world = World::new();
    world.write("p/requirements.txt", "yaml>=6\n");
    world.write(
        "p/test_a.py",
        "import yaml\n\ndef test_a():\n    assert yaml.safe_load('a: 1') == {'a': 1}\n",
    );
    let ran = Ran::of(test(&world, &[]).output().expect("trellis starts")).exits(0);
    let _ = ran.says("yaml is the name of an import: the package PyYAML is installed");
}
