//! The edits to try, in the order in which they are tried.

use std::collections::BTreeMap;
use std::sync::Arc;

use trellis_engine::localize::{Evidence, Ranking};
use trellis_python::{Mutant, MutantKind, mutants};

use super::super::LocalizeRequest;

/// Maximum numbers of lines and files to edit.
const LINES: usize = 300;
const FILES: usize = 20;
/// Maximum number of edits per request.
const MOST: usize = 8000;

/// An edit to try.
pub(super) struct Edit {
    pub(super) file: usize,
    pub(super) path: String,
    pub(super) source: Arc<str>,
    pub(super) mutant: Mutant,
    /// Priority; higher values are tried sooner.
    priority: f64,
    /// The statement that the line belongs to is executed by a failing test.
    is_executed: bool,
}

impl Edit {
    /// Returns the class of urgency; lower ones are tried sooner. An undefined name that failing
    /// tests read is a fault. After those come edits that switch the outcome of a condition that
    /// failing tests evaluate: if the fault is in a condition, or decides about one, such an edit
    /// changes the failure.
    fn urgency(&self) -> usize {
        match self.mutant.kind {
            MutantKind::Undefined if self.is_executed => 0,
            MutantKind::Negation if self.is_executed => 1,
            _ => 2,
        }
    }
}

/// Returns edits of the suspicious lines: undefined names and switched conditions
/// first, then by priority.
pub(super) fn edits(
    search: &LocalizeRequest<'_>,
    evidence: &Evidence,
    ranking: &Ranking,
) -> Vec<Edit> {
    let highest = ranking.lines.first().map_or(1.0, |it| it.score.max(f64::EPSILON));
    let mut found = Vec::new();
    for (file, lines) in suspicious(evidence, ranking) {
        let path = &evidence.files[file].path;
        let Some(source) = search.index.file(path).and_then(|it| search.index.text(it)) else {
            continue;
        };
        let facts = &evidence.files[file].facts;
        let first =
            |line: u32| facts.statement_at(line).map_or(line, |it| facts.statements[it].first);
        let score = |line: u32| lines.get(&first(line)).copied();
        let Ok(mut all) = mutants(&source, |line| score(line).is_some()) else { continue };
        all.sort_by(|a, b| b.kind.plausibility().total_cmp(&a.kind.plausibility()));
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for mutant in all {
            let count = counts.entry(mutant.line).or_default();
            *count += 1;
            let share = score(mutant.line).unwrap_or_default() / highest;
            // All lines get a turn before one gets many.
            let turn = 1.0 / (1.0 + 0.1 * *count as f64);
            let priority = (0.3 + 0.7 * share) * mutant.kind.plausibility() * turn;
            let is_executed = executed(evidence, file, first(mutant.line));
            let (path, source) = (path.clone(), source.clone());
            found.push(Edit { file, path, source, mutant, priority, is_executed });
        }
    }
    found.sort_by(|a, b| {
        (a.urgency().cmp(&b.urgency()))
            .then_with(|| b.priority.total_cmp(&a.priority))
            .then_with(|| (a.file, a.mutant.line).cmp(&(b.file, b.mutant.line)))
    });
    found.truncate(MOST);
    found
}

/// Returns the scores of the lines to edit, by file.
fn suspicious(evidence: &Evidence, ranking: &Ranking) -> BTreeMap<usize, BTreeMap<u32, f64>> {
    let mut found: BTreeMap<usize, BTreeMap<u32, f64>> = BTreeMap::new();
    let lines = ranking.lines.iter().filter(|it| !evidence.files[it.file].is_test);
    for line in lines.take(LINES) {
        if found.len() < FILES || found.contains_key(&line.file) {
            found.entry(line.file).or_default().insert(line.line, line.score);
        }
    }
    found
}

fn executed(evidence: &Evidence, file: usize, line: u32) -> bool {
    let mut failing = evidence.tests.iter().filter(|it| it.failed);
    failing.any(|it| it.lines.get(&file).is_some_and(|lines| lines.contains(&line)))
}
