//! Property test: for any sequence of calls nothing panics, nothing leaves the project, no Python
//! file breaks.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{arguments, files, read_only, wait};
use crate::convert::Files;
use crate::tools::{Changes, Limits, ToolSet};

const PATHS: [&str; 10] = [
    "a.py",
    "pkg/b.py",
    "pkg/c.pyi",
    "broken.py",
    "notes.txt",
    "tests/test_a.py",
    "new.py",
    "pkg",
    "../up.py",
    "pkg/sub/../x.py",
];

const TEXTS: [&str; 16] = [
    "",
    "pass",
    "X = 1\r\n",
    "def f(a):\n    return a\n",
    "class A:\n    x = 1\n\n    def m(self):\n        return self.x\n",
    "from pkg.b import g\n\n\ndef f():\n    return g(1)\n",
    "    return 1",
    "def f(",
    "'''",
    "\u{feff}d\u{e9}j\u{e0} = 1\n",
    "f",
    "x",
    "import os\nimport re\n",
    "else:\n    pass",
    "(a|b)*c",
    "**/*.py",
];

/// Parts of files, most of them required by Python's syntax.
const PIECES: [&str; 8] = ["return", "def f(a):", "    ", "(", ":\n", "f", "1", "x = 1"];

const NAMES: [&str; 10] = ["f", "A", "A/m", "/A/x", "g", "f[1]", "m", "h", "a b", "x"];

fn given(tool: &str, path: &str, text: &str, other: &str, name: &str, number: usize) -> Value {
    let flag = number.is_multiple_of(2);
    match tool {
        "read_file" => json!({ "path": path, "from_line": number }),
        "write_file" => json!({ "path": path, "text": text }),
        "edit_file" => {
            let piece = PIECES[number % PIECES.len()];
            json!({ "path": path, "search": piece, "replace": other, "occurrence": number % 3 })
        }
        "delete_file" => json!({ "path": path }),
        "list_files" => json!({ "folder": path, "pattern": text }),
        "grep" => {
            json!({ "pattern": text, "regex": flag, "ignore_case": number.is_multiple_of(3) })
        }
        "find_symbol" => json!({ "name": name, "body": flag, "depth": number }),
        "find_references" | "callers" | "safe_delete_symbol" if flag => json!({ "name": name }),
        "find_references" | "callers" | "safe_delete_symbol" => {
            json!({ "name": name, "path": path })
        }
        "rename_symbol" => json!({ "name": name, "to": other }),
        "insert_after_symbol" => json!({ "name": name, "text": text, "inside": flag }),
        "done" => json!({ "summary": text }),
        _ if flag => json!({ "name": name, "text": text }),
        _ => json!({ "name": name, "text": text, "path": path }),
    }
}

/// Returns sequences of tool numbers with arguments.
fn calls() -> impl Strategy<Value = Vec<(usize, Value)>> {
    let tools = ToolSet::new(&files(&[]), read_only, Limits::default()).tools();
    let pick = |all: &'static [&'static str]| prop::sample::select(all);
    // Only edits can break a file, so they come more often.
    let edit = tools.iter().position(|it| it.name == "edit_file").unwrap_or_default();
    let tool = prop_oneof![3 => 0..tools.len(), 1 => Just(edit)];
    let call = (tool, pick(&PATHS), pick(&TEXTS), pick(&TEXTS), pick(&NAMES), 0_usize..9);
    let call = call.prop_map(move |(tool, path, text, other, name, number)| {
        (tool, given(&tools[tool].name, path, text, other, name, number))
    });
    prop::collection::vec(call, 1..12)
}

fn parses(path: &str, text: &str) -> bool {
    !(path.ends_with(".py") || path.ends_with(".pyi")) || trellis_python::check(text).is_ok()
}

fn with(mut files: Files, changes: Changes) -> Files {
    for (path, text) in changes {
        match text {
            Some(text) => _ = files.insert(path, text),
            None => _ = files.remove(&path),
        }
    }
    files
}

fn run(calls: &[(usize, Value)]) -> Result<(), TestCaseError> {
    let test = "from a import f\n\n\ndef test_f():\n    assert f(1) == 1\n";
    let before = files(&[
        ("a.py", TEXTS[3]),
        (
            "pkg/b.py",
            "def g(x):\n    return x\n\n\nclass A:\n    x = 1\n\n    def m(self):\n        return g(self.x)\n",
        ),
        ("pkg/c.pyi", "def h() -> int: ...\n"),
        ("broken.py", "def f(:\n    pass\n\n\nx = 1\n"),
        ("notes.txt", "f and x\n"),
        ("tests/test_a.py", test),
    ]);
    let limits = Limits { result_bytes: 1000, ..Limits::default() };
    let mut toolbox = ToolSet::new(&before, read_only, limits);
    let tools = toolbox.tools();
    for (tool, given) in calls {
        let now = toolbox.files().clone();
        let called = wait(toolbox.call(&tools[*tool].name, &arguments(given.clone())));
        prop_assert!(!called.text.contains("a fault of Trellis's own"), "{}", called.text);
        prop_assert!(!called.text.is_empty() && called.text.len() <= 1000, "{}", called.text);
        if called.is_error {
            prop_assert_eq!(toolbox.files(), &now);
        }
        for (path, text) in toolbox.files() {
            let was = now.get(path).is_none_or(|it| parses(path, it));
            prop_assert!(!was || parses(path, text), "{} {}: {}", tools[*tool].name, given, text);
        }
    }
    prop_assert_eq!(toolbox.files().get("tests/test_a.py").map(|it| &**it), Some(test));
    for path in toolbox.files().keys() {
        prop_assert!(!path.contains("..") && !path.starts_with('/'), "{}", path);
    }
    // The changes lead from the original files to the current ones.
    prop_assert_eq!(&with(before, toolbox.changes()), toolbox.files());
    Ok(())
}

/// Returns what the symbol tools report about each symbol, to compare with a new index.
fn all(toolbox: &mut ToolSet) -> Vec<String> {
    let said = NAMES.map(|name| {
        ["find_symbol", "find_references"]
            .map(|tool| wait(toolbox.call(tool, &arguments(json!({ "name": name })))).text)
    });
    said.into_iter().flatten().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn files_stay_sound(calls in calls()) {
        run(&calls)?;
    }

    #[test]
    fn the_index_is_that_of_the_files(calls in calls()) {
        let before = files(&[("a.py", TEXTS[3]), ("pkg/b.py", TEXTS[4]), ("broken.py", TEXTS[7])]);
        let mut toolbox = ToolSet::new(&before, read_only, Limits::default());
        let tools = toolbox.tools();
        for (tool, given) in &calls {
            let _ = wait(toolbox.call(&tools[*tool].name, &arguments(given.clone())));
        }
        let mut anew = ToolSet::new(toolbox.files(), read_only, Limits::default());
        prop_assert_eq!(all(&mut toolbox), all(&mut anew));
    }
}
