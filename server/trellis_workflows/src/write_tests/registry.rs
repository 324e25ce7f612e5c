//! `.trellis/registry.json`: the tests of each function, and the result of their last run.
//!
//! Editors and other programs share the file. Unknown fields are kept, an unreadable file is kept
//! aside, and the file is written completely or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use trellis_python::Functions;

use crate::fault::Fault;
use crate::llm_session::no_journal;
use trellis_store::error::StoreError;
use trellis_store::journal::Journal;
use trellis_store::lock::Lock;
use trellis_store::{disk, fault_point};

/// Path of the file, below the project's root.
pub const PATH: &str = ".trellis/registry.json";
/// Version of the file's format.
const VERSION: u64 = 1;

/// Returns the tests of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// Path of the test file, below the root.
    pub test_file: String,
    /// Names such as `test_a` and `TestCart::test_b`.
    pub test_names: Vec<String>,
    /// Time of generation, in RFC 3339.
    pub generated_at: String,
    pub last_run: Option<LastRun>,
    /// Hashes of the generated definitions by name. A definition whose text differs was edited.
    pub items: BTreeMap<String, String>,
}

/// Result of the last run of a function's tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastRun {
    /// `passed`, `failed` or another outcome.
    pub status: String,
    /// Time of the run, in RFC 3339.
    pub run_at: String,
}

impl LastRun {
    /// Creates the record of a run that ended now.
    pub fn now(status: &str) -> LastRun {
        LastRun { status: status.to_owned(), run_at: now() }
    }
}

/// Returns the current time in the registry's format.
pub fn now() -> String {
    let now = Timestamp::now();
    now.round(jiff::Unit::Second).unwrap_or(now).to_string()
}

/// The registry of a project.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    document: Map<String, Value>,
}

impl Registry {
    /// Returns every function with existing tests, by `path::function`.
    pub fn mappings(&self) -> BTreeMap<String, Mapping> {
        let all = self.document.get("mappings").and_then(Value::as_object);
        let read = |(key, it): (&String, &Value)| Some((key.clone(), mapping(it)?));
        all.into_iter().flatten().filter_map(read).collect()
    }

    /// Returns the tests of one function.
    pub fn get(&self, key: &str) -> Option<Mapping> {
        mapping(self.document.get("mappings")?.get(key)?)
    }

    /// Sets the tests of a function; other fields of its entry stay.
    pub fn put(&mut self, key: &str, mapping: &Mapping) {
        let entry = self.entry(key);
        entry.insert("testFile".to_owned(), json!(mapping.test_file));
        entry.insert("testNames".to_owned(), json!(mapping.test_names));
        entry.insert("generatedAt".to_owned(), json!(mapping.generated_at));
        if let Some(run) = &mapping.last_run {
            entry.insert("lastRun".to_owned(), last_run(entry.get("lastRun"), run));
        }
        entry.insert("items".to_owned(), json!(mapping.items));
    }

    /// Sets the last run of a function's tests. Functions without tests are ignored.
    pub fn set_last_run(&mut self, key: &str, run: &LastRun) {
        if self.get(key).is_some() {
            let entry = self.entry(key);
            entry.insert("lastRun".to_owned(), last_run(entry.get("lastRun"), run));
        }
    }

    fn entry(&mut self, key: &str) -> &mut Map<String, Value> {
        let mappings = object(self.document.entry("mappings").or_insert(Value::Null));
        object(mappings.entry(key).or_insert(Value::Null))
    }

    /// Drops functions whose tests no longer exist.
    fn prune(&mut self, root: &Path) {
        let mut known: BTreeMap<String, Option<Vec<String>>> = BTreeMap::new();
        for (key, mapping) in self.mappings() {
            let file = mapping.test_file.clone();
            let names = known.entry(file).or_insert_with(|| tests_in(root, &mapping.test_file));
            let is_there = names
                .as_ref()
                .is_none_or(|all| mapping.test_names.iter().any(|name| all.contains(name)));
            if !is_there && let Some(all) = self.document.get_mut("mappings") {
                object(all).shift_remove(&key);
            }
        }
    }
}

fn last_run(before: Option<&Value>, run: &LastRun) -> Value {
    let mut out = before.and_then(Value::as_object).cloned().unwrap_or_default();
    out.insert("status".to_owned(), json!(run.status));
    out.insert("runAt".to_owned(), json!(run.run_at));
    Value::Object(out)
}

/// Returns the object in a value, which becomes an empty object if it is anything else.
fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().unwrap_or_else(|| unreachable!("it became one"))
}

fn mapping(value: &Value) -> Option<Mapping> {
    let text = |it: &Value| it.as_str().map(str::to_owned);
    let names = value["testNames"].as_array()?.iter().filter_map(text).collect();
    let run = || {
        let run = value.get("lastRun")?;
        Some(LastRun { status: text(&run["status"])?, run_at: text(&run["runAt"])? })
    };
    let items = value.get("items").and_then(Value::as_object);
    let items =
        items.into_iter().flatten().filter_map(|(name, it)| Some((name.clone(), text(it)?)));
    Some(Mapping {
        test_file: text(&value["testFile"])?,
        test_names: names,
        generated_at: text(&value["generatedAt"]).unwrap_or_default(),
        last_run: run(),
        items: items.collect(),
    })
}

/// Returns the names of all functions in a test file; `None` if the file exists but cannot be read.
fn tests_in(root: &Path, path: &str) -> Option<Vec<String>> {
    match trellis_os::files::read_text(root.join(path)) {
        Ok(text) => {
            let named = |it: trellis_python::Function| it.qualified_name.replace('.', "::");
            Some(Functions::of(&text).functions.into_iter().map(named).collect())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Vec::new()),
        Err(_) => None,
    }
}

/// Reads the current registry of a project, without functions whose tests are gone, and a warning
/// if the file was unreadable. Writes nothing.
pub fn read(root: &Path) -> Result<(Registry, Option<String>), Fault> {
    let (mut registry, corrupt) = load(root)?;
    registry.prune(root);
    Ok((
        registry,
        corrupt.map(|why| format!("{PATH} cannot be read ({why}): Trellis treats it as empty")),
    ))
}

/// Returns existing files with generated tests, below the root. Plain pytest does not find them if
/// the project's settings name other folders.
pub fn test_files(root: &Path) -> Vec<String> {
    // A fault of the file is reported where tests are generated and listed.
    let mappings = read(root).map(|(registry, _)| registry.mappings()).unwrap_or_default();
    let files: BTreeSet<String> = mappings.into_values().map(|it| it.test_file).collect();
    files.into_iter().collect()
}

/// Records the outcomes of tests, by their ids. A function of which some tests ran gets `failed` if
/// any of these failed. Skipped tests prove nothing: with them, `failed` remains. A project without
/// a registry gets none.
pub fn record_outcomes(root: &Path, outcomes: BTreeMap<String, String>) -> Result<(), Fault> {
    if !root.join(PATH).exists() {
        return Ok(());
    }
    let change = |registry: &mut Registry| {
        for (key, mapping) in registry.mappings() {
            let of_test = |name: &String| {
                let id = format!("{}::{name}", mapping.test_file);
                let is_it = |it: &str| it == id || it.starts_with(&format!("{id}["));
                outcomes
                    .iter()
                    .filter(move |(it, _)| is_it(it))
                    .map(|(_, outcome)| outcome.clone())
                    .collect()
            };
            let ran: Vec<String> =
                mapping.test_names.iter().flat_map(|it| -> Vec<String> { of_test(it) }).collect();
            let has_failed = mapping.last_run.is_some_and(|it| it.status == "failed");
            let is_good = |it: &String| it == "passed" || (it == "skipped" && !has_failed);
            let passed = ran.iter().all(is_good);
            if !ran.is_empty() {
                registry
                    .set_last_run(&key, &LastRun::now(if passed { "passed" } else { "failed" }));
            }
        }
        Ok(())
    };
    update(root, change).map(drop)
}

/// Changes the registry under its lock; an error of `change` leaves it as it is. Also returns a
/// warning if the file was unreadable.
pub fn update<T>(
    root: &Path,
    change: impl FnOnce(&mut Registry) -> Result<T, Fault>,
) -> Result<(T, Option<String>), Fault> {
    let cannot = |e: io::Error| {
        Fault::internal(format!("cannot write {PATH} in {}: {e}", root.display()))
            .hint("make the folder writable, or free some space")
    };
    if let Some(link) = disk::symlink_on_the_way(root, PATH) {
        return Err(StoreError::SymbolicLink { path: PATH.to_owned(), link }.into());
    }
    disk::ensure(root).map_err(cannot)?;
    let lock = root.join(".trellis/registry.lock");
    let _lock = Lock::wait_for(&lock).map_err(cannot)?;
    Journal::refuse_newer(root).map_err(no_journal)?;
    let (mut registry, corrupt) = load(root)?;
    registry.prune(root);
    let result = change(&mut registry)?;
    let warning = match corrupt {
        Some(why) => {
            let aside = put_aside(root).map_err(cannot)?;
            let aside = aside.display();
            Some(format!(
                "{PATH} could not be read ({why}): Trellis keeps it as {aside} and starts a new \
                 one"
            ))
        }
        None => None,
    };
    if registry.document.insert("version".to_owned(), json!(VERSION)).is_none() {
        // The version comes first, because people read the file and the version tells how to read
        // the rest.
        registry.document.shift_insert(0, "version".to_owned(), json!(VERSION));
    }
    registry.document.entry("mappings").or_insert_with(|| json!({}));
    let text = format!("{:#}\n", Value::Object(registry.document));
    disk::write(root, PATH, &text).map_err(cannot)?;
    Ok((result, warning))
}

/// Loads the file, or an empty registry and the reason.
fn load(root: &Path) -> Result<(Registry, Option<String>), Fault> {
    let bytes = match trellis_os::files::read(root.join(PATH)) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Default::default()),
        Err(e) => {
            return Err(
                Fault::input(trellis_os::wording::cannot_read(PATH, &e)).hint("make it readable")
            );
        }
    };
    let document = match serde_json::from_slice::<Value>(&bytes) {
        Ok(Value::Object(document)) => document,
        Ok(_) => return Ok((Registry::default(), Some("it is not a JSON object".to_owned()))),
        Err(error) => return Ok((Registry::default(), Some(error.to_string()))),
    };
    match document.get("version").and_then(Value::as_u64) {
        Some(newer) if newer > VERSION => {
            Err(Fault::input(format!("{PATH} has version {newer}; this Trellis reads {VERSION}"))
                .hint("use the newer Trellis, or move the file away"))
        }
        _ => Ok((Registry { document }, None)),
    }
}

/// Moves an unreadable file to a free name.
fn put_aside(root: &Path) -> io::Result<PathBuf> {
    let name = |n: u32| PathBuf::from(format!("{PATH}.corrupt-{n}"));
    let free = (1..).map(name).find(|it| !root.join(it).exists()).unwrap_or_else(|| name(0));
    fault_point::reach()?;
    fs::rename(root.join(PATH), root.join(&free))?;
    Ok(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        root
    }

    fn some(names: &[&str]) -> Mapping {
        Mapping {
            test_file: "t/test_a.py".to_owned(),
            test_names: names.iter().map(|it| (*it).to_owned()).collect(),
            generated_at: "2026-01-01T00:00:00Z".to_owned(),
            last_run: Some(LastRun::now("passed")),
            items: BTreeMap::from([("test_x".to_owned(), "hash".to_owned())]),
        }
    }

    #[test]
    fn what_is_put_is_read_and_what_is_not_known_is_kept() {
        let before = r#"{"version": 1, "theirs": [1], "mappings": {"a.py::f": {"testFile": "t/test_a.py", "testNames": ["test_x"], "note": "n", "lastRun": {"status": "failed", "runAt": "x", "by": "me"}}}}"#;
        let root = project(&[
            ("t/test_a.py", "def test_x(): ...\nclass TestB:\n    def test_y(self): ...\n"),
            (PATH, before),
        ]);
        let put = |key: &str, it: &Mapping| {
            let ((), warning) = update(root.path(), |registry| {
                registry.put(key, it);
                Ok(())
            })
            .expect("written");
            assert_eq!(warning, None);
        };
        put("a.py::f", &some(&["test_x"]));
        put("a.py::g", &some(&["TestB::test_y"]));
        let (registry, _) = read(root.path()).expect("read");
        assert_eq!(
            registry.get("a.py::g").map(|it| it.test_names),
            Some(vec!["TestB::test_y".to_owned()])
        );
        assert_eq!(registry.get("a.py::f").map(|it| it.items), Some(some(&[]).items));
        let text = fs::read_to_string(root.path().join(PATH)).expect("a file");
        let document: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(document["theirs"], json!([1]));
        assert_eq!(document["mappings"]["a.py::f"]["note"], "n");
        assert_eq!(document["mappings"]["a.py::f"]["lastRun"]["by"], "me");
        assert_eq!(document["mappings"]["a.py::f"]["lastRun"]["status"], "passed");
    }

    #[test]
    fn functions_without_tests_are_dropped() {
        let root = project(&[("t/test_a.py", "def test_x(): ...\n")]);
        update(root.path(), |registry| {
            registry.put("a.py::f", &some(&["test_x", "test_gone"]));
            registry.put("a.py::g", &some(&["test_gone"]));
            registry.set_last_run("a.py::f", &LastRun::now("failed"));
            registry.set_last_run("a.py::nobody", &LastRun::now("failed"));
            Ok(())
        })
        .expect("written");
        let (registry, _) = read(root.path()).expect("read");
        assert_eq!(registry.mappings().keys().collect::<Vec<_>>(), ["a.py::f"]);
        let status = registry.get("a.py::f").and_then(|it| it.last_run).map(|it| it.status);
        assert_eq!(status.as_deref(), Some("failed"));
        fs::remove_file(root.path().join("t/test_a.py")).expect("removed");
        assert!(read(root.path()).expect("read").0.mappings().is_empty());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_kept_aside_and_a_newer_one_is_left_alone() {
        let root = project(&[(PATH, "{broken")]);
        let (registry, warning) = read(root.path()).expect("read");
        assert!(registry.mappings().is_empty() && warning.is_some());
        let failed = update(root.path(), |_| Err::<(), _>(Fault::input("no")));
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(root.path().join(PATH)).expect("still there"), "{broken");
        let ((), warning) = update(root.path(), |_| Ok(())).expect("written");
        assert!(warning.is_some_and(|it| it.contains("corrupt-1")));
        let aside = root.path().join(".trellis/registry.json.corrupt-1");
        assert_eq!(fs::read_to_string(aside).expect("aside"), "{broken");
        let newer = project(&[(PATH, r#"{"version": 2}"#)]);
        assert!(read(newer.path()).is_err() && update(newer.path(), |_| Ok(())).is_err());
    }
}
