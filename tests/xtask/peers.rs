//! Client libraries of other people, for the tests that use them: installed below the target folder.

use std::fs;
use std::process::Command;

use crate::{Outcome, setup};

/// Installs them where they are not those of the list, which pins each.
pub(crate) fn install() -> Outcome {
    let list = setup::root().join("tests/peers/requirements.txt");
    let wanted = fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
    let home = setup::target().join("peers");
    // Written last, so that it is there only when everything is.
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
