//! Neighborhoods and the printed tree.

use trellis_plan::{Direction, Plan, Status, explore, tree};

use super::{at, functions, graph, leaf};

fn drawn(plan: &Plan, id: &str, hops: usize, direction: Direction) -> String {
    let mut text = String::new();
    let failed = |ix| (plan.id(ix) == "bad").then_some(Status::Failed);
    explore(plan, at(plan, id), hops, direction).render(plan, failed, &mut text).expect("a string");
    text
}

#[test]
fn both_ways_from_the_middle_of_a_chain() {
    let plan = functions("a: b\nb: c\nc: d\nd:");
    assert_eq!(drawn(&plan, "b", 1, Direction::Incoming), "b f_b\n`-- a f_a\n");
    assert_eq!(drawn(&plan, "b", 2, Direction::Outgoing), "b f_b\n`-- c f_c\n    `-- d f_d\n");
    let far = explore(&plan, at(&plan, "a"), 9, Direction::Outgoing);
    let hops: Vec<_> =
        far.nodes(&plan).iter().map(|step| (plan.id(step.node).to_owned(), step.hops)).collect();
    assert_eq!(hops, [("b".to_owned(), 1), ("c".to_owned(), 2), ("d".to_owned(), 3)]);
}

#[test]
fn nothing_there_is_an_empty_list() {
    let plan = functions("a:");
    assert!(explore(&plan, at(&plan, "a"), 2, Direction::Incoming).steps.is_empty());
    assert_eq!(drawn(&plan, "a", 2, Direction::Incoming), "a f_a\n`-- (nothing depends on it)\n");
    assert_eq!(drawn(&plan, "a", 2, Direction::Outgoing), "a f_a\n`-- (it depends on nothing)\n");
}

#[test]
fn failed_nodes_and_data_flow_are_marked_and_repeats_are_not_opened_twice() {
    let nodes = [
        leaf("a", r#""dependencies":["b","c"]"#),
        leaf("b", r#""dependencies":["bad"]"#),
        leaf("c", r#""dependencies":["bad"]"#),
        leaf("bad", r#""dependencies":["deep"]"#),
        leaf("deep", r#""x":0"#),
    ];
    let plan = graph(&nodes, &[("deep", "a", "data_flow")]);
    let expected = "\
a f_a
|-- b f_b
|   `-- bad f_bad [failed: possible root cause]
|-- c f_c
|   `-- bad f_bad [failed: possible root cause] (shown elsewhere)
`-- deep f_deep [data flow]
";
    assert_eq!(drawn(&plan, "a", 2, Direction::Outgoing), expected);
}

#[test]
fn cycles_end() {
    let plan = functions("a: b\nb: c\nc: a");
    let expected = "\
a f_a
`-- b f_b
    `-- c f_c
        `-- a f_a (shown elsewhere)
";
    assert_eq!(drawn(&plan, "a", 100, Direction::Outgoing), expected);
    let itself = functions("a: a");
    assert_eq!(drawn(&itself, "a", 2, Direction::Incoming), "a f_a\n`-- a f_a (shown elsewhere)\n");
}

#[test]
fn hierarchy_is_left_to_the_tree() {
    let nodes = [
        r#"{"id":"p","name":"p","type":"module","node_type":"composite"}"#.to_owned(),
        leaf("a", r#""x":0"#),
    ];
    let plan = graph(&nodes, &[("p", "a", "contains")]);
    assert!(explore(&plan, at(&plan, "a"), 2, Direction::Outgoing).steps.is_empty());
}

#[test]
fn the_tree_by_hierarchy_and_subgraph() {
    let nodes = [
        r#"{"id":"p","name":"shop","type":"package","node_type":"composite"}"#.to_owned(),
        r#"{"id":"q","name":"cart","type":"module","node_type":"composite","file_path":"src/cart.py"}"#.to_owned(),
        r#"{"id":"k","name":"Cart","type":"class","file_path":"src/cart.py","docstring":"d"}"#.to_owned(),
        r#"{"id":"m","name":"Cart.add","type":"method","file_path":"src/cart.py","docstring":"d"}"#.to_owned(),
        leaf("a", r#""subgraph_id":"shop""#),
        leaf("b", r#""subgraph_id":"other""#),
        leaf("c", r#""x":0"#),
    ];
    let plan = graph(&nodes, &[("p", "q", "hierarchy"), ("q", "k", "hierarchy")]);
    let expected = "\
package shop  (p)
|-- module cart  src/cart.py  (q)
|   `-- class Cart  src/cart.py  (k)
|       `-- method Cart.add  src/cart.py  (m)
`-- function f_a  src/m_a.py  (a)
subgraph other
`-- function f_b  src/m_b.py  (b)
function f_c  src/m_c.py  (c)
";
    assert_eq!(tree(&plan).to_string(), expected);
}

#[test]
fn rings_and_deep_chains_are_drawn_once() {
    let composite = |i: usize| {
        format!(r#"{{"id":"c{i}","name":"c{i}","type":"module","node_type":"composite"}}"#)
    };
    let nodes: Vec<String> = (0..3000).map(composite).collect();
    let names: Vec<String> = (0..3000).map(|i| format!("c{i}")).collect();
    let ring: Vec<_> =
        (0..3000).map(|i| (&*names[i], &*names[(i + 1) % 3000], "contains")).collect();
    for edges in [&ring[..], &ring[..2999]] {
        let text = tree(&graph(&nodes, edges)).to_string();
        assert_eq!(text.lines().count(), 3000);
        assert!(
            text.lines().all(|line| line.len() < 200),
            "depth does not widen the lines for ever"
        );
    }
}
