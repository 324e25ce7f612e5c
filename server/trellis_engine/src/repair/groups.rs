//! Grouping of failing tests by their likely cause.
//!
//! Tests that fail at the same place in the code form a set, as do the cases of one test function;
//! then sets with the same most suspicious function are joined. A set that joins two causes costs
//! no more than an iteration: tests that still fail after a fix are grouped again.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::localize::{Evidence, RankedFunction, Ranking, TestEvidence, rank};

/// The first suspect.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SuspectedCause {
    /// Path relative to the root; empty if nothing is suspect.
    pub path: String,
    /// Qualified name of a function; empty for the top level.
    pub symbol: String,
}

/// Failing tests with one likely cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Ids given by the test runner, sorted; never empty.
    pub tests: Vec<String>,
    pub cause: SuspectedCause,
    /// Suspects according to these tests alone.
    pub ranking: Ranking,
}

impl Group {
    /// Returns the first test, which identifies the group.
    pub fn first_test(&self) -> &str {
        self.tests.first().map_or("", String::as_str)
    }

    /// Returns the evidence without other failing tests, which may have other causes.
    pub fn evidence(&self, of: &Evidence) -> Evidence {
        of_tests(of, &self.tests)
    }
}

/// Maximum number of sets that are ranked; further ones are not joined.
const RANKED: usize = 64;
/// Minimum share of the highest score for a function that may be the cause as well. Of the 27 bugs
/// in `fixtures/repair`, 17 form one group each with 1.0, 18 with 0.9 and 17 with 0.8.
const NEAR: f64 = 0.9;

/// Groups the failing tests of `evidence`: tests that cannot be collected first, then the largest
/// groups, then in order of the first test.
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

/// A set of tests, and its possible causes with their shares of the highest score.
struct Set {
    tests: Vec<String>,
    causes: BTreeMap<SuspectedCause, f64>,
}

/// Joins sets with a common cause, the cause that explains the most tests first (after Jones,
/// Bowring and Harrold, "Debugging in Parallel", ISSTA 2007: failing tests that point to one place
/// are debugged as one).
fn joined(mut sets: Vec<Set>) -> Vec<Vec<String>> {
    let mut joined = Vec::new();
    loop {
        let mut explained: BTreeMap<&SuspectedCause, (usize, f64)> = BTreeMap::new();
        for set in &sets {
            for (cause, share) in &set.causes {
                let it = explained.entry(cause).or_default();
                (it.0, it.1) = (it.0 + set.tests.len(), it.1 + share * set.tests.len() as f64);
            }
        }
        let order = |a: &(usize, f64), b: &(usize, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        // Of equal causes, the first in the order of paths.
        let best = explained.iter().rev().max_by(|a, b| order(a.1, b.1));
        let Some(best) = best.map(|it| (*it.0).clone()) else { break };
        let (own, rest): (Vec<Set>, Vec<Set>) =
            sets.into_iter().partition(|it| it.causes.contains_key(&best));
        joined.push(own.into_iter().flat_map(|it| it.tests).collect());
        sets = rest;
    }
    // Sets without a cause stay separate.
    joined.into_iter().chain(sets.into_iter().map(|it| it.tests)).collect()
}

/// Returns the functions about as suspicious as the first, with their shares of its score.
fn causes(evidence: &Evidence, tests: &[String]) -> BTreeMap<SuspectedCause, f64> {
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

/// Returns whether the tests could be collected. A file that cannot be collected hides its tests.
fn is_collected(group: &Group) -> bool {
    group.tests.iter().all(|it| it.contains("::"))
}

/// Ranks with the given failing tests only.
fn ranking(evidence: &Evidence, tests: &[String]) -> Ranking {
    rank(&of_tests(evidence, tests), &[])
}

fn of_tests(evidence: &Evidence, failing: &[String]) -> Evidence {
    let own = |it: &&TestEvidence| !it.failed || failing.contains(&it.id);
    let tests = evidence.tests.iter().filter(own).cloned().collect();
    Evidence { tests, files: evidence.files.clone() }
}

/// Returns the most suspicious function outside of tests.
fn top(ranking: &Ranking, evidence: &Evidence) -> Option<SuspectedCause> {
    let it = ranking.suspects.iter().find(|it| !evidence.files[it.file].is_test)?;
    Some(cause(it, evidence))
}

fn cause(it: &RankedFunction, evidence: &Evidence) -> SuspectedCause {
    SuspectedCause { path: evidence.files[it.file].path.clone(), symbol: it.symbol.clone() }
}

fn names(tests: &[&TestEvidence]) -> Vec<String> {
    tests.iter().map(|it| it.id.clone()).collect()
}

/// Returns the common feature of a set's tests: the place in the code where they fail, else the
/// test function.
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
