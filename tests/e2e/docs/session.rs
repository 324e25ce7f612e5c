//! Executes the commands of a page in one shell, in a folder of their own.

use std::fmt;
use std::fs;
use std::path::Path;

use super::page::{Page, Step};
use crate::world::{World, binary, repository};

/// A command whose output differs from the page.
pub(super) struct Wrong {
    pub(super) line: usize,
    pub(super) command: String,
    pub(super) shown: Vec<String>,
    pub(super) printed: Vec<String>,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, printed) = (self.shown.join("\n"), self.printed.join("\n"));
        write!(
            f,
            "{}: $ {}\n--- the page\n{shown}\n--- printed\n{printed}\n",
            self.line, self.command
        )
    }
}

/// Executes all commands of a page, and returns the differences.
pub(super) fn run(page: &Page) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    for (example, steps) in page.sessions() {
        let world = World::new();
        let folder = world.root().join("work");
        match example {
            Some(example) => copy(&repository().join(example), &folder),
            None => fs::create_dir(&folder).expect("a folder"),
        }
        let outputs = execute(&world, &folder, &steps);
        for (step, printed) in steps.into_iter().zip(outputs) {
            let Step { command, line, shown } = step;
            if !agrees(&shown, &printed) {
                wrong.push(Wrong { line, command, shown, printed });
            }
        }
    }
    wrong
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("an example").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a file");
        }
    }
}

/// Printed before each command; no output contains it.
const MARK: &str = "\u{1}next\u{1}";

/// Returns the lines printed by each command, including standard error.
fn execute(world: &World, folder: &Path, steps: &[Step]) -> Vec<Vec<String>> {
    let bin = world.root().join("bin");
    fs::create_dir(&bin).expect("bin");
    std::os::unix::fs::symlink(binary(), bin.join("trellis")).expect("a link");
    let mut script = "exec 2>&1\nstatus=0\n".to_owned();
    for step in steps {
        // A command sees the exit status of the preceding one.
        script += &format!("printf '\\n{MARK}\\n'\n(exit $status)\n{}\nstatus=$?\n", step.command);
    }
    let mut shell = world.shell("bash");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    shell.args(["--noprofile", "--norc", "-c", &script]).current_dir(folder).env("PATH", path);
    for (name, value) in [("NAME", "Ada"), ("EMAIL", "ada@example.com")] {
        shell.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    let output = shell.env("LC_ALL", "C.UTF-8").output().expect("bash");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut printed: Vec<Vec<String>> = (text.split(&format!("\n{MARK}\n")).skip(1))
        .map(|it| it.trim_end().lines().map(|it| it.trim_end().to_owned()).collect())
        .collect();
    printed.resize(steps.len(), vec!["(the shell ended before this command)".to_owned()]);
    printed
}

/// Returns whether a page shows this output. `…` stands for any text in a line, or alone for any
/// lines.
pub(super) fn agrees(shown: &[String], printed: &[String]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "…" => {
            (0..=printed.len()).any(|skipped| agrees(rest, &printed[skipped..]))
        }
        (Some((first, rest)), Some((line, left))) => fits(first, line) && agrees(rest, left),
        _ => false,
    }
}

pub(super) fn fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.trim_end().split('…');
    let Some(mut left) = parts.next().and_then(|first| line.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    let is_whole = parts.peek().is_none();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    !is_whole || left.is_empty()
}

#[test]
fn a_page_shows_what_was_printed() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let table = [
        ("one\ntwo", "one\ntwo", true),
        ("one\n…\nfour", "one\ntwo\nthree\nfour", true),
        ("one\n…", "one", true),
        ("took … ms, … passed", "took 12 ms, 3 passed", true),
        ("took … ms", "took 12 ms, 3 passed", false),
        ("one", "one\ntwo", false),
        ("", "one", false),
    ];
    for (shown, printed, is_same) in table {
        assert_eq!(agrees(&lines(shown), &lines(printed)), is_same, "{shown:?} {printed:?}");
    }
}
