//! The present content of dependencies, as hashes; files are read again once they change.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trellis_project::sources::changed_at;
use trellis_python::{CodeBlocks, SyntaxError};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::dependency::{ABSENT, Dependency};

/// Names in a folder that come and go without anybody's doing.
const IGNORED: [&str; 5] = ["__pycache__", ".pytest_cache", ".trellis", ".git", ".coverage"];

/// Marks a state of a file: inode, size, and times of the last changes.
type Stamp = (u64, u64, i64, i64, i64, i64);

/// The blocks of a module, or the reason there are none.
pub(super) type Blocks = Result<CodeBlocks, SyntaxError>;

/// Contents below the root of a project.
#[derive(Debug)]
pub(super) struct DiskState {
    root: PathBuf,
    modules: HashMap<String, (Stamp, Blocks)>,
    files: HashMap<String, (Stamp, u64)>,
}

impl DiskState {
    pub(super) fn new(root: &Path) -> DiskState {
        DiskState { root: root.to_owned(), modules: HashMap::new(), files: HashMap::new() }
    }

    /// Returns the hash of a dependency; `None` if it is in a module with a syntax error. `sources`:
    /// the paths of all modules.
    pub(super) fn hash(
        &mut self,
        of: &Dependency,
        sources: &mut dyn Iterator<Item = &String>,
    ) -> Option<u64> {
        Some(match of {
            Dependency::Module(path) => match self.module(path) {
                None => ABSENT,
                Some(blocks) => blocks.as_ref().ok()?.module,
            },
            Dependency::Function(path, name) => match self.module(path) {
                None => ABSENT,
                Some(blocks) => {
                    let mut all = blocks.as_ref().ok()?.functions.iter();
                    all.find(|it| it.name == *name).map_or(ABSENT, |it| it.hash)
                }
            },
            Dependency::File(path) => self.file(path),
            Dependency::Folder(path) => names_hash(&self.root.join(path)),
            Dependency::Project => self.project(sources),
        })
    }

    /// Returns the blocks of a module; `None` if the file does not exist.
    pub(super) fn module(&mut self, path: &str) -> Option<&Blocks> {
        let file = self.root.join(path);
        let stamp = stamp(&fs::metadata(&file).ok().filter(Metadata::is_file)?);
        if self.modules.get(path).is_none_or(|it| it.0 != stamp) {
            let bytes = trellis_os::files::read(&file).unwrap_or_default();
            // A module in another encoding is one block.
            let whole = CodeBlocks { module: xxh3_64(&bytes), functions: Vec::new() };
            let blocks = std::str::from_utf8(&bytes).map_or(Ok(whole), CodeBlocks::of);
            self.modules.insert(path.to_owned(), (stamp, blocks));
        }
        self.modules.get(path).map(|it| &it.1)
    }

    /// Returns whether a file or folder may have changed since a time.
    pub(super) fn changed_since(&self, path: &str, time: SystemTime) -> bool {
        changed_at(&self.root.join(path)).is_some_and(|it| it > time)
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    fn file(&mut self, path: &str) -> u64 {
        let file = self.root.join(path);
        let Some(metadata) = fs::metadata(&file).ok().filter(Metadata::is_file) else {
            return ABSENT;
        };
        let stamp = stamp(&metadata);
        if let Some((_, hash)) = self.files.get(path).filter(|it| it.0 == stamp) {
            return *hash;
        }
        let Ok(bytes) = trellis_os::files::read(&file) else { return ABSENT };
        let hash = xxh3_64(&bytes);
        self.files.insert(path.to_owned(), (stamp, hash));
        hash
    }

    fn project(&mut self, sources: &mut dyn Iterator<Item = &String>) -> u64 {
        let mut all = Xxh3::new();
        for path in sources {
            all.update(path.as_bytes());
            match self.module(path) {
                None => {}
                Some(Ok(blocks)) => {
                    all.update(&blocks.module.to_le_bytes());
                    blocks.functions.iter().for_each(|it| all.update(&it.hash.to_le_bytes()));
                }
                // Most likely a sample that nothing loads.
                Some(Err(_)) => all.update(&self.file(path).to_le_bytes()),
            }
        }
        all.digest()
    }
}

fn stamp(it: &Metadata) -> Stamp {
    (it.ino(), it.size(), it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec())
}

fn names_hash(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return ABSENT };
    let names = entries.flatten().map(|it| it.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|it| !IGNORED.contains(&&**it)).collect();
    names.sort_unstable();
    xxh3_64(names.join("\0").as_bytes())
}
