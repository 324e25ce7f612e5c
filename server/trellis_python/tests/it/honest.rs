//! Honest fixes of the seeded bugs in `fixtures/bugs`: none may be reported as a shortcut.

#![allow(clippy::disallowed_methods, reason = "the cases lie in files")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trellis_python::Examples;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/bugs")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Returns every Python file below a folder.
fn texts(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let texts = entries.flat_map(|path| match path.extension() {
        _ if path.is_dir() => texts(&path),
        Some(ending) if ending == "py" => vec![read(&path)],
        _ => Vec::new(),
    });
    texts.collect()
}

/// Returns each changed file of a case: path, broken text, fixed text.
fn fixes(case: &Value) -> Vec<(String, String, String)> {
    let root = fixtures().join("projects").join(case["project"].as_str().unwrap());
    let mut broken: BTreeMap<&str, String> = BTreeMap::new();
    for edit in case["edits"].as_array().into_iter().flatten() {
        let [path, search, replace] =
            ["path", "search", "replace"].map(|it| edit[it].as_str().unwrap());
        let text = broken.entry(path).or_insert_with(|| read(&root.join(path)));
        assert_eq!(text.matches(search).count(), 1, "{}: {search}", case["id"]);
        *text = text.replace(search, replace);
    }
    let fixed = |(path, text): (&str, String)| (path.to_owned(), text, read(&root.join(path)));
    broken.into_iter().filter(|it| it.0.ends_with(".py")).map(fixed).collect()
}

#[test]
fn nothing_is_reported_of_the_fixes_of_seeded_bugs() {
    let cases: Vec<Value> = serde_json::from_str(&read(&fixtures().join("cases.json"))).unwrap();
    let mut examples: BTreeMap<String, Examples> = BTreeMap::new();
    let (mut asked, mut reported) = (0, Vec::new());
    for case in &cases {
        let project = case["project"].as_str().unwrap().to_owned();
        let tests = fixtures().join("projects").join(&project).join("tests");
        let examples = examples.entry(project).or_insert_with(|| {
            let texts = texts(&tests);
            Examples::of(&texts.iter().map(String::as_str).collect::<Vec<_>>())
        });
        for (path, before, after) in fixes(case) {
            asked += 1;
            for it in examples.shortcuts(&before, &after) {
                reported.push(format!(
                    "{} {} {path}:{}: {}",
                    case["half"], case["id"], it.line, it.why
                ));
            }
        }
    }
    assert!(asked > 40, "{asked}");
    assert!(reported.is_empty(), "{} of {asked}:\n{}", reported.len(), reported.join("\n"));
}
