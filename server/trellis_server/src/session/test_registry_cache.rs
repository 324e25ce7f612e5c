//! Known tests of functions, from the test registries of the projects around files.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use trellis_workflows::write_tests::registry::{self, Mapping, Registry};

/// Size and time of a registry.
type Stamp = (u64, SystemTime);

/// Test registries, read on demand and again when they change.
#[derive(Default)]
pub struct TestRegistryCache(Mutex<HashMap<PathBuf, (Stamp, Arc<Registry>)>>);

/// The tests of one function.
pub struct Tests {
    /// The folder that ids are relative to.
    pub root: PathBuf,
    /// pytest ids.
    pub ids: Vec<String>,
    /// Last status, such as `passed`.
    pub status: Option<String>,
}

/// The registry around a file.
pub struct Registered {
    root: PathBuf,
    /// The file's path below the root.
    path: String,
    registry: Arc<Registry>,
}

impl Registered {
    /// Returns the known tests of a function of the file, such as `Class.method`.
    pub fn tests(&self, function: &str) -> Option<Tests> {
        let mapping = self.registry.get(&format!("{}::{function}", self.path))?;
        let Mapping { test_file, test_names, last_run, .. } = mapping;
        let ids: Vec<String> = test_names.iter().map(|it| format!("{test_file}::{it}")).collect();
        let status = last_run.map(|it| it.status);
        (!ids.is_empty()).then(|| Tests { root: self.root.clone(), ids, status })
    }
}

impl TestRegistryCache {
    /// Returns the nearest registry around a file.
    pub fn around(&self, file: &Path) -> Option<Registered> {
        let root = file.ancestors().skip(1).find(|it| it.join(registry::PATH).is_file())?;
        let path = file.strip_prefix(root).ok()?.to_str()?.to_owned();
        Some(Registered { root: root.to_owned(), path, registry: self.at(root)? })
    }

    fn at(&self, root: &Path) -> Option<Arc<Registry>> {
        let found = fs::metadata(root.join(registry::PATH)).ok()?;
        let stamp = (found.len(), found.modified().ok()?);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, registry)) = known.get(root).filter(|(before, _)| *before == stamp) {
            return Some(registry.clone());
        }
        let shown = root.display();
        let say = |why: &dyn std::fmt::Display| {
            tracing::warn!("{shown}: {why}; its tests are not shown");
        };
        let (registry, warning) = registry::read(root).map_err(|fault| say(&fault)).ok()?;
        warning.iter().for_each(|it| say(it));
        let registry = Arc::new(registry);
        known.insert(root.to_owned(), (stamp, registry.clone()));
        Some(registry)
    }
}
