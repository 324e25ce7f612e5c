//! `--log-file` and `RUST_LOG`: what Trellis does, without keys, prompts or replies.

use crate::models::{Service, grows, plant};
use crate::world::{Plot, Ran, World};

/// Runs a small plan; its log is written to `log.txt`.
fn logged(levels: Option<&str>) -> (World, Ran) {
    let world = World::new();
    let arguments = world.plant(&Plot::three());
    let mut command = world.command(&["--log-file=log.txt"]);
    command.args(arguments);
    if let Some(levels) = levels {
        command.env("RUST_LOG", levels);
    }
    let ran = Ran::of(command.output().expect("trellis starts"));
    (world, ran)
}

#[test]
fn a_log_file_names_requests_and_test_runs_and_shows_no_prompt_and_no_reply() {
    let (world, ran) = logged(None);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let log = world.read("log.txt");
    for wanted in ["a model was asked", "stage=\"implementation\"", "tests ran outcome=Passed"] {
        assert!(log.contains(wanted), "{wanted} is not in {log}");
    }
    for secret in ["Return 2 * x", "return 2 * x", "assert double"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
    assert!(!ran.stderr.contains("a model was asked"), "{}", ran.stderr);
}

#[test]
fn the_levels_of_rust_log_hold_for_the_file_and_for_standard_error() {
    let (world, ran) = logged(Some("trellis=warn"));
    assert_eq!((ran.code, world.read("log.txt").as_str()), (Some(0), ""), "{}", ran.stderr);
    let (_, ran) = logged(Some("debug"));
    assert!(ran.stderr.contains("debug: a model was asked node=\"double\""), "{}", ran.stderr);
    assert!(!ran.stderr.contains("hyper"), "only events of Trellis: {}", ran.stderr);
}

#[test]
fn no_key_is_in_the_log_at_any_level() {
    let world = World::new();
    plant(&world, 1);
    let service = Service::start(Box::new(grows));
    let key = "sk-a-secret-of-this-test-9876543210";
    let mut command = world.command(&["generate", "rpg.json", "--out", "out"]);
    command.args(["--model", "openai:tiny", "--log-file", "log.txt"]);
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", key);
    command.env("RUST_LOG", "trace");
    let ran = Ran::of(command.output().expect("trellis starts"));
    let log = world.read("log.txt");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(log.contains("a model was asked"), "{log}");
    assert!(!log.contains(key) && !ran.stderr.contains(key), "{log}");
}

#[test]
fn a_log_that_cannot_be_written_and_levels_that_cannot_be_read_are_errors() {
    let world = World::new();
    let ran = world.trellis(&["--log-file=nowhere/log.txt", "stacks", "list"]).exits(65);
    assert!(ran.stderr.contains("cannot write the log to nowhere/log.txt"), "{}", ran.stderr);
    let mut command = world.command(&["stacks", "list"]);
    let ran = Ran::of(command.env("RUST_LOG", "trellis=loud").output().expect("trellis starts"));
    let ran = ran.exits(64);
    assert!(ran.stderr.contains("RUST_LOG is not valid"), "{}", ran.stderr);
}
