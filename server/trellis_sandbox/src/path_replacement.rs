//! Replaces the paths of scratch folders in a report's texts.

use std::path::Path;

use crate::report::{Failure, Report};

/// Folders of this machine and their replacements; the root of the tree is replaced by nothing.
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

    /// Returns the report with texts that do not depend on the location of the tree.
    pub(crate) fn hide(&self, mut report: Report) -> Report {
        for test in &mut report.tests {
            self.all([&mut test.stdout, &mut test.stderr, &mut test.log]);
            self.all(test.reason.as_mut());
            self.failures(test.failure.as_mut());
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
            self.all([&mut it.message, &mut it.traceback]);
            self.all(it.comparison.iter_mut().flat_map(|it| [&mut it.actual, &mut it.expected]));
        }
    }

    fn all<'a>(&self, texts: impl IntoIterator<Item = &'a mut String>) {
        texts.into_iter().for_each(|it| self.plain(it));
    }
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
}
