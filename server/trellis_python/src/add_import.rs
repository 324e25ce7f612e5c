//! Adds an import to a file at the place that PEP 8 gives it.

use ruff_python_ast::Stmt;

use crate::edits::{TextEdit, TextEdits};
use crate::fragment::is_string;
use crate::imports::{Import, ImportGroups, imports_of, render_imports};
use crate::syntax::{self, SyntaxError, full_range, line_end, line_start};

/// An import statement at the top of the module.
struct ExistingImport {
    /// Bytes of the statement, to the end of its last line.
    start: usize,
    end: usize,
    imports: Vec<Import>,
    /// True if the statement is alone on one line, without a comment.
    plain: bool,
}

/// Returns the edit that adds an import to a module.
///
/// An imported name joins an existing statement for the same module. Otherwise the import gets a
/// line below those of its group (future, standard library, third party, local), or a new group if
/// the module has none of that kind.
///
/// # Errors
///
/// Fails if the text does not parse: the import cannot be placed in it.
pub fn add_import(
    source: &str,
    import: &Import,
    groups: &ImportGroups<'_>,
) -> Result<TextEdits, SyntaxError> {
    let parsed = syntax::parse(source)?;
    let old: Vec<ExistingImport> =
        parsed.suite().iter().filter_map(|it| read(source, it)).collect();
    let edit = joined(source, &old, import, groups).unwrap_or_else(|| {
        let line = render_imports(std::slice::from_ref(import), groups);
        alone(source, &old, parsed.suite(), import, groups, &line)
    });
    // A single edit cannot overlap another, so `new` does not fail.
    Ok(TextEdits::new(source, vec![edit]).unwrap_or_default())
}

fn read(source: &str, stmt: &Stmt) -> Option<ExistingImport> {
    let imports = imports_of(stmt)?;
    let (from, to) = (full_range(stmt).start().to_usize(), full_range(stmt).end().to_usize());
    let (start, end) = (line_start(source, from), line_end(source, to));
    let plain = start == from && source[start..end].trim_end() == &source[from..to];
    let plain = plain && !source[from..to].contains(['\n', '\r', '#']);
    Some(ExistingImport { start, end, imports, plain })
}

/// Returns the edit that adds the name to an existing statement for the same module.
fn joined(
    source: &str,
    old: &[ExistingImport],
    import: &Import,
    groups: &ImportGroups<'_>,
) -> Option<TextEdit> {
    import.name.as_ref()?;
    let same = |it: &Import| {
        it.level == import.level
            && it.module == import.module
            && it.name.as_deref().is_some_and(|name| name != "*")
    };
    let statement = old.iter().find(|it| it.plain && it.imports.iter().all(same))?;
    let all: Vec<Import> = statement.imports.iter().chain([import]).cloned().collect();
    let text = ended(source, &render_imports(&all, groups));
    Some(TextEdit { range: statement.start..statement.end, text })
}

fn alone(
    source: &str,
    old: &[ExistingImport],
    suite: &[Stmt],
    import: &Import,
    groups: &ImportGroups<'_>,
    line: &str,
) -> TextEdit {
    let line = ended(source, line);
    let newline = ended(source, "\n");
    let rank = |it: &ExistingImport| it.imports.iter().map(|it| groups.rank(it)).max();
    let own = Some(groups.rank(import));
    let insert = |at: usize, text: String| TextEdit { range: at..at, text };
    let gap = |at: usize| if source[..at].ends_with(['\n', '\r']) { "" } else { &*newline };
    if let Some(same) = old.iter().rfind(|it| rank(it) == own) {
        return insert(same.end, format!("{}{line}", gap(same.end)));
    }
    if let Some(before) = old.iter().rfind(|it| rank(it) < own) {
        return insert(before.end, format!("{}{newline}{line}", gap(before.end)));
    }
    if let Some(after) = old.first() {
        return insert(after.start, format!("{line}{newline}"));
    }
    let first = suite.first();
    if let Some(docstring) = first.filter(|it| is_string(it)) {
        let at = line_end(source, full_range(docstring).end().to_usize());
        return insert(at, format!("{}{newline}{line}", gap(at)));
    }
    let at = first.map_or(source.len(), |it| line_start(source, full_range(it).start().to_usize()));
    insert(at, format!("{}{line}{newline}{newline}", gap_at_end(source, at, &newline)))
}

fn gap_at_end<'a>(source: &str, at: usize, newline: &'a str) -> &'a str {
    let inside = at > 0 && !source[..at].ends_with(['\n', '\r', '\u{feff}']);
    if inside { newline } else { "" }
}

/// Converts the line ends of `line` to those of `source`.
fn ended(source: &str, line: &str) -> String {
    if source.contains("\r\n") { line.replace('\n', "\r\n") } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_go_where_they_belong() {
        let groups = ImportGroups { local: &|it| it == "lib" };
        let path = Import::from("pathlib", "Path");
        let local = Import::from("lib.a", "f");
        let json = Import::module("json");
        for (source, import, wanted) in [
            ("", &json, "import json\n\n\n"),
            ("x = 1\n", &json, "import json\n\n\nx = 1\n"),
            ("# text\nx = 1\n", &json, "# text\nimport json\n\n\nx = 1\n"),
            ("\"\"\"Text.\"\"\"\nx = 1\n", &json, "\"\"\"Text.\"\"\"\n\nimport json\nx = 1\n"),
            ("\"\"\"Text.\"\"\"", &json, "\"\"\"Text.\"\"\"\n\nimport json\n"),
            (
                "import os\n\nimport lib\n",
                &path,
                "import os\nfrom pathlib import Path\n\nimport lib\n",
            ),
            ("import os", &local, "import os\n\nfrom lib.a import f\n"),
            ("from lib import x\n", &json, "import json\n\nfrom lib import x\n"),
            ("from lib.a import g\n", &local, "from lib.a import f, g\n"),
            (
                "from lib.a import g  # why\n",
                &local,
                "from lib.a import g  # why\nfrom lib.a import f\n",
            ),
            ("from lib.a import *\n", &local, "from lib.a import *\nfrom lib.a import f\n"),
            ("import os\r\nx = 1\r\n", &json, "import os\r\nimport json\r\nx = 1\r\n"),
            ("x = 1; import os\n", &json, "x = 1; import os\nimport json\n"),
        ] {
            let edits = add_import(source, import, &groups).expect("Python");
            assert_eq!(edits.apply(source), wanted, "{source:?}");
        }
        assert!(add_import("def f(:\n", &json, &groups).is_err());
    }
}
