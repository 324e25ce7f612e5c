//! Names of which code of the workspace makes data, or which it takes from data.

use super::eval::Eval;
use super::ir::*;
use super::meaning::Target;
use super::names::{KNOWN, Name};
use super::types::ClassType;
use crate::index::{FileId, Word};

impl Eval<'_> {
    /// Returns what keeps a symbol from having another name, as a sentence; `None` if nothing does.
    pub(crate) fn fixed_name(&self, target: Target) -> Option<String> {
        let Target::Symbol(file, symbol) = target else { return None };
        let module = self.module(file);
        let it = module.symbol(symbol);
        match module.scopes[it.scope.index()].kind {
            ScopeKind::Class(class) => self.of_data(file, class, symbol),
            _ => None,
        }
    }

    /// Returns the reason for a member of an enum that code looks up by a name from data.
    fn of_data(&self, file: FileId, class: ClassId, symbol: SymbolId) -> Option<String> {
        let module = self.module(file);
        let mut bindings = module.symbol(symbol).bindings.iter();
        let is_value = bindings.any(|it| matches!(module.binding(*it).kind, BindingKind::Value(_)));
        if !is_value || !self.class(file, class).is_enum {
            return None;
        }
        if self.is_counted(file, symbol) && self.is_named_by_members(file, class) {
            return Some("its value is made of its name (`auto()`)".to_owned());
        }
        let of = ClassType::bare(file, class);
        let word = Word::of(self.index.class_name(&of));
        let mut files = self.index.files().filter(|it| self.index.words(*it).has(word));
        let place = files.find(|it| self.is_looked_up_by_data(*it, &of))?;
        let (of, place) = (self.index.class_name(&of), self.index.path(place));
        Some(format!("{place} looks up members of `{of}` by names that only a run knows"))
    }

    /// Returns whether `auto()` makes the values of an enum's members of their names.
    fn is_named_by_members(&self, file: FileId, class: ClassId) -> bool {
        let own = self.own_class_type(file, class);
        let maker = self.member(&own, Name::of("_generate_next_value_"), 0);
        let is_own = maker.is_some_and(|it| super::bundle::number(it.file).is_none());
        let info = self.class(file, class);
        is_own || info.mro.iter().any(|it| self.is_bundled(it, KNOWN.str_enum))
    }
}
