//! Finding interpreters and making environments.

use std::{ffi::OsStr, fs, os::unix::fs::symlink};

use run::python::{Origin, Progress, PythonError, find, provide};

use crate::support::{base, cache, environment};

#[tokio::test]
async fn a_cached_environment_starts_no_process() {
    let made = environment().await;
    // An interpreter that cannot be started: any attempt would fail.
    let mut base = base().await;
    base.interpreter = "/nowhere/python".into();
    let again =
        provide(&base, &[], &cache(), &|progress| panic!("{progress:?}")).await.expect("cached");
    assert_eq!(again, made);
    assert_eq!(again.origin, Origin::Provided);
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
    let error = provide(&base, &no_such, folder.path(), &|_| {}).await.expect_err("there is none");
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
    symlink(environment, project.path().join("venv")).expect("a link");
    // `.venv` is looked at first, and does not work.
    fs::create_dir_all(project.path().join(".venv/bin")).expect("a folder");
    fs::write(project.path().join(".venv/bin/python"), "").expect("a file");
    let found = find(Some(project.path()), OsStr::new("")).await.expect("found");
    assert_eq!(found.origin, Origin::Project);
    assert_eq!(found.interpreter, project.path().join("venv/bin/python"));
    assert_eq!(found.passed_over.len(), 1);
}

#[tokio::test]
async fn no_python_says_what_to_install() {
    let error = find(None, OsStr::new("/nowhere")).await.expect_err("none there");
    assert!(error.to_string().contains("apt install python3"), "{error}");
}
