//! All ways in which a model is unavailable: one clear line, a remedy, the right exit code, and
//! nothing that blocks a later run.

use std::process::Command;

use serde_json::json;

use crate::mock::{
    FORMATS, Format, KEY, MODEL, OPENAI, QUICK, Served, Work, command, run, settings,
};
use crate::world::{Plot, World};

/// Returns an address without a server: the port was free a moment ago.
pub(crate) fn closed() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    format!("http://{}", listener.local_addr().expect("an address"))
}

/// Creates an untrusted certificate with its key; returns their paths.
pub(crate) fn certificate(world: &World) -> serde_json::Value {
    let (key, cert) = (world.root().join("tls.key"), world.root().join("tls.crt"));
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]);
    command.args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]);
    let made = command.arg("-keyout").arg(&key).arg("-out").arg(&cert).output().expect("openssl");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    json!({ "key": key, "cert": cert })
}

/// Starts a server that fails every call in one way.
fn always(work: &Work, kind: &str) -> Served {
    work.serve(&json!({ "faults": { "kinds": [kind], "times": null } }))
}

/// Runs the command, expects exactly one error with all `words` and a hint, then a run that works.
fn fails_clearly(world: &World, work: &Work, name: &str, command: &mut Command, words: &[&str]) {
    let ran = run(command);
    assert_eq!(ran.code, Some(69), "{name}: {}", ran.stderr);
    let errors: Vec<&str> = ran.stderr.lines().filter(|it| it.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{name}: {}", ran.stderr);
    let hints = ran.stderr.lines().filter(|it| it.trim_start().starts_with("hint: ")).count();
    assert_eq!(hints, 1, "{name}: {}", ran.stderr);
    for word in words {
        assert!(errors[0].contains(word), "{name}: `{word}` is missing in {}", errors[0]);
    }
    assert!(!ran.stderr.contains(KEY), "{name}: {}", ran.stderr);
    let recording = format!("--model=recorded:{}", work.recording.display());
    let graph = work.graph.display().to_string();
    let _ = world.trellis(&["generate", &graph, &recording, "--out=out"]).exits(0);
}

fn small() -> Plot {
    Plot::default().function("f", "a", &[], &[], "x + 1").tests("f", "a", [2, 3, 4])
}

/// A way in which a model is unavailable: its name, the command, words of the error.
type Case<'a> = (&'a str, Box<dyn Fn(&World, &Work) -> Command + Sync + 'a>, &'a [&'a str]);

#[test]
fn each_way_a_model_cannot_be_had_is_told_in_one_line_and_blocks_no_later_run() {
    let served = World::new();
    let work = Work::of(&served, &small());
    let (unauthorized, unknown) = (always(&work, "401"), always(&work, "404"));
    let untrusted = work.serve(&json!({ "tls": certificate(&served) }));
    let tls = format!("https://127.0.0.1:{}", untrusted.port());
    let nowhere = closed();
    let at = |url: String| move |world: &World, work: &Work| command(world, work, OPENAI, &url);
    let cases: Vec<Case<'_>> = vec![
        ("unknown provider", Box::new(|world, work| of("parrot:x", world, work)), &["parrot:x"]),
        ("no key", Box::new(|world, work| of("openai:x", world, work)), &["OPENAI_API_KEY"]),
        ("401", Box::new(at(unauthorized.url())), &["401", MODEL]),
        ("unknown model", Box::new(at(unknown.url())), &["404", MODEL]),
        ("no network", Box::new(at(nowhere.clone())), &["no connection", MODEL]),
        ("bad certificate", Box::new(at(tls)), &["certificate", MODEL]),
        (
            "proxy down",
            Box::new(move |world, work| {
                let mut command = command(world, work, OPENAI, "https://models.invalid/v1");
                command.env("HTTPS_PROXY", &nowhere).env("https_proxy", &nowhere);
                command
            }),
            &["no connection", MODEL],
        ),
    ];
    // Waits between attempts dominate, so all cases run in parallel.
    std::thread::scope(|scope| {
        for (name, make, words) in &cases {
            scope.spawn(|| {
                let world = World::new();
                let work = Work::of(&world, &small());
                settings(&world, OPENAI, QUICK);
                fails_clearly(&world, &work, name, &mut make(&world, &work), words);
            });
        }
    });
}

/// Returns a run with any model by name, without further settings.
fn of(model: &str, world: &World, work: &Work) -> Command {
    let graph = work.graph.display().to_string();
    world.command(&["generate", &graph, "--out=out", &format!("--model={model}")])
}

#[test]
fn a_refused_key_is_told_in_every_format() {
    for format in FORMATS {
        let world = World::new();
        let work = Work::of(&world, &small());
        let served = always(&work, "401");
        let mut command = command(&world, &work, format, &served.url());
        fails_clearly(&world, &work, format.provider, &mut command, &["401", format.provider]);
    }
}

#[test]
fn a_provider_that_wants_a_key_is_not_asked_without() {
    for format in FORMATS.into_iter().filter(|format| format.wants_key) {
        let world = World::new();
        let work = Work::of(&world, &small());
        let model = format!("{}:x", format.provider);
        let mut command = of(&model, &world, &work);
        fails_clearly(&world, &work, format.provider, &mut command, &[format.key_variable]);
    }
}

#[test]
fn a_stream_that_stops_coming_is_given_up_after_the_set_time() {
    fn told(format: Format) {
        let world = World::new();
        let work = Work::of(&world, &small());
        settings(&world, format, &format!("idle_seconds = 1\n{QUICK}"));
        let served = always(&work, "drip");
        let mut command = command(&world, &work, format, &served.url());
        fails_clearly(&world, &work, format.provider, &mut command, &["nothing arrived for 1s"]);
    }
    std::thread::scope(|scope| {
        for format in FORMATS {
            scope.spawn(move || told(format));
        }
    });
}
