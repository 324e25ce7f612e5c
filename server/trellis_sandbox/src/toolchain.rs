//! Toolchains of other languages' test frameworks: their location on this machine and what they
//! need inside a sandbox.

use std::{
    ffi::OsStr,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::{frameworks::Framework, sandbox::Writable};

/// The programs of one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// Node.js with npm.
    Node,
    /// The `go` command.
    Go,
}

/// Maximum number of symbolic links followed in a row.
const LINKS: usize = 40;

impl Toolchain {
    /// Returns the toolchain that `framework` needs; `None` for Python, which every sandbox has.
    pub(crate) fn of(framework: Framework) -> Option<Toolchain> {
        match framework {
            Framework::Pytest | Framework::Unittest => None,
            Framework::Jest | Framework::Vitest => Some(Toolchain::Node),
            Framework::Go => Some(Toolchain::Go),
        }
    }

    fn programs(self) -> &'static [&'static str] {
        match self {
            Toolchain::Node => &["node", "npm", "npx"],
            Toolchain::Go => &["go"],
        }
    }

    /// Returns the name of the software to install, for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Toolchain::Node => "Node.js with npm",
            Toolchain::Go => "Go",
        }
    }

    /// Returns the files and folders of the installation and its packages that a sandbox has to
    /// show. `path` is a list as in `PATH`.
    pub(crate) fn places(self, path: &OsStr, home: Option<&Path>) -> Vec<PathBuf> {
        let programs = self.programs().iter().filter_map(|program| on_path(program, path));
        let mut places: Vec<PathBuf> =
            programs.flat_map(|program| installation(&program, home)).collect();
        places.extend(self.modules(home));
        places.sort();
        places.dedup();
        places
    }

    /// Returns the folders of the programs, with links resolved, since a sandbox would not show the
    /// links.
    pub(crate) fn folders(self, path: &OsStr) -> Vec<PathBuf> {
        let programs = self.programs().iter().filter_map(|program| on_path(program, path));
        let mut folders: Vec<PathBuf> =
            programs.filter_map(|it| it.parent().map(Path::to_owned)).collect();
        folders.dedup();
        folders
    }

    /// Returns the folder of modules that `go` has downloaded before; a sandbox has no network to
    /// download them.
    pub(crate) fn modules(self, home: Option<&Path>) -> Option<PathBuf> {
        let modules = home.filter(|_| self == Toolchain::Go)?.join("go/pkg/mod");
        modules.is_dir().then_some(modules)
    }

    /// Returns the variables for a run.
    pub(crate) fn variables(
        self,
        writable: &Writable,
        modules: Option<&Path>,
    ) -> Vec<(&'static str, String)> {
        match self {
            Toolchain::Node => vec![("npm_config_update_notifier", "false".to_owned())],
            Toolchain::Go => {
                let cache = writable.temporary.join("go-build").display().to_string();
                let modules = modules.map(|it| ("GOMODCACHE", it.display().to_string()));
                // Nothing can be downloaded; without these variables `go` would try for a while.
                let fixed = [("GOPROXY", "off"), ("GOTOOLCHAIN", "local"), ("GOENV", "off")];
                let fixed = fixed.into_iter().map(|(name, value)| (name, value.to_owned()));
                fixed.chain([("GOCACHE", cache)]).chain(modules).collect()
            }
        }
    }
}

/// Returns the first `program` in the list. Its folder has links resolved; the program itself may
/// be a link.
fn on_path(program: &str, path: &OsStr) -> Option<PathBuf> {
    let found = std::env::split_paths(path).find(|folder| folder.join(program).is_file())?;
    Some(found.canonicalize().ok()?.join(program))
}

/// Returns the program, the links that lead to it, and the files installed with it.
fn installation(program: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut places = vec![program.to_owned()];
    let mut place = program.to_owned();
    for _ in 0..LINKS {
        let Ok(to) = fs::read_link(&place) else { break };
        place = plain(&place.parent().unwrap_or(Path::new("/")).join(to));
        places.push(place.clone());
    }
    let Ok(real) = program.canonicalize() else { return Vec::new() };
    match real.parent().filter(|it| it.ends_with("bin")).and_then(Path::parent) {
        Some(prefix) if !is_shared(prefix, home) => places.push(prefix.to_owned()),
        // The folder also holds unrelated programs.
        Some(prefix) => places.extend([real.clone(), prefix.join("lib/node_modules")]),
        None => places.push(real),
    }
    places.retain(|it| fs::symlink_metadata(it).is_ok());
    places
}

/// Returns whether a folder holds more than one installation.
fn is_shared(prefix: &Path, home: Option<&Path>) -> bool {
    let home = home.map(|it| it.canonicalize().unwrap_or_else(|_| it.to_owned()));
    let private = |home: PathBuf| home.starts_with(prefix) || prefix == home.join(".local");
    prefix.parent().is_none() || home.is_some_and(private)
}

/// Returns `path` with `..` resolved textually.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn file(path: &Path) {
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, "").expect("a file");
    }

    /// The layouts of nvm and of an archive unpacked into `~/.local`.
    #[test]
    fn an_installation_is_shown_and_what_lies_beside_it_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("there");
        for prefix in [".nvm/versions/node/v20", ".local"].map(|it| home.join(it)) {
            file(&prefix.join("bin/node"));
            file(&prefix.join("lib/node_modules/npm/bin/npm-cli.js"));
            let npm = prefix.join("bin/npm");
            symlink("../lib/node_modules/npm/bin/npm-cli.js", npm).expect("a link");
        }
        symlink("versions/node/v20", home.join(".nvm/current")).expect("a link");
        let places = |path: &str| {
            Toolchain::Node.places(home.join(path).as_os_str(), Some(&home)).into_iter()
        };
        let relative = |it: PathBuf| it.strip_prefix(&home).expect("below").display().to_string();
        let nvm: Vec<String> = places(".nvm/current/bin").map(relative).collect();
        assert!(nvm.contains(&".nvm/versions/node/v20".to_owned()), "{nvm:?}");
        assert!(nvm.iter().all(|it| it.starts_with(".nvm/versions/node/v20")), "{nvm:?}");
        let local: Vec<String> = places(".local/bin").map(relative).collect();
        assert_eq!(
            local,
            [
                ".local/bin/node",
                ".local/bin/npm",
                ".local/lib/node_modules",
                ".local/lib/node_modules/npm",
                ".local/lib/node_modules/npm/bin/npm-cli.js"
            ]
        );
    }
}
