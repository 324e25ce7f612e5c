//! `cargo xtask bench search`: the queries of `fixtures/search` by words, by meaning and by both,
//! with their cost.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{Outcome, big_graph, demo, setup};

/// Words that two texts may share without being related.
const FUNCTION_WORDS: &str = "a an and are as at be by do does for from has have how in into is it its no not of on or so \
    that the their there these this to was what when where whether which who whose with without";

/// A query and its expected node.
struct Case {
    query: String,
    node: String,
    /// True if the query shares a word with the node.
    overlap: bool,
}

/// Rank of the expected node for each case, from 1; `None` beyond the tenth place.
type Ranks = Vec<Option<usize>>;

/// Number of results considered.
const DEPTH: &str = "10";

pub(crate) fn run() -> Outcome {
    let folder = setup::root().join("fixtures/search");
    let cases = cases(&folder.join("queries.json"))?;
    let wrong = mislabelled(&folder, &cases)?;
    if !wrong.is_empty() {
        return Err(format!("queries are not as their labels say:\n{}", wrong.join("\n")));
    }
    let trellis = setup::released()?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let queries = scratch.path().join("queries.txt");
    let lines: String = cases.iter().map(|it| format!("{}\n", it.query)).collect();
    fs::write(&queries, lines).map_err(|e| e.to_string())?;
    let graph = folder.join("rpg.json");
    println!("{:<10} {:>16} {:>16} {:>16}", "", "all 60", "words in common", "none in common");
    let mut both = Vec::new();
    for by in ["words", "meaning", "both"] {
        let answers = ask(&trellis, &graph, &queries, by)?;
        both = ranks(&cases, &answers);
        println!("{by:<10} {}", row(&cases, &both));
    }
    cases.iter().zip(&both).filter(|(_, rank)| **rank != Some(1)).for_each(|(case, rank)| {
        let place = rank.map_or("beyond 10".to_owned(), |it| format!("place {it}"));
        println!("  not first: {:?} ({}): {place}", case.query, case.node);
    });
    println!(
        "choosing   {}  (other queries, by which the weights were chosen)",
        chosen(&trellis, scratch.path())?
    );
    times("50 nodes", &ask(&trellis, &graph, &queries, "both")?, 10.0);
    let big = scratch.path().join("big.json");
    big_graph::write(&big, 5000, 3).map_err(|e| e.to_string())?;
    times("5,000 nodes", &ask(&trellis, &big, &queries, "both")?, 50.0);
    println!("load average: {}", fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    println!(
        "both: {:.1} % first (goal 80 %), {:.1} % among five (goal 95 %)",
        share(&both, 1),
        share(&both, 5)
    );
    Ok(())
}

fn cases(file: &Path) -> Result<Vec<Case>, String> {
    let all = demo::json(file)?;
    let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let case = |it: &Value| Case {
        query: text(it, "query"),
        node: text(it, "node"),
        overlap: it["overlap"] == true,
    };
    Ok(all.as_array().into_iter().flatten().map(case).collect())
}

/// Returns one result per query, in order.
fn ask(trellis: &Path, graph: &Path, queries: &Path, by: &str) -> Result<Vec<Value>, String> {
    let output = Command::new(trellis)
        .args(["plan", "search", "--json", "--embeddings=builtin", "--top", DEPTH, "--by", by])
        .arg("--queries")
        .arg(queries)
        .arg(graph)
        .output()
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>();
    lines.ok().filter(|it| !it.is_empty()).ok_or(said)
}

fn ranks(cases: &[Case], answers: &[Value]) -> Ranks {
    let rank = |(case, answer): (&Case, &Value)| {
        let results = answer["results"].as_array()?;
        results.iter().position(|it| it["id"] == case.node.as_str()).map(|it| it + 1)
    };
    cases.iter().zip(answers).map(rank).collect()
}

/// Returns top-1, top-5 and mean reciprocal rank: of all cases, of those with shared words, and of
/// those without.
fn row(cases: &[Case], ranks: &Ranks) -> String {
    let of = |wanted: &dyn Fn(&Case) -> bool| -> Ranks {
        cases.iter().zip(ranks).filter(|(case, _)| wanted(case)).map(|(_, rank)| *rank).collect()
    };
    let groups = [of(&|_| true), of(&|it| it.overlap), of(&|it| !it.overlap)];
    groups.iter().map(group).collect()
}

fn group(ranks: &Ranks) -> String {
    let count = |within| ranks.iter().filter(|it| it.is_some_and(|it| it <= within)).count();
    let reciprocal: f64 = ranks.iter().flatten().map(|rank| 1.0 / *rank as f64).sum();
    let mean = reciprocal / ranks.len().max(1) as f64 + 0.0;
    format!("{:>6} {:>3} {mean:>6.3}", count(1), count(5))
}

/// Returns the row for the queries on the master fixture.
fn chosen(trellis: &Path, scratch: &Path) -> Result<String, String> {
    let cases = cases(&setup::root().join("fixtures/search/choosing.json"))?;
    let queries = scratch.join("choosing.txt");
    let lines: String = cases.iter().map(|it| format!("{}\n", it.query)).collect();
    fs::write(&queries, lines).map_err(|e| e.to_string())?;
    let graph = setup::root().join("fixtures/ml-library/rpg.json");
    let ranks = ranks(&cases, &ask(trellis, &graph, &queries, "both")?);
    Ok(format!("{} of {}", group(&ranks), cases.len()))
}

/// Returns the share in percent.
fn share(ranks: &Ranks, within: usize) -> f64 {
    let good = ranks.iter().filter(|it| it.is_some_and(|it| it <= within)).count();
    100.0 * good as f64 / ranks.len().max(1) as f64
}

fn times(what: &str, answers: &[Value], goal: f64) {
    let all: Vec<f64> = answers.iter().filter_map(|it| it["milliseconds"].as_f64()).collect();
    let Some((first, rest)) = all.split_first() else { return };
    let mut rest = rest.to_vec();
    rest.sort_by(f64::total_cmp);
    let (median, worst) = (rest[rest.len() / 2], rest[rest.len() - 1]);
    println!(
        "{what}: first query {first:.1} ms, later ones {median:.2} ms (median), {worst:.2} ms (worst; goal {goal} ms)"
    );
}

/// Returns cases with a wrong label, as sentences.
fn mislabelled(folder: &Path, cases: &[Case]) -> Result<Vec<String>, String> {
    let graph = demo::json(&folder.join("rpg.json"))?;
    let nodes = graph["nodes"].as_array().into_iter().flatten();
    let nodes: Vec<&Value> = nodes.filter(|it| it["node_type"] == "leaf").collect();
    let check = |case: &Case| {
        let Some(node) = nodes.iter().find(|it| it["id"] == case.node.as_str()) else {
            return Some(format!("{:?}: there is no node {}", case.query, case.node));
        };
        let fields = ["name", "file_path", "docstring"].map(|it| node[it].as_str().unwrap_or(""));
        let common = in_common(&case.query, &fields.join(" "));
        (common.is_empty() == case.overlap)
            .then(|| format!("{:?}: in common with {}: {common:?}", case.query, case.node))
    };
    Ok(cases.iter().filter_map(check).collect())
}

/// Returns pairs of equal or nearly equal words. Does not use the product's stemming, which is
/// being measured.
fn in_common(query: &str, text: &str) -> Vec<(String, String)> {
    let of_text = words(text);
    let pairs = words(query).into_iter().flat_map(|word| {
        let same = of_text.iter().filter(|it| are_same(&word, it)).cloned().collect::<Vec<_>>();
        same.into_iter().map(move |it| (word.clone(), it))
    });
    pairs.collect()
}

fn words(text: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut before = ' ';
    for c in text.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            spaced.push(' ');
        }
        spaced.push(if c.is_alphanumeric() { c } else { ' ' });
        before = c;
    }
    let telling = |it: &String| !FUNCTION_WORDS.split_whitespace().any(|word| word == it);
    spaced.split_whitespace().map(str::to_lowercase).filter(telling).collect()
}

fn are_same(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let shared = short.chars().zip(long.chars()).take_while(|(a, b)| a == b).count();
    let begins = short.len() >= 3 && long.starts_with(short) && long.len() - short.len() <= 3;
    a == b || shared >= 5 || begins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queries_are_as_their_labels_say() {
        let folder = setup::root().join("fixtures/search");
        let cases = cases(&folder.join("queries.json")).expect("the queries");
        assert_eq!(mislabelled(&folder, &cases).expect("the graph"), Vec::<String>::new());
        let without = cases.iter().filter(|it| !it.overlap).count();
        assert_eq!((cases.len(), without), (60, 30));
        let mut queries: Vec<&str> = cases.iter().map(|it| it.query.as_str()).collect();
        queries.sort_unstable();
        queries.dedup();
        assert_eq!(queries.len(), 60, "no query is there twice");
    }

    #[test]
    fn words_in_common_are_seen() {
        for (query, text, expected) in [
            ("rounding cents", "round_money", 1),
            ("average", "calculate_mean: sum of the values", 0),
            ("IndexError of TaskQueue", "the task is done", 1),
            ("what is the tax", "taxes", 1),
            ("the of", "the of", 0),
        ] {
            assert_eq!(in_common(query, text).len(), expected, "{query}");
        }
    }
}
