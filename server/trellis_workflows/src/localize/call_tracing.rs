//! Finds the code that unmeasured tests lead to, by following calls in the source, nearest first.
//!
//! A method call on an unknown object leads to all methods of that name, if there are few. A test
//! that calls nothing of the project leads to what its file imports, or, if that is nothing, to all
//! of the code.

mod fixtures;
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use trellis_sandbox::test_ids::file_of;

use trellis_engine::localize::{Evidence, FileEvidence, ReachedFunction, TestEvidence};
use trellis_python::{Index, Located, Reach, Unit};

use fixtures::Fixtures;
use modules::imported;
use trellis_project::nested::{Kind, Nested};

/// A function: the index of its file in the evidence, and its index among that file's functions.
type Function = (usize, usize);

/// Maximum number of functions that one test leads to.
const MOST: usize = 60;
/// Maximum number of functions if a test leads to all of the code.
const MOST_OF_ALL: usize = 400;
/// Maximum number of passing tests to follow.
const PASSING: usize = 500;
/// Maximum number of methods with one name that a call may mean.
const FEW: usize = 3;
/// Distance from a test to what its file imports; below it, the distance to all other code.
const IMPORTED: usize = 3;
const ANYTHING: usize = 8;

/// Adds to the evidence what its tests lead to, if a failing test has no measured code.
pub(super) fn add_reached(index: &Index, folder: Option<&Path>, evidence: &mut Evidence) {
    if !evidence.tests.iter().any(|it| it.failed && !it.measured) {
        return;
    }
    let mut tests = std::mem::take(&mut evidence.tests);
    let mut reader = Reader::new(index, folder, &evidence.files);
    let (mut passing, is_measured) = (0, tests.iter().any(|it| it.measured));
    for test in tests.iter_mut().filter(|it| !it.measured) {
        let is_followed = test.failed || !is_measured && passing < PASSING;
        passing += usize::from(!test.failed);
        if is_followed {
            test.reached = reader.reached(test);
        }
    }
    evidence.tests = tests;
}

struct Reader<'e> {
    index: &'e Index,
    files: &'e [FileEvidence],
    /// The nested project of each file; `None` for files of the root's own project.
    projects: Vec<Option<(String, Kind)>>,
    reach: Reach<'e>,
    fixtures: Fixtures,
    /// Methods of the code by their own names.
    methods: BTreeMap<&'e str, Vec<Function>>,
    /// Cache of resolved callees.
    callees: BTreeMap<Function, BTreeSet<Function>>,
}

impl<'e> Reader<'e> {
    fn new(index: &'e Index, folder: Option<&Path>, files: &'e [FileEvidence]) -> Reader<'e> {
        let mut nested = folder.map(Nested::below);
        let mut around = |it: &FileEvidence| nested.as_mut()?.around(&it.path);
        let projects = files.iter().map(&mut around).collect();
        let mut methods: BTreeMap<&str, Vec<Function>> = BTreeMap::new();
        for (file, it) in files.iter().enumerate().filter(|(_, it)| !it.is_test) {
            for (number, function) in it.facts.functions.iter().enumerate() {
                if let Some((_, name)) = function.name.rsplit_once('.') {
                    methods.entry(name).or_default().push((file, number));
                }
            }
        }
        let fixtures = Fixtures::of(index, files);
        let (reach, callees) = (Reach::new(index), BTreeMap::new());
        Reader { index, files, projects, reach, fixtures, methods, callees }
    }

    fn reached(&mut self, test: &TestEvidence) -> Vec<ReachedFunction> {
        let path = file_of(&test.id);
        let Some(file) = self.files.iter().position(|it| it.path == path) else {
            return self.anything(path);
        };
        let found = self.called(self.starts(file, &test.id));
        // A passing test needs no fallback.
        if !found.is_empty() || !test.failed {
            return found;
        }
        let files = imported(self.index, self.files, file).into_iter();
        let own = files.filter(|it| self.projects[*it] == self.projects[file]);
        let found: Vec<ReachedFunction> = own.flat_map(|it| self.whole(it, IMPORTED)).collect();
        if found.is_empty() { self.anything(path) } else { found }
    }

    /// Returns the functions of the code that calls lead to, the nearest first.
    fn called(&mut self, starts: Vec<Function>) -> Vec<ReachedFunction> {
        let mut seen: BTreeSet<Function> = starts.iter().copied().collect();
        let (mut front, mut found, mut distance) = (starts, Vec::new(), 0);
        while !front.is_empty() && found.len() < MOST {
            let mut next = Vec::new();
            // Test helpers do not count as a step: the test calls what they call.
            while let Some(caller) = front.pop() {
                let new = self.callees(caller).into_iter().filter(|it| seen.insert(*it));
                let (helpers, code): (Vec<_>, Vec<_>) =
                    new.partition(|it| self.files[it.0].is_test);
                front.extend(helpers);
                next.extend(code);
            }
            next.sort_unstable();
            let reached = |(file, function): &Function| ReachedFunction {
                file: *file,
                function: Some(*function),
                distance,
            };
            found.extend(next.iter().map(reached));
            (front, distance) = (next, distance + 1);
        }
        found.truncate(MOST);
        found
    }

    /// Returns the functions that run first: the test, its setup, and the fixtures of both.
    fn starts(&self, file: usize, id: &str) -> Vec<Function> {
        const BEFORE: [&str; 8] = [
            "setUp",
            "asyncSetUp",
            "setUpClass",
            "setup_method",
            "setup_class",
            "setup_function",
            "setup_module",
            "setUpModule",
        ];
        let Some((_, names)) = id.split_once("::") else { return Vec::new() };
        let names = names.split('[').next().unwrap_or_default().replace("::", ".");
        let (class, own) = names.rsplit_once('.').unwrap_or(("", &names));
        let functions = self.files[file].facts.functions.iter().enumerate();
        let is_start = |name: &str| {
            let (around, last) = name.rsplit_once('.').unwrap_or(("", name));
            let prepares = BEFORE.contains(&last) && (around == class || around.is_empty());
            // An inherited test is defined in the base class, under the same last name.
            prepares || name == names || last == own && !around.is_empty()
        };
        let starts = functions.filter(|(_, it)| is_start(&it.name)).map(|(at, _)| (file, at));
        starts.chain(self.fixtures.always(&self.files[file].path)).collect()
    }

    fn callees(&mut self, caller: Function) -> BTreeSet<Function> {
        if let Some(known) = self.callees.get(&caller) {
            return known.clone();
        }
        let mut found: BTreeSet<Function> = match self.located(caller) {
            Some(at) => {
                let callees = self.reach.of(&[at]);
                let callees = callees.into_iter().filter_map(|it| self.function(it));
                // A project generated below another one is not part of it, whatever its names.
                let is_generated =
                    |it: usize| matches!(self.projects[it], Some((_, Kind::Generated)));
                let is_own = |it: usize| self.projects[it] == self.projects[caller.0];
                callees.filter(|it| is_own(it.0) || !is_generated(it.0)).collect()
            }
            None => BTreeSet::new(),
        };
        found.extend(self.by_name(caller, &found));
        found.extend(self.fixtures.named_by(caller));
        self.callees.insert(caller, found.clone());
        found
    }

    /// Returns the methods that a function may call, by name alone.
    fn by_name(&self, caller: Function, known: &BTreeSet<Function>) -> Vec<Function> {
        let name = |it: &Function| self.files[it.0].facts.functions[it.1].name.rsplit('.').next();
        let resolved: BTreeSet<&str> = known.iter().filter_map(name).collect();
        let calls = self.files[caller.0].facts.functions[caller.1].calls.iter();
        let unresolved = calls.filter(|it| !resolved.contains(it.as_str()));
        let meant = unresolved.filter_map(|it| self.methods.get(it.as_str()));
        let is_own = |it: &&Function| self.projects[it.0] == self.projects[caller.0];
        meant.filter(|it| it.len() <= FEW).flatten().filter(is_own).copied().collect()
    }

    /// Returns all functions of a file, and its top level.
    fn whole(&self, file: usize, distance: usize) -> Vec<ReachedFunction> {
        let functions = 0..self.files[file].facts.functions.len();
        let all = std::iter::once(None).chain(functions.map(Some));
        all.map(|function| ReachedFunction { file, function, distance }).collect()
    }

    /// Returns all of the code. In a large project, files that the test's file mentions come first.
    fn anything(&self, path: &str) -> Vec<ReachedFunction> {
        let own = self.files.iter().position(|it| it.path == path);
        let project = own.and_then(|it| self.projects[it].as_ref());
        let text = self.index.file(path).and_then(|id| self.index.text(id)).unwrap_or_default();
        let stem = |it: &FileEvidence| {
            let name = it.path.rsplit('/').next().unwrap_or_default();
            name.strip_suffix(".py").unwrap_or(name).to_owned()
        };
        let is_own =
            |it: &usize| !self.files[*it].is_test && self.projects[*it].as_ref() == project;
        let mut code: Vec<usize> = (0..self.files.len()).filter(is_own).collect();
        code.sort_by_key(|it| !text.contains(&stem(&self.files[*it])));
        code.into_iter().flat_map(|it| self.whole(it, ANYTHING)).take(MOST_OF_ALL).collect()
    }

    /// Returns a function's symbol in the index: the one that begins on the same line.
    fn located(&self, (file, number): Function) -> Option<Located> {
        let (at, first) = (&self.files[file], self.files[file].facts.functions[number].first);
        let id = self.index.file(&at.path)?;
        let text = self.index.text(id)?;
        let lines = self.index.lines(id, &text);
        let name = at.facts.functions[number].name.rsplit('.').next()?;
        let begins = |it: &trellis_python::Symbol| {
            it.name == name && lines.position(it.range.start, Unit::Utf8).0 as u32 + 1 == first
        };
        let symbol = self.index.outline(id).symbols.iter().position(begins)?;
        Some(Located { file: id, symbol })
    }

    /// Returns the function of a symbol.
    fn function(&self, it: Located) -> Option<Function> {
        let path = self.index.path(it.file);
        let file = self.files.binary_search_by(|it| it.path.as_str().cmp(path)).ok()?;
        let text = self.index.text(it.file)?;
        let outline = self.index.outline(it.file);
        let at = outline.symbols.get(it.symbol)?.name_range.start;
        let line = self.index.lines(it.file, &text).position(at, Unit::Utf8).0 as u32 + 1;
        let functions = self.files[file].facts.functions.iter();
        Some((file, functions.clone().position(|it| it.header == line)?))
    }
}
