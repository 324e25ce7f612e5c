//! Conversion between paths and `file:` URIs.

use std::fmt::Write;
use std::path::{Path, PathBuf};

const SCHEME: &str = "file://";

/// Returns the URI of an absolute path; everything but letters, digits and `-._~/` is escaped.
pub fn uri_of(path: &Path) -> String {
    let mut out = String::from(SCHEME);
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Returns the path of a `file:` URI with any escapes; `None` for other schemes.
pub fn path_of(uri: &str) -> Option<PathBuf> {
    let escaped = uri.strip_prefix(SCHEME)?.as_bytes();
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut at = 0;
    while at < escaped.len() {
        let value = (escaped[at] == b'%').then(|| escaped.get(at + 1..at + 3)).flatten();
        let value = value.and_then(|it| std::str::from_utf8(it).ok());
        let value = value.and_then(|it| u8::from_str_radix(it, 16).ok());
        bytes.push(value.unwrap_or(escaped[at]));
        at += if value.is_some() { 3 } else { 1 };
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{path_of, uri_of};

    #[test]
    fn there_and_back() {
        let path = Path::new("/tmp/a b/ö%41[1]/x.py");
        assert_eq!(uri_of(path), "file:///tmp/a%20b/%C3%B6%2541%5B1%5D/x.py");
        assert_eq!(path_of(&uri_of(path)).as_deref(), Some(path));
        assert_eq!(path_of("untitled:x"), None);
    }
}
