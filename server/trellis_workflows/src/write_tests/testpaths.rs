//! The folders that a project's settings list for pytest. Plain `pytest` does not run tests
//! elsewhere.
//!
//! The places of settings follow pytest's documentation, "Configuration file formats".

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

/// Files that may contain settings, with their section, in pytest's order. pytest takes the first
/// two whatever they contain.
const FILES: [(&str, &str); 5] = [
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", ""),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
];

/// The `testpaths` of a project.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TestPaths {
    /// The file with the setting, relative to the root.
    pub file: &'static str,
    /// Folders and files, relative to the root.
    pub paths: Vec<String>,
    text: String,
    /// Byte range of the value in the text.
    at: std::ops::Range<usize>,
}

impl TestPaths {
    /// Returns the setting, or `None` if the project's settings list no folders and pytest searches
    /// everywhere.
    pub(super) fn of(root: &Path) -> Option<TestPaths> {
        for (file, section) in FILES {
            let Ok(text) = trellis_os::files::read_text(root.join(file)) else { continue };
            match read(section, &text) {
                Settings::None if section == "pytest" && file != "tox.ini" => return None,
                Settings::None => {}
                Settings::NoPaths => return None,
                Settings::Paths(paths, at) => return Some(TestPaths { file, paths, text, at }),
            }
        }
        None
    }

    /// Reads the setting from the text of a settings file.
    pub(super) fn in_text(file: &'static str, text: &str) -> Option<TestPaths> {
        let section = FILES.iter().find(|it| it.0 == file)?.1;
        match read(section, text) {
            Settings::Paths(paths, at) => {
                Some(TestPaths { file, paths, text: text.to_owned(), at })
            }
            Settings::None | Settings::NoPaths => None,
        }
    }

    /// Returns whether a file, relative to the root, is in one of the paths. Patterns match folder
    /// names.
    pub(super) fn contains(&self, path: &str) -> bool {
        let is_in = |named: &String| {
            let named = named.trim_start_matches("./").trim_end_matches('/');
            let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
            let mut all = folders.chain([path]);
            named.is_empty() || named == "." || all.any(|it| matches(named, it))
        };
        self.paths.iter().any(is_in)
    }

    /// Returns the file's text before, and with one more folder.
    pub(super) fn with_folder(&self, folder: &str) -> (&str, String) {
        let (start, end) = (self.at.start, self.at.end);
        let value = &self.text[start..end];
        let new = match value.as_bytes().first() {
            _ if self.file != "pyproject.toml" => with_line(value, folder),
            Some(b'[') => with_element(value, folder),
            _ => {
                let all = self.paths.iter().map(String::as_str).chain([folder]);
                let all: Vec<String> = all.map(|it| format!("{it:?}")).collect();
                format!("[{}]", all.join(", "))
            }
        };
        (&self.text, format!("{}{new}{}", &self.text[..start], &self.text[end..]))
    }
}

/// The pytest settings of a file.
enum Settings {
    /// The file has no section for pytest.
    None,
    NoPaths,
    Paths(Vec<String>, std::ops::Range<usize>),
}

fn read(section: &str, text: &str) -> Settings {
    if section.is_empty() { in_toml(text) } else { in_ini(text, section) }
}

#[derive(Deserialize)]
struct PyProject {
    tool: Option<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    pytest: Option<Pytest>,
}

#[derive(Deserialize)]
struct Pytest {
    ini_options: Option<Options>,
    /// Since pytest 9 options may be in this table.
    testpaths: Option<Spanned<Paths>>,
}

#[derive(Deserialize)]
struct Options {
    testpaths: Option<Spanned<Paths>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Paths {
    Many(Vec<String>),
    One(String),
}

fn in_toml(text: &str) -> Settings {
    let read: Option<PyProject> = toml::from_str(text).ok();
    let Some(pytest) = read.and_then(|it| it.tool?.pytest) else { return Settings::None };
    let Some(paths) = pytest.ini_options.and_then(|it| it.testpaths).or(pytest.testpaths) else {
        return Settings::NoPaths;
    };
    let at = paths.span();
    let all = match paths.into_inner() {
        Paths::Many(all) => all,
        Paths::One(text) => text.split_whitespace().map(str::to_owned).collect(),
    };
    if all.is_empty() { Settings::NoPaths } else { Settings::Paths(all, at) }
}

fn in_ini(text: &str, section: &str) -> Settings {
    let (mut is_here, mut is_known) = (false, false);
    let mut found: Option<std::ops::Range<usize>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, plain) = (at, line.trim_end());
        at += line.len();
        let goes_on = line.starts_with([' ', '\t']) && !plain.trim().is_empty();
        match &mut found {
            Some(range) if goes_on => {
                range.end = start + plain.len();
                continue;
            }
            Some(_) if !plain.is_empty() => break,
            _ => {}
        }
        if let Some(name) = plain.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            is_here = name == section;
            is_known |= is_here;
        }
        let value = plain.strip_prefix("testpaths").map(str::trim_start);
        let value = value.and_then(|it| it.strip_prefix(['=', ':']));
        if let Some(value) = value.filter(|_| is_here) {
            found = Some(start + plain.len() - value.len()..start + plain.len());
        }
    }
    match found {
        None if is_known => Settings::NoPaths,
        None => Settings::None,
        Some(at) => {
            let paths = text[at.clone()].split_whitespace().map(str::to_owned);
            let paths: Vec<String> = paths.collect();
            if paths.is_empty() { Settings::NoPaths } else { Settings::Paths(paths, at) }
        }
    }
}

/// Returns an INI value, on one line or on several, with one more word.
fn with_line(value: &str, word: &str) -> String {
    match value.rfind('\n') {
        None => format!("{} {word}", value.trim_end()),
        Some(last) => {
            let line = &value[last + 1..];
            let margin = &line[..line.len() - line.trim_start().len()];
            format!("{value}\n{margin}{word}")
        }
    }
}

/// Returns a TOML list with one more string.
fn with_element(list: &str, text: &str) -> String {
    let inner = list.trim_start_matches('[').trim_end_matches(']');
    let kept = inner.trim_end();
    let tail = &inner[kept.len()..];
    let separator = if kept.ends_with(',') { "" } else { "," };
    let last = kept.rfind('\n').map(|it| &kept[it..]);
    let margin = last.map_or(" ", |it| &it[..it.len() - it.trim_start().len()]);
    let end = if kept.ends_with(',') && tail.contains('\n') { "," } else { "" };
    format!("[{kept}{separator}{margin}{text:?}{end}{tail}]")
}

/// Returns whether a pattern such as `*/tests` matches a path. `*` and `?` match any characters
/// within a name.
fn matches(pattern: &str, path: &str) -> bool {
    let (patterns, names) = (pattern.split('/'), path.split('/'));
    patterns.clone().count() == names.clone().count()
        && patterns.zip(names).all(|(it, name)| is_like(it.as_bytes(), name.as_bytes()))
}

fn is_like(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => (0..=name.len()).any(|at| is_like(rest, &name[at..])),
        (Some((b'?', rest)), Some((_, name))) => is_like(rest, name),
        (Some((a, rest)), Some((b, name))) => a == b && is_like(rest, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_folder_stands_where_the_others_stand() {
        let table: [(&str, &str, Option<&str>); 12] = [
            (
                "pytest.ini",
                "[pytest]\ntestpaths = tests\nx = 1\n",
                Some("[pytest]\ntestpaths = tests new\nx = 1\n"),
            ),
            (
                "pytest.ini",
                "[pytest]\ntestpaths =\n    a\n    b\n",
                Some("[pytest]\ntestpaths =\n    a\n    b\n    new\n"),
            ),
            (
                "tox.ini",
                "[tox]\ntestpaths = no\n[pytest]\ntestpaths: tests\n",
                Some("[tox]\ntestpaths = no\n[pytest]\ntestpaths: tests new\n"),
            ),
            (
                "setup.cfg",
                "[tool:pytest]\ntestpaths = tests",
                Some("[tool:pytest]\ntestpaths = tests new"),
            ),
            ("setup.cfg", "[pytest]\ntestpaths = tests", None),
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\ntestpaths = [\"tests\"] # all\n",
                Some("[tool.pytest.ini_options]\ntestpaths = [\"tests\", \"new\"] # all\n"),
            ),
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\ntestpaths = \"a b\"\n",
                Some("[tool.pytest.ini_options]\ntestpaths = [\"a\", \"b\", \"new\"]\n"),
            ),
            (
                "pyproject.toml",
                "[tool.pytest]\ntestpaths = [\n  \"a\",\n]\n",
                Some("[tool.pytest]\ntestpaths = [\n  \"a\",\n  \"new\",\n]\n"),
            ),
            ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-q\"\n", None),
            ("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = []\n", None),
            ("pyproject.toml", "broken = [", None),
            ("pytest.ini", "", None),
        ];
        for (file, before, after) in table {
            let root = tempfile::tempdir().expect("a folder");
            std::fs::write(root.path().join(file), before).expect("a file");
            let found = TestPaths::of(root.path());
            let made = found.as_ref().map(|it| it.with_folder("new").1);
            assert_eq!(made.as_deref(), after, "{file}: {before}");
            std::fs::write(root.path().join(file), made.unwrap_or_default()).expect("a file");
            let again = TestPaths::of(root.path());
            assert!(again.is_none_or(|it| it.contains("new/test_a.py")), "{file}: {before}");
        }
    }

    #[test]
    fn a_list_that_cannot_be_added_to_is_seen() {
        let text = "[tool.pytest.ini_options]\ntestpaths = [\n  \"a\" # the only one\n]\n";
        let paths = TestPaths::in_text("pyproject.toml", text).expect("paths");
        let added = TestPaths::in_text("pyproject.toml", &paths.with_folder("new").1);
        assert!(!added.is_some_and(|it| it.contains("new/test_a.py")));
    }

    #[test]
    fn a_path_is_held_by_its_folders_and_by_patterns() {
        let root = tempfile::tempdir().expect("a folder");
        let text = "[pytest]\ntestpaths = tests/ pkg/*/checks one/test_a.py\n";
        std::fs::write(root.path().join("pytest.ini"), text).expect("a file");
        let paths = TestPaths::of(root.path()).expect("paths");
        for (path, is_held) in [
            ("tests/test_a.py", true),
            ("tests/deep/test_a.py", true),
            ("testsuite/test_a.py", false),
            ("pkg/a/checks/test_a.py", true),
            ("pkg/checks/test_a.py", false),
            ("one/test_a.py", true),
            ("one/test_b.py", false),
        ] {
            assert_eq!(paths.contains(path), is_held, "{path}");
        }
    }
}
