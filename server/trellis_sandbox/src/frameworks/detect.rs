//! Detects the test framework of a project.

use std::{fs, path::Path};

use serde_json::Value;

use super::Framework;

/// The result of [`detect`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    /// The framework to run.
    pub framework: Framework,
    /// A sentence with the reason.
    pub because: String,
    /// Sentences on other signs that were found and are not used.
    pub also: Vec<String>,
    /// True if the project's `npm test` is a single call of the framework, whose options should
    /// apply.
    pub through_npm: bool,
    /// The first two parts of the version of the installed jest or vitest.
    pub version: Option<(u32, u32)>,
    /// The module that `go.mod` names.
    pub go_module: Option<String>,
}

impl Detected {
    fn new(framework: Framework, because: impl Into<String>) -> Detected {
        Detected {
            framework,
            because: because.into(),
            also: Vec::new(),
            through_npm: false,
            version: None,
            go_module: None,
        }
    }
}

/// Returns the framework of the tests below `root`; of several, Python's comes before JavaScript's
/// before go's. `None` if there is no sign of any.
pub fn detect(root: &Path) -> Option<Detected> {
    let mut found: Vec<Detected> =
        [python(root), node(root), go(root)].into_iter().flatten().collect();
    let also: Vec<String> = found.iter().skip(1).map(|it| it.because.clone()).collect();
    found.truncate(1);
    let mut chosen = found.pop()?;
    chosen.also.extend(also);
    Some(chosen)
}

/// Returns the facts needed to run the project at `root` with `framework`, whatever signs there are
/// of others.
pub fn as_framework(framework: Framework, root: &Path) -> Detected {
    let found = match framework {
        Framework::Pytest | Framework::Unittest => None,
        Framework::Jest | Framework::Vitest => node(root),
        Framework::Go => go(root),
    };
    found.filter(|it| it.framework == framework).unwrap_or_else(|| {
        let tool = framework.to_string();
        let version = installed(root, &tool);
        Detected { version, ..Detected::new(framework, "you asked for it") }
    })
}

fn python(root: &Path) -> Option<Detected> {
    for (file, sign) in [
        ("pytest.ini", ""),
        ("pyproject.toml", "pytest"),
        ("setup.cfg", "pytest"),
        ("tox.ini", "pytest"),
        ("conftest.py", ""),
        ("requirements.txt", "pytest"),
        ("requirements-dev.txt", "pytest"),
        ("requirements-test.txt", "pytest"),
    ] {
        if trellis_os::files::read_text(root.join(file)).is_ok_and(|text| text.contains(sign)) {
            let what = if sign.is_empty() { "exists" } else { "names pytest" };
            return Some(Detected::new(Framework::Pytest, format!("{file} {what}")));
        }
    }
    let mut tests = Tests::default();
    tests.look(root, Path::new(""), 6);
    let first = tests.files.first()?;
    match (&tests.pytest, &tests.unittest) {
        (Some(file), _) => Some(Detected::new(Framework::Pytest, format!("{file} imports pytest"))),
        (None, Some(file)) => {
            let because = format!("{file} imports unittest, and nothing mentions pytest");
            Some(Detected::new(Framework::Unittest, because))
        }
        (None, None) => {
            Some(Detected::new(Framework::Pytest, format!("{first} looks like a test")))
        }
    }
}

/// The Python test files of a project.
#[derive(Default)]
struct Tests {
    files: Vec<String>,
    /// The first file that imports pytest.
    pytest: Option<String>,
    unittest: Option<String>,
}

impl Tests {
    /// Maximum number of files examined, since a project may be huge.
    const MOST: usize = 200;

    fn look(&mut self, root: &Path, folder: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(|entry| entry.file_name());
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else { continue };
            if self.files.len() == Self::MOST {
                return;
            } else if kind.is_dir() && depth > 0 && is_own(&root.join(folder).join(&name), &name) {
                self.look(root, &folder.join(&name), depth - 1);
            } else if kind.is_file() && is_test(&name) {
                self.take(root, &folder.join(&name));
            }
        }
    }

    fn take(&mut self, root: &Path, file: &Path) {
        let shown = file.to_string_lossy().into_owned();
        let text = trellis_os::files::read_text(root.join(file)).unwrap_or_default();
        let imports = |module: &str| {
            let mut lines = text.lines().map(|line| line.trim_start());
            lines.any(|line| imported(line) == Some(module))
        };
        let conftest = shown.ends_with("conftest.py");
        if self.pytest.is_none() && (conftest || imports("pytest")) {
            self.pytest = Some(shown.clone());
        }
        if self.unittest.is_none() && imports("unittest") {
            self.unittest = Some(shown.clone());
        }
        self.files.push(shown);
    }
}

/// Returns whether a folder is neither hidden nor installed nor an environment.
fn is_own(folder: &Path, name: &str) -> bool {
    let foreign = ["node_modules", "vendor", "site-packages", "build", "dist", "target"];
    !name.starts_with('.') && !foreign.contains(&name) && !folder.join("pyvenv.cfg").is_file()
}

fn is_test(name: &str) -> bool {
    let stem = name.strip_suffix(".py");
    stem.is_some_and(|it| it.starts_with("test_") || it.ends_with("_test") || it == "conftest")
}

/// Returns the imported package: `import unittest.mock` and `from unittest import TestCase` import
/// `unittest`.
fn imported(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("import ").or_else(|| line.strip_prefix("from "))?;
    rest.trim_start().split([' ', '.', ',', ';']).next()
}

fn node(root: &Path) -> Option<Detected> {
    let text = trellis_os::files::read_text(root.join("package.json")).ok()?;
    let package: Value = serde_json::from_str(&text).ok()?;
    let script = package["scripts"]["test"].as_str().unwrap_or_default();
    let tools = [("vitest", Framework::Vitest), ("jest", Framework::Jest)];
    let named = |tool: &str| script.split(|it: char| !it.is_alphanumeric()).any(|it| it == tool);
    let depends = |tool: &str| {
        let lists = ["devDependencies", "dependencies"];
        lists.iter().any(|list| package[list].get(tool).is_some())
    };
    let in_script = tools.iter().find(|(tool, _)| named(tool));
    let chosen = in_script.or_else(|| tools.iter().find(|(tool, _)| depends(tool)));
    let (tool, framework) = *chosen?;
    let because = match in_script {
        Some(_) => format!("`npm test` in package.json is `{script}`"),
        None => format!("package.json depends on {tool}"),
    };
    let others =
        tools.iter().filter(|(other, _)| *other != tool && (named(other) || depends(other)));
    Some(Detected {
        through_npm: is_one_call(script, tool),
        version: installed(root, tool),
        also: others.map(|(other, _)| format!("package.json names {other} too")).collect(),
        ..Detected::new(framework, because)
    })
}

/// Returns whether the script is a call of `tool`, with settings before and options after it, and
/// without options that our own would collide with, since those are added at its end.
fn is_one_call(script: &str, tool: &str) -> bool {
    const OURS: [&str; 7] =
        ["--json", "--outputFile", "--reporter", "--watch", "-w", "-t", "--testNamePattern"];
    let plain = !script.contains(['&', '|', ';', '<', '>', '`', '(', '\n']);
    let mut words = script.split_whitespace();
    let before = words.by_ref().find(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        name.trim_end_matches(".js").trim_end_matches(".mjs") == tool
    });
    let free = words.all(|word| {
        // vitest refuses a repeated option; jest takes the last one.
        let is_given_twice = tool == "vitest" && word.starts_with("--bail");
        (word.starts_with('-') || word == "run")
            && !OURS.iter().any(|ours| word.split('=').next() == Some(*ours))
            && !word.starts_with("--watch")
            && !word.starts_with("--outputFile")
            && !is_given_twice
    });
    plain && before.is_some() && free
}

fn installed(root: &Path, tool: &str) -> Option<(u32, u32)> {
    let file = root.join("node_modules").join(tool).join("package.json");
    let package: Value = serde_json::from_str(&trellis_os::files::read_text(file).ok()?).ok()?;
    let mut parts = package["version"].as_str()?.split('.').map_while(|part| part.parse().ok());
    Some((parts.next()?, parts.next()?))
}

fn go(root: &Path) -> Option<Detected> {
    let text = trellis_os::files::read_text(root.join("go.mod")).ok()?;
    let module = text.lines().find_map(|line| line.trim().strip_prefix("module "));
    let module =
        module.and_then(|rest| rest.split("//").next()).map(|it| it.trim().trim_matches('"'));
    Some(Detected {
        go_module: module.map(str::to_owned),
        ..Detected::new(Framework::Go, "go.mod exists")
    })
}
