//! Selection of queries: the same for every server and on every machine.

use std::collections::{HashMap, HashSet};

use lsp::path_of;
use serde_json::Value;

use super::corpus::Corpus;
use super::scan::{self, Definition, Kind};

/// Number of names that decide whether a server is ready.
const PROBES: usize = 10;

pub(crate) struct Questions {
    /// Names defined once; a server that finds all of them is ready.
    pub(crate) probes: Vec<Definition>,
    /// Symbols queried for references, each for the first time; their names occur in at least two
    /// files.
    pub(crate) references: Vec<Definition>,
    /// Symbols to rename, selected like the others but distinct from them.
    pub(crate) renames: Vec<Definition>,
    /// The first query after the start.
    pub(crate) first: Definition,
    /// Names to look up: unique names, and all definitions, evenly spread.
    pub(crate) unique: Vec<Definition>,
    pub(crate) any: Vec<Definition>,
    /// Number of definitions found by the scan.
    pub(crate) definitions: usize,
}

impl Questions {
    /// Selects `queries` symbols for each kind of query and `names` to look up.
    pub(crate) fn of(corpus: &Corpus, queries: usize, names: usize) -> Result<Questions, String> {
        let all: Vec<Definition> =
            (corpus.files.iter()).flat_map(|(path, text)| scan::definitions(path, text)).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        all.iter().for_each(|it| *counts.entry(&it.name).or_default() += 1);
        let known: HashSet<&str> = counts.keys().copied().collect();
        let spread = scan::spread(corpus.files.iter().map(|it| it.1.as_str()), &known);
        let visible: Vec<&Definition> = all.iter().filter(|it| it.kind != Kind::Local).collect();
        let named = |it: &&&Definition| !it.name.starts_with("__");
        let once: Vec<&Definition> = (visible.iter().filter(named))
            .filter(|it| counts[it.name.as_str()] == 1)
            .copied()
            .collect();
        let used: Vec<&Definition> = (visible.iter().filter(named))
            .filter(|it| spread.get(&it.name).is_some_and(|files| *files > 1))
            .copied()
            .collect();
        let mut picked = mixed(&used, 2 * queries + 1);
        let first = picked.pop().ok_or("the folder defines nothing that is used in two files")?;
        let renames = picked.split_off(picked.len().div_ceil(2));
        Ok(Questions {
            probes: mixed(&once, PROBES),
            references: picked,
            renames,
            first,
            unique: even(&once, names),
            any: even(&visible, names),
            definitions: all.len(),
        })
    }
}

/// Selects classes, functions and methods in turn, spread evenly over the list; so is each half of
/// the result.
fn mixed(from: &[&Definition], count: usize) -> Vec<Definition> {
    let mut taken = HashSet::new();
    let mut out = Vec::new();
    for turn in 0..count {
        let kind = [Kind::Class, Kind::Function, Kind::Method][turn % 3];
        // The second half fills the gaps of the first.
        let half = count.div_ceil(2);
        let step = if turn < half { 2 * turn } else { 2 * (turn - half) + 1 };
        let start = (2 * step + 1) * from.len() / (4 * half);
        let mut order = (start..from.len()).chain(0..start);
        let found = order.find(|index| from[*index].kind == kind && !taken.contains(index));
        if let Some(index) = found {
            taken.insert(index);
            out.push(from[index].clone());
        }
    }
    out
}

/// Selects this many items of the list, at even distances.
fn even(from: &[&Definition], count: usize) -> Vec<Definition> {
    let count = count.min(from.len());
    (0..count).map(|turn| from[(2 * turn + 1) * from.len() / (2 * count)].clone()).collect()
}

/// Returns whether an answer to `workspace/symbol` contains the definition: its name (possibly
/// qualified), its file, and a range that contains the line of the name and does not begin before
/// the decorators can.
pub(crate) fn holds(answer: &Value, wanted: &Definition) -> bool {
    answer.as_array().into_iter().flatten().any(|symbol| {
        let name = symbol["name"].as_str().unwrap_or_default();
        let location = &symbol["location"];
        let line = |end: &str| location["range"][end]["line"].as_u64().map(|it| it as usize);
        let (Some(start), Some(end)) = (line("start"), line("end")) else { return false };
        name.rsplit('.').next() == Some(&wanted.name)
            && (wanted.opens..=wanted.place.line).contains(&start)
            && end >= wanted.place.line
            && location["uri"].as_str().and_then(path_of).as_ref() == Some(&wanted.place.file)
    })
}
