//! Tests of root causes and recommendations for nodes that did not pass.

use trellis_engine::Cause;
use trellis_engine::assembly::{FailureFacts, recommendation, root_cause};

/// Returns the facts of a node whose last run failed.
fn facts(cause: Cause) -> FailureFacts {
    FailureFacts {
        cause: Some(cause),
        name: "mean".to_owned(),
        path: "src/stats.py".to_owned(),
        reason: "the reason".to_owned(),
        test: Some("tests/test_stats.py::test_mean".to_owned()),
        exception: Some("AssertionError: assert 1 == 2 (tests/test_stats.py:5)".to_owned()),
        ..FailureFacts::default()
    }
}

fn found(rule: &str, why: &str) -> Option<(String, String)> {
    Some((rule.to_owned(), why.to_owned()))
}

#[test]
fn every_cause_has_words_of_its_own() {
    let said: std::collections::BTreeSet<(String, String)> = Cause::ALL
        .into_iter()
        .map(|it| {
            let facts = facts(it);
            (root_cause(&facts).expect("a cause"), recommendation(&facts).expect("advice"))
        })
        .collect();
    assert_eq!(said.len(), Cause::ALL.len());
    for cause in Cause::ALL {
        assert_eq!(Cause::parse(cause.as_str()), Some(cause));
    }
    // Facts missing in the journal are not invented.
    let unknown = FailureFacts { cause: None, ..facts(Cause::FixLimit) };
    assert_eq!((root_cause(&unknown), recommendation(&unknown)), (None, None));
}

#[test]
fn a_missing_package_is_named_by_what_to_install() {
    let why = "the package `yaml` is required but not installed";
    let facts =
        FailureFacts { finding: found("missing-package", why), ..facts(Cause::Environment) };
    assert_eq!(root_cause(&facts).as_deref(), Some(format!("the environment: {why}").as_str()));
    let advice = recommendation(&facts).expect("advice");
    assert!(advice.starts_with("Install `PyYAML` into the environment"), "{advice}");
}

#[test]
fn what_the_environment_lacks_decides_the_recommendation() {
    let table = [
        ("network", "`--network`"),
        ("missing-variable", "`--env NAME=VALUE`"),
        ("missing-program", "Install the program"),
        ("foreign-file", "Put the file"),
        ("signal", "`trellis doctor`"),
    ];
    for (rule, wanted) in table {
        let facts = FailureFacts { finding: found(rule, "why"), ..facts(Cause::Environment) };
        let advice = recommendation(&facts).expect("advice");
        assert!(advice.contains(wanted), "{rule}: {advice}");
    }
}

#[test]
fn used_up_fixes_are_reported_by_what_went_wrong_last() {
    let last = "`tests/test_stats.py::test_mean` fails with AssertionError: assert 1 == 2 (tests/test_stats.py:5)";
    let plain = facts(Cause::FixLimit);
    let accident =
        FailureFacts { finding: found("accident", "it fails by accident"), ..plain.clone() };
    let foreign = FailureFacts {
        finding: found(
            "foreign-package",
            "src/stats.py imports `numpy`, which no requirement names",
        ),
        ..plain.clone()
    };
    let voted = FailureFacts { votes: Some("A 3, B 1, C 0".to_owned()), ..plain.clone() };
    let unusable = FailureFacts { unusable: Some("syntax error".to_owned()), ..accident.clone() };
    let regression = FailureFacts { regression: Some("KeyError: 'x'".to_owned()), ..plain.clone() };
    let blamed = format!("{last}; what is wrong, by votes: code 3, test 1, environment 0");
    let table = [
        (&voted, blamed, "Compare `tests/test_stats.py::test_mean`"),
        (
            &plain,
            last.to_owned(),
            "Compare `tests/test_stats.py::test_mean` with the specification of `mean`",
        ),
        (
            &accident,
            format!("it fails by accident; {last}"),
            "Compare `tests/test_stats.py::test_mean`",
        ),
        (
            &foreign,
            format!("src/stats.py imports `numpy`, which no requirement names; {last}"),
            "List `numpy` under the `libraries` of `mean`",
        ),
        (
            &unusable,
            "the last reply of the model was unusable: syntax error".to_owned(),
            "Try a stronger model",
        ),
        (
            &regression,
            "the last fix broke code that worked: KeyError: 'x'".to_owned(),
            "Check that the specifications of `mean` and of what uses",
        ),
    ];
    for (facts, cause, advice) in table {
        assert_eq!(root_cause(facts).as_deref(), Some(cause.as_str()));
        let said = recommendation(facts).expect("advice");
        assert!(said.starts_with(advice), "{said}");
    }
}

#[test]
fn replies_without_tests_are_not_laid_on_the_specification() {
    let reason = "no meaningful tests after asking again twice: the reply holds no Python code";
    let facts = FailureFacts { reason: reason.to_owned(), ..facts(Cause::NoTests) };
    let cause = "the replies of the model cannot be used: the reply holds no Python code";
    assert_eq!(root_cause(&facts).as_deref(), Some(cause));
    assert!(recommendation(&facts).is_some_and(|it| it.starts_with("Choose another model")));
    let reason = "no meaningful tests: they pass without the implementation".to_owned();
    let tried = FailureFacts { reason, ..facts };
    assert!(root_cause(&tried).is_some_and(|it| it.contains("fails without it")));
    assert!(recommendation(&tried).is_some_and(|it| it.contains("`red_gate`")));
}

#[test]
fn a_reviewer_learns_where_everything_is() {
    let facts = FailureFacts {
        votes: Some("A 2, B 2, C 1".to_owned()),
        page: Some(".trellis/debug/mean.md".to_owned()),
        ..facts(Cause::SplitVote)
    };
    assert!(root_cause(&facts).is_some_and(|it| it.contains("(code 2, test 2, environment 1)")));
    assert!(recommendation(&facts).is_some_and(|it| it.contains("`.trellis/debug/mean.md`")));
}
