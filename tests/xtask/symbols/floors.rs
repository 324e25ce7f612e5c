//! Practical lower bounds: reading all files, one search for a word, one run of ctags.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::corpus::Corpus;
use super::figures::percentile;

/// A name and the median of three times, in seconds.
pub(crate) type Floor = (String, f64);

pub(crate) fn floors(corpus: &Corpus, word: &str) -> Vec<Floor> {
    let mut out = Vec::new();
    let read = || corpus.files.iter().all(|(path, _)| fs::read(path).is_ok());
    out.extend(median(read).map(|it| ("reading every .py file, one thread".to_owned(), it)));
    let search: &[&[&str]] = &[
        &["rg", "--threads=1", "--word-regexp", "--type=py", "--count", word],
        &["grep", "-rwF", "--include=*.py", "--count", "-e", word],
    ];
    let found = search.iter().find(|words| says(words[0], ""));
    out.extend(found.and_then(|words| {
        let name = format!("one search for a word with {}", words[0]);
        Some((name, median(|| runs(words, corpus))?))
    }));
    if says("ctags", "Universal") {
        let words = ["ctags", "--languages=Python", "-R", "-f", "-"];
        let name = "universal-ctags over all".to_owned();
        out.extend(median(|| runs(&words, corpus)).map(|it| (name, it)));
    }
    out
}

/// Returns whether a program exists and its version contains a word.
fn says(program: &str, word: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).contains(word))
}

fn runs(words: &[&str], corpus: &Corpus) -> bool {
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .arg(&corpus.root)
        .env("LC_ALL", "C")
        .env_remove("RIPGREP_CONFIG_PATH");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|it| it.success())
}

/// Returns the median of three times in seconds; `None` on a failure.
fn median(work: impl Fn() -> bool) -> Option<f64> {
    let mut times = Vec::new();
    for _ in 0..3 {
        let started = Instant::now();
        if !work() {
            return None;
        }
        times.push(started.elapsed().as_secs_f64());
    }
    percentile(&mut times, 50)
}
