//! Two processes on one project, started and killed in any order.

use std::time::{Duration, Instant};

use crate::random::{Random, rounds};
use crate::two_starts::{Also, Disturbance, Generate, PAIRS, Repair, SharedWork, two_starts};
use crate::world::Plot;

/// Starts each pair with any time between, and kills one of the two in half of the rounds.
fn in_any_order(work: &impl SharedWork) {
    let started = Instant::now();
    let undisturbed = Disturbance { between: Duration::ZERO, kill: None };
    two_starts(work, PAIRS[0], &undisturbed, 0);
    let whole = started.elapsed().as_millis() as u64;
    let mut random = Random::of_soak();
    for round in rounds() {
        let pair = PAIRS[(round % 4) as usize];
        let between = Duration::from_millis(random.below(whole / 2));
        let after = Duration::from_millis(random.below(whole));
        let (killed, alone) = (random.below(2) as usize, random.below(2) == 0);
        let kill = (random.below(2) == 0).then_some((killed, after, alone));
        two_starts(work, pair, &Disturbance { between, kill }, round);
    }
}

#[test]
fn two_generations_end_as_one() {
    in_any_order(&Generate::new(Plot::garden()));
}

#[test]
fn two_repairs_end_as_one() {
    in_any_order(&Repair::new());
}

#[test]
fn two_starts_on_an_issue_end_as_one() {
    in_any_order(&Also::implement());
}

#[test]
fn two_starts_on_tasks_end_as_one() {
    in_any_order(&Also::tasks(&[("base", &[], 0), ("left", &["base"], 1), ("alone", &[], 0)]));
}
