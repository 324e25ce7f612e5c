//! The specification of a service for one kind of worker, as restricted as a container.

use std::{
    collections::{BTreeSet, HashMap},
    sync::atomic::{AtomicU32, Ordering},
};

use bollard::models::{
    HealthConfig, Limit, Mount, MountTmpfsOptions, MountType, MountVolumeOptions,
    MountVolumeOptionsDriverConfig, ServiceSpec, ServiceSpecMode, ServiceSpecModeReplicated,
    TaskSpec, TaskSpecContainerSpec, TaskSpecContainerSpecPrivileges, TaskSpecLogDriver,
    TaskSpecPlacement, TaskSpecResources, TaskSpecRestartPolicy,
    TaskSpecRestartPolicyConditionEnum,
};

use crate::{
    docker::{
        Launch, ProjectCopy,
        launch::{ONE_PROCESSOR, pairs, signed, text, ulimits},
        owner::{Owner, PROJECT},
        sent_project::digest,
        store,
    },
    error::LaunchError,
};

/// Least bytes of a project's copy, so that small projects have one service.
const LEAST_COPY: u64 = 4 << 20;

/// Returns a key that is the same for workers that one service can serve.
pub(super) fn key(launch: &Launch) -> String {
    let copied = launch.copied.clone();
    let copied = copied.map(|it| ProjectCopy { bytes: copy_bytes(&it), ..it });
    let launch = Launch { project: String::new(), copied, ..launch.clone() };
    digest(format!("{launch:?}").as_bytes())
}

/// Returns the size of the folder for a copy, one for projects of about the same size.
fn copy_bytes(copied: &ProjectCopy) -> u64 {
    copied.bytes.max(LEAST_COPY).next_power_of_two()
}

/// Returns the specification of a service with `replicas` tasks, at most `slots` of them on a node.
pub(super) fn service(
    launch: &Launch,
    replicas: usize,
    slots: usize,
) -> Result<ServiceSpec, LaunchError> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let owner = Owner::current()?;
    let [(_, id), _] = owner.labels();
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let replicas = i64::try_from(replicas).ok();
    Ok(ServiceSpec {
        name: Some(format!("trellis-{:.24}-{number}", digest(id.as_bytes()))),
        labels: Some(labels(&owner, launch)),
        task_template: Some(task(launch, slots)?),
        mode: Some(ServiceSpecMode {
            replicated: Some(ServiceSpecModeReplicated { replicas }),
            ..ServiceSpecMode::default()
        }),
        ..ServiceSpec::default()
    })
}

/// Keeps the tasks of the service off nodes.
pub(super) fn constrain(spec: &mut ServiceSpec, excluded: &BTreeSet<String>) {
    if let Some(placement) = spec.task_template.as_mut().and_then(|it| it.placement.as_mut()) {
        let constraints = excluded.iter().map(|it| format!("node.id!={it}"));
        placement.constraints = Some(constraints.collect());
    }
}

fn labels(owner: &Owner, launch: &Launch) -> HashMap<String, String> {
    let owner = owner.labels().map(|(name, value)| (name.to_owned(), value));
    owner.into_iter().chain([(PROJECT.to_owned(), launch.project.clone())]).collect()
}

fn task(launch: &Launch, slots: usize) -> Result<TaskSpec, LaunchError> {
    let limits = &launch.limits;
    Ok(TaskSpec {
        container_spec: Some(container(launch)?),
        resources: Some(TaskSpecResources {
            limits: Some(Limit {
                nano_cpus: Some(ONE_PROCESSOR * i64::from(limits.cores.unwrap_or(1))),
                memory_bytes: Some(signed(limits.memory_bytes)),
                pids: Some(signed(limits.processes)),
            }),
            ..TaskSpecResources::default()
        }),
        restart_policy: Some(TaskSpecRestartPolicy {
            condition: Some(TaskSpecRestartPolicyConditionEnum::ANY),
            delay: Some(0),
            ..TaskSpecRestartPolicy::default()
        }),
        placement: Some(TaskSpecPlacement {
            max_replicas: i64::try_from(slots).ok(),
            ..TaskSpecPlacement::default()
        }),
        log_driver: Some(TaskSpecLogDriver {
            name: Some("none".to_owned()),
            ..TaskSpecLogDriver::default()
        }),
        ..TaskSpec::default()
    })
}

fn container(launch: &Launch) -> Result<TaskSpecContainerSpec, LaunchError> {
    let none = Some(vec!["NONE".to_owned()]);
    Ok(TaskSpecContainerSpec {
        image: Some(launch.image.clone()),
        labels: Some(labels(&Owner::current()?, launch)),
        command: Some(launch.command.clone()),
        hostname: Some("sandbox".to_owned()),
        env: Some(pairs(&launch.environment)),
        dir: Some(text(&launch.working)?),
        user: Some(launch.user.clone()),
        privileges: Some(TaskSpecContainerSpecPrivileges {
            no_new_privileges: Some(true),
            ..TaskSpecContainerSpecPrivileges::default()
        }),
        open_stdin: Some(true),
        read_only: Some(true),
        mounts: Some(mounts(launch)?),
        stop_grace_period: Some(0),
        health_check: Some(HealthConfig { test: none, ..HealthConfig::default() }),
        init: Some(false),
        capability_drop: Some(vec!["ALL".to_owned()]),
        ulimits: Some(ulimits(&launch.limits)),
        ..TaskSpecContainerSpec::default()
    })
}

fn mounts(launch: &Launch) -> Result<Vec<Mount>, LaunchError> {
    let mut mounts: Vec<Mount> = launch.volume.iter().map(|it| store::mount(it)).collect();
    for (path, bytes) in &launch.scratch {
        mounts.push(match launch.executable {
            true => in_memory(launch, path.clone(), format!("size={bytes},mode=1777"))?,
            false => tmpfs(path.clone(), *bytes),
        });
    }
    if let Some(copied) = &launch.copied {
        let (user, group) = launch.user.split_once(':').ok_or(LaunchError::NoGroup)?;
        let size = copy_bytes(copied);
        let options = format!("size={size},mode=0755,uid={user},gid={group}");
        mounts.push(in_memory(launch, text(&launch.tree)?, options)?);
    }
    Ok(mounts)
}

/// Returns a folder in memory from which no program can be started.
fn tmpfs(path: String, bytes: u64) -> Mount {
    Mount {
        typ: Some(MountType::TMPFS),
        target: Some(path),
        tmpfs_options: Some(MountTmpfsOptions {
            size_bytes: Some(signed(bytes)),
            mode: Some(0o1777),
            ..MountTmpfsOptions::default()
        }),
        ..Mount::default()
    }
}

/// Returns a folder in memory from which programs can be started: a volume that is removed with the
/// container, since a service has no other such folder.
fn in_memory(launch: &Launch, path: String, options: String) -> Result<Mount, LaunchError> {
    let tmpfs = || "tmpfs".to_owned();
    let options = [
        ("type".to_owned(), tmpfs()),
        ("device".to_owned(), tmpfs()),
        ("o".to_owned(), format!("{options},exec,nosuid,nodev")),
    ];
    Ok(Mount {
        typ: Some(MountType::VOLUME),
        target: Some(path),
        volume_options: Some(MountVolumeOptions {
            no_copy: Some(true),
            labels: Some(labels(&Owner::current()?, launch)),
            driver_config: Some(MountVolumeOptionsDriverConfig {
                name: Some("local".to_owned()),
                options: Some(options.into()),
            }),
            ..MountVolumeOptions::default()
        }),
        ..Mount::default()
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::PathBuf};

    use super::*;
    use crate::request::Limits;

    fn launch(bytes: u64) -> Launch {
        Launch {
            image: "image".to_owned(),
            command: vec!["python3".to_owned()],
            tree: PathBuf::from("/work/project"),
            copied: Some(ProjectCopy { bytes, mounted: Vec::new(), sent: true }),
            volume: Some("trellis-files-1".to_owned()),
            working: PathBuf::from("/"),
            environment: BTreeMap::new(),
            user: "1000:1000".to_owned(),
            limits: Limits::default(),
            scratch: vec![("/tmp".to_owned(), 1 << 20)],
            executable: false,
            project: "project".to_owned(),
        }
    }

    #[test]
    fn workers_of_one_kind_share_a_service() {
        assert_eq!(key(&launch(1000)), key(&launch(2000)));
        let other = Launch { project: "other".to_owned(), ..launch(1000) };
        assert_eq!(key(&launch(1000)), key(&other));
        assert_ne!(key(&launch(1000)), key(&launch(64 << 20)), "it needs more memory");
        let mut limited = launch(1000);
        limited.limits.memory_bytes += 1;
        assert_ne!(key(&launch(1000)), key(&limited));
    }

    #[test]
    fn a_service_is_as_restricted_as_a_container() {
        let mut spec = service(&launch(1000), 6, 2).expect("/proc");
        constrain(&mut spec, &BTreeSet::from(["n1", "n2"].map(str::to_owned)));
        let text = serde_json::to_value(spec).expect("JSON");
        assert_eq!(text["Mode"]["Replicated"]["Replicas"], 6);
        let task = &text["TaskTemplate"];
        assert_eq!(task["Placement"]["MaxReplicas"], 2);
        let constraints = serde_json::json!(["node.id!=n1", "node.id!=n2"]);
        assert_eq!(task["Placement"]["Constraints"], constraints);
        let container = &task["ContainerSpec"];
        assert_eq!(container["ReadOnly"], true);
        assert_eq!(container["User"], "1000:1000");
        assert_eq!(container["CapabilityDrop"], serde_json::json!(["ALL"]));
        assert_eq!(container["Privileges"]["NoNewPrivileges"], true);
        for (limit, value) in
            [("MemoryBytes", Limits::default().memory_bytes), ("Pids", Limits::default().processes)]
        {
            assert_eq!(task["Resources"]["Limits"][limit], value);
        }
        for mount in container["Mounts"].as_array().expect("mounts") {
            let is_in_memory = mount["Type"] == "tmpfs"
                || mount["VolumeOptions"]["DriverConfig"]["Options"]["type"] == "tmpfs";
            assert!(is_in_memory || mount["ReadOnly"] == true, "{mount}");
        }
    }
}
