//! Corpora in the tree.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Bytes of an input's hash in its file's name.
const NAME: usize = 8;

/// Returns the folder of all corpora.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz")
}

/// Returns the files of a target's corpus with their bytes, by name.
///
/// # Errors
///
/// The folder or a file cannot be read.
pub fn read(target: &str) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let entries = fs::read_dir(root().join(target))?;
    let mut paths = entries.map(|it| Ok(it?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    paths.into_iter().map(|path| fs::read(&path).map(|bytes| (path, bytes))).collect()
}

/// Adds an input that failed to a folder of inputs, under a name of its content.
///
/// # Errors
///
/// The folder cannot be made, or the file cannot be written.
pub fn keep(folder: &Path, input: &[u8]) -> io::Result<PathBuf> {
    let hash = Sha256::digest(input);
    let hex: String = hash.iter().take(NAME).map(|it| format!("{it:02x}")).collect();
    let path = folder.join(format!("found-{hex}"));
    fs::create_dir_all(folder)?;
    fs::write(&path, input)?;
    Ok(path)
}
