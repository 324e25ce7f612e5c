//! Finding interpreters and making environments.

use std::{
    ffi::OsStr,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::Command,
};

use run::{
    Config, Outcome, Request, Runner,
    python::{Installer, Origin, Progress, PythonError, find, provide, provide_with},
};
use tokio_util::sync::CancellationToken;

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
    // `.venv` and `venv` are looked at first: one does not work, the other has no pytest.
    fs::create_dir_all(project.path().join(".venv/bin")).expect("a folder");
    // What a repository brings along is not started to be looked at.
    let trap = project.path().join("started");
    let python = project.path().join(".venv/bin/python");
    fs::write(&python, format!("#!/bin/sh\ntouch {}\n", trap.display())).expect("a file");
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("set");
    let bare = Command::new(&base().await.interpreter)
        .args(["-m", "venv", "--without-pip"])
        .arg(project.path().join("venv"))
        .status();
    assert!(bare.is_ok_and(|status| status.success()));
    let found = find(Some(project.path()), OsStr::new("")).await.expect("found");
    assert_eq!(found.origin, Origin::Project);
    assert_eq!(found.interpreter, project.path().join("env/bin/python"));
    // It works in the sandbox, where only what is needed is to be seen.
    let config = Config { scratch: scratch(), ..Config::from_environment() };
    let runner = Runner::new(found.clone(), config);
    let request = Request::new(files(&[("test_a.py", "def test_a(): pass")]));
    let report = runner.run(&request, &CancellationToken::new()).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    runner.close().await;
    let [broken, bare] = found.passed_over.as_slice() else { panic!("{found:?}") };
    assert!(broken.contains(".venv is no virtual environment"), "{broken}");
    assert!(!trap.exists());
    assert!(bare.ends_with("venv has no pytest"), "{bare}");
}

#[tokio::test]
async fn no_python_says_what_to_install() {
    let error = find(None, OsStr::new("/nowhere")).await.expect_err("none there");
    assert!(error.to_string().contains("apt install python3"), "{error}");
}
