//! Paths of test files that belong to several nodes.

use crate::generate::items::WorkGraph;

/// Maximum length of a name's part of a file name, in bytes.
const LONGEST: usize = 80;

/// Returns a name in characters that every file system keeps.
pub(super) fn plain_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.chars().map(plain).take(LONGEST).collect()
}

/// Returns the path of a test file whose base name is unique among test files, as pytest requires.
pub(super) fn free_path(work: &WorkGraph, folder: &str, mut name: String, suffix: &str) -> String {
    let taken = |file: &str| work.items.values().any(|it| it.test_path.ends_with(file));
    while taken(&format!("/test_{name}_{suffix}.py")) {
        name.push('_');
    }
    format!("tests/{folder}/test_{name}_{suffix}.py")
}
