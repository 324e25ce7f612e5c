//! Signals other than the spectrum.

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::{StatementFact, StatementKind};

use super::evidence::{Evidence, TestEvidence};
use super::spectrum::{Function, Line, Spectrum};
use super::weights::{IN_CYCLE, OUTWARDS, RAISED_ON_PURPOSE};
use super::words::words;

/// Returns the strength with which the tracebacks of failing tests point at each line, between 0
/// and 1: the mean over the tests.
pub(super) fn tracebacks(evidence: &Evidence) -> BTreeMap<Line, f64> {
    let mut found: BTreeMap<Line, f64> = BTreeMap::new();
    let count = evidence.failing().count().max(1) as f64;
    for test in evidence.failing() {
        for (line, strength) in traceback(evidence, test) {
            *found.entry(line).or_default() += strength / count;
        }
    }
    found
}

fn traceback(evidence: &Evidence, test: &TestEvidence) -> BTreeMap<Line, f64> {
    let mut found = BTreeMap::new();
    let Some(failure) = &test.failure else { return found };
    let mut frames: Vec<Line> = (failure.frames.iter())
        .filter_map(|frame| Some((evidence.file(&frame.path)?, frame.line)))
        .collect();
    // Code that does not compile has no frame of its own below the import of the file.
    let unreadable =
        ["SyntaxError", "IndentationError", "TabError"].contains(&failure.exception.as_str());
    if frames.is_empty() || unreadable {
        frames.extend(evidence.file(&failure.path).map(|file| (file, failure.line)));
    }
    if failure.exception == "RecursionError" {
        return recursion(evidence, &frames);
    }
    let in_test = frames.last().is_some_and(|(file, _)| evidence.files[*file].is_test);
    // A failed assertion only shows that the fault is in code executed earlier.
    if in_test && failure.exception == "AssertionError" {
        return found;
    }
    let (mut strength, mut blames_caller) = (1.0, true);
    for (depth, (file, line)) in frames.iter().rev().enumerate() {
        // Every failure of a test passes its own code.
        if evidence.files[*file].is_test && !blames_caller {
            break;
        }
        let facts = &evidence.files[*file].facts;
        let statement = facts.statement_at(*line).map(|it| &facts.statements[it]);
        let first = statement.map_or(*line, |it| it.first);
        let on_purpose = depth == 0 && statement.is_some_and(|it| it.kind == StatementKind::Raise);
        let own = if on_purpose { strength * RAISED_ON_PURPOSE } else { strength };
        let best: &mut f64 = found.entry((*file, first)).or_default();
        *best = best.max(own);
        if let Some(guard) = on_purpose.then(|| guard(facts, first)).flatten() {
            let best: &mut f64 = found.entry((*file, guard)).or_default();
            *best = best.max(own);
        }
        // If a line raises on purpose, its caller is the first suspect.
        strength *= if on_purpose { 0.9 } else { OUTWARDS };
        blames_caller = on_purpose || evidence.files[*file].is_test;
    }
    found
}

/// Returns the strength of a traceback that ends where the stack was full: shared by the lines that
/// stand in it again and again. Where it ended is an accident.
fn recursion(evidence: &Evidence, frames: &[Line]) -> BTreeMap<Line, f64> {
    let mut counts: BTreeMap<Line, usize> = BTreeMap::new();
    for (file, line) in frames.iter().filter(|it| !evidence.files[it.0].is_test) {
        *counts.entry(evidence.statement_line((*file, *line))).or_default() += 1;
    }
    let most = counts.values().copied().max().unwrap_or_default();
    // Frames at both ends may stand in it once less or more, and branches more seldom.
    counts.retain(|_, count| *count > 1 && *count * 4 >= most);
    let share = 1.0 / (counts.len().max(1) as f64).sqrt();
    counts.into_keys().map(|line| (line, share.min(IN_CYCLE))).collect()
}

/// Returns the condition around a line that raises: the nearest one before it whose branch begins
/// at the line.
fn guard(facts: &trellis_python::FileFacts, line: u32) -> Option<u32> {
    let guards = |it: &&StatementFact| it.branches.contains(&line);
    facts.statements.iter().find(guards).map(|it| it.first)
}

/// Returns the number of calls between the failing tests and each function that they ran: 0 for a
/// function that a test calls itself.
pub(super) fn distances(evidence: &Evidence, spectrum: &Spectrum) -> BTreeMap<Function, usize> {
    let executed: BTreeSet<Function> =
        spectrum.functions.iter().filter(|(_, it)| it.failed > 0).map(|(it, _)| *it).collect();
    let mut by_name: BTreeMap<&str, Vec<Function>> = BTreeMap::new();
    for (file, number) in &executed {
        let name = evidence.files[*file].facts.functions[*number].name.as_str();
        let mut parts = name.rsplit('.');
        let last = parts.next().unwrap_or(name);
        by_name.entry(last).or_default().push((*file, *number));
        // A call of a class runs its constructor.
        if let ("__init__" | "__post_init__" | "__new__" | "__call__", Some(class)) =
            (last, parts.next())
        {
            by_name.entry(class).or_default().push((*file, *number));
        }
    }
    let is_test = |(file, _): &Function| evidence.files[*file].is_test;
    let mut found = traced_distances(evidence);
    for it in evidence.failing().flat_map(|it| &it.reached) {
        let Some(function) = it.function else { continue };
        let distance: &mut usize = found.entry((it.file, function)).or_insert(it.distance);
        *distance = it.distance.min(*distance);
    }
    let mut front: Vec<Function> = executed.iter().copied().filter(is_test).collect();
    let mut seen: BTreeSet<Function> = front.iter().copied().collect();
    let mut distance = 0;
    while !front.is_empty() {
        let mut next = Vec::new();
        for (file, number) in front {
            let calls = &evidence.files[file].facts.functions[number].calls;
            let callees = calls.iter().filter_map(|it| by_name.get(it.as_str())).flatten();
            for callee in callees {
                if seen.insert(*callee) {
                    let known: &mut usize = found.entry(*callee).or_insert(distance);
                    *known = distance.min(*known);
                    next.push(*callee);
                }
            }
        }
        (front, distance) = (next, distance + 1);
    }
    found
}

/// Returns the number of calls between the traced failing tests and each function.
fn traced_distances(evidence: &Evidence) -> BTreeMap<Function, usize> {
    let mut found = BTreeMap::new();
    for trace in evidence.failing().filter_map(|it| it.trace.as_ref()) {
        let mut depths: Vec<usize> = Vec::new();
        for call in &trace.calls {
            let depth = call.caller.map_or(0, |it| {
                depths[it] + usize::from(!evidence.files[trace.calls[it].file].is_test)
            });
            depths.push(depth);
            if let Some(function) = call.function {
                let known: &mut usize = found.entry((call.file, function)).or_insert(depth);
                *known = depth.min(*known);
            }
        }
    }
    found
}

/// Returns the words of the failing tests: from their names, their messages and missing attributes.
pub(super) fn failing_words(evidence: &Evidence) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for test in evidence.failing() {
        found.extend(words(test.id.rsplit("::").next().unwrap_or(&test.id)));
        if let Some(failure) = &test.failure {
            let message: String = failure.message.chars().take(400).collect();
            found.extend(words(&message));
            found.extend(failure.missing_attribute.iter().flat_map(|it| words(it)));
        }
    }
    found
}

/// Scores the text of a statement between 0 and 1, with explanations.
pub(super) fn text_of(
    evidence: &Evidence,
    spectrum: &Spectrum,
    words_of_tests: &BTreeSet<String>,
    (file, line): Line,
    statement: &StatementFact,
) -> (f64, Vec<String>) {
    let mut why: Vec<String> = statement.oddities.clone();
    let odd = if why.is_empty() { 0.0 } else { 1.0 };
    let untaken = untaken(evidence, spectrum, file, statement);
    if untaken {
        why.push("a branch of it never ran".to_owned());
    }
    let own: BTreeSet<String> =
        statement.reads.iter().chain(&statement.binds).flat_map(|it| words(it)).collect();
    let shared = own.intersection(words_of_tests).count();
    let named = if own.is_empty() { 0.0 } else { shared as f64 / own.len() as f64 };
    let kind = match statement.kind {
        StatementKind::Condition => 1.0,
        StatementKind::Return => 0.85,
        StatementKind::Assignment => 0.75,
        StatementKind::Call => 0.7,
        StatementKind::Header => 0.65,
        StatementKind::Handler => 0.4,
        StatementKind::Raise | StatementKind::Definition => 0.2,
        StatementKind::Other => 0.1,
    };
    // In a multi-line statement, only lines with parts of their own count.
    let parts = statement.parts_of_lines.get(&line).copied().unwrap_or_default();
    let parts = (f64::from(parts) / 4.0).min(1.0);
    let score =
        0.25 * odd + 0.1 * f64::from(u8::from(untaken)) + 0.15 * named + 0.2 * kind + 0.3 * parts;
    (score, why)
}

/// Returns whether a failing test reached the condition while no test at all ran one of its
/// branches.
fn untaken(evidence: &Evidence, spectrum: &Spectrum, file: usize, it: &StatementFact) -> bool {
    let reached = spectrum.lines.get(&(file, it.first)).is_some_and(|it| it.failed > 0);
    let ran = |line: &u32| spectrum.lines.contains_key(&(file, *line));
    let coverable = |line: &&u32| {
        let facts = &evidence.files[file].facts;
        let statement = facts.statement_at(**line).map(|it| &facts.statements[it]);
        // A branch that only raises needs no coverage.
        statement.is_some_and(|it| {
            !matches!(it.kind, StatementKind::Raise | StatementKind::Handler | StatementKind::Other)
        })
    };
    reached && it.branches.iter().filter(coverable).any(|line| !ran(line))
}
