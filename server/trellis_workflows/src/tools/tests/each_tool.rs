//! Successful calls of each tool.

use std::sync::Arc;

use serde_json::json;
use trellis_engine::Suspect;

use super::{MAIN, PROJECT, done, files, holds, project, read_only, text_of, toolbox};
use crate::tools::{Limits, PlanSearch, PlannedNode, ToolSet};

#[test]
fn a_file_is_read_with_numbers_and_in_pages() {
    let mut toolbox = toolbox();
    let all = done(&mut toolbox, "read_file", json!({ "path": "src/main.py" }));
    let expected = "src/main.py (7 lines)\n    1  from shop import Cart, total\n    2  \n    3  \n    4  def main():\n    5      cart = Cart()\n    6      cart.add(1)\n    7      print(total([1]))";
    assert_eq!(all, expected);
    let given = json!({ "path": "./src//main.py", "from_line": 4, "lines": 2.0 });
    let part = done(&mut toolbox, "read_file", given);
    let expected = "src/main.py (7 lines)\n    4  def main():\n    5      cart = Cart()\n… lines 6 to 7 are left; go on with from_line 6";
    assert_eq!(part, expected);
    let test =
        done(&mut toolbox, "read_file", json!({ "path": "tests/test_shop.py", "lines": null }));
    holds(&test, &["tests/test_shop.py (5 lines, read-only)", "    5      assert"]);
}

#[test]
fn pages_of_a_long_file_are_all_of_it() {
    let long: String = (1..=1000).map(|it| format!("line_{it} = {it}\n")).collect();
    let mut toolbox = ToolSet::new(&files(&[("a.py", &long)]), read_only, Limits::default());
    let (mut from, mut seen, mut pages) = (1, String::new(), 0);
    loop {
        let page = done(&mut toolbox, "read_file", json!({ "path": "a.py", "from_line": from }));
        assert!(page.len() <= Limits::default().result_bytes);
        let lines = page.lines().filter(|it| it.contains(" = "));
        seen.extend(lines.map(|it| format!("{}\n", it[7..].to_owned())));
        pages += 1;
        match page.rsplit_once("go on with from_line ") {
            Some((_, next)) => from = next.parse().expect("a number"),
            None => break,
        }
    }
    assert_eq!(seen, long);
    assert!(pages > 2, "{pages}");
}

#[test]
fn files_are_written_replaced_and_deleted() {
    let mut toolbox = toolbox();
    let given = json!({ "path": "src/new/part.py", "text": "X = 1\n" });
    assert_eq!(done(&mut toolbox, "write_file", given), "src/new/part.py was created: 1 line");
    let given = json!({ "path": "README.md", "text": "Not ) Python\n" });
    let said = done(&mut toolbox, "write_file", given);
    assert_eq!(said, "README.md was replaced: 1 line, 3 before");
    let given = json!({ "path": "src/main.py", "text": MAIN });
    assert_eq!(done(&mut toolbox, "write_file", given), "src/main.py holds that text already");
    let given = json!({ "path": "src/main.py" });
    assert_eq!(done(&mut toolbox, "delete_file", given), "src/main.py was deleted");
    let changes = toolbox.changes();
    let changes: Vec<(&str, Option<&str>)> =
        changes.iter().map(|(path, text)| (path.as_str(), text.as_deref())).collect();
    let expected = [
        ("README.md", Some("Not ) Python\n")),
        ("src/main.py", None),
        ("src/new/part.py", Some("X = 1\n")),
    ];
    assert_eq!(changes, expected);
}

#[test]
fn what_was_changed_back_and_what_came_and_went_is_no_change() {
    let mut toolbox = toolbox();
    let _ = done(&mut toolbox, "write_file", json!({ "path": "a.py", "text": "X = 1\n" }));
    let _ = done(&mut toolbox, "delete_file", json!({ "path": "a.py" }));
    let _ = done(&mut toolbox, "delete_file", json!({ "path": "src/main.py" }));
    let _ = done(&mut toolbox, "write_file", json!({ "path": "src/main.py", "text": MAIN }));
    assert!(toolbox.changes().is_empty());
}

#[test]
fn a_piece_of_a_file_is_replaced_and_shown() {
    let mut toolbox = toolbox();
    let given = json!({
        "path": "src/shop.py",
        "search": "return sum(items) * RATE",
        "replace": "result = sum(items)\n    return result + RATE",
    });
    let said = done(&mut toolbox, "edit_file", given);
    let expected = "src/shop.py was changed; there is now:\n  …\n    6  def total(items):\n    7      \"\"\"Adds up.\"\"\"\n    8      result = sum(items)\n    9      return result + RATE\n   10  \n   11  ";
    assert_eq!(said, expected);
    // First different white space, then a few different letters.
    for (search, replace, expected) in [
        ("def  add(self,  item):", "def add(self, it):", "    def add(self, it):\n"),
        ("        self.items.apend(item)", "        self.items.append(it)", "append(it)\n"),
    ] {
        let given = json!({ "path": "src/shop.py", "search": search, "replace": replace });
        let _ = done(&mut toolbox, "edit_file", given);
        holds(&text_of(&toolbox, "src/shop.py"), &[expected]);
    }
    let given =
        json!({ "path": "src/shop.py", "search": "items", "replace": "things", "occurrence": 0 });
    let said = done(&mut toolbox, "edit_file", given);
    holds(&said, &["    6  def total(things):", "  …\n"]);
    assert!(!text_of(&toolbox, "src/shop.py").contains("items"));
}

#[test]
fn the_lines_shown_after_an_edit_are_those_that_are_there_then() {
    let text: String = (1..=60).map(|it| if it % 40 == 10 { "x\n" } else { "\n" }).collect();
    let mut toolbox = ToolSet::new(&files(&[("a.txt", &text)]), read_only, Limits::default());
    let twenty = ["1"; 20].join("\n");
    let given = json!({ "path": "a.txt", "search": "x", "replace": twenty, "occurrence": 0 });
    let said = done(&mut toolbox, "edit_file", given);
    let shown: Vec<&str> = said.lines().filter(|it| it.ends_with("  1")).collect();
    let expected: Vec<String> = (10..30).chain(69..89).map(|it| format!("   {it}  1")).collect();
    assert_eq!(shown, expected);
}

#[test]
fn files_are_listed_by_folder_and_pattern() {
    for (given, expected) in [
        (
            json!({}),
            "README.md (3 lines)\nsrc/main.py (7 lines)\nsrc/shop.py (23 lines)\ntests/test_shop.py (5 lines, read-only)",
        ),
        (json!({ "folder": "src/" }), "src/main.py (7 lines)\nsrc/shop.py (23 lines)"),
        (json!({ "folder": "." , "pattern": "*.md" }), "README.md (3 lines)"),
        (json!({ "pattern": "test_*.py" }), "tests/test_shop.py (5 lines, read-only)"),
        (json!({ "pattern": "**/m*.py" }), "src/main.py (7 lines)"),
        (json!({ "folder": "src", "pattern": "src/*.py" }), "no file fits"),
    ] {
        assert_eq!(done(&mut toolbox(), "list_files", given.clone()), expected, "{given}");
    }
}

#[test]
fn text_is_found_by_words_and_by_regular_expressions() {
    for (given, expected) in [
        (
            json!({ "pattern": "total(" }),
            "src/main.py:7: print(total([1]))\nsrc/shop.py:6: def total(items):\nsrc/shop.py:19: return total(self.items)",
        ),
        (
            json!({ "pattern": "rate", "ignore_case": true, "folder": "src/shop.py" }),
            "src/shop.py:3: RATE = 2\nsrc/shop.py:8: return sum(items) * RATE",
        ),
        (
            json!({ "pattern": r"^def \w+\(\)", "regex": true }),
            "src/main.py:4: def main():\nsrc/shop.py:22: def unused():\ntests/test_shop.py:4: def test_sum():",
        ),
        (json!({ "pattern": "a+b" }), "no line fits"),
    ] {
        assert_eq!(done(&mut toolbox(), "grep", given.clone()), expected, "{given}");
    }
}

#[test]
fn symbols_are_found_with_body_and_members() {
    let mut toolbox = toolbox();
    let said = done(&mut toolbox, "find_symbol", json!({ "name": "Cart", "depth": 1 }));
    holds(&said, &["src/shop.py:11:7  class Cart", "method Cart/add  def add(self, item)"]);
    let said = done(&mut toolbox, "find_symbol", json!({ "name": "Cart/sum", "body": true }));
    holds(&said, &["def sum(self):", "return total(self.items)"]);
}

#[test]
fn references_and_callers_are_listed() {
    let mut toolbox = toolbox();
    let said = done(&mut toolbox, "find_references", json!({ "name": "total" }));
    holds(
        &said,
        &[
            "4 references of total",
            "src/main.py:1:24  import",
            "src/main.py:7:11  use  main",
            "src/shop.py:6:5  definition",
            "src/shop.py:19:16  use  Cart/sum",
        ],
    );
    let given = json!({ "name": "total", "path": "src/shop.py" });
    let said = done(&mut toolbox, "callers", given);
    holds(
        &said,
        &["2 users of total", "src/main.py  function main", "src/shop.py  method Cart/sum"],
    );
    let said = done(&mut toolbox, "callers", json!({ "name": "unused" }));
    assert_eq!(said, "nothing uses unused");
}

#[test]
fn symbols_are_edited_where_they_are() {
    for (tool, given, expected) in [
        (
            "replace_symbol_body",
            json!({ "name": "total", "text": "return 0" }),
            "def total(items):\n    return 0\n",
        ),
        (
            "replace_symbol_body",
            json!({ "name": "/RATE", "text": "3", "path": "src/shop.py" }),
            "RATE = 3\n",
        ),
        (
            "insert_before_symbol",
            json!({ "name": "Cart/add", "text": "def clear(self):\n    self.items = []" }),
            "    def clear(self):\n        self.items = []\n\n    def add",
        ),
        (
            "insert_after_symbol",
            json!({ "name": "total", "text": "def mean(items):\n    return 1" }),
            "* RATE\n\n\ndef mean(items):\n    return 1\n\n\nclass Cart:",
        ),
        (
            "insert_after_symbol",
            json!({ "name": "Cart", "text": "def len(self):\n    return 1", "inside": true }),
            "total(self.items)\n\n    def len(self):\n        return 1\n\n\ndef unused",
        ),
    ] {
        let mut toolbox = toolbox();
        let said = done(&mut toolbox, tool, given);
        holds(&said, &["src/shop.py was changed; there is now:"]);
        holds(&text_of(&toolbox, "src/shop.py"), &[expected]);
    }
}

#[test]
fn a_symbol_is_renamed_in_every_file() {
    let mut toolbox = toolbox();
    let said = done(&mut toolbox, "rename_symbol", json!({ "name": "total", "to": "amount" }));
    holds(&said, &["`total` is now `amount` at 4 places in 2 files", "src/main.py: 2 places"]);
    assert_eq!(text_of(&toolbox, "src/main.py"), MAIN.replace("total", "amount"));
    assert_eq!(text_of(&toolbox, "src/shop.py"), PROJECT.replace("total", "amount"));
    // The index was updated.
    let said = done(&mut toolbox, "find_references", json!({ "name": "amount" }));
    holds(&said, &["4 references of amount"]);
}

#[test]
fn a_symbol_that_nothing_uses_is_deleted() {
    let mut toolbox = toolbox();
    let said = done(&mut toolbox, "safe_delete_symbol", json!({ "name": "unused" }));
    assert_eq!(said, "`unused` was deleted from src/shop.py");
    let (rest, _) = PROJECT.split_once("\n\n\ndef unused").expect("it is there");
    assert_eq!(text_of(&toolbox, "src/shop.py"), format!("{rest}\n"));
}

#[test]
fn the_index_follows_files_that_come_and_go() {
    let mut toolbox = toolbox();
    let text = "from shop import unused\n\nunused()\n";
    let _ = done(&mut toolbox, "write_file", json!({ "path": "src/more.py", "text": text }));
    let said = done(&mut toolbox, "callers", json!({ "name": "unused" }));
    holds(&said, &["1 user of unused", "src/more.py"]);
    let _ = done(&mut toolbox, "delete_file", json!({ "path": "src/more.py" }));
    assert_eq!(done(&mut toolbox, "callers", json!({ "name": "unused" })), "nothing uses unused");
}

#[test]
fn leads_are_what_the_caller_knows() {
    let suspect = |line, symbol: &str, score, why: &str| Suspect {
        path: "src/shop.py".to_owned(),
        line,
        symbol: symbol.to_owned(),
        score,
        why: why.to_owned(),
        ..Suspect::default()
    };
    let suspects = vec![
        suspect(8, "total", 0.9, "runs in failing tests only"),
        suspect(19, "Cart.sum", 0.0, "in the traceback"),
    ];
    let search: Arc<PlanSearch> = Arc::new(|words: &str| match words {
        "nothing" => Ok(Vec::new()),
        "down" => Err("no connection".to_owned()),
        _ => Ok(vec![PlannedNode {
            id: "n1".to_owned(),
            path: "src/shop.py".to_owned(),
            symbol: "total".to_owned(),
            docstring: "Adds up.\nAll of it.".to_owned(),
        }]),
    });
    let mut toolbox = ToolSet::new(&project(), read_only, Limits::default())
        .with_suspects(suspects)
        .with_plan(search);
    let expected = "1. src/shop.py:8 total (score 0.90): runs in failing tests only\n2. src/shop.py:19 Cart.sum: in the traceback";
    assert_eq!(done(&mut toolbox, "suspects", json!({})), expected);
    let said = done(&mut toolbox, "search_plan", json!({ "words": "add up" }));
    assert_eq!(said, "total in src/shop.py (node n1)\n    Adds up.\n    All of it.");
    let said = done(&mut toolbox, "search_plan", json!({ "words": "nothing" }));
    assert_eq!(said, "no node of the plan fits \"nothing\"; try other words");
    let said = super::refused(&mut toolbox, "search_plan", json!({ "words": "down" }));
    holds(&said, &["cannot be searched: no connection", "grep"]);
    let said = super::refused(&mut toolbox, "search_plan", json!({ "words": " " }));
    holds(&said, &["there are no words"]);
    let mut none = ToolSet::new(&project(), read_only, Limits::default()).with_suspects(Vec::new());
    holds(&done(&mut none, "suspects", json!({})), &["nothing is suspect"]);
}

#[test]
fn done_is_reported_with_its_summary() {
    let called = super::call(&mut toolbox(), "done", json!({ "summary": "All well." }));
    assert_eq!((called.is_error, called.done.as_deref()), (false, Some("All well.")));
}
