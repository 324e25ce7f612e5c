//! Tests of the extension: types, pure parts, and the whole in two real editors; and its costs in
//! an editor.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::flaky::{self, Flaky};
use crate::phases::Phases;
use crate::{Outcome, setup};

/// Environment variable that skips these tests on a machine without a browser.
const SKIP: &str = "TRELLIS_SKIP_EDITOR";

/// Arguments of the editor runs, by the names in `extension/test/lane/lanes.ts`: all tests in the
/// newest editor but those of other languages, and those that depend most on the editor in the
/// oldest.
const LANES: [&[&str]; 2] = [&["--lane", "2"], &["--lane", "1", "--short"]];

/// Arguments for all tests in both editors.
const WHOLE_LANES: [&[&str]; 2] = [&["--lane", "2", "--whole"], &["--lane", "1", "--whole"]];

/// Checks the extension and runs its tests that need no editor.
pub(crate) fn without_editor(phases: &mut Phases) -> Outcome {
    prepare()?;
    phases.run("types and lints of the extension", || {
        npm(&["run", "--silent", "check"])?;
        npm(&["run", "--silent", "protocol", "--", "--check"])
    })?;
    phases.run("tests of the extension without an editor", || npm(&["test", "--silent"]))
}

/// Runs the extension's tests in editors, with `trellis` packed into it; `rest` is passed to these.
pub(crate) fn run(trellis: &Path, rest: &[String], phases: &mut Phases, flaky: &Flaky) -> Outcome {
    in_editors(&LANES, trellis, rest, phases, flaky)
}

/// Runs every test in both editors.
pub(crate) fn whole(trellis: &Path, phases: &mut Phases, flaky: &Flaky) -> Outcome {
    prepare()?;
    in_editors(&WHOLE_LANES, trellis, &[], phases, flaky)
}

fn in_editors(
    lanes: &[&[&str]],
    trellis: &Path,
    rest: &[String],
    phases: &mut Phases,
    flaky: &Flaky,
) -> Outcome {
    if skipped() {
        eprintln!("\nSKIPPED: every test of the extension in a real editor, because {SKIP}=1\n");
        return Ok(());
    }
    let package = phases.run("packing the extension", || pack(trellis))?;
    for lane in lanes {
        phases.run(format!("editor, {}", lane.join(" ").replace("--", "")), || {
            let mut command = script("test.mjs", trellis);
            command.env("TRELLIS_VSIX", &package).env(flaky::VARIABLE, flaky.path());
            setup::run(command.args(*lane).args(rest))
        })?;
    }
    Ok(())
}

/// Packs the extension with `trellis` inside; returns the path of the package, which the script
/// prints last.
fn pack(trellis: &Path) -> Result<String, String> {
    let mut command = script("pack.mjs", trellis);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("node could not be started: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    match (output.status.success(), said.lines().last()) {
        (true, Some(path)) => Ok(path.to_owned()),
        _ => Err(format!("the extension was not packed ({}):\n{said}", output.status)),
    }
}

/// Installs the packages of the extension, and the editors unless they are skipped.
pub(crate) fn prepare() -> Outcome {
    setup::mock()?;
    install()?;
    if skipped() {
        return Ok(());
    }
    setup::editor().map_err(|why| {
        format!("the extension's tests need a browser and a compiler: {why}; or leave them out with {SKIP}=1")
    })?;
    let mut command = Command::new("node");
    command.current_dir(home()).env("CARGO_TARGET_DIR", setup::target());
    setup::silent(command.args(["scripts/editors.mjs", "1", "2"]))
}

/// Runs `npm run bench`, with the release build of the sidecar.
pub(crate) fn bench() -> Outcome {
    if skipped() {
        eprintln!("\nSKIPPED: the bench of the extension in a real editor, because {SKIP}=1\n");
        return Ok(());
    }
    setup::editor().map_err(|why| {
        format!("the extension's bench needs a browser and a compiler: {why}; or leave it out with {SKIP}=1")
    })?;
    install()?;
    setup::run(&mut script("bench.mjs", &setup::released()?))
}

fn skipped() -> bool {
    std::env::var_os(SKIP).is_some_and(|it| it == "1")
}

/// Returns a command for a script of the extension that packs or starts `trellis`, with output in
/// this target folder.
fn script(name: &str, trellis: &Path) -> Command {
    let mut command = Command::new("node");
    command.current_dir(home()).env("TRELLIS_BIN", trellis);
    command.env("CARGO_TARGET_DIR", setup::target()).env("PATH", setup::path());
    command.arg(format!("scripts/{name}"));
    command
}

fn home() -> PathBuf {
    setup::root().join("extension")
}

/// Installs the packages of the lock file, unless they are installed.
pub(crate) fn install() -> Outcome {
    let lock = home().join("package-lock.json");
    let wanted = fs::read_to_string(&lock).map_err(|e| format!("{}: {e}", lock.display()))?;
    // Written last, so that it exists only if everything is installed; `npm ci` removes it.
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
