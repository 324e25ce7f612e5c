//! Tasks whose models answer in another order each time.

use crate::random::{Random, rounds};
use crate::task_orders::{one_rival_is_merged, same_in_any_order};

#[test]
fn the_tree_and_the_commits_are_the_same_in_any_order() {
    same_in_any_order(&mut Random::of_soak(), rounds());
}

#[test]
fn of_two_rivals_one_is_merged() {
    one_rival_is_merged(&mut Random::of_soak(), rounds());
}
