//! Detects conflicts of names that are not looked up through scopes: members, keywords of calls,
//! star imports, modules, and names with a meaning for Python itself.

use rustc_hash::FxHashSet;

use super::{Check, Checked, family};
use crate::index::{FileId, Place};
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::program::{module_of, parent};
use crate::semantics::search::Match;
use crate::semantics::types::Type;

impl Check<'_, '_> {
    /// Refuses if a class of the family has or inherits a member of the new name.
    pub(super) fn members(&self) -> Checked {
        if !self.symbols().any(|(file, symbol)| self.is_member(file, symbol)) {
            return self.given_from_outside();
        }
        for (file, class) in family::relatives(self.eval, self.targets, self.from) {
            let own = self.eval.own_class_type(file, class);
            if let Some(member) = self.eval.member(&own, self.to, 0) {
                let module = self.eval.module(member.file);
                let of = self.eval.module(member.owner.file).class(member.owner.class).name.text();
                let at = module
                    .symbol(member.symbol)
                    .bindings
                    .first()
                    .map(|it| module.binding(*it).at as usize);
                let inside = self.eval.index.get(member.file).is_some();
                let place = at
                    .filter(|_| inside)
                    .map(|at| Place { file: member.file, range: at..at + self.to.text().len() });
                return self.conflict(format!("class `{of}` has a member with that name"), place);
            }
        }
        self.given_from_outside()
    }

    /// Refuses if code outside assigns an attribute of the new name to objects of the classes, or
    /// to the module.
    fn given_from_outside(&self) -> Checked {
        let relatives = family::relatives(self.eval, self.targets, self.from);
        let modules: FxHashSet<Name> = self
            .symbols()
            .filter(|(file, symbol)| self.scope_of(*file, *symbol) == ScopeId(0))
            .map(|(file, _)| module_of(self.eval.index.path(file)))
            .collect();
        if relatives.is_empty() && modules.is_empty() {
            return Ok(());
        }
        let index = self.eval.index;
        for file in index.files().filter(|it| index.words(*it).may_hold(self.to.text())) {
            let module = self.eval.module(file);
            for it in module.occurrences.iter().filter(|it| it.name == self.to) {
                let object = match it.role {
                    Role::Quoted(Quoted::Attribute(object)) => object,
                    Role::Attribute(expr) => match module.expr(expr) {
                        Expr::Attribute(object, ..) => object,
                        _ => continue,
                    },
                    _ => continue,
                };
                self.eval.refresh();
                let object = self.eval.expr(file, object);
                let is_related = |it: &Type| match it {
                    Type::Instance(class) | Type::Class(class) => {
                        let mro = &self.eval.class(class.file, class.class).mro;
                        mro.iter().any(|it| relatives.contains(&(it.file, it.class)))
                    }
                    Type::Module(module) => modules.contains(module),
                    _ => false,
                };
                if object.members().iter().any(is_related) {
                    let place = Place { file, range: it.range() };
                    let of = if modules.is_empty() {
                        "a class member"
                    } else {
                        "an attribute of the module"
                    };
                    let what = format!("{} gets or sets {of} with that name", index.path(file));
                    return self.conflict(what, Some(place));
                }
            }
        }
        Ok(())
    }

    /// Refuses if a call already passes the new name, for `**kwargs`.
    pub(super) fn keywords(&self) -> Checked {
        for it in self.matches {
            let Role::Keyword(call) = it.occurrence.role else { continue };
            let module = self.eval.module(it.file);
            let Some(call) = module.call(call) else { continue };
            if module.arguments_of(call).iter().any(|it| it.kind == ArgumentKind::Keyword(self.to))
            {
                let what = format!(
                    "a call in {} passes `{}=` as well",
                    self.eval.index.path(it.file),
                    self.to.text()
                );
                return self.conflict(what, Some(super::super::place(it)));
            }
        }
        self.symbols().try_for_each(|(file, symbol)| self.open_keywords(file, symbol))
    }

    /// Refuses if a function that takes any keyword is called with the new name.
    fn open_keywords(&self, file: FileId, symbol: SymbolId) -> Checked {
        let module = self.eval.module(file);
        let ScopeKind::Function(function) = module.scopes[self.scope_of(file, symbol).index()].kind
        else {
            return Ok(());
        };
        let parameters = &module.function(function).parameters;
        let is_own = parameters.iter().any(|it| it.symbol == symbol);
        if !is_own || !parameters.iter().any(|it| it.kind == ParameterKind::Keywords) {
            return Ok(());
        }
        let index = self.eval.index;
        for other in index.files().filter(|it| index.words(*it).may_hold(self.to.text())) {
            let there = self.eval.module(other);
            for it in there.occurrences.iter().filter(|it| it.name == self.to) {
                let Some(call) = passed_to(there, it.role) else { continue };
                let Some(call) = there.call(call) else { continue };
                self.eval.refresh();
                let candidates = self.eval.candidates(&self.eval.expr(other, call.function));
                if candidates.iter().any(|it| (it.file, it.function) == (file, function)) {
                    let at = it.at as usize;
                    let place = Place { file: other, range: at..at + self.to.text().len() };
                    let what = format!(
                        "a call in {} already passes `{}=`",
                        index.path(other),
                        self.to.text()
                    );
                    return self.conflict(what, Some(place));
                }
            }
        }
        Ok(())
    }

    /// Refuses if a file that star-imports a module with the name already uses the new name.
    pub(super) fn star_imports(&self) -> Checked {
        let sources: FxHashSet<FileId> = self
            .symbols()
            .filter(|(file, symbol)| self.scope_of(*file, *symbol) == ScopeId(0))
            .map(|(file, _)| file)
            .chain(self.importing().filter(|(_, scope)| *scope == ScopeId(0)).map(|(file, _)| file))
            .collect();
        if sources.is_empty() {
            return Ok(());
        }
        let index = self.eval.index;
        let reached = |file: FileId| {
            let found = self.eval.starred(file, self.from, &mut Vec::new());
            found.is_some_and(|(file, _)| sources.contains(&file))
        };
        for file in self.star_importers(&sources).into_iter().filter(|file| reached(*file)) {
            if self.to.text().starts_with('_') && !self.from.text().starts_with('_') {
                let what = format!(
                    "{} imports it with a star, which leaves out names that begin with `_`",
                    index.path(file)
                );
                return self.conflict(what, None);
            }
            self.refuse_bound(file, ScopeId(0))?;
            self.captured_in(file)?;
        }
        Ok(())
    }

    /// Returns the files with a star import that may lead to one of some modules, directly or
    /// through other files.
    fn star_importers(&self, sources: &FxHashSet<FileId>) -> Vec<FileId> {
        let index = self.eval.index;
        let mut found: FxHashSet<FileId> = FxHashSet::default();
        let mut open: Vec<FileId> = sources.iter().copied().collect();
        while let Some(source) = open.pop() {
            let path = index.path(source);
            let module = module_of(path).text();
            let (folder, name) = module.rsplit_once('/').unwrap_or(("", module));
            // An importer names the module, or is in the same folder and uses `from . import *`.
            let names_it = |file: &FileId| {
                index.words(*file).may_hold(name)
                    || parent(index.path(*file)) == module
                    || parent(index.path(*file)) == folder
            };
            let has_star = |file: &FileId| !self.eval.module(*file).stars.is_empty();
            let new = index.files().filter(|it| {
                !found.contains(it) && names_it(it) && index.may_have_star(*it) && has_star(it)
            });
            let new: Vec<FileId> = new.collect();
            found.extend(&new);
            open.extend(new);
        }
        let mut found: Vec<FileId> = found.into_iter().collect();
        found.sort_unstable();
        found
    }

    /// Refuses if a file that star-imports the module uses the new name.
    fn captured_in(&self, file: FileId) -> Checked {
        let module = self.eval.module(file);
        for it in module.occurrences.iter().filter(|it| it.name == self.to) {
            let Role::Name(expr) = it.role else { continue };
            if matches!(module.expr(expr), Expr::Name(_, None, _)) {
                return self.read_already(file, it);
            }
        }
        Ok(())
    }

    /// Refuses a new name in a package that is also the name of one of its modules.
    pub(super) fn submodules(&self) -> Checked {
        let own = self.symbols().map(|(file, symbol)| (file, self.scope_of(file, symbol)));
        for (file, _) in own.chain(self.importing()).filter(|(_, scope)| *scope == ScopeId(0)) {
            let path = self.eval.index.path(file);
            let is_package = path.ends_with("__init__.py") || path.ends_with("__init__.pyi");
            if let Some(module) =
                is_package.then(|| self.eval.index.submodule(module_of(path), self.to)).flatten()
            {
                return self
                    .conflict(format!("{} is a module with that name", module.text()), None);
            }
        }
        Ok(())
    }

    /// Refuses a `NamedTuple` field that begins with an underscore.
    pub(super) fn fields(&self) -> Checked {
        let of_tuple = |(file, symbol): (FileId, SymbolId)| {
            let module = self.eval.module(file);
            match module.scopes[self.scope_of(file, symbol).index()].kind {
                ScopeKind::Class(class) => {
                    let mro = &self.eval.class(file, class).mro;
                    mro.iter().any(|it| self.eval.is_bundled(it, KNOWN.named_tuple))
                }
                _ => false,
            }
        };
        if self.to.text().starts_with('_') && self.symbols().any(of_tuple) {
            return self.conflict(
                "fields of a NamedTuple may not begin with an underscore".to_owned(),
                None,
            );
        }
        Ok(())
    }

    /// Refuses a new name of an enum's member that enums reserve.
    pub(super) fn members_of_enums(&self) -> Checked {
        let of_enum = |(file, symbol): (FileId, SymbolId)| {
            let module = self.eval.module(file);
            match module.scopes[self.scope_of(file, symbol).index()].kind {
                ScopeKind::Class(class) => self.eval.class(file, class).is_enum,
                _ => false,
            }
        };
        let to = self.to.text();
        if to.len() > 2 && to.starts_with('_') && to.ends_with('_') && self.symbols().any(of_enum) {
            let what = "enums reserve names that begin and end with an underscore".to_owned();
            return self.conflict(what, None);
        }
        Ok(())
    }

    /// Refuses a new name in a `conftest.py` that is one of pytest's hooks.
    pub(super) fn hooks(&self) -> Checked {
        let is_hook = |it: Name| it.text().starts_with("pytest_");
        let is_global = |(file, symbol): (FileId, SymbolId)| {
            let name = self.eval.index.path(file).rsplit('/').next();
            name == Some("conftest.py") && self.scope_of(file, symbol) == ScopeId(0)
        };
        if is_hook(self.to) && !is_hook(self.from) && self.symbols().any(is_global) {
            return self.conflict("pytest would call it as a hook".to_owned(), None);
        }
        Ok(())
    }

    /// Refuses a new name of a fixture that is also the name of another fixture for the same tests.
    pub(super) fn fixtures(&self) -> Checked {
        let named = |it: &(FileId, SymbolId)| self.eval.names_fixture(it.0, it.1);
        let own: Vec<(FileId, SymbolId)> = self.symbols().filter(named).collect();
        if own.is_empty() {
            return Ok(());
        }
        // `request` is passed to fixtures and is none itself.
        if self.to.text() == "request" || self.eval.built_in_fixture(self.to).is_some() {
            return self.conflict("pytest has a fixture with that name".to_owned(), None);
        }
        for other in self.eval.all_fixtures(self.to) {
            if own.iter().any(|it| self.eval.may_override_fixture(*it, other)) {
                let module = self.eval.module(other.0);
                let at = module.symbol(other.1).bindings.first();
                let at = at.map_or(0, |it| module.binding(*it).at as usize);
                let place = Place { file: other.0, range: at..at + self.to.text().len() };
                let what =
                    format!("{} has a fixture with that name", self.eval.index.path(other.0));
                return self.conflict(what, Some(place));
            }
        }
        Ok(())
    }

    /// Refuses if a private member `__name` is used as `_Class__name` elsewhere.
    fn mangled(&self) -> Checked {
        if !self.from.text().starts_with("__") {
            return Ok(());
        }
        for (file, symbol) in self.symbols() {
            let module = self.eval.module(file);
            let ScopeKind::Class(class) = module.scopes[self.scope_of(file, symbol).index()].kind
            else {
                continue;
            };
            let class = module.class(class).name.text().trim_start_matches('_');
            let mangled = format!("_{class}{}", self.from.text());
            let index = self.eval.index;
            if let Some(file) = index.files().find(|it| index.words(*it).may_hold(&mangled)) {
                return self.conflict(format!("{} uses `{mangled}`", index.path(file)), None);
            }
        }
        Ok(())
    }

    /// Refuses if a name would become private (`__name`) and is used outside its class, where
    /// `__name` has another meaning.
    pub(super) fn private(&self) -> Checked {
        self.mangled()?;
        let is_private = |it: Name| it.text().starts_with("__") && !it.text().ends_with("__");
        if !is_private(self.to) || is_private(self.from) {
            return Ok(());
        }
        for it in self.matches {
            let outside =
                !matches!(it.occurrence.role, Role::Binding(_)) && self.class_around(it).is_none();
            let is_attribute = matches!(it.occurrence.role, Role::Attribute(_));
            if is_attribute && outside
                || self.class_around(it).is_some() && !is_attribute && !self.all_members()
            {
                let what =
                    "names that begin with two underscores are changed inside classes".to_owned();
                return self.conflict(what, Some(super::super::place(it)));
            }
        }
        Ok(())
    }

    fn class_around(&self, it: &Match) -> Option<ClassId> {
        let module = self.eval.module(it.file);
        module.outwards(it.occurrence.scope).find_map(|it| match module.scopes[it.index()].kind {
            ScopeKind::Class(class) => Some(class),
            _ => None,
        })
    }
}

/// Returns the call to which an identifier is passed as a keyword: `f(name=1)`, `f(**{"name": 1})`.
fn passed_to(module: &Module, role: Role) -> Option<ExprId> {
    match role {
        Role::Keyword(call) => Some(call),
        Role::Quoted(Quoted::Entry(place)) => match module.expectations[place.index()] {
            Expectation::Unpacked(call) => Some(call),
            _ => None,
        },
        _ => None,
    }
}
