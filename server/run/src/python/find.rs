//! Looks for an interpreter.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{Origin, Python, PythonError, last_words, output};

/// The oldest version that is supported.
const OLDEST: (u32, u32) = (3, 9);

/// Where projects keep environments, the most usual first.
const OWN: [&str; 3] = [".venv", "venv", "env"];

/// Says what an interpreter is, without importing anything big.
const PROBE: &str = "\
import importlib.util, json, sys
print(json.dumps({'version': sys.version_info[:3], 'executable': sys.executable,
                  'pytest': importlib.util.find_spec('pytest') is not None}))";

#[derive(Deserialize)]
struct Answer {
    version: (u32, u32, u32),
    executable: PathBuf,
    pytest: bool,
}

/// The project's own environment (`.venv`, `venv` or `env` in `project`) if it has pytest, else the first
/// `python3` or `python` in the folders of `path`, a list as in the variable `PATH`, that is
/// version 3.9 or newer.
pub async fn find(project: Option<&Path>, path: &OsStr) -> Result<Python, PythonError> {
    let mut passed_over = Vec::new();
    let folders = project.iter().flat_map(|project| OWN.map(|name| project.join(name)));
    for folder in folders {
        let interpreter = folder.join("bin/python");
        if !interpreter.is_file() {
            continue;
        }
        match probe(&interpreter).await {
            // The link inside the environment, not what it points to: only it sees the
            // environment's packages.
            Ok(answer) if answer.pytest => {
                return Ok(python(answer, interpreter, Origin::Project, passed_over));
            }
            Ok(_) => passed_over.push(format!("{} has no pytest", folder.display())),
            Err(reason) => passed_over.push(reason),
        }
    }
    for interpreter in on_path(path) {
        match probe(&interpreter).await {
            Ok(answer) => {
                let executable = answer.executable.clone();
                return Ok(python(answer, executable, Origin::Base, passed_over));
            }
            Err(reason) => passed_over.push(reason),
        }
    }
    Err(PythonError::NoPython { passed_over })
}

fn python(
    answer: Answer,
    interpreter: PathBuf,
    origin: Origin,
    passed_over: Vec<String>,
) -> Python {
    let (major, minor, patch) = answer.version;
    Python { interpreter, version: format!("{major}.{minor}.{patch}"), origin, passed_over }
}

fn on_path(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    let folders: Vec<PathBuf> =
        env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
    let names = ["python3", "python"].into_iter();
    names
        .flat_map(move |name| folders.clone().into_iter().map(move |folder| folder.join(name)))
        .filter(|file| file.is_file())
}

/// What the interpreter says of itself, or why it cannot be used.
async fn probe(interpreter: &Path) -> Result<Answer, String> {
    let shown = interpreter.display();
    let output = output(interpreter, &["-c", PROBE])
        .await
        .map_err(|error| format!("{shown} does not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("{shown} does not work: {}", last_words(&output)));
    }
    let answer: Answer = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{shown} gave no sensible answer: {error}"))?;
    let (major, minor, _) = answer.version;
    if (major, minor) < OLDEST {
        return Err(format!(
            "{shown} is Python {major}.{minor}, older than {}.{}",
            OLDEST.0, OLDEST.1
        ));
    }
    Ok(answer)
}
