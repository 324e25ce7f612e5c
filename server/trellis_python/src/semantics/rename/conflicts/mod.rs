//! Detects conflicts with the new name: in the scopes that would bind it, between a use and its
//! binding, and among names that would be captured.

mod non_lexical;
mod scopes;

use rustc_hash::FxHashSet;

use super::family;
use crate::index::{FileId, Index, Place, RenameRefused};
use crate::semantics::ask::ask;
use crate::semantics::eval::Eval;
use crate::semantics::ir::*;
use crate::semantics::meaning::Target;
use crate::semantics::names::Name;
use crate::semantics::search::Match;
use crate::standard_library;

/// Refuses a rename that would change the meaning of any name.
pub(super) fn refuse(
    index: &Index,
    targets: &FxHashSet<Target>,
    matches: &[&Match],
    from: Name,
    to: &str,
) -> Result<(), RenameRefused> {
    ask(index, |eval| {
        let check = Check { eval, targets, matches, from, to: Name::of(to) };
        check.builtin()?;
        check.own_scopes()?;
        check.importing_scopes()?;
        check.uses()?;
        check.captured()?;
        check.released()?;
        check.members()?;
        check.keywords()?;
        check.star_imports()?;
        check.submodules()?;
        check.fields()?;
        check.members_of_enums()?;
        check.hooks()?;
        check.fixtures()?;
        check.private()
    })
}

struct Check<'c, 'i> {
    eval: &'c Eval<'i>,
    targets: &'c FxHashSet<Target>,
    matches: &'c [&'c Match],
    from: Name,
    to: Name,
}

type Checked = Result<(), RenameRefused>;

impl Check<'_, '_> {
    fn conflict(&self, what: String, place: Option<Place>) -> Checked {
        Err(RenameRefused::Clash { to: self.to.text().to_owned(), what, place })
    }

    fn symbols(&self) -> impl Iterator<Item = (FileId, SymbolId)> + '_ {
        self.targets.iter().filter_map(|it| match it {
            Target::Symbol(file, symbol) => Some((*file, *symbol)),
            _ => None,
        })
    }

    fn scope_of(&self, file: FileId, symbol: SymbolId) -> ScopeId {
        self.eval.module(file).symbol(symbol).scope
    }

    fn is_member(&self, file: FileId, symbol: SymbolId) -> bool {
        let scope = self.scope_of(file, symbol);
        matches!(self.eval.module(file).scopes[scope.index()].kind, ScopeKind::Class(_))
    }

    fn all_members(&self) -> bool {
        self.symbols().all(|(file, symbol)| self.is_member(file, symbol))
    }

    fn builtin(&self) -> Checked {
        if standard_library::is_builtin(self.to.text()) && !self.all_members() {
            return Err(RenameRefused::Builtin { to: self.to.text().to_owned() });
        }
        Ok(())
    }

    /// Returns the position at which a scope binds the new name.
    fn bound(&self, file: FileId, scope: ScopeId) -> Option<Place> {
        let module = self.eval.module(file);
        let symbol = module.symbol(module.bound(scope, self.to)?);
        let first = module.binding(*symbol.bindings.first()?);
        let at = first.at as usize;
        Some(Place { file, range: at..at + self.to.text().len() })
    }

    fn describe(&self, file: FileId, scope: ScopeId) -> String {
        let module = self.eval.module(file);
        let path = self.eval.index.path(file);
        match module.scopes[scope.index()].kind {
            ScopeKind::Module => format!("{path} binds it"),
            ScopeKind::Class(class) => {
                format!("class `{}` in {path} has it", module.class(class).name.text())
            }
            ScopeKind::Function(function) => {
                let name = module.function(function).name.map_or("a lambda", Name::text);
                format!("function `{name}` in {path} binds it")
            }
            _ => format!("a scope in {path} binds it"),
        }
    }

    fn refuse_bound(&self, file: FileId, scope: ScopeId) -> Checked {
        match self.bound(file, scope) {
            Some(place) => self.conflict(self.describe(file, scope), Some(place)),
            None => Ok(()),
        }
    }

    /// Checks the scopes that bind the renamed symbols.
    fn own_scopes(&self) -> Checked {
        self.symbols().try_for_each(|(file, symbol)| {
            let scope = self.scope_of(file, symbol);
            self.refuse_bound(file, scope)?;
            self.refuse_starred(file, scope)
        })
    }

    /// Checks the names that a star import brings into a module; they are bound there as well.
    fn refuse_starred(&self, file: FileId, scope: ScopeId) -> Checked {
        let found =
            (scope == ScopeId(0)).then(|| self.eval.starred(file, self.to, &mut Vec::new()));
        match found.flatten() {
            Some(_) => self.conflict(
                format!("a star import brings it into {}", self.eval.index.path(file)),
                None,
            ),
            None => Ok(()),
        }
    }

    /// Returns the scopes into which an import statement brings the name.
    fn importing(&self) -> impl Iterator<Item = (FileId, ScopeId)> + '_ {
        self.matches.iter().filter_map(|it| match it.occurrence.role {
            Role::Binding(binding) => {
                let module = self.eval.module(it.file);
                let binding = module.binding(binding);
                self.eval
                    .passes_on(it.file, binding.kind)
                    .then(|| (it.file, module.symbol(binding.symbol).scope))
            }
            _ => None,
        })
    }

    fn importing_scopes(&self) -> Checked {
        self.importing().try_for_each(|(file, scope)| {
            self.refuse_bound(file, scope)?;
            self.refuse_starred(file, scope)
        })
    }
}
