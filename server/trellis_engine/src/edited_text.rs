//! The text of a file with the edits of one reply.

use trellis_python::{TextEdit, TextEdits};

use crate::reply::Edit;

/// A text that edits change one after the other. All of them were written for the original.
pub(crate) struct EditedText<'e> {
    original: String,
    text: String,
    /// The edits that count, in their order.
    edits: Vec<&'e Edit>,
}

impl<'e> EditedText<'e> {
    pub(crate) fn of(original: String) -> EditedText<'e> {
        EditedText { text: original.clone(), original, edits: Vec::new() }
    }

    /// Applies an edit to the text, or, if only the original holds its lines, to those.
    ///
    /// # Errors
    ///
    /// The reason why the edit does not fit, or that another edit changes its lines.
    pub(crate) fn edit(&mut self, edit: &'e Edit) -> Result<(), String> {
        // What stood in the text that the model saw is not what another edit has made.
        let is_of_original = !edit.is_exact_in(&self.text) && edit.is_exact_in(&self.original);
        let merged = || self.merged(edit).ok_or("another edit changes its lines".to_owned());
        self.text = if is_of_original { merged()? } else { edit.apply(&self.text)? };
        self.edits.push(edit);
        Ok(())
    }

    /// Applies an edit in place of an earlier one of the same lines, else of all from one on.
    /// Returns whether it can be applied so; nothing changes if not.
    pub(crate) fn edit_in_place_of_earlier(&mut self, edit: &'e Edit) -> bool {
        let found = self.without_one(edit).or_else(|| self.without_last(edit));
        let Some((text, edits)) = found else { return false };
        (self.text, self.edits) = (text, edits);
        true
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Returns the text with an edit of the original merged into it, if other edits changed other
    /// lines. What another edit has made already is not made twice.
    fn merged(&self, edit: &Edit) -> Option<String> {
        let original = &self.original;
        let own = TextEdits::between(original, &edit.apply(original).ok()?);
        let others = TextEdits::between(original, &self.text);
        let others = others.as_slice();
        let new: Vec<&TextEdit> = own.as_slice().iter().filter(|it| !others.contains(it)).collect();
        if new.iter().any(|it| others.iter().any(|other| insert_there(it, other))) {
            return None;
        }
        let all = others.iter().chain(new).cloned();
        Some(TextEdits::new(original, all).ok()?.apply(original))
    }

    fn without_one(&self, edit: &'e Edit) -> Option<(String, Vec<&'e Edit>)> {
        (0..self.edits.len()).rev().find_map(|at| {
            let mut kept = self.edits.clone();
            kept.remove(at);
            let text = self.with(&kept).ok().filter(|it| edit.is_exact_in(it))?;
            kept.push(edit);
            Some((edit.apply(&text).ok()?, kept))
        })
    }

    fn without_last(&self, edit: &'e Edit) -> Option<(String, Vec<&'e Edit>)> {
        (0..self.edits.len()).rev().find_map(|count| {
            let kept: Vec<&Edit> = self.edits[..count].iter().copied().chain([edit]).collect();
            Some((self.with(&kept).ok()?, kept))
        })
    }

    fn with(&self, edits: &[&Edit]) -> Result<String, String> {
        edits.iter().try_fold(self.original.clone(), |text, it| it.apply(&text))
    }
}

/// Returns whether two edits touch, and one of them only inserts: both may make the same lines.
fn insert_there(one: &TextEdit, other: &TextEdit) -> bool {
    let (a, b) = (&one.range, &other.range);
    (a.is_empty() || b.is_empty()) && a.start <= b.end && b.start <= a.end
}
