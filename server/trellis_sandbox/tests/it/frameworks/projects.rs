//! Tests of detecting a framework and building its command.

use std::{fs, path::Path};

use trellis_sandbox::frameworks::{Detected, Framework, command, detect};

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().expect("below the root")).expect("a folder");
        fs::write(file, text).expect("a file");
    }
    folder
}

fn detected(files: &[(&str, &str)]) -> Option<Detected> {
    detect(project(files).path())
}

const UNIT: &str = "import unittest\nclass T(unittest.TestCase): pass\n";
const JEST: &str = r#"{"devDependencies": {"jest": "^30"}}"#;

#[test]
fn the_projects_files_say_which() {
    use Framework::{Go, Jest, Pytest, Unittest, Vitest};
    for (files, expected, because) in [
        (&[("pytest.ini", "")][..], Pytest, "pytest.ini exists"),
        (
            &[("pyproject.toml", "[tool.pytest.ini_options]"), ("test_a.py", UNIT)],
            Pytest,
            "names pytest",
        ),
        (&[("tests/test_a.py", "def test_a(): pass")], Pytest, "tests/test_a.py looks like a test"),
        (&[("tests/test_a.py", UNIT)], Unittest, "tests/test_a.py imports unittest"),
        (
            &[("a_test.py", UNIT), ("b_test.py", "import pytest")],
            Pytest,
            "b_test.py imports pytest",
        ),
        (
            &[("tests/test_a.py", UNIT), ("tests/conftest.py", "")],
            Pytest,
            "conftest.py imports pytest",
        ),
        (&[("package.json", JEST)], Jest, "package.json depends on jest"),
        (&[("package.json", JEST), (".venv/test_a.py", UNIT)], Jest, "depends on jest"),
        (&[("package.json", JEST), ("node_modules/x/test_a.py", UNIT)], Jest, "depends on jest"),
        (
            &[("package.json", r#"{"scripts": {"test": "tsc && vitest run"}}"#)],
            Vitest,
            "tsc && vitest run",
        ),
        (&[("go.mod", "module example.com/a // note\n")], Go, "go.mod exists"),
    ] {
        let found = detected(files).unwrap_or_else(|| panic!("{files:?}"));
        assert_eq!(found.framework, expected, "{files:?}");
        assert!(found.because.contains(because), "{}", found.because);
    }
    assert_eq!(detected(&[("README.md", "pytest"), ("package.json", "{}"), ("a.py", UNIT)]), None);
    assert_eq!(detected(&[("package.json", "no JSON")]), None);
}

#[test]
fn what_else_was_seen_is_said() {
    let found = detected(&[
        ("conftest.py", ""),
        ("package.json", r#"{"scripts": {"test": "vitest"}, "dependencies": {"jest": "1"}}"#),
        ("go.mod", "module \"example.com/a\"\n"),
    ]);
    let also = found.expect("there").also;
    assert_eq!(also, ["`npm test` in package.json is `vitest`", "go.mod exists"]);
    let found = detected(&[("go.mod", "module \"example.com/a\"\n")]).expect("there");
    assert_eq!(found.go_module.as_deref(), Some("example.com/a"));
}

#[test]
fn npm_test_is_used_where_its_options_can_be_added_to() {
    for (script, expected) in [
        ("jest", true),
        ("NODE_OPTIONS=--experimental-vm-modules jest --maxWorkers=2", true),
        ("node --experimental-vm-modules node_modules/jest/bin/jest.js", true),
        ("eslint . && jest", false),
        ("jest --watchAll", false),
        ("jest --json --outputFile=x", false),
        ("jest src", false),
        ("jest-runner", false),
        ("", false),
    ] {
        let package =
            format!(r#"{{"scripts": {{"test": "{script}"}}, "devDependencies": {{"jest": "*"}}}}"#);
        let found = detected(&[("package.json", &package)]).expect("jest");
        assert_eq!(found.through_npm, expected, "{script}");
    }
    // Unlike jest, vitest does not accept a repeated option, and Trellis passes `--bail`.
    for (script, expected) in
        [("vitest run --bail=1", false), ("vitest run", true), ("jest --bail", true)]
    {
        let package = format!(r#"{{"scripts": {{"test": "{script}"}}}}"#);
        let found = detected(&[("package.json", &package)]).expect("named");
        assert_eq!(found.through_npm, expected, "{script}");
    }
    let found = detected(&[
        ("package.json", r#"{"devDependencies": {"vitest": "*"}}"#),
        ("node_modules/vitest/package.json", r#"{"version": "4.1.12"}"#),
    ]);
    assert_eq!(found.expect("vitest").version, Some((4, 1)));
}

fn line(detected: &Detected, targets: &[&str]) -> String {
    let targets: Vec<String> = targets.iter().map(|it| (*it).to_owned()).collect();
    command(detected, &targets, true, Path::new("/r.json")).join(" ")
}

#[test]
fn commands_select_files_and_tests() {
    let of = |framework| Detected {
        framework,
        because: String::new(),
        also: Vec::new(),
        through_npm: false,
        version: Some((4, 1)),
        go_module: None,
    };
    let jest =
        "npx --no-install jest --ci --json --testLocationInResults --outputFile=/r.json --bail=0";
    let vitest = "npx --no-install vitest --run --reporter=default --reporter=json --outputFile.json=/r.json --bail=0 \
                  --includeTaskLocation --configLoader=runner";
    let go = "go test -json -count=1";
    for (framework, targets, expected) in [
        (
            Framework::Pytest,
            &["test_a.py::test_b"][..],
            "python -m pytest test_a.py::test_b".to_owned(),
        ),
        (Framework::Unittest, &[], "python -m unittest -v".to_owned()),
        (Framework::Jest, &[], jest.to_owned()),
        (
            Framework::Jest,
            &["a.test.js", "-b.test.js"],
            format!("{jest} --runTestsByPath ./-b.test.js a.test.js"),
        ),
        (Framework::Jest, &["src"], format!("{jest} src")),
        (
            Framework::Jest,
            &["a.test.js::cart::adds (up)", "a.test.js::same #2"],
            format!(
                r"{jest} --testNamePattern=^ ?(cart adds \(up\)|same( #2)?)$ --runTestsByPath a.test.js"
            ),
        ),
        (
            Framework::Jest,
            &["a.test.js::cart::of (many)::"],
            format!(
                r"{jest} --testNamePattern=^ ?(cart of \(many\) .*)$ --runTestsByPath a.test.js"
            ),
        ),
        (Framework::Jest, &["a.js::x", "b.js"], format!("{jest} --runTestsByPath a.js b.js")),
        (
            Framework::Vitest,
            &["a.test.js::x"],
            format!("{vitest} --testNamePattern=^ ?(x)$ a.test.js"),
        ),
        (Framework::Go, &[], format!("{go} ./...")),
        (Framework::Go, &["sub::TestA/b_(c)"], format!(r"{go} -run=^TestA$/^b_\(c\)$ ./sub")),
        (
            Framework::Go,
            &["sub::TestA/b", ".::TestC"],
            format!("{go} -run=^(TestA|TestC)$ . ./sub"),
        ),
        (Framework::Go, &["sub/x_test.go", "y_test.go"], format!("{go} . ./sub")),
        (Framework::Go, &["internal", "."], format!("{go} . ./internal/...")),
    ] {
        assert_eq!(line(&of(framework), targets), expected);
    }
    let through_npm = Detected { through_npm: true, ..of(Framework::Jest) };
    assert!(line(&through_npm, &[]).starts_with("npm test --silent -- --ci --json"));
    let old = Detected { version: Some((2, 1)), ..of(Framework::Vitest) };
    let line = line(&old, &[]);
    assert!(line.ends_with("--outputFile.json=/r.json --bail=0"), "unknown options to it: {line}");
}
