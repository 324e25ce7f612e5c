//! Every kind of problem, and plans without problems.

use trellis_plan::{Plan, ProblemKind, check};

use super::{functions, graph, leaf, plan};

/// Returns the problems as `code node`, one per line.
fn codes(plan: &Plan) -> String {
    let line = |problem: &trellis_plan::Problem| format!("{} {}", problem.kind, problem.node);
    check(plan).iter().map(line).collect::<Vec<_>>().join("\n")
}

fn node(id: &str, name: &str, kind: &str, file: &str) -> String {
    format!(
        r#"{{"id":"{id}","name":"{name}","type":"{kind}","file_path":"{file}","docstring":"d"}}"#
    )
}

#[test]
fn a_sound_plan_has_none() {
    let nodes = [
        node("k", "Cart", "class", "src/shop/cart.py"),
        node("m", "Cart.total", "method", "src/shop/cart.py"),
        node("n", "Cart.add", "method", "src/shop/cart.py"),
        node("f", "add", "function", "src/shop/cart.py"),
        node("g", "größe", "function", "src/shop/__init__.py"),
        node("h", "match", "function", "tools.py"),
        r#"{"id":"c","name":"The shop!","type":"package","node_type":"composite","file_path":"src/my-shop/"}"#.into(),
    ];
    assert_eq!(codes(&graph(&nodes, &[("m", "n", "call"), ("c", "k", "hierarchy")])), "");
}

/// Nodes, edges and their expected problems.
type Case<'a> = (&'a [String], &'a [(&'a str, &'a str, &'a str)], &'a str);

#[test]
fn each_kind() {
    let cases: &[Case] = &[
        (
            &[leaf("a", r#""x":0"#), leaf("a", r#""y":0,"name":"g","file_path":"g.py""#)],
            &[],
            "duplicate-id a",
        ),
        (&[leaf("a", r#""dependencies":["zz"]"#)], &[], "unknown-id a"),
        (
            &[leaf("a", r#""x":0"#)],
            &[("zz", "a", "call"), ("a", "yy", "call")],
            "unknown-id a\nunknown-id a",
        ),
        (&[leaf("a", r#""x":0"#)], &[("a", "a", "call")], "cycle a"),
        (&[leaf("a", r#""docstring":"  ""#)], &[], "missing-docstring a"),
        (
            &[r#"{"id":"a","name":"a","type":"function"}"#.into()],
            &[],
            "missing-docstring a\nmissing-file-path a",
        ),
        (&[node("a", "two words", "function", "a.py")], &[], "invalid-name a"),
        (&[node("a", "class", "function", "a.py")], &[], "invalid-name a"),
        (&[node("a", "1st", "function", "a.py")], &[], "invalid-name a"),
        (&[node("a", "A.b.c", "method", "a.py")], &[], "invalid-name a"),
        (&[node("a", "A.B", "class", "a.py")], &[], "invalid-name a"),
        (
            &[node("a", "f", "function", "a.py"), node("b", "f", "class", "a.py")],
            &[],
            "duplicate-definition b",
        ),
        (
            &[node("a", "K.f", "method", "a.py"), node("b", "K.f", "method", "a.py")],
            &[],
            "duplicate-definition b",
        ),
        (
            &[node("k", "K", "class", "a.py"), node("m", "L.f", "method", "a.py")],
            &[("k", "m", "hierarchy")],
            "class-mismatch m",
        ),
        (
            &[node("k", "K", "class", "a.py"), node("m", "f", "method", "b.py")],
            &[("k", "m", "contains")],
            "class-mismatch m",
        ),
        (
            &[
                node("j", "J", "class", "a.py"),
                node("k", "K", "class", "a.py"),
                node("m", "f", "method", "a.py"),
            ],
            &[("k", "m", "contains"), ("j", "m", "contains")],
            "class-mismatch m",
        ),
        (
            &[node("a", "f", "function", "src/A.py"), node("b", "g", "function", "src/a.py")],
            &[],
            "path-case-clash b",
        ),
        (
            &[node("a", "f", "function", "X/a.py"), node("b", "g", "function", "x/b.py")],
            &[],
            "path-case-clash b",
        ),
        (
            &[node("a", "f", "function", "src/a.py"), node("b", "g", "function", "src/a/b.py")],
            &[],
            "module-package-clash a",
        ),
    ];
    for (nodes, edges, expected) in cases {
        assert_eq!(codes(&graph(nodes, edges)), *expected, "{nodes:?} {edges:?}");
    }
}

#[test]
fn unsafe_paths() {
    let unsafe_for_leaves = [
        "",
        "/etc/x.py",
        "../x.py",
        "a/../x.py",
        "a\\\\b.py",
        "C:/x.py",
        "a//b.py",
        "a/./b.py",
        "x\\u0000.py",
        "a.txt",
        "a",
        "a-b/c.py",
        "a/1b.py",
        ".git/x.py",
        "a/.git/x.py",
        ".trellis/x.py",
        ".hidden/x.py",
        "a b.py",
        "class.py",
        "a/import/b.py",
        ".py",
        "a/.py",
        "~/x.py",
        "a/b.py/",
        "$(x).py",
    ];
    for path in unsafe_for_leaves {
        assert_eq!(
            codes(&graph(&[node("a", "f", "function", path)], &[])),
            "unsafe-file-path a",
            "{path}"
        );
    }
    let composite = |path: &str| {
        format!(
            r#"{{"id":"c","name":"c","type":"module","node_type":"composite","file_path":"{path}"}}"#
        )
    };
    for path in ["/abs", "../up", "a\\\\b", ".git", "x/.GIT/y", ".trellis/journal"] {
        assert_eq!(codes(&graph(&[composite(path)], &[])), "unsafe-file-path c", "{path}");
    }
    let long = format!("{}.py", "x".repeat(300));
    assert_eq!(codes(&graph(&[node("a", "f", "function", &long)], &[])), "unsafe-file-path a");
}

#[test]
fn all_problems_come_at_once_and_in_one_order() {
    let text = r#"{"nodes": [
        {"id":"b","name":"x y","type":"function","file_path":"/b.py","dependencies":["a","nowhere"]},
        {"id":"a","name":"a","type":"function","docstring":"d","file_path":"a.py","dependencies":["b"]},
        {"id":"a","name":"c","type":"function","docstring":"d"}], "edges": []}"#;
    let expected = "duplicate-id a\nunknown-id b\ncycle a\nmissing-docstring b\nmissing-file-path a\n\
                    unsafe-file-path b\ninvalid-name b";
    assert_eq!(codes(&plan(text)), expected);
    assert!(check(&plan(text)).iter().all(|problem| !problem.hint.is_empty()));
}

#[test]
fn unknown_ids_suggest_what_was_meant() {
    let problems = check(&functions("load_rows:\nuser: laod_rows"));
    assert_eq!(
        problems[0].hint,
        "did you mean `load_rows`? Otherwise add the node or remove the reference"
    );
    assert_eq!(problems[0].message, "depends on `laod_rows`, which is not in the plan");
}

fn cycle(lines: &str) -> Vec<String> {
    let cycles =
        check(&functions(lines)).into_iter().filter(|problem| problem.kind == ProblemKind::Cycle);
    cycles.map(|problem| problem.message).collect()
}

#[test]
fn the_shortest_cycle_of_each_knot() {
    assert_eq!(cycle("a: b\nb: c\nc:"), [""; 0]);
    assert_eq!(cycle("b: a\na: b"), ["cycle of 2 nodes, each depending on the next: a -> b -> a"]);
    assert_eq!(
        cycle("a: b\nb: c\nc: d e\nd: a\ne: c\nx: a"),
        ["cycle of 2 nodes, each depending on the next: c -> e -> c; 5 nodes here depend on \
             each other"]
    );
    assert_eq!(
        cycle("a: b\nb: a b"),
        ["depends on itself: b -> b; 2 nodes here depend on each other"]
    );
    assert_eq!(cycle("d: e\ne: d\na: b d\nb: a").len(), 2, "one for each knot");
}

#[test]
fn cycles_run_through_edges_of_every_role() {
    let nodes = [leaf("a", r#""x":0"#), leaf("b", r#""x":0"#)];
    assert_eq!(codes(&graph(&nodes, &[("a", "b", "call"), ("a", "b", "data_flow")])), "cycle a");
    assert_eq!(codes(&graph(&nodes, &[("a", "b", "call"), ("b", "a", "data_flow")])), "");
    assert_eq!(codes(&graph(&nodes, &[("a", "b", "hierarchy"), ("a", "b", "call")])), "cycle a");
}

#[test]
fn a_long_ring_is_found_quickly_and_reported_briefly() {
    let n = 20_000;
    let lines: Vec<String> = (0..n).map(|i| format!("n{i}: n{}", (i + 1) % n)).collect();
    let problems = check(&functions(&lines.join("\n")));
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].related.len(), n);
    assert!(problems[0].message.len() < 1000, "{}", problems[0].message.len());
    assert!(problems[0].message.ends_with("(19950 more) -> n0"), "{}", problems[0].message);
}
