//! Writes planning graphs of any size for measurements, reproducibly.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const SEED: u64 = 0x7472_656c_6c69_7321;
const NODES_PER_FILE: usize = 8;
const FILES_PER_SUBGRAPH: usize = 50;
const VERBS: [&str; 16] = [
    "compute",
    "load",
    "merge",
    "parse",
    "filter",
    "rank",
    "split",
    "validate",
    "normalize",
    "encode",
    "fold",
    "sample",
    "index",
    "render",
    "align",
    "resolve",
];
const NOUNS: [&str; 16] = [
    "matrix", "records", "tokens", "series", "graph", "batch", "schema", "vector", "window",
    "ledger", "table", "signal", "buffer", "cluster", "header", "metric",
];

/// Writes a graph in the form of appendix A: functions with ids, names, docstrings, files and
/// subgraphs, about 200 bytes each, and `edges_per_node` dependencies of each on earlier nodes. A
/// third of the dependencies is in `edges`, with every role; the rest is in `dependencies`. A
/// million nodes with three dependencies each take 314 MB.
pub(crate) fn write(path: &Path, nodes: usize, edges_per_node: usize) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut random = Random(SEED);
    let listed = edges_per_node - edges_per_node / 3;
    out.write_all(b"{\"nodes\": [\n")?;
    for i in 0..nodes {
        node(&mut out, &mut random, i, listed)?;
        out.write_all(if i + 1 < nodes { b",\n" } else { b"\n" })?;
    }
    out.write_all(b"], \"edges\": [\n")?;
    let mut separator = "";
    for i in 1..nodes {
        for _ in 0..edges_per_node - listed {
            out.write_all(separator.as_bytes())?;
            edge(&mut out, &mut random, i)?;
            separator = ",\n";
        }
    }
    out.write_all(b"\n], \"metadata\": {\"phase\": 3, \"project_name\": \"big\"}}\n")?;
    out.flush()
}

fn node(out: &mut impl Write, random: &mut Random, i: usize, listed: usize) -> io::Result<()> {
    let (verb, noun) = (VERBS[random.below(16)], NOUNS[random.below(16)]);
    let (file, subgraph) = (i / NODES_PER_FILE, i / NODES_PER_FILE / FILES_PER_SUBGRAPH);
    write!(
        out,
        "{{\"id\":\"n{i:07}\",\"name\":\"{verb}_{noun}_{i}\",\"type\":\"function\",\"node_type\":\"leaf\","
    )?;
    write!(
        out,
        "\"file_path\":\"src/part_{subgraph}/{noun}s_{file}.py\",",
        noun = NOUNS[file % 16]
    )?;
    write!(out, "\"docstring\":\"Return the {noun} after the {verb} step.\",\"dependencies\":[")?;
    for n in 0..if i == 0 { 0 } else { listed } {
        write!(out, "{}\"n{:07}\"", if n == 0 { "" } else { "," }, random.below(i))?;
    }
    write!(out, "],\"subgraph_id\":\"part_{subgraph}\"}}")
}

fn edge(out: &mut impl Write, random: &mut Random, i: usize) -> io::Result<()> {
    let earlier = random.below(i);
    match random.below(4) {
        // In a data flow the feeding node is the source, so here the earlier node comes first.
        0 => write!(
            out,
            "{{\"source\":\"n{earlier:07}\",\"target\":\"n{i:07}\",\"type\":\"data_flow\"}}"
        ),
        _ => write!(
            out,
            "{{\"source\":\"n{i:07}\",\"target\":\"n{earlier:07}\",\"type\":\"function_call\"}}"
        ),
    }
}

/// Xorshift generator: small, fast and reproducible.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}
