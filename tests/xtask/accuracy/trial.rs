//! Whether a project still works with a rename that is not as wanted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// The program of a project that ends with status 0 if the project is whole.
const CHECK: &str = "check.py";
/// For how long it may run, in seconds, as a word of a command.
const PATIENCE: &str = "20";

/// Writes the texts (by path below the root) over the files, runs the check, and puts the files back. `None` if the
/// project has no check.
pub(crate) fn breaks(root: &Path, texts: &BTreeMap<PathBuf, String>) -> io::Result<Option<bool>> {
    if !root.join(CHECK).exists() {
        return Ok(None);
    }
    let mut before = Vec::new();
    for (path, text) in texts {
        let file = root.join(path);
        let bytes = fs::read(&file)?;
        fs::write(&file, encoded(text, &bytes))?;
        before.push((file, bytes));
    }
    let works = runs(root);
    for (file, bytes) in before {
        fs::write(file, bytes)?;
    }
    works.map(|it| Some(!it))
}

fn runs(root: &Path) -> io::Result<bool> {
    let mut command = Command::new("timeout");
    command.args([PATIENCE, "python3", "-B", CHECK]).current_dir(root);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.status()?.success())
}

/// A text in the encoding of the bytes it takes the place of: UTF-8 or Latin-1.
fn encoded(text: &str, before: &[u8]) -> Vec<u8> {
    let latin = || text.chars().map(|it| u8::try_from(it).ok()).collect::<Option<Vec<u8>>>();
    let narrow = std::str::from_utf8(before).is_err().then(latin).flatten();
    narrow.unwrap_or_else(|| text.as_bytes().to_vec())
}
