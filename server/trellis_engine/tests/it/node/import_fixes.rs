//! Tests of missing imports that are added without asking the model (T6).

use super::*;

const SOURCE: &str = "src/pkg/stats.py";
const TEST: &str = "tests/test_stats.py";

/// Runs `code` with a NameError of `name`; expects the import added before the next run.
#[track_caller]
fn check_import_fix(code: &str, name: &str, import: Option<&str>) {
    let script = vec![tests(), red(), python(code), fails(no_name(SOURCE, name))];
    let played = play(&item(), &Policy::generate(), script);
    match import {
        Some(import) => {
            assert!(
                played.trace.ends_with("run green; [import-added]; run green"),
                "{}",
                played.trace
            );
            assert!(played.implementation().contains(import), "{}", played.implementation());
            assert_eq!(played.note("import-added"), import);
            assert_eq!(played.state.fixes(), 0);
        }
        None => assert!(played.trace.ends_with("run green; run again"), "{name}: {}", played.trace),
    }
}

#[test]
fn well_known_names_are_imported() {
    let mean = |body: &str| format!("def mean(values: list[float]) -> float:\n    {body}\n");
    check_import_fix(&mean("return math.fsum(values)"), "math", Some("import math"));
    check_import_fix(&mean("return np.mean(values)"), "np", Some("import numpy as np"));
    check_import_fix(
        &mean("return Counter(values)"),
        "Counter",
        Some("from collections import Counter"),
    );
    // Not in the plan's libraries, and no well-known name.
    check_import_fix(&mean("return pd.Series(values).mean()"), "pd", None);
    check_import_fix(&mean("return count / 2"), "count", None);
}

#[test]
fn a_local_variable_is_no_missing_import() {
    check_import_fix(
        "def mean(values: list[float]) -> float:\n    json = json.loads(values)\n    return json\n",
        "json",
        None,
    );
    check_import_fix(
        "def mean(values: list[float]) -> float:\n    if values:\n        deque = 1\n    return deque\n",
        "deque",
        None,
    );
}

#[test]
fn a_planned_dependency_is_imported_at_once() {
    let code =
        "def mean(values: list[float]) -> float:\n    return total(values) / spread(values)\n";
    let played = check(
        vec![tests(), red(), python(code)],
        "ask tests 0; run red; ask implementation 0; run green",
    );
    // `spread` is in the same file.
    assert_eq!(played.implementation(), format!("from pkg.sums import total\n\n\n{code}"));
}

#[test]
fn tests_are_fixed_too_red_or_green() {
    let source = TESTS
        .replace("import pytest\n", "")
        .replace("mean([1]) == 1", "mean([1]) == math.sqrt(total([spread()]))");
    let played = check(
        vec![
            python(&source),
            uncollected(no_name(TEST, "pytest")),
            fails(no_name(TEST, "math")),
            good(),
            fails(no_name(TEST, "total")),
            fails(no_name(TEST, "spread")),
            pass(),
        ],
        "ask tests 0; run red; [import-added]; run red; [weak-tests]; ask implementation 0; run green; [import-added]; \
         run green; [import-added]; run green; passed",
    );
    for import in
        ["import pytest\n", "from pkg.sums import total\n", "from pkg.stats import spread\n"]
    {
        assert!(played.tests().contains(import), "{}", played.tests());
    }
    assert_eq!(played.state.fixes(), 0, "import fixes are not counted as fixes");
}

#[test]
fn another_node_s_file_is_left_alone() {
    check(
        vec![tests(), red(), good(), fails(no_name("src/pkg/sums.py", "math"))],
        "ask tests 0; run red; ask implementation 0; run green; run again",
    );
}

#[test]
fn fixes_have_a_limit() {
    let names = ["math", "re", "json", "os", "sys"];
    let body: String = names.iter().map(|name| format!("    {name}.x\n")).collect();
    let code = format!("def mean(values: list[float]) -> float:\n{body}");
    let mut script = vec![tests(), red(), python(&code)];
    script.extend(names.iter().map(|name| fails(no_name(SOURCE, name))));
    let policy = Policy { import_fixes: 3, ..Policy::generate() };
    let played = play(&item(), &policy, script);
    assert_eq!(played.trace.matches("[import-added]").count(), 3);
    assert!(played.trace.contains("[import-added]; run green; run again"), "{}", played.trace);
}
