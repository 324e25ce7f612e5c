//! Makes virtual environments and keeps them for the next time.
//!
//! ```text
//! cache/venvs/<hash of interpreter and requirements>/
//!     lock         held by whoever builds
//!     env-Xyz/     an environment; its scripts name this path, so it is built in place and never moved
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

/// What every environment has. coverage.py measures lines, pytest runs tests.
const ALWAYS: [&str; 2] = ["pytest>=7", "coverage>=7"];

/// Part of the hash; raised when environments of an older build must not be used any more.
const LAYOUT: &str = "2";

/// What [`provide`] is doing; it takes seconds when nothing is cached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another process is making the same environment.
    Waiting,
    /// The empty environment is being made.
    Creating {
        /// Its folder.
        folder: PathBuf,
    },
    /// uv or pip is at work.
    Installing {
        /// What it installs.
        requirements: Vec<String>,
    },
}

/// An environment with pytest, coverage.py and `requirements` (each as in one line of a
/// requirements file), made with `base` and kept in `cache`. When it is there already, no process
/// is started. Processes that ask for the same at once wait for one another; one that dies midway
/// leaves nothing that is taken for finished. uv is used if the search path has it.
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

/// [`provide`] with a given installer. What either has made serves the other too.
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

/// An environment with `requirements` and nothing else.
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
        return Ok(provided(base, interpreter)); // made by another process meanwhile
    }
    place.clear_unfinished();
    let interpreter = place.build(installer, base, requirements, on_progress).await?;
    Ok(provided(base, interpreter))
}

/// `own`, an environment without pytest, with an environment in `cache` after it that has pytest, coverage.py and
/// `requirements`; unchanged where it has pytest. Nothing is installed into it.
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

/// What is to be installed for `wanted`: with pytest and coverage.py, sorted, each once.
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

/// Tells two builds of one version apart: the real file, however it is called, and what a new build in its place
/// would change.
fn identity(interpreter: &Path) -> String {
    let file = interpreter.canonicalize().unwrap_or_else(|_| interpreter.to_owned());
    let told = fs::metadata(&file).map(|it| (it.len(), it.mtime(), it.mtime_nsec()));
    format!("{} {:?}", file.display(), told.ok())
}

/// The cache folder of one set of requirements.
struct EnvironmentFolder {
    folder: PathBuf,
}

impl EnvironmentFolder {
    fn failed(&self, source: io::Error) -> PythonError {
        PythonError::Cache { path: self.folder.clone(), source }
    }

    /// The finished environment's interpreter. A link that leads nowhere, because the base
    /// interpreter was removed, does not count.
    fn ready(&self) -> Option<PathBuf> {
        let name = crate::files::read_text(self.folder.join("ready")).ok()?;
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

    /// Under the lock, what is not ready belongs to a process that is no more.
    fn clear_unfinished(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("env-"))
        {
            // Only disk space is at stake, and the next build tries again.
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
        // Absolute, for the scripts inside name it; removed again unless all goes well.
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
