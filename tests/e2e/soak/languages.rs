//! Issues in projects of other languages, whose packages are installed first.

use crate::implement::other_languages;

#[test]
fn projects_in_other_languages_are_gated_by_their_own_tests() {
    other_languages();
}
