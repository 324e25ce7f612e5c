//! Trials of small edits of suspicious lines. Each runs against the failing tests that execute the
//! function, and if one of these passes, against passing tests that do.
//!
//! Most trials share a run, in which each edit is tried in a fork. Edits that cannot be tried in
//! this way get a run of their own, as does every edit that seems to repair.

mod edits;
mod facts;
mod forked;
mod test_choice;
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesOrdered;
use trellis_engine::localize::{Evidence, Ranking, Trial};
use trellis_sandbox::TestResult;

use super::{LocalizeRequest, has_failed};
use edits::{Edit, edits};
use facts::{Said, said};
use forked::ForkedTrials;
use test_choice::{TestChoice, TestChoices};

/// Number of trials at a time; each has its own worker.
const BATCH: usize = 2;
/// Maximum number of repairs to confirm by ordinary runs.
const CONFIRMED: usize = 5;
/// Share of the time for trials that confirmation may take beyond it.
const GRACE: f64 = 0.5;
/// After a repair, this many edits again and as many as before are tried, so that a better one
/// nearby is found.
const MORE: usize = 400;

pub(super) struct MutationRunner<'a> {
    search: &'a LocalizeRequest<'a>,
    evidence: &'a Evidence,
    edits: Vec<Edit>,
    /// Exception and message of the failing tests by id, before any edit.
    failing: BTreeMap<String, Said>,
    choices: TestChoices,
    /// Index of each test in the evidence.
    places: BTreeMap<&'a str, usize>,
}

/// Result of an edit.
enum Tried {
    /// The tests ran.
    Trial(Box<Trial>),
    /// The edit changes nothing, or is not Python.
    Void,
    /// The edit needs a run of its own.
    Unsupported,
}

impl<'a> MutationRunner<'a> {
    pub(super) fn new(
        search: &'a LocalizeRequest<'a>,
        evidence: &'a Evidence,
        ranking: &Ranking,
        results: &[&TestResult],
    ) -> MutationRunner<'a> {
        let failed: Vec<&TestResult> =
            results.iter().copied().filter(|it| has_failed(it)).collect();
        let failing = failed.iter().map(|it| (it.id.clone(), said(it))).collect();
        let edits = edits(search, evidence, ranking);
        let choices = TestChoices::new(evidence, &edits, results, &failed, search.test_timeout);
        let places =
            evidence.tests.iter().enumerate().map(|(at, it)| (it.id.as_str(), at)).collect();
        MutationRunner { search, evidence, edits, failing, choices, places }
    }

    /// Tries edits until the time is over or none is left. Returns the trials, and notes on what
    /// was not tried.
    pub(super) async fn run(self, until: Instant) -> (Vec<Trial>, Vec<String>) {
        if self.choices.all.first.is_empty() {
            let note = "no trials: the failing tests end without a failure of their own";
            return (Vec::new(), vec![note.to_owned()]);
        }
        let grace = until.saturating_duration_since(Instant::now()).mul_f64(GRACE);
        let mut tried = ForkedTrials::new(&self).run(until).await;
        self.confirm(&mut tried, until + grace).await;
        self.try_others(&mut tried, until).await;
        let notes = vec![self.note(&tried, Instant::now() >= until)];
        let trials = tried.into_values().filter_map(|it| match it {
            Tried::Trial(trial) => Some(*trial),
            Tried::Void | Tried::Unsupported => None,
        });
        (trials.collect(), notes)
    }

    /// Returns the number of edits to try, given the results so far.
    fn last(&self, tried: &BTreeMap<usize, Tried>) -> usize {
        let repairs = |it: &Tried| matches!(it, Tried::Trial(trial) if trial.repairs());
        let first = tried.iter().find(|(_, it)| repairs(it)).map(|(number, _)| *number);
        first.map_or(self.edits.len(), |it| (2 * it + MORE).min(self.edits.len()))
    }

    fn choice(&self, edit: &Edit) -> &TestChoice {
        self.choices.of(edit)
    }

    /// Repeats the most promising repairs in ordinary runs, whose results take the place of the
    /// former ones.
    async fn confirm(&self, tried: &mut BTreeMap<usize, Tried>, until: Instant) {
        let mut under_way: FuturesOrdered<_> = repairs(tried)
            .into_iter()
            .map(|number| async move { (number, self.confirmed(&self.edits[number], until).await) })
            .collect();
        while let Some((number, confirmed)) = under_way.next().await {
            let Some(Tried::Trial(trial)) = tried.get_mut(&number) else { continue };
            if let Some(confirmed) = confirmed {
                **trial = Trial { still_reached: trial.still_reached, ..confirmed };
            }
        }
    }

    /// Tries edits that have no result yet in runs of their own.
    async fn try_others(&self, tried: &mut BTreeMap<usize, Tried>, until: Instant) {
        let is_open =
            |number: &usize| !matches!(tried.get(number), Some(Tried::Trial(_) | Tried::Void));
        let open: Vec<usize> = (0..self.last(tried)).filter(is_open).collect();
        let mut results = futures_util::stream::iter(open)
            .map(|number| async move { (number, self.attempt(&self.edits[number], until).await) })
            .buffered(BATCH);
        let mut repaired = None;
        while let Some((number, result)) = results.next().await {
            let Some(result) = result else { continue };
            if matches!(&result, Tried::Trial(trial) if trial.repairs()) {
                repaired.get_or_insert(number);
            }
            tried.insert(number, result);
            if repaired.is_some_and(|it| number >= 2 * it + MORE) {
                break;
            }
        }
    }

    /// Describes the extent of the trials.
    fn note(&self, tried: &BTreeMap<usize, Tried>, is_late: bool) -> String {
        let count = tried.values().filter(|it| matches!(it, Tried::Trial(_))).count();
        let void = tried.values().filter(|it| matches!(it, Tried::Void)).count();
        let all = self.edits.len() - void;
        if count == all {
            return format!("all {count} small edits of suspicious lines were tried");
        }
        let why = if is_late { "the time was up" } else { "a repair was found" };
        format!("the trials stopped early: {count} of {all} small edits were tried, because {why}")
    }
}

/// Returns the repairs to confirm, the most promising first, and those of different lines before
/// others.
fn repairs(tried: &BTreeMap<usize, Tried>) -> Vec<usize> {
    let mut found: Vec<(usize, &Trial)> = (tried.iter())
        .filter_map(|(number, it)| match it {
            Tried::Trial(trial) if trial.repairs() => Some((*number, &**trial)),
            _ => None,
        })
        .collect();
    found.sort_by_key(|(number, it)| (!it.is_sound(), *number));
    let mut lines = BTreeSet::new();
    let (first, more): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(_, it)| lines.insert((it.file, it.line)));
    first.into_iter().chain(more).map(|(number, _)| number).take(CONFIRMED).collect()
}

/// Returns the time left, but at least a second.
fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now()).max(Duration::from_secs(1))
}
