//! Formats of stored state: what a newer Trellis wrote is refused, never read as if it were known.
//!
//! Each file of state carries the number of its format: `version` in a JSON object, `v` at the
//! beginning of each line of the journal.

use std::fmt::Display;
use std::io;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

/// Start of a line of the journal.
const LINE: &[u8] = b"{\"v\":";
/// Number of bytes in which the number of a line's format is found.
pub(crate) const LINE_START: usize = LINE.len() + 10;

/// State in a format that only a newer Trellis reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a newer Trellis wrote {path}: its format is {found}, and this Trellis reads up to {known}"
)]
pub struct NewerFormat {
    pub path: String,
    pub found: u64,
    pub known: u32,
}

impl From<NewerFormat> for io::Error {
    fn from(it: NewerFormat) -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, it)
    }
}

/// The part of a file that all formats share.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

/// Refuses a JSON object with a greater `version` than `known`. A text that is not such an object
/// is accepted: its reader says what is wrong with it.
///
/// # Errors
///
/// A newer Trellis wrote it.
pub fn refuse_newer(path: impl Display, text: &[u8], known: u32) -> Result<(), NewerFormat> {
    match serde_json::from_slice::<Versioned>(text) {
        Ok(Versioned { version: found }) => refuse(path, found, known),
        Err(_) => Ok(()),
    }
}

/// Refuses a line of the journal, of which the first [`LINE_START`] bytes suffice.
pub(crate) fn refuse_newer_line(
    path: impl Display,
    line: &[u8],
    known: u32,
) -> Result<(), NewerFormat> {
    let rest = line.strip_prefix(LINE).unwrap_or_default();
    let digits = rest.iter().take_while(|it| it.is_ascii_digit());
    let found = digits.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    refuse(path, found, known)
}

fn refuse(path: impl Display, found: u64, known: u32) -> Result<(), NewerFormat> {
    match found > u64::from(known) {
        true => Err(NewerFormat { path: path.to_string(), found, known }),
        false => Ok(()),
    }
}

/// Reads the number of a format that is not newer than `KNOWN`.
pub(crate) fn not_newer<'de, D: Deserializer<'de>, const KNOWN: u32>(
    deserializer: D,
) -> Result<u32, D::Error> {
    let found = u32::deserialize(deserializer)?;
    match found > KNOWN {
        true => Err(D::Error::custom(format!("its format is {found}, and not {KNOWN}"))),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_greater_number_is_newer() {
        for text in ["{\"version\":1}", "{\"version\":2,\"a\":[]}", "{}", "[1", ""] {
            assert_eq!(refuse_newer("f", text.as_bytes(), 2), Ok(()), "{text}");
        }
        for text in ["{\"v\":1,\"at\"", "{\"v\":2}", "{\"a\":3}", "{\"v\":", ""] {
            assert_eq!(refuse_newer_line("f", text.as_bytes(), 2), Ok(()), "{text}");
        }
        let newer = Err(NewerFormat { path: "f".to_owned(), found: 3, known: 2 });
        assert_eq!(refuse_newer("f", b"{\"other\":{},\"version\":3}", 2), newer);
        assert_eq!(refuse_newer_line("f", b"{\"v\":3,\"at\"", 2), newer);
    }
}
