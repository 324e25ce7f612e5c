//! Runs over a plan: ready leaves, skips after a failure, and starts from a node.

use std::sync::Arc;

use trellis_plan::{Counts, Plan, Schedule, Status, order};

use super::{Random, at, functions, graph, ids, leaf};

fn schedule(plan: Plan) -> Schedule {
    let order = order(&plan);
    Schedule::new(Arc::new(plan), order)
}

fn ready(schedule: &Schedule) -> String {
    ids(schedule.plan(), &schedule.ready().collect::<Vec<_>>())
}

/// Returns the statuses of all leaves in file order, one letter each.
fn letters(schedule: &Schedule) -> String {
    schedule.plan().indices().filter_map(|ix| schedule.status(ix)).map(|s| &s.name()[..1]).collect()
}

#[test]
fn leaves_become_ready_when_their_needs_are_settled() {
    let mut run = schedule(functions("a:\nb: a\nc: a\nd: b c"));
    let ix = |id| functions("a:\nb: a\nc: a\nd: b c").find(id).expect(id);
    assert_eq!(ready(&run), "a");
    run.start(ix("a"));
    assert_eq!((ready(&run), letters(&run)), (String::new(), "ippp".into()));
    run.put_back(ix("a"));
    assert_eq!(ready(&run), "a");
    run.pass(ix("a"));
    assert_eq!(ready(&run), "b c");
    run.pass(ix("c"));
    assert_eq!(ready(&run), "b");
    run.pass(ix("b"));
    assert_eq!(ready(&run), "d");
    assert!(!run.is_finished());
    run.pass(ix("d"));
    assert!(run.is_finished());
    assert_eq!(run.counts(), Counts { total: 4, passed: 4, ..Counts::default() });
}

#[test]
fn a_failure_skips_its_dependents_and_names_the_culprit() {
    let plan = functions("a:\nb: a\nc: b\nd: c\ne: a");
    let ix = |id| at(&plan, id);
    let mut run = schedule(plan.clone());
    run.pass(ix("a"));
    let skipped = run.fail(ix("b"), "tests still fail");
    let reported: Vec<_> =
        skipped.iter().map(|s| format!("{}: {}", plan.id(s.node), s.reason)).collect();
    assert_eq!(reported, ["c: dependency b failed", "d: dependency b failed (through c)"]);
    assert_eq!(letters(&run), "pfssp");
    assert_eq!(run.reason(ix("b")), Some("tests still fail"));
    assert_eq!(run.reason(ix("d")), Some("dependency b failed (through c)"));
    assert_eq!(ready(&run), "e", "the rest goes on");
    assert!(run.fail(ix("b"), "again").is_empty(), "settled once");
    assert_eq!(run.reason(ix("b")), Some("tests still fail"));
}

#[test]
fn an_environment_skip_skips_dependents_too() {
    let plan = functions("a:\nb: a");
    let mut run = schedule(plan.clone());
    let skipped = run.skip(at(&plan, "a"), "timed out");
    assert_eq!(skipped[0].reason, "dependency a was skipped");
    assert_eq!(letters(&run), "ss");
    assert_eq!(run.counts(), Counts { total: 2, skipped: 2, ..Counts::default() });
}

#[test]
fn data_flow_and_hierarchy_wait_but_do_not_skip() {
    let nodes = [
        leaf("a", r#""x":0"#),
        leaf("b", r#""x":0"#),
        r#"{"id":"p","name":"p","type":"module","node_type":"composite","dependencies":["a"]}"#
            .to_owned(),
        leaf("c", r#""x":0"#),
        leaf("d", r#""dependencies":["p"]"#),
    ];
    let plan = graph(&nodes, &[("a", "b", "data_flow"), ("p", "c", "hierarchy")]);
    let mut run = schedule(plan.clone());
    assert_eq!(ready(&run), "a", "b is fed by a, c is in p, which needs a");
    let skipped = run.fail(at(&plan, "a"), "no");
    assert_eq!(ids(&plan, &skipped.iter().map(|s| s.node).collect::<Vec<_>>()), "d");
    assert_eq!(skipped[0].reason, "dependency a failed (through p)");
    assert_eq!(ready(&run), "b c");
    assert_eq!(run.status(at(&plan, "p")), None, "composites have no status");
    assert_eq!(run.counts().total, 4);
}

#[test]
fn methods_are_skipped_with_their_class() {
    let nodes = [
        r#"{"id":"k","name":"K","type":"class","file_path":"k.py","docstring":"d"}"#.to_owned(),
        r#"{"id":"m","name":"K.go","type":"method","file_path":"k.py","docstring":"d"}"#.to_owned(),
    ];
    let plan = graph(&nodes, &[]);
    let mut run = schedule(plan.clone());
    assert_eq!(ready(&run), "k");
    assert_eq!(run.fail(at(&plan, "k"), "no")[0].reason, "dependency k failed");
    assert!(run.is_finished());
}

#[test]
fn urgent_follows_the_longest_chain() {
    let plan = functions("a:\nb:\nc: b\nd: c\ne: a");
    let run = schedule(plan.clone());
    assert_eq!(ready(&run), "a b");
    assert_eq!(ids(&plan, &run.urgent().collect::<Vec<_>>()), "b a");
    let paths = ["a", "b", "c", "d"].map(|id| run.critical_path(at(&plan, id)));
    assert_eq!(paths, [2, 3, 2, 1]);
}

#[test]
fn who_knows_of_longer_chains_makes_leaves_more_urgent_and_none_less() {
    let plan = functions("a:\nb:\nc: b\nd: c\ne: a\nf:");
    let mut run = schedule(plan.clone());
    run.set_urgency(|ix| match plan.id(ix) {
        "a" => Some(9),
        "b" => Some(1),
        _ => None,
    });
    assert_eq!(ids(&plan, &run.urgent().collect::<Vec<_>>()), "a b f");
    run.pass(at(&plan, "b"));
    assert_eq!(ids(&plan, &run.urgent().collect::<Vec<_>>()), "a c f");
}

#[test]
fn start_from_refuses_and_names_unmet_dependencies() {
    let plan = functions("a:\nb:\nc: a b\nd: c\ne:\nf: b");
    let mut run = schedule(plan.clone());
    run.pass(at(&plan, "b"));
    let refused = run.start_from(at(&plan, "c")).expect_err("a has not passed");
    assert_eq!(refused.unmet, ["a"]);
    assert_eq!(refused.to_string(), "cannot start from `c`: a dependency has not passed: a");
    assert_eq!(letters(&run), "pppppp", "nothing changed");
    run.pass(at(&plan, "a"));
    // Order: a b c d e f.
    let skipped = run.start_from(at(&plan, "e")).expect("e needs nothing");
    let reported: Vec<_> =
        skipped.iter().map(|s| format!("{}: {}", plan.id(s.node), s.reason)).collect();
    assert_eq!(reported, ["c: before the start node e", "d: dependency c was skipped"]);
    assert_eq!(ready(&run), "e f");
}

#[test]
fn a_retry_touches_one_leaf_and_what_waits_for_it() {
    // a failed, so c and d were skipped; b was skipped for its own reasons; g was never reached.
    let plan = functions("a:\nb:\nc: a\nd: c b\ne: b\nf:\ng:");
    let mut run = schedule(plan.clone());
    run.pass(at(&plan, "f"));
    let refused = run.clone().retry(at(&plan, "c"), |_| None).expect_err("a has not passed");
    assert_eq!(refused.unmet, ["a"]);
    let before = |ix| match plan.id(ix) {
        "b" => Some((Status::Skipped, "no network".to_owned())),
        "e" => Some((Status::Failed, "never seen: its dependency tells more".to_owned())),
        _ => None,
    };
    run.retry(at(&plan, "a"), before).expect("a needs nothing");
    assert_eq!((ready(&run).as_str(), letters(&run).as_str()), ("a", "pspssps"));
    let reason = |id| run.reason(at(&plan, id)).unwrap_or_default().to_owned();
    assert_eq!(reason("b"), "no network");
    assert_eq!(reason("d"), "dependency b was skipped");
    assert_eq!(reason("e"), "dependency b was skipped");
    assert_eq!(reason("g"), "only a was requested");
}

#[test]
fn start_from_looks_through_composites() {
    let nodes = [
        leaf("a", r#""x":0"#),
        r#"{"id":"p","name":"p","type":"module","node_type":"composite","dependencies":["a"]}"#
            .to_owned(),
        leaf("d", r#""dependencies":["p"]"#),
    ];
    let plan = graph(&nodes, &[]);
    let refused = schedule(plan.clone()).start_from(at(&plan, "d")).expect_err("through p");
    assert_eq!(refused.unmet, ["a"]);
}

#[test]
fn counts_by_subgraph() {
    let nodes = [
        leaf("a", r#""subgraph_id":"x""#),
        leaf("b", r#""subgraph_id":"y","dependencies":["a"]"#),
        leaf("c", r#""subgraph_id":"x""#),
        leaf("d", r#""x":0"#),
    ];
    let plan = graph(&nodes, &[]);
    let mut run = schedule(plan.clone());
    run.fail(at(&plan, "a"), "no");
    run.pass(at(&plan, "c"));
    run.start(at(&plan, "d"));
    let counts: Vec<_> = run.counts_by_subgraph();
    let named: Vec<_> = counts.iter().map(|(name, c)| (name.as_deref(), *c)).collect();
    let none = Counts::default();
    assert_eq!(
        named,
        [
            (None, Counts { total: 1, in_progress: 1, ..none }),
            (Some("x"), Counts { total: 2, passed: 1, failed: 1, ..none }),
            (Some("y"), Counts { total: 1, skipped: 1, ..none }),
        ]
    );
}

#[test]
fn random_runs_settle_everything_and_never_run_ahead() {
    let mut random = Random(42);
    for round in 0..100 {
        let lines: Vec<String> = (0..30)
            .map(|i| {
                let needs: Vec<String> =
                    (0..random.below(3)).map(|_| format!("n{}", random.below(i.max(1)))).collect();
                format!("n{i}: {}", if i == 0 { String::new() } else { needs.join(" ") })
            })
            .collect();
        let plan = functions(&lines.join("\n"));
        let mut run = schedule(plan.clone());
        loop {
            let open: Vec<_> = run.ready().collect();
            let Some(&next) = open.get(random.below(open.len().max(1))) else { break };
            let needs = plan.depends_on(next).iter();
            assert!(
                needs.clone().all(|&need| run.status(need) == Some(Status::Passed)),
                "round {round}"
            );
            run.start(next);
            match random.below(4) {
                0 => drop(run.fail(next, "no")),
                _ => run.pass(next),
            }
        }
        assert!(run.is_finished(), "round {round}: {:?}", run.counts());
        for ix in plan.indices() {
            let failed =
                plan.depends_on(ix).iter().any(|&need| run.status(need) != Some(Status::Passed));
            assert_eq!(run.status(ix) == Some(Status::Skipped), failed, "round {round}");
        }
    }
}
