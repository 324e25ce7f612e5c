//! The command line: help, names, completions, colors, examples.

use crate::world::{World, tree};

#[test]
fn every_old_name_and_every_guess_leads_to_the_command() {
    let table = [
        ("generate-tests", "write-tests"),
        ("locate", "localize"),
        ("build", "tasks"),
        ("templates", "stacks"),
        ("show", "code"),
    ];
    let world = World::new();
    for (guess, name) in table {
        let usage = world.trellis(&[guess, "--help"]).exits(0).stdout;
        assert!(usage.contains(&format!("Usage: trellis {name}")), "{guess}: {usage}");
    }
    for (old, new) in [("--in", "--project"), ("--project", "--project")] {
        world.write("a.py", "def f():\n    return 1\n");
        let found = world.trellis(&["symbols", "find", "f", old, "."]).exits(0).stdout;
        assert!(found.contains("a.py"), "{old} ({new}): {found}");
    }
    let _ = world.trellis(&["repairs"]).exits(64).says("'repair'");
}

#[test]
fn the_help_is_one_line_a_command_and_names_the_exit_codes() {
    let world = World::new();
    let help = world.trellis(&["--help"]).exits(0).stdout;
    for words in
        ["Create:\n  generate", "Test and fix:\n  test", "Set up:\n  doctor", "Exit codes: 0 done"]
    {
        assert!(help.contains(words), "{words:?} is missing in {help}");
    }
    assert!(help.lines().all(|it| it.chars().count() <= 100), "{help}");
    let long = world.trellis(&["repair", "--help"]).exits(0).stdout;
    for words in ["Model:", "Budget:", "Sandbox:", "Examples:\n  trellis repair"] {
        assert!(long.contains(words), "{words:?} is missing in {long}");
    }
    assert!(!long.contains("--replay-latency"), "{long}");
}

#[test]
fn shells_and_man_get_what_they_read() {
    let world = World::new();
    for (shell, words) in
        [("bash", "complete -F"), ("zsh", "#compdef trellis"), ("fish", "complete -c trellis")]
    {
        let script = world.trellis(&["completions", shell]).exits(0).stdout;
        assert!(script.contains(words) && script.contains("write-tests"), "{shell}");
        assert!(script.contains("threshold"), "{shell}: values of --approve");
        assert!(
            !script.contains("trellis,reference") && !script.contains("'reference:"),
            "{shell}"
        );
    }
    let page = world.trellis(&["man"]).exits(0).stdout;
    assert!(page.contains(".TH trellis"), "{page}");
    let _ = world.trellis(&["man", "--out", "pages"]).exits(0);
    assert!(world.read("pages/trellis-repair.1").contains("max\\-iterations"));
}

#[test]
fn colors_are_for_terminals_and_for_those_who_ask() {
    let world = World::new();
    let bare = world.trellis(&["doctor"]);
    assert!(!bare.stdout.contains('\u{1b}'), "a pipe gets no colors");
    let asked = world.trellis(&["doctor", "--color", "always"]);
    assert!(asked.stdout.contains("\u{1b}[32mok"), "{}", asked.stdout);
    let mut never = world.command(&["doctor", "--color", "auto"]);
    let never = never.env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1").output().expect("doctor");
    assert!(!String::from_utf8_lossy(&never.stdout).contains('\u{1b}'), "NO_COLOR wins");
    let help = world.trellis(&["--help", "--color=always"]).exits(0).stdout;
    assert!(help.contains('\u{1b}'), "{help}");
}

#[test]
fn problems_of_a_graph_are_its_result() {
    let world = World::new();
    world.write(
        "plan.json",
        r#"{"nodes": [{"id": "a", "name": "a", "type": "function", "node_type": "leaf", "file_path": "src/a.py",
            "docstring": "", "dependencies": ["b"], "subgraph_id": "s"}], "edges": []}"#,
    );
    let checked = world.trellis(&["plan", "check", "plan.json"]).exits(65);
    assert!(checked.stdout.contains("problem: ["), "{}", checked.stdout);
    assert!(checked.stdout.ends_with("problems in 1 node and 1 edge\n"), "{}", checked.stdout);
    assert!(!checked.stderr.contains("problem"), "{}", checked.stderr);
}

#[test]
fn doctor_ends_with_a_verdict() {
    let world = World::new();
    let report = world.trellis(&["doctor"]).exits(0).stdout;
    assert!(report.contains("\nReady: tests run in "), "{report}");
    assert!(report.ends_with("`trellis demo` needs none.\n"), "{report}");
    assert!(report.contains("optional "), "{report}");
    let poor = World::new().with_only(&["bash"]);
    let report = poor.trellis(&["doctor", "--json"]);
    let verdict = report.json()["verdict"].as_str().unwrap_or_default().to_owned();
    assert!(verdict.contains("eady: "), "{verdict}");
}

#[test]
fn an_example_runs_without_a_key_and_never_over_your_files() {
    let world = World::new();
    let ran = world.trellis(&["demo", "repair"]).exits(0);
    assert!(ran.stdout.ends_with("repaired: 7 tests pass, 0 fail\n"), "{}", ran.stdout);
    let _ = ran.says("running: trellis repair trellis-demo/repair").says("fix 1 failed");
    let again = world.trellis(&["demo", "repair"]).exits(0).stdout;
    assert_eq!(again, "nothing to do: 7 tests pass, 0 fail\n", "it is taken up as it is");
    world.write("mine/notes.txt", "keep");
    let _ = world
        .trellis(&["demo", "write-tests", "--out", "mine"])
        .exits(65)
        .says("mine is not empty");
    assert_eq!(tree(&world.root().join("mine")).len(), 1);
    let written = world.trellis(&["demo", "write-tests", "--json"]).exits(0).json();
    assert_eq!(written["written"], true);
}
