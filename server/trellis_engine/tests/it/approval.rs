//! Tests of the rules on reviews of fixes.

use trellis_engine::approval::{CRITICAL, Confidence, Mode, is_critical, review_reason};

/// Returns a confidence with this total.
fn sure(total: f64) -> Confidence {
    Confidence { diagnostic: total, fix: total, coverage: total, parts: None }
}

#[test]
fn a_person_is_asked_as_the_mode_says() {
    use Mode::{Autonomous, Supervised, Threshold};
    let (plain, conftest) = (&["src/a.py"][..], &["src/a.py", "tests/conftest.py"][..]);
    let table = [
        (Autonomous, 9, 0.0, conftest, None),
        (Supervised, 1, 1.0, plain, Some("every fix")),
        (Threshold, 1, 1.0, plain, None),
        (Threshold, 2, 0.71, plain, None),
        (Threshold, 3, 1.0, plain, Some("it is fix 3, and 2 failed")),
        (Threshold, 1, 0.69, plain, Some("its confidence of 0.69 is below 0.7")),
        (Threshold, 1, f64::NAN, plain, Some("its confidence")),
        (Threshold, 1, 1.0, conftest, Some("tests/conftest.py is a critical file")),
    ];
    for (mode, iteration, total, paths, wanted) in table {
        let said = review_reason(mode, iteration, &sure(total), paths, &CRITICAL);
        match (&said, wanted) {
            (None, None) => {}
            (Some(said), Some(wanted)) => assert!(said.contains(wanted), "{said} is not {wanted}"),
            _ => panic!("{mode:?} {iteration} {total} {paths:?}: {said:?}"),
        }
    }
}

#[test]
fn coverage_weighs_most() {
    let table = [([1.0, 1.0, 1.0], 1.0), ([1.0, 1.0, 0.0], 0.6), ([0.0, 0.0, 1.0], 0.4)];
    for ([diagnostic, fix, coverage], wanted) in table {
        let total = Confidence { diagnostic, fix, coverage, parts: None }.total();
        assert!((total - wanted).abs() < 1e-9, "{total} is not {wanted}");
    }
}

#[test]
fn what_is_critical_is_found_wherever_it_is() {
    let critical = [
        "conftest.py",
        "a/b/conftest.py",
        "pyproject.toml",
        "packages/one/pyproject.toml",
        ".github/workflows/ci.yml",
        "requirements-dev.txt",
        "shop/migrations/0001_initial.py",
        "migrations/env.py",
        "db/alembic/versions/1.py",
        "Dockerfile.test",
        "uv.lock",
        ".env.local",
    ];
    let others =
        ["src/shop.py", "conftest.pyi", "my_conftest.py", "docs/migrations.md", "a/.github/x"];
    let found = |path: &&str| CRITICAL.iter().any(|pattern| is_critical(path, pattern));
    assert_eq!(critical.iter().filter(|it| !found(it)).count(), 0);
    assert_eq!(others.iter().filter(|it| found(it)).count(), 0);
}

#[test]
fn patterns_mean_what_they_say() {
    let table = [
        ("a/b/c.py", "a/**/c.py", true),
        ("a/c.py", "a/**/c.py", true),
        ("a/b/c.py", "a/*/c.py", true),
        ("a/b/b/c.py", "a/*/c.py", false),
        ("a/b", "a/**", true),
        ("größe.py", "gr??e.py", true),
        ("aab", "*ab", true),
        ("aXbXc", "a*b*c", true),
        ("aXbXd", "a*b*c", false),
        ("", "*", true),
        ("a", "", false),
    ];
    for (path, pattern, wanted) in table {
        assert_eq!(is_critical(path, pattern), wanted, "{path} {pattern}");
    }
    // No pattern takes exponential time.
    let (long, stars) = ("a".repeat(10_000), "*a".repeat(30) + "b");
    assert!(!is_critical(&long, &stars));
}

#[test]
fn modes_go_by_their_names() {
    for mode in Mode::ALL {
        assert_eq!(mode.as_str().parse(), Ok(mode));
        let json = serde_json::to_string(&mode).expect("JSON");
        assert_eq!(json, format!("\"{}\"", mode.as_str()));
    }
    let said = "Always".parse::<Mode>().expect_err("no mode").to_string();
    assert!(said.contains("autonomous, supervised or threshold"), "{said}");
}
