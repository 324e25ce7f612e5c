//! Texts by line, and columns in the units agreed between client and server.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Unit of columns in positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

impl Encoding {
    /// Returns the encoding's name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
            Encoding::Utf32 => "utf-32",
        }
    }

    /// Returns the encoding of a name; without a name, UTF-16.
    pub fn named(name: Option<&str>) -> Option<Encoding> {
        let Some(name) = name else { return Some(Encoding::Utf16) };
        [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32].into_iter().find(|it| it.name() == name)
    }

    /// Returns the number of units of one character.
    fn width(self, character: char) -> usize {
        match self {
            Encoding::Utf8 => character.len_utf8(),
            Encoding::Utf16 => character.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }

    /// Converts a column from code points to units; both from 0.
    pub fn units(self, line: &str, column: usize) -> usize {
        line.chars().take(column).map(|it| self.width(it)).sum()
    }

    /// Converts a column from units to code points, from 0; `None` inside a character or after the
    /// line's end.
    pub fn column(self, line: &str, units: usize) -> Option<usize> {
        let mut seen = 0;
        for (column, character) in line.chars().enumerate() {
            if seen >= units {
                return (seen == units).then_some(column);
            }
            seen += self.width(character);
        }
        (seen == units).then(|| line.chars().count())
    }
}

/// Returns the lines of a text without their ends, as the protocol counts them: `\n`, `\r\n` and
/// `\r` end a line.
pub fn lines(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(['\n', '\r']) {
        out.push(&rest[..end]);
        let width = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
        rest = &rest[end + width..];
    }
    out.push(rest);
    out
}

/// Reads a Python file as an editor shows it: UTF-8 without a byte order mark, anything else as
/// Latin-1.
pub fn read(file: &Path) -> io::Result<String> {
    let bytes = fs::read(file)?;
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|it| it.into_bytes().into_iter().map(char::from).collect());
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Files by line, read on first use.
#[derive(Default)]
pub struct Texts {
    known: HashMap<PathBuf, Vec<String>>,
}

impl Texts {
    /// Returns the lines without their ends; none if the file cannot be read.
    pub fn lines(&mut self, file: &Path) -> &[String] {
        if !self.known.contains_key(file) {
            let text = read(file).unwrap_or_default();
            let split = lines(&text).into_iter().map(str::to_owned).collect();
            self.known.insert(file.to_owned(), split);
        }
        &self.known[file]
    }

    /// Returns a line, counted from 0; `None` if there is none.
    pub fn line(&mut self, file: &Path, line: usize) -> Option<&str> {
        self.lines(file).get(line).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::{Encoding, lines};

    #[test]
    fn columns_behind_wide_characters() {
        let line = "ö🙂x";
        for (encoding, units) in [(Encoding::Utf8, 6), (Encoding::Utf16, 3), (Encoding::Utf32, 2)] {
            assert_eq!(encoding.units(line, 2), units);
            assert_eq!(encoding.column(line, units), Some(2));
            assert_eq!(encoding.column(line, units + 1), Some(3));
            assert_eq!(encoding.column(line, units + 2), None);
        }
        assert_eq!(Encoding::Utf16.column(line, 2), None, "inside a character");
    }

    #[test]
    fn every_line_end_counts() {
        assert_eq!(lines("a\r\nb\rc\n"), ["a", "b", "c", ""]);
    }
}
