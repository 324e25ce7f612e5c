//! Tests of reading a project's requirements.

use std::{fs, os::unix::fs::symlink};

use tempfile::TempDir;
use trellis_sandbox::python::{Requirements, of_project};

fn project(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().expect("below the root")).expect("a folder");
        fs::write(file, text).expect("a file");
    }
    folder
}

fn found(files: &[(&str, &str)]) -> Requirements {
    of_project(project(files).path()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn requirements_files() {
    for (text, expected) in [
        ("", &[][..]),
        ("\u{feff}requests>=2 # a comment\n\n# another\nflask\n", &["requests>=2", "flask"]),
        (
            "a ; python_version < '3.12'\na ; python_version < '3.12'\n",
            &["a ; python_version < '3.12'"],
        ),
        ("a>=1, \\\n  <2\nb", &["a>=1, <2", "b"]),
        ("a==1 \\\n    --hash=sha256:12 \\\n    --hash sha256:34\nb==2", &["a==1", "b==2"]),
        ("x @ https://example.com/x.whl#sha256=12", &["x @ https://example.com/x.whl#sha256=12"]),
        ("-e git+https://example.com/x#egg=x", &["git+https://example.com/x#egg=x"]),
        ("-e .\n.\n./sub[dev]\nfile:sub\n-e file:///x\n", &[]),
        ("a\\", &["a"]),
    ] {
        assert_eq!(found(&[("requirements.txt", text)]).lines, expected, "{text:?}");
    }
}

#[test]
fn includes_and_namesakes_are_followed() {
    let found = found(&[
        (
            "requirements.txt",
            "-r requirements/base.txt\n--requirement=requirements/base.txt\n-cbounds.txt\n",
        ),
        ("requirements/base.txt", "Foo_Bar\n-r ../requirements.txt\n"),
        ("bounds.txt", "foo.bar<3\nother<2\n"),
        ("requirements-dev.txt", "-e .[dev]\ndev-tool\n"),
        ("test-requirements.txt", "test-tool\n"),
        ("docs-requirements.txt", "sphinx\n"),
    ]);
    assert_eq!(found.lines, ["Foo_Bar", "dev-tool", "test-tool", "foo.bar<3"]);
    assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
    assert!(found.notes[0].starts_with(".[dev] in requirements-dev.txt is not installed"));
    assert!(found.notes[1].starts_with("the constraint other<2 is ignored"));
}

#[test]
fn pyproject_tables() {
    for (text, expected) in [
        ("", &[][..]),
        ("[project]\nname = 'p'\ndependencies = ['a>=1', 'p[test]', 'q @ file:///q']\n", &["a>=1"]),
        (
            "[project.optional-dependencies]\ntest = ['a']\ndev = ['b', 'a']\ndocs = ['c']\n",
            &["a", "b"],
        ),
        (
            "[dependency-groups]\ndev = [{include-group = 'li.nt'}, 'a']\nli_nt = ['b', {include-group = 'dev'}]\n",
            &["a", "b"],
        ),
        (
            "[tool.poetry.dependencies]\npython = '^3.9'\na = '^1.2.3'\nb = '^0.2'\nc = '~1.2'\nd = '~2'\ne = '*'\nf = '1.0'\n\
             g = '>=1,<2'\nh = {version = '~=1.4', extras = ['x', 'y'], markers = \"python_version < '3.12'\"}\n\
             i = {version = '*', optional = true}\nj = {git = 'https://example.com/j', tag = 'v1'}\n\
             [tool.poetry.group.dev.dependencies]\nk = '^0.0.3'\n[tool.poetry.group.docs.dependencies]\nl = '*'\n",
            &[
                "a>=1.2.3,<2",
                "b>=0.2,<0.3",
                "c>=1.2,<1.3",
                "d>=2,<3",
                "e",
                "f==1.0",
                "g>=1,<2",
                "h[x,y]~=1.4 ; python_version < '3.12'",
                "j @ git+https://example.com/j@v1",
                "k>=0.0.3,<0.0.4",
            ],
        ),
    ] {
        let mut lines = found(&[("pyproject.toml", text)]).lines;
        lines.sort();
        assert_eq!(lines, expected, "{text}");
    }
    let local = found(&[(
        "pyproject.toml",
        "[tool.poetry.dependencies]\na = {path = '../a'}\nb = '^1 || ^2'\n",
    )]);
    assert_eq!((local.lines.len(), local.notes.len()), (0, 2), "{local:?}");
}

#[test]
fn what_cannot_be_followed_is_said() {
    for (text, expected) in [
        (
            "a\n--index-url https://evil.example\n",
            "line 2: Trellis does not accept the option --index-url",
        ),
        ("--extra-index-url=https://evil.example", "the option --extra-index-url"),
        ("a --config-settings=x=y", "the option --config-settings"),
        ("-i https://evil.example", "the option -i"),
        ("-r ../outside.txt", "cannot read the requirements in"),
        ("-r /etc/passwd", "/etc/passwd is outside the project"),
        ("-r https://example.com/r.txt", "is outside the project"),
        ("-r linked.txt", "linked.txt is outside the project"),
        ("-r missing.txt", "cannot read the requirements in"),
    ] {
        let folder = project(&[("requirements.txt", text)]);
        symlink("/etc/passwd", folder.path().join("linked.txt")).expect("a link");
        let error = of_project(folder.path()).expect_err(text).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let folder = project(&[("pyproject.toml", "[project\n")]);
    let error = of_project(folder.path()).expect_err("no TOML").to_string();
    assert!(error.contains("is not valid TOML") && !error.contains('\n'), "{error}");
}
