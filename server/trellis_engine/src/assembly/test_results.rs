//! Section of the report on tests.

use std::fmt::Write as _;

use crate::assembly::report::{FunctionsLine, IntegrationLine, ReportFacts, percent};

/// Renders the tests written and their results.
pub(crate) fn tests(out: &mut String, facts: &ReportFacts) {
    out.push_str("## Test Results\n\n");
    functions(out, facts);
    let _ = write!(
        out,
        "- **Unit Tests**: {} cases generated, {} passing ({})\n- **Whole suite**: {}\n",
        facts.tests_planned,
        facts.tests_passing,
        percent(facts.tests_passing, facts.tests_planned),
        facts.suite.as_deref().unwrap_or("not run"),
    );
    integration(out, &facts.integration);
    let (passed, triggered) = facts.regressions;
    if triggered > 0 {
        let share = percent(passed, triggered);
        let _ = writeln!(
            out,
            "- **Regression Runs**: {triggered} triggered, {passed} passing ({share})"
        );
    }
    if let Some(coverage) = facts.coverage {
        let _ = writeln!(out, "- **Coverage per Node**: {coverage}% on average");
    }
    rates(out, facts);
    if !facts.flaky.is_empty() {
        let _ = writeln!(out, "- **Flaky tests**: {}", facts.flaky.join(", "));
    }
    for (fixes, count) in facts.by_fixes.iter().enumerate() {
        let when = match fixes {
            0 => "without a fix".to_owned(),
            1 => "after 1 fix".to_owned(),
            n => format!("after {n} fixes"),
        };
        let _ = writeln!(out, "- **Nodes passed {when}**: {count}");
    }
    out.push('\n');
}

/// Renders the counts of test functions; the lines after it count cases.
fn functions(out: &mut String, facts: &ReportFacts) {
    let all = |of: fn(&FunctionsLine) -> usize| facts.functions.iter().map(of).sum::<usize>();
    let (written, kept) = (all(|it| it.written), all(|it| it.kept));
    let passing = kept.saturating_sub(facts.functions_failing);
    let _ = writeln!(
        out,
        "- **Test Functions**: {written} written, {kept} kept, {} removed; {passing} of those \
         kept pass ({}). A function with parameters has several cases; the lines below count \
         cases",
        written - kept,
        percent(passing, kept)
    );
    for it in &facts.functions {
        let _ = writeln!(
            out,
            "  - {}: {} written, {} kept, {} removed",
            it.stage,
            it.written,
            it.kept,
            it.written - it.kept
        );
    }
}

/// Renders the rates of nodes that passed at the first try, and of the others that passed after a
/// fix.
fn rates(out: &mut String, facts: &ReportFacts) {
    let at_once = facts.by_fixes.first().copied().unwrap_or_default();
    let saved: usize = facts.by_fixes.iter().skip(1).sum();
    let tried = facts.total.passed + facts.total.failed;
    let broken = tried.saturating_sub(at_once);
    if tried == 0 {
        return;
    }
    let _ = writeln!(
        out,
        "- **Passed without a fix**: {at_once} of {tried} nodes ({})",
        percent(at_once, tried)
    );
    if broken > 0 {
        let share = percent(saved, broken);
        let _ = writeln!(
            out,
            "- **Passed after a fix**: {saved} of {broken} that failed first ({share})"
        );
    }
}

fn integration(out: &mut String, lines: &[IntegrationLine]) {
    let (passed, failed) =
        lines.iter().fold((0, 0), |(passed, failed), it| (passed + it.passed, failed + it.failed));
    let all = passed + failed;
    if all > 0 {
        let share = percent(passed, all);
        let _ = writeln!(
            out,
            "- **Integration Tests**: {all} cases generated, {passed} passing ({share})"
        );
    }
    if all == 0 && !lines.is_empty() {
        out.push_str("- **Integration Tests**: none kept\n");
    }
    for it in lines {
        let counts = match it.passed + it.failed {
            0 => String::new(),
            all => format!(" ({} of {all})", it.passed),
        };
        let outcome = it.missing().unwrap_or(&it.outcome);
        let _ = writeln!(out, "  - `{}`: {outcome}{counts}", it.subgraph);
        for left_out in &it.left_out {
            let _ = writeln!(out, "    - {left_out}");
        }
    }
}
