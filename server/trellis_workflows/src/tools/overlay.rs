//! The files that tools work on: texts in memory, with an index kept in step.

use std::collections::BTreeMap;
use std::sync::Arc;

use trellis_python::{FileId, Index, TextEdits, Words};

use super::paths;
use super::truncate::{clipped, counted};
use crate::convert::Files;
use trellis_project::sources;

/// Changed files: the new text, or `None` for a deleted file.
pub type Changes = BTreeMap<String, Option<Arc<str>>>;

/// Returns the reason why a file is read-only, if it is.
pub(super) type ReadOnly = dyn Fn(&str) -> Option<&'static str> + Send + Sync;

/// A copy of a project's files. A clone is a cheap snapshot.
#[derive(Clone)]
pub(super) struct Overlay {
    files: Arc<Files>,
    before: Arc<Files>,
    index: Index,
    read_only: Arc<ReadOnly>,
    /// Maximum bytes of one file.
    most: usize,
}

impl Overlay {
    /// Creates the copy. Files whose paths no tool accepts are left out.
    pub(super) fn new(files: &Files, read_only: Arc<ReadOnly>, most: usize) -> Overlay {
        let fits = |path: &String| paths::file(path).is_ok_and(|it| it == *path);
        let fitting = files.iter().filter(|(path, _)| fits(path));
        let files: Files = fitting.map(|(path, text)| (path.clone(), text.clone())).collect();
        let python = files.iter().filter(|(path, _)| is_python(path));
        let index = sources::of_texts(python.map(|(path, text)| (path.as_str(), text)));
        let files = Arc::new(files);
        Overlay { before: files.clone(), files, index, read_only, most }
    }

    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// Returns the files as given at the start.
    pub(super) fn before(&self) -> Arc<Files> {
        self.before.clone()
    }

    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the reason why a file, existing or not, may not be changed.
    pub(super) fn read_only(&self, path: &str) -> Option<&'static str> {
        (self.read_only)(path)
    }

    /// Returns an existing file: its normalized path and its text.
    pub(super) fn file(&self, path: &str) -> Result<(String, Arc<str>), String> {
        let path = paths::file(path)?;
        let text = self.files.get(&path).cloned().ok_or_else(|| self.missing(&path))?;
        Ok((path, text))
    }

    /// Returns an existing Python file.
    pub(super) fn python(&self, path: &str) -> Result<(FileId, String, Arc<str>), String> {
        let (path, text) = self.file(path)?;
        let file = self.index.file(&path).ok_or_else(|| {
            format!("{path} is no Python file, and has no symbols; use the tools for files on it")
        })?;
        Ok((file, path, text))
    }

    fn missing(&self, path: &str) -> String {
        if self.is_folder(path) {
            return format!("{path} is a folder; list_files shows what is in it");
        }
        let name = path.rsplit('/').next();
        let same = self.files.keys().filter(|it| it.rsplit('/').next() == name).take(5);
        let same: Vec<&str> = same.map(String::as_str).collect();
        let path = clipped(path, 200);
        match same[..] {
            [] => format!("there is no file {path}; list_files shows what there is"),
            _ => format!("there is no file {path}; there is {}", same.join(", ")),
        }
    }

    /// Returns whether files lie below a path.
    pub(super) fn is_folder(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let mut behind = self.files.range(below.clone()..);
        path.is_empty() || behind.next().is_some_and(|(it, _)| it.starts_with(&below))
    }

    /// Applies edits to a file's current text.
    ///
    /// # Errors
    ///
    /// The reason why the edit is refused: the file is read-only, would be too long, or would gain
    /// syntax errors.
    pub(super) fn edited(&self, path: &str, edits: &TextEdits) -> Result<Changed, String> {
        let refused = |why: String| format!("{path} was not changed: {why}");
        let (path, before) = self.file(path)?;
        self.may_change(&path).map_err(refused)?;
        if is_python(&path) {
            trellis_python::check_no_new_errors(&before, edits)
                .map_err(|it| refused(it.to_string()))?;
        }
        let after = edits.apply(&before);
        self.may_hold(&after).map_err(refused)?;
        Ok(Changed { path, after: Some(after.into()) })
    }

    /// Replaces the text of a file, or creates the file.
    ///
    /// # Errors
    ///
    /// The reasons of [`Overlay::edited`]; and a path at which no file can be created.
    pub(super) fn written(&self, path: &str, text: &str) -> Result<Changed, String> {
        let path = paths::file(path)?;
        let refused = |why: String| format!("{path} was not written: {why}");
        self.may_change(&path).map_err(refused)?;
        self.may_hold(text).map_err(refused)?;
        let before = self.files.get(&path).cloned();
        if before.is_none() {
            self.may_be_new(&path).map_err(refused)?;
        }
        if is_python(&path) {
            let before = before.unwrap_or_default();
            no_worse(&before, text).map_err(|it| refused(it.to_string()))?;
        }
        Ok(Changed { path, after: Some(text.into()) })
    }

    /// Deletes a file.
    pub(super) fn deleted(&self, path: &str) -> Result<Changed, String> {
        let (path, _) = self.file(path)?;
        self.may_change(&path).map_err(|why| format!("{path} was not deleted: {why}"))?;
        Ok(Changed { path, after: None })
    }

    fn may_change(&self, path: &str) -> Result<(), String> {
        match self.read_only(path) {
            Some(why) => Err(format!("it is read-only: {why}")),
            None => Ok(()),
        }
    }

    fn may_hold(&self, text: &str) -> Result<(), String> {
        if text.contains('\0') {
            return Err("the text has a NUL character; write files of text only".to_owned());
        }
        if text.len() > self.most {
            let (length, most) = (text.len(), self.most);
            return Err(format!(
                "it would have {length} bytes, and {most} are allowed; split it into several files"
            ));
        }
        Ok(())
    }

    /// Checks that a new file can be created at a path.
    fn may_be_new(&self, path: &str) -> Result<(), String> {
        if self.is_folder(path) {
            return Err("it is a folder; name a file in it".to_owned());
        }
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        if let Some(file) = above.into_iter().find(|it| self.files.contains_key(*it)) {
            return Err(format!("{file} is a file, so that nothing can be in it"));
        }
        let lower = path.to_lowercase();
        match self.files.keys().find(|it| it.to_lowercase() == lower) {
            Some(other) => Err(format!(
                "there is {other}, which many file systems take for the same; spell it so, or \
                 choose another name"
            )),
            None => Ok(()),
        }
    }

    /// Applies changes, which must be made for the current files.
    pub(super) fn take(&mut self, changes: Vec<Changed>) {
        let files = Arc::make_mut(&mut self.files);
        for Changed { path, after } in changes {
            match after {
                Some(text) => {
                    if is_python(&path) {
                        self.index.put(&path, Words::of(&text), Some(text.clone()));
                    }
                    files.insert(path, text);
                }
                None => {
                    self.index.remove(&path);
                    files.remove(&path);
                }
            }
        }
    }

    /// Returns the differences from the start.
    pub(super) fn changes(&self) -> Changes {
        let is_new = |(path, text): &(&String, &Arc<str>)| self.before.get(*path) != Some(*text);
        let new = self.files.iter().filter(is_new);
        let gone = self.before.keys().filter(|path| !self.files.contains_key(*path));
        new.map(|(path, text)| (path.clone(), Some(text.clone())))
            .chain(gone.map(|path| (path.clone(), None)))
            .collect()
    }
}

/// One changed file; `after` is `None` for a deleted file.
pub(super) struct Changed {
    pub(super) path: String,
    pub(super) after: Option<Arc<str>>,
}

/// Checks that a new text is valid Python, or at least has no syntax error that the old text lacks.
fn no_worse(before: &str, after: &str) -> Result<(), trellis_python::Refused> {
    let new = trellis_python::check_no_new_errors("", &TextEdits::between("", after));
    if new.is_ok() || before.is_empty() {
        return new;
    }
    trellis_python::check_no_new_errors(before, &TextEdits::between(before, after))
}

pub(super) fn is_python(path: &str) -> bool {
    sources::is_source(path.as_ref())
}

/// Returns `shop.py (12 lines)`, with a mark if the file is read-only.
pub(super) fn shown(copy: &Overlay, path: &str, text: &str) -> String {
    let lines = counted(super::truncate::count(text), "line");
    let read_only = if copy.read_only(path).is_some() { ", read-only" } else { "" };
    format!("{path} ({lines}{read_only})")
}
