//! The order of G5, on small plans by hand and on random ones by its definition.

use trellis_plan::{Plan, order};

use super::{Random, at, functions, graph, ids, leaf};

fn sequence(plan: &Plan) -> String {
    ids(plan, &order(plan).sequence)
}

#[test]
fn by_hand() {
    let cases = [
        ("linear chain", "c: b\nb: a\na:", "a b c"),
        ("chain named backwards", "a: b\nb: c\nc:", "c b a"),
        ("diamond", "d: b c\nc: a\nb: a\na:", "a b c d"),
        ("isolated nodes come last", "a:\nz:\nm: z", "z a m"),
        ("ties go by id, as bytes", "t: n2 n10 N3\nn2: r\nn10: r\nN3: r\nr:", "r N3 n10 n2 t"),
        ("roots first even when large", "b: z\na: b\nz:", "z b a"),
        ("what is ready changes the choice", "e: d b\nd: a\nb: c\nc: a\na:\n", "a c b d e"),
        ("a dependent nothing needs waits for the end", "a: x\nc: x\nd: c\nx:", "x c a d"),
        ("no nodes", "", ""),
    ];
    for (name, lines, expected) in cases {
        assert_eq!(sequence(&functions(lines)), expected, "{name}");
    }
}

#[test]
fn composites_stand_in_the_order() {
    let nodes = [
        leaf("a", r#""x":0"#),
        r#"{"id":"pkg","name":"pkg","type":"package","node_type":"composite"}"#.to_owned(),
        leaf("b", r#""dependencies":["a"]"#),
    ];
    let plan = graph(&nodes, &[("pkg", "a", "contains"), ("pkg", "b", "contains")]);
    assert_eq!(sequence(&plan), "pkg a b");
}

#[test]
fn data_flow_is_set_aside_before_anything_else() {
    let nodes = ["a", "b", "c"].map(|id| leaf(id, r#""x":0"#));
    // a calls b and feeds it: only the call can be kept.
    let plan =
        graph(&nodes, &[("a", "b", "call"), ("a", "b", "data_flow"), ("b", "c", "data_flow")]);
    let found = order(&plan);
    assert_eq!(ids(&plan, &found.sequence), "b a c");
    assert_eq!(found.set_aside.len(), 1);
    assert_eq!(
        (found.set_aside[0].node, found.set_aside[0].needs),
        (at(&plan, "b"), at(&plan, "a"))
    );
    // A ring of calls cannot be kept at all.
    let plan = functions("a: b\nb: a\nc: a");
    let found = order(&plan);
    assert_eq!(ids(&plan, &found.sequence), "a b c");
    assert_eq!(found.set_aside.len(), 2);
}

/// Implements the definition directly: repeatedly the smallest id among the ready nodes, between
/// the two fixed ends.
fn by_definition(plan: &Plan) -> String {
    let mut all: Vec<_> = plan.indices().collect();
    all.sort_by_key(|&ix| plan.id(ix));
    let needed = |ix| !plan.needed_by(ix).is_empty();
    let mut done: Vec<_> =
        all.iter().copied().filter(|&ix| plan.needs(ix).is_empty() && needed(ix)).collect();
    let is_ready =
        |ix, done: &[_]| needed(ix) && plan.needs(ix).iter().all(|need| done.contains(need));
    while let Some(next) =
        all.iter().copied().find(|&ix| !done.contains(&ix) && is_ready(ix, &done))
    {
        done.push(next);
    }
    done.extend(all.iter().copied().filter(|&ix| !needed(ix)));
    ids(plan, &done)
}

#[test]
fn random_plans_follow_the_definition() {
    let mut random = Random(0x5eed);
    for round in 0..200 {
        let count = 1 + random.below(40);
        // Names are random, so that ids and positions disagree.
        let names: Vec<String> =
            (0..count).map(|i| format!("n{}_{i}", random.below(1000))).collect();
        let mut edges = Vec::new();
        for i in 1..count {
            for _ in 0..random.below(4) {
                let other = random.below(i);
                edges.push(match random.below(3) {
                    0 => (&*names[other], &*names[i], "data_flow"),
                    1 => (&*names[other], &*names[i], "hierarchy"),
                    _ => (&*names[i], &*names[other], "call"),
                });
            }
        }
        let nodes: Vec<String> = names.iter().map(|name| leaf(name, r#""x":0"#)).collect();
        let plan = graph(&nodes, &edges);
        let found = order(&plan);
        assert!(found.set_aside.is_empty(), "round {round}");
        assert_eq!(ids(&plan, &found.sequence), by_definition(&plan), "round {round}");
    }
}

#[test]
fn the_order_of_the_file_does_not_matter() {
    let mut random = Random(77);
    let mut lines: Vec<String> = (0..60)
        .map(|i: usize| {
            let needs: Vec<String> =
                (0..random.below(3)).map(|_| format!("n{}", random.below(i.max(1)))).collect();
            format!("n{i}: {}", if i == 0 { String::new() } else { needs.join(" ") })
        })
        .collect();
    let first = sequence(&functions(&lines.join("\n")));
    for _ in 0..20 {
        for i in (1..lines.len()).rev() {
            lines.swap(i, random.below(i + 1));
        }
        assert_eq!(sequence(&functions(&lines.join("\n"))), first);
    }
}

#[test]
fn random_graphs_with_cycles_are_ordered_but_for_what_was_set_aside() {
    let mut random = Random(3);
    for round in 0..100 {
        let count = 2 + random.below(20);
        let names: Vec<String> = (0..count).map(|i| format!("n{i}")).collect();
        let kinds = ["call", "data_flow"];
        let edges: Vec<(&str, &str, &str)> = (0..count * 2)
            .map(|_| {
                (&*names[random.below(count)], &*names[random.below(count)], kinds[random.below(2)])
            })
            .collect();
        let nodes: Vec<String> = names.iter().map(|name| leaf(name, r#""x":0"#)).collect();
        let plan = graph(&nodes, &edges);
        let found = order(&plan);
        let place =
            |ix| found.sequence.iter().position(|&other| other == ix).expect("every node is there");
        assert_eq!(found.sequence.len(), count);
        for circle in &found.circles {
            let begin = place(circle[0]);
            assert_eq!(found.sequence[begin..][..circle.len()], circle[..], "round {round}");
        }
        for ix in plan.indices() {
            for &need in plan.needs(ix) {
                let aside =
                    found.set_aside.iter().any(|link| (link.node, link.needs) == (ix, need));
                assert!(aside || place(need) < place(ix), "round {round}");
            }
        }
    }
}

#[test]
fn a_circle_is_one_group_after_what_it_needs_and_before_what_needs_it() {
    let plan = functions("a: z\nz: a low\nlow:\ntop: z\nm: low\nself: self");
    let found = order(&plan);
    assert_eq!(ids(&plan, &found.sequence), "low a z m self top");
    let circles: Vec<String> = found.circles.iter().map(|it| ids(&plan, it)).collect();
    assert_eq!(circles, ["a z", "self"]);
    assert!(order(&functions("a: b\nb:")).circles.is_empty());
}
