//! The extension's tests: its types, its pure parts, and all of it in two real editors; and what it costs one of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Outcome, setup};

/// Says that a machine without a browser is no reason to fail.
const SKIP: &str = "TRELLIS_SKIP_EDITOR";

/// The editors, by the names that `extension/test/lane/lanes.ts` gives them.
const LANES: [&str; 2] = ["1", "2"];

/// Runs them with `trellis` packed into the extension; `rest` is passed on to what runs the tests in editors.
pub(crate) fn run(trellis: &Path, rest: &[String]) -> Outcome {
    setup::mock()?;
    install()?;
    say("types and lints of the extension");
    npm(&["run", "--silent", "check"])?;
    npm(&["run", "--silent", "protocol", "--", "--check"])?;
    say("tests that need no editor");
    npm(&["test", "--silent"])?;
    if skipped() {
        eprintln!("\nSKIPPED: every test of the extension in a real editor, because {SKIP}=1\n");
        return Ok(());
    }
    setup::editor().map_err(|why| {
        format!("the extension's tests need a browser and a compiler: {why}; or leave them out with {SKIP}=1")
    })?;
    let mut command = with(trellis, "test:editor");
    command.arg("--").args(LANES.iter().flat_map(|it| ["--lane", it]));
    setup::run(command.args(rest))
}

/// `npm run bench`, with the sidecar as it is delivered.
pub(crate) fn bench() -> Outcome {
    if skipped() {
        eprintln!("\nSKIPPED: the bench of the extension in a real editor, because {SKIP}=1\n");
        return Ok(());
    }
    setup::editor().map_err(|why| {
        format!("the extension's bench needs a browser and a compiler: {why}; or leave it out with {SKIP}=1")
    })?;
    install()?;
    setup::run(&mut with(&setup::trellis(true)?, "bench"))
}

fn skipped() -> bool {
    std::env::var_os(SKIP).is_some_and(|it| it == "1")
}

/// A script of the extension that packs `trellis`, and puts what it makes where we put ours.
fn with(trellis: &Path, script: &str) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(home()).env("TRELLIS_BIN", trellis);
    command.env("CARGO_TARGET_DIR", setup::target());
    command.args(["run", "--silent", script]);
    command
}

fn home() -> PathBuf {
    setup::root().join("extension")
}

/// Installs the packages of the lock file, where they are not those.
pub(crate) fn install() -> Outcome {
    let lock = home().join("package-lock.json");
    let wanted = fs::read_to_string(&lock).map_err(|e| format!("{}: {e}", lock.display()))?;
    // Written last, so that it is there only when everything is; `npm ci` removes it.
    let done = home().join("node_modules/.cache/installed");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    say("installing the extension's packages");
    npm(&["ci", "--silent", "--ignore-scripts"])?;
    let cannot = |e: std::io::Error| format!("{}: {e}", done.display());
    fs::create_dir_all(home().join("node_modules/.cache")).map_err(cannot)?;
    fs::write(&done, wanted).map_err(cannot)
}

fn npm(arguments: &[&str]) -> Outcome {
    setup::run(Command::new("npm").args(arguments).current_dir(home()))
}

fn say(what: &str) {
    eprintln!("extension: {what}");
}
