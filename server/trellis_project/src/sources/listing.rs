//! Lists the Python sources and documents below a folder.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::Scope;

use super::disk::Stamp;
use super::rules::{RuleFiles, Rules, trap, unread, unread_rules};
use super::walk::{is_document, is_environment, is_left_out, is_source, relative};

/// Result of a walk.
#[derive(Default)]
pub(super) struct Listing {
    /// Paths relative to the root, with `/`, unordered.
    pub(super) files: Vec<(String, Stamp)>,
    /// Documents, in the same form.
    pub(super) documents: Vec<(String, Stamp)>,
    /// Unreadable places, as sentences.
    pub(super) problems: Vec<String>,
}

impl Listing {
    fn append(&mut self, mut other: Listing) {
        self.files.append(&mut other.files);
        self.documents.append(&mut other.documents);
        self.problems.append(&mut other.problems);
    }
}

/// Maximum size of a document, in bytes. Larger ones are data.
const LARGEST_DOCUMENT: u64 = 4 << 20;

/// Lists `.py` and `.pyi` files and documents below a root, which may be a file itself. Leaves out
/// git-ignored and hidden files, virtual environments and other folders of installed or generated
/// files. Symbolic links are not followed, so that no file appears twice. Calls `folder` for every
/// folder before its entries are read, and `file` for every source as it is found. Returns `None`
/// if the deadline passes first.
pub(super) fn list(
    root: &Path,
    deadline: Option<Instant>,
    folder: &(impl Fn(&Path) + Sync),
    file: &(impl Fn(&str, Stamp) + Sync),
) -> Option<Listing> {
    let problems = unread_rules(root);
    let found = Mutex::new(Listing { problems, ..Listing::default() });
    let walk = Walk { folder, file, deadline, is_late: AtomicBool::new(false), found };
    match fs::metadata(root) {
        Ok(it) if it.is_dir() => rayon::scope(|scope| walk.visit(Folder::root(root), scope)),
        Ok(_) => walk.note_root(root),
        Err(error) => walk.add_problem(format!("{}: {error}: skipped", root.display())),
    }
    let found = walk.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    (!walk.is_late.into_inner()).then_some(found)
}

/// Returns whether a walk from the root would find a file or folder; checks only the folders on the
/// way.
pub(super) fn lists(root: &Path, path: &Path) -> bool {
    let Ok(inner) = path.strip_prefix(root) else { return false };
    let mut folder = Folder::root(root);
    let mut names = inner.components().peekable();
    while let Some(name) = names.next() {
        let name = name.as_os_str();
        folder.read_rules(RuleFiles::UNKNOWN);
        let Ok(kind) = fs::symlink_metadata(folder.path.join(name)).map(|it| it.file_type()) else {
            return false;
        };
        let fits = kind.is_dir() || kind.is_file() && names.peek().is_none();
        if !fits || !folder.includes(name, kind.is_dir()) {
            return false;
        }
        folder = folder.below(name);
        if trap(&folder.path).is_some() {
            return false;
        }
    }
    true
}

/// A folder on the way of a walk.
struct Folder {
    path: PathBuf,
    /// Path without symbolic links, which the rules of folders above the root need.
    real: PathBuf,
    /// Path relative to the root; `None` if it is not UTF-8.
    name: Option<String>,
    /// `None` if the walk ignores all rules.
    rules: Option<Rules>,
}

impl Folder {
    fn root(root: &Path) -> Folder {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let rules = unread_rules(root).is_empty().then(|| Rules::above(&real));
        Folder { path: root.to_owned(), real, name: Some(String::new()), rules }
    }

    fn below(&self, name: &OsStr) -> Folder {
        Folder {
            path: self.path.join(name),
            real: self.real.join(name),
            name: self.named(name),
            rules: self.rules.clone(),
        }
    }

    /// Returns the relative path of an entry; `None` if it is not UTF-8.
    fn named(&self, name: &OsStr) -> Option<String> {
        let (folder, name) = (self.name.as_deref()?, name.to_str()?);
        Some(if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") })
    }

    /// Adds the folder's own rules.
    fn read_rules(&mut self, files: RuleFiles) {
        if let (Some(rules), false) = (&mut self.rules, files.is_empty()) {
            *rules = rules.within(&self.real, files);
        }
    }

    /// Returns whether a walk includes an entry of the folder.
    fn includes(&self, name: &OsStr, is_folder: bool) -> bool {
        let ignores = |it: &Rules| it.ignores(|| self.real.join(name), is_folder);
        let is_ignored = || self.rules.as_ref().is_some_and(ignores);
        let is_environment = || is_folder && is_environment(&self.path.join(name));
        !is_left_out(name) && !is_ignored() && !is_environment()
    }
}

/// One walk, shared by its threads.
struct Walk<'w, V, F> {
    folder: &'w V,
    file: &'w F,
    deadline: Option<Instant>,
    is_late: AtomicBool,
    found: Mutex<Listing>,
}

impl<V: Fn(&Path) + Sync, F: Fn(&str, Stamp) + Sync> Walk<'_, V, F> {
    /// Lists a folder, and those below it on other threads.
    fn visit<'s>(&'s self, mut folder: Folder, scope: &Scope<'s>) {
        if self.is_late() {
            return;
        }
        (self.folder)(&folder.path);
        let (entries, files) = match entries(&folder.path) {
            Ok(read) => read,
            Err(error) => return self.skip(&folder.path, &error),
        };
        let is_root = folder.name.as_deref() == Some("");
        if let Some(trap) = (!is_root && !files.is_empty()).then(|| trap(&folder.path)).flatten() {
            return self.add_problem(format!("{}: skipped", unread(&trap)));
        }
        folder.read_rules(files);
        let mut found = Listing::default();
        for entry in entries {
            match entry.file_type() {
                Ok(it) if it.is_dir() => self.descend(&folder, &entry.file_name(), scope),
                Ok(it) if it.is_file() => self.note(&folder, &entry, &mut found),
                _ => {}
            }
        }
        self.lock().append(found);
    }

    fn descend<'s>(&'s self, folder: &Folder, name: &OsStr, scope: &Scope<'s>) {
        if folder.includes(name, true) {
            let below = folder.below(name);
            scope.spawn(move |scope| self.visit(below, scope));
        }
    }

    fn note(&self, folder: &Folder, entry: &fs::DirEntry, found: &mut Listing) {
        let name = entry.file_name();
        let is_source = is_source(Path::new(&name));
        let is_listed = is_source || is_document(Path::new(&name));
        if !is_listed || !folder.includes(&name, false) {
            return;
        }
        let stamp = entry.metadata().map(|it| Stamp::of(&it));
        match (folder.named(&name), stamp) {
            (Some(path), Ok(stamp)) if is_source => {
                (self.file)(&path, stamp);
                found.files.push((path, stamp));
            }
            (Some(path), Ok(stamp)) if stamp.size <= LARGEST_DOCUMENT => {
                found.documents.push((path, stamp));
            }
            (Some(_), Ok(_)) => {}
            (None, _) => {
                let shown = entry.path();
                found.problems.push(format!("{}: its name is not UTF-8: skipped", shown.display()));
            }
            (_, Err(error)) => self.skip(&entry.path(), &error),
        }
    }

    /// Lists a root that is a file.
    fn note_root(&self, root: &Path) {
        match (relative(root, root), fs::symlink_metadata(root)) {
            (Some(name), Ok(it)) if is_source(root) => {
                (self.file)(&name, Stamp::of(&it));
                self.lock().files.push((name, Stamp::of(&it)));
            }
            _ => {}
        }
    }

    /// Records an unreadable place, unless it was removed between listing and reading.
    fn skip(&self, path: &Path, error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.add_problem(format!("{}: {error}: skipped", path.display()));
        }
    }

    fn add_problem(&self, problem: String) {
        self.lock().problems.push(problem);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Listing> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_late(&self) -> bool {
        if self.deadline.is_some_and(|it| Instant::now() >= it) {
            self.is_late.store(true, Ordering::Relaxed);
        }
        self.is_late.load(Ordering::Relaxed)
    }
}

/// Returns the entries of a folder, and which files of rules are among them.
fn entries(folder: &Path) -> io::Result<(Vec<fs::DirEntry>, RuleFiles)> {
    let mut files = RuleFiles::default();
    let entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.iter().for_each(|it| files.note(&it.file_name()));
    Ok((entries, files))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use ignore::WalkBuilder;
    use proptest::prelude::*;

    use super::super::walk::{is_source, is_wanted, paths, relative};
    use super::lists;

    const FOLDERS: [&str; 6] = ["", "a/", "a/b/", "a/build/", "c/env/", "c/.hidden/"];
    const FILES: [&str; 4] = ["x.py", "y.pyi", "build.py", "z.txt"];
    const RULES: [&str; 4] = [".gitignore", ".ignore", ".git/info/exclude", "pyvenv.cfg"];
    const LINES: [&str; 10] =
        ["build*", "!build.py", "/x.py", "a/b/", "b/*.py", "!x.py", "**/y.pyi", "*", "c/", "!a/"];

    /// Returns what the crate `ignore` lists, which is the model.
    fn model(root: &Path) -> Vec<String> {
        let mut walk = WalkBuilder::new(root);
        walk.require_git(false).filter_entry(is_wanted);
        let mut found: Vec<String> = walk
            .build()
            .filter_map(|it| it.ok())
            .filter(|it| is_source(it.path()) && it.file_type().is_some_and(|it| it.is_file()))
            .filter_map(|it| relative(root, it.path()))
            .collect();
        found.sort_unstable();
        found
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_walk_follows_the_rules_like_the_crate_that_reads_them(
            rules in prop::collection::vec(
                (0..FOLDERS.len(), 0..RULES.len(), prop::collection::vec(0..LINES.len(), 0..4)),
                0..6,
            ),
            root in prop_oneof![Just(""), Just("a")],
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            for (of, name) in FOLDERS.iter().flat_map(|of| FILES.iter().map(move |it| (of, it))) {
                write(&folder.path().join(of).join(name), "");
            }
            for (of, name, lines) in &rules {
                let text: String = lines.iter().map(|it| format!("{}\n", LINES[*it])).collect();
                write(&folder.path().join(FOLDERS[*of]).join(RULES[*name]), &text);
            }
            let root = folder.path().join(root);
            let wanted = model(&root);
            prop_assert_eq!(paths(&root), wanted.clone());
            for (of, name) in FOLDERS.iter().flat_map(|of| FILES.iter().map(move |it| (of, it))) {
                let path = folder.path().join(of).join(name);
                if is_source(&path) {
                    let is_listed = relative(&root, &path).is_some_and(|it| wanted.contains(&it));
                    prop_assert_eq!(lists(&root, &path), is_listed, "{}", path.display());
                }
            }
        }
    }
}
