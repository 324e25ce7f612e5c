//! Tests of planned files that would import one another in a circle.

use trellis_engine::assembly::planned_cycles;
use trellis_plan::Plan;

fn graph(nodes: &[String]) -> Plan {
    let text = format!(r#"{{"nodes":[{}],"edges":[],"metadata":{{}}}}"#, nodes.join(","));
    trellis_plan::read(text.as_bytes(), None).expect("a plan")
}

/// Returns a documented function `id` in `file` that depends on `others`.
fn function(id: &str, file: &str, others: &[&str]) -> String {
    let others: Vec<String> = others.iter().map(|it| format!("\"{it}\"")).collect();
    format!(
        r#"{{"id":"{id}","name":"f_{id}","type":"function","file_path":"{file}","docstring":"d","dependencies":[{}]}}"#,
        others.join(",")
    )
}

fn report(nodes: &[String]) -> Vec<String> {
    planned_cycles(&graph(nodes)).iter().map(ToString::to_string).collect()
}

#[test]
fn two_files_whose_functions_need_each_other_s_neighbours() {
    let nodes = [
        function("a", "src/x.py", &["c"]),
        function("b", "src/x.py", &[]),
        function("c", "src/y.py", &[]),
        function("d", "src/y.py", &["b"]),
    ];
    assert_eq!(trellis_plan::check(&graph(&nodes)), []);
    let wanted = "src/x.py -> src/y.py -> src/x.py: `a` depends on `c`, `d` depends on `b`; plan `d` and `b` in one file, or import within the function";
    assert_eq!(report(&nodes), [wanted]);
}

#[test]
fn each_circle_once_and_nothing_else() {
    let line = [
        function("a", "src/x.py", &["b"]),
        function("b", "src/y.py", &["c"]),
        function("c", "src/z.py", &[]),
        function("d", "src/x.py", &["c"]),
    ];
    assert_eq!(report(&line), Vec::<String>::new());
    // Three files in a circle, and one that leads into it.
    let mut three = line.to_vec();
    three.push(function("e", "src/z.py", &["f"]));
    three.push(function("f", "src/x.py", &[]));
    three.push(function("g", "src/w.py", &["a"]));
    let circles = planned_cycles(&graph(&three));
    let files: Vec<&[String]> = circles.iter().map(|it| it.files.as_slice()).collect();
    // The shortest circle through each file: `x` and `z` have one of their own.
    assert_eq!(files, [&["src/x.py", "src/z.py"][..], &["src/x.py", "src/y.py", "src/z.py"][..]]);
    // There are no imports within a file, and nodes that only group others have none.
    let same = [function("a", "src/x.py", &["b"]), function("b", "src/x.py", &[])];
    assert_eq!(report(&same), Vec::<String>::new());
    let group = r#"{"id":"m","name":"M","type":"module","node_type":"composite","file_path":"src/y.py","dependencies":["a"]}"#;
    assert_eq!(
        report(&[
            function("a", "src/x.py", &["b"]),
            function("b", "src/y.py", &[]),
            group.to_owned()
        ]),
        Vec::<String>::new()
    );
}

/// A thousand files, each of which depends on the ones before it.
#[test]
fn a_large_plan_without_circles_has_none() {
    let node = |at: usize| {
        let before: Vec<String> = (at.saturating_sub(20)..at).map(|it| format!("n{it}")).collect();
        let before: Vec<&str> = before.iter().map(String::as_str).collect();
        function(&format!("n{at}"), &format!("src/m{at}.py"), &before)
    };
    let nodes: Vec<String> = (0..1000).map(node).collect();
    assert_eq!(planned_cycles(&graph(&nodes)), []);
}
