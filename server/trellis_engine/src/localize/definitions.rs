//! Suspicion of definitions: tests do not execute names bound at import, default values and class
//! attributes again, but they execute what reads them.

use std::collections::BTreeMap;

use trellis_python::{StatementFact, StatementKind};

use super::evidence::Evidence;
use super::spectrum::{Group, Line, Spectrum};

/// Factor of the suspicion that a definition inherits from a reader: a wrong constant is rarer than
/// a wrong statement, since every test that reads it would have failed.
const INHERITED: f64 = 0.6;
/// Addition to the factor for a definition that says everything, and a reader that says nothing.
const OF_PARTS: f64 = 0.4;

/// Suspicion that a definition inherits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inherited {
    /// Between 0 and 1.
    pub(super) score: f64,
    /// Share of the reader's suspicion.
    pub(super) share: f64,
    /// The most suspicious reader's line, and its function.
    pub(super) reader: (Line, Group),
}

struct Reader {
    score: f64,
    parts: u32,
    place: (Line, Group),
}

/// Readers by name; with a file for names that only count in it.
type Readers<'e> = BTreeMap<(Option<usize>, &'e str), Vec<Reader>>;

/// Returns the definitions that no test executes by itself, with what they inherit.
pub(super) fn inherited(evidence: &Evidence, spectrum: &Spectrum) -> BTreeMap<Line, Inherited> {
    let readers = readers(evidence, spectrum);
    let mut found = BTreeMap::new();
    for (file, of) in evidence.files.iter().enumerate() {
        for statement in &of.facts.statements {
            let line = (file, statement.first);
            let from = match (statement.kind, statement.function) {
                (StatementKind::Definition, Some(_)) => from_body(spectrum, file, statement),
                (StatementKind::Assignment, None) => from_readers(&readers, file, statement),
                _ => None,
            };
            let is_executed = spectrum.lines.contains_key(&line);
            if let Some(it) = from.filter(|it| it.score > 0.0 && !is_executed) {
                found.insert(line, it);
            }
        }
    }
    found
}

fn readers<'e>(evidence: &'e Evidence, spectrum: &Spectrum) -> Readers<'e> {
    let mut found = Readers::new();
    for ((file, line), counts) in &spectrum.lines {
        let of = &evidence.files[*file];
        let Some(at) = of.facts.statement_at(*line).filter(|_| !of.is_test) else { continue };
        let statement = &of.facts.statements[at];
        for name in &statement.reads {
            // Other files read constants; equal names of another kind in other files are mostly
            // different things.
            let constant = is_constant(name).then_some((None, name.as_str()));
            for key in [Some((Some(*file), name.as_str())), constant].into_iter().flatten() {
                found.entry(key).or_default().push(Reader {
                    score: spectrum.ochiai(*counts),
                    parts: statement.parts,
                    place: ((*file, statement.first), (*file, statement.function)),
                });
            }
        }
    }
    found
}

/// Returns what a `def` line inherits from its function, if it holds default values.
fn from_body(spectrum: &Spectrum, file: usize, it: &StatementFact) -> Option<Inherited> {
    let function = it.function.filter(|_| it.parts > 0 || !it.oddities.is_empty())?;
    let score = spectrum.of_function((file, function)) * INHERITED;
    let reader = ((file, it.first), (file, Some(function)));
    Some(Inherited { score, share: INHERITED, reader })
}

/// Returns what an assignment at import inherits from the statements that read its names. A
/// declaration without a value holds nothing that could be wrong.
fn from_readers(readers: &Readers<'_>, file: usize, it: &StatementFact) -> Option<Inherited> {
    let names = it.binds.iter().filter(|_| it.parts > 0).map(String::as_str);
    let by = |name| readers.get(&(Some(file), name)).or_else(|| readers.get(&(None, name)));
    let all = names.filter_map(by).flatten();
    let from = |of: &Reader| {
        let share = share(it, of);
        Inherited { score: of.score * share, share, reader: of.place }
    };
    all.map(from).max_by(|a, b| a.score.total_cmp(&b.score))
}

/// Returns the share of its reader's suspicion that a definition inherits: the more of what can be
/// wrong is in the definition, the higher.
fn share(it: &StatementFact, reader: &Reader) -> f64 {
    let own = f64::from(it.parts) / f64::from(it.parts + reader.parts);
    INHERITED + OF_PARTS * (2.0 * own - 1.0).max(0.0)
}

/// Returns whether a name is a constant by Python's naming convention.
fn is_constant(name: &str) -> bool {
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}
