//! Limits of one call: bytes in, bytes out, time.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::json;

use super::{done, files, holds, project, read_only, refused};
use crate::tools::{Limits, ToolSet};

/// Returns many files, long lines, and a name used everywhere.
fn large() -> ToolSet {
    let long = format!("x = '{}'\n", "ab".repeat(20_000));
    let mut all = files(&[("a_long.py", &long)]);
    for number in 0..400 {
        let text = format!("from shop import total\n\n\ndef user_{number}():\n    total()\n");
        all.insert(format!("src/module_{number:03}.py"), text.into());
    }
    all.insert("src/shop.py".to_owned(), "def total():\n    return 1\n".into());
    ToolSet::new(&all, read_only, Limits::default())
}

#[test]
fn long_results_are_cut_at_lines_and_say_what_is_missing() {
    for (tool, given, words) in [
        ("list_files", json!({}), ["more of 402 files", "give a folder"]),
        ("grep", json!({ "pattern": "total" }), ["801 lines in 401 files fit", "narrower"]),
        (
            "find_references",
            json!({ "name": "total" }),
            ["801 references of total", "more were left out"],
        ),
        ("callers", json!({ "name": "total" }), ["400 users of total", "more were left out"]),
        (
            "read_file",
            json!({ "path": "a_long.py" }),
            ["a_long.py (1 line)", "(a line of 40006 bytes)"],
        ),
        (
            "find_symbol",
            json!({ "name": "x", "body": true }),
            ["a_long.py:1:1", "(a line of 40010 bytes)"],
        ),
        ("safe_delete_symbol", json!({ "name": "total" }), ["still used", "more were left out"]),
    ] {
        let called = super::call(&mut large(), tool, given);
        holds(&called.text, &words);
        assert!(called.text.len() <= Limits::default().result_bytes, "{tool}");
        assert!(called.text.lines().all(|line| line.len() <= 8000), "{tool}");
    }
    let given = json!({ "pattern": "abab", "folder": "a_long.py" });
    let said = done(&mut large(), "grep", given);
    holds(&said, &["(1 line searched only in the first 10000 bytes)", "(a line of 40006 bytes)"]);
}

#[test]
fn files_have_so_many_bytes_and_no_more() {
    let limits = Limits { file_bytes: 1000, ..Limits::default() };
    let mut toolbox = ToolSet::new(&project(), read_only, limits);
    let given = json!({ "path": "a.txt", "text": "x".repeat(1000) });
    let _ = done(&mut toolbox, "write_file", given);
    for (tool, given) in [
        ("write_file", json!({ "path": "b.txt", "text": "x".repeat(1001) })),
        (
            "edit_file",
            json!({ "path": "a.txt", "search": "x".repeat(1000), "replace": "y".repeat(1001) }),
        ),
    ] {
        let said = refused(&mut toolbox, tool, given);
        holds(&said, &["it would have 1001 bytes, and 1000 are allowed"]);
    }
}

#[test]
fn a_search_without_time_says_how_far_it_came() {
    let limits = Limits { call_time: Duration::ZERO, ..Limits::default() };
    let mut toolbox = ToolSet::new(&project(), read_only, limits);
    let said = refused(&mut toolbox, "grep", json!({ "pattern": "total" }));
    holds(&said, &["too long"]);
}

#[test]
fn a_call_that_does_not_come_back_is_given_up() {
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let search = move |_: &str| {
        // Blocks until the test is over.
        let _ = held.lock().map(|it| it.recv());
        Ok(Vec::new())
    };
    let limits = Limits { call_time: Duration::from_millis(1), ..Limits::default() };
    let mut toolbox = ToolSet::new(&project(), read_only, limits).with_plan(Arc::new(search));
    let call = async {
        let given = super::arguments(json!({ "words": "total" }));
        let called = toolbox.call("search_plan", &given).await;
        drop(release);
        called
    };
    let called = super::wait(call);
    assert!(called.is_error);
    holds(&called.text, &["search_plan took too long and was given up", "nothing was changed"]);
}

#[test]
fn a_tool_that_fails_inside_costs_one_call() {
    let search = |_: &str| panic!("a fault");
    let mut toolbox =
        ToolSet::new(&project(), read_only, Limits::default()).with_plan(Arc::new(search));
    let said = refused(&mut toolbox, "search_plan", json!({ "words": "total" }));
    holds(&said, &["a fault of Trellis's own"]);
    holds(&done(&mut toolbox, "list_files", json!({})), &["src/shop.py"]);
}
