//! Tests of the rollback of an interrupted move.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::*;

/// The path that moves; its name is not UTF-8.
fn moved(root: &Path) -> PathBuf {
    root.join(OsStr::from_bytes(b"it\xe9"))
}

/// Writes the path that moves, of a kind given by name.
fn put(root: &Path, what: &str) {
    let at = moved(root);
    let text = "a line\n".repeat(40);
    let done = match what {
        "nothing" => Ok(()),
        "file" => fs::write(&at, &text),
        "other file" => fs::write(&at, text + "another\n"),
        "program" => fs::write(&at, text)
            .and_then(|()| fs::set_permissions(&at, fs::Permissions::from_mode(0o755))),
        "link" => symlink("kept", &at),
        "other link" => symlink("missing", &at),
        "folder" => fs::create_dir_all(at.join("deep"))
            .and_then(|()| fs::write(at.join("one"), &text))
            .and_then(|()| fs::write(at.join("deep/two"), &text)),
        _ => unreachable!("{what}"),
    };
    done.expect("written");
}

fn remove(root: &Path) {
    let at = moved(root);
    let _ = fs::remove_file(&at).or_else(|_| fs::remove_dir_all(&at));
}

fn run(root: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=A", "-c", "user.email=a@localhost"];
    let mut git = Command::new("git");
    git.env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE").env_remove("GIT_WORK_TREE");
    let output = git.current_dir(root).args(identity).args(arguments).output().expect("git");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// Returns the commit of a tree.
fn commit(root: &Path, what: &str) -> String {
    remove(root);
    put(root, what);
    run(root, &["add", "--all"]);
    run(root, &["commit", "--quiet", "--allow-empty", "-m", what]);
    run(root, &["rev-parse", "HEAD"])
}

/// Cuts each file of the move in half, as a git killed at writing it.
fn cut(root: &Path) {
    for name in ["", "one", "deep/two"].map(|it| match it {
        "" => moved(root),
        inner => moved(root).join(inner),
    }) {
        let is_file = fs::symlink_metadata(&name).is_ok_and(|it| it.is_file());
        if is_file {
            let text = fs::read(&name).expect("read");
            fs::write(&name, &text[..text.len() / 2]).expect("written");
        }
    }
}

/// A repository with a commit of each kind.
fn repository(kinds: &[&str]) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    fs::write(folder.path().join("kept"), "kept\n").expect("written");
    let commits = kinds.iter().map(|it| commit(folder.path(), it)).collect();
    (folder, commits)
}

/// Moves files and index as a git does that is killed in some state.
fn killed_move(root: &Path, merging: &Merging, state: &str) {
    let index = fs::read(root.join(".git/index")).expect("an index");
    run(root, &["read-tree", "-m", "-u", &merging.old, &merging.last]);
    match state {
        "removed only" => remove(root),
        "cut" => cut(root),
        _ => {}
    }
    if state != "whole" {
        fs::write(root.join(".git/index"), index).expect("written");
    }
}

#[test]
fn a_move_is_rolled_back_from_each_state_that_a_killed_git_leaves() {
    let kinds = ["nothing", "file", "other file", "program", "link", "other link", "folder"];
    let (folder, commits) = repository(&kinds);
    let (root, places) = (folder.path(), 0..kinds.len());
    let git = Git::around(root).expect("git works").expect("git is there");
    let pairs = places.clone().flat_map(|it| places.clone().map(move |to| (it, to)));
    for (before, after) in pairs.filter(|(before, after)| before != after) {
        for state in ["whole", "without the index", "removed only", "cut"] {
            let [old, last] = [before, after].map(|it| commits[it].clone());
            run(root, &["reset", "--quiet", "--hard", &old]);
            let merging = Merging { old, new: last.clone(), last };
            killed_move(root, &merging, state);
            roll_back(&git, None, &merging, "main").expect("rolled back");
            let left = run(root, &["status", "--short"]);
            assert_eq!(left, "", "{} to {}, {state}", kinds[before], kinds[after]);
        }
    }
}
