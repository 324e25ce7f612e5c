//! Places where a missing value should have come from: an exception only names the place that
//! misses it.

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::{StatementFact, StatementKind};

use super::evidence::{Evidence, TestEvidence};
use super::spectrum::Line;

/// Strengths of the places, next to 1 for a line that raises.
const SETS: f64 = 1.0;
const LEAVES_BEFORE: f64 = 0.9;
const CONSTRUCTS: f64 = 0.6;
const RETURNS_NONE: f64 = 0.9;
const BINDS_NONE: f64 = 0.8;

/// Places that should have provided what an exception misses, with strengths between 0 and 1.
#[derive(Debug, Default)]
pub(super) struct Origins {
    pub(super) lines: BTreeMap<Line, f64>,
    /// Lines that only miss something.
    pub(super) victims: BTreeSet<Line>,
}

impl Origins {
    /// Finds the origins for the failures of all failing tests, and for the exceptions raised in
    /// `unusual` lines, where only failing tests raise them.
    pub(super) fn of(evidence: &Evidence, unusual: &BTreeSet<Line>) -> Origins {
        let mut found = Origins::default();
        for test in evidence.failing() {
            if let Some(it) = &test.failure
                && let Some(file) = evidence.file(&it.path)
            {
                found.add(evidence, test, (file, it.line), &it.message);
            }
            let raised = test.trace.iter().flat_map(|it| &it.raised);
            for it in raised.filter(|it| unusual.contains(&evidence.statement_line(it.at))) {
                found.add(evidence, test, it.at, &it.message);
            }
        }
        found
    }

    fn add(&mut self, evidence: &Evidence, test: &TestEvidence, at: Line, message: &str) {
        let mut quoted = message.split('\'').skip(1).step_by(2);
        let found = match (message.contains("NoneType"), message.contains("has no attribute")) {
            (true, _) => none_sources(evidence, test, at),
            (false, true) => match (quoted.next(), quoted.next()) {
                (Some(owner), Some(attribute)) => setters(evidence, test, owner, attribute),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        if !found.is_empty() {
            self.victims.insert(evidence.statement_line(at));
        }
        for (line, strength) in found {
            let best: &mut f64 = self.lines.entry(line).or_default();
            *best = best.max(strength);
        }
    }
}

/// Returns the lines of a class that set an attribute, and those that leave such a method before;
/// those of the constructor if nothing sets it.
fn setters(
    evidence: &Evidence,
    test: &TestEvidence,
    owner: &str,
    attribute: &str,
) -> Vec<(Line, f64)> {
    let (mut found, mut constructors) = (Vec::new(), Vec::new());
    for (file, number, name) in methods(evidence, owner) {
        let statements = evidence.files[file].facts.statements.iter();
        let inside: Vec<&StatementFact> =
            statements.filter(|it| it.function == Some(number)).collect();
        let ran = inside.iter().filter(|it| executed(test, (file, it.first)));
        if let Some(sets) = inside.iter().find(|it| it.binds.contains(attribute)) {
            found.push(((file, sets.first), SETS));
            let leaves = ran.filter(|it| it.kind == StatementKind::Return && it.first < sets.first);
            found.extend(leaves.map(|it| ((file, it.first), LEAVES_BEFORE)));
        } else if matches!(name, "__init__" | "__new__" | "__post_init__") {
            constructors.extend(ran.map(|it| ((file, it.first), CONSTRUCTS)));
        }
    }
    if found.is_empty() { constructors } else { found }
}

/// Returns the methods of the code's classes of a name: file, number of the function, own name.
fn methods<'e>(
    evidence: &'e Evidence,
    owner: &'e str,
) -> impl Iterator<Item = (usize, usize, &'e str)> {
    let files = evidence.files.iter().enumerate().filter(|(_, it)| !it.is_test);
    let functions = files.flat_map(|(file, of)| {
        let functions = of.facts.functions.iter().enumerate();
        functions.map(move |(number, it)| (file, number, it.name.as_str()))
    });
    functions.filter_map(move |(file, number, name)| {
        let (class, method) = name.rsplit_once('.')?;
        let own = class.rsplit('.').next().unwrap_or(class);
        (own == owner).then_some((file, number, method))
    })
}

/// Returns the lines that may have produced the `None` that a line reads: functions that returned
/// it, and assignments of a mere constant.
fn none_sources(evidence: &Evidence, test: &TestEvidence, at: Line) -> Vec<(Line, f64)> {
    let facts = &evidence.files[at.0].facts;
    let Some(line) = facts.statement_at(at.1).map(|it| &facts.statements[it]) else {
        return Vec::new();
    };
    let mut names = line.reads.clone();
    let feeds = |it: &&StatementFact| {
        it.function == line.function && it.binds.iter().any(|it| line.reads.contains(it))
    };
    names.extend(facts.statements.iter().filter(feeds).flat_map(|it| it.reads.iter().cloned()));
    let returned = returned_none(evidence, test).filter(|(_, name)| names.contains(*name));
    let mut found: Vec<(Line, f64)> = returned.map(|(it, _)| (it, RETURNS_NONE)).collect();
    for (file, of) in evidence.files.iter().enumerate().filter(|(_, it)| !it.is_test) {
        let binds = |it: &&StatementFact| {
            let is_near = it.function == line.function && file == at.0;
            is_plain(it)
                && it.binds.iter().any(|it| line.reads.contains(it))
                && (is_near || it.reads.contains("self"))
                && executed(test, (file, it.first))
        };
        for it in of.facts.statements.iter().filter(binds) {
            found.push(((file, it.first), BINDS_NONE));
            // The value may be the default of a parameter.
            let header = it.function.map(|it| of.facts.functions[it].header);
            let is_parameter = it.reads.iter().any(|it| it != "self");
            found.extend(header.filter(|_| is_parameter).map(|it| ((file, it), BINDS_NONE)));
        }
    }
    found
}

/// Returns the lines where functions of the code that also return values returned `None`, with the
/// functions' own names.
fn returned_none<'e>(
    evidence: &'e Evidence,
    test: &'e TestEvidence,
) -> impl Iterator<Item = (Line, &'e str)> {
    let values = test.trace.iter().flat_map(|it| &it.values);
    let none = values.filter(|(_, name, kind)| name == "return" && kind == "None");
    none.filter_map(|((file, line), _, _)| {
        let of = &evidence.files[*file];
        let function = of.facts.function_at(*line).filter(|_| !of.is_test)?;
        let name = of.facts.functions[function].name.rsplit('.').next()?;
        let is_value = |it: &StatementFact| {
            it.kind == StatementKind::Return && (it.parts > 0 || !it.reads.is_empty())
        };
        let mut inside = of.facts.statements.iter().filter(|it| it.function == Some(function));
        inside.any(is_value).then_some(())?;
        Some((evidence.statement_line((*file, *line)), name))
    })
}

/// Returns whether a statement assigns a constant or a name, without an operation.
fn is_plain(it: &StatementFact) -> bool {
    it.kind == StatementKind::Assignment
        && it.parts == 0
        && it.reads.iter().filter(|it| !matches!(it.as_str(), "self" | "cls")).count() <= 1
}

fn executed(test: &TestEvidence, (file, line): Line) -> bool {
    test.lines.get(&file).is_some_and(|it| it.contains(&line))
}
