//! Tests of the rollback of an interrupted move.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::*;

/// Kinds of what is at the path that moves.
const KINDS: [&str; 7] =
    ["nothing", "file", "other file", "program", "link", "other link", "folder"];

/// A repository with a path that moves.
struct Repository {
    folder: tempfile::TempDir,
    /// The path, relative to the folder.
    name: &'static OsStr,
}

impl Repository {
    fn new(name: &'static [u8]) -> Repository {
        let folder = tempfile::tempdir().expect("a folder");
        let made = Repository { folder, name: OsStr::from_bytes(name) };
        made.run(&["init", "--quiet", "--initial-branch=main"]);
        fs::write(made.root().join("kept"), "kept\n").expect("written");
        made
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn moved(&self) -> PathBuf {
        self.root().join(self.name)
    }

    fn run(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=A", "-c", "user.email=a@localhost"];
        let mut git = Command::new("git");
        git.env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE").env_remove("GIT_WORK_TREE");
        git.current_dir(self.root()).args(identity).args(arguments);
        let output = git.output().expect("git");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }

    /// Writes the path that moves, of a kind given by name.
    fn put(&self, kind: &str) {
        let at = self.moved();
        let text = "a line\n".repeat(40);
        let done = match kind {
            "nothing" => Ok(()),
            "file" => fs::write(&at, &text),
            "other file" => fs::write(&at, text + "another\n"),
            "program" => fs::write(&at, text)
                .and_then(|()| fs::set_permissions(&at, fs::Permissions::from_mode(0o755))),
            "link" => symlink("kept", &at),
            "other link" => symlink(OsStr::from_bytes(b"caf\xe9"), &at),
            "folder" => fs::create_dir_all(at.join("deep"))
                .and_then(|()| fs::write(at.join("one"), &text))
                .and_then(|()| fs::write(at.join("deep/two"), &text)),
            _ => unreachable!("{kind}"),
        };
        done.expect("written");
    }

    fn remove(&self) {
        let at = self.moved();
        let _ = fs::remove_file(&at).or_else(|_| fs::remove_dir_all(&at));
    }

    /// Commits a kind, and returns the commit.
    fn commit(&self, kind: &str) -> String {
        self.remove();
        self.put(kind);
        self.run(&["add", "--all"]);
        self.run(&["commit", "--quiet", "--allow-empty", "-m", kind]);
        self.run(&["rev-parse", "HEAD"])
    }

    /// Cuts each file of the move in half, as a git killed at writing it.
    fn cut(&self) {
        let at = self.moved();
        for file in [at.clone(), at.join("one"), at.join("deep/two")] {
            if fs::symlink_metadata(&file).is_ok_and(|it| it.is_file()) {
                let text = fs::read(&file).expect("read");
                fs::write(&file, &text[..text.len() / 2]).expect("written");
            }
        }
    }

    /// Moves files and index as a git does that is killed in some state.
    fn kill_move(&self, merging: &Merging, state: &str) {
        let index = self.root().join(".git/index");
        let before = fs::read(&index).expect("an index");
        self.run(&["read-tree", "-m", "-u", &merging.old, &merging.last]);
        match state {
            "removed only" => self.remove(),
            "cut" => self.cut(),
            _ => {}
        }
        if state != "whole" {
            fs::write(index, before).expect("written");
        }
    }
}

/// Asserts that each move of a path is rolled back from each state that a killed git leaves.
fn moves_are_rolled_back(name: &'static [u8]) {
    let repository = Repository::new(name);
    let commits = KINDS.map(|it| (it, repository.commit(it)));
    let git = Git::around(repository.root()).expect("git works").expect("git is there");
    let pairs = commits.iter().flat_map(|it| commits.iter().map(move |to| (it, to)));
    for ((before, old), (after, last)) in pairs.filter(|(before, after)| before != after) {
        for state in ["whole", "without the index", "removed only", "cut"] {
            repository.run(&["reset", "--quiet", "--hard", old]);
            let merging = Merging { old: old.clone(), new: last.clone(), last: last.clone() };
            repository.kill_move(&merging, state);
            roll_back(&git, None, &merging, "main").expect("rolled back");
            let left = repository.run(&["status", "--short"]);
            assert_eq!(left, "", "{before} to {after}, {state}");
        }
    }
}

#[test]
fn a_move_is_rolled_back_from_each_state_that_a_killed_git_leaves() {
    moves_are_rolled_back(b"it");
}

#[test]
fn a_move_of_a_path_that_is_not_utf_8_is_rolled_back() {
    moves_are_rolled_back(b"it\xe9");
}
