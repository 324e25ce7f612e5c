//! coverage.py for environments without it: installed elsewhere, by an interpreter that no project brings along.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::Mutex, time::timeout};

use super::{
    Origin, Python, PythonError,
    find::{maker, packages, series},
    install::Installer,
    provide::{Progress, made},
};

/// What is installed. Versions before 7 measure contexts as well, but know nothing of newer Pythons.
const COVERAGE: &str = "coverage>=7";

/// What an installation may take; tests wait for it.
const INSTALLING: Duration = Duration::from_secs(90);

/// Characters of what an installer said that are told.
const SAID: usize = 200;

/// Time after which it is tried again where it could not be had.
const AGAIN: Duration = Duration::from_secs(300);

/// Where coverage.py comes from for an environment that has none.
#[derive(Clone)]
pub struct CoverageProvider {
    /// The list of folders, as in the variable `PATH`, with interpreters that install.
    pub path: OsString,
    /// The folder of the cache.
    pub cache: PathBuf,
    /// Hears what is installed.
    pub on_progress: Arc<dyn Fn(Progress) + Send + Sync>,
}

impl fmt::Debug for CoverageProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lender").field("cache", &self.cache).finish_non_exhaustive()
    }
}

impl CoverageProvider {
    /// A folder of packages with coverage.py for the version of `own`; the error is a sentence for people.
    async fn lend(&self, own: &Python) -> Result<PathBuf, String> {
        // What a repository brings along is not started outside of a sandbox, wherever in it that lies.
        let is_trusted = own.is_named || own.origin != Origin::Project;
        let maker = match is_trusted {
            true => Some(own.interpreter.clone()),
            false => maker(&own.version, &self.path).await,
        };
        let Some(interpreter) = maker else {
            let (major, minor) = series(&own.version);
            return Err(format!("there is no Python {major}.{minor} on PATH to install it with"));
        };
        let base = Python { interpreter, maker: None, added: None, ..own.clone() };
        let installer = Installer::on_path(&self.path);
        let wanted = [COVERAGE.to_owned()];
        let making = made(&installer, &base, &wanted, &self.cache, &*self.on_progress);
        let made = timeout(INSTALLING, making)
            .await
            .map_err(|_| format!("installing it took longer than {} s", INSTALLING.as_secs()))?
            .map_err(|error| plainly(&error))?;
        let (major, minor) = series(&own.version);
        Ok(packages(made.prefix(), major, minor))
    }
}

/// In one sentence: of what an installer said its last words, which tell the reason, and what to do.
fn plainly(error: &PythonError) -> String {
    let (PythonError::PipFailed { detail, hint, .. } | PythonError::UvFailed { detail, hint, .. }) =
        error
    else {
        return error.to_string();
    };
    let last = detail.rsplit(" / ").next().unwrap_or_default();
    let last: String = last.trim_start_matches("ERROR: ").chars().take(SAID).collect();
    format!("{last} ({hint})")
}

/// What a lender gave, for all runs of one environment.
#[derive(Debug, Default)]
pub(crate) struct ProvidedCoverage(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    #[default]
    NotAsked,
    Folder(PathBuf),
    Refused(Instant, String),
}

impl ProvidedCoverage {
    /// What was given already.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        // Whoever installs it meanwhile holds up nobody else.
        match self.0.try_lock().as_deref() {
            Ok(State::Folder(folder)) => Some(folder.clone()),
            _ => None,
        }
    }

    /// A folder of packages with coverage.py, got now if need be; the error is a sentence for people.
    pub(crate) async fn get(&self, lender: &CoverageProvider, own: &Python) -> Result<PathBuf, String> {
        let mut state = self.0.lock().await;
        match &*state {
            State::Folder(folder) => return Ok(folder.clone()),
            State::Refused(when, why) if when.elapsed() < AGAIN => return Err(why.clone()),
            State::NotAsked | State::Refused(..) => {}
        }
        let lent = lender.lend(own).await;
        *state = match &lent {
            Ok(folder) => State::Folder(folder.clone()),
            Err(why) => State::Refused(Instant::now(), why.clone()),
        };
        lent
    }
}

/// The command that installs it into the environment of an interpreter.
pub(crate) fn command(interpreter: &Path) -> String {
    format!("{} -m pip install coverage", interpreter.display())
}
