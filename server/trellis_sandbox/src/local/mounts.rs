//! The allow-list of the machine's files that a sandbox shows. Homes, keys and other projects are
//! not on it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::sandbox::Launch;

/// Programs and libraries of the system. Entries that are links (`/bin` on most machines) stay
/// links.
const SYSTEM: [&str; 12] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
    "/snap",
];

/// Files in `/etc` that libraries read and that hold no secrets.
const SETTINGS: [&str; 26] = [
    "alternatives",
    "ca-certificates",
    "fonts",
    "gai.conf",
    "host.conf",
    "java-17-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "magic",
    "mime.types",
    "networks",
    "nsswitch.conf",
    "os-release",
    "pki",
    "protocols",
    "python3",
    "python3.11",
    "services",
    "shells",
    "ssl",
    "terminfo",
    "timezone",
];

/// An entry to show in a sandbox.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mount {
    /// A file or folder, at its own path.
    Path(PathBuf),
    /// A symbolic link.
    Link { at: PathBuf, to: PathBuf },
}

/// Returns the mounts of a sandbox with a file system of its own, outer folders first, since a
/// mount covers what was there. A path below a mounted folder is seen through that folder; links
/// there, such as those of an environment, keep their targets.
pub(crate) fn mounts(launch: &Launch, more: &[&str]) -> Vec<Mount> {
    let more = more.iter().map(PathBuf::from).chain([launch.tree.clone()]).map(Mount::Path);
    let mut shown: Vec<Mount> = visible_paths(launch).into_iter().chain(more).collect();
    shown.sort();
    shown.dedup();
    let places: Vec<PathBuf> = shown
        .iter()
        .filter_map(|it| match it {
            Mount::Path(path) => Some(path.clone()),
            Mount::Link { .. } => None,
        })
        .collect();
    let is_below = |path: &Path| places.iter().any(|it| path != it && path.starts_with(it));
    shown.retain(|it| !matches!(it, Mount::Path(path) if is_below(path)));
    shown
}

/// Returns the system's folders, those that the launch's interpreter needs, and those that the
/// launch asks for.
pub(crate) fn visible_paths(launch: &Launch) -> Vec<Mount> {
    let interpreter = launch.command.first().map(PathBuf::from).unwrap_or_default();
    let interpreter = interpreter.as_path();
    let mut shown: BTreeSet<Mount> = SYSTEM.iter().filter_map(|it| show(Path::new(it))).collect();
    shown.extend(SETTINGS.iter().filter_map(|it| existing(&Path::new("/etc").join(it))));
    if launch.limits.network {
        shown.extend(existing(Path::new("/etc/resolv.conf")));
    }
    shown.extend(python(interpreter).into_iter().filter(|it| !is_system(it)).map(Mount::Path));
    let covered = |it: &Path| {
        let place = |shown: &Mount| matches!(shown, Mount::Path(above) if it.starts_with(above));
        shown.iter().any(place) || is_below_another(it, &launch.visible)
    };
    let more = launch.visible.iter().filter(|it| !covered(it)).filter_map(|it| show(it));
    let more: Vec<Mount> = more.collect();
    shown.extend(more);
    shown.into_iter().collect()
}

/// Returns whether a mounted folder contains `place`, so that links in it are shown with the
/// folder.
fn is_below_another(place: &Path, places: &[PathBuf]) -> bool {
    places.iter().any(|it| it != place && place.starts_with(it) && it.is_dir() && !it.is_symlink())
}

fn show(path: &Path) -> Option<Mount> {
    match fs::read_link(path) {
        Ok(to) => Some(Mount::Link { at: path.to_owned(), to }),
        Err(_) => existing(path),
    }
}

fn existing(path: &Path) -> Option<Mount> {
    path.exists().then(|| Mount::Path(path.to_owned()))
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|it| path.starts_with(it))
}

/// Returns the folders of an interpreter: its environment, the installation the environment was
/// made from, and folders of packages in editable installs.
fn python(interpreter: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut place = interpreter.to_owned();
    for _ in 0..40 {
        folders.extend(prefix(&place));
        let Ok(to) = fs::read_link(&place) else { break };
        place = place.parent().unwrap_or(Path::new("/")).join(to);
    }
    folders.extend(interpreter.canonicalize().ok().as_deref().and_then(prefix));
    folders
        .extend(interpreter.parent().and_then(Path::parent).into_iter().flat_map(edited_in_place));
    // The environment may itself be a link.
    let real: Vec<PathBuf> = folders.iter().filter_map(|it| it.canonicalize().ok()).collect();
    folders.extend(real);
    folders.retain(|it| it.is_dir());
    folders
}

/// Returns `/opt/python` for `/opt/python/bin/python3`, with `..` resolved textually.
fn prefix(interpreter: &Path) -> Option<PathBuf> {
    let folder = interpreter.parent()?;
    let folder = if folder.file_name()? == "bin" { folder.parent()? } else { folder };
    let mut plain = PathBuf::new();
    for part in folder.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    (plain.components().count() > 1).then_some(plain) // never `/` itself
}

/// Returns the folders that `.pth` files and editable installs of an environment point to.
fn edited_in_place(environment: &Path) -> Vec<PathBuf> {
    let versions = fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    let packages = versions.map(|it| it.path().join("site-packages"));
    let entries = packages.flat_map(|it| fs::read_dir(it).into_iter().flatten().flatten());
    entries.flat_map(|entry| pointed_to(&entry.path())).filter(|it| is_project(it)).collect()
}

/// Returns whether a folder is a Python project. The author of a repository may ship an environment
/// in it, which must not expose an arbitrary folder, such as one with keys.
fn is_project(folder: &Path) -> bool {
    let marked = |folder: &Path| {
        ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|it| folder.join(it).is_file())
    };
    marked(folder) || folder.ends_with("src") && folder.parent().is_some_and(marked)
}

fn pointed_to(entry: &Path) -> Vec<PathBuf> {
    match entry.extension().and_then(|it| it.to_str()) {
        Some("pth") => {
            let text = trellis_os::files::read_text(entry).unwrap_or_default();
            text.lines().filter(|it| it.starts_with('/')).map(PathBuf::from).collect()
        }
        Some("dist-info") => {
            let text = trellis_os::files::read(entry.join("direct_url.json")).unwrap_or_default();
            let origin: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
            let path = origin["url"].as_str().and_then(|it| it.strip_prefix("file://"));
            path.filter(|_| origin["dir_info"]["editable"] == true)
                .map(PathBuf::from)
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}
