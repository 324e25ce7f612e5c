//! Tests of the crate through its public interface.

mod dialects;
mod diff;
mod explore;
mod export;
mod flow;
mod from_code;
mod levels;
mod order;
mod problems;
mod read;
mod schedule;
mod search;
mod sentences;
mod tasks;
mod trace;

use trellis_plan::{NodeIx, Plan};

/// Reads a plan that must be readable.
fn plan(text: &str) -> Plan {
    trellis_plan::read(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns a plan of documented functions, one per file, from `id: dependency dependency` lines.
fn functions(lines: &str) -> Plan {
    let nodes: Vec<String> = lines
        .lines()
        .filter_map(|line| line.trim().split_once(':'))
        .map(|(id, dependencies)| {
            let list: Vec<String> =
                dependencies.split_whitespace().map(|d| format!("\"{d}\"")).collect();
            leaf(id, &format!(r#""dependencies":[{}]"#, list.join(",")))
        })
        .collect();
    graph(&nodes, &[])
}

/// Returns the JSON of a documented function in its own file, with more fields.
fn leaf(id: &str, more: &str) -> String {
    format!(
        r#"{{"id":"{id}","name":"f_{id}","type":"function","node_type":"leaf","file_path":"src/m_{id}.py","docstring":"d",{more}}}"#
    )
}

fn graph(nodes: &[String], edges: &[(&str, &str, &str)]) -> Plan {
    let edges: Vec<String> = edges
        .iter()
        .map(|(s, t, kind)| format!(r#"{{"source":"{s}","target":"{t}","type":"{kind}"}}"#))
        .collect();
    plan(&format!(
        r#"{{"nodes":[{}],"edges":[{}],"metadata":{{}}}}"#,
        nodes.join(",\n"),
        edges.join(",\n")
    ))
}

fn at(plan: &Plan, id: &str) -> NodeIx {
    plan.find(id).unwrap_or_else(|| panic!("no node {id}"))
}

/// Returns the ids joined by blanks.
fn ids(plan: &Plan, nodes: &[NodeIx]) -> String {
    nodes.iter().map(|&ix| plan.id(ix)).collect::<Vec<_>>().join(" ")
}

/// Xorshift, so that random plans are the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}
