//! `trellis log`: the journal, with its hash chain recomputed independently from the rule.

use ::lsp::patience;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::runs::editor;
use crate::world::{Plot, World};

const JOURNAL: &str = "out/.trellis/journal.jsonl";

fn grown() -> World {
    let world = World::new();
    let _ = world.grow(&Plot::garden(), &[]).exits(0);
    world
}

fn lines(world: &World) -> Vec<String> {
    world.read(JOURNAL).lines().map(str::to_owned).collect()
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Computes the last chain value: SHA-256 of the value above and the line without its own; above
/// the first line, of nothing.
fn head(lines: &[String]) -> String {
    lines.iter().enumerate().fold(sha256(""), |above, (index, line)| {
        let (body, end) = line.split_at(line.len() - 76);
        let chain = sha256(&format!("{above}{body}}}"));
        assert_eq!(end, format!(",\"chain\":\"{chain}\"}}"), "line {}", index + 1);
        chain
    })
}

#[test]
fn a_run_is_read_back_with_what_happened_why_and_at_what_cost() {
    let world = grown();
    let all = world.trellis(&["log", "out"]).exits(0);
    let shown: Vec<&str> = all.stdout.lines().collect();
    assert_eq!((shown.len(), all.stderr.as_str()), (lines(&world).len(), ""));
    for line in &shown {
        let at = line.split("  ").next().unwrap_or_default();
        assert!(at.len() == 20 && at.ends_with('Z') && at.as_bytes()[10] == b'T', "{line}");
    }
    let calls = world.trellis(&["log", "out", "--node", "square", "--kind", "model_call"]).exits(0);
    let votes: Vec<String> = (0..3).map(|it| format!("diagnosis, attempt {it}")).collect();
    let mut stages = vec!["tests, attempt 0", "implementation, attempt 0", "fix, attempt 0"];
    stages.splice(2..2, votes.iter().map(String::as_str));
    assert_eq!(calls.stdout.lines().count(), stages.len(), "{}", calls.stdout);
    for (line, stage) in calls.stdout.lines().zip(stages) {
        let is_whole = line.contains("square") && line.contains(stage) && line.ends_with(" ms)");
        assert!(is_whole, "{stage}: {line}");
    }
    let last = world.trellis(&["log", "out", "--kind=state,finished", "--last=1"]).exits(0).stdout;
    assert!(last.contains("6 passed, 0 failed, 0 skipped after"), "{last}");
    let none = world.trellis(&["log", "out", "--node", "nobody"]).exits(0);
    assert_eq!(none.says("no event asked for").stdout, "");
    let _ = world.trellis(&["log", "."]).exits(65).says("give the output folder");
    for wrong in [&["--kind", "dance"][..], &["--verify", "--last=1"], &["--last=0"]] {
        let _ = world.trellis(&[&["log", "out"], wrong].concat()).exits(64);
    }
}

#[test]
fn the_method_gives_what_the_command_prints() {
    let world = grown();
    let mut client = editor(&world, Value::Null);
    let out = world.out().display().to_string();
    let table: [(Value, &[&str]); 3] = [
        (json!({}), &[]),
        (
            json!({ "kinds": ["accepted", "git"], "last": 3 }),
            &["--kind", "accepted", "git", "--last=3"],
        ),
        (json!({ "node": "summed" }), &["--node=summed"]),
    ];
    for (mut params, arguments) in table {
        params["root"] = json!(out);
        let told = client.request("trellis/log", params.clone(), patience()).expect("an answer");
        let printed =
            world.trellis(&[&["--json", "log", &out], arguments].concat()).exits(0).json();
        assert_eq!(told, printed, "{params}");
        assert!(told["entries"].as_array().is_some_and(|it| !it.is_empty()), "{params}");
        assert_eq!(told["verify"]["head"], head(&lines(&world)), "{params}");
    }
}

#[test]
fn who_changes_a_byte_is_found_out_and_who_goes_on_is_not() {
    let world = grown();
    let verify = |code: i32| world.trellis(&["log", "out", "--verify"]).exits(code);
    let whole = world.read(JOURNAL);
    let said = verify(0).stdout;
    let wanted =
        format!("{} lines, chain intact, head {}\n", lines(&world).len(), head(&lines(&world)));
    assert!(said.starts_with(&wanted) && said.contains("note it elsewhere"), "{said}");
    // Further runs and other commands extend the chain.
    let _ = world.grow(&Plot::garden(), &[]).exits(0);
    let _ = world.trellis(&["rollback", "out", "--to", "basic"]).exits(0);
    assert!(lines(&world).len() > whole.lines().count());
    assert!(verify(0).stdout.contains(&head(&lines(&world))));

    let at = whole.find("\"kind\":\"accepted\"").expect("something accepted");
    let at = at + whole[at..].find("test_").expect("a test");
    let mut bytes = world.read(JOURNAL).into_bytes();
    bytes[at] = b'T';
    world.write(JOURNAL, &String::from_utf8(bytes).expect("text"));
    let number = whole[..at].lines().count();
    let _ = verify(65).says(&format!("line {number} of out/.trellis/journal.jsonl does not match"));
    let found = world.trellis(&["--json", "log", "out", "--verify"]).exits(65).json();
    assert_eq!(found["verify"]["broken"]["line"], number);
    assert_eq!((&found["verify"]["isIntact"], &found["entries"]), (&json!(false), &json!([])));
    let shown =
        world.trellis(&["log", "out"]).exits(0).says(&format!("warning: line {number} does"));
    assert_eq!(shown.stdout.lines().count(), lines(&world).len());
}

#[test]
fn what_stands_in_a_journal_drives_no_terminal_and_breaks_no_line() {
    let world = World::new();
    let event = json!({ "kind": "note", "node": "a\u{1b}[2J\nb", "what": "w\r", "text": "one\n\n  two\u{7}" });
    let line = json!({ "v": 1, "at": "2026-11-23T15:40:00.9Z\u{1b}", "event": event });
    world.write(JOURNAL, &format!("{line}\n{{\"v\":\u{1b}\n"));
    let ran = world.trellis(&["log", "out"]).exits(0).says("warning: line 2: it is not an event");
    let wanted =
        "2026-11-23T15:40:00.9Z\\u{1b}  a\\u{1b}[2J\\nb          note          w: one two\\u{7}\n";
    assert_eq!(ran.stdout, wanted);
    assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
    // A journal of an earlier version has no chain to verify.
    let _ = world
        .trellis(&["log", "out", "--verify"])
        .exits(65)
        .says("line 1 of")
        .says("the next line");
}
