//! Checks what a program loses by an edit: a binding, a use, or an initial state.
//!
//! Tests that pass with such an edit say little, since few tests look at what is lost.

mod dead_stores;
mod initial_values;
mod usage;

use std::collections::BTreeMap;
use std::ops::Range;

use super::Mutant;
use crate::semantics::lower;
use crate::syntax;
use usage::{Owner, Usages};

/// Something that an edit takes from the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The only binding of an attribute, a module's name or a local variable.
    Binding(String),
    /// The last use of a parameter or a local variable.
    Use(String),
    /// The effect of an assignment, whose target is assigned again before it is read.
    Assignment(String),
    /// The truth value or `None` that a variable or an attribute starts with.
    InitialValue(String),
}

impl Loss {
    /// Describes the loss in words: "`size` is then bound nowhere".
    pub fn describe(&self) -> String {
        match self {
            Loss::Binding(name) => format!("`{name}` is then bound nowhere"),
            Loss::Use(name) => format!("`{name}` is then unused"),
            Loss::Assignment(name) => format!("`{name}` is then assigned twice in a row"),
            Loss::InitialValue(name) => format!("it changes the value that `{name}` starts with"),
        }
    }
}

impl Mutant {
    /// Returns what the source loses by the edit; `None` if it loses nothing, or the result is not
    /// valid Python.
    pub fn loss(&self, source: &str) -> Option<Loss> {
        let text = self.apply(source)?;
        let (before, after) = (syntax::parse(source).ok()?, syntax::parse(&text).ok()?);
        let usages = [source, &text].map(|it| Usages::of(&lower(it)));
        lost_binding(&usages, &self.range)
            .or_else(|| {
                let before = dead_stores::dead_stores(source, before.suite());
                more(&before, &dead_stores::dead_stores(&text, after.suite()))
            })
            .or_else(|| lost_use(&usages))
            .or_else(|| {
                let changed = initial_values::changed(source, before.suite(), &self.range)?;
                changed_state(&usages[0], changed)
            })
    }
}

/// Returns a name without a binding after the edit of a range, if other code may read it.
fn lost_binding([before, after]: &[Usages; 2], edited: &Range<usize>) -> Option<Loss> {
    let is_renamed =
        |of: Owner| after.bound().any(|(owner, name)| owner == of && !before.is_bound(of, name));
    let lost = before.bound().find(|(owner, name)| {
        let is_read = before.reads(*owner, name).any(|at| !edited.contains(&at));
        let is_public = !owner.is_function() && !name.starts_with('_') && !is_renamed(*owner);
        !after.is_bound(*owner, name) && (is_read || is_public)
    });
    lost.map(|(_, name)| Loss::Binding(name.to_owned()))
}

/// Returns a name of a function that is bound after the edit, and no longer read.
fn lost_use([before, after]: &[Usages; 2]) -> Option<Loss> {
    let lost = after.bound().find(|(owner, name)| {
        let is_unread = |it: &Usages| it.uses(*owner, name) == 0;
        let is_exempt = name.starts_with('_') || matches!(*name, "self" | "cls");
        owner.is_function() && !is_exempt && is_unread(after) && !is_unread(before)
    });
    lost.map(|(_, name)| Loss::Use(name.to_owned()))
}

/// Returns the loss of an initial value. A constant of the module, which is assigned once, has no
/// state that begins with it.
fn changed_state(usages: &Usages, (name, is_top): (&str, bool)) -> Option<Loss> {
    let is_constant = is_top && usages.bindings(Owner::Module, name) < 2;
    (!is_constant).then(|| Loss::InitialValue(name.to_owned()))
}

/// Returns a target with more dead stores than before.
fn more(before: &BTreeMap<String, usize>, after: &BTreeMap<String, usize>) -> Option<Loss> {
    let count = |name: &String| before.get(name).copied().unwrap_or_default();
    let found = after.iter().find(|(name, now)| **now > count(name));
    found.map(|(name, _)| Loss::Assignment(name.clone()))
}
