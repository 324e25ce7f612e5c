//! The image tests run in: a Python image with pytest, coverage.py and the project's requirements
//! added, built once and then found by its name.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use bollard::models::ImageInspect;
use sha2::{Digest, Sha256};

use super::{engine::Engine, status, told};
use crate::python::all_requirements;

mod build;
mod pull;

/// Part of the hash; raised when images of an older build must not be used any more.
const LAYOUT: &str = "1";

/// Repository of the images made here.
const REPOSITORY: &str = "trellis-env";

/// What an image is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageSpec {
    /// An image with Python 3.9 or newer and pip.
    pub base: String,
    /// What is installed besides pytest and coverage.py, each as in a line of a requirements file.
    pub requirements: Vec<String>,
}

impl Default for ImageSpec {
    /// An official slim Python without further requirements.
    fn default() -> ImageSpec {
        ImageSpec { base: "python:3.12-slim".to_owned(), requirements: Vec::new() }
    }
}

/// An image the engine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    /// To start containers of.
    pub(crate) name: String,
    /// The interpreter, as it is to be called in it.
    pub(crate) python: String,
}

/// What [`provide`] is doing; it takes seconds to minutes when nothing is cached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another process is making the same image.
    Waiting,
    /// The base image is being fetched.
    Pulling {
        /// Its name.
        image: String,
        /// Bytes that have arrived.
        done: u64,
        /// Bytes in all, as far as known yet.
        total: u64,
    },
    /// pip is at work.
    Building {
        /// What it installs.
        requirements: Vec<String>,
    },
}

/// Called with every step.
pub(crate) type OnProgress<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// The image for `spec`, made if the engine does not have it. `cache` is for the lock that lets
/// processes which want the same image wait for one another.
pub(crate) async fn provide(
    engine: &Engine,
    spec: &ImageSpec,
    cache: &Path,
    on_progress: OnProgress<'_>,
) -> Result<Image, String> {
    let requirements = all_requirements(&spec.requirements).map_err(|error| error.to_string())?;
    let base = base(engine, &spec.base, on_progress).await?;
    let key = key(&base, &requirements);
    let image = Image { name: format!("{REPOSITORY}:{key}"), python: "python3".to_owned() };
    if inspect(engine, &image.name).await?.is_some() {
        return Ok(image);
    }
    let _lock = lock(&cache.join("docker"), &key, on_progress).await?;
    if inspect(engine, &image.name).await?.is_some() {
        return Ok(image); // made by another process meanwhile
    }
    on_progress(Progress::Building { requirements: requirements.clone() });
    build::build(engine, &image.name, &spec.base, &base, &requirements).await?;
    Ok(image)
}

/// The base image's id; its name may come to mean another image at any time.
async fn base(engine: &Engine, name: &str, on_progress: OnProgress<'_>) -> Result<String, String> {
    let mut found = inspect(engine, name).await?;
    if found.is_none() {
        pull::pull(engine, name, on_progress).await?;
        found = inspect(engine, name).await?;
    }
    let id = found.and_then(|image| image.id);
    id.ok_or_else(|| {
        format!("the engine pulled the image {name}, but cannot find it; try `docker pull {name}`")
    })
}

async fn inspect(engine: &Engine, name: &str) -> Result<Option<ImageInspect>, String> {
    match engine.docker.inspect_image(name).await {
        Ok(image) => Ok(Some(image)),
        Err(error) if status(&error) == Some(404) => Ok(None),
        Err(error) => Err(format!(
            "cannot inspect the image {name}: {}; try `docker image inspect {name}`",
            told(&error)
        )),
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

async fn lock(folder: &Path, key: &str, on_progress: OnProgress<'_>) -> Result<File, String> {
    let path = folder.join(format!("{key}.lock"));
    let failed = |error: io::Error| {
        format!(
            "cannot lock {}: {error}; choose another cache folder or free some space",
            path.display()
        )
    };
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
