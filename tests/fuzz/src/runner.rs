//! Runs of a target over mutated inputs, in an ordinary build.

use std::fs;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::mutation::{Random, mutate};
use crate::{Target, corpus};

/// Result of the runs of a target.
#[derive(Debug)]
pub struct Summary {
    pub executions: u64,
    pub time: Duration,
    /// Number of inputs of the corpus.
    pub corpus: usize,
    /// File of the input that failed.
    pub finding: Option<PathBuf>,
}

/// Runs a target on every input of its corpus, then on mutated ones until `time` has passed. Ends
/// with the first input that fails, which is kept in `findings`.
///
/// `current` holds the input of each call while it lasts, for calls that end the process.
///
/// # Errors
///
/// The corpus cannot be read, or an input cannot be written.
pub fn run(
    target: &Target,
    inputs: &[Vec<u8>],
    seed: u64,
    time: Duration,
    findings: &Path,
) -> io::Result<Summary> {
    let (began, mut random) = (Instant::now(), Random(seed));
    let mut summary =
        Summary { executions: 0, time: Duration::ZERO, corpus: inputs.len(), finding: None };
    let current = findings.join("current");
    fs::create_dir_all(findings)?;
    let mut seeds = inputs.iter();
    loop {
        let input = match seeds.next() {
            Some(seed) => seed.clone(),
            None if began.elapsed() >= time => break,
            None => {
                let base = inputs.get(random.below(inputs.len())).map_or(&[][..], Vec::as_slice);
                mutate(base, inputs, &mut random)
            }
        };
        fs::write(&current, &input)?;
        summary.executions += 1;
        if panic::catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).is_err() {
            summary.finding = Some(corpus::keep(findings, &input)?);
            break;
        }
    }
    fs::remove_file(&current)?;
    summary.time = began.elapsed();
    Ok(summary)
}
