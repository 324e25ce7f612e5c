//! Property test: after any history of a folder, its index equals that of a fresh scan.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use trellis_python::{Index, NamePath};

use super::{PATIENCE, Unsearched, Workspace, unsearched};

/// Action of a person or a program on a served folder.
#[derive(Clone, Debug)]
enum Step {
    Write(usize, usize),
    Delete(usize),
    Move(usize, usize),
    MoveFolder,
    Ignore(bool),
    Open(usize, usize),
    Close(usize),
    /// Prepares outlines and the table of names.
    Prepare,
    /// The server ends, and another one starts from its cache.
    Restart,
}

const PATHS: [&str; 8] = [
    "a.py",
    "pkg/a.py",
    "pkg/b.pyi",
    "pkg/sub/c.py",
    "other/a.py",
    "README.md",
    "setup.cfg",
    "other/guide.rst",
];
const TEXTS: [&str; 7] = [
    "",
    "def total(): ...\n",
    "class Cart:\n    def total(self): ...\n    size = 1\n",
    "class Cart:\n    def tOtal(self): ...\n    size = 2\n",
    "\u{feff}d\u{e9}j\u{e0} = total\r\nclass Broken(\n",
    "Total = TOTAL = 1\n",
    "[tool]\nentry = a:total\n\n`total`\n",
];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (path, text) = (0..PATHS.len(), 0..TEXTS.len());
    let step = prop_oneof![
        4 => (path.clone(), text.clone()).prop_map(|(path, text)| Step::Write(path, text)),
        1 => path.clone().prop_map(Step::Delete),
        1 => (path.clone(), path.clone()).prop_map(|(from, to)| Step::Move(from, to)),
        1 => Just(Step::MoveFolder),
        1 => any::<bool>().prop_map(Step::Ignore),
        2 => (path.clone(), text).prop_map(|(path, text)| Step::Open(path, text)),
        1 => path.prop_map(Step::Close),
        1 => Just(Step::Prepare),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..12)
}

/// Returns everything an index knows, by path.
fn all(index: &Index) -> Vec<String> {
    let symbol = |it: &trellis_python::Located| {
        let symbol = &index.outline(it.file).symbols[it.symbol];
        format!("{} {symbol:?}", index.path(it.file))
    };
    let known = |it| format!("{} {:?} {:?}", index.path(it), index.words(it), index.text(it));
    let mut files: Vec<String> = index.files().map(known).collect();
    files.sort();
    let mut documents: Vec<String> = index.documents().map(known).collect();
    documents.sort();
    files.append(&mut documents);
    let total = NamePath::parse("total").expect("a name path");
    for found in [
        index.workspace_symbols("", usize::MAX),
        index.workspace_symbols("tot", 2),
        index.workspace_symbols("\u{c9}J", 9),
        index.find(&total, false, &[]),
        index.find(&total, true, &[trellis_python::SymbolKind::Method]),
    ] {
        files.extend(found.iter().map(symbol));
        files.push("-".to_owned());
    }
    files
}

fn take(step: &Step, root: &Path, workspace: &mut Workspace, open: &mut Vec<(usize, usize)>) {
    let at = |path: usize| root.join(PATHS[path]);
    // Missing files cannot be moved or deleted; such errors are ignored.
    match step {
        Step::Write(path, text) => {
            let path = at(*path);
            let _ = fs::create_dir_all(path.parent().expect("a folder"));
            let _ = fs::write(path, TEXTS[*text]);
        }
        Step::Delete(path) => drop(fs::remove_file(at(*path))),
        Step::Move(from, to) => drop(fs::rename(at(*from), at(*to))),
        Step::MoveFolder => {
            let _ = fs::rename(root.join("other"), root.join("away"))
                .or_else(|_| fs::rename(root.join("away"), root.join("other")))
                .or_else(|_| fs::rename(root.join("pkg"), root.join("other")));
        }
        Step::Ignore(some) => {
            let rules = if *some { "sub/\nb.pyi\n" } else { "" };
            fs::write(root.join(".gitignore"), rules).expect("a file");
        }
        Step::Open(path, text) => {
            open.retain(|(it, _)| it != path);
            open.push((*path, *text));
            workspace.set_open(PATHS[*path], TEXTS[*text].into());
        }
        Step::Close(path) => {
            open.retain(|(it, _)| it != path);
            workspace.close(PATHS[*path]);
        }
        Step::Prepare => workspace.snapshot().index.prepare(|| true),
        Step::Restart => {
            workspace.finish();
            *workspace = Workspace::serve(root).expect("a folder");
            open.iter()
                .for_each(|(path, text)| workspace.set_open(PATHS[*path], TEXTS[*text].into()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_any_steps_the_index_is_that_of_a_fresh_look(steps in steps()) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        // With `.trellis` in the project, the cache is placed there.
        fs::create_dir(root.join(".trellis")).expect("a folder");
        let mut workspace = Workspace::serve(root).expect("a folder");
        let mut open = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            take(step, root, &mut workspace, &mut open);
            workspace.refresh(PATIENCE);
            // A fresh start without the cache, with all files in the order of their paths.
            let hidden = (root.join(".trellis"), folder.path().with_extension("cache"));
            let moved = fs::rename(&hidden.0, &hidden.1).is_ok();
            let mut fresh = Workspace::open(root).expect("a folder");
            open.iter().for_each(|(path, text)| fresh.set_open(PATHS[*path], TEXTS[*text].into()));
            if moved {
                fs::rename(&hidden.1, &hidden.0).expect("a rename");
            }
            let (now, wanted) = (all(&workspace.snapshot().index), all(&fresh.snapshot().index));
            prop_assert_eq!(now, wanted, "after step {} of {:?}", number, steps);
        }
    }
}

#[test]
fn a_damaged_cache_is_as_good_as_none_and_a_change_that_looks_like_none_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.py");
    fs::write(&file, "one = 1\n").expect("a file");
    fs::create_dir(folder.path().join(".trellis")).expect("a folder");
    Workspace::serve(folder.path()).expect("a folder").finish();
    let kept = folder.path().join(".trellis/cache/sources");
    let whole = fs::read(&kept).expect("a cache");
    assert_eq!(
        fs::read_to_string(folder.path().join(".trellis/.gitignore")).expect("rules"),
        "*\n"
    );
    let names = || {
        let workspace = Workspace::open(folder.path()).expect("a folder");
        let index = workspace.snapshot().index;
        let found = index.workspace_symbols("", 9);
        found
            .iter()
            .map(|it| index.outline(it.file).symbols[it.symbol].name.clone())
            .collect::<Vec<_>>()
    };
    for at in [0, 9, 25, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&kept, &damaged).expect("a file");
        assert_eq!(names(), ["one"], "byte {at} is another one");
        fs::write(&kept, &whole[..at]).expect("a file");
        assert_eq!(names(), ["one"], "cut off at {at}");
    }
    fs::write(&kept, &whole).expect("a file");
    // Same size and time as before: only the text differs.
    let time = fs::metadata(&file).and_then(|it| it.modified()).expect("a time");
    fs::write(&file, "two = 2\n").expect("a file");
    fs::File::options()
        .write(true)
        .open(&file)
        .and_then(|it| it.set_modified(time))
        .expect("a time");
    assert_eq!(names(), ["two"]);
}

/// Documents are as fresh as the sources.
#[test]
fn documents_are_read_again_when_they_change() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.py"), "def total(): ...\n").unwrap();
    let readme = folder.path().join("README.md");
    fs::write(&readme, "`other`").unwrap();
    let mut workspace = Workspace::serve(folder.path()).unwrap();
    let mentions = |workspace: &mut Workspace| {
        workspace.refresh(PATIENCE);
        workspace.ask(|index| {
            let file = index.file("m.py").unwrap();
            index.references(file, 4).unwrap().found.len() - 1
        })
    };
    assert_eq!(mentions(&mut workspace), 0);
    fs::write(&readme, "`total` and `total`").unwrap();
    assert_eq!(mentions(&mut workspace), 2);
    fs::write(folder.path().join("guide.rst"), "``total``").unwrap();
    assert_eq!(mentions(&mut workspace), 3);
    fs::remove_file(&readme).unwrap();
    assert_eq!(mentions(&mut workspace), 1);
}

#[test]
fn files_that_are_not_searched_are_named_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(".gitignore", "build/\n");
    write("m.py", "def total(): ...\n");
    (0..5).for_each(|it| write(&format!("build/{it}.py"), "total()\n"));
    write("build/other.py", "nothing\n");
    write("run", "#!/usr/bin/env python3\ntotal()\n");
    write("shell", "#!/bin/sh\ntotal\n");
    write("conf.json", "{\"handler\": \"m.total\"}\n");
    write("labels.json", "{\"cart.total\": \"total\", \"m.total.x\": 1}\n");
    write(".github/scripts/release.py", "total()\n");
    write(".tox/py/lib.py", "total()\n");
    fs::write(folder.path().join("old.py"), b"# -*- coding: latin-1 -*-\ntotal('\xe9')\n").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("test_m.py"), "total()\n").unwrap();
    let link = |target: &Path, name: &str| {
        std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
    };
    link(elsewhere.path(), "tests");
    link(Path::new("m.py"), "alias.py");
    link(Path::new("."), "here");
    link(Path::new("gone.py"), "dangling.py");
    let workspace = Workspace::open(folder.path()).unwrap();
    let found = unsearched(folder.path(), &workspace.snapshot().index, "total");
    assert_eq!(
        found.doubts,
        [
            "build/0.py, build/1.py, build/2.py and 2 more: not searched, git ignores it, and `total` is a word there",
            "conf.json: not searched, it is JSON, and `total` is a word there",
            "alias.py, tests: not searched, it is a link, and `total` is a word there",
            ".github/scripts/release.py: not searched, it is hidden, and `total` is a word there",
            "old.py: not searched, it is not UTF-8, and `total` is a word there",
            "run: not searched, its name has no ending, and `total` is a word there",
        ]
    );
    let absent = unsearched(folder.path(), &workspace.snapshot().index, "absent");
    assert_eq!(absent, Unsearched::default());
}

/// A document that is not text has no names; a query must not wait for it to become text.
#[test]
fn documents_that_are_no_text_end_a_query() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.py"), "def total(): ...\n").unwrap();
    fs::write(folder.path().join("data.toml"), b"m.total \xff").unwrap();
    fs::write(folder.path().join("README.md"), b"`total` \xff").unwrap();
    let mut workspace = Workspace::serve(folder.path()).unwrap();
    let before = workspace.snapshot().misses();
    let found = workspace
        .ask(|index| index.references(index.file("m.py").unwrap(), 4).unwrap().found.len());
    assert_eq!((found, workspace.snapshot().misses()), (1, before));
}
