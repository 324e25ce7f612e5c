//! Tests of merging files that two tasks have changed in the same place.

use trellis_engine::issue::{Conflict, parse_resolution};

fn conflict(path: &str, base: &str, ours: &str, theirs: &str) -> Conflict {
    Conflict {
        path: path.to_owned(),
        is_test: path.starts_with("tests/"),
        base: base.to_owned(),
        ours: ours.to_owned(),
        theirs: theirs.to_owned(),
        marked: String::new(),
    }
}

fn file(path: &str, body: &str) -> String {
    format!("{path}\n```python\n{body}```\n")
}

#[test]
fn the_file_is_taken_from_under_its_path_or_the_only_fence() {
    let it = conflict("app/a.py", "x = 0\n", "x = 1\n", "x = 2\n");
    let table = [
        (file("app/a.py", "x = 3\n"), Ok("x = 3\n")),
        ("Here it is:\n```\nx = 3\n```\n".to_owned(), Ok("x = 3\n")),
        (format!("{}{}", file("app/b.py", "y = 1\n"), file("app/a.py", "x = 3\n")), Ok("x = 3\n")),
        (file("app/b.py", "x = 3\n"), Err("does not hold app/a.py")),
        ("x is 3 now".to_owned(), Err("does not hold app/a.py")),
        (file("app/a.py", "x = (\n"), Err("app/a.py would be broken")),
        (file("app/a.py", "<<<<<<< ours\nx = 1\n"), Err("the mark `<<<<<<< ours` is left")),
        (file("app/a.py", "x = 1\n>>>>>>> theirs\n"), Err("the mark")),
    ];
    for (answer, wanted) in table {
        match (parse_resolution(&answer, &it), wanted) {
            (Ok(text), Ok(wanted)) => assert_eq!(text, wanted),
            (Err(why), Err(wanted)) => assert!(why.contains(wanted), "{why}"),
            (got, wanted) => panic!("{answer}: {got:?}, not {wanted:?}"),
        }
    }
    // A document about merges may hold a line that looks like a marker.
    let text = "Marks:\n<<<<<<< ours\n";
    let it = conflict("docs/a.md", "", text, "Marks\n");
    assert_eq!(parse_resolution(&format!("docs/a.md\n```\n{text}```\n"), &it).as_deref(), Ok(text));
}

#[test]
fn tests_of_both_sides_stay_as_they_are_and_none_is_made_up() {
    let base = "import app\n\n\ndef test_0():\n    assert app\n";
    let (a, b) = ("def test_a():\n    assert app.a\n", "def test_b():\n    assert app.b\n");
    let both = |tests: &[&str]| format!("{base}\n\n{}", tests.join("\n\n"));
    let it = conflict("tests/test_app.py", base, &both(&[a]), &both(&[b]));
    let answer = |tests: &[&str]| file("tests/test_app.py", &both(tests));
    assert_eq!(parse_resolution(&answer(&[b, a]), &it), Ok(both(&[b, a])));
    let refused = |tests: &[&str], words: &str| {
        let why = parse_resolution(&answer(tests), &it).unwrap_err();
        assert!(why.contains(words), "{why}");
    };
    refused(&[a], "lost, or has changed, `def test_b():`");
    refused(&[a, "def test_b():\n    assert True\n"], "`def test_b():`");
    // All lines are there, but none of the checks is ever executed.
    refused(
        &[a, "def test_b():\n    def test_b():\n        assert app.b\n    assert app\n"],
        "`def test_b():`",
    );
    refused(&[a, b, "def test_c():\n    assert app\n"], "`def test_c():`, which neither side has");
    // A later definition replaces an earlier one of the same name.
    refused(&[a, b, a], "`def test_a():`, which neither side has");
    let emptied = file("tests/test_app.py", &format!("import app\n\n\n{a}\n\n{b}"));
    let why = parse_resolution(&emptied, &it).unwrap_err();
    assert!(why.contains("`def test_0():`"), "{why}");
    let other = "def test_a():\n    assert app.b\n";
    let rivals = conflict("tests/test_app.py", base, &both(&[a]), &both(&[other]));
    let why = parse_resolution(&answer(&[a, other]), &rivals).unwrap_err();
    assert!(why.contains("both sides have a `test_a` of their own"), "{why}");
    let js = conflict("tests/app.test.js", "", "test(1);\n", "test(2);\n");
    let why = parse_resolution("```js\ntest(1);\ntest(2);\n```\n", &js).unwrap_err();
    assert!(why.contains("which a model cannot merge"), "{why}");
}
