//! Work whose parts end in a different order each time.

use crate::grow::fixture;
use crate::random::{Random, rounds};
use crate::task_orders::{MANY, one_rival_is_merged, same_in_any_order};
use crate::world::{World, assert_same};

#[test]
fn the_tree_and_the_commits_are_the_same_in_any_order() {
    same_in_any_order(&MANY, &mut Random::of_soak(), rounds());
}

#[test]
fn of_two_rivals_one_is_merged() {
    one_rival_is_merged(&mut Random::of_soak(), rounds());
}

#[test]
fn the_master_fixture_ends_in_the_same_bytes_for_any_number_of_jobs() {
    let (one, three) = (World::new(), World::new());
    let _ = fixture(&one, "1", "out").exits(1);
    let _ = fixture(&three, "3", "out").exits(1);
    assert_same(&three.tree(), &one.tree());
}
