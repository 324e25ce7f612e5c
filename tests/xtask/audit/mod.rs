//! `cargo xtask audit`: origin, licenses and known advisories of the code in Trellis.

use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::{Outcome, editor, setup};

mod advisories;
mod crates;
mod policy;

use crates::Crates;
use policy::Policy;

/// Checks the crates against `deny.toml`, and crates and npm packages against the advisories, if
/// reachable.
pub(crate) fn run() -> Outcome {
    setup::machine()?;
    setup::mock()?;
    let problems = policy()?.problems(&Crates::of(&setup::root())?);
    if !problems.is_empty() {
        let list: String = problems.iter().map(|it| format!("\n  {it}")).collect();
        return Err(format!("deny.toml does not allow what Cargo.lock holds:{list}"));
    }
    once("Cargo.lock", advisories::crates)?;
    editor::install()?;
    once("extension/package-lock.json", advisories::packages)
}

fn policy() -> Result<Policy, String> {
    let path = setup::root().join("deny.toml");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Policy::read(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Runs a check unless it succeeded for this lock file before in this target folder.
fn once(lock: &str, look: impl FnOnce() -> Result<(), Skipped>) -> Outcome {
    let path = setup::root().join(lock);
    let text = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let sum: String = Sha256::digest(text).iter().map(|it| format!("{it:02x}")).collect();
    let done = setup::target().join("audited").join(sum);
    if done.exists() {
        return Ok(());
    }
    match look() {
        Ok(()) => mark(&done),
        Err(Skipped::Because(why)) => {
            eprintln!("\nSKIPPED: known advisories of {lock}, because {why}\n");
            Ok(())
        }
        Err(Skipped::Found(what)) => Err(what),
    }
}

fn mark(done: &Path) -> Outcome {
    let cannot = |e| format!("{}: {e}", done.display());
    fs::create_dir_all(setup::target().join("audited")).map_err(cannot)?;
    fs::write(done, "").map_err(cannot)
}

/// Reason why a check of advisories did not succeed.
enum Skipped {
    /// The check could not run here.
    Because(String),
    /// The check found an advisory.
    Found(String),
}
