//! `cargo xtask audit`: whose code is in Trellis, under which licence, and what is known against it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{Outcome, editor, setup};

/// Newer ones may judge otherwise.
const CARGO_DENY: &str = "0.20.2";

/// Checks the crates against `deny.toml`, and both kinds of packages against the advisories, where those can be reached.
pub(crate) fn run() -> Outcome {
    setup::machine()?;
    setup::mock()?;
    let deny = cargo_deny()?;
    let ask = |words: &[&str]| {
        let mut command = Command::new(&deny);
        command.current_dir(setup::root()).arg("--locked").args(words);
        command
    };
    setup::run(&mut ask(&["check", "licenses", "bans", "sources"]))?;
    match quiet(&mut ask(&["fetch", "db"])) {
        Ok(()) => setup::run(&mut ask(&["check", "advisories", "--disable-fetch"]))?,
        Err(why) => eprintln!("\nSKIPPED: known advisories of crates, because {why}\n"),
    }
    npm()
}

/// The program, built once for this checkout.
fn cargo_deny() -> Result<PathBuf, String> {
    let root = setup::target().join("tools").join(format!("cargo-deny-{CARGO_DENY}"));
    let program = root.join("bin/cargo-deny");
    if !program.exists() {
        eprintln!("building cargo-deny {CARGO_DENY}");
        let build = root.join("build");
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(setup::root()).args(["install", "cargo-deny", "--quiet", "--locked"]);
        command.args(["--debug", "--version", CARGO_DENY, "--root"]).arg(&root);
        command.env("CARGO_TARGET_DIR", &build).env("CARGO_PROFILE_DEV_DEBUG", "none");
        setup::run(&mut command)?;
        let removed = std::fs::remove_dir_all(&build);
        removed.map_err(|error| format!("{}: {error}", build.display()))?;
    }
    Ok(program)
}

/// Advisories against what the extension is made of and with.
fn npm() -> Outcome {
    editor::install()?;
    let mut command = Command::new("npm");
    command.current_dir(setup::root().join("extension")).args(["audit", "--json"]);
    let output = command.output().map_err(|error| format!("npm: {error}"))?;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    if report["auditReportVersion"].is_null() {
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().find(|it| it.contains("audit")).unwrap_or("npm did not say why");
        eprintln!("\nSKIPPED: known advisories of npm packages, because {why}\n");
        return Ok(());
    }
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("npm audit: {}", report["vulnerabilities"])),
    }
}

/// Runs a command that says nothing unless it fails: then its last words.
fn quiet(command: &mut Command) -> Outcome {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().rfind(|it| !it.trim().is_empty()).unwrap_or("it did not say why").to_owned())
}
