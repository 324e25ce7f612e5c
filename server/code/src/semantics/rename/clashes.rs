//! Who has the new name already: in the scopes where it is bound, between a use and its binding, and among
//! names that would be captured.

use memchr::memmem;
use rustc_hash::FxHashSet;

use super::family;
use crate::index::{FileId, Index, Place, RenameRefused};
use crate::known;
use crate::semantics::eval::Eval;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::program::{module_of, parent};
use crate::semantics::resolve::Target;
use crate::semantics::search::{Match, ask};

/// Refuses a rename after which any name would mean something else than before.
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
    fn clash(&self, what: String, place: Option<Place>) -> Checked {
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
        if known::is_builtin(self.to.text()) && !self.all_members() {
            return Err(RenameRefused::Builtin { to: self.to.text().to_owned() });
        }
        Ok(())
    }

    /// A name bound in a scope, and where.
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
            Some(place) => self.clash(self.describe(file, scope), Some(place)),
            None => Ok(()),
        }
    }

    /// Where the renamed symbols themselves are bound.
    fn own_scopes(&self) -> Checked {
        self.symbols()
            .try_for_each(|(file, symbol)| self.refuse_bound(file, self.scope_of(file, symbol)))
    }

    /// Scopes into which an import statement brings the name.
    fn importing(&self) -> impl Iterator<Item = (FileId, ScopeId)> + '_ {
        self.matches.iter().filter_map(|it| match it.occurrence.role {
            Role::Binding(binding) => {
                let module = self.eval.module(it.file);
                let binding = module.binding(binding);
                binding
                    .kind
                    .is_transparent()
                    .then(|| (it.file, module.symbol(binding.symbol).scope))
            }
            _ => None,
        })
    }

    fn importing_scopes(&self) -> Checked {
        self.importing().try_for_each(|(file, scope)| self.refuse_bound(file, scope))
    }

    /// Scopes between a use of the name and the scope that binds it must not bind the new name.
    fn uses(&self) -> Checked {
        for it in self.matches {
            let module = self.eval.module(it.file);
            let symbol = match it.occurrence.role {
                Role::Name(expr) => match module.expr(expr) {
                    Expr::Name(_, symbol, _) => symbol,
                    _ => continue,
                },
                // `:=` in a comprehension binds further out.
                Role::Binding(binding) => Some(module.binding(binding).symbol),
                _ => continue,
            };
            let home = symbol.map_or(ScopeId(0), |it| module.symbol(it).scope);
            for scope in visible(module, it.occurrence.scope) {
                if scope == home {
                    break;
                }
                if home == ScopeId(0) && self.reads_before(module, it, scope) {
                    break;
                }
                self.refuse_bound(it.file, scope)?;
                // `global` and `nonlocal` lead straight to the binding.
                if symbol.is_some() && module.bound(scope, self.from) == symbol {
                    break;
                }
            }
            if symbol.is_none() {
                self.refuse_bound(it.file, ScopeId(0))?;
            }
        }
        Ok(())
    }

    /// Whether a use in a class's body runs before the body binds the new name: it reads the module's.
    fn reads_before(&self, module: &Module, it: &Match, scope: ScopeId) -> bool {
        let is_class = matches!(module.scopes[scope.index()].kind, ScopeKind::Class(_));
        is_class
            && module
                .bound(scope, self.to)
                .is_some_and(|symbol| precedes(module, &it.occurrence, symbol))
    }

    /// Uses of the new name, meant for something further out, would be caught by the renamed one.
    fn captured(&self) -> Checked {
        let own =
            self.symbols().filter(|(file, symbol)| !self.is_global_only_member(*file, *symbol));
        let own = own.map(|(file, symbol)| (file, self.scope_of(file, symbol)));
        let scopes: FxHashSet<(FileId, ScopeId)> = own.chain(self.importing()).collect();
        for (file, home) in scopes {
            let module = self.eval.module(file);
            let named = module.occurrences.iter().filter(|it| it.name == self.to);
            for it in named {
                let reads = matches!(it.role, Role::Name(_) | Role::Declared(_));
                if reads
                    && self.passes_through(module, it, home)
                    && !self.still_reads_module(module, it, home)
                {
                    let at = it.at as usize;
                    let place = Place { file, range: at..at + self.to.text().len() };
                    let what = format!(
                        "{} already reads another `{}`",
                        self.eval.index.path(file),
                        self.to.text()
                    );
                    return self.clash(what, Some(place));
                }
            }
        }
        Ok(())
    }

    /// `name = name` in a class body reads the module's name only because the class binds it as well.
    fn released(&self) -> Checked {
        for (file, symbol) in self.symbols().filter(|(file, symbol)| self.is_member(*file, *symbol))
        {
            let module = self.eval.module(file);
            let home = self.scope_of(file, symbol);
            let past = |expr: ExprId| matches!(module.expr(expr), Expr::Name(_, other, _) if other != Some(symbol));
            let reads_past = |it: &&Occurrence| {
                it.name == self.from
                    && it.scope == home
                    && matches!(it.role, Role::Name(expr) if past(expr))
            };
            let between = |scope: ScopeId| {
                scope != home && scope != ScopeId(0) && module.bound(scope, self.from).is_some()
            };
            if let Some(it) = module.occurrences.iter().find(reads_past)
                && module.outwards(home).any(between)
            {
                let place =
                    Place { file, range: it.at as usize..it.at as usize + self.from.text().len() };
                let what = format!(
                    "`{}` in the class's body would be read from the function around it",
                    self.from.text()
                );
                return self.clash(what, Some(place));
            }
        }
        Ok(())
    }

    /// In a class's body the module's name is read until the body binds the same name.
    fn still_reads_module(&self, module: &Module, it: &Occurrence, home: ScopeId) -> bool {
        let outer = match it.role {
            Role::Name(expr) => match module.expr(expr) {
                Expr::Name(_, symbol, _) => symbol.map_or(ScopeId(0), |it| module.symbol(it).scope),
                _ => return false,
            },
            _ => return false,
        };
        let is_class = matches!(module.scopes[home.index()].kind, ScopeKind::Class(_));
        let renamed = module.bound(home, self.from);
        is_class
            && it.scope == home
            && outer == ScopeId(0)
            && renamed.is_some_and(|symbol| precedes(module, it, symbol))
    }

    /// Attributes assigned through `self` are not names of the class's scope.
    fn is_global_only_member(&self, file: FileId, symbol: SymbolId) -> bool {
        self.eval.module(file).symbol(symbol).on_instance
    }

    /// Whether a lookup of the new name comes through a scope on its way out.
    fn passes_through(&self, module: &Module, it: &Occurrence, home: ScopeId) -> bool {
        let symbol = match it.role {
            Role::Name(expr) => match module.expr(expr) {
                Expr::Name(_, symbol, _) => symbol,
                _ => None,
            },
            Role::Declared(symbol) => Some(symbol),
            _ => None,
        };
        for scope in visible(module, it.scope) {
            if scope == home {
                return true;
            }
            // Bound here, or declared here to belong elsewhere.
            let known = module.bound(scope, self.to);
            if known.is_some() && known == symbol {
                return false;
            }
            // Bound later in this body: until then the lookup goes straight to the module.
            let is_class = matches!(module.scopes[scope.index()].kind, ScopeKind::Class(_));
            if is_class && known.is_some() {
                return home == ScopeId(0);
            }
        }
        false
    }

    /// No class of the family may have a member of the new name, nor inherit one.
    fn members(&self) -> Checked {
        if !self.symbols().any(|(file, symbol)| self.is_member(file, symbol)) {
            return Ok(());
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
                return self.clash(format!("class `{of}` has a member of that name"), place);
            }
        }
        Ok(())
    }

    /// A call that passes the new name already, for `**kwargs`.
    fn keywords(&self) -> Checked {
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
                return self.clash(what, Some(super::place(it)));
            }
        }
        self.symbols().try_for_each(|(file, symbol)| self.open_keywords(file, symbol))
    }

    /// A function that takes any keyword is called with the new name somewhere.
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
                let Role::Keyword(call) = it.role else { continue };
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
                    return self.clash(what, Some(place));
                }
            }
        }
        Ok(())
    }

    /// Files that take everything of a module which binds the name.
    fn star_imports(&self) -> Checked {
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
            let explicit = sources.iter().any(|it| self.eval.module(*it).all.is_some());
            if self.to.text().starts_with('_') && !explicit {
                let what = format!(
                    "{} imports it by a star, which leaves out names that begin with `_`",
                    index.path(file)
                );
                return self.clash(what, None);
            }
            self.refuse_bound(file, ScopeId(0))?;
            self.captured_in(file)?;
        }
        Ok(())
    }

    /// Files with a star import that may lead to one of some modules, through others of them or not.
    fn star_importers(&self, sources: &FxHashSet<FileId>) -> Vec<FileId> {
        let index = self.eval.index;
        let mut found: FxHashSet<FileId> = FxHashSet::default();
        let mut open: Vec<FileId> = sources.iter().copied().collect();
        while let Some(source) = open.pop() {
            let path = index.path(source);
            let module = module_of(path).text();
            let (folder, name) = module.rsplit_once('/').unwrap_or(("", module));
            // An importer names the module, or says `from . import *` beside it.
            let names_it = |file: &FileId| {
                index.words(*file).may_hold(name)
                    || parent(index.path(*file)) == module
                    || parent(index.path(*file)) == folder
            };
            let has_star = |file: &FileId| !self.eval.module(*file).stars.is_empty();
            let holds = |file: &FileId| {
                index
                    .text(*file)
                    .is_some_and(|text| memmem::find(text.as_bytes(), b"import *").is_some())
            };
            let new = index
                .files()
                .filter(|it| !found.contains(it) && names_it(it) && holds(it) && has_star(it));
            let new: Vec<FileId> = new.collect();
            found.extend(&new);
            open.extend(new);
        }
        let mut found: Vec<FileId> = found.into_iter().collect();
        found.sort_unstable();
        found
    }

    /// Uses of the new name in a file that gets everything of the module.
    fn captured_in(&self, file: FileId) -> Checked {
        let module = self.eval.module(file);
        for it in module.occurrences.iter().filter(|it| it.name == self.to) {
            let Role::Name(expr) = it.role else { continue };
            if matches!(module.expr(expr), Expr::Name(_, None, _)) {
                let at = it.at as usize;
                let place = Place { file, range: at..at + self.to.text().len() };
                let what = format!(
                    "{} already reads another `{}`",
                    self.eval.index.path(file),
                    self.to.text()
                );
                return self.clash(what, Some(place));
            }
        }
        Ok(())
    }

    /// A name in a package that is also the name of one of its modules.
    fn submodules(&self) -> Checked {
        for (file, symbol) in self.symbols() {
            let path = self.eval.index.path(file);
            let is_package = path.ends_with("__init__.py") || path.ends_with("__init__.pyi");
            if is_package
                && self.scope_of(file, symbol) == ScopeId(0)
                && let Some(module) = self.eval.index.submodule(module_of(path), self.to)
            {
                return self.clash(format!("{} is a module of that name", module.text()), None);
            }
        }
        Ok(())
    }

    /// Fields of a `NamedTuple` may not begin with an underscore.
    fn fields(&self) -> Checked {
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
            return self
                .clash("fields of a NamedTuple may not begin with an underscore".to_owned(), None);
        }
        Ok(())
    }

    /// `__name` means something else outside its class.
    fn private(&self) -> Checked {
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
                return self.clash(what, Some(super::place(it)));
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

/// The scopes that a lookup goes through, from a place outwards.
fn visible(module: &Module, from: ScopeId) -> impl Iterator<Item = ScopeId> + '_ {
    let mut direct = true;
    module.outwards(from).filter(move |scope| {
        let kind = module.scopes[scope.index()].kind;
        let hidden = matches!(kind, ScopeKind::Class(_)) && !direct;
        direct &= kind == ScopeKind::TypeParameters;
        !hidden
    })
}

/// Whether a name is read before a symbol of the same body is bound.
fn precedes(module: &Module, it: &Occurrence, symbol: SymbolId) -> bool {
    let (Role::Name(expr), Some(first)) = (it.role, module.symbol(symbol).bindings.first()) else {
        return false;
    };
    let binding = module.binding(*first);
    match binding.kind {
        // Expressions are numbered in the order in which they are evaluated.
        BindingKind::Value(value) | BindingKind::Annotated(_, Some(value)) => expr <= value,
        _ => it.at < binding.at,
    }
}
