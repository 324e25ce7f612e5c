//! Suspicion of code that runs when files are imported: tests do not execute it again, but they
//! execute what reads its names.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use trellis_python::{StatementFact, StatementKind};

use super::evidence::Evidence;
use super::spectrum::{Counts, Function, Group, Line, Spectrum};

/// Factor of the suspicion that a definition inherits from a reader: a wrong constant is rarer than
/// a wrong statement, since every test that reads it would have failed.
const INHERITED: f64 = 0.6;
/// Addition to the factor for a definition that says everything, and a reader that says nothing.
const OF_PARTS: f64 = 0.4;
/// Factor for the statements of a function that a suspicious definition calls.
const CALLED: f64 = 0.9;
/// Factor for a function that is read but never runs: something else may run in its place, or the
/// reader failed before it could call it.
const NEVER_RUN: f64 = 0.4;
/// Suspicion from which a definition passes it on to what it reads itself.
const LEAST: f64 = 0.05;

/// Names of methods of built-in classes, which are mostly meant by them.
const OF_BUILTINS: [&str; 24] = [
    "add", "append", "clear", "close", "copy", "count", "discard", "extend", "format", "get",
    "index", "insert", "items", "join", "keys", "pop", "read", "remove", "replace", "sort",
    "split", "strip", "update", "values",
];

/// Suspicion that a definition inherits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inherited {
    /// Between 0 and 1.
    pub(super) score: f64,
    /// Share of the reader's suspicion.
    pub(super) share: f64,
    /// The executed line that reads it, also through other definitions, and its function.
    pub(super) reader: (Line, Group),
}

/// Returns the definitions that no test executes by itself, with what they inherit.
pub(super) fn inherited(evidence: &Evidence, spectrum: &Spectrum) -> BTreeMap<Line, Inherited> {
    let mut found: BTreeMap<Line, Inherited> = BTreeMap::new();
    let names = Names::of(evidence, spectrum);
    let mut readers = executed(evidence, spectrum);
    // A share is at most 1, so the most suspicious reader has its final score.
    while let Some(Reader { file, statement, from }) = readers.pop() {
        if found.get(&(file, statement.first)).is_some_and(|it| it.score > from.score) {
            continue;
        }
        for name in &statement.reads {
            for (line, it, share) in names.read_by(file, statement, name) {
                let next =
                    Inherited { score: from.score * share, share: from.share * share, ..from };
                let known = found.get(&line).map_or(0.0, |it| it.score);
                if next.score > known.max(LEAST) {
                    found.insert(line, next);
                    readers.push(Reader { file: line.0, statement: it, from: next });
                }
            }
        }
    }
    found.extend(
        statements(evidence).filter_map(|(file, it)| of_body(evidence, spectrum, file, it)),
    );
    found.retain(|line, it| it.score > 0.0 && !spectrum.lines.contains_key(line));
    found
}

/// A statement with its suspicion, which what it reads inherits.
struct Reader<'e> {
    file: usize,
    statement: &'e StatementFact,
    from: Inherited,
}

impl Ord for Reader<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |it: &Self| (it.file, it.statement.first);
        let by_score = self.from.score.total_cmp(&other.from.score);
        by_score.then_with(|| place(other).cmp(&place(self)))
    }
}

impl PartialOrd for Reader<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Reader<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Reader<'_> {}

/// Returns the statements of the code that tests execute, with their own suspicion.
fn executed<'e>(evidence: &'e Evidence, spectrum: &Spectrum) -> BinaryHeap<Reader<'e>> {
    let reader = |((file, line), counts): (&Line, &Counts)| {
        let of = &evidence.files[*file];
        let at = of.facts.statement_at(*line).filter(|_| !of.is_test)?;
        let statement = &of.facts.statements[at];
        let reader = ((*file, statement.first), (*file, statement.function));
        let from = Inherited { score: spectrum.ochiai(*counts), share: 1.0, reader };
        Some(Reader { file: *file, statement, from })
    };
    spectrum.lines.iter().filter_map(reader).collect()
}

fn statements(evidence: &Evidence) -> impl Iterator<Item = (usize, &StatementFact)> {
    let files = evidence.files.iter().enumerate().filter(|(_, it)| !it.is_test);
    files.flat_map(|(file, it)| it.facts.statements.iter().map(move |it| (file, it)))
}

/// Returns what a `def` line inherits from its function, if it holds default values.
fn of_body(
    evidence: &Evidence,
    spectrum: &Spectrum,
    file: usize,
    it: &StatementFact,
) -> Option<(Line, Inherited)> {
    let function = it.function.filter(|_| it.parts > 0 || !it.oddities.is_empty())?;
    let is_header = evidence.files[file].facts.functions[function].header == it.first;
    if !is_header || it.kind != StatementKind::Definition {
        return None;
    }
    let score = spectrum.of_function((file, function)) * INHERITED;
    let line = (file, it.first);
    Some((line, Inherited { score, share: INHERITED, reader: (line, (file, Some(function))) }))
}

/// The code that runs at import, by the names under which it is read.
struct Names<'e> {
    evidence: &'e Evidence,
    /// Statements that give a name its value, or change that value, by file.
    bound: BTreeMap<&'e str, BTreeMap<usize, Vec<&'e StatementFact>>>,
    /// Functions that no test executes, by the last part of their names.
    functions: BTreeMap<&'e str, Vec<Function>>,
}

impl<'e> Names<'e> {
    fn of(evidence: &'e Evidence, spectrum: &Spectrum) -> Names<'e> {
        let mut bound: BTreeMap<&str, BTreeMap<usize, Vec<&StatementFact>>> = BTreeMap::new();
        for (file, it) in statements(evidence) {
            for name in changed_names(it, evidence.files[file].imported.contains(&it.first)) {
                bound.entry(name).or_default().entry(file).or_default().push(it);
            }
        }
        let mut functions: BTreeMap<&str, Vec<Function>> = BTreeMap::new();
        for (file, of) in evidence.files.iter().enumerate().filter(|(_, it)| !it.is_test) {
            for (number, it) in of.facts.functions.iter().enumerate() {
                let name = it.name.rsplit('.').next().unwrap_or_default();
                functions.entry(name).or_default().push((file, number));
            }
        }
        // Where tests execute a function of that name, it is likely the one that is read.
        functions.retain(|_, all| all.iter().all(|it| !spectrum.functions.contains_key(it)));
        Names { evidence, bound, functions }
    }

    /// Returns what a statement reads by a name: each statement with its line, and the share of the
    /// reader's suspicion.
    fn read_by(
        &self,
        file: usize,
        reader: &StatementFact,
        name: &str,
    ) -> Vec<(Line, &'e StatementFact, f64)> {
        let values = self.values(file, reader, name);
        let values = values.map(|(of, it)| ((of, it.first), it, share(it, reader)));
        let functions = self.functions.get(name).map_or(&[][..], Vec::as_slice);
        let called = functions.iter().filter(|it| self.is_called(file, reader, name, **it));
        values.chain(called.flat_map(|it| self.of_function(*it))).collect()
    }

    /// Returns the statements that give a name its value: those of the same file, else those of
    /// another one from which it is likely to come.
    fn values(
        &self,
        file: usize,
        reader: &StatementFact,
        name: &str,
    ) -> impl Iterator<Item = (usize, &'e StatementFact)> {
        let by_file = self.bound.get(name);
        let is_own = by_file.is_some_and(|it| it.contains_key(&file));
        let is_one = by_file.is_some_and(|it| it.len() == 1);
        let is_elsewhere = is_constant(name) || is_one && self.is_of_others(file, reader, name);
        let is_seen = move |of: usize| if is_own { of == file } else { is_elsewhere };
        let files = by_file.into_iter().flatten().filter(move |(of, _)| is_seen(**of));
        files.flat_map(|(of, all)| all.iter().map(|it| (*of, *it)))
    }

    /// Returns whether a name that a statement reads may come from another file: imported names and
    /// attributes, but no local variables.
    fn is_of_others(&self, file: usize, reader: &StatementFact, name: &str) -> bool {
        reader.attributes.contains(name) || self.evidence.files[file].facts.imports.contains(name)
    }

    /// Returns whether a name that a statement reads is likely that of a function.
    fn is_called(
        &self,
        file: usize,
        reader: &StatementFact,
        name: &str,
        (of, number): Function,
    ) -> bool {
        let is_method = self.evidence.files[of].facts.functions[number].name.contains('.');
        let is_one = self.functions.get(name).is_some_and(|it| it.len() == 1);
        let is_near = of == file || self.is_of_others(file, reader, name);
        let is_readable = !is_method || reader.attributes.contains(name);
        is_one && is_near && is_readable && !OF_BUILTINS.contains(&name)
    }

    /// Returns the statements of a function that ran at import; of one that did not, its `def` line:
    /// something else may have run in its place.
    fn of_function(&self, (file, number): Function) -> Vec<(Line, &'e StatementFact, f64)> {
        let of = &self.evidence.files[file];
        let all = of.facts.statements.iter().filter(|it| it.function == Some(number));
        let (headers, body): (Vec<_>, Vec<_>) =
            all.partition(|it| it.kind == StatementKind::Definition);
        let mut ran: Vec<&StatementFact> = body;
        ran.retain(|it| of.imported.contains(&it.first));
        let place = |it: &'e StatementFact, share: f64| ((file, it.first), it, share);
        match ran[..] {
            [] => headers.into_iter().take(1).map(|it| place(it, NEVER_RUN)).collect(),
            _ => ran.into_iter().map(|it| place(it, CALLED)).collect(),
        }
    }
}

/// Returns the names that a statement gives a value at import, or whose values it changes.
fn changed_names(it: &StatementFact, is_imported: bool) -> BTreeSet<&str> {
    let is_definition = [StatementKind::Assignment, StatementKind::Definition].contains(&it.kind);
    let binds = it.binds.iter().filter(|_| match it.function {
        None if is_definition => true,
        _ => is_imported && it.kind != StatementKind::Other,
    });
    // `ROUTES.append(route)`
    let changes = it.changes.iter().filter(|_| is_imported);
    let names = binds.chain(changes).map(String::as_str);
    names.filter(|it| !["self", "cls"].contains(it)).collect()
}

/// Returns the share of its reader's suspicion that a definition inherits: the more of what can be
/// wrong is in the definition, the higher.
fn share(it: &StatementFact, reader: &StatementFact) -> f64 {
    let own = f64::from(it.parts) / f64::from((it.parts + reader.parts).max(1));
    INHERITED + OF_PARTS * (2.0 * own - 1.0).max(0.0)
}

/// Returns whether a name is a constant by Python's naming convention.
fn is_constant(name: &str) -> bool {
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}
