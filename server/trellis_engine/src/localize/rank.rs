//! Ranking of functions and lines by suspicion.

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::StatementKind;

use super::evidence::Evidence;
use super::explanations;
use super::origins::Origins;
use super::signals::{distances, failing_words, text_of, tracebacks};
use super::spectrum::{Function, Group, Line, Spectrum};
use super::suspects::{LineSuspect, RankedFunction, Ranking, ScoreParts};
use super::trace::{Observed, Predicates};
use super::trials::{LineEvidence, Trial, verdicts};
use super::weights::{self, RAISED, RAISED_ON_PURPOSE, TELLING, VICTIM};

pub(super) struct Ranker<'e> {
    pub(super) evidence: &'e Evidence,
    pub(super) spectrum: Spectrum,
    pub(super) tracebacks: BTreeMap<Line, f64>,
    pub(super) distances: BTreeMap<Function, usize>,
    pub(super) words: BTreeSet<String>,
    pub(super) predicates: Predicates,
    pub(super) origins: Origins,
    pub(super) verdicts: BTreeMap<Line, LineEvidence<'e>>,
    /// True if few passing tests run some function of the code that failing tests run.
    is_code_unproven: bool,
}

/// Ranks functions and lines. Suspects are only lines executed by failing tests, lines named in a
/// traceback, and code that runs at import or not at all and that either of these reads, also
/// through other such code.
pub fn rank(evidence: &Evidence, trials: &[Trial]) -> Ranking {
    let spectrum = Spectrum::of(evidence);
    let predicates = Predicates::of(evidence, &spectrum);
    let ranker = Ranker {
        evidence,
        is_code_unproven: is_code_unproven(evidence, &spectrum),
        tracebacks: tracebacks(evidence),
        distances: distances(evidence, &spectrum),
        words: failing_words(evidence),
        verdicts: verdicts(trials),
        origins: Origins::of(evidence, &predicates.unusual()),
        predicates,
        spectrum,
    };
    ranker.rank()
}

/// Returns whether passing tests prove little of some function that failing tests run.
fn is_code_unproven(evidence: &Evidence, spectrum: &Spectrum) -> bool {
    let mut of_code = spectrum.functions.keys().filter(|it| !evidence.files[it.0].is_test);
    of_code.any(|it| spectrum.of_function(*it) >= weights::UNPROVEN)
}

impl Ranker<'_> {
    fn rank(&self) -> Ranking {
        let mut groups: BTreeMap<Group, Vec<LineSuspect>> = BTreeMap::new();
        for line in self.candidates() {
            let (group, suspect) = self.line(line);
            groups.entry(group).or_default().push(suspect);
        }
        let mut ranking = Ranking::default();
        for (group, mut lines) in groups {
            let mut function = self.function(group, &lines);
            for line in &mut lines {
                line.score = self.joined(line, function.score);
            }
            lines.sort_by(|a, b| self.order(a, b));
            function.take(&lines);
            ranking.lines.extend(lines.iter().cloned());
            function.lines = lines;
            ranking.suspects.push(function);
        }
        ranking.lines.sort_by(|a, b| self.order(a, b));
        ranking.suspects.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| {
                let first = |it: &RankedFunction| it.lines.first().cloned();
                match (first(a), first(b)) {
                    (Some(a), Some(b)) => self.order(&a, &b),
                    (a, b) => b.is_some().cmp(&a.is_some()),
                }
            })
        });
        ranking
    }

    fn candidates(&self) -> BTreeSet<Line> {
        let failed = self.spectrum.lines.iter().filter(|(_, it)| it.failed > 0).map(|(it, _)| *it);
        let named = self.tracebacks.keys().copied().chain(self.origins.lines.keys().copied());
        let inherited = self.spectrum.inherited.keys().copied();
        let tried = self.verdicts.iter().filter(|(_, it)| it.value > 0.0).map(|(it, _)| *it);
        let all: BTreeSet<Line> = failed.chain(named).chain(inherited).chain(tried).collect();
        let inner = all.iter().flat_map(|it| self.inner_lines(*it)).collect::<Vec<_>>();
        all.into_iter().chain(inner).collect()
    }

    /// Returns the lines of a multi-line statement that can hold a fault.
    fn inner_lines(&self, (file, line): Line) -> Vec<Line> {
        let facts = &self.evidence.files[file].facts;
        let Some(at) = facts.statement_at(line) else { return Vec::new() };
        facts.statements[at].parts_of_lines.keys().map(|it| (file, *it)).collect()
    }

    /// Scores a line without the contribution of its function.
    fn line(&self, (file, line): Line) -> (Group, LineSuspect) {
        let of = &self.evidence.files[file];
        let statement = of.facts.statement_at(line).map(|it| &of.facts.statements[it]);
        let first = statement.map_or(line, |it| it.first);
        let (text, mut odd) = statement
            .map(|it| text_of(self.evidence, &self.spectrum, &self.words, (file, line), it))
            .unwrap_or_default();
        odd.extend(self.observations((file, first)));
        let function = of.facts.function_at(line);
        let recency = self.recency(file, first, statement.map_or(first, |it| it.last));
        let parts = ScoreParts {
            spectrum: self.spectrum.of_line((file, first))
                * self.spectrum.nearness((file, function))
                * self.spectrum.before_exceptions((file, first)),
            traceback: self.raising((file, first)),
            observed: self.observed((file, first)),
            distance: 0.0,
            // Tests are written with the fix, so their age and their words say nothing.
            recency: if of.is_test { 0.0 } else { recency },
            text,
            trials: self.verdicts.get(&(file, line)).map_or(0.0, |it| it.value),
        };
        let symbol = function.map(|it| of.facts.functions[it].name.clone()).unwrap_or_default();
        let counts = self.spectrum.lines.get(&(file, first)).copied();
        let verdict = self.verdicts.get(&(file, line));
        let suspect = LineSuspect {
            file,
            line,
            symbol,
            score: weights::LINE.sum(&parts),
            why: explanations::line(
                counts,
                self.spectrum.total,
                &parts,
                self.named_by_traceback((file, first)),
                &odd,
                verdict,
            ),
            parts,
            repair: verdict.and_then(|it| it.repair).and_then(|it| it.repair.clone()),
            is_proven: verdict.is_some_and(LineEvidence::proves),
            hint: verdict.and_then(LineEvidence::hint),
        };
        ((file, function), suspect)
    }

    /// Returns the strength of the branches and values that only failing tests show on a line; for a
    /// definition, on the line that reads it.
    fn observed(&self, line: Line) -> f64 {
        let of = |line: Line| self.predicates.lines.get(&line).map_or(0.0, |it| it.score);
        let own = of(line) * self.spectrum.before_exceptions(line);
        let inherited = self.spectrum.inherited.get(&line);
        own.max(inherited.map_or(0.0, |it| of(it.reader.0) * it.share))
    }

    /// Returns what only failing tests show on a line, as fragments of sentences.
    fn observations(&self, line: Line) -> Vec<String> {
        let seen = [&self.predicates.lines, &self.predicates.raised].map(|it| it.get(&line));
        let plain = self.spectrum.of_line(line);
        let telling = |it: &&Observed| it.score >= TELLING && it.score > plain;
        let mut said: Vec<String> =
            seen.into_iter().flatten().filter(telling).map(|it| it.why.clone()).collect();
        if self.origins.lines.contains_key(&line) {
            said.push("what the exception misses should come from here".to_owned());
        }
        said
    }

    /// Returns the strength with which the tracebacks of failing tests point at a line.
    pub(super) fn named_by_traceback(&self, line: Line) -> f64 {
        self.tracebacks.get(&line).copied().unwrap_or_default()
    }

    /// Returns how much exceptions point at a line: as their place, or as the place that should have
    /// provided what they miss.
    fn raising(&self, line: Line) -> f64 {
        let named = self.named_by_traceback(line);
        let facts = &self.evidence.files[line.0].facts;
        let on_purpose = |at: usize| facts.statements[at].kind == StatementKind::Raise;
        let factor = match facts.statement_at(line.1).is_some_and(on_purpose) {
            true => RAISED_ON_PURPOSE,
            false => RAISED,
        };
        let raised = self.predicates.raised.get(&line).map_or(0.0, |it| it.score * factor);
        let own = named.max(raised);
        let own = if self.origins.victims.contains(&line) { own * VICTIM } else { own };
        own.max(self.origins.lines.get(&line).copied().unwrap_or_default())
    }

    /// Returns the factor for test code: higher if the traceback shows an error raised there other
    /// than a failed assertion.
    pub(super) fn test_code(&self, traceback: f64) -> f64 {
        match self.is_code_unproven {
            _ if traceback >= 0.99 => weights::FAILING_TEST_CODE,
            true => weights::TEST_OF_UNPROVEN_CODE,
            false => weights::ASSERTING_TEST_CODE,
        }
    }

    fn recency(&self, file: usize, first: u32, last: u32) -> f64 {
        let changed = self.evidence.files[file].changed.range(first..=last.max(first));
        changed.map(|(_, it)| *it).fold(0.0, f64::max)
    }

    /// Returns the final score of a line.
    fn joined(&self, line: &LineSuspect, function: f64) -> f64 {
        let own = if self.evidence.files[line.file].is_test {
            line.score * self.test_code(line.parts.traceback)
        } else {
            line.score
        };
        let prior = own * (1.0 - weights::OF_FUNCTION) + function * weights::OF_FUNCTION;
        match self.verdicts.get(&(line.file, line.line)) {
            Some(verdict) => verdict.correct(prior),
            None => prior * weights::UNTRIED,
        }
    }

    fn order(&self, a: &LineSuspect, b: &LineSuspect) -> std::cmp::Ordering {
        let parts = |it: &LineSuspect| {
            let facts = &self.evidence.files[it.file].facts;
            facts.statement_at(it.line).map_or(0, |at| facts.statements[at].parts)
        };
        let near = |it: &LineSuspect| {
            let function = self.evidence.files[it.file].facts.function_at(it.line);
            function
                .and_then(|at| self.distances.get(&(it.file, at)))
                .copied()
                .unwrap_or(usize::MAX)
        };
        let path = |it: &LineSuspect| self.evidence.files[it.file].path.as_str();
        (b.score.total_cmp(&a.score))
            .then_with(|| b.parts.spectrum.total_cmp(&a.parts.spectrum))
            .then_with(|| b.parts.traceback.total_cmp(&a.parts.traceback))
            .then_with(|| near(a).cmp(&near(b)))
            .then_with(|| b.parts.recency.total_cmp(&a.parts.recency))
            .then_with(|| parts(b).cmp(&parts(a)))
            .then_with(|| path(a).cmp(path(b)))
            .then_with(|| a.line.cmp(&b.line))
    }
}
