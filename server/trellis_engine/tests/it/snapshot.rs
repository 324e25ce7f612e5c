//! Snapshots of prompts as sent, each in a file of its own below `tests/questions`.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads what it compares with, and keeps it on request"
)]

use std::path::Path;

/// Environment variable; if set, the files are written instead of compared.
const UPDATE: &str = "TRELLIS_UPDATE_QUESTIONS";

/// Compares a prompt with its snapshot.
#[track_caller]
pub(crate) fn check(name: &str, question: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/questions");
    let file = folder.join(format!("{name}.md"));
    if std::env::var_os(UPDATE).is_some() {
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(&file, question).expect("written");
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        question,
        known,
        "{} differs: look at it, and set {UPDATE} to keep it",
        file.display()
    );
}
