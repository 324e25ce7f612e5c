//! Finds an engine and negotiates the version of its API.

use std::{env, fmt, time::Duration};

use bollard::{Docker, models::SystemInfo};
use tokio::time::{sleep, timeout};

use super::{
    address::{EngineAddress, Variables, named, places},
    connection,
};
use crate::error::{AddressError, DockerError, EngineError, UnreachableAddress};

/// Time limit for a reply; a working engine answers at once.
const PATIENCE: Duration = Duration::from_secs(3);

/// Time limit for the first reply through ssh, longer than that of ssh for its connection.
const PATIENCE_SSH: Duration = Duration::from_secs(15);

/// Pause between two questions to an engine that has work or gets none.
pub(super) const PAUSE: Duration = Duration::from_secs(2);

/// Time limit for the reply of an engine that has work; without a reply its work goes elsewhere.
const PATIENCE_AT_WORK: Duration = Duration::from_secs(5);

/// The oldest version of the API that is supported, that of Docker 19.03.
const OLDEST: (usize, usize) = (1, 40);

/// The oldest version for nodes of a swarm, that of Docker 20.10: earlier services drop no
/// capabilities.
const OLDEST_IN_SWARM: (usize, usize) = (1, 41);

/// An engine that has answered.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    pub(super) docker: Docker,
    description: Description,
    pub(super) abilities: KernelSupport,
}

/// The description of an engine in `trellis doctor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Description {
    /// The address of the engine.
    pub(crate) host: String,
    /// The engine's version.
    pub(crate) version: String,
    /// The version of the API that both sides speak.
    pub(crate) api: String,
    /// The version of control groups, `1` or `2`, as the engine reports it.
    pub(crate) cgroup_version: String,
    /// The driver of control groups: `cgroupfs`, `systemd` or `none`.
    pub(crate) cgroup_driver: String,
    /// True if the engine does not run as root.
    pub(crate) rootless: bool,
    /// The kind of the engine's processors, such as `x86_64`.
    pub(crate) architecture: String,
    /// Number of the engine's processors.
    pub(crate) processors: usize,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rootless = if self.rootless { ", rootless" } else { "" };
        write!(
            f,
            "Docker {} at {} (API {}, cgroups v{} by {}{rootless})",
            self.version, self.host, self.api, self.cgroup_version, self.cgroup_driver
        )
    }
}

/// The limits that the kernel under an engine can enforce for containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KernelSupport {
    pub(super) memory: bool,
    pub(super) swap: bool,
    pub(super) processes: bool,
    pub(super) processor: bool,
}

impl Engine {
    /// Connects to the engine of `DOCKER_HOST`, of the chosen context or at one of the usual
    /// addresses.
    pub(crate) async fn connect() -> Result<Engine, EngineError> {
        let mut tried = Vec::new();
        let variable = |name: &str| env::var(name).ok();
        for address in places(&variable)? {
            match Engine::of(&address, &variable).await {
                Ok(engine) => return Ok(engine),
                Err(source) => {
                    let EngineAddress { host, origin, .. } = address;
                    tried.push(UnreachableAddress { host, origin, source });
                }
            }
        }
        Err(EngineError::Unreachable { tried })
    }

    /// Connects to the engine of an address that a setting names.
    pub(super) async fn of(
        address: &EngineAddress,
        variable: Variables<'_>,
    ) -> Result<Engine, AddressError> {
        let docker = connection::open(address, variable)?;
        let limit = if address.host.starts_with("ssh://") { PATIENCE_SSH } else { PATIENCE };
        let meeting = timeout(limit, meet(docker, &address.host)).await;
        meeting.unwrap_or(Err(AddressError::NoAnswer { limit }))
    }

    /// Connects to the engine at one address.
    pub(super) async fn at(host: &str) -> Result<Engine, DockerError> {
        let variable = |name: &str| env::var(name).ok();
        Ok(Engine::of(&named(host, &variable)?, &variable).await?)
    }

    /// Checks that the engine knows all that a container needs.
    pub(super) fn check_version(&self) -> Result<(), AddressError> {
        let api = self.docker.client_version();
        if (api.major_version, api.minor_version) >= OLDEST {
            return Ok(());
        }
        let Description { version, api, .. } = self.description.clone();
        Err(AddressError::Old { version, api })
    }

    /// Checks that the engine knows all that a task of a service needs.
    pub(super) fn check_version_in_swarm(&self) -> Result<(), AddressError> {
        let api = self.docker.client_version();
        if (api.major_version, api.minor_version) >= OLDEST_IN_SWARM {
            return Ok(());
        }
        let Description { version, api, .. } = self.description.clone();
        Err(AddressError::OldSwarm { version, api })
    }

    /// Asks the engine whether it is still there.
    pub(super) async fn asked(&self) -> Result<(), AddressError> {
        match timeout(PATIENCE_AT_WORK, self.docker.ping()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(AddressError::NoAnswer { limit: PATIENCE_AT_WORK }),
        }
    }

    /// Waits for a reply; `None` if there is none in time.
    pub(super) async fn answer<T>(&self, reply: impl Future<Output = T>) -> Option<T> {
        timeout(PATIENCE_AT_WORK, reply).await.ok()
    }

    /// Does `work` that may take long for as long as the engine answers.
    pub(super) async fn working<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, AddressError> {
        let gone = async {
            loop {
                sleep(PAUSE).await;
                if let Err(error) = self.asked().await {
                    return error;
                }
            }
        };
        tokio::select! {
            done = work => Ok(done),
            error = gone => Err(error),
        }
    }

    /// Returns the description of the engine.
    pub(crate) fn describe(&self) -> &Description {
        &self.description
    }
}

async fn meet(docker: Docker, host: &str) -> Result<Engine, AddressError> {
    let docker = docker.negotiate_version().await?;
    docker.ping().await?;
    let info = docker.info().await?;
    if info.os_type.as_deref() == Some("windows") {
        return Err(AddressError::Windows);
    }
    let api = docker.client_version();
    let api = format!("{}.{}", api.major_version, api.minor_version);
    let description = description(host, api, &info);
    Ok(Engine { docker, description, abilities: abilities(&info) })
}

fn description(host: &str, api: String, info: &SystemInfo) -> Description {
    let unknown = || "unknown".to_owned();
    let options = info.security_options.as_deref().unwrap_or_default();
    Description {
        host: host.to_owned(),
        version: info.server_version.clone().unwrap_or_else(unknown),
        api,
        cgroup_version: info.cgroup_version.map_or_else(unknown, |it| it.to_string()),
        cgroup_driver: info.cgroup_driver.map_or_else(unknown, |it| it.to_string()),
        rootless: options.iter().any(|option| option.contains("name=rootless")),
        architecture: info.architecture.clone().unwrap_or_else(unknown),
        processors: info.ncpu.and_then(|it| usize::try_from(it).ok()).unwrap_or(1),
    }
}

/// Reads the kernel support from the engine's reply; a missing field counts as unsupported.
fn abilities(info: &SystemInfo) -> KernelSupport {
    KernelSupport {
        memory: info.memory_limit == Some(true),
        swap: info.swap_limit == Some(true),
        processes: info.pids_limit == Some(true),
        processor: info.cpu_cfs_quota == Some(true),
    }
}
