//! Tests of the choice of the model for a request.

use trellis_engine::{IntegrationTarget, Tier, ask_integration_tests};

use super::*;

/// Returns tier and reason of every request, the votes of a diagnosis once.
fn routes(item: &Item, script: Vec<In>) -> Vec<(Tier, &'static str)> {
    let played = play(item, &Policy::generate(), script);
    played.asks.iter().map(|ask| (ask.tier, ask.why)).collect()
}

const SMALL: (Tier, &str) = (Tier::Simple, "simple model: small function, method or class");
const TWICE: (Tier, &str) = (Tier::Strong, "strong model: two attempts failed");
const VOTE: (Tier, &str) = (Tier::Simple, "simple model: an opinion on a failure");
const JUDGED: (Tier, &str) = (Tier::Strong, "strong model: its tests were judged wrong");

#[test]
fn complex_work_goes_to_the_strong_model() {
    const LONG: (Tier, &str) = (Tier::Strong, "strong model: long specification");
    const MANY: (Tier, &str) = (Tier::Strong, "strong model: many dependencies");
    let paragraphs = |n: usize| "x".repeat(400 * n);
    let many = |n: usize| vec![dependency("total", "pkg.sums"); n];
    let of = |item: Item, paragraphs: String, dependencies: Vec<Dependency>| Item {
        docstring: paragraphs,
        dependencies,
        ..item
    };
    let table = [
        (item(), SMALL),
        (class(), SMALL),
        (of(item(), paragraphs(5), many(0)), SMALL),
        (of(item(), paragraphs(6), many(0)), LONG),
        (of(item(), paragraphs(0), many(23)), SMALL),
        (of(item(), paragraphs(0), many(24)), MANY),
        (of(item(), paragraphs(2), many(15)), SMALL),
        (of(item(), paragraphs(2), many(16)), MANY),
        (of(method(), paragraphs(5), many(0)), LONG),
        (of(method(), paragraphs(4), many(3)), SMALL),
        (of(class(), paragraphs(4), many(0)), LONG),
        (Item { examples: vec![paragraphs(6)], ..item() }, LONG),
    ];
    for (item, expect) in table {
        let name = item.qualified_name();
        let found = routes(&item, vec![]);
        assert_eq!(found, [expect], "{name}, {} bytes", item.docstring.len());
    }
}

#[test]
fn what_went_wrong_before_goes_to_the_strong_model() {
    let failed = |vote: &'static str| vec![fail(), fail(), Votes(vote)];
    let chain = |parts: Vec<Vec<In>>| parts.into_iter().flatten().collect::<Vec<In>>();
    let start = || vec![tests(), red(), bad()];
    let no = || vec![say("No.")];
    let table = [
        // Fixes: the first failure may be chance.
        (
            chain(vec![start(), failed("A!"), vec![worse(1)], failed("A!"), vec![worse(2)]]),
            vec![SMALL, SMALL, VOTE, SMALL, VOTE, TWICE],
        ),
        // Tests judged wrong, and sent back after that; the implementation keeps its tier.
        (
            chain(vec![start(), failed("B!"), no(), vec![tests(), red()], failed("A!")]),
            vec![SMALL, SMALL, VOTE, JUDGED, JUDGED, VOTE, SMALL],
        ),
        // Sent back twice.
        (chain(vec![no(), no()]), vec![SMALL, SMALL, TWICE]),
        (chain(vec![vec![tests(), red()], no(), no()]), vec![SMALL, SMALL, SMALL, TWICE]),
    ];
    for (script, expect) in table {
        assert_eq!(routes(&item(), script), expect);
    }
}

#[test]
fn long_flows_go_to_the_strong_model() {
    let part = item();
    let none = std::collections::BTreeMap::new();
    let table = [(2, Tier::Simple), (4, Tier::Simple), (5, Tier::Strong), (9, Tier::Strong)];
    for (parts, expect) in table {
        let flows = [vec![&part; 2], vec![&part; parts]];
        let target = IntegrationTarget { subgraph: "main", flows: &flows, files: &none };
        let ask = ask_integration_tests(&target, &["NumPy docstrings".to_owned()], None, 0);
        assert_eq!(ask.tier, expect, "{parts} parts: {}", ask.why);
    }
}
