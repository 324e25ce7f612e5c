//! Reads files of untrusted folders.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Maximum size in bytes; larger files are refused.
const LONGEST: u64 = 1 << 30;

/// Returns the bytes of a regular file, or of one that a link leads to. Everything else is refused
/// without waiting: opening a pipe may block, and a device may never end.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    let (file, length) = regular(path.as_ref())?;
    // The length is a hint: it may change before the last byte is read, and is 0 in `/proc`.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the content of a file as text, which has to be UTF-8.
pub fn read_text(path: impl AsRef<Path>) -> Result<String> {
    String::from_utf8(read(path)?)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "it is not valid UTF-8"))
}

/// Opens a regular file for reading.
pub fn open(path: impl AsRef<Path>) -> Result<std::io::Take<File>> {
    Ok(regular(path.as_ref())?.0.take(LONGEST))
}

/// Opens a regular file and returns it with its length.
fn regular(path: &Path) -> Result<(File, u64)> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let kind = file.metadata()?;
    let refuse = |reason: ErrorKind, why: &str| Err(Error::new(reason, why));
    match kind.len() {
        _ if kind.is_dir() => refuse(ErrorKind::IsADirectory, "it is not a regular file"),
        _ if !kind.is_file() => refuse(ErrorKind::InvalidInput, "it is not a regular file"),
        length if length > LONGEST => refuse(ErrorKind::FileTooLarge, "it is longer than 1 GiB"),
        length => Ok((file, length)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_what_is_a_regular_file_is_read() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        fs::write(at("plain"), "text").expect("written");
        symlink("plain", at("link")).expect("a link");
        symlink("/dev/zero", at("endless")).expect("a link");
        let pipe = std::process::Command::new("mkfifo").arg(at("pipe")).status();
        assert!(pipe.is_ok_and(|it| it.success()));
        File::create(at("huge")).and_then(|it| it.set_len(LONGEST + 1)).expect("a sparse file");
        fs::write(at("bytes"), [0xff]).expect("written");
        let table = [
            ("plain", "text"),
            ("link", "text"),
            ("endless", "it is not a regular file"),
            ("pipe", "it is not a regular file"),
            ("huge", "it is longer than 1 GiB"),
            ("bytes", "it is not valid UTF-8"),
        ];
        for (name, expected) in table {
            let said = read_text(at(name)).unwrap_or_else(|refused| refused.to_string());
            assert_eq!(said, expected, "{name}");
        }
        assert!(matches!(read(at("none")), Err(e) if e.kind() == ErrorKind::NotFound));
        assert!(matches!(read(root.path()), Err(e) if e.kind() == ErrorKind::IsADirectory));
    }
}
