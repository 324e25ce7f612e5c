//! Measures the cost of questions inside the index, on the Python files below a folder
//! (`cargo bench -p trellis_python --bench resolve -- FOLDER`). Reading files is measured
//! separately, so that the rest is the index's own cost.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark reads files and prints"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs};

use trellis_python::{FileId, Index, NamePath, SymbolKind, TextSource, Words};

struct NoTexts;

impl TextSource for NoTexts {
    fn read(&self, _path: &str) -> Option<Arc<str>> {
        None
    }
}

fn python_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            python_files(&path, found);
        } else if path.extension().is_some_and(|it| it == "py" || it == "pyi") {
            found.push(path);
        }
    }
}

fn timed<T>(what: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let it = what();
    (it, start.elapsed())
}

fn ms(it: Duration) -> f64 {
    it.as_secs_f64() * 1000.0
}

fn summary(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share) as usize]);
    println!("{name:32} median {:8.2}  p95 {:8.2}  max {:8.2} ms", at(0.5), at(0.95), at(1.0));
}

/// Returns definitions spread evenly over the workspace, with names that at least two files
/// contain.
fn probes(index: &Index, count: usize) -> Vec<(FileId, usize)> {
    let mut all = Vec::new();
    for file in index.files() {
        for it in &index.outline(file).symbols {
            let kind =
                matches!(it.kind, SymbolKind::Class | SymbolKind::Function | SymbolKind::Method);
            if kind
                && index
                    .files()
                    .filter(|file| index.words(*file).may_hold(&it.name))
                    .nth(1)
                    .is_some()
            {
                all.push((file, it.name_range.start));
                break;
            }
        }
    }
    let step = (all.len() / count).max(1);
    all.into_iter().step_by(step).take(count).collect()
}

fn name_of(index: &Index, (file, at): &(FileId, usize)) -> Option<NamePath> {
    let outline = index.outline(*file);
    let symbol = outline.symbols.iter().find(|it| it.name_range.start == *at)?;
    NamePath::parse(&symbol.name).ok()
}

fn main() {
    let Some(folder) = env::args().skip(1).find(|it| !it.starts_with("--")) else {
        println!("no folder given: cargo bench -p trellis_python --bench resolve -- FOLDER");
        return;
    };
    let mut files = Vec::new();
    python_files(Path::new(&folder), &mut files);
    let texts: Vec<(String, Arc<str>)> = files
        .iter()
        .filter_map(|it| {
            let name = it.strip_prefix(&folder).ok()?.to_str()?.to_owned();
            Some((name, fs::read_to_string(it).ok()?.into()))
        })
        .collect();
    let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    println!("{} files, {:.1} MB", texts.len(), bytes as f64 / 1e6);
    let mut index = Index::new(Arc::new(NoTexts));
    let (words, took) = timed(|| texts.iter().map(|(_, text)| Words::of(text)).collect::<Vec<_>>());
    println!("words, one thread                {:.1} ms", ms(took));
    for ((name, text), words) in texts.iter().zip(words) {
        index.put(name, words, Some(text.clone()));
    }
    let ((), took) = timed(|| index.files().for_each(|it| drop(index.outline(it))));
    println!("outlines, one thread             {:.1} ms", ms(took));
    let probes = probes(&index, 60);
    let names: Vec<NamePath> = probes.iter().filter_map(|it| name_of(&index, it)).collect();
    let ((), took) = timed(|| index.prepare_names());
    let count: usize = index.files().map(|it| index.outline(it).symbols.len()).sum();
    println!("table of {count} symbols          {:.1} ms", ms(took));
    let find = |it: &NamePath| timed(|| index.find(it, false, &[])).1;
    summary("find by name", names.iter().map(find).collect());
    let part = |it: &NamePath| timed(|| index.find(it, true, &[])).1;
    summary("find by part of a name", names.iter().map(part).collect());
    let ask = |(file, at): &(FileId, usize)| timed(|| index.references(*file, *at)).1;
    summary("references, first time", probes.iter().map(ask).collect());
    summary("references, again", probes.iter().map(ask).collect());
    let (unused, took) = timed(|| index.unused());
    println!("everything resolved: {:.0} ms, {} unused", ms(took), unused.len());
    let (calls, took) = timed(|| trellis_python::calls(&index));
    let (nodes, edges) = (calls.nodes.len(), calls.edges.len());
    println!("calls, all known: {:.0} ms, {nodes} functions, {edges} edges", ms(took));
    summary("references, all known", probes.iter().map(ask).collect());
    let rename =
        |(file, at): &(FileId, usize)| timed(|| index.rename(*file, *at, "another_name_for_it")).1;
    summary("rename", probes.iter().map(rename).collect());
}
