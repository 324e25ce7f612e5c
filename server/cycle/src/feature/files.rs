//! What an answer makes of the files of a project: whole files, and edits of files.

use std::collections::BTreeMap;

use code::{TextEdits, no_worse};

use crate::repair::Sources;
use crate::reply::{self, Edit};

/// By path, the texts that an answer leaves.
pub type Changes = BTreeMap<String, String>;

/// Why an answer cannot be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// In words for the model.
    pub why: String,
    /// Files that it would have to see first.
    pub show: Vec<String>,
}

impl From<String> for Refused {
    fn from(why: String) -> Refused {
        Refused { why, show: Vec::new() }
    }
}

/// Begins a line of an answer that asks for a file.
const WANTED: &str = "NEED ";

/// The new texts of the files that an answer changes or adds.
///
/// # Errors
///
/// Why it cannot be used. No Python file is worse than it was, and none is replaced that the model has not seen.
pub fn changes(answer: &str, sources: &dyn Sources) -> Result<Changes, Refused> {
    if let Some(refused) = wanted(answer, sources) {
        return Err(refused);
    }
    let mut work = Work { sources, texts: BTreeMap::new() };
    for (path, text) in reply::whole_files(answer) {
        work.put(&path, text)?;
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
    for (path, text) in changed.iter().filter(|(path, _)| path.ends_with(".py")) {
        let before = sources.text(path).unwrap_or_default();
        no_worse(&before, &TextEdits::between(&before, text))
            .map_err(|why| format!("{path} would be broken: {why}"))?;
    }
    Ok(changed)
}

/// Files that it asks to see, in place of an answer.
fn wanted(answer: &str, sources: &dyn Sources) -> Option<Refused> {
    let paths = answer.lines().filter_map(|it| it.trim().strip_prefix(WANTED));
    let paths = paths.map(|it| it.trim().trim_matches('`').to_owned());
    let is_hidden = |it: &String| sources.text(it).is_some() && !sources.is_shown(it);
    let show: Vec<String> = paths.filter(is_hidden).collect();
    if show.is_empty() {
        return None;
    }
    Some(Refused { why: format!("you asked for {}: shown now", show.join(", ")), show })
}

/// Whether an answer gives nothing but files that are there, as they are.
pub fn is_known(answer: &str, sources: &dyn Sources) -> bool {
    let files = reply::whole_files(answer);
    let is_same = |(path, text): &(String, String)| sources.text(path).as_ref() == Some(text);
    !files.is_empty()
        && files.iter().all(is_same)
        && reply::edits(answer).is_ok_and(|it| it.is_empty())
}

struct Work<'a> {
    sources: &'a dyn Sources,
    texts: Changes,
}

impl Work<'_> {
    fn put(&mut self, path: &str, text: String) -> Result<(), Refused> {
        self.may_change(path)?;
        let is_new = self.sources.text(path).is_none_or(|it| it.trim().is_empty());
        if !is_new && !self.sources.is_shown(path) {
            let why = format!(
                "{path} exists, and you had not seen it whole: it is shown now; change it by blocks, so that nothing of it is lost"
            );
            return Err(Refused { why, show: vec![path.to_owned()] });
        }
        match self.texts.insert(path.to_owned(), text) {
            Some(_) => Err(format!("it holds {path} twice").into()),
            None => Ok(()),
        }
    }

    fn edit(&mut self, edit: &Edit) -> Result<(), Refused> {
        if edit.path.is_empty() {
            return Err("a search/replace block has no path above it".to_owned().into());
        }
        self.may_change(&edit.path)?;
        let known = self.texts.get(&edit.path).cloned().or_else(|| self.sources.text(&edit.path));
        let text = match known {
            Some(text) => edit.applied_to(&text).map_err(|why| self.misfit(&edit.path, &why))?,
            None => match edit.whole() {
                Some(text) => text.to_owned(),
                None => return Err(format!("there is no file {}", edit.path).into()),
            },
        };
        self.texts.insert(edit.path.clone(), text);
        Ok(())
    }

    /// A block that does not fit, for want of having seen the file perhaps.
    fn misfit(&self, path: &str, why: &str) -> Refused {
        let show = (!self.sources.is_shown(path)).then(|| path.to_owned());
        Refused {
            why: format!("the edit of {path} was refused: {why}"),
            show: show.into_iter().collect(),
        }
    }

    fn may_change(&self, path: &str) -> Result<(), String> {
        match self.sources.read_only(path) {
            Some(why) => Err(format!("{path} may not be changed: {why}")),
            None => Ok(()),
        }
    }
}
