//! Checks whether a project still works after an inexact rename.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// Program of a project that exits with status 0 if the project works.
const CHECK: &str = "check.py";
/// Timeout in seconds, as an argument.
const PATIENCE: &str = "20";

/// Returns whether the check fails with the texts (by path below the root) in place of the files;
/// `None` if the project has no check.
pub(crate) fn breaks(root: &Path, texts: &BTreeMap<PathBuf, String>) -> io::Result<Option<bool>> {
    if !root.join(CHECK).exists() {
        return Ok(None);
    }
    with_texts(root, texts, || runs(root))?.map(|it| Some(!it))
}

/// Writes the texts (by path below the root) over the files, does something, and restores the
/// files.
pub(crate) fn with_texts<T>(
    root: &Path,
    texts: &BTreeMap<PathBuf, String>,
    run: impl FnOnce() -> T,
) -> io::Result<T> {
    let mut before = Vec::new();
    for (path, text) in texts {
        let file = root.join(path);
        let bytes = fs::read(&file)?;
        fs::write(&file, encoded(text, &bytes))?;
        before.push((file, bytes));
    }
    let result = run();
    for (file, bytes) in before {
        fs::write(file, bytes)?;
    }
    Ok(result)
}

fn runs(root: &Path) -> io::Result<bool> {
    let mut command = Command::new("timeout");
    command.args([PATIENCE, "python3", "-B", CHECK]).current_dir(root);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.status()?.success())
}

/// Encodes a text like the bytes it replaces: UTF-8 or Latin-1.
fn encoded(text: &str, before: &[u8]) -> Vec<u8> {
    let latin = || text.chars().map(|it| u8::try_from(it).ok()).collect::<Option<Vec<u8>>>();
    let narrow = std::str::from_utf8(before).is_err().then(latin).flatten();
    narrow.unwrap_or_else(|| text.as_bytes().to_vec())
}
