//! Suspicion of functions, by their own signals and those of their lines.

use std::collections::BTreeSet;

use super::explanations;
use super::rank::Ranker;
use super::spectrum::{Function, Group};
use super::suspects::{LineSuspect, RankedFunction, ScoreParts};
use super::weights;
use super::words::words;

impl Ranker<'_> {
    /// Scores a function, or a top level, before its lines have final scores.
    pub(super) fn function(&self, group: Group, lines: &[LineSuspect]) -> RankedFunction {
        let (file, number) = group;
        let of = &self.evidence.files[file];
        let distance = self.distance(group, lines);
        let parts = self.parts(group, lines, distance);
        let line = lines.iter().map(|it| it.score).fold(0.0, f64::max);
        let own = weights::FUNCTION.sum(&parts);
        let prior = own * (1.0 - weights::OF_LINE) + line * weights::OF_LINE;
        let factor = if of.is_test { self.test_code(parts.traceback) } else { 1.0 };
        let named = lines.iter().map(|it| {
            let first = self.evidence.statement_line((it.file, it.line));
            self.named_by_traceback(first)
        });
        let named = named.fold(0.0, f64::max);
        let counts = number.and_then(|it| self.spectrum.functions.get(&(file, it)).copied());
        RankedFunction {
            file,
            line: 0,
            symbol: number.map(|it| of.facts.functions[it].name.clone()).unwrap_or_default(),
            score: prior * factor,
            why: explanations::function(
                counts,
                self.spectrum.total,
                &parts,
                named,
                distance,
                counts.is_none(),
            ),
            parts,
            lines: Vec::new(),
            repair: None,
            is_proven: false,
        }
    }

    fn parts(&self, group: Group, lines: &[LineSuspect], distance: Option<usize>) -> ScoreParts {
        let (file, number) = group;
        let best = |part: fn(&ScoreParts) -> f64| {
            lines.iter().map(|it| part(&it.parts)).fold(0.0, f64::max)
        };
        let number = number.map(|it| (file, it));
        // A branch of the function may be more suspicious than the whole.
        let line = best(|it| it.spectrum);
        let whole = number.and_then(|it| self.spectrum_of(it));
        ScoreParts {
            spectrum: whole.map_or(line, |it| (it + line) / 2.0),
            traceback: best(|it| it.traceback),
            observed: best(|it| it.observed),
            distance: distance.map_or(0.0, |it| 1.0 / (1.0 + 0.5 * it as f64)),
            recency: best(|it| it.recency),
            text: 0.5 * number.map_or(0.0, |it| self.named(it)) + 0.5 * best(|it| it.text),
            trials: best(|it| it.trials),
        }
    }

    /// Returns the similarity of the executions of a function to failure; `None` if no test runs it.
    fn spectrum_of(&self, (file, number): Function) -> Option<f64> {
        self.spectrum.functions.get(&(file, number))?;
        let facts = &self.evidence.files[file].facts;
        let header = facts.functions[number].header;
        let inside =
            |it: &&trellis_python::StatementFact| it.function == Some(number) && it.first > header;
        let first = facts.statements.iter().find(inside);
        let after = first.map_or(1.0, |it| self.spectrum.before_exceptions((file, it.first)));
        let near = self.spectrum.nearness((file, Some(number)));
        Some(self.spectrum.of_function((file, number)) * near * after)
    }

    /// Returns the share of a function's words that the failing tests use as well.
    fn named(&self, (file, number): Function) -> f64 {
        let of = &self.evidence.files[file];
        let name = own_words(&of.facts.functions[number].name);
        // Tests are written with the fix, so their words say nothing.
        if of.is_test || name.is_empty() {
            return 0.0;
        }
        name.intersection(&self.words).count() as f64 / name.len() as f64
    }

    /// Returns the number of calls between the failing tests and a function; for code that runs at
    /// import, between them and the functions that read what it defines.
    fn distance(&self, (file, number): Group, lines: &[LineSuspect]) -> Option<usize> {
        let of = |function: usize, file: usize| self.distances.get(&(file, function)).copied();
        if let Some(own) = number.and_then(|it| of(it, file)) {
            return Some(own);
        }
        let inherited = lines.iter().filter_map(|it| self.spectrum.inherited.get(&(file, it.line)));
        inherited.filter_map(|it| of(it.reader.1.1?, it.reader.1.0)).min()
    }
}

/// Returns the words of a function's own name, and of its class for a special method.
fn own_words(name: &str) -> BTreeSet<String> {
    let mut parts = name.rsplit('.');
    let own = parts.next().unwrap_or_default();
    let is_special = own.starts_with("__") && own.ends_with("__");
    let class = parts.next().filter(|_| is_special).unwrap_or_default();
    words(own).into_iter().chain(words(class)).collect()
}
