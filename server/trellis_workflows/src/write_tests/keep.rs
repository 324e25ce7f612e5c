//! Writes generated tests that a person has looked at first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use trellis_store::disk;
use trellis_store::journal::{Event, Journal};
use trellis_store::origin::{Origin, Workflow};

use super::files::{existing, write};
use super::registry::{self, LastRun, Mapping};
use super::testpaths::TestPaths;
use crate::fault::{Fault, FaultKind};

/// Parts of generated tests that are needed to write them later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestDraft {
    /// SHA-256 of the test file's text that the tests were merged into; of the empty text for a new
    /// file.
    pub base_hash: String,
    /// Hashes of the generated definitions by name.
    pub items: BTreeMap<String, String>,
    /// Files that make the project's modules importable, by path; written where they are missing.
    pub support: BTreeMap<String, String>,
    /// Outcome of the run of the tests.
    pub outcome: String,
}

/// Generated tests to write.
#[derive(Clone, Debug)]
pub struct KeepRequest {
    pub root: PathBuf,
    /// The function: its file below the root, `::`, its name with its classes.
    pub function: String,
    /// The test file, below the root.
    pub path: String,
    /// Its whole text with the new tests.
    pub source: String,
    pub test_names: Vec<String>,
    pub draft: TestDraft,
}

/// Result of writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTests {
    /// Warnings for the user, as sentences.
    pub warnings: Vec<String>,
    /// The settings file whose `testpaths` leave the test file out.
    pub left_out_by: Option<String>,
}

/// Returns the hash of a text, as drafts have it.
pub(super) fn base_hash(text: &str) -> String {
    disk::hash(text)
}

/// Writes the test file, the missing files around it and the registry.
///
/// # Errors
///
/// The kind is `stale` if the test file has changed since the tests were merged into it, and
/// `outside` for a path that leaves the project. Nothing has been written then.
pub fn keep(request: &KeepRequest) -> Result<KeptTests, Fault> {
    let KeepRequest { root, path, .. } = request;
    for it in request.draft.support.keys().chain([path]) {
        check_inside(root, it)?;
    }
    trellis_python::check(&request.source).map_err(|why| {
        Fault::input(format!("{path} would be broken: {why}")).kind(FaultKind::Syntax)
    })?;
    let ((), warning) = registry::update(root, |registry| write_all(request, registry))?;
    journal(request)?;
    let paths = TestPaths::of(root).filter(|it| !it.contains(path));
    Ok(KeptTests {
        warnings: warning.into_iter().collect(),
        left_out_by: paths.map(|it| it.file.to_owned()),
    })
}

fn write_all(request: &KeepRequest, registry: &mut registry::Registry) -> Result<(), Fault> {
    let KeepRequest { root, path, draft, .. } = request;
    if base_hash(&existing(root, path)?) != draft.base_hash {
        return Err(Fault::input(format!("{path} has changed since the tests were generated"))
            .kind(FaultKind::Stale)
            .hint("generate the tests again; nothing was written"));
    }
    for (path, text) in &draft.support {
        if existing(root, path)?.is_empty() && !root.join(path).exists() {
            write(root, path, text)?;
        }
    }
    write(root, path, &request.source)?;
    let mapping = Mapping {
        test_file: path.clone(),
        test_names: request.test_names.clone(),
        generated_at: registry::now(),
        last_run: Some(LastRun::now(&draft.outcome)),
        items: draft.items.clone(),
    };
    registry.put(&request.function, &mapping);
    Ok(())
}

fn journal(request: &KeepRequest) -> Result<(), Fault> {
    let event = Event::TestsWritten {
        function: request.function.clone(),
        path: request.path.clone(),
        hash: disk::hash(&request.source),
        tests: request.test_names.clone(),
        outcome: request.draft.outcome.clone(),
    };
    let written = Journal::join(&request.root, Origin::create(Workflow::WriteTests))
        .and_then(|journal| journal.commit(event));
    written
        .map_err(|e| Fault::internal(format!("the tests are written, but the journal is not: {e}")))
}

fn check_inside(root: &Path, path: &str) -> Result<(), Fault> {
    let is_plain = |it: std::path::Component<'_>| matches!(it, std::path::Component::Normal(_));
    match Path::new(path).components().all(is_plain) && !path.is_empty() {
        true => Ok(()),
        false => Err(Fault::input(format!("{path:?} is not a path below {}", root.display()))
            .kind(FaultKind::Outside)
            .hint("nothing was written")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn request(root: &Path) -> KeepRequest {
        KeepRequest {
            root: root.to_owned(),
            function: "a.py::f".to_owned(),
            path: "t/test_a.py".to_owned(),
            source: "def test_f():\n    pass\n".to_owned(),
            test_names: vec!["test_f".to_owned()],
            draft: TestDraft {
                base_hash: base_hash(""),
                items: BTreeMap::new(),
                support: BTreeMap::from([("t/__init__.py".to_owned(), String::new())]),
                outcome: "passed".to_owned(),
            },
        }
    }

    #[test]
    fn accepted_tests_are_written_with_what_they_need() {
        let root = tempfile::tempdir().expect("a folder");
        let request = request(root.path());
        keep(&request).expect("written");
        let text = fs::read_to_string(root.path().join("t/test_a.py")).expect("a file");
        assert_eq!(text, request.source);
        assert!(root.path().join("t/__init__.py").is_file());
        let (registry, _) = registry::read(root.path()).expect("read");
        let mapping = registry.get("a.py::f").expect("an entry");
        assert_eq!(mapping.test_names, ["test_f"]);
        let log = fs::read_to_string(Journal::path(root.path())).expect("a journal");
        assert!(log.contains("a.py::f"), "{log}");
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_not_overwritten() {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir(root.path().join("t")).expect("a folder");
        fs::write(root.path().join("t/test_a.py"), "# mine\n").expect("a file");
        let fault = keep(&request(root.path())).expect_err("refused");
        assert_eq!(fault.kind, Some(FaultKind::Stale));
        let text = fs::read_to_string(root.path().join("t/test_a.py")).expect("a file");
        assert_eq!(text, "# mine\n");
        assert!(!root.path().join("t/__init__.py").exists());
    }

    #[test]
    fn no_path_leaves_the_project() {
        let root = tempfile::tempdir().expect("a folder");
        for path in ["../test_a.py", "/tmp/test_a.py", "t/../../test_a.py", ""] {
            let request = KeepRequest { path: path.to_owned(), ..request(root.path()) };
            let fault = keep(&request).expect_err("refused");
            assert_eq!(fault.kind, Some(FaultKind::Outside), "{path}");
        }
    }
}
