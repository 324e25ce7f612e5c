//! `cargo xtask bench`: measurements as ratios within one run, with the machine's load.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use serde_json::Value;

use crate::{
    Outcome, accuracy, big_graph, demo, editor, engine, fidelity, localize, mock, models, rename,
    repair, scale, search, setup, sidecar, symbols, tasks,
};

#[derive(Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    which: Option<Which>,
}

#[derive(Subcommand)]
enum Which {
    /// Wall time of the engine per pytest run it makes, against plain pytest on the same files.
    Engine,
    /// Grow a folder's rpg.json from its replies.jsonl and compare with its truth.json.
    Corpus {
        folder: PathBuf,
        #[arg(long, default_value_t = 2)]
        jobs: u32,
        /// Over HTTP, through the OpenAI-compatible provider.
        #[arg(long)]
        served: bool,
    },
    /// A model that takes its time: eight jobs next to the fastest run there can be.
    Models,
    /// A list of tasks whose model takes its time: three at once next to the fastest run there can be.
    Tasks(tasks::TasksArgs),
    /// Read, check and order graphs of a quarter million and a million nodes.
    Graph,
    /// What a test run costs: cold and warm, on this machine and in containers.
    Run,
    /// Python symbols next to the peers ty and pyrefly, through the Language Server Protocol.
    Symbols(symbols::SymbolsArgs),
    /// What an editor waits for, and what the server beside it costs.
    Sidecar(sidecar::SidecarArgs),
    /// What the extension costs a real editor, beside what the editor costs by itself.
    Editor,
    /// References and renames of hand-marked cases, asked of any language server.
    Accuracy(accuracy::AccuracyArgs),
    /// Queries over a planning graph: how often the right node comes first, and what a query costs.
    Search,
    /// Seeded bugs and where `trellis localize` looks for them.
    Localize(localize::LocalizeArgs),
    /// What an iteration of `trellis repair` costs beyond its tests, beside a cold start of pytest.
    Repair(repair::RepairArgs),
    /// Suites of real projects in the sandbox and by plain pytest: each test's outcome, and the time of both.
    Fidelity(fidelity::FidelityArgs),
    /// Renames in real projects by Trellis and pyright, and whether the projects' own tests still pass.
    Rename(rename::RenameArgs),
    /// Nodes a minute on this machine, one engine and a swarm of three, and what more engines would reach.
    Scale,
    /// Writes in batches of 5, 10 and 20 nodes (Q4).
    Batch,
}

pub(crate) fn run(args: &BenchArgs) -> Outcome {
    setup::machine()?;
    println!("load average: {}", fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    match &args.which {
        Some(Which::Corpus { folder, jobs, served }) => corpus(folder, *jobs, *served),
        Some(Which::Models) => models::run(),
        Some(Which::Tasks(args)) => tasks::run(args),
        Some(Which::Engine) => engine(),
        Some(Which::Run) => runs(),
        Some(Which::Graph) => graph(),
        Some(Which::Batch) => batch(),
        Some(Which::Scale) => scale::run(),
        Some(Which::Fidelity(args)) => fidelity::run(args),
        Some(Which::Rename(args)) => rename::run(args),
        Some(Which::Accuracy(args)) => accuracy::run(args),
        Some(Which::Search) => search::run(),
        Some(Which::Localize(args)) => localize::run(args),
        Some(Which::Repair(args)) => repair::run(args),
        Some(Which::Symbols(args)) => symbols::run(args),
        Some(Which::Sidecar(args)) => sidecar::run(args),
        Some(Which::Editor) => editor::bench(),
        None => {
            runs()?;
            engine()?;
            batch()?;
            graph()?;
            search::run()?;
            corpus(&setup::root().join("../shared/data/humaneval"), 2, false)?;
            symbols::run(&symbols::SymbolsArgs::usual())?;
            sidecar::run(&sidecar::SidecarArgs::usual())?;
            repair::run(&repair::RepairArgs::usual())?;
            editor::bench()
        }
    }
}

/// Runs the benchmark of the sandbox crate, with a Docker engine.
fn runs() -> Outcome {
    setup::optional();
    let engine = engine::start();
    let mut command = setup::cargo(false);
    command.args(["bench", "--quiet", "--package", "trellis_sandbox", "--bench", "run"]);
    command.envs(engine.iter().flat_map(engine::Engine::variables));
    let outcome = setup::run(&mut command);
    drop(engine);
    outcome
}

/// Generates a corpus from its recording; standard error is passed through if `loud`.
fn generate(
    trellis: &Path,
    corpus: &Path,
    out: &Path,
    more: &[&str],
    loud: bool,
) -> Result<(Value, Duration), String> {
    let model = format!("--model=recorded:{}", corpus.join("replies.jsonl").display());
    let mut command = growing(trellis, corpus, out, &model);
    command.args(more).stderr(if loud { Stdio::inherit() } else { Stdio::null() });
    summary(&mut command)
}

/// Generates a corpus from its recording over an HTTP server.
fn generate_served(
    trellis: &Path,
    corpus: &Path,
    out: &Path,
    more: &[&str],
) -> Result<(Value, Duration), String> {
    mock::install()?;
    let order = mock::order(&corpus.join("rpg.json"), &corpus.join("replies.jsonl"));
    let served = mock::Served::start(&mock::home(), &order)?;
    let model = format!("--model={}:served", mock::OPENAI.provider);
    let mut command = growing(trellis, corpus, out, &model);
    command.args(more).env(mock::OPENAI.url_variable, served.url());
    let found = summary(&mut command)?;
    let events = served.finish()?;
    let whole = |event: &&Value| event["event"] == "ended" && event["complete"] == true;
    println!("served {} replies over HTTP", events.iter().filter(whole).count());
    Ok(found)
}

fn growing(trellis: &Path, corpus: &Path, out: &Path, model: &str) -> Command {
    let mut command = Command::new(trellis);
    command.arg("generate").arg(corpus.join("rpg.json")).arg(model);
    command.arg("--out").arg(out).arg("--json");
    command
}

fn summary(command: &mut Command) -> Result<(Value, Duration), String> {
    let started = Instant::now();
    let output = command
        .stdout(Stdio::piped())
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .map_err(|e| format!("{}: {e}", command.get_program().display()))?;
    let took = started.elapsed();
    let summary = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("trellis ended with {} and without a summary", output.status))?;
    Ok((summary, took))
}

fn corpus(folder: &Path, jobs: u32, served: bool) -> Outcome {
    if !folder.join("rpg.json").exists() {
        println!("corpus: {} is not there; skipped", folder.display());
        return Ok(());
    }
    let trellis = setup::released()?;
    let out = tempfile::tempdir().map_err(|e| e.to_string())?;
    let jobs = jobs.to_string();
    let more = ["--jobs", jobs.as_str()];
    let (summary, took) = if served {
        generate_served(&trellis, folder, out.path(), &more)?
    } else {
        generate(&trellis, folder, out.path(), &more, true)?
    };
    println!(
        "corpus {}: {} s, {} test runs",
        folder.display(),
        took.as_secs(),
        summary["testRuns"]
    );
    let truth = demo::json(&folder.join("truth.json"))?;
    let found = demo::json(&out.path().join("docs/generation_checkpoint.json"))?;
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (node, attempts) in truth.as_object().into_iter().flatten() {
        let passes = attempts.as_array().into_iter().flatten().position(|it| it == "passed");
        let entry = &found[node];
        let got = (entry["status"] == "passed").then(|| entry["retry_count"].as_u64()).flatten();
        *counts
            .entry(got.map_or("failed".to_owned(), |n| format!("after {n} fixes")))
            .or_default() += 1;
        if passes.map(|it| it as u64) != got {
            wrong.push(format!(
                "{node}: truth {attempts}, found {} after {} fixes",
                entry["status"], entry["retry_count"]
            ));
        }
    }
    println!("{counts:?}; {} nodes differ from the truth", wrong.len());
    wrong.iter().for_each(|line| println!("  {line}"));
    if wrong.is_empty() { Ok(()) } else { Err("the corpus was not reproduced".to_owned()) }
}

fn fixture() -> PathBuf {
    setup::root().join("fixtures/ml-library")
}

/// Repeats the journal's test runs with plain pytest on the finished files.
fn engine() -> Outcome {
    let trellis = setup::released()?;
    let out = tempfile::tempdir().map_err(|e| e.to_string())?;
    // The first run fills the caches, the second one is timed.
    let warm = tempfile::tempdir().map_err(|e| e.to_string())?;
    generate(&trellis, &fixture(), warm.path(), &[], false)?;
    let (summary, took) = generate(&trellis, &fixture(), out.path(), &[], false)?;
    let runs = summary["testRuns"].as_u64().unwrap_or_default() + 1;
    let python = python(&trellis)?;
    let tests = test_files(out.path())?;
    let started = Instant::now();
    for index in 0..runs {
        let test = &tests[index as usize % tests.len()];
        let mut command = Command::new(&python);
        command
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
            .arg(test)
            .current_dir(out.path());
        command.env("PYTHONDONTWRITEBYTECODE", "1").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().map_err(|e| e.to_string())?;
    }
    let plain = started.elapsed();
    let each = |total: Duration| total.as_secs_f64() * 1000.0 / runs as f64;
    println!(
        "engine: {runs} pytest runs, {:.0} ms each with everything around them; plain pytest {:.0} ms each; ratio {:.2} (goal: at most 1.5)",
        each(took),
        each(plain),
        each(took) / each(plain)
    );
    Ok(())
}

/// Returns the interpreter that the engine used: the newest environment of its cache.
pub(crate) fn python(_trellis: &Path) -> Result<PathBuf, String> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("TRELLIS_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|it| it.join("trellis")))
        .or_else(|| variable("HOME").map(|it| it.join(".cache/trellis")))
        .ok_or("no cache folder")?;
    let entries =
        |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let found =
        entries(&cache.join("venvs")).flat_map(|folder| entries(&folder).collect::<Vec<_>>());
    found
        .map(|folder| folder.join("bin/python"))
        .find(|python| python.exists())
        .ok_or_else(|| format!("no environment in {}", cache.display()))
}

fn test_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(root.join("tests")).map_err(|e| e.to_string())?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|it| it == "py"))
        .collect();
    files.sort();
    if files.is_empty() { Err("the grown repository has no tests".to_owned()) } else { Ok(files) }
}

fn batch() -> Outcome {
    let trellis = setup::released()?;
    let mut base = 0.0;
    for size in ["5", "10", "20"] {
        let out = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (_, took) = generate(&trellis, &fixture(), out.path(), &["--batch", size], false)?;
        if size == "5" {
            base = took.as_secs_f64();
        }
        println!(
            "batch of {size}: {:.1} s, ratio to 5: {:.2}",
            took.as_secs_f64(),
            took.as_secs_f64() / base
        );
    }
    Ok(())
}

/// Program that measures peak memory, from the kernel's account of the child.
const MEASURE: &str = "import resource, subprocess, sys, time
start = time.monotonic()
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(code, time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)";

fn graph() -> Outcome {
    let trellis = setup::released()?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    for nodes in [250_000, 1_000_000] {
        let path = folder.path().join("graph.json");
        big_graph::write(&path, nodes, 3).map_err(|e| e.to_string())?;
        let megabytes = fs::metadata(&path).map_err(|e| e.to_string())?.len() / 1_000_000;
        for command in ["check", "order"] {
            let output = Command::new("python3")
                .args(["-c", MEASURE])
                .arg(&trellis)
                .args(["plan", command])
                .arg(&path)
                .arg("--json")
                .output()
                .map_err(|e| e.to_string())?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let words: Vec<&str> = text.split_whitespace().collect();
            let [code, seconds, peak] = words.as_slice() else {
                return Err(format!("measuring failed: {text}"));
            };
            println!(
                "plan {command}, {nodes} nodes, {megabytes} MB: exit {code}, {seconds:.5} s, peak {peak} MiB (goal: 30 s, 4096 MiB for a million)"
            );
        }
    }
    Ok(())
}
