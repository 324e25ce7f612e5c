//! Whole files of a reply.

use std::collections::BTreeSet;

use super::fences::Fence;
use super::paths::paths_in;
use super::{CUT_OFF, Divided};

impl Divided<'_> {
    /// Returns the files of the reply, as path and text. The path is above the fence, beside its
    /// language, or in a comment in its first line.
    ///
    /// # Errors
    ///
    /// A reason for the model: a file has no end, or it is not clear whether a fence is a file.
    pub(crate) fn whole_files(&self) -> Result<Vec<(String, String)>, String> {
        let files = self.parts.fences.iter().map(whole_file);
        let files = files.filter_map(Result::transpose).collect::<Result<Vec<_>, String>>()?;
        let edited = self.parts.blocks.iter().map(|it| &it.path);
        let known: BTreeSet<&String> = files.iter().map(|it| &it.0).chain(edited).collect();
        match self.parts.fences.iter().find_map(|it| unclear(it, &known)) {
            Some(path) if !known.is_empty() => Err(format!(
                "it is not clear whether a fence is the text of {path}: give the path alone on \
                 the line above it, or leave out what is not a file"
            )),
            _ => Ok(files),
        }
    }

    /// Returns the text of one file: the fence with its path, else the only fence if that has no
    /// path.
    ///
    /// # Errors
    ///
    /// A reason for the model: there is no such fence, or it has no end.
    pub(crate) fn file(&self, path: &str) -> Result<&str, String> {
        let fences = &self.parts.fences;
        let named = fences.iter().find(|it| it.path().as_deref() == Some(path));
        let only = || fences.first().filter(|it| fences.len() == 1 && it.path().is_none());
        match named.or_else(only) {
            Some(it) if it.is_closed => Ok(&it.body),
            Some(_) => Err(no_end(path)),
            None => Err(format!("it does not hold {path}")),
        }
    }
}

/// Returns the file that a fence holds; `None` if it is no file.
fn whole_file(fence: &Fence) -> Result<Option<(String, String)>, String> {
    if let Some(path) = fence.path().filter(|it| fence.is_change_of(it)) {
        return Err(format!("a diff of {path} cannot be used: give search/replace blocks"));
    }
    match fence.file() {
        Some((path, _)) if !fence.is_closed => Err(no_end(&path)),
        file => Ok(file.map(|(path, body)| (path, body.to_owned()))),
    }
}

/// Returns the path that the line above a fence names beside other words, if no part of the reply
/// is for that file.
fn unclear(fence: &Fence, known: &BTreeSet<&String>) -> Option<String> {
    let is_introduced = fence.file().is_none() && fence.above.trim_end().ends_with(':');
    let mut named = paths_in(&fence.above);
    let is_one = is_introduced && named.len() == 1 && !fence.is_of_commands();
    named.pop().filter(|it| is_one && !known.contains(it))
}

fn no_end(path: &str) -> String {
    format!("the text of {path} has no end: {CUT_OFF}")
}
