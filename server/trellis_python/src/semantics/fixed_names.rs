//! Names of which code of the workspace makes data, or which it takes from data.

use super::composed::compounds;
use super::eval::Eval;
use super::ir::*;
use super::meaning::Target;
use super::names::Name;
use super::types::ClassType;
use crate::index::{FileId, Word, WordSet};

impl Eval<'_> {
    /// Returns what keeps a symbol from having another name, as a sentence; `None` if nothing does.
    pub(crate) fn fixed_name(&self, target: Target) -> Option<String> {
        let Target::Symbol(file, symbol) = target else { return None };
        let module = self.module(file);
        let it = module.symbol(symbol);
        match module.scopes[it.scope.index()].kind {
            _ if self.is_class(target) => self.named_after_class(it.name),
            ScopeKind::Class(class) => self.of_data(file, class, symbol),
            _ => None,
        }
    }

    /// Returns the reason for a class after which a method of a visitor is named: the visitor finds
    /// the method by the class's name.
    fn named_after_class(&self, name: Name) -> Option<String> {
        let names = compounds(self.index, &[name]);
        let words = WordSet::of(names.iter().map(|it| it.text()));
        let mut files = self.index.files().filter(|it| self.index.words(*it).has_any(&words));
        let (owner, method) = files.find_map(|file| {
            let module = self.module(file);
            module.classes.iter().find_map(|class| {
                let bound = |it: &&Name| module.bound(class.scope, **it).is_some();
                names.iter().find(bound).map(|it| (class.name.text(), it.text()))
            })
        })?;
        Some(format!("`{owner}.{method}` is found by the name of the class; rename it first"))
    }

    /// Returns the reason for a member of an enum that code looks up by a name from data.
    fn of_data(&self, file: FileId, class: ClassId, symbol: SymbolId) -> Option<String> {
        let module = self.module(file);
        let mut bindings = module.symbol(symbol).bindings.iter();
        let is_value = bindings.any(|it| matches!(module.binding(*it).kind, BindingKind::Value(_)));
        if !is_value || !self.class(file, class).is_enum {
            return None;
        }
        let of = ClassType::bare(file, class);
        let word = Word::of(self.index.class_name(&of));
        let mut files = self.index.files().filter(|it| self.index.words(*it).has(word));
        let place = files.find(|it| self.is_looked_up_by_data(*it, &of))?;
        let (of, place) = (self.index.class_name(&of), self.index.path(place));
        Some(format!("{place} looks up members of `{of}` by names that only a run knows"))
    }
}
