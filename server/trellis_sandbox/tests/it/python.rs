//! Tests of finding interpreters and making environments.

use std::{
    env,
    ffi::OsStr,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use tokio_util::sync::CancellationToken;
use trellis_sandbox::{
    Config, Outcome, Request, Runner,
    python::{
        self, Installer, InterpreterSearch, Origin, Progress, Python, PythonError, find, provide,
        provide_with,
    },
};

use crate::support::{base, cache, environment, files, scratch};

#[tokio::test]
async fn a_cached_environment_is_used_again() {
    let made = environment().await;
    let mut base = base().await;
    // The same file under another name is the same interpreter.
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("python");
    symlink(&base.interpreter, &link).expect("a link");
    base.interpreter = link;
    let again =
        provide(&base, &[], &cache(), &|progress| panic!("{progress:?}")).await.expect("cached");
    assert_eq!(again, made);
    assert_eq!(again.origin, Origin::Provided);
}

#[tokio::test]
async fn another_build_of_a_version_gets_another_environment() {
    environment().await;
    let mut other = base().await;
    other.interpreter = "/nowhere/python".into();
    let error = provide(&other, &[], &cache(), &|_| {}).await.expect_err("not the cached one");
    assert!(matches!(error, PythonError::VenvFailed { .. }), "{error}");
}

#[tokio::test]
async fn two_at_once_make_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = base().await;
    let same = ["  ".to_owned(), "# a comment".to_owned(), "pytest>=7".to_owned()];
    let (first, second) = tokio::join!(
        provide(&base, &[], folder.path(), &|_| {}),
        provide(&base, &same, folder.path(), &|_| {}),
    );
    let (first, second) = (first.expect("made"), second.expect("made"));
    assert_eq!(first, second);
    let place = first.interpreter.ancestors().nth(3).expect("the cache's folder");
    assert_eq!(fs::read_dir(place).expect("there").count(), 3, "environment, lock and marker");
}

#[tokio::test]
async fn what_goes_wrong_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = base().await;
    let no_such = ["no-such-distribution-of-trellis @ file:///nowhere/at/all.whl".to_owned()];
    let error = provide_with(&Installer::Pip, &base, &no_such, folder.path(), &|_| {})
        .await
        .expect_err("there is none");
    assert!(matches!(error, PythonError::PipFailed { .. }), "{error}");
    let left = fs::read_dir(folder.path().join("venvs"))
        .expect("there")
        .flatten()
        .next()
        .expect("one place");
    assert_eq!(fs::read_dir(left.path()).expect("there").count(), 1, "only the lock");

    let option = ["--index-url=http://evil.example".to_owned()];
    let error = provide(&base, &option, folder.path(), &|_| {}).await.expect_err("an option");
    assert!(matches!(error, PythonError::BadRequirement { .. }), "{error}");

    let mut broken = base.clone();
    broken.interpreter = "/nowhere/python".into();
    let error = provide(&broken, &[], folder.path(), &|progress| {
        assert!(matches!(progress, Progress::Creating { .. }))
    });
    assert!(matches!(error.await, Err(PythonError::VenvFailed { .. })));
}

#[tokio::test]
async fn the_projects_environment_comes_first_if_it_has_pytest() {
    let made = environment().await;
    let project = tempfile::tempdir().expect("a folder");
    let environment = made.interpreter.ancestors().nth(2).expect("its folder");
    symlink(environment, project.path().join("env")).expect("a link");
    // `.venv` and `venv` are examined first: one does not work, the other has no pytest.
    fs::create_dir_all(project.path().join(".venv/bin")).expect("a folder");
    // An interpreter in the repository is not started to examine it.
    let trap = project.path().join("started");
    let python = project.path().join(".venv/bin/python");
    fs::write(&python, format!("#!/bin/sh\ntouch {}\n", trap.display())).expect("a file");
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("set");
    let bare = Command::new(&base().await.interpreter)
        .args(["-m", "venv", "--without-pip"])
        .arg(project.path().join("venv"))
        .status();
    assert!(bare.is_ok_and(|status| status.success()));
    let environments = own(project.path());
    let found = find(&InterpreterSearch {
        environments: &environments,
        ..InterpreterSearch::on(OsStr::new(""))
    })
    .await
    .expect("found");
    assert_eq!(found.origin, Origin::Project);
    assert_eq!(found.interpreter, project.path().join("env/bin/python"));
    // The interpreter works in the sandbox, which shows only what is needed.
    let config = Config { scratch: scratch(), ..Config::from_environment() };
    let runner = Runner::new(found.clone(), config);
    let request = Request::new(files(&[("test_a.py", "def test_a(): pass")]));
    let report = runner.run(&request, &CancellationToken::new()).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    runner.close().await;
    let [broken, bare] = found.passed_over.as_slice() else { panic!("{found:?}") };
    assert!(broken.contains(".venv is not a virtual environment"), "{broken}");
    assert!(!trap.exists());
    assert!(bare.contains("venv has no pytest, and there is no Python 3."), "{bare}");
}

#[tokio::test]
async fn no_python_says_what_to_install() {
    let error = find(&InterpreterSearch::on(OsStr::new("/nowhere"))).await.expect_err("none there");
    assert!(error.to_string().contains("apt install python3"), "{error}");
}

/// Returns the possible environments of a project, for a user without variables.
fn own(project: &Path) -> Vec<PathBuf> {
    python::environments(project, &|_| None)
}

/// Makes an environment in `folder` without pytest that has one package of its own.
fn bare(interpreter: &Path, folder: &Path) -> PathBuf {
    let made = Command::new(interpreter).args(["-m", "venv", "--without-pip"]).arg(folder).status();
    assert!(made.is_ok_and(|it| it.success()));
    let libraries = fs::read_dir(folder.join("lib")).expect("a folder");
    let packages = libraries.flatten().next().expect("one").path().join("site-packages");
    fs::create_dir(packages.join("theirs")).expect("a folder");
    fs::write(packages.join("theirs/__init__.py"), "VALUE = 5\n").expect("a file");
    folder.to_owned()
}

const USES_THEIRS: &str = "import sys, theirs, pytest\n\ndef test_a():\n    assert theirs.VALUE == 5\n    assert sys.executable.endswith('WHICH/bin/python')\n";

/// Runs a test that needs the environment called `which`, warm and cold.
async fn uses(python: Python, which: &str) {
    let config = Config { scratch: scratch(), ..Config::from_environment() };
    let runner = Runner::new(python, config);
    let mut request = Request::new(files(&[("test_a.py", &USES_THEIRS.replace("WHICH", which))]));
    for cold in [false, true] {
        request.cold = cold;
        request.coverage = true;
        let report = runner.run(&request, &CancellationToken::new()).await;
        assert_eq!(report.outcome, Outcome::Passed, "{which} cold {cold} {report:#?}");
        assert!(report.coverage.is_some(), "{:?}", report.notes);
    }
    runner.close().await;
}

#[tokio::test]
async fn an_environment_without_pytest_gets_it_from_beside() {
    let base = base().await;
    let project = tempfile::tempdir_in(scratch()).expect("a folder");
    bare(&base.interpreter, &project.path().join(".venv"));
    let path = env::var_os("PATH").expect("PATH is set");
    let environments = own(project.path());
    let search = InterpreterSearch { environments: &environments, ..InterpreterSearch::on(&path) };
    let found = find(&search).await.expect("found");
    assert_eq!(found.interpreter, project.path().join(".venv/bin/python"));
    assert!(found.maker.is_some());
    let whole = python::beside(&found, &[], &cache(), &|_| {}).await.expect("made");
    assert_eq!((&whole.interpreter, &whole.maker), (&found.interpreter, &None));
    uses(whole.clone(), ".venv").await;
    // Nothing was installed into the environment itself.
    let own = project.path().join(".venv/lib");
    let packages = fs::read_dir(own).expect("lib").flatten().next().expect("one").path();
    assert!(!packages.join("site-packages/pytest").exists());
}

#[tokio::test]
async fn what_a_person_names_or_activates_comes_before_the_projects() {
    let base = base().await;
    let elsewhere = tempfile::tempdir_in(scratch()).expect("a folder");
    let named = bare(&base.interpreter, &elsewhere.path().join("named"));
    let activated = bare(&base.interpreter, &elsewhere.path().join("activated"));
    let project = elsewhere.path().join("project");
    bare(&base.interpreter, &project.join(".venv"));
    let path = env::var_os("PATH").expect("PATH is set");
    let environments = own(&project);
    let all = InterpreterSearch {
        named: Some(&named),
        activated: Some(&activated),
        environments: &environments,
        path: &path,
    };
    let interpreter = named.join("bin/python");
    let searches = [
        (all, "named"),
        (InterpreterSearch { named: Some(&interpreter), ..all }, "named"),
        (InterpreterSearch { named: None, ..all }, "activated"),
        (InterpreterSearch { named: None, activated: None, ..all }, ".venv"),
    ];
    for (search, wanted) in searches {
        let found = find(&search).await.expect("found");
        let folder = found.interpreter.ancestors().nth(2).expect("its folder");
        assert!(folder.ends_with(wanted), "{wanted}: {found:?}");
        let whole = python::beside(&found, &[], &cache(), &|_| {}).await.expect("made");
        uses(whole, wanted).await;
    }
    // An environment that has been deleted is skipped, and the result says so.
    let gone = elsewhere.path().join("gone");
    let found = find(&InterpreterSearch { named: None, activated: Some(&gone), ..all })
        .await
        .expect("found");
    assert!(found.interpreter.starts_with(&project), "{found:?}");
    assert!(found.passed_over[0].contains("gone does not exist"), "{found:?}");
}

#[tokio::test]
async fn a_bare_interpreter_that_is_named_is_what_environments_are_made_from() {
    let base = base().await;
    let nowhere = OsStr::new("/nowhere");
    let search =
        InterpreterSearch { named: Some(&base.interpreter), ..InterpreterSearch::on(nowhere) };
    let found = find(&search).await.expect("found");
    let has_pytest = found.origin == Origin::Project;
    assert!(has_pytest || found.origin == Origin::Base && found.version == base.version);
    for (wrong, why) in
        [("/nowhere/python", "does not exist"), ("/bin/true", "cannot run the tests")]
    {
        let search =
            InterpreterSearch { named: Some(Path::new(wrong)), ..InterpreterSearch::on(nowhere) };
        let error = find(&search).await.expect_err("it cannot be used").to_string();
        assert!(error.contains(why) && error.contains(wrong), "{error}");
    }
}
