//! Isolation of an ordinary process by Landlock and a system call filter.

use std::{
    fs,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
};

use super::{
    SandboxSetup, filter, landlock,
    mounts::{self, Mount},
    orders,
    spawn::ChildSpec,
};
use crate::{
    error::{FileAction, FileError, IsolationError},
    sandbox::{Launch, Writable},
};

/// Plans a sandbox. `folder` is its scratch folder on the machine.
pub(super) fn plan(launch: &Launch, folder: &Path) -> Result<SandboxSetup, IsolationError> {
    let writable = Writable::below(folder);
    for place in &writable.all {
        fs::create_dir(place).map_err(FileError::of(FileAction::Create, place))?;
    }
    let mut orders = orders(launch, &launch.command, &writable);
    let shown = mounts::visible_paths(launch);
    let mut readable: Vec<&Path> = shown
        .iter()
        .map(|it| match it {
            Mount::Path(path) => path.as_path(),
            Mount::Link { at, .. } => at,
        })
        .collect();
    let more = ["/proc", "/etc/passwd", "/etc/group", "/etc/hosts", "/sys/devices/system/cpu"];
    readable.extend(more.map(Path::new));
    readable.push(&launch.tree);
    let settings = settings_above(&launch.tree);
    readable.extend(settings.iter().map(PathBuf::as_path));
    let writable_places: Vec<&Path> = writable.all.iter().map(PathBuf::as_path).collect();
    let network = launch.limits.network;
    let (rules, landlock) = match landlock::rules(&readable, &writable_places, network) {
        Ok(rules) => (Some(rules), Ok(())),
        Err(error) => (None, Err(error)),
    };
    orders.landlock = rules.as_ref().map(AsRawFd::as_raw_fd);
    let (filters, filter) = filter::available(network);
    orders.filters = filters;
    let job = ChildSpec {
        orders,
        namespaces: 0,
        descriptors: rules.into_iter().collect(),
        group: None,
        remains: None,
    };
    Ok(SandboxSetup { job, writable, landlock, filter, info: None })
}

/// Returns the files in which pytest looks for settings above the project. In this isolation pytest
/// sees that they exist, and ends if it cannot read one.
fn settings_above(tree: &Path) -> Vec<PathBuf> {
    const NAMES: [&str; 7] = [
        "pytest.toml",
        ".pytest.toml",
        "pytest.ini",
        ".pytest.ini",
        "pyproject.toml",
        "tox.ini",
        "setup.cfg",
    ];
    let folders = tree.ancestors().skip(1);
    folders.flat_map(|folder| NAMES.map(|it| folder.join(it))).filter(|it| it.is_file()).collect()
}
