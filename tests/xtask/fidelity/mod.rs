//! `cargo xtask bench fidelity`: compares suites of real projects in the sandbox with plain pytest,
//! test by test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::{Outcome, setup};

pub(crate) mod plain;
pub(crate) mod projects;

use plain::{Seen, plain};
use projects::{Known, Project, entries, fetched, known};

#[derive(clap::Args)]
pub(crate) struct FidelityArgs {
    /// Projects that lie here, each with an environment in `.venv` that runs its tests; else ten of the package index.
    folders: Vec<PathBuf>,
    /// Of those ten only these.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

/// Small and medium projects. `alembic`, `sqlitedict` and `portalocker` write beside their code,
/// `cachetools` and `more-itertools` use unittest, `pytest-mock` is a plugin and tests itself with
/// pytest's plugin tests.
const PROJECTS: [Known; 10] = [
    known("attrs", "25.3.0", &["hypothesis", "cloudpickle"], &["tests"]),
    known("click", "8.1.8", &[], &["tests"]),
    known("more-itertools", "10.7.0", &[], &["tests"]),
    known("packaging", "25.0", &["pretend"], &["tests"]),
    known("cachetools", "6.1.0", &[], &["tests"]),
    known("pytest-mock", "3.14.1", &["pytest-asyncio"], &["tests"]),
    known(
        "portalocker",
        "3.2.0",
        &[
            "pytest-timeout",
            "pytest-rerunfailures",
            "redis",
            "pytest-cov",
            "coverage-conditional-plugin",
        ],
        &["portalocker_tests"],
    ),
    known("sqlitedict", "2.1.0", &[], &["tests"]),
    known("tomlkit", "0.13.3", &["pyyaml"], &["tests"]),
    known("alembic", "1.16.4", &["black"], &["tests"]),
];

pub(crate) fn run(args: &FidelityArgs) -> Outcome {
    let trellis = setup::trellis()?;
    println!(
        "{:<24} {:>6} {:>6} {:>7} {:>9} {:>9} {:>6}",
        "project", "tests", "same", "other", "plain s", "trellis s", "ratio"
    );
    for project in projects(args) {
        match project.and_then(|it| compare(&trellis, &it)) {
            Ok(()) => {}
            Err(why) => println!("{why}"),
        }
    }
    Ok(())
}

fn projects(args: &FidelityArgs) -> Vec<Result<Project, String>> {
    if !args.folders.is_empty() {
        return args.folders.iter().map(|it| Project::here(it)).collect();
    }
    let wanted = |it: &&Known| args.only.is_empty() || args.only.iter().any(|name| name == it.name);
    PROJECTS.iter().filter(wanted).map(fetched).collect()
}

/// Runs a suite both ways, first in the sandbox, which leaves the folder unchanged.
fn compare(trellis: &Path, project: &Project) -> Outcome {
    let before = names(&project.folder);
    let ours = sandboxed(trellis, project)?;
    let after = names(&project.folder);
    let theirs = plain(project)?;
    let ids: BTreeSet<&String> = ours.tests.keys().chain(theirs.tests.keys()).collect();
    let differ = |id: &&&String| ours.tests.get(**id) != theirs.tests.get(**id);
    let other: Vec<&&String> = ids.iter().filter(differ).collect();
    println!(
        "{:<24} {:>6} {:>6} {:>7} {:>9.1} {:>9.1} {:>6.2}",
        project.name,
        ids.len(),
        ids.len() - other.len(),
        other.len(),
        theirs.took.as_secs_f64(),
        ours.took.as_secs_f64(),
        ours.took.as_secs_f64() / theirs.took.as_secs_f64().max(0.001),
    );
    for (whose, seen) in [("trellis", &ours), ("pytest", &theirs)] {
        if let Some(trouble) = &seen.trouble {
            println!("    {whose}: {trouble}");
        }
    }
    let told = |seen: &Seen, id: &str| seen.tests.get(id).cloned().unwrap_or("-".to_owned());
    for id in other.iter().take(10) {
        println!("    {id}: pytest {}, trellis {}", told(&theirs, id), told(&ours, id));
    }
    if before != after {
        println!("    the sandbox left something behind, or took something away");
    }
    Ok(())
}

/// Returns paths with sizes below a folder, without caches.
fn names(folder: &Path) -> BTreeSet<(PathBuf, u64)> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for path in entries(&next) {
            let Ok(metadata) = path.symlink_metadata() else { continue };
            if metadata.is_dir() {
                waiting.push(path.clone());
            }
            found.insert((path, if metadata.is_file() { metadata.len() } else { 0 }));
        }
    }
    found
}

fn sandboxed(trellis: &Path, project: &Project) -> Result<Seen, String> {
    let mut command = Command::new(trellis);
    command.arg("test").args(project.tests.iter().map(|it| project.folder.join(it)));
    if project.tests.is_empty() {
        command.arg(&project.folder);
    }
    command.args(["--sandbox=local", "--json", "--run-timeout=3600", "--timeout=300"]);
    command.arg(format!("--python={}", project.environment.display()));
    command.current_dir(&project.folder).stdin(Stdio::null()).stderr(Stdio::piped());
    let began = Instant::now();
    let ran = command.output().map_err(|e| format!("{}: {e}", trellis.display()))?;
    let took = began.elapsed();
    let result: Value = serde_json::from_slice(&ran.stdout)
        .map_err(|e| format!("{}: {e}: {}", project.name, String::from_utf8_lossy(&ran.stderr)))?;
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let tests = result["tests"].as_array().into_iter().flatten();
    let tests = tests.map(|it| (text(&it["id"]), text(&it["outcome"]))).collect();
    let outcome = text(&result["outcome"]);
    let trouble = (!["passed", "failed"].contains(&outcome.as_str()))
        .then(|| format!("{outcome} {} {}", result["reason"], result["collectionErrors"]));
    Ok(Seen { tests, took, trouble, failures: BTreeMap::new() })
}
