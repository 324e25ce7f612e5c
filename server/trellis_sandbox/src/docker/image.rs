//! The image in which tests run: a Python image with pytest, coverage.py and the project's
//! requirements, built once and then found by its name.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use bollard::models::ImageInspect;
use sha2::{Digest, Sha256};

use super::engine::Engine;
use crate::{
    error::{EngineFailure, FileAction, FileError, ImageError},
    python::all_requirements,
};

mod build;
mod pull;

/// The version of the image layout, part of the hash; a new one makes older images unused.
const LAYOUT: &str = "1";

/// Repository of the images that Trellis builds.
const REPOSITORY: &str = "trellis-env";

/// The ingredients of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageSpec {
    /// An image with Python 3.9 or newer and pip.
    pub base: String,
    /// Packages to install besides pytest and coverage.py, each as in a line of a requirements
    /// file.
    pub requirements: Vec<String>,
}

impl Default for ImageSpec {
    /// Returns an official slim Python image without further requirements.
    fn default() -> ImageSpec {
        ImageSpec { base: "python:3.12-slim".to_owned(), requirements: Vec::new() }
    }
}

/// An image that the engine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    /// The name to start containers from.
    pub(crate) name: String,
    /// The command that runs the interpreter in the image.
    pub(crate) python: String,
}

/// The activity of the image build, which takes seconds to minutes if nothing is cached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another process is building the same image.
    Waiting,
    /// The base image is being downloaded.
    Pulling {
        /// The name of the image.
        image: String,
        /// Bytes downloaded so far.
        done: u64,
        /// Bytes in all, as far as known.
        total: u64,
    },
    /// pip is installing packages.
    Building {
        /// The packages being installed.
        requirements: Vec<String>,
    },
}

/// A callback for each step of the build.
pub(crate) type OnProgress<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// Returns the image for `spec`, building it if the engine does not have it. `cache` holds the lock
/// with which processes that need the same image wait for one another.
pub(crate) async fn provide(
    engine: &Engine,
    spec: &ImageSpec,
    cache: &Path,
    on_progress: OnProgress<'_>,
) -> Result<Image, ImageError> {
    let requirements = all_requirements(&spec.requirements)?;
    let base = base(engine, &spec.base, on_progress).await?;
    let key = key(&base, &requirements);
    let image = Image { name: format!("{REPOSITORY}:{key}"), python: "python3".to_owned() };
    if inspect(engine, &image.name).await?.is_some() {
        return Ok(image);
    }
    let one_engine = self::key(&engine.describe().host, std::slice::from_ref(&key));
    let _lock = lock(&cache.join("docker"), &one_engine, on_progress).await?;
    if inspect(engine, &image.name).await?.is_some() {
        return Ok(image); // another process has built it in the meantime
    }
    on_progress(Progress::Building { requirements: requirements.clone() });
    build::build(engine, &image.name, &spec.base, &base, &requirements).await?;
    Ok(image)
}

/// Returns the id of the base image, since its name may later refer to another image.
async fn base(
    engine: &Engine,
    name: &str,
    on_progress: OnProgress<'_>,
) -> Result<String, ImageError> {
    let mut found = inspect(engine, name).await?;
    if found.is_none() {
        pull::pull(engine, name, on_progress).await?;
        found = inspect(engine, name).await?;
    }
    let id = found.and_then(|image| image.id);
    id.ok_or_else(|| ImageError::NotFound { name: name.to_owned() })
}

async fn inspect(engine: &Engine, name: &str) -> Result<Option<ImageInspect>, ImageError> {
    match engine.docker.inspect_image(name).await.map_err(EngineFailure) {
        Ok(image) => Ok(Some(image)),
        Err(error) if error.status() == Some(404) => Ok(None),
        Err(source) => Err(ImageError::NotInspected { name: name.to_owned(), source }),
    }
}

fn key(base: &str, requirements: &[String]) -> String {
    let mut hash = Sha256::new();
    for part in [LAYOUT, base].into_iter().chain(requirements.iter().map(String::as_str)) {
        hash.update(part);
        hash.update([0]);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

async fn lock(folder: &Path, key: &str, on_progress: OnProgress<'_>) -> Result<File, FileError> {
    let path = folder.join(format!("{key}.lock"));
    let failed = |error: io::Error| FileError::of(FileAction::Lock, &path)(error);
    fs::create_dir_all(folder).map_err(failed)?;
    let file = File::create(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(fs::TryLockError::WouldBlock) => on_progress(Progress::Waiting),
        Err(fs::TryLockError::Error(error)) => return Err(failed(error)),
    }
    let waiting = tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await;
    waiting.map_err(io::Error::other).flatten().map_err(failed)
}
