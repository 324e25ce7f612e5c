//! Changes of a project's files from a reply: whole files, and edits of files.

use std::collections::BTreeMap;

use trellis_python::{TextEdits, check_no_new_errors, with_ends_of};

use crate::complaint::Complaint;
use crate::editable_files::{EditableFiles, known_path};
use crate::elision::refuse_elision;
use crate::reply::{self, Edit};

/// New texts of changed files, by path.
pub type Changes = BTreeMap<String, String>;

/// Prefix of a line in a reply that asks for a file.
const WANTED: &str = "NEED ";

/// Returns the new texts of the files that a reply changes or adds.
///
/// # Errors
///
/// The reason why the reply cannot be used. No Python file may get new errors, and no file may be
/// replaced that the model has not seen.
pub fn changes(answer: &str, sources: &dyn EditableFiles) -> Result<Changes, Complaint> {
    if let Some(refused) = wanted(answer, sources) {
        return Err(refused);
    }
    let mut work = ReplyFiles { sources, texts: BTreeMap::new() };
    for (path, text) in reply::whole_files(answer)? {
        work.put(&known_path(&path, sources), text)?;
    }
    for edit in reply::edits(answer)? {
        work.edit(&edit)?;
    }
    let changed =
        work.texts.into_iter().filter(|(path, it)| sources.text(path).as_ref() != Some(it));
    let changed: Changes = changed.collect();
    if changed.is_empty() {
        let why = "it holds no file under its path, no search/replace block, or changes nothing";
        return Err(why.to_owned().into());
    }
    for (path, text) in &changed {
        refuse_elision(path, &sources.text(path).unwrap_or_default(), text)?;
    }
    for (path, text) in changed.iter().filter(|(path, _)| path.ends_with(".py")) {
        let before = sources.text(path).unwrap_or_default();
        check_no_new_errors(&before, &TextEdits::between(&before, text))
            .map_err(|why| format!("{path} would be broken: {why}"))?;
    }
    Ok(changed)
}

/// Returns the files that a reply asks to see instead of an answer.
fn wanted(answer: &str, sources: &dyn EditableFiles) -> Option<Complaint> {
    let paths = reply::words(answer).into_iter().filter_map(|it| it.trim().strip_prefix(WANTED));
    let paths = paths.map(|it| it.trim().trim_matches('`').to_owned());
    let is_hidden = |it: &String| sources.text(it).is_some() && !sources.is_shown(it);
    let show: Vec<String> = paths.filter(is_hidden).collect();
    if show.is_empty() {
        return None;
    }
    Some(Complaint::about_unseen(format!("you asked for {}: shown now", show.join(", ")), show))
}

/// Returns whether a reply holds nothing but existing files, unchanged.
pub fn is_known(answer: &str, sources: &dyn EditableFiles) -> bool {
    let files = reply::whole_files(answer).unwrap_or_default();
    let is_same = |(path, text): &(String, String)| sources.text(path).as_ref() == Some(text);
    !files.is_empty()
        && files.iter().all(is_same)
        && reply::edits(answer).is_ok_and(|it| it.is_empty())
}

struct ReplyFiles<'a> {
    sources: &'a dyn EditableFiles,
    texts: Changes,
}

impl ReplyFiles<'_> {
    fn put(&mut self, path: &str, text: String) -> Result<(), Complaint> {
        self.may_change(path)?;
        let is_new = self.sources.text(path).is_none_or(|it| it.trim().is_empty());
        if !is_new && !self.sources.is_shown(path) {
            let why = format!(
                "{path} exists, and you had not seen it whole: it is shown now; change it by blocks, so that nothing of it is lost"
            );
            return Err(Complaint::about_unseen(why, vec![path.to_owned()]));
        }
        let text = match self.sources.text(path) {
            Some(old) if !old.is_empty() => with_ends_of(&old, &text),
            _ => text,
        };
        match self.texts.insert(path.to_owned(), text) {
            Some(_) => Err(format!("it holds {path} twice").into()),
            None => Ok(()),
        }
    }

    fn edit(&mut self, edit: &Edit) -> Result<(), Complaint> {
        if edit.path.is_empty() {
            return Err("a search/replace block has no path above it".to_owned().into());
        }
        let path = known_path(&edit.path, self.sources);
        self.may_change(&path)?;
        let known = self.texts.get(&path).cloned().or_else(|| self.sources.text(&path));
        let text = match known {
            Some(text) => edit.apply(&text).map_err(|why| self.misfit(&path, &why))?,
            None => match edit.new_file_text() {
                Some(text) => text.to_owned(),
                None => return Err(format!("there is no file {path}").into()),
            },
        };
        self.texts.insert(path, text);
        Ok(())
    }

    /// Returns the error of a block that does not fit; the file is shown if the model has not seen
    /// it.
    fn misfit(&self, path: &str, why: &str) -> Complaint {
        let show = (!self.sources.is_shown(path)).then(|| path.to_owned());
        let why = format!("the edit of {path} was refused: {why}");
        Complaint::about_unseen(why, show.into_iter().collect())
    }

    fn may_change(&self, path: &str) -> Result<(), String> {
        match self.sources.read_only(path) {
            Some(why) => Err(format!("{path} may not be changed: {why}")),
            None => Ok(()),
        }
    }
}
