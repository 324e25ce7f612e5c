//! The request to the engine that creates a container, as restricted as possible.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigLogConfig, Mount, MountBindOptions,
    MountType, ResourcesUlimits,
};
use rustix::process::{getegid, geteuid};

use super::{
    Launch, ORIGINAL, ProjectCopy,
    engine::KernelSupport,
    owner::{Owner, PROJECT},
    store,
};
use crate::{error::LaunchError, request::Limits};

/// The nano CPUs of one processor, the unit of a container's share.
pub(super) const ONE_PROCESSOR: i64 = 1_000_000_000;

/// Bytes of `/dev/shm`, which multiprocessing needs.
const SHARED_MEMORY: i64 = 64 << 20;

/// Returns the user for the worker: the current one, so that the worker can read their private
/// files; never root.
pub(crate) fn user() -> String {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() { "1000:1000".to_owned() } else { format!("{user}:{group}") }
}

/// Returns the request that creates the container.
pub(super) fn body(
    launch: &Launch,
    abilities: KernelSupport,
) -> Result<ContainerCreateBody, LaunchError> {
    let owner = Owner::current()?.labels().map(|(name, value)| (name.to_owned(), value));
    let project = (PROJECT.to_owned(), launch.project.clone());
    Ok(ContainerCreateBody {
        image: Some(launch.image.clone()),
        // The command is the entry point, so that neither the image's own nor its default command
        // is added.
        entrypoint: Some(launch.command.clone()),
        user: Some(launch.user.clone()),
        working_dir: Some(text(&launch.working)?),
        env: Some(pairs(&launch.environment)),
        hostname: Some("sandbox".to_owned()),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        open_stdin: Some(true),
        stdin_once: Some(true),
        tty: Some(false),
        healthcheck: Some(HealthConfig {
            test: Some(vec!["NONE".to_owned()]),
            ..HealthConfig::default()
        }),
        labels: Some(owner.into_iter().chain([project]).collect()),
        host_config: Some(host_config(launch, abilities)?),
        ..ContainerCreateBody::default()
    })
}

pub(super) fn pairs(environment: &BTreeMap<String, String>) -> Vec<String> {
    environment.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

pub(super) fn text(path: &Path) -> Result<String, LaunchError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| LaunchError::NotUnicode { path: path.to_owned() })
}

fn host_config(launch: &Launch, abilities: KernelSupport) -> Result<HostConfig, LaunchError> {
    let limits = &launch.limits;
    let memory = signed(limits.memory_bytes);
    Ok(HostConfig {
        network_mode: Some(if limits.network { "bridge" } else { "none" }.to_owned()),
        readonly_rootfs: Some(true),
        mounts: Some(mounts(launch)?),
        tmpfs: Some(in_memory(launch)?),
        shm_size: Some(SHARED_MEMORY),
        ipc_mode: Some("private".to_owned()),
        memory: abilities.memory.then_some(memory),
        // The value is the sum of memory and swap, so there is no swap.
        memory_swap: (abilities.memory && abilities.swap).then_some(memory),
        pids_limit: abilities.processes.then_some(signed(limits.processes)),
        nano_cpus: abilities
            .processor
            .then_some(ONE_PROCESSOR * i64::from(limits.cores.unwrap_or(1))),
        ulimits: Some(ulimits(limits)),
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        init: Some(false),
        // This process reads the worker's output; the engine keeps no log.
        log_config: Some(HostConfigLogConfig {
            typ: Some("none".to_owned()),
            ..HostConfigLogConfig::default()
        }),
        auto_remove: Some(true),
        ..HostConfig::default()
    })
}

pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Mounts the store of the files that are sent, or the project: at its own path, or at [`ORIGINAL`]
/// beside its copy, in which the large folders are mounted from the project.
fn mounts(launch: &Launch) -> Result<Vec<Mount>, LaunchError> {
    if let Some(volume) = &launch.volume {
        return Ok(vec![store::mount(volume)]);
    }
    let tree = &launch.tree;
    let Some(copied) = &launch.copied else { return Ok(vec![mount(tree, tree)?]) };
    let own = copied.mounted.iter().map(|it| mount(&tree.join(it.name), &tree.join(it.name)));
    std::iter::once(mount(tree, Path::new(ORIGINAL))).chain(own).collect()
}

/// Mounts a folder without the mounts below it, which older engines would leave writable.
fn mount(folder: &Path, place: &Path) -> Result<Mount, LaunchError> {
    Ok(Mount {
        typ: Some(MountType::BIND),
        source: Some(text(folder)?),
        target: Some(text(place)?),
        read_only: Some(true),
        bind_options: Some(MountBindOptions {
            non_recursive: Some(true),
            ..MountBindOptions::default()
        }),
        ..Mount::default()
    })
}

fn in_memory(launch: &Launch) -> Result<HashMap<String, String>, LaunchError> {
    let mut all: HashMap<_, _> =
        launch.scratch.iter().map(|it| tmpfs(it, launch.executable)).collect();
    if let Some(copied) = &launch.copied {
        all.insert(text(&launch.tree)?, copy(copied, &launch.user)?);
    }
    Ok(all)
}

/// Returns the mount options of the copy. Programs in it can be started, as in the project itself.
fn copy(copied: &ProjectCopy, user: &str) -> Result<String, LaunchError> {
    let (user, group) = user.split_once(':').ok_or(LaunchError::NoGroup)?;
    let size = copied.bytes;
    Ok(format!("rw,size={size},exec,nosuid,nodev,mode=0755,uid={user},gid={group}"))
}

fn tmpfs((path, bytes): &(String, u64), executable: bool) -> (String, String) {
    let exec = if executable { "exec" } else { "noexec" };
    (path.clone(), format!("rw,size={bytes},{exec},nosuid,nodev,mode=1777"))
}

pub(super) fn ulimits(limits: &Limits) -> Vec<ResourcesUlimits> {
    let values = [("nofile", limits.open_files), ("fsize", limits.file_bytes), ("core", 0)];
    let ulimit = |(name, value): (&str, u64)| ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(signed(value)),
        hard: Some(signed(value)),
    };
    values.map(ulimit).to_vec()
}
