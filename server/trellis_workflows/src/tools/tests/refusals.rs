//! Refusals of tools and their messages; `refused` asserts that nothing changed.

use serde_json::{Value, json};

use super::{done, files, holds, project, read_only, refused, text_of, toolbox};
use crate::tools::{Limits, ToolSet};

#[test]
fn arguments_are_checked_strictly_and_the_refusal_says_how_they_are_given() {
    let edit = "it takes {path: text, search: text, replace: text, occurrence?: number}";
    let cases: [(&str, Value, &[&str]); 10] = [
        (
            "edit_file",
            json!({}),
            &["edit_file was not run", "`path` is missing; `search` is missing", edit],
        ),
        (
            "edit_file",
            json!({ "path": "a", "search": "b", "replace": null }),
            &["`replace` is missing"],
        ),
        (
            "edit_file",
            json!({ "path": "a", "search": "b", "replace": "c", "file": "d" }),
            &["it takes no `file`", edit],
        ),
        (
            "edit_file",
            json!({ "path": 1, "search": ["a"], "replace": {} }),
            &[
                "`path` has to be a text, and is 1",
                "`search` has to be a text, and is a list",
                "and is an object",
            ],
        ),
        (
            "edit_file",
            json!({ "path": "a", "search": "b", "replace": "c", "occurrence": -1 }),
            &["`occurrence` has to be a whole number from 0, and is -1"],
        ),
        (
            "edit_file",
            json!({ "path": "a", "search": "b", "replace": "c", "occurrence": 1.5 }),
            &["whole number from 0, and is 1.5"],
        ),
        (
            "read_file",
            json!({ "path": "a", "from_line": 0 }),
            &["`from_line` has to be a whole number from 1, and is 0"],
        ),
        ("read_file", json!({ "path": "a", "from_line": "3" }), &["and is the text \"3\""]),
        (
            "grep",
            json!({ "pattern": "a", "regex": "yes" }),
            &["`regex` has to be true or false", "regex?: true or false"],
        ),
        ("done", json!({ "reason": "x" }), &["it takes no `reason`", "summary?: text"]),
    ];
    for (tool, given, words) in cases {
        holds(&refused(&mut toolbox(), tool, given), words);
    }
    let said = refused(&mut toolbox(), "bash", json!({ "command": "ls" }));
    holds(&said, &["there is no tool `bash`; the tools are list_files, read_file, grep"]);
}

#[test]
fn no_path_leads_out_of_the_project() {
    let long = "a/".repeat(600);
    for (path, why) in [
        ("", "is empty"),
        ("  ", "is empty"),
        ("/etc/passwd", "is absolute"),
        ("../x.py", "leads upwards"),
        ("a/../../x.py", "leads upwards"),
        ("src/../x.py", "leads upwards"),
        ("src/..", "leads upwards"),
        ("a\0b", "has a NUL character"),
        ("src\\shop.py", "has a backslash"),
        ("..\\x", "has a backslash"),
        ("C:/x.py", "starts with a drive letter"),
        ("~/x.py", "starts with `~`"),
        (".git/config", "git's own folder"),
        ("src/.GIT/hooks/post-commit", "git's own folder"),
        (".trellis/journal.jsonl", "Trellis's own folder"),
        ("a\nb.py", "has a control character"),
        (long.as_str(), "is longer than 1024 bytes"),
    ] {
        for (tool, given) in [
            ("read_file", json!({ "path": path })),
            ("write_file", json!({ "path": path, "text": "" })),
            ("edit_file", json!({ "path": path, "search": "a", "replace": "b" })),
            ("delete_file", json!({ "path": path })),
            ("list_files", json!({ "folder": path })),
            ("grep", json!({ "pattern": "a", "folder": path })),
            ("find_symbol", json!({ "name": "total", "path": path })),
            ("replace_symbol_body", json!({ "name": "total", "text": "pass", "path": path })),
            ("rename_symbol", json!({ "name": "total", "to": "other", "path": path })),
        ] {
            let said = refused(&mut toolbox(), tool, given);
            holds(&said, &[why, "relative to the project's root"]);
        }
    }
}

#[test]
fn paths_of_the_caller_that_no_tool_would_take_are_not_there() {
    let odd = [(".git/config", "secret"), ("../up.py", "secret"), ("a.py", "X = 1\n")];
    let mut toolbox = ToolSet::new(&files(&odd), read_only, Limits::default());
    assert_eq!(done(&mut toolbox, "list_files", json!({})), "a.py (1 line)");
    assert_eq!(done(&mut toolbox, "grep", json!({ "pattern": "secret" })), "no line fits");
    assert!(toolbox.changes().is_empty());
}

/// A path in the form in which `ls` shows links is an ordinary name: nothing follows it.
#[test]
fn what_looks_like_a_link_is_a_file_of_its_name() {
    let mut toolbox = toolbox();
    let path = "link -> etc/passwd";
    let said = refused(&mut toolbox, "read_file", json!({ "path": path }));
    holds(&said, &["there is no file link -> etc/passwd"]);
    let _ = done(&mut toolbox, "write_file", json!({ "path": path, "text": "x" }));
    assert_eq!(toolbox.changes().keys().collect::<Vec<_>>(), [path]);
}

#[test]
fn files_that_are_not_there_or_cannot_be_are_reported_with_what_is() {
    let cases: [(&str, Value, &[&str]); 12] = [
        (
            "read_file",
            json!({ "path": "shop.py" }),
            &["there is no file shop.py; there is src/shop.py"],
        ),
        ("read_file", json!({ "path": "other.py" }), &["there is no file other.py; list_files"]),
        ("read_file", json!({ "path": "src" }), &["src is a folder"]),
        ("read_file", json!({ "path": "src/main.py/" }), &["names a folder, not a file"]),
        (
            "read_file",
            json!({ "path": "src/main.py", "from_line": 8 }),
            &["src/main.py has 7 lines"],
        ),
        ("write_file", json!({ "path": "src", "text": "" }), &["it is a folder"]),
        (
            "write_file",
            json!({ "path": "src/shop.py/x.py", "text": "" }),
            &["src/shop.py is a file"],
        ),
        ("write_file", json!({ "path": "src/Shop.py", "text": "" }), &["there is src/shop.py"]),
        ("delete_file", json!({ "path": "src/no.py" }), &["there is no file src/no.py"]),
        ("list_files", json!({ "folder": "lib" }), &["there is no folder lib", "src, tests"]),
        ("list_files", json!({ "pattern": "a{b" }), &["is no glob"]),
        (
            "find_symbol",
            json!({ "name": "total", "path": "README.md" }),
            &["README.md is no Python file"],
        ),
    ];
    for (tool, given, words) in cases {
        holds(&refused(&mut toolbox(), tool, given), words);
    }
}

#[test]
fn read_only_files_are_read_and_not_changed() {
    let path = "tests/test_shop.py";
    for (tool, given) in [
        ("write_file", json!({ "path": path, "text": "" })),
        ("write_file", json!({ "path": "tests/test_new.py", "text": "" })),
        ("edit_file", json!({ "path": path, "search": "== 0", "replace": "== 1" })),
        ("delete_file", json!({ "path": path })),
        ("replace_symbol_body", json!({ "name": "test_sum", "text": "pass" })),
        ("insert_before_symbol", json!({ "name": "test_sum", "text": "X = 1" })),
        ("insert_after_symbol", json!({ "name": "test_sum", "text": "X = 1" })),
        ("safe_delete_symbol", json!({ "name": "test_sum" })),
        // The symbol is used in the read-only test, and a partial rename would break the code.
        ("rename_symbol", json!({ "name": "Cart", "to": "Basket" })),
    ] {
        let said = refused(&mut toolbox(), tool, given);
        holds(&said, &["tests/test_", "it is read-only: tests say what is wanted"]);
    }
}

#[test]
fn no_tool_breaks_a_python_file() {
    let broken = "def total(items:\n    return 1\n";
    let cases: [(&str, Value, &[&str]); 7] = [
        (
            "write_file",
            json!({ "path": "src/shop.py", "text": broken }),
            &["src/shop.py was not written", "syntax error", "line 1"],
        ),
        (
            "write_file",
            json!({ "path": "src/new.py", "text": broken }),
            &["src/new.py was not written"],
        ),
        (
            "write_file",
            json!({ "path": "src/new.py", "text": "return 1\n" }),
            &["`return` statement outside of a function"],
        ),
        (
            "edit_file",
            json!({ "path": "src/shop.py", "search": "def total(items):", "replace": "def total(items:" }),
            &["src/shop.py was not changed", "line 7"],
        ),
        (
            "replace_symbol_body",
            json!({ "name": "total", "text": "return (" }),
            &["the new text is not valid Python"],
        ),
        (
            "insert_after_symbol",
            json!({ "name": "total", "text": "else:\n    pass" }),
            &["the new text is not valid Python"],
        ),
        ("write_file", json!({ "path": "notes.txt", "text": "a\0b" }), &["NUL character"]),
    ];
    for (tool, given, words) in cases {
        holds(&refused(&mut toolbox(), tool, given), words);
    }
}

#[test]
fn a_broken_file_can_be_fixed_and_edited_elsewhere_but_not_made_worse() {
    let broken = "A = 1\n\n\ndef f(:\n    pass\n";
    let mut toolbox = ToolSet::new(&files(&[("a.py", broken)]), read_only, Limits::default());
    let given = json!({ "path": "a.py", "search": "A = 1", "replace": "A = (" });
    holds(&refused(&mut toolbox, "edit_file", given), &["a.py was not changed"]);
    let given = json!({ "path": "a.py", "search": "A = 1", "replace": "A = 2" });
    let _ = done(&mut toolbox, "edit_file", given);
    let given = json!({ "path": "a.py", "text": "A = 3\n" });
    let _ = done(&mut toolbox, "write_file", given);
    assert_eq!(text_of(&toolbox, "a.py"), "A = 3\n");
}

#[test]
fn edits_are_never_ambiguous() {
    let cases: [(Value, &[&str]); 5] = [
        (
            json!({ "path": "src/shop.py", "search": "self.items", "replace": "x" }),
            &["occurs 3 times", "13 (`self.items = []`)", "16 (", "19 ("],
        ),
        (
            json!({ "path": "src/shop.py", "search": "self.items", "replace": "x", "occurrence": 9 }),
            &["you asked for match 9, but there are 3"],
        ),
        (
            json!({ "path": "src/shop.py", "search": "nothing like it at all, really", "replace": "x" }),
            &["is in the file"],
        ),
        (
            json!({ "path": "src/shop.py", "search": " \n", "replace": "x" }),
            &["search text is empty"],
        ),
        (
            json!({ "path": "src/shop.py", "search": "RATE = 2", "replace": "RATE = 2" }),
            &["it says so already"],
        ),
    ];
    for (given, words) in cases {
        holds(&refused(&mut toolbox(), "edit_file", given), words);
    }
}

#[test]
fn symbols_that_are_not_one_are_reported_with_those_that_are() {
    let mut all = project();
    all.insert("src/other.py".to_owned(), "def total():\n    pass\n".into());
    let mut toolbox = ToolSet::new(&all, read_only, Limits::default());
    let several = "2 symbols are called total";
    let cases: [(&str, Value, &[&str]); 11] = [
        (
            "find_symbol",
            json!({ "name": "tota" }),
            &["no symbol is called tota; similar ones are", "/total in src/shop.py"],
        ),
        ("find_symbol", json!({ "name": "zzz" }), &["no symbol is called zzz", "grep"]),
        ("find_symbol", json!({ "name": "a b" }), &["is not a name path"]),
        (
            "find_references",
            json!({ "name": "total" }),
            &[several, "src/other.py:1:5", "src/shop.py:6:5", "`path`"],
        ),
        ("callers", json!({ "name": "total" }), &[several]),
        ("replace_symbol_body", json!({ "name": "total", "text": "pass" }), &[several]),
        ("rename_symbol", json!({ "name": "total", "to": "x" }), &[several]),
        ("safe_delete_symbol", json!({ "name": "total" }), &[several]),
        (
            "replace_symbol_body",
            json!({ "name": "no", "text": "pass", "path": "src/shop.py" }),
            &["there is no `no` in the file"],
        ),
        (
            "find_references",
            json!({ "name": "main", "path": "src/shop.py" }),
            &["no symbol in src/shop.py is called main"],
        ),
        (
            "insert_after_symbol",
            json!({ "name": "main", "text": "X = 1", "inside": true }),
            &["is not a class"],
        ),
    ];
    for (tool, given, words) in cases {
        holds(&refused(&mut toolbox, tool, given), words);
    }
}

#[test]
fn a_rename_or_deletion_that_would_break_something_is_refused() {
    let cases: [(&str, Value, &[&str]); 6] = [
        (
            "rename_symbol",
            json!({ "name": "total", "to": "Cart" }),
            &["would clash", "nothing was changed"],
        ),
        ("rename_symbol", json!({ "name": "total", "to": "class" }), &["is a Python keyword"]),
        ("rename_symbol", json!({ "name": "total", "to": "a b" }), &["is not a Python identifier"]),
        ("rename_symbol", json!({ "name": "total", "to": "total" }), &["is its name already"]),
        (
            "safe_delete_symbol",
            json!({ "name": "total" }),
            &[
                "`total` is still used; nothing was changed",
                "src/main.py:7:11",
                "src/shop.py:19:16",
            ],
        ),
        ("safe_delete_symbol", json!({ "name": "Cart/add" }), &["still used", "src/main.py:6"]),
    ];
    for (tool, given, words) in cases {
        holds(&refused(&mut toolbox(), tool, given), words);
    }
}

#[test]
fn invalid_patterns_are_refused_with_a_reason() {
    let cases: [(Value, &[&str]); 4] = [
        (json!({ "pattern": "(", "regex": true }), &["no regular expression"]),
        (json!({ "pattern": "" }), &["1 to 1000 bytes"]),
        (json!({ "pattern": "a\nb" }), &["line by line"]),
        (json!({ "pattern": "(\\w{1000}){1000}", "regex": true }), &["too large"]),
    ];
    for (given, words) in cases {
        holds(&refused(&mut toolbox(), "grep", given), words);
    }
}

/// A model must not replace a file that it has not seen.
#[test]
fn a_file_is_replaced_only_after_it_was_shown() {
    let given = |path: &str| json!({ "path": path, "text": "X = 1\n" });
    let mut toolbox = toolbox().with_shown(["src/shop.py".to_owned()].into());
    for path in ["src/main.py", "./src//main.py"] {
        let why = refused(&mut toolbox, "write_file", given(path));
        holds(
            &why,
            &["src/main.py is there, with 7 lines that you have not seen", "read_file it first"],
        );
    }
    // A part of the file is not the whole file.
    let _ = done(&mut toolbox, "read_file", json!({ "path": "src/main.py", "lines": 3 }));
    let _ = refused(&mut toolbox, "write_file", given("src/main.py"));
    let _ = done(&mut toolbox, "read_file", json!({ "path": "src/main.py" }));
    for path in ["src/main.py", "src/main.py", "src/shop.py", "src/new.py", "src/new.py"] {
        let _ = done(
            &mut toolbox,
            "write_file",
            json!({ "path": path, "text": format!("X = {path:?}\n") }),
        );
    }
    assert!(toolbox.seen_files().contains("src/new.py"));
}

#[test]
fn tools_that_are_left_out_are_not_there() {
    let mut toolbox = toolbox().without(&["delete_file"]);
    assert!(!toolbox.tools().iter().any(|it| it.name == "delete_file"));
    let why = refused(&mut toolbox, "delete_file", json!({ "path": "src/main.py" }));
    holds(&why, &["there is no tool `delete_file`"]);
}
