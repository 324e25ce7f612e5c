//! Makes virtual environments and caches them.
//!
//! ```text
//! cache/venvs/<hash of interpreter and requirements>/
//!     lock         held by the process that builds
//!     env-Xyz/     an environment, built in place and never moved: its scripts name this path
//!     ready        the name of the finished environment; written last, by a rename
//! ```

use std::{
    env,
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use tempfile::{NamedTempFile, TempDir};

use super::{
    Origin, Python, PythonError,
    find::{packages, series},
    install::{Installer, create, install},
};

/// Requirements of every environment: pytest runs tests, coverage.py measures lines.
const ALWAYS: [&str; 2] = ["pytest>=7", "coverage>=7"];

/// The version of the cache layout, part of the hash; a new one makes older environments unused.
const LAYOUT: &str = "2";

/// The activity of [`provide`], which takes seconds if nothing is cached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another process is making the same environment.
    Waiting,
    /// The empty environment is being made.
    Creating {
        /// The folder of the environment.
        folder: PathBuf,
    },
    /// uv or pip is installing packages.
    Installing {
        /// The packages being installed.
        requirements: Vec<String>,
    },
}

/// Returns an environment with pytest, coverage.py and `requirements` (each as in one line of a
/// requirements file), made with `base` and kept in `cache`. For a cached environment no process is
/// started. Concurrent processes that need the same one wait for each other; one that dies midway
/// leaves nothing that passes for finished. uv is used if the search path has it.
pub async fn provide(
    base: &Python,
    requirements: &[String],
    cache: &Path,
    on_progress: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Python, PythonError> {
    let path = env::var_os("PATH").unwrap_or_default();
    let installer = Installer::on_path(&path);
    provide_with(&installer, base, requirements, cache, on_progress).await
}

/// Works like [`provide`] with a given installer. Both share the cached environments.
pub async fn provide_with(
    installer: &Installer,
    base: &Python,
    requirements: &[String],
    cache: &Path,
    on_progress: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Python, PythonError> {
    let requirements = all_requirements(requirements)?;
    made(installer, base, &requirements, cache, on_progress).await
}

/// Returns an environment with `requirements` and no other packages.
pub(super) async fn made(
    installer: &Installer,
    base: &Python,
    requirements: &[String],
    cache: &Path,
    on_progress: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Python, PythonError> {
    let place = EnvironmentFolder { folder: cache.join("venvs").join(key(base, requirements)) };
    if let Some(interpreter) = place.ready() {
        return Ok(provided(base, interpreter));
    }
    let _lock = place.lock(on_progress).await?;
    if let Some(interpreter) = place.ready() {
        return Ok(provided(base, interpreter)); // another process has made it in the meantime
    }
    place.clear_unfinished();
    let interpreter = place.build(installer, base, requirements, on_progress).await?;
    Ok(provided(base, interpreter))
}

/// Returns `own`, an environment without pytest, with a cached environment behind it that has
/// pytest, coverage.py and `requirements`; unchanged if `own` has pytest. Nothing is installed into
/// `own`.
pub async fn beside(
    own: &Python,
    requirements: &[String],
    cache: &Path,
    on_progress: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Python, PythonError> {
    let Some(maker) = &own.maker else { return Ok(own.clone()) };
    let maker = Python {
        interpreter: maker.clone(),
        version: own.version.clone(),
        origin: Origin::Base,
        is_named: own.is_named,
        passed_over: Vec::new(),
        maker: None,
        added: None,
    };
    let made = provide(&maker, requirements, cache, on_progress).await?;
    let (major, minor) = series(&own.version);
    let added = Some(packages(made.prefix(), major, minor));
    Ok(Python { maker: None, added, ..own.clone() })
}

fn provided(base: &Python, interpreter: PathBuf) -> Python {
    Python {
        interpreter,
        version: base.version.clone(),
        origin: Origin::Provided,
        is_named: false,
        passed_over: Vec::new(),
        maker: None,
        added: None,
    }
}

/// Returns the requirements for `wanted`: with pytest and coverage.py, sorted, without duplicates.
pub(crate) fn all_requirements(wanted: &[String]) -> Result<Vec<String>, PythonError> {
    let mut all: Vec<String> = ALWAYS.map(str::to_owned).to_vec();
    for line in wanted.iter().map(|line| line.trim()) {
        if line.starts_with('-') || line.contains(['\n', '\r']) {
            return Err(PythonError::BadRequirement { requirement: line.to_owned() });
        }
        if !line.is_empty() && !line.starts_with('#') {
            all.push(line.to_owned());
        }
    }
    all.sort();
    all.dedup();
    Ok(all)
}

fn key(base: &Python, requirements: &[String]) -> String {
    let mut hash = Sha256::new();
    let identity = identity(&base.interpreter);
    let first = [LAYOUT, &base.version, &identity];
    for part in first.into_iter().chain(requirements.iter().map(String::as_str)) {
        hash.update(part);
        hash.update([0]);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Identifies a build of an interpreter: by the real file, whatever its name, and by attributes
/// that a new build in its place would change.
fn identity(interpreter: &Path) -> String {
    let file = interpreter.canonicalize().unwrap_or_else(|_| interpreter.to_owned());
    let reported = fs::metadata(&file).map(|it| (it.len(), it.mtime(), it.mtime_nsec()));
    format!("{} {:?}", file.display(), reported.ok())
}

/// The cache folder of one set of requirements.
struct EnvironmentFolder {
    folder: PathBuf,
}

impl EnvironmentFolder {
    fn failed(&self, source: io::Error) -> PythonError {
        PythonError::Cache { path: self.folder.clone(), source }
    }

    /// Returns the interpreter of the finished environment. A dangling link, left after the base
    /// interpreter was removed, does not count.
    fn ready(&self) -> Option<PathBuf> {
        let name = trellis_os::files::read_text(self.folder.join("ready")).ok()?;
        let interpreter = interpreter(&self.folder.join(name));
        interpreter.is_file().then_some(interpreter)
    }

    async fn lock(
        &self,
        on_progress: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<File, PythonError> {
        fs::create_dir_all(&self.folder).map_err(|error| self.failed(error))?;
        let file = File::create(self.folder.join("lock")).map_err(|error| self.failed(error))?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) => on_progress(Progress::Waiting),
            Err(fs::TryLockError::Error(error)) => return Err(self.failed(error)),
        }
        let waiting = tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await;
        waiting.map_err(io::Error::other).flatten().map_err(|error| self.failed(error))
    }

    /// Removes unfinished environments. Under the lock, they belong to processes that have ended.
    fn clear_unfinished(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("env-"))
        {
            // An error costs only disk space, and the next build tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }

    async fn build(
        &self,
        installer: &Installer,
        base: &Python,
        requirements: &[String],
        on_progress: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<PathBuf, PythonError> {
        // The path is absolute, since the scripts inside name it. The folder is removed again on
        // failure.
        let parent = self.folder.canonicalize().map_err(|error| self.failed(error))?;
        let folder = tempfile::Builder::new()
            .prefix("env-")
            .tempdir_in(parent)
            .map_err(|error| self.failed(error))?;
        on_progress(Progress::Creating { folder: folder.path().to_owned() });
        create(installer, base, folder.path()).await?;
        on_progress(Progress::Installing { requirements: requirements.to_vec() });
        install(installer, folder.path(), requirements).await?;
        self.publish(folder).map_err(|error| self.failed(error))
    }

    fn publish(&self, folder: TempDir) -> io::Result<PathBuf> {
        let name = folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let marker = NamedTempFile::new_in(&self.folder)?;
        fs::write(marker.path(), name)?;
        marker.persist(self.folder.join("ready"))?;
        Ok(interpreter(&folder.keep()))
    }
}

pub(super) fn interpreter(environment: &Path) -> PathBuf {
    environment.join("bin/python")
}
