//! Recordings of state: folders of projects, without what belongs to one machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest as _, Sha256};

use crate::world::{Ran, World, cache, repository};

/// Text of a repository's history, in place of `.git`, which git would not keep in a repository.
const HISTORY: &str = "git.export";
/// Takes the place of the dot at the beginning of a name, so that no `.gitignore` counts.
const DOT: &str = "dot.";
/// Names that are made again, or belong to one machine or process.
const LEFT_OUT: [&str; 9] =
    [".git", "home", "bin", "lock", "reserve", "tmp", "cache", "__pycache__", ".pytest_cache"];
/// Folders of the user's cache with one file per project, named after its path.
const CACHES: [&str; 2] = ["executions", "results"];
/// Takes the place of the path of a world.
const ROOT: &str = "{root}";
/// The folders below a world that may be projects.
const PLACES: [&str; 3] = ["", "out", "p"];

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
                // A worktree is checked out from the history.
                left.extend((!path.join(".git").is_file()).then_some(path));
                continue;
            }
            let relative = path.strip_prefix(root).expect("inside").display().to_string();
            out.insert(relative, fs::read(&path).expect("a file"));
        }
    }
    out
}

/// Records a project of this version, unless there is a recording.
pub(super) fn record(project: &str, world: &World) {
    let to = folder().join(env!("CARGO_PKG_VERSION")).join(project);
    if to.exists() {
        return;
    }
    let mut files = files(world.root());
    for below in PLACES.into_iter().filter(|it| world.root().join(it).is_dir()) {
        let place = world.root().join(below);
        let name = |it: &str| Path::new(below).join(it).display().to_string();
        if place.join(".git").exists() {
            let export = git(&place).args(["fast-export", "--all"]).output().expect("git");
            files.insert(name(HISTORY), export.stdout);
        }
        for (kind, file) in cached(&place) {
            if let Ok(text) = fs::read_to_string(file) {
                files.insert(name(&format!("cache.{kind}")), text.into_bytes());
            }
        }
    }
    for (path, bytes) in files {
        let names = path.split('/').map(|it| match it.strip_prefix('.') {
            Some(rest) => format!("{DOT}{rest}"),
            None => it.to_owned(),
        });
        let file = to.join(names.collect::<PathBuf>());
        fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        fs::write(file, replaced(bytes, &real(world.root()), ROOT)).expect("recorded");
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
        let place = file.parent().expect("a folder");
        fs::create_dir_all(place).expect("folders");
        let bytes = replaced(bytes, ROOT, &real(world.root()));
        let name = file.file_name().expect("a name").to_string_lossy();
        match (name.as_ref(), name.strip_prefix("cache.")) {
            (HISTORY, _) => restore_history(place, &bytes),
            (_, Some(kind)) => restore_cache(place, kind, &bytes),
            _ => fs::write(file, &bytes).expect("a file"),
        }
    }
    for below in PLACES {
        let place = world.root().join(below);
        if place.join(".git").exists() {
            let _ = Ran::of(git(&place).args(["reset", "-q"]).output().expect("git")).exits(0);
            restore_worktrees(&place);
        }
    }
    world
}

/// Replaces the path of a world in a text; other bytes stay.
fn replaced(bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    match String::from_utf8(bytes) {
        Ok(text) => text.replace(from, to).into_bytes(),
        Err(other) => other.into_bytes(),
    }
}

/// Returns the real path of a folder.
fn real(place: &Path) -> String {
    place.canonicalize().expect("a folder").display().to_string()
}

/// Returns the files of a project in the user's cache, by kind; they may not exist.
fn cached(place: &Path) -> [(&'static str, PathBuf); 2] {
    let digest = Sha256::digest(real(place));
    let digits: String = digest.iter().take(16).map(|it| format!("{it:02x}")).collect();
    CACHES.map(|kind| (kind, cache().join(kind).join(format!("{digits}.json"))))
}

fn restore_cache(place: &Path, kind: &str, bytes: &[u8]) {
    let file = cached(place).into_iter().find(|it| it.0 == kind).expect("a kind of cache").1;
    fs::create_dir_all(file.parent().expect("a folder")).expect("a cache");
    fs::write(file, bytes).expect("a file");
}

/// Checks out the branches that Trellis works on in worktrees.
fn restore_worktrees(place: &Path) {
    let list = ["for-each-ref", "--format=%(refname:short)", "refs/heads/trellis/"];
    let all = git(place).args(list).output().expect("git");
    for branch in String::from_utf8_lossy(&all.stdout).lines() {
        let name = branch.strip_prefix("trellis/").expect("a branch of Trellis");
        let to = format!(".trellis/worktrees/{name}");
        let added = git(place).args(["worktree", "add", "-q", &to, branch]).output();
        let _ = Ran::of(added.expect("git")).exits(0);
    }
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
