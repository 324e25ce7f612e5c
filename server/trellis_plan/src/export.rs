//! Writes a plan in the form of appendix A, whatever dialect it was read from.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;

use crate::extra_fields::ExtraFields;
use crate::node::{Node, NodeIx, RedGate};
use crate::plan::Plan;

/// Writes pretty-printed JSON that reads back as an equal plan.
///
/// Every leaf gets the `status` that the function returns; `metadata.generation` becomes
/// `provenance`. All other fields, known and unknown, are written as they were read.
pub fn export<'s>(
    plan: &Plan,
    status: impl Fn(NodeIx) -> Option<&'s str>,
    provenance: &Value,
) -> String {
    let file = File { plan, status, provenance };
    match serde_json::to_string_pretty(&file) {
        Ok(text) => text + "\n",
        // Every key is a string and every value serializes, so writing to memory cannot fail.
        Err(error) => unreachable!("{error}"),
    }
}

/// Fields of an exported plan, of its nodes and of its edges. Fields of another dialect with these
/// names are renamed.
pub(crate) const PLAN_FIELDS: [&str; 3] = ["nodes", "edges", "metadata"];
pub(crate) const NODE_FIELDS: [&str; 12] = [
    "id",
    "name",
    "type",
    "node_type",
    "file_path",
    "signature",
    "docstring",
    "examples",
    "libraries",
    "dependencies",
    "subgraph_id",
    "red_gate",
];
pub(crate) const EDGE_FIELDS: [&str; 3] = ["source", "target", "type"];

struct File<'a, S> {
    plan: &'a Plan,
    status: S,
    provenance: &'a Value,
}

impl<'s, S: Fn(NodeIx) -> Option<&'s str>> Serialize for File<'_, S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("nodes", &Nodes { plan: self.plan, status: &self.status })?;
        map.serialize_entry("edges", &Edges(self.plan))?;
        map.serialize_entry(
            "metadata",
            &Metadata { fields: &self.plan.metadata, provenance: self.provenance },
        )?;
        self.plan.extra.write_into(&mut map, "")?;
        map.end()
    }
}

struct Nodes<'a, S> {
    plan: &'a Plan,
    status: &'a S,
}

impl<'s, S: Fn(NodeIx) -> Option<&'s str>> Serialize for Nodes<'_, S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        // `dependencies` on unknown nodes follow the known ones; they were collected in file order.
        let mut unknown = self.plan.unknown.iter().filter(|edge| edge.kind.is_none()).peekable();
        let mut seq = serializer.serialize_seq(Some(self.plan.nodes.len()))?;
        for ix in self.plan.indices() {
            let node = self.plan.node(ix);
            let mut dependencies: Vec<&str> =
                self.plan.listed.row(ix).iter().map(|&ix| self.plan.id(ix)).collect();
            while let Some(edge) = unknown.next_if(|edge| edge.source == node.id) {
                dependencies.push(&edge.target);
            }
            let status = (self.status)(ix).filter(|_| node.is_leaf());
            seq.serialize_element(&OneNode { node, dependencies, status })?;
        }
        seq.end()
    }
}

struct OneNode<'a> {
    node: &'a Node,
    dependencies: Vec<&'a str>,
    status: Option<&'a str>,
}

impl Serialize for OneNode<'_> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let node = self.node;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &*node.id)?;
        map.serialize_entry("name", &*node.name)?;
        map.serialize_entry("type", node.kind.name())?;
        map.serialize_entry("node_type", if node.is_leaf() { "leaf" } else { "composite" })?;
        let texts = [
            ("file_path", node.file_path.as_deref()),
            ("signature", node.signature.as_deref()),
            ("docstring", node.docstring.as_deref()),
        ];
        for (name, text) in texts {
            text.map_or(Ok(()), |text| map.serialize_entry(name, text))?;
        }
        for (name, list) in [("examples", &node.examples), ("libraries", &node.libraries)] {
            if !list.is_empty() {
                map.serialize_entry(name, list)?;
            }
        }
        map.serialize_entry("dependencies", &self.dependencies)?;
        if let Some(subgraph) = node.subgraph.as_deref() {
            map.serialize_entry("subgraph_id", subgraph)?;
        }
        if node.red_gate == RedGate::Skip {
            map.serialize_entry("red_gate", "skip")?;
        }
        if let Some(status) = self.status {
            map.serialize_entry("status", status)?;
        }
        node.extra.write_into(&mut map, if self.status.is_some() { "status" } else { "" })?;
        map.end()
    }
}

struct Edges<'a>(&'a Plan);

impl Serialize for Edges<'_> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let plan = self.0;
        let mut extra = plan.edge_extra.iter().peekable();
        let mut seq = serializer.serialize_seq(None)?;
        for (i, edge) in plan.edges.iter().enumerate() {
            let extra = extra.next_if(|(place, _)| *place as usize == i).map(|(_, extra)| extra);
            let kind = &plan.edge_kind(edge).name;
            seq.serialize_element(&OneEdge {
                source: plan.id(edge.source),
                target: plan.id(edge.target),
                kind,
                extra,
            })?;
        }
        for edge in &plan.unknown {
            if let Some(kind) = edge.kind {
                let kind = &plan.kinds[kind as usize].name;
                let extra = Some(&edge.extra);
                seq.serialize_element(&OneEdge {
                    source: &edge.source,
                    target: &edge.target,
                    kind,
                    extra,
                })?;
            }
        }
        seq.end()
    }
}

struct OneEdge<'a> {
    source: &'a str,
    target: &'a str,
    kind: &'a str,
    extra: Option<&'a ExtraFields>,
}

impl Serialize for OneEdge<'_> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("source", self.source)?;
        map.serialize_entry("target", self.target)?;
        map.serialize_entry("type", self.kind)?;
        self.extra.map_or(Ok(()), |extra| extra.write_into(&mut map, ""))?;
        map.end()
    }
}

struct Metadata<'a> {
    fields: &'a ExtraFields,
    provenance: &'a Value,
}

impl Serialize for Metadata<'_> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.fields.write_into(&mut map, "generation")?;
        map.serialize_entry("generation", self.provenance)?;
        map.end()
    }
}
