//! A key is used in one header and appears nowhere else, in any run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::mock::{FORMATS, KEY, OPENAI, QUICK, Work, command, run, settings};
use crate::no_model::{certificate, closed};
use crate::processes::descendants;
use crate::world::{Plot, Ran, World};

/// Length of a part of the key: long enough to matter, short enough to find a cut or masked key.
const PIECE: usize = 10;

fn shows_key(bytes: &[u8]) -> bool {
    let mut pieces = KEY.as_bytes().windows(PIECE);
    pieces.any(|piece| bytes.windows(PIECE).any(|part| part == piece))
}

/// Asserts that nothing left by a run shows the key: its output, every file below the world's
/// folder, every commit.
fn seen_nowhere(name: &str, world: &World, ran: &Ran) {
    assert!(!shows_key(ran.stdout.as_bytes()), "{name}: {}", ran.stdout);
    assert!(!shows_key(ran.stderr.as_bytes()), "{name}: {}", ran.stderr);
    let files = files(world.root());
    for file in &files {
        let bytes = fs::read(file).expect("a file");
        assert!(!shows_key(&bytes), "{name}: {} holds the key", file.display());
    }
    if world.out().join(".git").exists() {
        // Objects are compressed; `git log -p` shows their content.
        let mut git = Command::new("git");
        git.args(["log", "-p", "--all"]).current_dir(world.out());
        assert!(!shows_key(&git.output().expect("git").stdout), "{name}: a commit holds the key");
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        match entry.file_type().expect("a type") {
            kind if kind.is_dir() => out.extend(files(&path)),
            kind if kind.is_file() => out.push(path),
            _ => {}
        }
    }
    out
}

/// A kind of run: its name, its faults, its exit codes.
const WAYS: [(&str, &[&str], &[i32]); 7] = [
    ("401", &["401"], &[69]),
    ("404", &["404"], &[69]),
    ("429", &["429"], &[69]),
    ("500", &["500"], &[69]),
    ("cut", &["cut"], &[69]),
    ("garbage", &["garbage"], &[1, 69]),
    ("success", &[], &[0]),
];

fn goes(world: &World, kinds: &[&str], codes: &[i32], name: &str) {
    let work = Work::of(world, &Plot::garden());
    let order = match kinds {
        [] => json!({}),
        kinds => json!({ "faults": { "kinds": kinds, "times": null } }),
    };
    let served = work.serve(&order);
    settings(world, OPENAI, QUICK);
    let mut command = command(world, &work, OPENAI, &served.url());
    let ran = run(command.arg("--record=made.jsonl"));
    assert!(ran.code.is_some_and(|it| codes.contains(&it)), "{name}: {}", ran.stderr);
    seen_nowhere(name, world, &ran);
}

#[test]
fn no_way_a_call_can_go_shows_the_key() {
    std::thread::scope(|scope| {
        for (name, kinds, codes) in WAYS {
            scope.spawn(move || goes(&World::new(), kinds, codes, name));
        }
        scope.spawn(|| not_reached("closed port", &|_| closed(), &[]));
        let closed = closed();
        scope.spawn(move || {
            let proxy = [("HTTPS_PROXY", closed.as_str()), ("https_proxy", closed.as_str())];
            not_reached("proxy", &|_| "https://models.invalid/v1".to_owned(), &proxy);
        });
        scope.spawn(behind_a_bad_certificate);
        scope.spawn(interrupted);
    });
}

fn not_reached(name: &str, url: &dyn Fn(&World) -> String, variables: &[(&str, &str)]) {
    let world = World::new();
    let work = Work::of(&world, &Plot::garden());
    settings(&world, OPENAI, QUICK);
    let mut command = command(&world, &work, OPENAI, &url(&world));
    let ran = run(command.arg("--record=made.jsonl").envs(variables.iter().copied()));
    assert_eq!(ran.code, Some(69), "{name}: {}", ran.stderr);
    seen_nowhere(name, &world, &ran);
}

fn behind_a_bad_certificate() {
    let world = World::new();
    let work = Work::of(&world, &Plot::garden());
    let served = work.serve(&json!({ "tls": certificate(&world) }));
    let url = format!("https://127.0.0.1:{}", served.port());
    settings(&world, OPENAI, QUICK);
    let ran = run(&mut command(&world, &work, OPENAI, &url));
    let events = served.finish().expect("events");
    assert_eq!((ran.code, events.len()), (Some(69), 0), "{}", ran.stderr);
    seen_nowhere("certificate", &world, &ran);
}

fn interrupted() {
    let world = World::new();
    let work = Work::of(&world, &Plot::garden());
    let mut served = work.serve(&json!({ "faults": { "kinds": ["drip"], "times": null } }));
    let mut command = command(&world, &work, OPENAI, &served.url());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a child");
    served.wait_for(|event| event["event"] == "asked").expect("a call");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let ran = Ran::of(child.wait_with_output().expect("an end")).exits(130);
    seen_nowhere("interrupted", &world, &ran);
}

#[test]
fn a_provider_that_repeats_the_key_is_not_repeated_in_any_format() {
    for format in FORMATS {
        let world = World::new();
        let work = Work::of(&world, &Plot::garden());
        let served = work.serve(&json!({ "faults": { "kinds": ["401"], "times": null } }));
        let ran = run(&mut command(&world, &work, format, &served.url()));
        assert_eq!(ran.code, Some(69), "{}: {}", format.provider, ran.stderr);
        seen_nowhere(format.provider, &world, &ran);
    }
}

/// Creates a test that passes if the code under test can find the key nowhere. The two halves are
/// separate, so that the test does not find itself.
fn looking(world: &World) -> Work {
    let (first, last) = KEY.split_at(KEY.len() / 2);
    let mut plot = Plot::default().function("f", "a", &[], &[], "x + 1");
    let test = format!(
        r#"```python
import glob
import os

from lib.a import f

KEY = "{first}" + "{last}"


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def test_it_works():
    assert f(1) == 2


def test_environment():
    assert f(1) == 2
    assert KEY not in repr(dict(os.environ)), dict(os.environ)


def test_processes():
    assert f(1) == 2
    texts = {{path: read(path) for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline")}}
    assert any(texts.values()), "there is something to look at"
    shown = {{path: text for path, text in texts.items() if KEY in text}}
    assert not shown, shown
```
"#
    );
    plot.reply("f", "tests", 0, &test);
    Work::of(world, &plot)
}

#[test]
fn neither_the_code_under_test_nor_the_process_list_shows_the_key() {
    let world = World::new();
    let work = looking(&world);
    let served = work.serve(&json!({}));
    let mut command = command(&world, &work, OPENAI, &served.url());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a child");
    let (ran, seen) = watched(child);
    let ran = ran.exits(0);
    assert_eq!(ran.json()["passedByFixes"], json!([1]));
    assert!(seen.iter().any(|it| it.starts_with("python")), "{seen:?}");
    // The test's own halves are in its files, so only the complete key counts here.
    for file in files(world.root()) {
        let text = fs::read(&file).expect("a file");
        let whole = text.windows(KEY.len()).any(|part| part == KEY.as_bytes());
        assert!(!whole, "{} holds the key", file.display());
    }
}

/// Waits for a run and watches all processes meanwhile; returns the names of its descendants.
fn watched(child: Child) -> (Ran, BTreeSet<String>) {
    let (root, done) = (child.id(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while !done.load(Ordering::Relaxed) {
                look_at_all(root, &mut seen);
            }
            seen
        });
        let output = child.wait_with_output().expect("an end");
        done.store(true, Ordering::Relaxed);
        (Ran::of(output), watch.join().expect("nothing was seen"))
    })
}

fn look_at_all(root: u32, seen: &mut BTreeSet<String>) {
    let ours: BTreeSet<i32> = descendants(root).into_iter().map(|it| it.0).collect();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse() else { continue };
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        assert!(!shows_key(&arguments), "{}", String::from_utf8_lossy(&arguments));
        let program = fs::read_link(entry.path().join("exe")).unwrap_or_default();
        if ours.contains(&pid) {
            seen.extend(program.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
}
