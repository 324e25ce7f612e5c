//! The marked cases of `fixtures/python`: every reference, every rename, every refusal.

#![allow(clippy::disallowed_methods, reason = "the cases lie in files")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use trellis_python::{FileId, Index, Outline, Rename, RenameRefused, TextSource, Words};

struct NoTexts;

impl TextSource for NoTexts {
    fn read(&self, _path: &str) -> Option<Arc<str>> {
        None
    }
}

/// File, line, column; from 1, columns in characters.
type Spot = (String, usize, usize);

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/python")
}

fn python_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.extension() {
            _ if path.is_dir() => python_files(&path, found),
            Some(ending) if ending == "py" || ending == "pyi" => found.push(path),
            _ => {}
        }
    }
}

fn project(name: &str) -> Index {
    let root = fixtures().join(name);
    let mut files = Vec::new();
    python_files(&root, &mut files);
    files.sort();
    let mut index = Index::new(Arc::new(NoTexts));
    for path in files {
        let bytes = fs::read(&path).unwrap();
        // The one file that is not UTF-8 declares Latin-1, in which bytes are characters.
        let latin =
            |it: std::string::FromUtf8Error| it.into_bytes().into_iter().map(char::from).collect();
        let text = String::from_utf8(bytes).unwrap_or_else(latin);
        let text = text.trim_start_matches('\u{feff}');
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        index.put(&name, Words::of(text), Some(text.into()));
    }
    index
}

fn spot(value: &Value) -> Spot {
    let number = |at: usize| value[at].as_u64().unwrap() as usize;
    (value[0].as_str().unwrap().to_owned(), number(1), number(2))
}

fn spots(value: &Value) -> BTreeSet<Spot> {
    value.as_array().into_iter().flatten().map(spot).collect()
}

fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    start + text[start..].chars().take(column - 1).map(char::len_utf8).sum::<usize>()
}

fn spot_of(index: &Index, file: FileId, at: usize) -> Spot {
    let text = index.text(file).unwrap();
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |it| it + 1);
    let column = before[start..].chars().count() + 1;
    (index.path(file).to_owned(), before.matches('\n').count() + 1, column)
}

fn difference(found: &BTreeSet<Spot>, truth: &BTreeSet<Spot>) -> String {
    let missing: Vec<_> = truth.difference(found).collect();
    let surplus: Vec<_> = found.difference(truth).collect();
    format!("missing {missing:?}, surplus {surplus:?}")
}

fn renamed(
    index: &Index,
    file: FileId,
    at: usize,
    to: &str,
) -> Result<BTreeSet<Spot>, RenameRefused> {
    let rename = index.rename(file, at, to)?;
    let places =
        rename.edits.iter().flat_map(|(file, ranges)| ranges.iter().map(|it| (*file, it.start)));
    Ok(places.map(|(file, at)| spot_of(index, file, at)).collect())
}

/// Returns the differences between one case and the answers of the index.
fn faults(index: &Index, case: &Value) -> Vec<String> {
    let id = case["id"].as_str().unwrap();
    let (path, line, column) = spot(&case["at"]);
    let file = index.file(&path).unwrap_or_else(|| panic!("{id}: no {path}"));
    let at = offset(&index.text(file).unwrap(), line, column);
    let mut faults = Vec::new();
    let truth = spots(&case["references"]);
    if !case["references"].is_null() {
        let answer = index.references(file, at);
        let all = answer.as_ref().map_or(&[][..], |it| &it.found);
        let of = |certain: bool| -> BTreeSet<Spot> {
            let chosen = all.iter().filter(|it| it.uncertainty.is_none() == certain);
            chosen.map(|it| spot_of(index, it.place.file, it.place.range.start)).collect()
        };
        if of(true) != truth {
            faults.push(format!("{id}: references {}", difference(&of(true), &truth)));
        }
        if !spots(&case["possible"]).is_subset(&of(false)) {
            faults.push(format!(
                "{id}: possible {}",
                difference(&of(false), &spots(&case["possible"]))
            ));
        }
    }
    let rename = &case["rename"];
    if let Some(to) = rename["to"].as_str() {
        let answer = renamed(index, file, at, to);
        let edits = if rename["edits"].is_null() { truth } else { spots(&rename["edits"]) };
        match (answer, rename["refused"].as_str()) {
            (Ok(_), Some(why)) => {
                faults.push(format!("{id}: rename to {to} is not refused ({why})"))
            }
            (Ok(found), None) if found != edits => {
                faults.push(format!("{id}: rename {}", difference(&found, &edits)));
            }
            (Err(error), None) => faults.push(format!("{id}: rename to {to} is refused: {error}")),
            _ => {}
        }
    }
    faults
}

#[test]
fn every_marked_case_is_exact() {
    let cases: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(fixtures().join("cases.json")).unwrap()).unwrap();
    let mut projects: BTreeMap<&str, Index> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in &cases {
        let name = case["project"].as_str().unwrap();
        let index = projects.entry(name).or_insert_with(|| project(name));
        wrong.extend(faults(index, case));
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Returns the index after a rename.
fn after(index: &Index, rename: &Rename) -> Index {
    let mut after = index.clone();
    for (file, ranges) in &rename.edits {
        let mut text = index.text(*file).unwrap().to_string();
        ranges.iter().rev().for_each(|it| text.replace_range(it.clone(), &rename.to));
        after.put(index.path(*file), Words::of(&text), Some(text.into()));
    }
    after
}

/// Returns an offset of the first file after a rename.
fn moved(rename: &Rename, file: FileId, at: usize) -> usize {
    let ranges = rename.edits.iter().find(|(it, _)| *it == file).map_or(&[][..], |(_, it)| it);
    let before = ranges.iter().filter(|it| it.end <= at).count();
    at + before * rename.to.len() - before * rename.from.len()
}

#[test]
fn a_rename_there_and_back_is_the_identity_and_breaks_no_file() {
    let cases: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(fixtures().join("cases.json")).unwrap()).unwrap();
    let mut projects: BTreeMap<&str, Index> = BTreeMap::new();
    let mut done = 0;
    for case in &cases {
        let name = case["project"].as_str().unwrap();
        let index = projects.entry(name).or_insert_with(|| project(name));
        let (path, line, column) = spot(&case["at"]);
        let file = index.file(&path).unwrap();
        let at = offset(&index.text(file).unwrap(), line, column);
        let Some(to) = case["rename"]["to"].as_str() else { continue };
        let Ok(there) = index.rename(file, at, to) else { continue };
        let changed = after(index, &there);
        for (file, _) in &there.edits {
            let errors = |index: &Index| Outline::of(&index.text(*file).unwrap()).errors.len();
            assert!(errors(&changed) <= errors(index), "{}: {}", case["id"], index.path(*file));
        }
        let back = changed.rename(file, moved(&there, file, at), &there.from);
        let back = back.unwrap_or_else(|error| panic!("{}: {error}", case["id"]));
        let again = after(&changed, &back);
        for (file, _) in &there.edits {
            assert_eq!(again.text(*file), index.text(*file), "{}", case["id"]);
        }
        done += 1;
    }
    assert!(done > 300, "{done}");
}
