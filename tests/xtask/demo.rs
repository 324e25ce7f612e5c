//! `cargo xtask demo`: generates the master fixture from its recording.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use serde_json::Value;

use crate::{Outcome, setup};

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Where to grow it; made anew each time.
    #[arg(long, default_value = "target/demo/sprout")]
    out: PathBuf,
    #[arg(long, default_value_t = 2)]
    jobs: u32,
}

pub(crate) fn run(args: &DemoArgs) -> Outcome {
    setup::machine()?;
    let root = setup::root();
    let out = root.join(&args.out);
    clear(&out)?;
    let fixture = root.join("fixtures/ml-library");
    let trellis = setup::trellis()?;
    eprintln!("growing {} into {}", fixture.join("rpg.json").display(), out.display());
    let mut model = std::ffi::OsString::from("recorded:");
    model.push(fixture.join("replies.jsonl"));
    let status = Command::new(trellis)
        .current_dir(&root)
        .arg("generate")
        .arg(fixture.join("rpg.json"))
        .args(["--jobs", &args.jobs.to_string()])
        .arg("--out")
        .arg(&out)
        .arg("--model")
        .arg(model)
        .status()
        .map_err(|e| format!("trellis could not be started: {e}"))?;
    // Two nodes of this graph fail by design, which gives status 1.
    if !matches!(status.code(), Some(0 | 1)) {
        return Err(format!("the demonstration ended with {status}"));
    }
    as_expected(&fixture.join("expected.json"), &out.join("docs/generation_checkpoint.json"))?;
    let report = out.join("docs/generation_report.md");
    let text = fs::read_to_string(&report).map_err(|e| format!("{}: {e}", report.display()))?;
    println!("\n{text}");
    println!(
        "The repository is in {} (try `pytest` there); two nodes fail by design.",
        out.display()
    );
    Ok(())
}

/// Removes only the output of an earlier demonstration.
fn clear(out: &PathBuf) -> Outcome {
    if out.exists()
        && !out.join(".trellis").exists()
        && fs::read_dir(out).is_ok_and(|mut it| it.next().is_some())
    {
        return Err(format!("{} holds something else; choose another --out", out.display()));
    }
    if out.exists() {
        fs::remove_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))
    } else {
        Ok(())
    }
}

pub(crate) fn json(path: &std::path::Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

fn as_expected(expected: &std::path::Path, checkpoint: &std::path::Path) -> Outcome {
    let (expected, found) = (json(expected)?, json(checkpoint)?);
    for (node, want) in expected.as_object().into_iter().flatten() {
        let same = |field: &str| want[field] == found[node][field];
        if !same("status") || !same("retry_count") {
            return Err(format!("{node} should be {want} and is {}", found[node]));
        }
    }
    Ok(())
}
