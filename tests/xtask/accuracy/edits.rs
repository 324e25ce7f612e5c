//! Workspace edits in both forms of the protocol, and their application to texts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lsp::{Client, Place, Texts, path_of};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edit {
    pub(crate) start: Place,
    pub(crate) end: Place,
    pub(crate) text: String,
}

/// Returns the edits of a `WorkspaceEdit`, sorted.
///
/// # Errors
///
/// Created, renamed or removed files; invalid or overlapping ranges.
pub(crate) fn of(client: &Client, value: &Value, texts: &mut Texts) -> Result<Vec<Edit>, String> {
    let mut listed: Vec<(PathBuf, &Value)> = Vec::new();
    let path = |uri: &str| path_of(uri).ok_or_else(|| format!("{uri} is no file"));
    for (uri, edits) in value["changes"].as_object().into_iter().flatten() {
        let file = path(uri)?;
        listed.extend(edits.as_array().into_iter().flatten().map(|it| (file.clone(), it)));
    }
    let documents = value["documentChanges"].as_array();
    if documents.is_some() {
        listed.clear();
    }
    for change in documents.into_iter().flatten() {
        if let Some(kind) = change["kind"].as_str() {
            return Err(format!("it wants to {kind} a file"));
        }
        let file = path(change["textDocument"]["uri"].as_str().unwrap_or_default())?;
        let edits = change["edits"].as_array();
        listed.extend(edits.into_iter().flatten().map(|it| (file.clone(), it)));
    }
    let edit = |(file, value): (PathBuf, &Value)| {
        edit(client, file, value, texts)
            .ok_or_else(|| format!("an edit that makes no sense: {value}"))
    };
    let mut edits = listed.into_iter().map(edit).collect::<Result<Vec<Edit>, String>>()?;
    edits.sort();
    match edits.windows(2).find(|pair| pair[1].start < pair[0].end) {
        Some(pair) => Err(format!("two edits overlap: {:?}", pair[1].text)),
        None => Ok(edits),
    }
}

fn edit(client: &Client, file: PathBuf, value: &Value, texts: &mut Texts) -> Option<Edit> {
    let start = client.place(file.clone(), &value["range"]["start"], texts)?;
    let end = client.place(file, &value["range"]["end"], texts)?;
    let text = value["newText"].as_str()?.replace("\r\n", "\n");
    (start <= end).then_some(Edit { start, end, text })
}

/// Returns edits that replace a name at places.
pub(crate) fn plain(places: &BTreeSet<Place>, name: &str, to: &str) -> Vec<Edit> {
    let end = |it: &Place| Place { column: it.column + name.chars().count(), ..it.clone() };
    places.iter().map(|it| Edit { start: it.clone(), end: end(it), text: to.to_owned() }).collect()
}

/// Returns the texts of files after sorted, disjoint edits, with line ends as `\n`.
pub(crate) fn applied(edits: &[Edit], texts: &mut Texts) -> BTreeMap<PathBuf, String> {
    let mut out = BTreeMap::new();
    for group in edits.chunk_by(|a, b| a.start.file == b.start.file) {
        let file = &group[0].start.file;
        out.insert(file.clone(), rewritten(file, group, texts));
    }
    out
}

/// Returns the texts of a project's files after sorted, disjoint edits, by path in the project.
pub(crate) fn applied_below(
    root: &Path,
    edits: &[Edit],
    texts: &mut Texts,
) -> BTreeMap<PathBuf, String> {
    let inside = |path: &Path| path.strip_prefix(root).map(Path::to_owned).ok();
    applied(edits, texts).into_iter().filter_map(|it| Some((inside(&it.0)?, it.1))).collect()
}

fn rewritten(file: &Path, edits: &[Edit], texts: &mut Texts) -> String {
    let lines = texts.lines(file);
    let mut starts = vec![0];
    for line in lines {
        starts.push(starts[starts.len() - 1] + line.chars().count() + 1);
    }
    let whole: Vec<char> = lines.join("\n").chars().collect();
    let offset = |it: &Place| (starts[it.line] + it.column).min(whole.len());
    let (mut out, mut done) = (String::new(), 0);
    for edit in edits {
        out.extend(&whole[done..offset(&edit.start)]);
        out.push_str(&edit.text);
        done = offset(&edit.end);
    }
    out.extend(&whole[done..]);
    out
}
