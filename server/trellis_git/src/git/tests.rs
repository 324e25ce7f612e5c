//! Tests of how the ends of a git are understood.

use std::os::unix::fs::PermissionsExt;

use super::*;

/// A git that ends in this way at each command but the first, which lists the settings.
fn git(folder: &Path, ends: &str) -> Git {
    let program = folder.join("program");
    let script = format!("#!/bin/sh\ncase \"$*\" in *--show-scope*) exit 0;; esac\n{ends}\n");
    std::fs::write(&program, script).expect("written");
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, all).expect("it is ours");
    Git::new(folder, program)
}

#[test]
fn only_a_git_that_worked_says_that_something_is_not_there() {
    let words = "error: unable to create temporary file: Read-only file system";
    let table = [
        ("exit 1", true, true),
        ("echo 'error: a.py: patch does not apply' >&2; exit 1", true, true),
        ("echo 'error: unable to open or read a.py' >&2; exit 1", true, false),
        (&format!("echo '{words}' >&2; exit 128"), false, false),
        ("echo 'fatal: unable to write' >&2; exit 128", false, false),
        ("kill -KILL $$", false, false),
    ];
    for (ends, is_absent, is_verdict) in table {
        let folder = tempfile::tempdir().expect("a folder");
        let git = git(folder.path(), ends);
        assert_eq!(git.resolve("HEAD").ok() == Some(None), is_absent, "{ends}");
        assert_eq!(git.is_ancestor("a", "b").is_ok(), is_absent, "{ends}");
        let error = git.run(&["apply", "--check"]).expect_err("it fails");
        assert_eq!(error.is_verdict(), is_verdict, "{ends}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let error = git(folder.path(), "exit 128").answer(&["merge-tree"]).expect_err("it fails");
    assert_eq!(error.to_string(), "git merge-tree failed: exit code 128");
}

#[test]
fn a_git_that_answers_while_it_is_asked_is_read_meanwhile() {
    let folder = tempfile::tempdir().expect("a folder");
    let asked = "a line\n".repeat(100_000);
    let said = git(folder.path(), "cat").run_with(&["hash-object"], &asked).expect("it works");
    assert_eq!(said.len(), asked.len());
}

#[test]
fn blobs_are_found_between_other_objects_and_missing_ones() {
    let said = b"1 blob 4\none\n\n2 tree 5\na\nb\nc\nHEAD:an old.py missing\n3 blob 0\n\n";
    assert_eq!(blobs_of(said), [Some(&b"one\n"[..]), None, None, Some(&b""[..])]);
}
