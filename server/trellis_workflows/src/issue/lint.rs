//! Findings of linters and type checkers that a change introduces.
//!
//! The programs run outside the sandbox. So only programs from the person's PATH are started, and
//! none whose settings name code of the project. A project without settings of its own gets ruff
//! and one type checker, if they are installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use trellis_git::git::find;

/// A linter or type checker.
struct LintTool {
    program: &'static str,
    /// Files that configure it, each with the text that they must contain.
    settings: &'static [(&'static str, &'static str)],
    /// Other files in which it looks for settings.
    others: &'static [&'static str],
    /// Settings that make it execute code of the project, or write to a path that they name.
    executes: &'static [&'static str],
    arguments: &'static [&'static str],
    is_checker: bool,
}

const LINTERS: [LintTool; 6] = [
    LintTool {
        program: "ruff",
        settings: &[("ruff.toml", ""), (".ruff.toml", ""), ("pyproject.toml", "[tool.ruff")],
        others: &[],
        executes: &[],
        arguments: &["check", "--no-cache", "--quiet", "--output-format=concise"],
        is_checker: false,
    },
    LintTool {
        program: "flake8",
        settings: &[(".flake8", ""), ("setup.cfg", "[flake8]"), ("tox.ini", "[flake8]")],
        others: &[],
        executes: &["local-plugins", "local_plugins", "output-file", "output_file"],
        arguments: &[],
        is_checker: false,
    },
    LintTool {
        program: "pylint",
        settings: &[(".pylintrc", ""), ("pylintrc", ""), ("pyproject.toml", "[tool.pylint")],
        others: &["pylintrc.toml", ".pylintrc.toml", "setup.cfg", "tox.ini"],
        executes: &[
            "load-plugins",
            "load_plugins",
            "init-hook",
            "init_hook",
            "unsafe-load",
            "unsafe_load",
            "extension-pkg",
            "extension_pkg",
            "import-graph",
            "import_graph",
            "output=",
        ],
        arguments: &["--score=n", "--output-format=text"],
        is_checker: false,
    },
    LintTool {
        program: "ty",
        settings: &[("ty.toml", ""), ("pyproject.toml", "[tool.ty")],
        others: &[],
        executes: &[],
        arguments: &["check", "--output-format=concise"],
        is_checker: true,
    },
    LintTool {
        program: "mypy",
        settings: &[
            ("mypy.ini", ""),
            (".mypy.ini", ""),
            ("setup.cfg", "[mypy"),
            ("pyproject.toml", "[tool.mypy"),
        ],
        others: &[],
        executes: &["plugins", "python_executable", "_report", "junit", "install_types"],
        arguments: &["--no-error-summary", "--no-color-output", "--cache-dir=/dev/null"],
        is_checker: true,
    },
    LintTool {
        program: "pyright",
        settings: &[("pyrightconfig.json", ""), ("pyproject.toml", "[tool.pyright")],
        others: &[],
        executes: &[],
        arguments: &[],
        is_checker: true,
    },
];

/// Programs that ran, and their new findings.
#[derive(Clone, Debug, Default)]
pub(super) struct LintReport {
    /// Programs that ran.
    pub(super) programs: Vec<String>,
    /// Findings that are new with the change, one line each.
    pub(super) findings: Vec<String>,
    /// Programs that are not installed and not required.
    pub(super) notes: Vec<String>,
    /// Programs that are installed but did not run, and the reason.
    pub(super) doubts: Vec<String>,
}

impl LintReport {
    /// Returns the result of a run without new findings: a short outcome and the programs that ran.
    pub(super) fn passed(&self) -> (&'static str, String) {
        match &self.programs[..] {
            [] => ("no linter ran", String::new()),
            all => ("passed", format!("nothing new by {}", all.join(", "))),
        }
    }
}

/// Lints `files` in `before` and in `after`, and compares the findings.
pub(super) fn lint(before: &Path, after: &Path, files: &[String]) -> LintReport {
    let mut out = LintReport::default();
    let python: Vec<&str> = (files.iter().map(String::as_str))
        .filter(|it| it.ends_with(".py") || it.ends_with(".pyi"))
        .collect();
    if python.is_empty() {
        return out;
    }
    let chosen = choose_programs(after, &mut out);
    if chosen.is_empty() && out.doubts.is_empty() {
        out.notes.push("no linter checked the change: none is installed".to_owned());
    }
    for (linter, program) in chosen {
        let old: Vec<&str> =
            python.iter().copied().filter(|it| before.join(it).is_file()).collect();
        let was = if old.is_empty() {
            Ok(Vec::new())
        } else {
            run_program(linter, &program, before, &old)
        };
        match (was, run_program(linter, &program, after, &python)) {
            (Ok(was), Ok(is)) => {
                out.programs.push(linter.program.to_owned());
                out.findings.extend(new(&was, &is));
            }
            (Err(why), _) | (_, Err(why)) => {
                out.doubts.push(format!("{} could not check the change: {why}", linter.program));
            }
        }
    }
    out
}

/// Returns the programs that the project configures, or else the first installed one of each kind.
fn choose_programs(root: &Path, said: &mut LintReport) -> Vec<(&'static LintTool, PathBuf)> {
    let mut out = Vec::new();
    for is_checker in [false, true] {
        let kind = || LINTERS.iter().filter(move |it| it.is_checker == is_checker);
        let configured: Vec<&LintTool> = kind().filter(|it| is_configured(it, root)).collect();
        if configured.is_empty() {
            let all = kind().filter(|it| !matches!(it.program, "flake8" | "pylint"));
            let installed = all.filter_map(|it| Some((it, find(it.program)?))).next();
            out.extend(installed.filter(|(it, _)| is_harmless(it, root, &mut said.doubts)));
        }
        for linter in configured {
            match find(linter.program) {
                Some(program) if is_harmless(linter, root, &mut said.doubts) => {
                    out.push((linter, program));
                }
                Some(_) => {}
                None => said.notes.push(format!(
                    "{} did not run: the project is configured for it, but it is not installed",
                    linter.program
                )),
            }
        }
    }
    out
}

/// Returns whether the project has settings for a linter.
fn is_configured(linter: &LintTool, root: &Path) -> bool {
    let has = |(file, words): &(&str, &str)| {
        trellis_os::files::read_text(root.join(file)).is_ok_and(|text| text.contains(words))
    };
    linter.settings.iter().any(has)
}

/// Returns whether a linter with the project's settings can only read. It checks the text of every
/// file that may contain settings, up to the top of the repository, whatever the file is for: a
/// section head can be written in many ways, and so can a word in TOML.
fn is_harmless(linter: &LintTool, root: &Path, doubts: &mut Vec<String>) -> bool {
    if linter.executes.is_empty() {
        return true;
    }
    let files = linter.settings.iter().map(|it| it.0).chain(linter.others.iter().copied());
    let top = root.ancestors().position(|it| it.join(".git").exists()).unwrap_or(0);
    let folders = root.ancestors().take(top + 1);
    let texts = folders.flat_map(|folder| {
        files
            .clone()
            .filter_map(|file| Some((file, trellis_os::files::read_text(folder.join(file)).ok()?)))
    });
    let word = |(file, text): (&str, String)| {
        let text = text.to_lowercase().replace([' ', '\t'], "");
        let escapes = file.ends_with(".toml") && (text.contains("\\u") || text.contains("\\x"));
        let word = linter.executes.iter().find(|it| text.contains(**it)).copied();
        word.or(escapes.then_some("\\")).map(|it| format!("`{it}` in {file}"))
    };
    let Some(found) = texts.filter_map(word).next() else { return true };
    let name = linter.program;
    doubts.push(format!(
        "{name} did not run: {found} may be a setting that runs code of the project outside the \
         sandbox, or writes elsewhere"
    ));
    false
}

/// Runs a program and returns its findings, as path and message without the position.
fn run_program(
    linter: &LintTool,
    program: &Path,
    root: &Path,
    files: &[&str],
) -> Result<Vec<Finding>, String> {
    let mut command = Command::new(program);
    command.current_dir(root).stdin(Stdio::null()).args(linter.arguments);
    command
        .env_clear()
        .envs(trellis_os::environment::offline_environment())
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8");
    let ended = command.arg("--").args(files).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    let found: Vec<Finding> = text.lines().filter_map(|it| finding(it, root)).collect();
    match ended.status.code() {
        Some(0) => Ok(found),
        Some(_) if !found.is_empty() => Ok(found),
        // Unresolved imports do not count as findings, and nothing else was reported.
        Some(1) if !text.trim().is_empty() => Ok(found),
        _ => {
            let why = String::from_utf8_lossy(&ended.stderr);
            Err(why.lines().next().unwrap_or("it ended without a message").to_owned())
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    /// Path and message, which stay the same when lines move.
    key: String,
    line: String,
}

/// Splits `path:line:column: message`, the format of nearly all programs, into path and message.
/// The column may be missing, and the last colon may be a dash.
fn parts(line: &str) -> Option<(&str, &str)> {
    let end = line.find(".py:").map(|it| it + 3).or_else(|| line.find(".pyi:").map(|it| it + 4))?;
    let (path, rest) = (line[..end].trim(), &line[end..]);
    let number = |rest: &'_ str| -> Option<usize> {
        let digits = rest.strip_prefix(':')?.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then_some(1 + digits)
    };
    let rest = &rest[number(rest)?..];
    let rest = number(rest).map_or(rest, |it| &rest[it..]).trim_start();
    let what = rest.strip_prefix(':').or_else(|| rest.strip_prefix("- "))?.trim();
    (!what.is_empty()).then_some((path, what))
}

/// Messages that depend on what is installed here; tests show whether an import works.
const IMPORTS: [&str; 5] =
    ["unresolved-import", "import-not-found", "import-untyped", "reportMissing", "E0401"];

fn finding(line: &str, root: &Path) -> Option<Finding> {
    let (path, what) = parts(line)?;
    let own = format!("{}/", root.display());
    let line = line.trim().trim_start_matches(&own).to_owned();
    let path = path.trim_start_matches(&own);
    let is_note = what.starts_with("note:") || IMPORTS.iter().any(|it| what.contains(it));
    (!is_note).then(|| Finding { key: format!("{path}: {what}"), line })
}

/// Returns findings that occur more often than before.
fn new(was: &[Finding], is: &[Finding]) -> Vec<String> {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    was.iter().for_each(|it| *left.entry(&it.key).or_default() += 1);
    let is_new = |it: &&Finding| match left.get_mut(it.key.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    is.iter().filter(is_new).map(|it| it.line.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_is_reported_wherever_it_moved() {
        let root = Path::new("/p");
        let table = [
            (
                "a.py:1:1: F401 `os` imported but unused",
                "a.py:9:1: F401 `os` imported but unused",
                0,
            ),
            ("", "/p/a.py:3:5: E741 Ambiguous variable name", 1),
            (
                "a.py:3: error: Bad  [misc]",
                "a.py:3: error: Bad  [misc]\na.py:8: error: Bad  [misc]",
                1,
            ),
            ("", "a.py:3: note: See here\nFound 1 error\na.py:1:1: error[unresolved-import] x", 0),
            ("", "  /p/a.py:3:5 - error: bad (reportGeneral)", 1),
        ];
        for (was, is, count) in table {
            let read = |text: &str| -> Vec<Finding> {
                text.lines().filter_map(|it| finding(it, root)).collect()
            };
            let found = new(&read(was), &read(is));
            assert_eq!(found.len(), count, "{is}: {found:?}");
            assert!(found.iter().all(|it| it.starts_with("a.py:")), "{found:?}");
        }
    }

    #[test]
    fn settings_that_start_or_write_something_are_found_however_they_are_written() {
        let table = [
            ("mypy", "pyproject.toml", "[\"tool\".mypy]\nplugins = ['evil']", false),
            ("mypy", "pyproject.toml", "['tool'.mypy]\n\"plug\\u0069ns\" = ['evil']", false),
            ("mypy", "../setup.cfg", "[mypy]\nplugins = evil.py", false),
            ("mypy", "mypy.ini", "[mypy]\npython_executable = ./evil", false),
            ("mypy", "mypy.ini", "[mypy]\njunit_xml = /somewhere", false),
            ("mypy", "mypy.ini", "[mypy]\nhtml_report = /somewhere", false),
            ("mypy", "mypy.ini", "[mypy]\nstrict = True", true),
            ("pylint", "pylintrc.toml", "[tool.pylint.main]\nINIT-HOOK = 'x'", false),
            ("pylint", ".pylintrc", "[MAIN]\nunsafe-load-any-extension=yes", false),
            ("pylint", "tox.ini", "[pylint]\nload-plugins=evil", false),
            ("pylint", ".pylintrc", "[REPORTS]\noutput = /somewhere", false),
            ("pylint", ".pylintrc", "[REPORTS]\noutput-format = text", true),
            ("flake8", ".flake8", "[flake8]\noutput_file = /somewhere", false),
            ("flake8", ".flake8", "[flake8]\nmax-line-length = 120", true),
            ("ruff", "ruff.toml", "line-length = 120", true),
        ];
        for (name, file, text, expected) in table {
            let folder = tempfile::tempdir().expect("a folder");
            let root = folder.path().join("project");
            std::fs::create_dir_all(folder.path().join(".git")).expect("a repository");
            std::fs::create_dir_all(&root).expect("a folder");
            std::fs::write(root.join(file), text).expect("a file");
            let linter = LINTERS.iter().find(|it| it.program == name).expect("a linter");
            let mut doubts = Vec::new();
            assert_eq!(is_harmless(linter, &root, &mut doubts), expected, "{name}: {text}");
            assert_eq!(doubts.is_empty(), expected, "{doubts:?}");
        }
    }
}
