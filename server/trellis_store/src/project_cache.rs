//! Files in the user's cache: one per project, shared by all processes.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::disk::hash;
use crate::lock::Lock;
use crate::scratch;

/// Other users need not read names of code and tests.
const PRIVATE: u32 = 0o700;

/// A folder with one JSON file per project.
#[derive(Clone, Debug)]
pub struct ProjectCache(PathBuf);

impl ProjectCache {
    /// Returns the cache in a folder, which need not exist.
    pub fn of(folder: PathBuf) -> ProjectCache {
        ProjectCache(folder)
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Creates the folder.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub fn create(&self) -> io::Result<&Path> {
        DirBuilder::new().recursive(true).mode(PRIVATE).create(&self.0)?;
        Ok(&self.0)
    }

    /// Returns all files.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + use<> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == "json"))
    }

    /// Returns the file of a project.
    pub fn file(&self, root: &Path) -> PathBuf {
        self.0.join(format!("{}.json", &hash(root.to_string_lossy().as_bytes())[..32]))
    }

    /// Returns the time of a project's file; `None` if there is no file.
    pub fn time(&self, root: &Path) -> Option<SystemTime> {
        fs::metadata(self.file(root)).and_then(|it| it.modified()).ok()
    }

    /// Replaces the content of a project's file by what `change` makes of it; other processes wait
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn change<T: Serialize + DeserializeOwned>(
        &self,
        root: &Path,
        change: impl FnOnce(Option<T>) -> T,
    ) -> io::Result<T> {
        let folder = self.create()?;
        let _lock = Lock::wait_for(&folder.join("lock"))?;
        let file = self.file(root);
        let content = change(read(&file));
        let mut scratch = scratch::file_in(folder)?;
        scratch.write_all(&serde_json::to_vec(&content)?)?;
        scratch.persist(&file).map_err(|error| error.error)?;
        Ok(content)
    }
}

/// Returns the content of a file; `None` if there is none that can be read.
pub fn read<T: DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_slice(&trellis_os::files::read(file).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_project_has_a_file_which_changes_as_a_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = ProjectCache::of(folder.path().join("cache"));
        let (one, other) = (Path::new("/one"), Path::new("/other"));
        assert!(cache.time(one).is_none() && cache.files().next().is_none());
        let add = |it: Option<Vec<u32>>| [it.unwrap_or_default(), vec![1]].concat();
        assert_eq!(cache.change(one, add).expect("written"), [1]);
        assert_eq!(cache.change(one, add).expect("written"), [1, 1]);
        assert_eq!(cache.change(other, add).expect("written"), [1]);
        assert_eq!(read::<Vec<u32>>(&cache.file(one)), Some(vec![1, 1]));
        assert_eq!(cache.files().count(), 2);
        // What another version wrote counts as nothing.
        fs::write(cache.file(one), "{}").expect("written");
        assert_eq!(cache.change(one, add).expect("written"), [1]);
    }
}
