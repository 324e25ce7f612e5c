//! Resolves pytest fixtures: tests and fixtures ask for them by the names of their parameters, and
//! the nearest definition is passed ("Fixture availability" in pytest's reference).

use rustc_hash::FxHashSet;

use super::bundle;
use super::eval::Eval;
use super::ir::*;
use super::meaning::{Meaning, Target, Uncertainty};
use super::names::{KNOWN, Name};
use super::program::parent;
use crate::index::{FileId, Word};
use crate::test_files::is_test_file;

/// A fixture's symbol: that of its function, or of the name its decorator gives it.
pub(crate) type Fixture = (FileId, SymbolId);

impl Eval<'_> {
    /// Returns whether a function has a decorator such as `@pytest.fixture`.
    pub(crate) fn is_fixture(&self, file: FileId, function: FunctionId) -> bool {
        self.has_decorator(file, function, KNOWN.fixture)
            || self.has_decorator(file, function, KNOWN.yield_fixture)
    }

    /// Returns the symbol by whose name a fixture is asked for.
    fn fixture_symbol(&self, file: FileId, function: FunctionId) -> Option<SymbolId> {
        let of = self.module(file).function(function);
        of.fixture.or_else(|| Some(self.module(file).binding(of.binding?).symbol))
    }

    /// Returns the fixture functions of a symbol.
    pub(super) fn fixtures_of(&self, (file, symbol): Fixture) -> impl Iterator<Item = FunctionId> {
        let module = self.module(file);
        let functions =
            module.symbol(symbol).bindings.iter().filter_map(|it| match module.binding(*it).kind {
                BindingKind::Function(function) => Some(function),
                _ => None,
            });
        functions.filter(move |it| self.is_fixture(file, *it))
    }

    /// Returns whether a symbol is the name of a fixture.
    pub(crate) fn names_fixture(&self, file: FileId, symbol: SymbolId) -> bool {
        let mut functions = self.fixtures_of((file, symbol));
        functions.any(|it| self.fixture_symbol(file, it) == Some(symbol))
    }

    /// Returns the targets that a parameter asks for; `None` if it asks for no fixture.
    pub(crate) fn requested(
        &self,
        file: FileId,
        function: FunctionId,
        index: u32,
    ) -> Option<Vec<Target>> {
        let of = self.module(file).function(function);
        let name = of.name.filter(|it| it.text().starts_with("test"));
        let is_fixture = !of.decorators.is_empty() && self.is_fixture(file, function);
        if name.is_none() && !is_fixture || !self.may_request(file, function, index) {
            return None;
        }
        let parameter = of.parameters[index as usize].name;
        let own = self.fixture_symbol(file, function).filter(|_| is_fixture);
        let found = self.visible_fixtures(file, of.class, parameter, own);
        if !found.is_empty() {
            return Some(found.into_iter().map(|(file, it)| Target::Symbol(file, it)).collect());
        }
        let path = format!("pytest.{}", parameter.text());
        self.built_in_fixture(parameter).map(|_| vec![Target::Outside(Name::of(&path))])
    }

    /// Returns whether a symbol is a class that unittest collects from a file of tests.
    pub(crate) fn is_test_case(&self, file: FileId, symbol: SymbolId) -> bool {
        let module = self.module(file);
        let is_run = |class: ClassId| {
            let of_library = self.class(file, class).mro.clone().into_iter();
            let mut of_library = of_library.filter(|it| bundle::number(it.file).is_some());
            of_library.any(|it| self.module(it.file).class(it.class).name.text() == "TestCase")
        };
        is_test_file(self.index.path(file))
            && module.symbol(symbol).bindings.iter().any(|it| match module.binding(*it).kind {
                BindingKind::Class(class) => is_run(class),
                _ => false,
            })
    }

    /// Returns whether a name is bound by a parameter of a test for which no fixture is known: one may
    /// be made without the decorator, or behind another name of it.
    pub(super) fn asks_for_unknown(&self, file: FileId, kind: BindingKind) -> bool {
        let BindingKind::Parameter(function, index) = kind else { return false };
        let of = self.module(file).function(function);
        let name = of.parameters[index as usize].name;
        is_test_file(self.index.path(file))
            && of.name.is_some_and(|it| it.text().starts_with("test"))
            && !of.parametrized.iter().any(|it| it.name == name)
            && self.may_request(file, function, index)
            && self.requested(file, function, index).is_none()
    }

    /// Returns the function that stands for a fixture of pytest itself.
    pub(crate) fn built_in_fixture(&self, name: Name) -> Option<(FileId, FunctionId)> {
        let file = bundle::file("pytest_fixtures")?;
        let module = self.module(file);
        let symbol = module.symbol(module.global(name)?);
        symbol.bindings.iter().find_map(|it| match module.binding(*it).kind {
            BindingKind::Function(function) => Some((file, function)),
            _ => None,
        })
    }

    /// Returns whether pytest passes a parameter: one without default, and not `self`.
    fn may_request(&self, file: FileId, function: FunctionId, index: u32) -> bool {
        let of = self.module(file).function(function);
        let it = of.parameters[index as usize];
        let is_self = index == 0
            && of.class.is_some()
            && !self.has_decorator(file, function, KNOWN.staticmethod);
        let kind = matches!(it.kind, ParameterKind::Ordinary | ParameterKind::KeywordOnly);
        kind && it.default.is_none() && !is_self
    }

    /// Returns the nearest fixture of a name, seen from a file and a class: in the class, in the
    /// module, in the `conftest.py` of each folder above, in plugins. `own` is passed over: a
    /// fixture that asks for its own name gets the one it overrides.
    pub(crate) fn visible_fixtures(
        &self,
        file: FileId,
        class: Option<ClassId>,
        name: Name,
        own: Option<SymbolId>,
    ) -> Vec<Fixture> {
        let in_class = class.and_then(|it| self.class_fixture(file, it, name));
        let other = |it: &Fixture| Some(*it) != own.map(|own| (file, own));
        if let Some(found) = in_class.filter(other) {
            return vec![found];
        }
        let folders = std::iter::successors(Some(parent(self.index.path(file))), |it| {
            (!it.is_empty()).then(|| parent(it))
        });
        let conftest = |folder: &str| {
            let path = if folder.is_empty() {
                "conftest.py".to_owned()
            } else {
                format!("{folder}/conftest.py")
            };
            self.index.file(&path)
        };
        let files = std::iter::once(file).chain(folders.filter_map(conftest));
        let mut near = files.filter_map(|it| self.module_fixture(it, name)).filter(other);
        near.next().map_or_else(|| self.plugin_fixtures(name), |it| vec![it])
    }

    fn class_fixture(&self, file: FileId, class: ClassId, name: Name) -> Option<Fixture> {
        let own = self.own_class_type(file, class);
        let direct = self.member(&own, name, 0).map(|it| (it.file, it.symbol));
        let direct = direct.filter(|(file, symbol)| self.names_fixture(*file, *symbol));
        direct.or_else(|| self.renamed_fixture(file, Some(class), name))
    }

    /// Returns the fixture that a module defines or imports under a name.
    fn module_fixture(&self, file: FileId, name: Name) -> Option<Fixture> {
        if !self.index.words(file).may_hold(name.text()) {
            return None;
        }
        let own = self.module(file).global(name).map(|it| (file, it));
        let bound = own.or_else(|| self.starred(file, name, &mut Vec::new()));
        let targets = bound.into_iter().flat_map(|(file, it)| self.targets(file, it));
        let targets = targets.filter_map(|it| match it {
            Target::Symbol(file, symbol) => Some((file, symbol)),
            _ => None,
        });
        let mut fixtures = targets.filter(|(file, it)| self.names_fixture(*file, *it));
        fixtures.next().or_else(|| self.renamed_fixture(file, None, name))
    }

    /// Returns the fixture to which `@fixture(name="…")` gives a name.
    fn renamed_fixture(&self, file: FileId, class: Option<ClassId>, name: Name) -> Option<Fixture> {
        let module = self.module(file);
        let mut functions = module.functions.iter().filter(|it| it.class == class);
        let named = |it: SymbolId| module.symbol(it).name == name;
        functions.find_map(|it| it.fixture.filter(|it| named(*it))).map(|it| (file, it))
    }

    /// Returns the fixtures of a name in modules that are neither tests nor `conftest.py`: a plugin
    /// passes them on, whose list may be outside of the code.
    fn plugin_fixtures(&self, name: Name) -> Vec<Fixture> {
        let index = self.index;
        let word = Word::of(name.text());
        let fixture = Word::of("fixture");
        let holds = |file: &FileId| {
            let words = index.words(*file);
            words.has(word) && words.has(fixture) && !is_test_file(index.path(*file))
        };
        let mut files: Vec<FileId> = index.files().filter(holds).collect();
        files.sort_by_key(|it| index.path(*it));
        let own = |file: FileId| self.module(file).global(name).map(|it| (file, it));
        let direct = |it: &Fixture| self.names_fixture(it.0, it.1);
        let found = |file: FileId| {
            own(file).filter(direct).or_else(|| self.renamed_fixture(file, None, name))
        };
        files.into_iter().filter_map(found).collect()
    }

    /// Returns what a name in a mark, in `getfixturevalue` or in settings means.
    pub(super) fn fixture_meaning(&self, file: FileId, scope: ScopeId, name: Name) -> Meaning {
        let module = self.module(file);
        // Documents have no scopes.
        let scopes = module.scopes.get(scope.index()).map(|_| module.outwards(scope));
        let class =
            scopes.into_iter().flatten().find_map(|it| match module.scopes[it.index()].kind {
                ScopeKind::Class(class) => Some(class),
                _ => None,
            });
        let found = self.visible_fixtures(file, class, name, None);
        match found.is_empty() && self.built_in_fixture(name).is_none() {
            true => Meaning::doubtful(Uncertainty::Fixture),
            false => Meaning::certain(
                found.into_iter().map(|(file, it)| Target::Symbol(file, it)).collect(),
            ),
        }
    }

    /// Returns the targets of a parameter that `parametrize` names.
    pub(super) fn parametrized(&self, file: FileId, of: Parametrized, name: Name) -> Vec<Target> {
        let module = self.module(file);
        let is_meant = |(id, it): &(usize, &Function)| match of {
            Parametrized::Function(function) => function.index() == *id,
            Parametrized::Class(class) => it.class == Some(class),
            Parametrized::Module => true,
        };
        let tests = module.functions.iter().enumerate().filter(is_meant);
        let named = tests.filter(|(_, it)| {
            it.name.is_some_and(|it| it.text().starts_with("test"))
                || matches!(of, Parametrized::Function(_))
        });
        let parameters = named.flat_map(|(_, it)| &it.parameters).filter(|it| it.name == name);
        let mut found: Vec<Target> =
            parameters.flat_map(|it| self.targets(file, it.symbol)).collect();
        if found.is_empty() {
            let fixtures = self.visible_fixtures(file, None, name, None);
            found.extend(fixtures.into_iter().map(|(file, it)| Target::Symbol(file, it)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the fixtures of a name that override one of some targets, or are overridden by one:
    /// other fixtures ask for either by the same name.
    pub(crate) fn related_fixtures(&self, targets: &FxHashSet<Target>, name: Name) -> Vec<Target> {
        let known: Vec<Fixture> = targets
            .iter()
            .filter_map(|it| match it {
                Target::Symbol(file, symbol) => Some((*file, *symbol)),
                _ => None,
            })
            .filter(|(file, symbol)| self.names_fixture(*file, *symbol))
            .collect();
        if known.is_empty() {
            return Vec::new();
        }
        let related =
            |it: &Fixture| known.iter().any(|known| self.may_override_fixture(*known, *it));
        let all = self.all_fixtures(name).into_iter().filter(related);
        all.map(|(file, it)| Target::Symbol(file, it)).collect()
    }

    /// Returns every fixture of a name.
    pub(crate) fn all_fixtures(&self, name: Name) -> Vec<Fixture> {
        let index = self.index;
        let word = Word::of(name.text());
        let fixture = Word::of("fixture");
        let holds = |file: &FileId| {
            let words = index.words(*file);
            words.has(word) && words.has(fixture)
        };
        let of = |file: FileId| {
            let functions = (0..self.module(file).functions.len() as u32).map(FunctionId);
            let fixtures = functions.filter(move |it| self.is_fixture(file, *it));
            let symbols = fixtures.filter_map(move |it| self.fixture_symbol(file, it));
            symbols
                .filter(move |it| self.module(file).symbol(*it).name == name)
                .map(move |it| (file, it))
        };
        index.files().filter(holds).flat_map(of).collect()
    }

    /// Returns whether one of two fixtures of one name may override the other in some tests.
    pub(crate) fn may_override_fixture(&self, a: Fixture, b: Fixture) -> bool {
        let is_global =
            |(file, symbol): Fixture| self.module(file).symbol(symbol).scope == ScopeId(0);
        if a.0 == b.0 {
            return is_global(a) || is_global(b);
        }
        let path = |it: Fixture| self.index.path(it.0);
        reaches(path(a), path(b)) || reaches(path(b), path(a))
    }
}

/// Returns whether the fixtures of a file are passed to the tests of another one.
fn reaches(file: &str, other: &str) -> bool {
    let folder = match file.rsplit('/').next() {
        Some("conftest.py") => parent(file),
        _ if is_test_file(file) => return false,
        _ => "", // a plugin
    };
    folder.is_empty() || other.strip_prefix(folder).is_some_and(|it| it.starts_with('/'))
}
