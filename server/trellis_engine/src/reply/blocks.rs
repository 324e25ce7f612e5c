//! Search/replace blocks of a reply: `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`.

use trellis_python::SearchReplace;

use super::edit::Edit;
use super::fences::push_line;

/// Numbers of signs that models write in place of seven.
const SIGNS: std::ops::RangeInclusive<usize> = 5..=9;

/// The first line of a block.
pub(super) struct BlockStart<'a> {
    /// The white space before the signs.
    indent: &'a str,
    /// Number of signs.
    signs: usize,
    kind: Kind,
}

/// The words of a block's marks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `<<<<<<< SEARCH` to `>>>>>>> REPLACE`.
    Search,
    /// `------- SEARCH` to `+++++++ REPLACE`.
    Dashes,
    /// Other words, such as `ORIGINAL` and `UPDATED`.
    Other,
}

impl<'a> BlockStart<'a> {
    /// Reads the first line of a block. It may be indented, together with its block.
    pub(super) fn of(line: &'a str) -> Option<BlockStart<'a>> {
        let rest = line.trim_start();
        let indent = &line[..line.len() - rest.len()];
        let start = |signs, kind| Some(BlockStart { indent, signs, kind });
        let (signs, words) = after(rest, '<');
        if SIGNS.contains(&signs) && words.starts_with("SEARCH") {
            return start(signs, Kind::Search);
        }
        let (dashes, said) = after(rest, '-');
        match (SIGNS.contains(&dashes) && said == "SEARCH", signs == 7) {
            (true, _) => start(dashes, Kind::Dashes),
            (_, true) => start(signs, Kind::Other),
            _ => None,
        }
    }

    /// Returns whether the mark says that a search begins.
    pub(super) fn is_search(&self) -> bool {
        self.kind != Kind::Other
    }

    /// Reads the block of these lines, which follow its first; returns the edit with its number of
    /// lines, the last one included.
    ///
    /// # Errors
    ///
    /// A reason for the model if the block has no end or is not divided.
    pub(super) fn block(&self, path: &str, rest: &[&str]) -> Result<(Edit, usize), String> {
        let own: Vec<&str> =
            rest.iter().map(|it| it.strip_prefix(self.indent).unwrap_or(it)).collect();
        let of = if path.is_empty() { String::new() } else { format!(" of {path}") };
        let length = self.length(&own).ok_or_else(|| {
            format!("a search/replace block{of} has no end: `>>>>>>> REPLACE` is missing")
        })?;
        let readings = self.readings(path, &own[..length]);
        if readings.is_empty() {
            return Err(format!(
                "a search/replace block{of} is not divided: a line `=======` by itself is missing"
            ));
        }
        Ok((Edit::of(path.to_owned(), readings), length + 1))
    }

    /// Returns the number of lines before the last one. The texts of a block may show other marks,
    /// as of a merge.
    fn length(&self, own: &[&str]) -> Option<usize> {
        if self.kind == Kind::Other {
            return own.iter().position(|it| it.starts_with(">>>>>>>"));
        }
        let next = |it: &&str| {
            BlockStart::of(it).is_some_and(|it| it.kind == self.kind && it.indent.is_empty())
        };
        let limit = own.iter().position(next).unwrap_or(own.len());
        let own = &own[..limit];
        let sign = if self.kind == Kind::Dashes { '+' } else { '>' };
        let ends = |it: &&str| {
            let (signs, words) = after(it, sign);
            SIGNS.contains(&signs) && words.starts_with("REPLACE")
        };
        let is_bare = |it: &&str| matches!(it.trim_end(), ">>>>>>>" | ">>>>>>> UPDATED");
        own.iter().position(ends).or_else(|| own.iter().position(is_bare))
    }

    fn readings(&self, path: &str, body: &[&str]) -> Vec<SearchReplace> {
        let by = |signs: usize| {
            let line = "=".repeat(signs);
            let divides = move |it: &(usize, &&str)| it.1.trim_end() == line;
            body.iter().enumerate().filter(divides).map(|it| it.0).collect::<Vec<usize>>()
        };
        let dividers = Some(by(7)).filter(|it| !it.is_empty()).unwrap_or_else(|| by(self.signs));
        let joined = |lines: &[&str]| {
            let mut out = String::new();
            lines.iter().for_each(|line| push_line(&mut out, line));
            out
        };
        let reading = |at: usize| SearchReplace {
            path: path.to_owned(),
            search: joined(&body[..at]),
            replace: joined(&body[at + 1..]),
            occurrence: None,
        };
        dividers.into_iter().map(reading).collect()
    }
}

/// Returns the number of signs at the beginning of a line, and the words after them.
fn after(line: &str, sign: char) -> (usize, &str) {
    let rest = line.trim_start_matches(sign);
    (line.len() - rest.len(), rest.trim())
}
