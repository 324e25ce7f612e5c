//! Replaces the paths of scratch folders in a report's texts.

use std::path::Path;

use crate::report::{Failure, Report};

/// Name of the root of the tree in values.
const PROJECT: &str = "<project>";

/// Folders of this machine and their replacements; the root of the tree has none.
#[derive(Debug, Default)]
pub(crate) struct PathReplacements(Vec<(String, &'static str)>);

impl PathReplacements {
    /// Adds a folder to be replaced by `name`.
    pub(crate) fn and(mut self, folder: &Path, name: &'static str) -> PathReplacements {
        self.0.push((folder.to_string_lossy().into_owned(), name));
        // The longest first, as one folder may lie inside another.
        self.0.sort_by_key(|it| usize::MAX - it.0.len());
        self
    }

    /// Makes the paths in `text` relative to the root of the tree.
    fn plain(&self, text: &mut String) {
        for (folder, name) in &self.0 {
            if !text.contains(folder.as_str()) {
                continue;
            }
            let within = if name.is_empty() { String::new() } else { format!("{name}/") };
            let alone = if name.is_empty() { "." } else { name };
            *text = text.replace(&format!("{folder}/"), &within).replace(folder.as_str(), alone);
        }
    }

    /// Replaces folders in a text of the code under test: there a relative path would be another
    /// value than the absolute one. Places in the code stay relative.
    fn value(&self, text: &mut String) {
        for (folder, name) in &self.0 {
            *text = match name.is_empty() {
                true => with_project(text, folder),
                false => text.replace(folder.as_str(), name),
            };
        }
    }

    /// Returns the report with texts that do not depend on the location of the tree.
    pub(crate) fn hide(&self, mut report: Report) -> Report {
        for test in &mut report.tests {
            self.values([&mut test.stdout, &mut test.stderr, &mut test.log]);
            self.values(test.reason.as_mut());
            self.failures(test.failure.as_mut());
            self.values(test.subtests.iter_mut().map(|it| &mut it.name));
            self.failures(test.subtests.iter_mut().filter_map(|it| it.failure.as_mut()));
        }
        for test in &mut report.deselected_tests {
            self.failures(test.failure.as_mut());
        }
        self.failures(&mut report.collection_errors);
        self.all([&mut report.stdout, &mut report.stderr]);
        self.all(report.reason.as_mut());
        report
    }

    fn failures<'a>(&self, failures: impl IntoIterator<Item = &'a mut Failure>) {
        for it in failures {
            self.values([&mut it.message, &mut it.traceback]);
            self.values(it.comparison.iter_mut().flat_map(|it| [&mut it.actual, &mut it.expected]));
        }
    }

    fn all<'a>(&self, texts: impl IntoIterator<Item = &'a mut String>) {
        texts.into_iter().for_each(|it| self.plain(it));
    }

    fn values<'a>(&self, texts: impl IntoIterator<Item = &'a mut String>) {
        texts.into_iter().for_each(|it| self.value(it));
    }
}

/// Replaces the root of the tree by a name, except in places, which become relative.
fn with_project(text: &str, root: &str) -> String {
    let mut parts = text.split(root);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let within = part.strip_prefix('/');
        match within.filter(|it| out.ends_with("File \"") || is_place(it)) {
            Some(place) => out += place,
            None => out += &format!("{PROJECT}{part}"),
        }
    }
    out
}

/// Returns whether a text begins with a path and a line number, as in `a.py:3`.
fn is_place(text: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || "'\"(),:<>".contains(c);
    let rest = text.find(is_end).and_then(|end| text[end..].strip_prefix(':'));
    rest.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_go_and_what_is_in_them_stays() {
        let hidden = PathReplacements::default()
            .and(Path::new("/s/tree-1"), "")
            .and(Path::new("/s/cell-1/tmp"), "/tmp")
            .and(Path::new("/s/tree-1/.venv"), "<environment>");
        let table = [
            ("No such file: '/s/tree-1/data/a.json'", "No such file: 'data/a.json'"),
            ("in /s/tree-1: nothing", "in .: nothing"),
            ("/s/cell-1/tmp/x and /s/cell-1/tmp", "/tmp/x and /tmp"),
            ("/s/tree-1/.venv/lib/x.py", "<environment>/lib/x.py"),
            ("/elsewhere/s/tree", "/elsewhere/s/tree"),
        ];
        for (text, wanted) in table {
            let mut text = text.to_owned();
            hidden.plain(&mut text);
            assert_eq!(text, wanted);
        }
    }

    #[test]
    fn absolute_paths_among_values_stay_absolute_and_places_are_relative() {
        let hidden = PathReplacements::default()
            .and(Path::new("/s/tree-1"), "")
            .and(Path::new("/s/tree-1/.venv"), "<environment>");
        let table = [
            ("No such file: '/s/tree-1/data/a.json'", "No such file: '<project>/data/a.json'"),
            ("path = '/s/tree-1'", "path = '<project>'"),
            ("  File \"/s/tree-1/a b.py\", line 3, in f", "  File \"a b.py\", line 3, in f"),
            ("at f (/s/tree-1/src/a.js:3:5)", "at f (src/a.js:3:5)"),
            ("from 'a' (/s/tree-1/a.py)", "from 'a' (<project>/a.py)"),
            ("/s/tree-1/.venv/lib/x.py", "<environment>/lib/x.py"),
        ];
        for (text, wanted) in table {
            let mut text = text.to_owned();
            hidden.value(&mut text);
            assert_eq!(text, wanted);
        }
    }
}
