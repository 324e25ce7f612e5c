//! What an answer makes of the files of a project: whole files, and edits of files.

use std::collections::BTreeMap;

use code::{TextEdits, no_worse};

use crate::repair::Sources;
use crate::reply::{self, Edit};

/// By path, the texts that an answer leaves.
pub type Changes = BTreeMap<String, String>;

/// The new texts of the files that an answer changes or adds.
///
/// # Errors
///
/// Why it cannot be used, in words for the model. No Python file is worse than it was.
pub fn changes(answer: &str, sources: &dyn Sources) -> Result<Changes, String> {
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
        return Err(
            "it holds no file under its path, no search/replace block, or changes nothing".into()
        );
    }
    for (path, text) in changed.iter().filter(|(path, _)| path.ends_with(".py")) {
        let before = sources.text(path).unwrap_or_default();
        no_worse(&before, &TextEdits::between(&before, text))
            .map_err(|why| format!("{path} would be broken: {why}"))?;
    }
    Ok(changed)
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
    fn put(&mut self, path: &str, text: String) -> Result<(), String> {
        self.may_change(path)?;
        match self.texts.insert(path.to_owned(), text) {
            Some(_) => Err(format!("it holds {path} twice")),
            None => Ok(()),
        }
    }

    fn edit(&mut self, edit: &Edit) -> Result<(), String> {
        if edit.path.is_empty() {
            return Err("a search/replace block has no path above it".to_owned());
        }
        self.may_change(&edit.path)?;
        let known = self.texts.get(&edit.path).cloned().or_else(|| self.sources.text(&edit.path));
        let text = match known {
            Some(text) => {
                let refused = |why| format!("the edit of {} was refused: {why}", edit.path);
                edit.applied_to(&text).map_err(refused)?
            }
            None => match edit.whole() {
                Some(text) => text.to_owned(),
                None => return Err(format!("there is no file {}", edit.path)),
            },
        };
        self.texts.insert(edit.path.clone(), text);
        Ok(())
    }

    fn may_change(&self, path: &str) -> Result<(), String> {
        match self.sources.read_only(path) {
            Some(why) => Err(format!("{path} may not be changed: {why}")),
            None => Ok(()),
        }
    }
}
