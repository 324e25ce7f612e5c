//! The settings of a project that decide which tests are collected.
//!
//! Files and their order follow pytest's documentation, "Configuration file formats".

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use trellis_python::TestNames;

use super::Rules;
use super::ini;
use super::patterns::Patterns;

/// Files that may contain settings, with their section. Files of pytest's own count even without it.
const FILES: [(&str, &str); 7] = [
    ("pytest.toml", "pytest"),
    (".pytest.toml", "pytest"),
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", "tool.pytest"),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
];

/// Folders that pytest leaves out by default.
const NOT_SEARCHED: [&str; 9] =
    ["*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}"];

/// Settings with their defaults.
pub(super) struct Settings {
    pub(super) rules: Rules,
    /// Patterns of files and folders, relative to the root; empty for the root.
    pub(super) test_paths: Vec<String>,
    pub(super) files: Patterns,
    classes: Patterns,
    functions: Patterns,
    pub(super) not_searched: Patterns,
    /// Folders of modules, relative to the root.
    pub(super) python_path: Vec<String>,
    /// Paths of the option `--ignore`.
    pub(super) ignored: Vec<PathBuf>,
    /// Patterns of the option `--ignore-glob`.
    pub(super) ignored_patterns: Patterns,
    pub(super) searches_environments: bool,
}

/// A value: one text, or a list in a TOML file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    List(Vec<String>),
    /// A value of another kind, which no setting here has.
    #[serde(skip)]
    Other,
}

type Values = BTreeMap<String, Value>;

/// Returns the files that may contain settings of pytest.
pub fn settings_files() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|it| it.0)
}

impl Settings {
    /// Reads the settings of a project. Files that cannot be read count as empty.
    pub(super) fn of(root: &Path, rules: Rules) -> Settings {
        let values = match rules {
            Rules::Pytest => values(root),
            Rules::Unittest => Values::new(),
        };
        let list = |key: &str| values.get(key).map(words);
        let or = |key: &str, default: &[&str]| match list(key) {
            Some(own) => Patterns::of(own),
            None => Patterns::of(default),
        };
        let options = list("addopts").unwrap_or_default();
        let ignored = option(&options, "--ignore").into_iter().map(|it| root.join(it)).collect();
        let absolute = |it: String| root.join(it).to_string_lossy().into_owned();
        let patterns = option(&options, "--ignore-glob").into_iter().map(absolute);
        Settings {
            rules,
            test_paths: list("testpaths").unwrap_or_default(),
            files: match rules {
                Rules::Pytest => or("python_files", &["test_*.py", "*_test.py"]),
                Rules::Unittest => Patterns::of(["test*.py"]),
            },
            classes: or("python_classes", &["Test"]),
            functions: or("python_functions", &["test"]),
            not_searched: or("norecursedirs", &NOT_SEARCHED),
            python_path: list("pythonpath").unwrap_or_default(),
            ignored,
            ignored_patterns: Patterns::of(patterns),
            searches_environments: options.iter().any(|it| it == "--collect-in-virtualenv"),
        }
    }
}

/// unittest collects no functions, and classes by their bases only.
impl TestNames for Settings {
    fn is_function(&self, name: &str) -> bool {
        self.rules == Rules::Pytest && self.functions.begin(name)
    }

    fn is_class(&self, name: &str) -> bool {
        self.rules == Rules::Pytest && self.classes.begin(name)
    }
}

fn values(root: &Path) -> Values {
    let found = FILES.iter().find_map(|(file, section)| {
        let text = trellis_os::files::read_text(root.join(file)).ok()?;
        let is_own = file.trim_start_matches('.').starts_with("pytest.");
        let values = match file.ends_with(".toml") {
            true => toml_values(&text, section),
            false => ini::section(&text, section)
                .map(|it| it.into_iter().map(|(key, it)| (key, Value::Text(it))).collect()),
        };
        values.or_else(|| is_own.then(Values::new))
    });
    found.unwrap_or_default()
}

fn toml_values(text: &str, section: &str) -> Option<Values> {
    let table: toml::Table = toml::from_str(text).ok()?;
    let mut names = section.split('.');
    let first = table.get(names.next()?)?;
    let found = names.try_fold(first, |it, name| it.get(name))?;
    // Up to pytest 8, the settings were in a table below.
    let found = found.get("ini_options").unwrap_or(found).as_table()?;
    let value = |it: &toml::Value| it.clone().try_into().unwrap_or(Value::Other);
    Some(found.iter().map(|(key, it)| (key.clone(), value(it))).collect())
}

/// Splits a value into its words; quotes hold words together.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Text(text) => {
            let plain = || text.split_whitespace().map(str::to_owned).collect();
            shlex::split(text).unwrap_or_else(plain)
        }
        Value::List(all) => all.clone(),
        Value::Other => Vec::new(),
    }
}

/// Returns the values of an option: `--name=value` or `--name value`.
fn option(words: &[String], name: &str) -> Vec<String> {
    let next = words.iter().skip(1).map(Some).chain([None]);
    let value = |(word, next): (&String, Option<&String>)| match word.strip_prefix(name)? {
        "" => next.cloned(),
        rest => rest.strip_prefix('=').map(str::to_owned),
    };
    words.iter().zip(next).filter_map(value).collect()
}
