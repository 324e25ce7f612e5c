//! `cargo xtask bench scale`: a generation with a model without latency, on this machine, on one
//! engine and on a swarm of three, and what is expected of more engines.

mod simulation;

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

use serde_json::Value;

use crate::models::{Run, load, measured};
use crate::{Outcome, chains, engine, setup};
use simulation::{Costs, Machines, Work, simulate};

/// Number of nodes of the measured graph.
const NODES: usize = 80;

/// Number of nodes of the simulated graph.
const SIMULATED: usize = 10_000;

/// Numbers of simulated engines.
const ENGINES: [usize; 4] = [1, 3, 10, 100];

/// A place of the test runs, with the options that choose it.
struct Place {
    name: &'static str,
    options: Vec<String>,
}

/// Measurement of one generation.
struct Measured {
    run: Run,
    /// Number of test runs.
    runs: usize,
    /// Mean time of a test run in seconds.
    each: f64,
}

pub(crate) fn run() -> Outcome {
    let trellis = setup::released()?;
    setup::optional();
    let engine = engine::start().map(engine::Engine::with_swarm);
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    chains::write(folder.path(), NODES).map_err(|e| e.to_string())?;
    let cores = available_parallelism().map_err(|e| e.to_string())?.get();
    println!("{NODES} nodes, a model without latency, {cores} processors, load {}", load());
    let mut first: Option<f64> = None;
    let mut costs = None;
    for place in places(engine.as_ref()) {
        // The first generation prepares images, environments and files.
        generate(&trellis, folder.path(), &place, "warm", cores)?;
        let found = generate(&trellis, folder.path(), &place, "timed", cores)?;
        let per_minute = NODES as f64 * 60.0 / found.run.wall;
        println!(
            "{}: {:.1} s, {per_minute:.0} nodes a minute, {:.2} runs a second, {:.0} ms a run, peak {:.0} MiB, {:.2} of this \
             machine's time, load {}",
            place.name,
            found.run.wall,
            found.runs as f64 / found.run.wall,
            found.each * 1000.0,
            found.run.peak,
            found.run.wall / *first.get_or_insert(found.run.wall),
            load()
        );
        if !place.options.is_empty() {
            // Workers in containers are not descendants of Trellis.
            let trellis = found.run.processor / found.runs as f64;
            costs = Some((Costs { trellis, worker: found.each }, found.runs.div_ceil(NODES)));
        }
    }
    drop(engine);
    let Some((costs, runs)) = costs else {
        return Err("without an engine nothing can be expected of more".to_owned());
    };
    expected(costs, runs, cores);
    Ok(())
}

/// Returns this machine, one engine, and the swarm, as far as they are there.
fn places(engine: Option<&engine::Engine>) -> Vec<Place> {
    let variables = engine.map(engine::Engine::variables).unwrap_or_default();
    let value = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.as_str());
    let image = value(engine::IMAGE).map(|it| format!("--image={it}"));
    let on = |hosts: &str| -> Vec<String> {
        let engines = hosts.split(',').map(|it| format!("--engine={it}"));
        ["--sandbox=docker".to_owned()].into_iter().chain(image.clone()).chain(engines).collect()
    };
    let mut places = vec![Place { name: "this machine", options: Vec::new() }];
    let of = |name, hosts: Option<&str>| Some(Place { name, options: on(hosts?) });
    places.extend(of("one engine", value(engine::HOST)));
    places.extend(of("a swarm of three", value(engine::SWARM)));
    places
}

fn generate(
    trellis: &Path,
    folder: &Path,
    place: &Place,
    out: &str,
    jobs: usize,
) -> Result<Measured, String> {
    let out = folder.join(out);
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|e| e.to_string())?;
    }
    let mut arguments: Vec<OsString> = vec!["generate".into(), folder.join("rpg.json").into()];
    arguments.push(format!("--model=recorded:{}", folder.join("replies.jsonl").display()).into());
    arguments.extend(["--json".into(), format!("--jobs={jobs}").into(), "--out".into()]);
    arguments.push(out.clone().into());
    arguments.extend(place.options.iter().map(OsString::from));
    let run = measured(trellis, &arguments, folder, 0)?;
    let journal = fs::read_to_string(out.join(".trellis/journal.jsonl"));
    let times = times(&journal.map_err(|e| e.to_string())?);
    let each = times.iter().sum::<f64>() / times.len().max(1) as f64;
    Ok(Measured { run, runs: times.len(), each })
}

/// Returns the time of each test run in seconds.
fn times(journal: &str) -> Vec<f64> {
    let lines = journal.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    let events = lines.map(|mut it| it["event"].take());
    let runs = events.filter(|it| it["kind"] == "test_run");
    runs.filter_map(|it| Some(it["milliseconds"].as_f64()? / 1000.0)).collect()
}

/// Prints the expectation for more engines, each like this machine.
fn expected(costs: Costs, runs: usize, cores: usize) {
    println!(
        "expected of engines with {cores} workers each, at {:.1} ms of Trellis and {:.0} ms of a worker a run, {SIMULATED} nodes:",
        costs.trellis * 1000.0,
        costs.worker * 1000.0
    );
    for engines in ENGINES {
        let work = Work { nodes: SIMULATED, depth: chains::DEPTH, runs };
        let machines = Machines { processors: cores, workers: cores * engines };
        let found = simulate(work, costs, machines);
        println!(
            "  {engines} engines: {:.0} nodes a minute, workers busy {:.0} %, Trellis busy {:.0} %",
            SIMULATED as f64 * 60.0 / found.seconds,
            found.workers_busy * 100.0,
            found.trellis_busy * 100.0
        );
    }
}
