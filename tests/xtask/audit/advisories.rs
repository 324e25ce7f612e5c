//! Checks for known advisories in databases that some machines cannot reach.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Skipped;
use crate::{Outcome, setup};

/// Pinned version; newer ones may judge differently.
const CARGO_DENY: &str = "0.20.2";
/// The database of advisories on crates, which cargo-deny reads.
const DATABASE: &str = "https://github.com/RustSec/advisory-db";

/// Checks the crates of the lock file. cargo-deny is built only if its database is reachable.
pub(super) fn crates() -> Result<(), Skipped> {
    let mut ask = Command::new("timeout");
    ask.args(["20", "git", "ls-remote", "--quiet", DATABASE, "HEAD"])
        .env("GIT_TERMINAL_PROMPT", "0");
    quiet(&mut ask)
        .map_err(|why| Skipped::Because(format!("{DATABASE} does not answer: {why}")))?;
    let deny = cargo_deny().map_err(Skipped::Found)?;
    let mut command = Command::new(deny);
    command.current_dir(setup::root()).args(["--locked", "check", "advisories"]);
    setup::run(&mut command).map_err(Skipped::Found)
}

/// Checks the npm packages that the extension uses or is built with.
pub(super) fn packages() -> Result<(), Skipped> {
    let mut command = Command::new("npm");
    command.current_dir(setup::root().join("extension")).args(["audit", "--json"]);
    let output = command.output().map_err(|error| Skipped::Because(format!("npm: {error}")))?;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    if report["auditReportVersion"].is_null() {
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().find(|it| it.contains("audit")).unwrap_or("npm did not say why");
        return Err(Skipped::Because(why.to_owned()));
    }
    match output.status.success() {
        true => Ok(()),
        false => Err(Skipped::Found(format!("npm audit: {}", report["vulnerabilities"]))),
    }
}

/// Returns cargo-deny, built once for this checkout.
fn cargo_deny() -> Result<PathBuf, String> {
    let root = setup::target().join("tools").join(format!("cargo-deny-{CARGO_DENY}"));
    let program = root.join("bin/cargo-deny");
    if !program.exists() {
        eprintln!("building cargo-deny {CARGO_DENY}");
        let build = root.join("build");
        let mut command = setup::cargo(false);
        command.args(["install", "cargo-deny", "--quiet", "--locked"]);
        command.args(["--debug", "--version", CARGO_DENY, "--root"]).arg(&root);
        command.env("CARGO_TARGET_DIR", &build).env("CARGO_PROFILE_DEV_DEBUG", "none");
        setup::run(&mut command)?;
        let removed = std::fs::remove_dir_all(&build);
        removed.map_err(|error| format!("{}: {error}", build.display()))?;
    }
    Ok(program)
}

/// Runs a command silently; on failure, its last line of output is the error.
fn quiet(command: &mut Command) -> Outcome {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|it| !it.trim().is_empty());
    Err(last.unwrap_or("no answer within 20 seconds").to_owned())
}
