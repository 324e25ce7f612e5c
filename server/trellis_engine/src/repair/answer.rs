//! Changes of files by an answer about a failing test.

mod code;

use std::collections::BTreeMap;

use trellis_python::{TextEdits, check_no_new_errors};

use crate::complaint::Complaint;
use crate::editable_files::{EditableFiles, known_path};
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
            work.agrees_with(&reply::definitions(answer)?)?;
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
    /// Applies edits in their order.
    fn edit_all(&mut self, edits: &[Edit]) -> Result<(), Complaint> {
        let mut of_file: BTreeMap<String, Vec<&Edit>> = BTreeMap::new();
        for edit in edits {
            let path = self.file(&edit.path)?;
            let before = of_file.entry(path.clone()).or_default();
            *before = self.edit(&path, edit, before)?;
        }
        Ok(())
    }

    /// Applies an edit after the edits `before` of the same file. Of two edits of the same lines,
    /// the later one counts. Returns the edits that count.
    fn edit<'e>(
        &mut self,
        path: &str,
        edit: &'e Edit,
        before: &[&'e Edit],
    ) -> Result<Vec<&'e Edit>, Complaint> {
        self.text(path)?;
        let (original, text) =
            self.texts.get_mut(path).ok_or_else(|| format!("there is no {path}"))?;
        let all = || before.iter().copied().chain([edit]).collect();
        let is_of_original = !edit.is_exact_in(text) && edit.is_exact_in(original);
        if is_of_original && let Some(merged) = merged(original, text, edit) {
            *text = merged;
            return Ok(all());
        }
        let why = match edit.apply(text) {
            // What stood in the text that the model saw is not what another edit has made.
            Ok(changed) if !is_of_original => {
                *text = changed;
                return Ok(all());
            }
            Ok(_) => "another edit changes its lines".to_owned(),
            Err(why) => why,
        };
        if let Some((changed, kept)) = without_one(original, before, edit) {
            *text = changed;
            return Ok(kept);
        }
        let with = |kept: &[&Edit]| {
            let start = Ok(original.clone());
            kept.iter().chain([&edit]).fold(start, |text, it| it.apply(&text?))
        };
        for count in (0..before.len()).rev() {
            if let Ok(changed) = with(&before[..count]) {
                *text = changed;
                return Ok(before[..count].iter().copied().chain([edit]).collect());
            }
        }
        let wanted = edit.search().lines().take(REPEATED).collect::<Vec<_>>().join("\n");
        let problem = format!("the edit of {path} was refused: {why}");
        Err(Complaint::with_request(problem, &format!(". Its lines were:\n{wanted}")))
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

/// Returns a text with an edit of the original merged into it, if other edits changed other lines.
fn merged(original: &str, text: &str, edit: &Edit) -> Option<String> {
    let own = TextEdits::between(original, &edit.apply(original).ok()?);
    let others = TextEdits::between(original, text);
    let all = others.as_slice().iter().chain(own.as_slice()).cloned();
    Some(TextEdits::new(original, all).ok()?.apply(original))
}

/// Returns the original with all edits but one of the earlier, which changes the same lines, with
/// the edits that are left.
fn without_one<'e>(
    original: &str,
    before: &[&'e Edit],
    edit: &'e Edit,
) -> Option<(String, Vec<&'e Edit>)> {
    let fits = |kept: &[&Edit]| {
        let text = kept.iter().try_fold(original.to_owned(), |text, it| it.apply(&text)).ok()?;
        edit.is_exact_in(&text).then(|| edit.apply(&text).ok()).flatten()
    };
    (0..before.len()).rev().find_map(|at| {
        let mut kept = before.to_vec();
        kept.remove(at);
        let changed = fits(&kept)?;
        kept.push(edit);
        Some((changed, kept))
    })
}
