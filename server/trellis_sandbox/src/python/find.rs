//! Finds a Python interpreter.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{InterpreterError, Origin, Python, PythonError, last_words, output, sentences};

/// The oldest supported version.
const OLDEST: (u32, u32) = (3, 9);

/// A program that reports the interpreter's version and path without large imports. Python's `-S`
/// leaves out the `.pth` files, which may import anything.
const PROBE: &str = "\
import json, sys
print(json.dumps({'version': sys.version_info[:3], 'executable': sys.executable}))";

#[derive(Deserialize)]
struct InterpreterProbe {
    version: (u32, u32, u32),
    executable: PathBuf,
}

/// The places to search for an interpreter, in this order.
#[derive(Clone, Copy, Debug)]
pub struct InterpreterSearch<'a> {
    /// The environment's folder or interpreter that the user names. No other is taken then.
    pub named: Option<&'a Path>,
    /// The folder of the activated environment.
    pub activated: Option<&'a Path>,
    /// Folders of environments that the project may have, the first choice first; see
    /// [`environments`](super::environments()).
    pub environments: &'a [PathBuf],
    /// A list of folders as in the variable `PATH`.
    pub path: &'a OsStr,
}

impl<'a> InterpreterSearch<'a> {
    /// Searches only the folders of `path`.
    pub fn on(path: &'a OsStr) -> InterpreterSearch<'a> {
        InterpreterSearch { named: None, activated: None, environments: &[], path }
    }
}

/// Returns the first interpreter of version 3.9 or newer. An environment without pytest is taken if
/// an interpreter can install pytest beside it: its own, if the user has named or activated it;
/// else one of the same version on the path, since an interpreter inside a project must not be
/// started outside a sandbox.
///
/// # Errors
///
/// No interpreter was found, or the named one cannot be used.
pub async fn find(search: &InterpreterSearch<'_>) -> Result<Python, PythonError> {
    if let Some(named) = search.named {
        let unusable = |source| PythonError::Unusable { path: named.to_owned(), source };
        return of_person(named).await.map(named_by_person).map_err(unusable);
    }
    let mut passed_over = Vec::new();
    if let Some(activated) = search.activated {
        match of_person(activated).await {
            Ok(python) => return Ok(named_by_person(python)),
            Err(error) => passed_over.push(error),
        }
    }
    let folders = search.environments.iter();
    let mut bare = None;
    for folder in folders.filter(|it| it.join("bin/python").is_file()) {
        match own(folder, search.path).await {
            Ok(python) if python.maker.is_none() => {
                return Ok(Python { passed_over: sentences(&passed_over), ..python });
            }
            Ok(python) => bare = bare.or(Some(python)),
            Err(error) => passed_over.push(error),
        }
    }
    if let Some(python) = bare {
        return Ok(Python { passed_over: sentences(&passed_over), ..python });
    }
    for interpreter in on_path(search.path) {
        match probe(&interpreter).await {
            Ok(answer) => return Ok(base(answer, sentences(&passed_over))),
            Err(error) => passed_over.push(error),
        }
    }
    Err(PythonError::NoPython { passed_over })
}

fn named_by_person(python: Python) -> Python {
    Python { is_named: true, ..python }
}

/// Returns an environment or interpreter that the user chose.
async fn of_person(chosen: &Path) -> Result<Python, InterpreterError> {
    let interpreter = match chosen.is_dir() {
        true => chosen.join("bin/python"),
        false => chosen.to_owned(),
    };
    if !interpreter.is_file() {
        return Err(InterpreterError::Missing { interpreter });
    }
    let interpreter = std::path::absolute(&interpreter).map_err(InterpreterError::Path)?;
    let prefix = interpreter.parent().and_then(Path::parent).unwrap_or(Path::new("/")).to_owned();
    if prefix.join("pyvenv.cfg").is_file() {
        let own = Environment::read(&prefix)?;
        let maker = (!own.has_pytest).then(|| interpreter.clone());
        return Ok(own.python(interpreter, maker));
    }
    let answer = probe(&interpreter).await?;
    let (major, minor, patch) = answer.version;
    let own = Environment {
        version: format!("{major}.{minor}.{patch}"),
        has_pytest: packages(&prefix, major, minor).join("pytest").is_dir(),
    };
    let is_environment = own.has_pytest || prefix.join("conda-meta").is_dir();
    if !is_environment {
        return Ok(base(answer, Vec::new()));
    }
    let maker = (!own.has_pytest).then(|| interpreter.clone());
    Ok(own.python(interpreter, maker))
}

/// Returns a project's environment.
async fn own(folder: &Path, path: &OsStr) -> Result<Python, InterpreterError> {
    let own = Environment::read(folder)?;
    // The link inside the environment, not its target: only the link sees the environment's
    // packages.
    let interpreter = folder.join("bin/python");
    if own.has_pytest {
        return Ok(own.python(interpreter, None));
    }
    let version = series(&own.version);
    let no_pytest = || InterpreterError::NoPytest { folder: folder.to_owned(), version };
    let maker = maker(&own.version, path).await.ok_or_else(no_pytest)?;
    Ok(own.python(interpreter, Some(maker)))
}

/// Returns an interpreter on the path that installs packages for environments of `version`.
pub(super) async fn maker(version: &str, path: &OsStr) -> Option<PathBuf> {
    let wanted = series(version);
    let exact = format!("python{}.{}", wanted.0, wanted.1);
    for candidate in on_path_as(path, &[&exact, "python3", "python"]) {
        if let Ok(answer) = probe(&candidate).await
            && (answer.version.0, answer.version.1) == wanted
        {
            return Some(answer.executable);
        }
    }
    None
}

/// Returns the first two numbers of a version.
pub(super) fn series(version: &str) -> (u32, u32) {
    let mut numbers = version.split('.').filter_map(|it| it.parse().ok());
    (numbers.next().unwrap_or(3), numbers.next().unwrap_or_default())
}

/// The facts about an environment that its files tell.
struct Environment {
    version: String,
    has_pytest: bool,
}

impl Environment {
    /// Reads the files of an environment.
    fn read(folder: &Path) -> Result<Environment, InterpreterError> {
        if let Some(version) = conda_version(folder) {
            return Environment::of_version(folder, &version);
        }
        let no_environment =
            |source| InterpreterError::NoEnvironment { folder: folder.to_owned(), source };
        let settings = trellis_os::files::read_text(folder.join("pyvenv.cfg"));
        let settings = settings.map_err(no_environment)?;
        let setting = |line: &str| {
            let (name, value) = line.split_once('=')?;
            ["version", "version_info"].contains(&name.trim()).then(|| value.trim().to_owned())
        };
        let version = settings.lines().find_map(setting).unwrap_or_default();
        Environment::of_version(folder, &version)
    }

    fn of_version(folder: &Path, version: &str) -> Result<Environment, InterpreterError> {
        let numbers: Vec<&str> = version.split('.').take(3).collect();
        let number = |index: usize| numbers.get(index).and_then(|it| it.parse::<u32>().ok());
        let (Some(major), Some(minor)) = (number(0), number(1)) else {
            return Err(InterpreterError::NoVersion { folder: folder.to_owned() });
        };
        new_enough(folder, (major, minor))?;
        let has_pytest = packages(folder, major, minor).join("pytest").is_dir();
        Ok(Environment { version: numbers.join("."), has_pytest })
    }

    fn python(self, interpreter: PathBuf, maker: Option<PathBuf>) -> Python {
        Python {
            interpreter,
            version: self.version,
            origin: Origin::Project,
            is_named: false,
            passed_over: Vec::new(),
            maker,
            added: None,
        }
    }
}

/// Returns the version of Python in a conda environment, from the record of its package; `None` for
/// other folders.
fn conda_version(folder: &Path) -> Option<String> {
    let records = fs::read_dir(folder.join("conda-meta")).ok()?.flatten();
    let names = records.map(|it| it.file_name().to_string_lossy().into_owned());
    let version = |name: String| {
        let rest = name.strip_prefix("python-")?.strip_suffix(".json")?;
        let version = rest.split('-').next()?;
        version.starts_with(|it: char| it.is_ascii_digit()).then(|| version.to_owned())
    };
    names.into_iter().find_map(version)
}

/// Returns the folder of an environment's packages.
pub(super) fn packages(prefix: &Path, major: u32, minor: u32) -> PathBuf {
    prefix.join(format!("lib/python{major}.{minor}/site-packages"))
}

/// Refuses versions that are not supported.
fn new_enough(path: &Path, version: (u32, u32)) -> Result<(), InterpreterError> {
    if version < OLDEST {
        return Err(InterpreterError::TooOld { path: path.to_owned(), version, oldest: OLDEST });
    }
    Ok(())
}

fn base(answer: InterpreterProbe, passed_over: Vec<String>) -> Python {
    let (major, minor, patch) = answer.version;
    let version = format!("{major}.{minor}.{patch}");
    Python {
        interpreter: answer.executable,
        version,
        origin: Origin::Base,
        is_named: false,
        passed_over,
        maker: None,
        added: None,
    }
}

fn on_path(path: &OsStr) -> Vec<PathBuf> {
    on_path_as(path, &["python3", "python"])
}

/// Returns the files of these names, those of the first name first.
fn on_path_as(path: &OsStr, names: &[&str]) -> Vec<PathBuf> {
    let folders: Vec<PathBuf> =
        env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
    let files = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    files.filter(|file| file.is_file()).collect()
}

/// Returns the interpreter's report on itself.
async fn probe(interpreter: &Path) -> Result<InterpreterProbe, InterpreterError> {
    let path = || interpreter.to_owned();
    let output = output(interpreter, &["-S", "-c", PROBE])
        .await
        .map_err(|source| InterpreterError::NotStarted { interpreter: path(), source })?;
    if !output.status.success() {
        let output = last_words(&output);
        return Err(InterpreterError::Failed { interpreter: path(), output });
    }
    let answer: InterpreterProbe = serde_json::from_slice(&output.stdout)
        .map_err(|source| InterpreterError::Unreadable { interpreter: path(), source })?;
    let (major, minor, _) = answer.version;
    new_enough(interpreter, (major, minor))?;
    Ok(answer)
}
