//! An index of exactly the files that the tests saw.

use trellis_engine::Suspect;
use trellis_python::{FileId, Index, Located};

use crate::convert::Files;
use trellis_project::sources;

/// Index of the Python files of one run.
pub(crate) struct RunIndex {
    pub index: Index,
}

impl RunIndex {
    pub(crate) fn of(files: &Files) -> RunIndex {
        let python = files.iter().filter(|(path, _)| path.ends_with(".py"));
        let index = sources::of_texts(python.map(|(path, text)| (path.as_str(), text)));
        RunIndex { index }
    }

    /// Returns the innermost function or class around a line; lines count from 1.
    pub(crate) fn around(&self, path: &str, line: u32) -> Option<Located> {
        let file = self.index.file(path)?;
        let text = self.index.text(file)?;
        let lines = text.split_inclusive('\n').take(line.saturating_sub(1) as usize);
        let start: usize = lines.map(str::len).sum();
        let indent = text[start..].len() - text[start..].trim_start().len();
        self.index.enclosing(file, start + indent)
    }

    /// Returns the definition of a dotted name in a file.
    pub(crate) fn named(&self, path: &str, symbol: &str) -> Option<Located> {
        let file = self.index.file(path)?;
        let outline = self.index.outline(file);
        let found = (0..outline.symbols.len()).find(|at| self.name(file, *at) == symbol)?;
        Some(Located { file, symbol: found })
    }

    /// Returns a symbol's dotted name: `Class.method`, or the plain name.
    fn name(&self, file: FileId, symbol: usize) -> String {
        let outline = self.index.outline(file);
        let names: Vec<&str> = outline.path(symbol).iter().map(|it| it.name.as_str()).collect();
        names.join(".")
    }

    pub(crate) fn suspect(&self, it: Located, line: Option<u32>, why: &str) -> Suspect {
        let outline = self.index.outline(it.file);
        let symbol = &outline.symbols[it.symbol];
        let text = self.index.text(it.file).unwrap_or_default();
        let first = text[..symbol.name_range.start].matches('\n').count() as u32 + 1;
        Suspect {
            path: self.index.path(it.file).to_owned(),
            line: line.unwrap_or(first),
            symbol: self.name(it.file, it.symbol),
            why: why.to_owned(),
            ..Suspect::default()
        }
    }

    /// Returns the text of a definition, decorators included.
    pub(crate) fn source(&self, it: Located) -> String {
        let outline = self.index.outline(it.file);
        let text = self.index.text(it.file).unwrap_or_default();
        text[outline.symbols[it.symbol].range.clone()].to_owned()
    }

    /// Returns the callers of a definition, without tests.
    pub(crate) fn callers(&self, it: Located) -> Vec<Located> {
        let offset = self.index.outline(it.file).symbols[it.symbol].name_range.start;
        let callers = self.index.callers(it.file, offset).unwrap_or_default();
        let mut found: Vec<Located> = callers.into_iter().filter_map(|it| it.symbol).collect();
        found.retain(|caller| !self.index.path(caller.file).starts_with("tests/"));
        found.dedup();
        found
    }
}
