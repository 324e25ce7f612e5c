//! Traces of a few tests beside the spectrum: branches, values and exceptions that only
//! failing tests show, on lines that every test runs (statistical debugging with predicates; Liblit
//! et al. 2005).

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{Evidence, TestEvidence};
use super::spectrum::{Counts, Line, Spectrum};

/// The way of one test through the code, up to its failure. Files are indices in
/// [`Evidence::files`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestTrace {
    /// Functions in the order of their first calls.
    pub calls: Vec<TracedCall>,
    /// Exceptions by the line that raised them, or called the library that did: caught ones too.
    pub raised: BTreeSet<RaisedException>,
    /// Pairs of lines that ran one after the other in one function.
    pub branches: BTreeSet<(usize, u32, u32)>,
    /// Names that lines read, or `return`, with the kind of their value.
    pub values: BTreeSet<(Line, String, String)>,
    /// First lines of statements where a handler looked at an exception.
    pub handlers: BTreeSet<Line>,
    /// The moment when each statement ran first, by file and first line. Moments count up from 0.
    pub first: BTreeMap<usize, BTreeMap<u32, u32>>,
    /// The moment when the exception that made the test fail was raised, if code of the project
    /// raised it.
    pub decided: Option<u32>,
}

/// An exception that a test raised.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RaisedException {
    /// Index of the file, line.
    pub at: (usize, u32),
    /// The class of the exception.
    pub exception: String,
    /// The start of its message.
    pub message: String,
    /// The moment when it was raised first.
    pub moment: u32,
}

/// A function that a test called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedCall {
    /// Index of the file.
    pub file: usize,
    /// Index of the function in the facts of the file; `None` for the top level.
    pub function: Option<usize>,
    /// Index in [`TestTrace::calls`] of the nearest caller inside the project.
    pub caller: Option<usize>,
    /// The calling line there.
    pub line: Option<u32>,
}

/// Something that a traced test shows on a line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Predicate<'t> {
    Branch { from: Line, to: u32 },
    Value { at: Line, name: &'t str, kind: &'t str },
    Raised { at: Line, exception: &'t str },
}

/// The most suspicious predicates of each line, as similarities to failure between 0 and 1.
#[derive(Debug, Default)]
pub(super) struct Predicates {
    /// Branches taken and values read.
    pub(super) lines: BTreeMap<Line, Observed>,
    /// Exceptions.
    pub(super) raised: BTreeMap<Line, Observed>,
}

/// A predicate in words, with its similarity to failure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Observed {
    pub(super) score: f64,
    pub(super) why: String,
}

impl Predicates {
    /// Scores the predicates of all traced tests.
    pub(super) fn of(evidence: &Evidence, spectrum: &Spectrum) -> Predicates {
        let traced: Vec<(&TestEvidence, &TestTrace)> =
            evidence.tests.iter().filter_map(|it| Some((it, it.trace.as_ref()?))).collect();
        let mut counts: BTreeMap<Predicate<'_>, Counts> = BTreeMap::new();
        let mut visits: BTreeMap<Line, usize> = BTreeMap::new();
        for (test, trace) in &traced {
            for predicate in predicates(evidence, trace) {
                counts.entry(predicate).or_default().add_test(test.failed);
            }
            if !test.failed {
                let lines = test.lines.iter();
                let lines = lines.flat_map(|(file, lines)| lines.iter().map(|it| (*file, *it)));
                lines.for_each(|it| *visits.entry(it).or_default() += 1);
            }
        }
        let failing = traced.iter().filter(|(it, _)| it.failed).count();
        let mut found = Predicates::default();
        // Without a passing test to compare with, every branch and value looks suspicious.
        let is_comparable = failing < traced.len();
        for (predicate, mut count) in counts.into_iter().filter(|(_, it)| it.failed > 0) {
            let at = place(evidence, &predicate);
            let is_raised = matches!(predicate, Predicate::Raised { .. });
            if evidence.files[at.0].is_test || !is_comparable && !is_raised {
                continue;
            }
            // Tests that were not traced show the predicate as often as those that were.
            let visited = visits.get(&at).copied().unwrap_or_default();
            let passed = spectrum.lines.get(&at).map_or(0, |it| it.passed);
            if visited > 0 && count.passed > 0 {
                count.passed = count.passed.max(count.passed * passed / visited);
            }
            let score = spectrum.ochiai_among(count, failing);
            found.note(at, &predicate, score);
        }
        found
    }

    /// Returns the lines where mostly failing tests raise an exception.
    pub(super) fn unusual(&self) -> BTreeSet<Line> {
        self.raised.iter().filter(|(_, it)| it.score >= 0.5).map(|(line, _)| *line).collect()
    }

    fn note(&mut self, at: Line, predicate: &Predicate<'_>, score: f64) {
        let (of, why) = match predicate {
            Predicate::Branch { to, .. } => {
                (&mut self.lines, format!("failing tests continue at line {to} from here"))
            }
            Predicate::Value { name: "return", kind, .. } => {
                (&mut self.lines, format!("it returns {kind} in failing tests"))
            }
            Predicate::Value { name, kind, .. } => {
                (&mut self.lines, format!("`{name}` is {kind} here in failing tests"))
            }
            Predicate::Raised { exception, .. } => {
                (&mut self.raised, format!("{exception} is raised here in failing tests"))
            }
        };
        let best: &mut Observed = of.entry(at).or_default();
        if score > best.score {
            *best = Observed { score, why };
        }
    }
}

fn predicates<'t>(
    evidence: &'t Evidence,
    trace: &'t TestTrace,
) -> impl Iterator<Item = Predicate<'t>> {
    // The way to a handler shows no more than the exception does.
    let handles =
        |file: usize, line: u32| trace.handlers.contains(&evidence.statement_line((file, line)));
    let branches = trace.branches.iter().filter(move |(file, _, to)| !handles(*file, *to));
    let branches =
        branches.map(|(file, from, to)| Predicate::Branch { from: (*file, *from), to: *to });
    let values =
        trace.values.iter().map(|(at, name, kind)| Predicate::Value { at: *at, name, kind });
    let raised =
        trace.raised.iter().map(|it| Predicate::Raised { at: it.at, exception: &it.exception });
    branches.chain(values).chain(raised)
}

/// Returns the first line of the statement that a predicate speaks of.
fn place(evidence: &Evidence, predicate: &Predicate<'_>) -> Line {
    let (Predicate::Branch { from: (file, line), .. }
    | Predicate::Value { at: (file, line), .. }
    | Predicate::Raised { at: (file, line), .. }) = predicate;
    evidence.statement_line((*file, *line))
}
