//! `cargo xtask bench models`: compares a run with slow models to the fastest possible one.

pub(crate) mod bound;
pub(crate) mod latency;
pub(crate) mod timeline;

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Outcome, demo, setup};
use bound::Bound;
use timeline::Timeline;

/// Maximum ratio of a run's time to the lower bound.
pub(crate) const GOAL: f64 = 1.3;

/// Jobs in the measured run.
const JOBS: usize = 8;

/// Resources of a run, as reported by the kernel.
pub(crate) struct Run {
    /// Wall-clock time in seconds.
    pub(crate) wall: f64,
    /// User and system time in seconds, of the process and all awaited descendants.
    pub(crate) processor: f64,
    /// Peak memory of the largest process in MiB.
    pub(crate) peak: f64,
}

/// Program that measures times, from the kernel's account of the child and its ended descendants.
const MEASURE: &str = "import resource, subprocess, sys, time
start = time.monotonic()
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)";

pub(crate) fn run() -> Outcome {
    let trellis = setup::released()?;
    let fixture = setup::root().join("fixtures/ml-library");
    let graph = fixture.join("rpg.json");
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let recording = folder.path().join("replies.jsonl");
    let text = fs::read_to_string(fixture.join("replies.jsonl")).map_err(|e| e.to_string())?;
    let plan = demo::json(&graph)?;
    let slow = latency::drawn(&text, &plan)?;
    println!("{}", latency::described(&slow));
    fs::write(&recording, slow).map_err(|e| e.to_string())?;
    let grown = |jobs: usize, out: &str| -> Result<(Run, Timeline), String> {
        let out = folder.path().join(out);
        let run = grow(&trellis, &graph, &recording, jobs, &out)?;
        println!(
            "--jobs {jobs}: {:.1} s, processor time {:.1} s, load {}",
            run.wall,
            run.processor,
            load()
        );
        Ok((run, Timeline::read(&out.join(".trellis/journal.jsonl"))?))
    };
    println!("load before: {}", load());
    // Environments are created before the timing.
    let warm = folder.path().join("warm");
    grow(&trellis, &graph, &fixture.join("replies.jsonl"), 2, &warm)?;
    let (many, timeline) = grown(JOBS, "many")?;
    let (one, alone) = grown(1, "one")?;
    // The costs of nodes come from the run with one job, in which nodes do not disturb each other.
    let bound = Bound::of(&plan, &alone, JOBS, many.processor)?;
    println!("{bound}");
    let ratio = many.wall / bound.seconds();
    println!(
        "--jobs {JOBS} took {ratio:.2} times the lower bound (goal: at most {GOAL}), {:.2} times that with the order \
         within files; --jobs 1 {:.1} times as long",
        many.wall / bound.in_files(),
        one.wall / many.wall
    );
    println!("{}", timeline.described(bound.plan(), JOBS, many.wall));
    Ok(())
}

pub(crate) fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}

fn grow(
    trellis: &Path,
    graph: &Path,
    recording: &Path,
    jobs: usize,
    out: &Path,
) -> Result<Run, String> {
    let model = format!("--model=recorded:{}", recording.display());
    let jobs = jobs.to_string();
    let words = ["--replay-latency", "--json", "--jobs", &jobs, "--out"];
    let mut arguments: Vec<OsString> = vec!["generate".into(), graph.into(), model.into()];
    arguments.extend(words.map(OsString::from));
    arguments.push(out.into());
    // Two nodes of the fixture fail by design.
    measured(trellis, &arguments, Path::new("."), 1)
}

/// Runs `trellis` in a folder, and expects this exit status.
pub(crate) fn measured(
    trellis: &Path,
    arguments: &[OsString],
    folder: &Path,
    status: u8,
) -> Result<Run, String> {
    let mut command = Command::new("python3");
    command.args(["-c", MEASURE]).arg(trellis).args(arguments).current_dir(folder);
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words: Vec<f64> = text.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    match words.as_slice() {
        [code, wall, processor, peak] if *code == f64::from(status) => {
            Ok(Run { wall: *wall, processor: *processor, peak: *peak })
        }
        _ => Err(format!("trellis should end with {status}, with its times behind it: {text}")),
    }
}
