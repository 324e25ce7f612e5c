//! A list of tasks for a stack that comes with Trellis (`fixtures/tasks`): generated with its
//! recording, then cloned, installed and tested by hand. `soak::sets` has the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::repair::{git, text};
use crate::stacks::{passes, with_packages};
use crate::tasks::names;
use crate::world::{Ran, World, repository};

pub(crate) struct Set {
    pub(crate) stack: &'static str,
    pub(crate) name: &'static str,
    /// The task whose first code is wrong, and is fixed.
    pub(crate) mended: &'static str,
    pub(crate) lock: Option<&'static str>,
    /// npm command that installs the locked packages; empty without npm.
    pub(crate) npm: &'static str,
    pub(crate) test_command: &'static str,
}

/// Result of a set.
pub(crate) struct Grown {
    pub(crate) world: World,
    /// Output of `trellis tasks`.
    pub(crate) result: Value,
    /// A fresh clone of the repository, with its packages.
    pub(crate) clone: PathBuf,
    /// Folder of the programs in its Python environment.
    programs: Option<PathBuf>,
}

impl Set {
    fn folder(&self) -> PathBuf {
        repository().join("fixtures/tasks").join(self.stack)
    }

    /// Generates the set with Trellis; then clones it, installs its packages and runs its tests by
    /// hand.
    pub(crate) fn grown(&self, exit: i32) -> Grown {
        let world = World::new();
        let file = self.folder().join("tasks.json").display().to_string();
        let model = format!("recorded:{}", self.folder().join("replies.jsonl").display());
        let words = ["tasks", &file, "--stack", self.stack, "--name", self.name, "--model", &model];
        let mut command = world.command(&words);
        command.args(["--out", "out", "--json", "--sandbox", "local"]);
        with_packages(&mut command);
        let ran = Ran::of(command.output().expect("trellis starts")).exits(exit);
        let result = ran.json();
        assert_eq!(result["status"], "COMPLETE", "{result:#}");
        git(world.root(), &["clone", "--quiet", "out", "clone"]);
        let clone = world.root().join("clone");
        let programs = self.installed_by_hand(&clone);
        // The installed packages are the locked ones.
        assert_eq!(git(&clone, &["status", "--short"]), "");
        let grown = Grown { world, result, clone, programs };
        self.holds(&grown);
        passes(&json!(self.test_command), &grown.clone, grown.programs.as_deref());
        grown
    }

    /// Asserts that each completed task is a commit with its tests, in a tree with only a lock file
    /// besides.
    fn holds(&self, grown: &Grown) {
        let out = grown.world.out();
        let log = ["log", "--format=%(trailers:key=Trellis-Task,valueonly,separator=%x2C)"];
        let log = git(&out, &log);
        let mut merged: Vec<&str> = log.lines().filter(|it| !it.is_empty()).collect();
        merged.sort_unstable();
        let mut done = names(&grown.result["completedTasks"]);
        done.sort();
        assert_eq!(merged, done);
        assert_eq!(git(&out, &["status", "--short"]), "");
        if let Some(lock) = self.lock {
            assert_eq!(git(&out, &["ls-files", lock]).trim(), lock);
        }
        for test in self.tests(&done) {
            assert!(grown.clone.join(&test).is_file(), "{test} is missing");
        }
        let stages = grown.world.journal("stage");
        let work = format!("task-{}", self.mended);
        let is_fix = |it: &&Value| it["work"] == work && it["stage"] == "fix 1";
        assert_eq!(stages.iter().filter(is_fix).count(), 1, "{} was to be mended", self.mended);
        assert!(done.iter().any(|it| it == self.mended));
    }

    /// Returns the test files in the recording for tasks.
    fn tests(&self, tasks: &[String]) -> Vec<String> {
        let recording =
            fs::read_to_string(self.folder().join("replies.jsonl")).expect("a recording");
        let lines = recording.lines().map(|it| serde_json::from_str::<Value>(it).expect("a reply"));
        let tests =
            lines.filter(|it| it["stage"] == "scaffold" && tasks.contains(&text(&it["node"])));
        let replies: Vec<String> = tests.map(|it| text(&it["reply"])).collect();
        assert!(replies.len() >= tasks.len(), "a task has tests");
        let above = |reply: &String| {
            let (before, _) = reply.split_once("\n```").expect("a fence");
            before.lines().last().expect("a path").to_owned()
        };
        replies.iter().map(above).collect()
    }

    /// Installs the packages like a person. Returns the programs of the Python environment.
    fn installed_by_hand(&self, clone: &Path) -> Option<PathBuf> {
        if !self.npm.is_empty() {
            let mut npm = Command::new("npm");
            npm.args([self.npm, "--ignore-scripts", "--no-audit", "--no-fund"]);
            by_hand(npm.arg("--omit-lockfile-registry-resolved=true"), clone);
        }
        let is_python = clone.join("requirements.txt").is_file();
        is_python.then(|| {
            // Beside the clone, so that git sees no change in its tree.
            let venv = clone.with_file_name("venv");
            by_hand(Command::new("python3").args(["-m", "venv"]).arg(&venv), clone);
            let mut pip = Command::new(venv.join("bin/pip"));
            by_hand(pip.args(["install", "--quiet", "--requirement", "requirements.txt"]), clone);
            venv.join("bin")
        })
    }
}

fn by_hand(command: &mut Command, folder: &Path) {
    with_packages(command);
    let ran = command.current_dir(folder).output().expect("it starts");
    let said = [ran.stdout, ran.stderr].concat();
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said));
}

impl Grown {
    pub(crate) fn is_whole(&self) {
        assert_eq!(self.result["progress"], 100, "{:#}", self.result);
        assert_eq!(self.result["failedTasks"], json!({}));
    }

    /// Asserts that the lock file pins packages, and names no host of the test environment.
    pub(crate) fn is_locked(&self) {
        let lock = fs::read_to_string(self.clone.join("package-lock.json")).expect("a lock file");
        assert!(lock.contains("integrity") && !lock.contains("://registry"), "{}", &lock[..2000]);
    }
}
