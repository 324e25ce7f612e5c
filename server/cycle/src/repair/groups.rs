//! Failing tests that seem to fail for one cause.
//!
//! Tests that die at the same place of the code belong together, as do the cases of one test function; then sets of tests
//! whose most suspicious function is the same are joined. A set that joins two causes costs an iteration, no more: whatever
//! a fix leaves failing is put into groups anew.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::localize::{Evidence, Ranked, Ranking, TestEvidence, rank};

/// What is suspected first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// Relative to the root; empty where nothing is suspect.
    pub path: String,
    /// The qualified name of a function; empty for the top level.
    pub symbol: String,
}

/// Failing tests with one likely cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// As the test runner names them, sorted; never empty.
    pub tests: Vec<String>,
    pub cause: Cause,
    /// What may be wrong, by these tests alone.
    pub ranking: Ranking,
}

impl Group {
    /// The first test, by which the group is known.
    pub fn lead(&self) -> &str {
        self.tests.first().map_or("", String::as_str)
    }
}

/// Sets that are ranked; what is beyond is not joined.
const RANKED: usize = 64;
/// The share of the highest score from which on a function may be the cause as well. Of 27 bugs in `fixtures/repair`, with
/// 1.0 17 are one group each, with 0.9 18, with 0.8 17.
const NEAR: f64 = 0.9;

/// The failing tests of `evidence` in groups: what cannot be collected first, then the largest, then by the first test.
pub fn groups(evidence: &Evidence) -> Vec<Group> {
    let mut sets: BTreeMap<String, Vec<&TestEvidence>> = BTreeMap::new();
    for test in evidence.tests.iter().filter(|it| it.failed) {
        sets.entry(mark(test, evidence)).or_default().push(test);
    }
    let mut sets: Vec<Vec<String>> = sets.into_values().map(|it| names(&it)).collect();
    sets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    let sets = sets.into_iter().enumerate().map(|(place, tests)| {
        let causes = if place < RANKED { causes(evidence, &tests) } else { BTreeMap::new() };
        Set { tests, causes }
    });
    let mut groups: Vec<Group> =
        joined(sets.collect()).into_iter().map(|tests| group(evidence, tests)).collect();
    groups.sort_by_key(|it| (is_collected(it), Reverse(it.tests.len()), it.tests.clone()));
    groups
}

/// Tests that belong together, and what may be wrong by them, with its share of the highest score.
struct Set {
    tests: Vec<String>,
    causes: BTreeMap<Cause, f64>,
}

/// Sets with one cause that explains them all, the cause that explains the most tests first (after Jones, Bowring and
/// Harrold, "Debugging in Parallel", ISSTA 2007: failing tests that point to one place are debugged as one).
fn joined(mut sets: Vec<Set>) -> Vec<Vec<String>> {
    let mut joined = Vec::new();
    loop {
        let mut explained: BTreeMap<&Cause, (usize, f64)> = BTreeMap::new();
        for set in &sets {
            for (cause, share) in &set.causes {
                let it = explained.entry(cause).or_default();
                (it.0, it.1) = (it.0 + set.tests.len(), it.1 + share * set.tests.len() as f64);
            }
        }
        let order = |a: &(usize, f64), b: &(usize, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        // Of equal ones the first in the order of paths.
        let best = explained.iter().rev().max_by(|a, b| order(a.1, b.1));
        let Some(best) = best.map(|it| (*it.0).clone()) else { break };
        let (own, rest): (Vec<Set>, Vec<Set>) =
            sets.into_iter().partition(|it| it.causes.contains_key(&best));
        joined.push(own.into_iter().flat_map(|it| it.tests).collect());
        sets = rest;
    }
    // What nothing explains stands alone.
    joined.into_iter().chain(sets.into_iter().map(|it| it.tests)).collect()
}

/// What is about as suspect as the most suspicious function, with its share of that one's score.
fn causes(evidence: &Evidence, tests: &[String]) -> BTreeMap<Cause, f64> {
    let ranking = ranking(evidence, tests);
    let code = ranking.suspects.iter().filter(|it| !evidence.files[it.file].is_test);
    let highest = code.clone().map(|it| it.score).fold(0.0, f64::max);
    let near = code.filter(|it| highest > 0.0 && it.score >= NEAR * highest);
    near.map(|it| (cause(it, evidence), it.score / highest)).collect()
}

fn group(evidence: &Evidence, mut tests: Vec<String>) -> Group {
    tests.sort_unstable();
    let ranking = ranking(evidence, &tests);
    Group { cause: top(&ranking, evidence).unwrap_or_default(), tests, ranking }
}

/// A file that cannot be collected hides its tests.
fn is_collected(group: &Group) -> bool {
    group.tests.iter().all(|it| it.contains("::"))
}

/// The ranking by some of the failing tests; the others may have other causes.
fn ranking(evidence: &Evidence, tests: &[String]) -> Ranking {
    let own = |it: &&TestEvidence| !it.failed || tests.contains(&it.id);
    let tests = evidence.tests.iter().filter(own).cloned().collect();
    rank(&Evidence { tests, files: evidence.files.clone() }, &[])
}

/// The most suspicious function outside of tests.
fn top(ranking: &Ranking, evidence: &Evidence) -> Option<Cause> {
    let it = ranking.suspects.iter().find(|it| !evidence.files[it.file].is_test)?;
    Some(cause(it, evidence))
}

fn cause(it: &Ranked, evidence: &Evidence) -> Cause {
    Cause { path: evidence.files[it.file].path.clone(), symbol: it.symbol.clone() }
}

fn names(tests: &[&TestEvidence]) -> Vec<String> {
    tests.iter().map(|it| it.id.clone()).collect()
}

/// What tests of one set have in common: where in the code they die, else whose cases they are.
fn mark(test: &TestEvidence, evidence: &Evidence) -> String {
    let function = test.id.split('[').next().unwrap_or_default();
    let Some(failure) = &test.failure else { return function.to_owned() };
    let is_code = |path: &str| evidence.files.iter().any(|it| it.path == path && !it.is_test);
    let deepest = failure.frames.iter().rev().find(|it| is_code(&it.path));
    match deepest {
        Some(it) => format!("{} in {} of {}", failure.exception, it.function, it.path),
        None if !test.id.contains("::") => format!("{}: {}", failure.exception, failure.message),
        None => function.to_owned(),
    }
}
