//! Recordings of state: folders of projects, without what belongs to one machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::world::{Ran, World, repository};

/// Text of a repository's history, in place of `.git`, which git would not keep in a repository.
const HISTORY: &str = "git.export";
/// Takes the place of the dot at the beginning of a name, so that no `.gitignore` counts.
const DOT: &str = "dot.";
/// Names that are made again, or belong to one machine or process.
const LEFT_OUT: [&str; 9] =
    [".git", "home", "bin", "lock", "reserve", "tmp", "cache", "__pycache__", ".pytest_cache"];

/// The folder with a recording for each version.
pub(super) fn folder() -> PathBuf {
    repository().join("fixtures/state")
}

/// Returns the versions of which there is a recording.
pub(super) fn versions() -> Vec<String> {
    let all = fs::read_dir(folder()).expect("recordings").flatten().map(|it| it.path());
    let name = |it: PathBuf| it.file_name().expect("a name").to_string_lossy().into_owned();
    let mut all: Vec<String> = all.filter(|it| it.is_dir()).map(name).collect();
    all.sort();
    all
}

/// Returns the files of a project and of its state, by path.
pub(super) fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut out, mut left) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = left.pop() {
        for path in fs::read_dir(&folder).expect("a folder").flatten().map(|it| it.path()) {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if LEFT_OUT.contains(&name.as_str()) || name.ends_with(".lock") {
                continue;
            }
            if path.is_dir() {
                left.push(path);
                continue;
            }
            let relative = path.strip_prefix(root).expect("inside").display().to_string();
            out.insert(relative, fs::read(&path).expect("a file"));
        }
    }
    out
}

/// Records a project of this version.
pub(super) fn record(project: &str, world: &World) {
    let to = folder().join(env!("CARGO_PKG_VERSION")).join(project);
    if to.exists() {
        fs::remove_dir_all(&to).expect("the earlier recording goes");
    }
    let mut files = files(world.root());
    for below in ["", "out/", "p/"] {
        let place = world.root().join(below);
        if place.join(".git").exists() {
            let export = git(&place).args(["fast-export", "--all"]).output().expect("git");
            files.insert(format!("{below}{HISTORY}"), export.stdout);
        }
    }
    for (path, bytes) in files {
        let names = path.split('/').map(|it| match it.strip_prefix('.') {
            Some(rest) => format!("{DOT}{rest}"),
            None => it.to_owned(),
        });
        let file = to.join(names.collect::<PathBuf>());
        fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        fs::write(file, bytes).expect("recorded");
    }
}

/// Returns a copy of a recorded project.
pub(super) fn restored(version: &str, project: &str) -> World {
    let world = World::new();
    for (path, bytes) in files(&folder().join(version).join(project)) {
        let names = path.split('/').map(|it| match it.strip_prefix(DOT) {
            Some(rest) => format!(".{rest}"),
            None => it.to_owned(),
        });
        let file = world.root().join(names.collect::<PathBuf>());
        fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        match file.ends_with(HISTORY) {
            true => restore_history(file.parent().expect("a folder"), &bytes),
            false => fs::write(file, bytes).expect("a file"),
        }
    }
    for below in ["", "out"] {
        let place = world.root().join(below);
        if place.join(".git").exists() {
            let _ = Ran::of(git(&place).args(["reset", "-q"]).output().expect("git")).exits(0);
        }
    }
    world
}

fn restore_history(place: &Path, export: &[u8]) {
    let _ = Ran::of(git(place).args(["init", "-q", "-b", "main"]).output().expect("git")).exits(0);
    let mut import = git(place);
    let mut import =
        import.args(["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn().expect("git");
    let mut input = import.stdin.take().expect("an input");
    std::io::Write::write_all(&mut input, export).expect("written");
    drop(input);
    assert!(import.wait().expect("an end").success());
}

fn git(place: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(place);
    command
}
