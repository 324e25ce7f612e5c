//! `fuzz TARGET SECONDS SEED FINDINGS`: runs a target on its corpus and on mutated inputs, and prints
//! one line of JSON. Without arguments it prints the names of all targets.

#![allow(clippy::print_stdout, reason = "a command-line tool of the repository")]

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use fuzz::{TARGETS, corpus, runner};
use serde_json::json;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match &words[..] {
        [] => {
            TARGETS.iter().for_each(|it| println!("{}", it.name));
            return ExitCode::SUCCESS;
        }
        [target, seconds, seed, findings] => run(target, seconds, seed, Path::new(findings)),
        _ => Err("usage: fuzz TARGET SECONDS SEED FINDINGS".to_owned()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("fuzz: {message}");
            ExitCode::from(2)
        }
    }
}

/// Returns whether no input failed.
fn run(name: &str, seconds: &str, seed: &str, findings: &Path) -> Result<bool, String> {
    let number = |text: &str| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
    let target = TARGETS.iter().find(|it| it.name == name);
    let target = target.ok_or_else(|| format!("there is no target {name}"))?;
    let inputs = corpus::read(name).map_err(|error| format!("the corpus of {name}: {error}"))?;
    let inputs: Vec<Vec<u8>> = inputs.into_iter().map(|(_, bytes)| bytes).collect();
    let (seed, time) = (number(seed)?, Duration::from_secs(number(seconds)?));
    let summary = runner::run(target, &inputs, seed, time, findings)
        .map_err(|error| format!("{}: {error}", findings.display()))?;
    println!(
        "{}",
        json!({
            "executions": summary.executions,
            "seconds": summary.time.as_secs_f64(),
            "corpus": summary.corpus,
            "finding": summary.finding,
        })
    );
    Ok(summary.finding.is_none())
}
