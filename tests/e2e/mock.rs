//! Runs of the binary against a recording served over HTTP.

#[path = "../mock/served.rs"]
mod served;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub(crate) use served::{Format, OPENAI, Served};

use crate::world::{Plot, Ran, World, repository};

/// Name of the model in the fixtures' recordings; the report of a run shows it.
pub(crate) const MODEL: &str = "example-model";

/// A key of no provider, in no other text, that must never be seen.
pub(crate) const KEY: &str = "sk-mock-7f3a9c5e1b8d2460-wqzjx";

pub(crate) const FORMATS: [Format; 4] = [
    OPENAI,
    Format {
        provider: "anthropic",
        url_variable: "ANTHROPIC_BASE_URL",
        key_variable: "ANTHROPIC_API_KEY",
        wants_key: true,
    },
    Format {
        provider: "gemini",
        url_variable: "GOOGLE_GEMINI_BASE_URL",
        key_variable: "GEMINI_API_KEY",
        wants_key: true,
    },
    Format {
        provider: "ollama",
        url_variable: "OLLAMA_HOST",
        key_variable: "OLLAMA_API_KEY",
        wants_key: false,
    },
];

/// A graph and its recording.
pub(crate) struct Work {
    pub(crate) graph: PathBuf,
    pub(crate) recording: PathBuf,
}

impl Work {
    /// Returns the master fixture, with fifty nodes.
    pub(crate) fn master() -> Work {
        let folder = repository().join("fixtures/ml-library");
        Work { graph: folder.join("rpg.json"), recording: folder.join("replies.jsonl") }
    }

    pub(crate) fn of(world: &World, plot: &Plot) -> Work {
        Work {
            graph: world.write("rpg.json", &plot.graph().to_string()),
            recording: world.write("replies.jsonl", &plot.recording()),
        }
    }

    /// Serves the recording; `more` is added to the server's options.
    pub(crate) fn serve(&self, more: &Value) -> Served {
        let mut order = served::order(&self.graph, &self.recording);
        for (name, value) in more.as_object().expect("an object") {
            order[name] = value.clone();
        }
        Served::start(&home(), &order).expect("a server")
    }
}

/// Returns the folder in which `cargo xtask test` installs the server's packages.
fn home() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("../mock")
}

/// Settings under which a failing call is soon given up.
pub(crate) const QUICK: &str = "retries = 2\nretry_seconds = 0.05";

/// Writes the user's settings for a provider.
pub(crate) fn settings(world: &World, format: Format, settings: &str) {
    let text = format!("[providers.{}]\n{settings}\n", format.provider);
    world.write("home/.config/trellis/trellis.toml", &text);
}

/// Returns `trellis generate` for the work into `out`, with its model at `url`.
pub(crate) fn command(world: &World, work: &Work, format: Format, url: &str) -> Command {
    let mut command = world.command(&[
        "generate",
        &work.graph.display().to_string(),
        "--out=out",
        &format!("--model={}:{MODEL}", format.provider),
        "--json",
    ]);
    command.env("XDG_CONFIG_HOME", world.root().join("home/.config"));
    command.env(format.url_variable, url).env(format.key_variable, KEY);
    command
}

pub(crate) fn run(command: &mut Command) -> Ran {
    Ran::of(command.output().expect("trellis starts"))
}

/// Runs the same work from its recording, in a world of its own.
pub(crate) fn recorded(work: &Work, jobs: u32) -> (World, Ran) {
    let world = World::new();
    let ran = world.trellis(&[
        "generate",
        &work.graph.display().to_string(),
        &format!("--model=recorded:{}", work.recording.display()),
        "--out=out",
        &format!("--jobs={jobs}"),
        "--json",
    ]);
    (world, ran)
}

/// Returns the events of one kind.
pub(crate) fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

/// Returns the generated tree without the model's name and cost, since providers count differently.
pub(crate) fn tree(world: &World) -> BTreeMap<String, String> {
    let mut tree = world.tree();
    if let Some(report) = tree.get_mut("docs/generation_report.md") {
        let (before, cost) = report.split_once("## Cost").expect("what it cost");
        let after = cost.split_once("\n## ").map_or("", |(_, after)| after);
        let lines = before.lines().filter(|line| !line.starts_with("**Model**"));
        *report = lines.chain(after.lines()).collect::<Vec<_>>().join("\n");
    }
    if let Some(plan) = tree.get_mut("docs/rpg.json") {
        let lines = plan.lines().filter(|line| !line.trim_start().starts_with("\"model\": "));
        *plan = lines.collect::<Vec<_>>().join("\n");
    }
    let mut checkpoint = world.checkpoint();
    for entry in checkpoint.as_object_mut().expect("an object").values_mut() {
        for name in ["model", "timestamp"] {
            entry.as_object_mut().expect("an object").remove(name);
        }
    }
    let path = "docs/generation_checkpoint.json".to_owned();
    tree.insert(path, serde_json::to_string_pretty(&checkpoint).expect("JSON"));
    tree
}
