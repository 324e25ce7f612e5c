//! Suspicion of code that runs when files are imported: tests do not execute it again, but they
//! execute what reads its names.

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::{StatementFact, StatementKind};

use super::evidence::Evidence;
use super::spectrum::{Function, Group, Line, Spectrum};

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
    let mut found = BTreeMap::new();
    let names = Names::of(evidence, spectrum);
    let mut readers: Vec<(usize, &StatementFact, Inherited)> = executed(evidence, spectrum);
    while let Some((file, reader, from)) = readers.pop() {
        for name in &reader.reads {
            for (line, it, share) in names.read_by(file, reader, name) {
                let next =
                    Inherited { score: from.score * share, share: from.share * share, ..from };
                let known = found.get(&line).map_or(0.0, |it: &Inherited| it.score);
                if next.score > known.max(LEAST) {
                    found.insert(line, next);
                    readers.push((line.0, it, next));
                }
            }
        }
    }
    found.extend(statements(evidence).filter_map(|(file, it)| of_body(spectrum, file, it)));
    found.retain(|line, it| it.score > 0.0 && !spectrum.lines.contains_key(line));
    found
}

/// Returns the statements of the code that tests execute, with their own suspicion.
fn executed<'e>(
    evidence: &'e Evidence,
    spectrum: &Spectrum,
) -> Vec<(usize, &'e StatementFact, Inherited)> {
    let suspicion = |((file, line), counts): (&Line, &super::spectrum::Counts)| {
        let of = &evidence.files[*file];
        let at = of.facts.statement_at(*line).filter(|_| !of.is_test)?;
        let it = &of.facts.statements[at];
        let reader = ((*file, it.first), (*file, it.function));
        Some((*file, it, Inherited { score: spectrum.ochiai(*counts), share: 1.0, reader }))
    };
    spectrum.lines.iter().filter_map(suspicion).collect()
}

fn statements(evidence: &Evidence) -> impl Iterator<Item = (usize, &StatementFact)> {
    let files = evidence.files.iter().enumerate().filter(|(_, it)| !it.is_test);
    files.flat_map(|(file, it)| it.facts.statements.iter().map(move |it| (file, it)))
}

/// Returns what a `def` line inherits from its function, if it holds default values.
fn of_body(spectrum: &Spectrum, file: usize, it: &StatementFact) -> Option<(Line, Inherited)> {
    let function = it.function.filter(|_| it.kind == StatementKind::Definition)?;
    if it.parts == 0 && it.oddities.is_empty()
        || !spectrum.functions.contains_key(&(file, function))
    {
        return None;
    }
    let score = spectrum.of_function((file, function)) * INHERITED;
    let line = (file, it.first);
    Some((line, Inherited { score, share: INHERITED, reader: (line, (file, Some(function))) }))
}

/// The code that runs at import, by the names under which it is read.
struct Names<'e> {
    evidence: &'e Evidence,
    /// Statements that give a name its value, or change that value.
    bound: BTreeMap<&'e str, Vec<(usize, &'e StatementFact)>>,
    /// Functions that no test executes, by the last part of their names.
    functions: BTreeMap<&'e str, Vec<Function>>,
}

impl<'e> Names<'e> {
    fn of(evidence: &'e Evidence, spectrum: &Spectrum) -> Names<'e> {
        let mut bound: BTreeMap<&str, Vec<(usize, &StatementFact)>> = BTreeMap::new();
        for (file, it) in statements(evidence) {
            for name in changed_names(it, evidence.files[file].imported.contains(&it.first)) {
                bound.entry(name).or_default().push((file, it));
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
        let bound = self.bound.get(name).map_or(&[][..], Vec::as_slice);
        let is_only_there = bound.iter().all(|it| it.0 == bound[0].0);
        let is_read_elsewhere = self.is_read_elsewhere(file, reader, name);
        let is_seen =
            |of: usize| of == file || is_constant(name) || (is_only_there && is_read_elsewhere);
        let values = bound.iter().filter(|it| is_seen(it.0));
        let values = values.map(|(of, it)| ((*of, it.first), *it, share(it, reader)));
        let functions = self.functions.get(name).map_or(&[][..], Vec::as_slice);
        let is_one = functions.len() == 1;
        let called = functions.iter().filter(|it| is_one && (it.0 == file || is_read_elsewhere));
        values.chain(called.flat_map(|it| self.of_function(*it))).collect()
    }

    /// Returns whether a name that a statement reads may come from another file: imported names and
    /// attributes, but no local variables.
    fn is_read_elsewhere(&self, file: usize, reader: &StatementFact, name: &str) -> bool {
        reader.attributes.contains(name) || self.evidence.files[file].facts.imports.contains(name)
    }

    /// Returns the statements of a function that ran at import; of one that never ran, its `def`
    /// line, since something else ran in its place.
    fn of_function(&self, (file, number): Function) -> Vec<(Line, &'e StatementFact, f64)> {
        let of = &self.evidence.files[file];
        let all = of.facts.statements.iter().filter(|it| it.function == Some(number));
        let (headers, body): (Vec<_>, Vec<_>) =
            all.partition(|it| it.kind == StatementKind::Definition);
        let mut ran: Vec<&StatementFact> = body;
        ran.retain(|it| of.imported.contains(&it.first));
        let place = |it: &'e StatementFact, share: f64| ((file, it.first), it, share);
        match ran[..] {
            [] => headers.into_iter().map(|it| place(it, NEVER_RUN)).collect(),
            _ => ran.into_iter().map(|it| place(it, CALLED)).collect(),
        }
    }
}

/// Returns the names that a statement gives a value at import, or whose values it changes.
fn changed_names(it: &StatementFact, is_imported: bool) -> BTreeSet<&str> {
    let is_outside = it.function.is_none();
    let is_definition = [StatementKind::Assignment, StatementKind::Definition].contains(&it.kind);
    let mut names = BTreeSet::new();
    if is_outside && is_definition || is_imported {
        names.extend(it.binds.iter().map(String::as_str));
    }
    // `ROUTES.append(route)`
    if is_imported && it.kind == StatementKind::Call {
        names.extend(it.reads.iter().map(String::as_str));
    }
    names
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
