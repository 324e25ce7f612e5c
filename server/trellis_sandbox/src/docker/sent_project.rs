//! A project as an engine on another machine gets it: the difference of its entries with each order,
//! and contents by digest where they are missing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use trellis_os::files;

use super::store::Store;
use crate::{
    error::{FileAction, FileError, SendError},
    tree::is_left_out,
};

/// Maximum bytes of contents that travel with an order; more goes to the store of the engine.
const WITH_ORDER: u64 = 64 << 10;

/// Time in which two changes of a file may have the same time stamp.
const CLOSE: Duration = Duration::from_secs(2);

/// An entry of the project, as the worker reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Entry {
    File { mode: u32, modified: i64, size: u64, content: String, closed: bool },
    Link { mode: u32, modified: i64, content: String },
    Folder { mode: u32, modified: i64, closed: bool },
}

/// Facts that change whenever a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    /// Returns the identity; `None` if one more change could leave it as it is.
    fn lasting(status: &Metadata) -> Option<Identity> {
        let changed = Duration::new(
            u64::try_from(status.ctime()).ok()?,
            u32::try_from(status.ctime_nsec()).ok()?,
        );
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
        now.checked_sub(changed).filter(|it| *it > CLOSE)?;
        Some(Identity {
            device: status.dev(),
            inode: status.ino(),
            size: status.size(),
            modified: (status.mtime(), status.mtime_nsec()),
            changed: (status.ctime(), status.ctime_nsec()),
        })
    }
}

/// The project that one worker on an engine shows, as far as it was sent.
#[derive(Debug)]
pub(crate) struct SentProject {
    store: Store,
    /// Shared with the task that reads the files.
    sent: Arc<Mutex<SentEntries>>,
}

/// The entries that a worker has, and what is known of the files on disk.
#[derive(Debug)]
struct SentEntries {
    root: PathBuf,
    /// True if the packages of Node.js are sent.
    packages: bool,
    sent: BTreeMap<String, Entry>,
    /// Digests of files that have not changed since.
    read: BTreeMap<String, (Identity, String)>,
}

impl SentProject {
    pub(crate) fn new(root: &Path, packages: bool, store: Store) -> SentProject {
        let (sent, read) = (BTreeMap::new(), BTreeMap::new());
        let sent = SentEntries { root: root.to_owned(), packages, sent, read };
        SentProject { store, sent: Arc::new(Mutex::new(sent)) }
    }

    /// Returns the order that makes the worker's entries those on disk.
    pub(crate) async fn order(&self) -> Result<Value, SendError> {
        self.reading(SentEntries::order).await?
    }

    /// Returns the order that supplies `digests`: few contents travel with it, and more go to the
    /// store first. Contents that have changed on disk are supplied as what they are now.
    pub(crate) async fn supply(&self, digests: Vec<String>) -> Result<Value, SendError> {
        let contents = match self.reading(move |it| it.contents(&digests)).await? {
            Contents::Small(contents) => contents,
            Contents::Large(files) => {
                self.store.add(files).await?;
                Map::new()
            }
        };
        let mut order = self.order().await?;
        order["contents"] = contents.into();
        Ok(order)
    }

    /// Does work with files in a task of its own, since it may take long.
    async fn reading<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SentEntries) -> T + Send + 'static,
    ) -> Result<T, SendError> {
        let sent = self.sent.clone();
        let work = move || work(&mut sent.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(tokio::task::spawn_blocking(work).await?)
    }
}

/// Contents that a worker misses.
enum Contents {
    /// The contents themselves, by digest.
    Small(Map<String, Value>),
    /// The files with the contents, for the store.
    Large(Vec<PathBuf>),
}

impl SentEntries {
    /// Returns the order that makes the worker's entries those on disk.
    fn order(&mut self) -> Result<Value, SendError> {
        let mut found = BTreeMap::new();
        let top = fs::metadata(&self.root).map_err(FileError::of(FileAction::Read, &self.root))?;
        let mut waiting = vec![(self.root.clone(), String::new())];
        while let Some((folder, prefix)) = waiting.pop() {
            // Entries that cannot be read or have just been removed are not sent.
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(status) = entry.metadata() else { continue };
                let name = entry.file_name();
                if status.dev() != top.dev() || is_left_out(&name, status.is_dir(), self.packages) {
                    continue;
                }
                let path = entry.path();
                let name = name.to_str().ok_or(SendError::NotUnicode { path: path.clone() })?;
                let inner = format!("{prefix}{name}");
                let Some(sent) = self.entry(&path, &inner, &status)? else { continue };
                if matches!(sent, Entry::Folder { closed: false, .. }) {
                    waiting.push((path, format!("{inner}/")));
                }
                found.insert(inner, sent);
            }
        }
        self.read.retain(|path, _| found.contains_key(path));
        let gone: Vec<_> =
            self.sent.keys().filter(|it| !found.contains_key(*it)).cloned().collect();
        let set: Vec<_> =
            found.iter().filter(|(path, it)| self.sent.get(*path) != Some(it)).collect();
        let order = json!({ "op": "lay", "gone": gone, "set": set, "contents": {} });
        self.sent = found;
        Ok(order)
    }

    /// Returns the entry at `path`; `None` for a socket, pipe or device, and for what is gone.
    fn entry(
        &mut self,
        path: &Path,
        inner: &str,
        status: &Metadata,
    ) -> Result<Option<Entry>, SendError> {
        let mode = status.mode() & 0o777;
        let modified = status.mtime().wrapping_mul(1_000_000_000).wrapping_add(status.mtime_nsec());
        if status.is_symlink() {
            let Ok(target) = fs::read_link(path) else { return Ok(None) };
            let content = target.to_str().map(str::to_owned);
            let content =
                content.ok_or_else(|| SendError::LinkNotUnicode { path: path.to_owned() })?;
            return Ok(Some(Entry::Link { mode, modified, content }));
        }
        if status.is_dir() {
            let closed = fs::read_dir(path).is_err();
            return Ok(Some(Entry::Folder { mode, modified, closed }));
        }
        Ok(if status.is_file() { self.file(path, inner, status, mode, modified) } else { None })
    }

    /// Returns the entry of the file at `path`; `None` if it cannot be read any more.
    fn file(
        &mut self,
        path: &Path,
        inner: &str,
        status: &Metadata,
        mode: u32,
        modified: i64,
    ) -> Option<Entry> {
        let identity = Identity::lasting(status);
        let known = self.read.get(inner).filter(|(it, _)| Some(*it) == identity);
        let (size, content) = match known {
            Some((_, digest)) => (status.len(), digest.clone()),
            None => match files::read(path).map(|text| (text.len() as u64, digest(&text))) {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    let (size, content, closed) = (0, String::new(), true);
                    return Some(Entry::File { mode, modified, size, content, closed });
                }
                Err(_) => return None,
            },
        };
        if let Some(identity) = identity {
            self.read.insert(inner.to_owned(), (identity, content.clone()));
        }
        Some(Entry::File { mode, modified, size, content, closed: false })
    }

    /// Returns a file for each content that the worker misses, with its size.
    fn wanted(&self, digests: &[String]) -> Vec<(PathBuf, u64)> {
        let mut wanted: BTreeSet<&str> = digests.iter().map(String::as_str).collect();
        let files = self.sent.iter().filter_map(|(path, entry)| match entry {
            Entry::File { content, size, .. } if wanted.remove(content.as_str()) => {
                Some((self.root.join(path), *size))
            }
            _ => None,
        });
        files.collect()
    }

    /// Returns the contents of `digests`, or the files that hold them if they are large.
    fn contents(&self, digests: &[String]) -> Contents {
        let wanted = self.wanted(digests);
        if wanted.iter().map(|(_, size)| size).sum::<u64>() > WITH_ORDER {
            return Contents::Large(wanted.into_iter().map(|(path, _)| path).collect());
        }
        let texts = wanted.iter().filter_map(|(path, _)| files::read(path).ok());
        Contents::Small(texts.map(|it| (digest(&it), STANDARD.encode(it).into())).collect())
    }
}

/// Returns the digest as hexadecimal digits.
pub(super) fn digest(text: &[u8]) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
