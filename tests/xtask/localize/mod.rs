//! `cargo xtask bench localize`: runs `trellis localize` on bugs with known locations.

mod real;
mod seeded;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::{Outcome, setup};

#[derive(Args)]
pub(crate) struct LocalizeArgs {
    /// Which half of the seeded bugs. The held half is measured once, when nothing is tuned any more.
    #[arg(long, value_enum, default_value = "tune")]
    half: Half,
    /// Rebuilt bugs of real projects instead of the seeded ones: a folder with `NAME/case.json` and
    /// `NAME/project` for each.
    #[arg(long, value_name = "FOLDER")]
    real: Option<PathBuf>,
    /// Only bugs whose id begins so.
    #[arg(long, value_name = "ID")]
    only: Option<String>,
    /// Seconds for trials.
    #[arg(long, default_value_t = 20)]
    trials: u64,
    /// This binary instead of a release build of the working tree.
    #[arg(long, value_name = "FILE")]
    trellis: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Half {
    Tune,
    Held,
}

impl LocalizeArgs {
    fn wants(&self, id: &str) -> bool {
        self.only.as_ref().is_none_or(|it| id.starts_with(it.as_str()))
    }
}

pub(crate) fn run(args: &LocalizeArgs) -> Outcome {
    let binary = match &args.trellis {
        Some(path) => path.clone(),
        None => setup::released()?,
    };
    match &args.real {
        Some(folder) => real::run(&binary, folder, args)?,
        None => seeded::run(&binary, args)?,
    }
    println!("load average: {}", fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    Ok(())
}

/// Runs `trellis localize` with further options and returns its JSON.
fn localize(
    binary: &Path,
    project: &Path,
    trials: u64,
    options: &[String],
) -> Result<Value, String> {
    let output = Command::new(binary)
        .args(["--json", "localize", "--top", "1000", "--trials", &trials.to_string()])
        .args(options)
        .arg(project)
        .output()
        .map_err(|e| format!("{}: {e}", binary.display()))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Returns the rank of the first hit by score alone, in the middle of equal scores.
fn plain(scored: &[(bool, f64)]) -> Option<f64> {
    let best = scored.iter().filter(|(hit, _)| *hit).map(|(_, score)| *score);
    let best = best.max_by(f64::total_cmp)?;
    let higher = scored.iter().filter(|(_, score)| *score > best).count();
    let same = scored.iter().filter(|(_, score)| *score == best).count();
    Some(higher as f64 + (same as f64 + 1.0) / 2.0)
}

/// Describes how many ranks are within 1, 3, 5 and 10.
fn within(ranks: &[Option<f64>]) -> String {
    let share = |most: f64| {
        let count = ranks.iter().flatten().filter(|it| **it <= most).count();
        format!(
            "top-{most} {count:>3} ({:>3.0} %)",
            100.0 * count as f64 / ranks.len().max(1) as f64
        )
    };
    let shares: Vec<String> = [1.0, 3.0, 5.0, 10.0].into_iter().map(share).collect();
    format!("{}  of {}", shares.join("  "), ranks.len())
}

/// Copies a folder with all that is in it but compiled Python; links stay links.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, target)?;
        } else if !kind.is_dir() {
            fs::copy(entry.path(), target)?;
        } else if entry.file_name() != "__pycache__" {
            copy(&entry.path(), &target)?;
        }
    }
    Ok(())
}
