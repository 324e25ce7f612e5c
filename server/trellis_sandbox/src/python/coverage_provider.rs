//! coverage.py for environments without it: installed elsewhere, by an interpreter that no project
//! contains.

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

/// The requirement to install. Versions before 7 measure contexts as well, but do not support newer
/// Pythons.
const COVERAGE: &str = "coverage>=7";

/// Time limit for an installation, which tests wait for.
const INSTALLING: Duration = Duration::from_secs(90);

/// Maximum characters of an installer's output in a message.
const SAID: usize = 200;

/// Time before a failed installation is tried again.
const AGAIN: Duration = Duration::from_secs(300);

/// The source of coverage.py for an environment that has none.
#[derive(Clone)]
pub struct CoverageProvider {
    /// Folders with interpreters that can install, in the form of the variable `PATH`.
    pub path: OsString,
    /// The cache folder.
    pub cache: PathBuf,
    /// A callback for each step of an installation.
    pub on_progress: Arc<dyn Fn(Progress) + Send + Sync>,
}

impl fmt::Debug for CoverageProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoverageProvider").field("cache", &self.cache).finish_non_exhaustive()
    }
}

impl CoverageProvider {
    /// Returns a folder of packages with coverage.py for the version of `own`.
    async fn lend(&self, own: &Python) -> Result<PathBuf, CoverageError> {
        // An interpreter from the repository is never started outside a sandbox, wherever it lies.
        let is_trusted = own.is_named || own.origin != Origin::Project;
        let maker = match is_trusted {
            true => Some(own.interpreter.clone()),
            false => maker(&own.version, &self.path).await,
        };
        let Some(interpreter) = maker else {
            let (major, minor) = series(&own.version);
            return Err(CoverageError::NoPython { major, minor });
        };
        let base = Python { interpreter, maker: None, added: None, ..own.clone() };
        let installer = Installer::on_path(&self.path);
        let wanted = [COVERAGE.to_owned()];
        let making = made(&installer, &base, &wanted, &self.cache, &*self.on_progress);
        let made = timeout(INSTALLING, making)
            .await
            .map_err(|_| CoverageError::TooSlow { limit: INSTALLING })??;
        let (major, minor) = series(&own.version);
        Ok(packages(made.prefix(), major, minor))
    }
}

/// The reason coverage.py cannot be provided.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CoverageError {
    #[error("there is no Python {major}.{minor} on PATH to install it with")]
    NoPython { major: u32, minor: u32 },
    #[error("installing it took longer than {} s", .limit.as_secs())]
    TooSlow { limit: Duration },
    #[error("{}", plainly(.0))]
    NotInstalled(#[from] PythonError),
}

/// Shortens an installer's error to one sentence: its last line, which tells the reason, and the
/// remedy.
fn plainly(error: &PythonError) -> String {
    let (detail, hint) = match error {
        PythonError::PipFailed { detail, problem, .. } => (detail, problem.hint()),
        PythonError::UvFailed { detail, problem, .. } => (detail, problem.hint()),
        _ => return error.to_string(),
    };
    let last = detail.rsplit(" / ").next().unwrap_or_default();
    let last: String = last.trim_start_matches("ERROR: ").chars().take(SAID).collect();
    format!("{last} ({hint})")
}

/// The result of the coverage provider, for all runs of one environment.
#[derive(Debug, Default)]
pub(crate) struct ProvidedCoverage(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    #[default]
    NotAsked,
    Folder(PathBuf),
    Refused(Instant, Arc<CoverageError>),
}

impl ProvidedCoverage {
    /// Returns the folder if coverage.py has already been installed.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        // An installation in progress holds the lock and must not hold up other runs.
        match self.0.try_lock().as_deref() {
            Ok(State::Folder(folder)) => Some(folder.clone()),
            _ => None,
        }
    }

    /// Returns a folder of packages with coverage.py, installing it if needed.
    pub(crate) async fn get(
        &self,
        coverage_provider: &CoverageProvider,
        own: &Python,
    ) -> Result<PathBuf, Arc<CoverageError>> {
        let mut state = self.0.lock().await;
        match &*state {
            State::Folder(folder) => return Ok(folder.clone()),
            State::Refused(when, error) if when.elapsed() < AGAIN => return Err(error.clone()),
            State::NotAsked | State::Refused(..) => {}
        }
        let provided = coverage_provider.lend(own).await.map_err(Arc::new);
        *state = match &provided {
            Ok(folder) => State::Folder(folder.clone()),
            Err(error) => State::Refused(Instant::now(), error.clone()),
        };
        provided
    }
}

/// Returns the command that installs coverage.py into the environment of an interpreter.
pub(crate) fn command(interpreter: &Path) -> String {
    format!("{} -m pip install coverage", interpreter.display())
}
