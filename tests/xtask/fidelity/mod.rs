//! `cargo xtask bench fidelity`: compares suites of real projects in the sandbox with plain pytest,
//! test by test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Outcome, setup};

#[derive(clap::Args)]
pub(crate) struct FidelityArgs {
    /// Projects that lie here, each with an environment in `.venv` that runs its tests; else ten of the package index.
    folders: Vec<PathBuf>,
    /// Of those ten only these.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

/// A project of the package index: additional requirements, and the location of its tests.
struct Known {
    name: &'static str,
    version: &'static str,
    requirements: &'static [&'static str],
    tests: &'static [&'static str],
}

const fn known(
    name: &'static str,
    version: &'static str,
    requirements: &'static [&'static str],
    tests: &'static [&'static str],
) -> Known {
    Known { name, version, requirements, tests }
}

/// The pytest version for which all of the suites were written.
const PYTEST: &str = "pytest>=8,<9";

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

/// A project ready to run.
struct Project {
    name: String,
    folder: PathBuf,
    environment: PathBuf,
    tests: Vec<String>,
}

/// Result of one way of running.
struct Seen {
    tests: BTreeMap<String, String>,
    took: Duration,
    /// Reason why there is no result.
    trouble: Option<String>,
}

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
    let here = |folder: &PathBuf| {
        let folder = folder.canonicalize().map_err(|e| format!("{}: {e}", folder.display()))?;
        let environment = folder.join(".venv");
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Project { name, folder, environment, tests: Vec::new() })
    };
    if !args.folders.is_empty() {
        return args.folders.iter().map(here).collect();
    }
    let wanted = |it: &&Known| args.only.is_empty() || args.only.iter().any(|name| name == it.name);
    PROJECTS.iter().filter(wanted).map(fetched).collect()
}

/// Downloads a project and creates its environment, unless both exist.
fn fetched(it: &Known) -> Result<Project, String> {
    let place = setup::target().join("fidelity").join(format!("{}-{}", it.name, it.version));
    let environment = place.join("env");
    let project = |folder| Project {
        name: format!("{} {}", it.name, it.version),
        folder,
        environment: environment.clone(),
        tests: it.tests.iter().map(|it| (*it).to_owned()).collect(),
    };
    let ready = place.join("ready");
    if let Ok(folder) = fs::read_to_string(&ready) {
        return Ok(project(folder.into()));
    }
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    let python = environment.join("bin/python");
    let pip = |arguments: &[&str]| {
        let mut command = Command::new(&python);
        command.args(["-m", "pip", "--disable-pip-version-check", "--quiet"]).args(arguments);
        setup::silent(command.current_dir(&place))
    };
    setup::silent(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let wanted = format!("{}=={}", it.name, it.version);
    pip(&["download", "--no-deps", "--no-binary", ":all:", &wanted])?;
    let archive = entries(&place).into_iter().find(|it| it.to_string_lossy().ends_with(".tar.gz"));
    let archive = archive.ok_or_else(|| format!("{wanted} has no source distribution"))?;
    setup::silent(Command::new("tar").arg("xzf").arg(&archive).current_dir(&place))?;
    let folder = entries(&place).into_iter().find(|it| it.is_dir() && *it != environment);
    let folder = folder.ok_or_else(|| format!("{wanted} is an empty archive"))?;
    let shown = folder.to_string_lossy().into_owned();
    pip(&[&["install", PYTEST, "-e", &shown], it.requirements].concat())?;
    fs::write(&ready, &shown).map_err(|e| format!("{}: {e}", ready.display()))?;
    Ok(project(folder))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect()
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
    Ok(Seen { tests, took, trouble })
}

fn plain(project: &Project) -> Result<Seen, String> {
    let place = tempfile::tempdir().map_err(|e| format!("a folder for pytest's plugin: {e}"))?;
    let cannot = |e: std::io::Error| format!("{}: {e}", place.path().display());
    let plugin = include_str!("plain_outcomes.py");
    fs::write(place.path().join("plain_outcomes.py"), plugin).map_err(cannot)?;
    let results = place.path().join("results.json");
    let mut command = Command::new(project.environment.join("bin/python"));
    command.args(["-m", "pytest", "-q", "-p", "plain_outcomes", "-p", "no:cacheprovider"]);
    command.args(&project.tests).current_dir(&project.folder).stdin(Stdio::null());
    command.env("PYTHONPATH", place.path()).env("PLAIN_OUTCOMES", &results);
    command.env("PYTHONDONTWRITEBYTECODE", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
    let began = Instant::now();
    let ran = command.output().map_err(|e| format!("{}: {e}", project.name))?;
    let took = began.elapsed();
    let text = fs::read_to_string(&results).unwrap_or_default();
    let Ok(result) = serde_json::from_str::<Value>(&text) else {
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        let trouble = Some(said.lines().rev().take(5).collect::<Vec<_>>().join(" / "));
        return Ok(Seen { tests: BTreeMap::new(), took, trouble });
    };
    let tests = result["tests"].as_object().into_iter().flatten();
    let tests = tests.map(|(id, it)| (id.clone(), it.as_str().unwrap_or_default().to_owned()));
    let status = result["status"].as_i64().unwrap_or_default();
    let trouble = (status > 1).then(|| format!("ended with status {status}"));
    Ok(Seen { tests: tests.collect(), took, trouble })
}
