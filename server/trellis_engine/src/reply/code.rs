//! Python code of a reply.

use std::collections::BTreeSet;

use trellis_python::{Fragment, Item};

use super::fences::Fence;
use super::{CUT_OFF, Code, Divided};

impl<'a> Divided<'a> {
    /// Returns the last fenced `python` block that defines something, else the first one; else the
    /// first fence without a language that is Python with a definition; else the whole text if it
    /// is such code. The code may be cut off.
    pub(crate) fn code(&self) -> Option<&str> {
        let whole = || is_code(self.answer).then_some(self.answer);
        self.chosen().map(|it| it.body.as_str()).or_else(whole)
    }

    /// Returns the same code, if no run would show that a part of it is lost, as of tests.
    ///
    /// # Errors
    ///
    /// A reason for the model: a block has no end.
    pub(crate) fn whole_code(&self) -> Result<Option<&str>, String> {
        self.refuse_cut_off()?;
        match self.chosen() {
            Some(it) if !it.is_closed => Err(no_end()),
            _ => Ok(self.code()),
        }
    }

    fn chosen(&self) -> Option<&Fence> {
        // Code before it is a draft; code after it may be an example call.
        let defining = self.python().rfind(|it| is_code(&it.body));
        defining.or_else(|| self.python().next()).or_else(|| self.bare_code())
    }

    /// Returns the pieces of code that define something. A definition that a later piece repeats is
    /// a draft.
    ///
    /// # Errors
    ///
    /// A reason for the model: a block has no end.
    pub(crate) fn definitions(&self) -> Result<Vec<Code>, String> {
        self.refuse_cut_off()?;
        let kept: Vec<Code> = self
            .last_definitions()
            .map(|it| Code { path: it.path(), text: it.body.clone() })
            .collect();
        if !kept.is_empty() {
            return Ok(kept);
        }
        let only = self.code().map(|text| Code { path: None, text: text.to_owned() });
        Ok(only.into_iter().collect())
    }

    fn refuse_cut_off(&self) -> Result<(), String> {
        match self.python().all(|it| it.is_closed) {
            true => Ok(()),
            false => Err(no_end()),
        }
    }

    /// Returns the `python` blocks with a definition that no later block repeats.
    fn last_definitions(&self) -> impl Iterator<Item = &Fence> {
        let named = self.python().map(|it| (it, names(&it.body)));
        let named: Vec<(&Fence, BTreeSet<String>)> = named.filter(|it| !it.1.is_empty()).collect();
        let is_last = |at: usize| {
            let later = || named[at + 1..].iter().flat_map(|it| &it.1);
            named[at].1.iter().any(|name| later().all(|it| it != name))
        };
        let last: Vec<&Fence> =
            (0..named.len()).filter(|at| is_last(*at)).map(|at| named[at].0).collect();
        last.into_iter()
    }

    fn python(&self) -> impl DoubleEndedIterator<Item = &Fence> {
        self.parts.fences.iter().filter(|it| it.says_python())
    }

    fn bare_code(&self) -> Option<&Fence> {
        self.parts.fences.iter().find(|it| it.language.is_empty() && is_code(&it.body))
    }
}

fn no_end() -> String {
    format!("the code has no end: {CUT_OFF}")
}

/// Returns the names of the definitions of a text.
fn names(text: &str) -> BTreeSet<String> {
    let items = Fragment::parse(text).map(|it| it.items).unwrap_or_default();
    items.into_iter().filter(Item::is_definition).flat_map(|it| it.names).collect()
}

fn is_code(text: &str) -> bool {
    Fragment::parse(text).is_ok_and(|it| it.items.iter().any(Item::is_definition))
}
