//! Levels and the heaviest chain, by hand and by their definition.

use trellis_plan::{Plan, levels};

use super::{Random, at, functions, graph, ids, leaf};

/// Formats levels as `a b | c`, each sorted by id.
fn shown(plan: &Plan) -> String {
    let all: Vec<String> = levels(plan).levels.iter().map(|level| ids(plan, level)).collect();
    all.join(" | ")
}

#[test]
fn by_hand() {
    let cases = [
        ("no nodes", "", "", ""),
        ("one", "a:", "a", "a"),
        ("all at once", "c:\na:\nb:", "a b c", "a"),
        ("chain", "c: b\nb: a\na:", "a | b | c", "a b c"),
        ("diamond", "d: b c\nc: a\nb: a\na:", "a | b c | d", "a b d"),
        ("as late as the last need", "a:\nb: a\nc: a b\nd: a", "a | b d | c", "a b c"),
        ("ids as bytes", "n2: r\nn10: r\nN3: r\nr:", "r | N3 n10 n2", "r N3"),
        // The links of a ring that the order violates are ignored.
        ("ring", "a: b\nb: a\nc: a", "a | b c", "a b"),
    ];
    for (name, lines, expected, chain) in cases {
        let plan = functions(lines);
        assert_eq!(shown(&plan), expected, "{name}");
        let found = levels(&plan);
        assert_eq!(ids(&plan, &found.chain), chain, "{name}");
        assert_eq!(found.chain_weight as usize, found.chain.len(), "{name}");
        assert_eq!(found.weight as usize, plan.nodes().len(), "{name}");
    }
}

#[test]
fn composites_stand_between_leaves_and_in_no_level() {
    let nodes = [
        leaf("a", r#""x":0"#),
        r#"{"id":"p","name":"p","type":"module","node_type":"composite","dependencies":["a"]}"#
            .to_owned(),
        leaf("c", r#""x":0"#),
        leaf("d", r#""dependencies":["p"]"#),
    ];
    let plan = graph(&nodes, &[("p", "c", "hierarchy"), ("c", "d", "data_flow")]);
    assert_eq!(shown(&plan), "a | c | d");
    let found = levels(&plan);
    assert_eq!((ids(&plan, &found.chain), found.chain_weight), ("a c d".to_owned(), 3));
    assert_eq!(found.weight, 3);
}

#[test]
fn random_plans_follow_the_definition() {
    let mut random = Random(0x1e7e1);
    for round in 0..200 {
        let count = 1 + random.below(30);
        let lines: Vec<String> = (0..count)
            .map(|i| {
                let needs: Vec<String> = (0..random.below(4))
                    .filter(|_| i > 0)
                    .map(|_| format!("n{}", random.below(i)))
                    .collect();
                format!("n{i}: {}", needs.join(" "))
            })
            .collect();
        let plan = functions(&lines.join("\n"));
        let found = levels(&plan);
        let level = |ix| found.levels.iter().position(|level| level.contains(&ix));
        assert_eq!(found.levels.iter().map(Vec::len).sum::<usize>(), count, "round {round}");
        for ix in plan.indices() {
            let after = plan.needs(ix).iter().map(|&need| level(need).map(|it| it + 1)).max();
            assert_eq!(level(ix), after.unwrap_or(Some(0)), "round {round}: {}", plan.id(ix));
        }
        let linked = |pair: &[_]| plan.needs(pair[1]).contains(&pair[0]);
        assert!(found.chain.windows(2).all(linked), "round {round}");
        assert_eq!(found.chain.len(), found.levels.len(), "round {round}: all weigh the same");
    }
}

#[test]
fn the_order_of_the_file_does_not_matter() {
    let (one, other) = ("r:\na: r\nb: r\nz: a b", "z: b a\nb: r\na: r\nr:");
    let [one, other] = [one, other].map(functions);
    assert_eq!(shown(&one), shown(&other));
    let chain = |plan: &Plan| ids(plan, &levels(plan).chain);
    assert_eq!((chain(&one), chain(&other)), ("r a z".to_owned(), "r a z".to_owned()));
    assert_eq!(at(&one, "r").index(), 0);
}
