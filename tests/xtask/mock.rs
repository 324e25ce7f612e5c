//! Mock model providers: installed below the target folder, started for measurements.

#[path = "../mock/served.rs"]
#[expect(dead_code, reason = "the end-to-end tests ask more of it")]
mod served;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Outcome, setup};

pub(crate) use served::{OPENAI, Served, order};

/// Files that pin the packages.
const PACKAGES: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

/// Returns the folder of the packages.
pub(crate) fn home() -> PathBuf {
    setup::target().join("mock")
}

/// Installs Node.js if allowed, and the packages unless those of the lock file are installed.
pub(crate) fn install() -> Outcome {
    setup::mock()?;
    let home = home();
    fs::create_dir_all(&home).map_err(|e| format!("{}: {e}", home.display()))?;
    // Written last, so that it exists only if everything is installed.
    let done = home.join("installed");
    let lock = read(&served::scripts().join("package-lock.json"))?;
    if fs::read_to_string(&done).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    for name in PACKAGES {
        let text = read(&served::scripts().join(name))?;
        write(&home.join(name), &text)?;
    }
    eprintln!("installing the mock model server into {}", home.display());
    setup::run(Command::new("npm").args(["ci", "--silent"]).current_dir(&home))?;
    write(&done, &lock)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}
