//! Changes of files by an answer about a failing test.

mod code;

use std::collections::BTreeMap;

use trellis_python::{TextEdits, check_no_new_errors};

use crate::complaint::Complaint;
use crate::editable_files::{EditableFiles, known_path};
use crate::edited_text::EditedText;
use crate::elision::refuse_elision;
use crate::repair::SuggestedChange;
use crate::reply::{self, Edit, Reply};
use crate::vocabulary::Suspect;

/// Returns the new texts of the files that an answer changes, by path: by its search/replace
/// blocks, or by whole definitions that replace suspects of the same name.
///
/// # Errors
///
/// A reason for the model. No Python file may get new errors.
pub fn repaired(
    answer: &str,
    suspects: &[Suspect],
    sources: &dyn EditableFiles,
) -> Result<BTreeMap<String, String>, Complaint> {
    let mut work = ReplyFiles::of(suspects, sources);
    match reply::read(answer)? {
        Reply::Nothing => {
            return Err(Complaint::without_edits("it holds no search/replace block"));
        }
        Reply::Edits(edits) => {
            work.edit_all(&without_example(edits))?;
            work.agrees_with(&reply::divide(answer)?.definitions()?)?;
        }
        Reply::Code(pieces) => pieces.iter().try_for_each(|it| work.take(it))?,
    }
    work.changed()
}

/// Returns whether an answer replaces whole definitions. Its text then comes from the request alone,
/// and knows nothing of edits made since.
pub fn replaces_definitions(answer: &str) -> bool {
    matches!(reply::read(answer), Ok(Reply::Code(_)))
}

/// Returns the explanation that an answer gives before its first change; `None` without words.
pub fn explanation(answer: &str) -> Option<String> {
    let prose = reply::prose(answer);
    let words = prose.split_whitespace().collect::<Vec<_>>();
    let mut length = 0;
    let kept = words.iter().take_while(|it| {
        length += it.chars().count() + 1;
        length <= EXPLANATION
    });
    let kept: Vec<&str> = kept.copied().collect();
    let is_whole = kept.len() == words.len();
    (!kept.is_empty()).then(|| kept.join(" ") + if is_whole { "" } else { " \u{2026}" })
}

/// Returns the new texts of the files for a fix suggested by a diagnosis.
///
/// # Errors
///
/// As for [`repaired`].
pub fn suggested(
    idea: &SuggestedChange,
    suspects: &[Suspect],
    sources: &dyn EditableFiles,
) -> Result<BTreeMap<String, String>, Complaint> {
    let mut work = ReplyFiles::of(suspects, sources);
    work.edit_all(&idea.edits)?;
    work.changed()
}

/// Maximum number of characters of an explanation.
const EXPLANATION: usize = 600;
/// Number of lines of a refused edit that a complaint repeats.
const REPEATED: usize = 8;
/// Path in the format that a question shows.
const EXAMPLE: &str = "path/to/file.py";

/// Removes blocks that repeat the format of the question, unless there are no others.
fn without_example(edits: Vec<Edit>) -> Vec<Edit> {
    let (examples, own): (Vec<Edit>, Vec<Edit>) =
        edits.into_iter().partition(|it| it.path == EXAMPLE);
    if own.is_empty() { examples } else { own }
}

impl<'a> ReplyFiles<'a> {
    fn of(suspects: &'a [Suspect], sources: &'a dyn EditableFiles) -> ReplyFiles<'a> {
        ReplyFiles { suspects, sources, texts: BTreeMap::new() }
    }
}

impl ReplyFiles<'_> {
    /// Returns the changed texts, if none of them has new Python errors.
    fn changed(self) -> Result<BTreeMap<String, String>, Complaint> {
        let changed = self.texts.into_iter().filter(|(_, (before, after))| before != after);
        let mut out = BTreeMap::new();
        for (path, (before, after)) in changed {
            refuse_elision(&path, &before, &after)?;
            let edits = TextEdits::between(&before, &after);
            check_no_new_errors(&before, &edits)
                .map_err(|why| format!("{path} would be broken: {why}"))?;
            out.insert(path, after);
        }
        if out.is_empty() { Err("it changes nothing".into()) } else { Ok(out) }
    }
}

struct ReplyFiles<'a> {
    suspects: &'a [Suspect],
    sources: &'a dyn EditableFiles,
    /// Text before and after, by path.
    texts: BTreeMap<String, (String, String)>,
}

impl ReplyFiles<'_> {
    /// Applies edits in their order. Of two edits of the same lines, the later one counts.
    fn edit_all(&mut self, edits: &[Edit]) -> Result<(), Complaint> {
        let mut of_file: BTreeMap<String, EditedText> = BTreeMap::new();
        for edit in edits {
            let path = self.file(&edit.path)?;
            let original = self.text(&path)?.clone();
            let text = of_file.entry(path.clone()).or_insert_with(|| EditedText::of(original));
            if let Err(why) = text.edit(edit)
                && !text.edit_in_place_of_earlier(edit)
            {
                return Err(misfit(&path, edit, &why));
            }
        }
        for (path, text) in of_file {
            *self.text(&path)? = text.into_text();
        }
        Ok(())
    }

    /// Resolves a path: as given, without leading folders, or empty if there is only one file.
    fn file(&self, path: &str) -> Result<String, Complaint> {
        let path = &known_path(path, self.sources);
        if self.sources.text(path).is_some() || self.sources.read_only(path).is_some() {
            return Ok(path.to_owned());
        }
        let mut paths: Vec<&str> = self.suspects.iter().map(|it| it.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        paths.retain(|it| path.is_empty() || it.ends_with(&format!("/{path}")));
        match paths[..] {
            [one] => Ok(one.to_owned()),
            [] => Err(Complaint::with_request(
                format!("there is no file {path}"),
                "; name files as the suspects are named",
            )),
            _ if path.is_empty() => Err("a block has no path above it".into()),
            _ => Err(Complaint::with_request(
                format!("{path} may be {}", paths.join(" or ")),
                "; give the whole path",
            )),
        }
    }

    fn text(&mut self, path: &str) -> Result<&mut String, Complaint> {
        if let Some(why) = self.sources.read_only(path) {
            return Err(format!("{path} may not be changed: {why}").into());
        }
        if !self.texts.contains_key(path) {
            let text = self.sources.text(path).ok_or_else(|| format!("there is no file {path}"))?;
            self.texts.insert(path.to_owned(), (text.clone(), text));
        }
        let (_, after) = self.texts.get_mut(path).ok_or_else(|| format!("there is no {path}"))?;
        Ok(after)
    }
}

fn misfit(path: &str, edit: &Edit, why: &str) -> Complaint {
    let wanted = edit.search().lines().take(REPEATED).collect::<Vec<_>>().join("\n");
    let problem = format!("the edit of {path} was refused: {why}");
    Complaint::with_request(problem, &format!(". Its lines were:\n{wanted}"))
}
