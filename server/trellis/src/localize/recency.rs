//! How recently lines changed, from git, if the folder is kept in it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use cycle::localize::Evidence;

/// Files that are looked at.
const FILES: usize = 40;
/// What a commit counts for, against the one after it.
const FADING: f64 = 0.6;
/// The suspicion of lines that the last commit changed.
const LAST_COMMIT: f64 = 0.6;
/// A commit that made more of a file than this says nothing about its lines.
const MOST_OF_A_FILE: f64 = 0.5;

/// Fills in the recency of the files that failing tests executed; what could not be found out, as sentences.
/// Needs git, and a folder that is its work tree.
pub(super) fn add(folder: &Path, evidence: &mut Evidence) -> Vec<String> {
    let Some(log) = git(folder, &["log", "--format=%H", "--max-count=20"]) else {
        return Vec::new(); // no repository: most folders under test are none, or have no commit yet
    };
    let mut ages: BTreeMap<&str, f64> = BTreeMap::new();
    let mut strength = LAST_COMMIT;
    for commit in log.lines() {
        ages.insert(commit, strength);
        strength *= FADING;
    }
    let executed: Vec<usize> = (evidence.tests.iter())
        .filter(|it| it.failed)
        .flat_map(|it| it.lines.keys().copied())
        .collect();
    let mut files: Vec<usize> = executed;
    files.sort_unstable();
    files.dedup();
    let mut notes = Vec::new();
    if files.len() > FILES {
        notes.push(format!("git was asked about {FILES} of {} files", files.len()));
    }
    for number in files.into_iter().take(FILES) {
        let file = &mut evidence.files[number];
        let blame = ["blame", "--porcelain", "--", file.path.as_str()];
        let Some(blame) = git(folder, &blame) else { continue }; // a file that git does not know
        file.changed = changed(&blame, &ages);
    }
    notes
}

/// Lines with their recency, without commits that made the file.
fn changed(blame: &str, ages: &BTreeMap<&str, f64>) -> BTreeMap<u32, f64> {
    let mut by_commit: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    let mut count = 0;
    for line in blame.lines().filter(|it| !it.starts_with('\t')) {
        let mut words = line.split(' ');
        let (Some(commit), Some(_), Some(number)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let is_commit = commit.len() >= 40 && commit.bytes().all(|it| it.is_ascii_hexdigit());
        if let (true, Ok(number)) = (is_commit, number.parse()) {
            by_commit.entry(commit).or_default().push(number);
            count += 1;
        }
    }
    let mut found = BTreeMap::new();
    for (commit, lines) in by_commit {
        let uncommitted = commit.bytes().all(|it| it == b'0');
        let recency = if uncommitted { Some(1.0) } else { ages.get(commit).copied() };
        let share = lines.len() as f64 / f64::from(count.max(1));
        if let (Some(recency), true) = (recency, share <= MOST_OF_A_FILE) {
            found.extend(lines.into_iter().map(|line| (line, recency)));
        }
    }
    found
}

/// What git says; none where it fails or is not there.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-pager"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
