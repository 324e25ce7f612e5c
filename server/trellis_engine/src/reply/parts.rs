//! The parts of a reply: words, fences, and search/replace blocks.

use super::blocks::BlockStart;
use super::edit::Edit;
use super::fences::Fence;
use super::paths::{path_of, paths_in};

/// A reply, divided into its parts.
#[derive(Default)]
pub(super) struct Parts<'a> {
    /// Lines outside of fences and blocks.
    pub(super) words: Vec<&'a str>,
    /// Fences that are not around blocks.
    pub(super) fences: Vec<Fence>,
    pub(super) blocks: Vec<Edit>,
}

/// Divides a reply. A block's path is on the line above it, or above or behind the mark of the
/// fence around it; else it is the only path that the words name since the block before, else that
/// block's path.
///
/// # Errors
///
/// A reason for the model: a block has no end, is not divided, or may belong to several files.
pub(super) fn parts(text: &str) -> Result<Parts<'_>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut reader =
        Reader { lines: &lines, at: 0, around: None, since: Vec::new(), done: Parts::default() };
    while reader.at < lines.len() {
        reader.step()?;
    }
    Ok(reader.done)
}

struct Reader<'a, 'l> {
    lines: &'l [&'a str],
    at: usize,
    /// The fence around the blocks that are read.
    around: Option<Fence>,
    /// Words since the last block.
    since: Vec<&'a str>,
    done: Parts<'a>,
}

impl Reader<'_, '_> {
    fn step(&mut self) -> Result<(), String> {
        let line = self.lines[self.at];
        self.at += 1;
        let rest = &self.lines[self.at..];
        if let Some(start) = BlockStart::of(line) {
            let path = self.path()?;
            let (edit, length) = start.block(&path, rest)?;
            self.at += length;
            self.since.clear();
            self.done.blocks.push(edit);
            return Ok(());
        }
        if self.around.as_ref().is_some_and(|it| it.closed_by(line)) {
            self.around = None;
            return Ok(());
        }
        let above = self.since.iter().rfind(|it| !it.trim().is_empty()).copied();
        match Fence::opened_by(line, above.unwrap_or_default()) {
            Some(fence) if self.around.is_none() && is_around_blocks(&fence, rest) => {
                self.around = Some(fence);
            }
            Some(mut fence) if self.around.is_none() => {
                self.at += fence.take(rest);
                self.since.push("");
                self.done.fences.push(fence);
            }
            _ => {
                self.since.push(line);
                self.done.words.push(line);
            }
        }
        Ok(())
    }

    /// Returns the path of the block that begins; empty if there is none.
    fn path(&self) -> Result<String, String> {
        let above = self.since.iter().rfind(|it| !it.trim().is_empty());
        let near = above.and_then(|it| path_of(it));
        let fence = || self.around.as_ref().and_then(Fence::path);
        if let Some(path) = near.or_else(fence) {
            return Ok(path);
        }
        let named = self.since.iter().rev().map(|it| (it, paths_in(it)));
        match named.into_iter().find(|it| !it.1.is_empty()) {
            Some((_, paths)) if paths.len() == 1 => Ok(paths[0].clone()),
            Some((line, _)) => Err(format!(
                "it is not clear which file a search/replace block is for: {:?} names several; \
                 give its path alone on the line above the block",
                line.trim()
            )),
            None => Ok(self.done.blocks.last().map(|it| it.path.clone()).unwrap_or_default()),
        }
    }
}

/// Returns whether the lines of a fence are blocks with their paths, and no text of a file that
/// shows such marks.
fn is_around_blocks(fence: &Fence, rest: &[&str]) -> bool {
    let first = rest.iter().position(|it| !it.trim().is_empty() && path_of(it).is_none());
    let start = first.and_then(|at| Some((BlockStart::of(rest[at])?, &rest[at + 1..])));
    // A text about merges shows marks with other words.
    if start.is_some_and(|(it, rest)| it.is_search() || it.block("", rest).is_ok()) {
        return true;
    }
    let body = &rest[..fence.length(rest)];
    let is_text = fence.says_python() || fence.path().is_some();
    !is_text && body.iter().any(|it| BlockStart::of(it).is_some_and(|it| it.is_search()))
}
