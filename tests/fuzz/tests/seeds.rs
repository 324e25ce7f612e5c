//! Corpora and the runner.

use std::fs;
use std::time::Duration;

use fuzz::{TARGETS, Target, corpus, runner};

#[test]
fn every_input_of_every_corpus_passes() {
    for target in TARGETS {
        let inputs = corpus::read(target.name).expect("a corpus");
        assert!(inputs.len() >= 4, "{}", target.name);
        for (path, input) in inputs {
            eprintln!("{}", path.display());
            (target.run)(&input);
        }
    }
}

#[test]
fn every_corpus_has_its_target() {
    let folders = fs::read_dir(corpus::root()).expect("a folder").flatten();
    let mut found: Vec<String> = folders
        .filter(|it| it.path().is_dir())
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    let mut known = TARGETS.map(|it| it.name.to_owned());
    found.sort();
    known.sort();
    assert_eq!(found, known);
}

#[test]
fn an_input_that_fails_is_kept() {
    let target = Target {
        name: "made",
        run: |input| assert!(!input.windows(2).any(|it| it == b"ab"), "found"),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let inputs = [b"a-c".to_vec(), b"b".to_vec()];
    let time = Duration::from_secs(600);
    let summary = runner::run(&target, &inputs, 1, time, folder.path()).expect("a summary");
    let input = fs::read(summary.finding.expect("a finding")).expect("the input");
    assert!(input.windows(2).any(|it| it == b"ab"), "{input:?}");
    assert!(summary.executions > 2);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "the finding alone");
}
