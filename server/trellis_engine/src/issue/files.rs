//! Changes of a project's files from a reply: whole files, and edits of files.

use std::collections::BTreeMap;

use trellis_python::{TextEdits, check_no_new_errors, with_ends_of};

use crate::complaint::Complaint;
use crate::editable_files::{EditableFiles, known_path};
use crate::edited_text::EditedText;
use crate::elision::refuse_elision;
use crate::reply::{self, Divided, Edit};

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
    let reply = reply::divide(answer)?;
    if let Some(refused) = wanted(&reply, sources) {
        return Err(refused);
    }
    let edits = reply.edits();
    let mut work = ReplyFiles { sources, texts: BTreeMap::new() };
    for (path, text) in reply.whole_files()? {
        work.put(&known_path(&path, sources), text)?;
    }
    for edit in &edits {
        work.edit(edit)?;
    }
    let texts = work.texts.into_iter().map(|(path, it)| (path, it.into_text()));
    let changed: Changes =
        texts.filter(|(path, it)| sources.text(path).as_ref() != Some(it)).collect();
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
fn wanted(reply: &Divided, sources: &dyn EditableFiles) -> Option<Complaint> {
    let paths = reply.words().iter().filter_map(|it| it.trim().strip_prefix(WANTED));
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
    let Ok(reply) = reply::divide(answer) else { return false };
    let files = reply.whole_files().unwrap_or_default();
    let is_same = |(path, text): &(String, String)| sources.text(path).as_ref() == Some(text);
    !files.is_empty() && files.iter().all(is_same) && reply.edits().is_empty()
}

struct ReplyFiles<'a> {
    sources: &'a dyn EditableFiles,
    texts: BTreeMap<String, EditedText<'a>>,
}

impl<'a> ReplyFiles<'a> {
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
        match self.texts.insert(path.to_owned(), EditedText::of(text)) {
            Some(_) => Err(format!("it holds {path} twice").into()),
            None => Ok(()),
        }
    }

    fn edit(&mut self, edit: &'a Edit) -> Result<(), Complaint> {
        if edit.path.is_empty() {
            return Err("a search/replace block has no path above it".to_owned().into());
        }
        let path = known_path(&edit.path, self.sources);
        self.may_change(&path)?;
        if !self.texts.contains_key(&path) {
            let Some(text) = self.sources.text(&path) else { return self.add(path, edit) };
            self.texts.insert(path.clone(), EditedText::of(text));
        }
        let edited = self.texts.get_mut(&path).map_or(Ok(()), |it| it.edit(edit));
        edited.map_err(|why| self.misfit(&path, &why))
    }

    /// Adds a file whose block searches for nothing.
    fn add(&mut self, path: String, edit: &Edit) -> Result<(), Complaint> {
        let text = edit.new_file_text().ok_or_else(|| format!("there is no file {path}"))?;
        self.texts.insert(path, EditedText::of(text.to_owned()));
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
