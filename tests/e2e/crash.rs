//! Kill -9 at random instants, signals, and going on afterwards.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::repair::{CALCULATOR, dirty, files, git, mended, repair};
use crate::world::{Plot, Ran, World, assert_same};

/// A linear congruential generator (Knuth's MMIX constants): a fixed seed, the same instants each time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

fn start(world: &World, plot: &Plot, more: &[&str]) -> Child {
    let arguments = world.plant(plot);
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(more);
    let mut command = world.command(&arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("trellis starts")
}

/// Rounds may be set higher from outside; a hundred were run by hand.
pub(crate) fn rounds() -> u64 {
    std::env::var("TRELLIS_KILL_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

#[test]
fn killed_at_random_instants_and_resumed_it_ends_in_the_same_bytes() {
    let plot = Plot::garden();
    let undisturbed = World::new();
    let started = Instant::now();
    let _ = undisturbed.grow(&plot, &[]).exits(0);
    let whole = started.elapsed().as_millis() as u64;
    let mut random = Random(20_260_207);
    for round in 0..rounds() {
        let world = World::new();
        let jobs = if round % 2 == 0 { "--jobs=1" } else { "--jobs=3" };
        for _ in 0..1 + random.below(3) {
            let mut child = start(&world, &plot, &[jobs]);
            // The instant is the point of the test; what is asserted does not depend on it.
            std::thread::sleep(Duration::from_millis(random.below(whole)));
            child.kill().expect("it can be killed");
            child.wait().expect("it ended");
        }
        let _ = world.grow(&plot, &[jobs]).exits(0);
        assert_same(&world.tree(), &undisturbed.tree());
        nothing_accepted_runs_again(&world, round);
        let _ = world.trellis(&["log", "out", "--verify"]).exits(0);
    }
}

#[test]
fn a_repair_that_is_killed_leaves_whole_files_and_the_next_one_ends_it() {
    let mine = |code: &str| format!("{code}\n\nMINE = 1\n");
    let steps =
        [CALCULATOR.to_owned(), CALCULATOR.replace("a - b", "a + b"), mended()].map(|it| mine(&it));
    let fixed =
        ["repair", "p", "--json", "--sandbox", "local", "--model", "recorded:replies.jsonl"];
    let started = Instant::now();
    let _ = repair(&dirty(), &[]).exits(0);
    let whole = started.elapsed().as_millis() as u64;
    let mut random = Random(20_261_123);
    for round in 0..rounds() {
        let world = dirty();
        let way: &[&str] = [&[][..], &["--commit"], &["--worktree"]][round as usize % 3];
        let before = files(&world);
        for _ in 0..1 + random.below(3) {
            let mut command = world.command(&[&fixed, way].concat());
            let mut child =
                command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a start");
            // The instant is the point of the test; what is asserted does not depend on it.
            std::thread::sleep(Duration::from_millis(random.below(whole)));
            child.kill().expect("it can be killed");
            child.wait().expect("it ended");
            let code = world.read("p/calculator.py");
            assert!(steps.contains(&code), "round {round}, {way:?}:\n{code}");
        }
        let _ = repair(&world, way).exits(0);
        let _ = world.trellis(&["log", "p", "--verify"]).exits(0);
        let mut left = files(&world);
        let code = left.insert("calculator.py".into(), before["calculator.py"].clone());
        assert_same(&left, &before);
        let wanted = if way == ["--worktree"] { &steps[0] } else { &steps[2] };
        assert_eq!(code.as_ref(), Some(wanted), "round {round}, {way:?}");
        let p = world.root().join("p");
        assert_eq!(git(&p, &["worktree", "list"]).lines().count(), 1, "round {round}");
        assert_eq!(git(&p, &["diff", "--cached", "--name-only"]), "test_calculator.py\n");
    }
}

pub(crate) fn nothing_accepted_runs_again(world: &World, round: u64) {
    let text = world.read("out/.trellis/journal.jsonl");
    let mut accepted: BTreeMap<String, usize> = BTreeMap::new();
    for (line, text) in text.lines().enumerate() {
        let event: serde_json::Value = serde_json::from_str(text).expect("whole lines only");
        let event = &event["event"];
        let node = event["node"].as_str().unwrap_or_default().to_owned();
        match event["kind"].as_str() {
            Some("accepted") => {
                assert_eq!(
                    accepted.insert(node.clone(), line),
                    None,
                    "{node} accepted twice, round {round}"
                );
            }
            Some("test_run" | "model_call") => {
                assert!(
                    !accepted.contains_key(&node),
                    "{node} was accepted and worked on again, round {round}"
                );
            }
            _ => {}
        }
    }
    assert_eq!(accepted.len(), 6);
}

#[test]
fn an_interrupt_leaves_a_checkpoint_and_the_next_run_goes_on() {
    let world = World::new();
    let mut plot = Plot::garden();
    // The third node's model never answers in time: the run is at a known place when the signal comes.
    for reply in &mut plot.replies {
        if reply["node"] == "tenfold" && reply["stage"] == "tests" {
            reply["latency_ms"] = 600_000.into();
        }
    }
    let mut child = start(&world, &plot, &["--replay-latency"]);
    wait_until(|| {
        world.out().join("docs/generation_checkpoint.json").exists()
            && waiting_for(&world, "tenfold")
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let ran = Ran::of(child_output(&mut child));
    let _ = ran.exits(130).says("run the same command again");
    let checkpoint = world.checkpoint();
    assert_eq!(checkpoint["double"]["status"], "passed");
    assert_eq!(checkpoint["tenfold"]["status"], "pending");
    let runs = world.journal("test_run").len();
    let _ = world.grow(&plot, &[]).exits(0);
    assert!(world.journal("test_run").len() > runs);
    nothing_accepted_runs_again(&world, 0);
}

fn waiting_for(world: &World, node: &str) -> bool {
    std::fs::read_to_string(world.out().join("docs/generation_checkpoint.json"))
        .ok()
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
        .is_some_and(|checkpoint| checkpoint[node]["status"] == "in_progress")
}

/// Waits for something another process does; ends with a failure, not with a guess.
fn wait_until(done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !done() {
        assert!(Instant::now() < deadline, "it never came to that");
        std::thread::yield_now();
    }
}

fn child_output(child: &mut Child) -> std::process::Output {
    use std::io::Read;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    child.stdout.take().expect("piped").read_to_end(&mut stdout).expect("read");
    child.stderr.take().expect("piped").read_to_end(&mut stderr).expect("read");
    std::process::Output { status: child.wait().expect("it ended"), stdout, stderr }
}

#[test]
fn two_processes_do_not_work_in_one_folder() {
    let world = World::new();
    let mut plot = Plot::garden();
    plot.replies.iter_mut().for_each(|reply| reply["latency_ms"] = 600_000.into());
    let mut first = start(&world, &plot, &["--replay-latency"]);
    wait_until(|| waiting_for(&world, "double"));
    let _ = world.grow(&plot, &[]).exits(65).says("another trellis (process");
    first.kill().expect("it can be killed");
    first.wait().expect("it ended");
}
