//! Tests of environments made by a real uv, which pip installs once into an environment of its own.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use trellis_sandbox::python::{Installer, Progress, Python, PythonError, provide_with};

use crate::support::{base, cache};

async fn uv() -> PathBuf {
    let wanted = ["uv>=0.5".to_owned()];
    let made = provide_with(&Installer::Pip, &base().await, &wanted, &cache(), &|_| {}).await;
    made.unwrap_or_else(|error| panic!("{error}")).interpreter.with_file_name("uv")
}

/// Makes a wheel with one module, `tiny`, and returns the requirement for it.
fn wheel(base: &Python, folder: &Path) -> String {
    let file = folder.join("tiny-1.0-py3-none-any.whl");
    let text = "
import sys, zipfile
info = 'tiny-1.0.dist-info/'
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('tiny.py', 'ANSWER = 42')
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: hand\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'RECORD', ''.join(name + ',,\\n' for name in ['tiny.py', info + 'METADATA', info + 'WHEEL', info + 'RECORD']))
";
    let made = Command::new(&base.interpreter).args(["-c", text]).arg(&file).status();
    assert!(made.is_ok_and(|status| status.success()));
    format!("tiny @ file://{}", file.display())
}

fn imports(python: &Python, module: &str) -> bool {
    let asked =
        Command::new(&python.interpreter).args(["-c", &format!("import {module}")]).output();
    asked.expect("a process").status.success()
}

#[tokio::test]
async fn what_uv_makes_serves_pip_too() {
    let (base, folder) = (base().await, tempfile::tempdir().expect("a folder"));
    let wanted = [wheel(&base, folder.path())];
    let installer = Installer::Uv(uv().await);
    let made = provide_with(&installer, &base, &wanted, folder.path(), &|_| {}).await;
    let made = made.unwrap_or_else(|error| panic!("{error}"));
    assert!(imports(&made, "tiny, pytest, coverage") && !imports(&made, "pip"));
    let none = |progress: Progress| panic!("{progress:?}");
    let again = provide_with(&Installer::Pip, &base, &wanted, folder.path(), &none).await;
    assert_eq!(again.expect("cached"), made);
}

#[tokio::test]
async fn what_uv_says_of_a_requirement_is_final() {
    let (base, folder) = (base().await, tempfile::tempdir().expect("a folder"));
    let installer = Installer::Uv(uv().await);
    for (wanted, words) in [
        ("pytest>=999", "No solution found"),
        ("no-such-distribution-of-trellis @ file:///nowhere/at/all.whl", "/nowhere/at/all.whl"),
    ] {
        let made =
            provide_with(&installer, &base, &[wanted.to_owned()], folder.path(), &|_| {}).await;
        let Err(error @ PythonError::UvFailed { .. }) = made else { panic!("{made:?}") };
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// One uv does nothing at all, and one can make environments but reaches no index.
#[tokio::test]
async fn where_uv_cannot_work_pip_does() {
    let (base, folder) = (base().await, tempfile::tempdir().expect("a folder"));
    let wanted = [wheel(&base, folder.path())];
    let half = format!("case $1 in venv) exec {} \"$@\";; esac\nexit 2", uv().await.display());
    for (name, script) in [("none", "exit 2"), ("half", &half)] {
        let place = folder.path().join(name);
        fs::create_dir(&place).expect("a folder");
        let file = place.join("uv");
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("permissions");
        let installer = Installer::on_path(place.as_os_str());
        assert_eq!(installer, Installer::Uv(file));
        let made = provide_with(&installer, &base, &wanted, &place, &|_| {}).await;
        let made = made.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(imports(&made, "tiny, pytest, pip"), "{name}");
    }
    assert_eq!(Installer::on_path(folder.path().as_os_str()), Installer::Pip);
}
