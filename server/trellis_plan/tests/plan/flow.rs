//! Flows through a subgraph.

use trellis_plan::{FlowKind, Plan, flows};

use super::{at, functions, graph, ids, leaf};

fn drawn(plan: &Plan, leaves: &str, along: FlowKind) -> Vec<String> {
    let leaves: Vec<_> = leaves.split(' ').map(|id| at(plan, id)).collect();
    flows(plan, &leaves, along, 3).iter().map(|flow| ids(plan, &flow.nodes)).collect()
}

#[test]
fn from_what_nothing_feeds_to_what_feeds_nothing() {
    let chain = functions("a:\nb: a\nc: b\nd: c\ne: d");
    assert_eq!(drawn(&chain, "a b c d e", FlowKind::Structure), ["a b c d e"]);
    assert_eq!(drawn(&chain, "b c", FlowKind::Structure), ["b c"]);
    assert!(drawn(&chain, "a b", FlowKind::DataFlow).is_empty());
    assert!(drawn(&functions("a:\nb:"), "a b", FlowKind::Both).is_empty(), "nothing flows");
    // The longest first, then the one with the most new nodes.
    let tree = functions("a:\nb: a\nc: b\nx: a\ny:\nz: y");
    assert_eq!(drawn(&tree, "a b c x y z", FlowKind::Structure), ["a b c", "y z", "a x"]);
}

#[test]
fn data_comes_in_from_other_subgraphs() {
    let nodes = [
        leaf("read", r#""dependencies":[]"#),
        leaf("fit", r#""dependencies":[]"#),
        leaf("predict", r#""dependencies":["fit"]"#),
    ];
    let plan = graph(&nodes, &[("read", "fit", "data_flow")]);
    assert_eq!(drawn(&plan, "fit predict", FlowKind::DataFlow), ["read fit"]);
    assert_eq!(drawn(&plan, "fit predict", FlowKind::Structure), ["fit predict"]);
    assert_eq!(drawn(&plan, "fit predict", FlowKind::Both), ["read fit predict"]);
}

#[test]
fn circles_end() {
    let plan = functions("a: b\nb: a\nc: b");
    assert!(drawn(&plan, "a b", FlowKind::Both).is_empty());
}
