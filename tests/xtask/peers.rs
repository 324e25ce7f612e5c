//! Third-party client libraries for tests, installed below the target folder.

use std::fs;
use std::process::Command;

use crate::{Outcome, setup};

/// Installs the pinned libraries, unless they are installed.
pub(crate) fn install() -> Outcome {
    let list = setup::root().join("tests/peers/requirements.txt");
    let wanted = fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
    let home = setup::target().join("peers");
    // Written last, so that it exists only if everything is installed.
    let done = home.join("installed");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    eprintln!("installing client libraries into {}", home.display());
    let environment = home.join("venv");
    setup::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
    let mut pip = Command::new(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r"]);
    setup::run(pip.arg(&list))?;
    fs::write(&done, wanted).map_err(|e| format!("{}: {e}", done.display()))
}
