//! Circular imports.

use std::sync::Arc;

use trellis_python::{Index, TextSource};

/// A source without texts: all texts are added to the index.
struct Nothing;

impl TextSource for Nothing {
    fn read(&self, _: &str) -> Option<Arc<str>> {
        None
    }
}

/// Files, and the cycles among them.
type Case = (&'static [(&'static str, &'static str)], &'static [&'static str]);

/// Returns the cycles as `file: statement > … `.
fn circles(files: &[(&str, &str)]) -> Vec<String> {
    let mut index = Index::new(Arc::new(Nothing));
    for (path, text) in files {
        index.put_text(path, Arc::from(*text));
    }
    let shown = |it: trellis_python::ImportCycle| {
        let mut files = it.imports.iter().map(|it| it.from).skip(1);
        assert!(it.imports.iter().all(|it| files.next().is_none_or(|next| next == it.to)));
        let import = |it: &trellis_python::CycleImport| {
            let text = index.text(it.from).expect("a text");
            format!("{}: {}", index.path(it.from), &text[it.range.clone()])
        };
        it.imports.iter().map(import).collect::<Vec<_>>().join(" > ")
    };
    index.import_cycles().into_iter().map(shown).collect()
}

#[test]
fn circles_of_imports_that_are_executed_are_found_once_and_the_shortest() {
    let cases: [Case; 11] = [
        (&[("a.py", "import b\n"), ("b.py", "x = 1\n")], &[]),
        (
            &[("b.py", "import a\nimport a as again\n"), ("a.py", "from b import x\n")],
            &["a.py: from b import x > b.py: import a"],
        ),
        (
            &[
                ("p/__init__.py", ""),
                ("p/a.py", "from . import b\nfrom p import c\n"),
                ("p/b.py", "from p.c import x\n"),
                ("p/c.py", "class C:\n    from . import a\n"),
            ],
            &[
                "p/a.py: from p import c > p/c.py: from . import a",
                "p/a.py: from . import b > p/b.py: from p.c import x > p/c.py: from . import a",
            ],
        ),
        // Imports that loading the module does not execute.
        (&[("a.py", "def f():\n    import b\n"), ("b.py", "import a\n")], &[]),
        (
            &[
                (
                    "a.py",
                    "import typing as t\nif t.TYPE_CHECKING:\n    import b\nelse:\n    b = 1\n",
                ),
                ("b.py", "import a\n"),
            ],
            &[],
        ),
        (
            &[
                ("a.py", "if not TYPE_CHECKING:\n    x = 1\nelse:\n    import b\n"),
                ("b.py", "import a\n"),
            ],
            &[],
        ),
        (&[("a.py", "if __name__ == '__main__':\n    import b\n"), ("b.py", "import a\n")], &[]),
        (&[("a.pyi", "import b\n"), ("b.py", "import a\n")], &[]),
        // Imports that loading the module executes.
        (
            &[
                ("a.py", "try:\n    import b\nexcept ImportError:\n    b = None\n"),
                ("b.py", "if x:\n    import a\n"),
            ],
            &["a.py: import b > b.py: import a"],
        ),
        // A package that imports its modules is not in a cycle with modules that import other
        // modules from it; a module that imports the package's own members is.
        (
            &[
                ("p/__init__.py", "from . import a\n"),
                ("p/a.py", "from . import b\nimport a\n"),
                ("p/b.py", ""),
            ],
            &[],
        ),
        (
            &[
                ("p/__init__.py", "from .a import x\ny = 1\n"),
                ("p/a.py", "from p import y\nx = (\n"),
            ],
            &["p/__init__.py: from .a import x > p/a.py: from p import y"],
        ),
    ];
    for (files, wanted) in cases {
        assert_eq!(circles(files), wanted, "{files:#?}");
    }
}

#[test]
fn a_circle_is_gone_with_the_import_that_closed_it() {
    let mut index = Index::new(Arc::new(Nothing));
    index.put_text("a.py", Arc::from("import b\n"));
    index.put_text("b.py", Arc::from("import a\n"));
    assert_eq!(index.import_cycles().len(), 1);
    index.put_text("b.py", Arc::from("x = 1\n"));
    assert_eq!(index.import_cycles(), []);
}
