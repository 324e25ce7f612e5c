//! The store: a volume on an engine with the contents of one project's files, each named by its
//! digest. Workers see it read-only.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    time::SystemTime,
};

use bollard::{
    body_full,
    models::{ContainerCreateBody, HostConfig, Mount, MountType, VolumeCreateRequest},
    query_parameters::{
        CreateContainerOptions, ListVolumesOptionsBuilder, RemoveVolumeOptions,
        UploadToContainerOptionsBuilder,
    },
};
use sha2::{Digest, Sha256};

use super::{
    engine::Engine,
    owner::{HOST, Owner, PROJECT},
    removal::{remove, remove_soon},
    sent_project::digest,
};
use crate::error::{EngineFailure, SendError, StoreError};

/// The path of the store in a container.
pub(crate) const STORE: &str = "/run/store";

/// Label with the time of a volume's creation, in seconds since 1970.
const CREATED: &str = "trellis.created";

/// Seconds after which a volume is removed: it collects all earlier contents of the files.
const OLD: u64 = 7 * 24 * 3600;

/// Bytes of one transfer; a larger file is a transfer of its own.
const PORTION: usize = 16 << 20;

/// A volume of one project on one engine.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    docker: bollard::Docker,
    pub(crate) volume: String,
    /// An image that the engine has, for the container that receives files. It is never started.
    image: String,
}

impl Store {
    /// Returns the store of `project`, and makes it if it is missing.
    pub(super) async fn open(
        engine: &Engine,
        project: &Path,
        image: &str,
    ) -> Result<Store, StoreError> {
        let labels: HashMap<_, _> = Owner::current()?.labels().into();
        let host = labels[HOST].clone();
        let mut hash = Sha256::new();
        for part in [host.as_str(), &super::user(), &project.to_string_lossy()] {
            hash.update(part);
            hash.update([0]);
        }
        let volume = format!("trellis-files-{:.16}", digest(&hash.finalize()));
        let docker = engine.docker.clone();
        let labels = HashMap::from([
            (HOST.to_owned(), host),
            (PROJECT.to_owned(), project.display().to_string()),
            (CREATED.to_owned(), now().to_string()),
        ]);
        let request = VolumeCreateRequest {
            name: Some(volume.clone()),
            labels: Some(labels),
            ..VolumeCreateRequest::default()
        };
        docker.create_volume(request).await.map_err(EngineFailure)?;
        Ok(Store { docker, volume, image: image.to_owned() })
    }

    /// Adds the files, each named by its digest. A file that cannot be read any more is left out.
    pub(super) async fn add(&self, files: Vec<PathBuf>) -> Result<(), SendError> {
        let id = self.receiver().await.map_err(|error| SendError::of(EngineFailure(error)))?;
        let receiver = Receiver { docker: self.docker.clone(), id, removed: false };
        let mut files = files.into_iter();
        loop {
            let (archive, rest) = tokio::task::spawn_blocking(move || portion(files)).await??;
            files = rest;
            let Some(archive) = archive else { break };
            let options = UploadToContainerOptionsBuilder::default().path(STORE).build();
            let sent = self.docker.upload_to_container(
                &receiver.id,
                Some(options),
                body_full(archive.into()),
            );
            sent.await.map_err(|error| SendError::of(EngineFailure(error)))?;
        }
        receiver.end().await;
        Ok(())
    }

    /// Creates the container through which files are added.
    async fn receiver(&self) -> Result<String, bollard::errors::Error> {
        let owner = Owner::current().map(|it| it.labels()).unwrap_or_default();
        let body = ContainerCreateBody {
            image: Some(self.image.clone()),
            entrypoint: Some(vec!["true".to_owned()]),
            labels: Some(owner.map(|(name, value)| (name.to_owned(), value)).into()),
            host_config: Some(HostConfig {
                network_mode: Some("none".to_owned()),
                mounts: Some(vec![Mount { read_only: Some(false), ..mount(&self.volume) }]),
                ..HostConfig::default()
            }),
            ..ContainerCreateBody::default()
        };
        Ok(self.docker.create_container(None::<CreateContainerOptions>, body).await?.id)
    }
}

/// A container that receives files. Dropping it removes it in the background.
struct Receiver {
    docker: bollard::Docker,
    id: String,
    removed: bool,
}

impl Receiver {
    async fn end(mut self) {
        // If this fails, dropping tries again.
        self.removed = remove(&self.docker, &self.id).await.is_ok();
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if !self.removed {
            remove_soon(self.docker.clone(), self.id.clone());
        }
    }
}

/// Returns the mount of a volume, read-only.
pub(super) fn mount(volume: &str) -> Mount {
    Mount {
        typ: Some(MountType::VOLUME),
        source: Some(volume.to_owned()),
        target: Some(STORE.to_owned()),
        read_only: Some(true),
        ..Mount::default()
    }
}

/// Removes the volumes of this machine's projects that are old, those of lost projects as well; the
/// next use of a project makes a new one. A volume in use is left for another time.
pub(super) async fn remove_old(engine: &Engine) -> Result<(), StoreError> {
    let filters = HashMap::from([("label", vec![CREATED])]);
    let options = ListVolumesOptionsBuilder::default().filters(&filters).build();
    let found = engine.docker.list_volumes(Some(options)).await.map_err(EngineFailure)?;
    let host = Owner::current()?.labels()[1].1.clone();
    for volume in found.volumes.into_iter().flatten() {
        if volume.labels.get(HOST) == Some(&host) && is_old(&volume.labels) {
            remove_unused(engine, &volume.name).await?;
        }
    }
    Ok(())
}

fn is_old(labels: &HashMap<String, String>) -> bool {
    let created = labels.get(CREATED).and_then(|it| it.parse().ok());
    created.is_none_or(|it: u64| it.saturating_add(OLD) < now())
}

pub(super) async fn remove_unused(engine: &Engine, volume: &str) -> Result<(), EngineFailure> {
    let removed = engine.docker.remove_volume(volume, None::<RemoveVolumeOptions>).await;
    match removed.map_err(EngineFailure) {
        Err(error) if !matches!(error.status(), Some(404 | 409)) => Err(error),
        _ => Ok(()),
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |it| it.as_secs())
}

type Files = std::vec::IntoIter<PathBuf>;

/// Returns an archive of the next files, or `None` if there are no more, and the rest of the files.
fn portion(mut files: Files) -> std::io::Result<(Option<Vec<u8>>, Files)> {
    let (mut archive, mut length, mut is_empty) = (tar::Builder::new(Vec::new()), 0, true);
    while length < PORTION
        && let Some(path) = files.next()
    {
        is_empty = false;
        let Ok(text) = trellis_os::files::read(&path) else { continue };
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o444);
        archive.append_data(&mut header, digest(&text), text.as_slice())?;
        length += text.len();
    }
    Ok(((!is_empty).then(|| archive.into_inner()).transpose()?, files))
}
