//! Lists of tasks: reading, problems, and the effect of story points.

use std::sync::Arc;

use trellis_plan::{Dialect, Schedule, Task, check, export, levels, order, read};

use super::{at, ids, plan};

/// Reads a list from objects without their braces.
fn tasks(tasks: &[&str]) -> trellis_plan::Plan {
    let objects: Vec<String> = tasks.iter().map(|it| format!("{{{it}}}")).collect();
    plan(&format!(r#"{{"tasks": [{}]}}"#, objects.join(",\n")))
}

const PROJECT: &str = r#"{
  "project_id": "abc123", "tech_stack": "nodejs-api",
  "tasks": [
    {"id": "register", "description": "Create the user registration endpoint\nwith a mail.",
     "implementation_details": "POST /api/users. Return 201.", "story_points": 3,
     "depends_on": ["database", "mail"], "keywords": ["auth", "users"], "type": "story", "owner": 7},
    {"id": "database", "description": "Set up the database", "depends_on": []},
    {"id": "mail", "description": "Send mails", "story_points": null, "keywords": null}
  ]}"#;

#[test]
fn a_list_is_known_by_its_shape() {
    let plan = plan(PROJECT);
    assert_eq!(plan.dialect(), Dialect::Tasks);
    assert_eq!(check(&plan), []);
    assert_eq!(plan.extra().text("tech_stack").as_deref(), Some("nodejs-api"));
    let register = at(&plan, "register");
    let node = plan.node(register);
    assert!(node.is_leaf());
    assert_eq!((&*node.name, node.kind.name()), ("Create the user registration endpoint", "task"));
    assert_eq!(
        node.docstring.as_deref(),
        Some("Create the user registration endpoint\nwith a mail.")
    );
    assert_eq!(ids(&plan, plan.depends_on(register)), "database mail");
    let reported = Task {
        details: Some("POST /api/users. Return 201.".into()),
        points: 3,
        keywords: vec!["auth".into(), "users".into()],
    };
    assert_eq!(plan.task(register), Some(reported));
    let silent = Task { details: None, points: 1, keywords: Vec::new() };
    assert_eq!(plan.task(at(&plan, "mail")), Some(silent));
    assert_eq!(plan.edge_count(), 2);
    assert_eq!(super::functions("a:").task(at(&super::functions("a:"), "a")), None);
}

#[test]
fn a_list_may_be_forced_and_graphs_stay_graphs() {
    let both = br#"{"nodes": [], "tasks": []}"#;
    assert_eq!(read(both, None).expect("a graph").dialect(), Dialect::Rpg);
    assert_eq!(read(both, Some(Dialect::Tasks)).expect("forced").dialect(), Dialect::Tasks);
    let error = read(br#"{"nodes": []}"#, Some(Dialect::Tasks)).expect_err("no tasks");
    assert!(error.message.contains("`tasks` is missing"), "{error}");
}

#[test]
fn each_problem() {
    let sound = r#""id": "a", "description": "Do it.""#;
    let points = |points: &str| format!(r#"{sound}, "story_points": {points}"#);
    let cases: Vec<(Vec<String>, &str)> = vec![
        (vec![sound.into()], ""),
        (vec![points("1")], ""),
        (vec![points("8")], ""),
        (vec![sound.into(), sound.into()], "duplicate-id a"),
        (vec![format!(r#"{sound}, "depends_on": ["b"]"#)], "unknown-id a"),
        (vec![format!(r#"{sound}, "depends_on": ["a"]"#)], "cycle a"),
        (
            vec![
                r#""id": "b", "description": "B.", "depends_on": ["c"]"#.into(),
                r#""id": "c", "description": "C.", "depends_on": ["b"]"#.into(),
            ],
            "cycle b",
        ),
        (vec![r#""id": "a""#.into()], "missing-description a"),
        (vec![r#""id": "a", "description": null"#.into()], "missing-description a"),
        (vec![r#""id": "a", "description": " \n ""#.into()], "missing-description a"),
        (vec![points("0")], "invalid-points a"),
        (vec![points("9")], "invalid-points a"),
        (vec![points("-1")], "invalid-points a"),
        (vec![points("2.5")], "invalid-points a"),
        (vec![points("\"3\"")], "invalid-points a"),
        (vec![points("true")], "invalid-points a"),
        (vec![points("[3]")], "invalid-points a"),
        (
            vec![r#""id": "a", "story_points": 0, "depends_on": ["a", "z"]"#.into()],
            "unknown-id a\ncycle a\nmissing-description a\ninvalid-points a",
        ),
    ];
    for (list, expected) in cases {
        let plan = tasks(&list.iter().map(String::as_str).collect::<Vec<_>>());
        let problems = check(&plan);
        let codes: Vec<String> =
            problems.iter().map(|it| format!("{} {}", it.kind, it.node)).collect();
        assert_eq!(codes.join("\n"), expected, "{list:?}");
        assert!(problems.iter().all(|it| !it.hint.is_empty()), "{list:?}");
    }
}

#[test]
fn circles_and_strangers_are_named() {
    let plan = tasks(&[
        r#""id": "login", "description": "L.", "depends_on": ["users"]"#,
        r#""id": "users", "description": "U.", "depends_on": ["mail", "databse"]"#,
        r#""id": "mail", "description": "M.", "depends_on": ["login"]"#,
        r#""id": "database", "description": "D.", "story_points": 13"#,
    ]);
    let messages: Vec<String> = check(&plan).into_iter().map(|it| it.message).collect();
    assert_eq!(
        messages,
        [
            "depends on `databse`, which is not in the plan",
            "cycle of 3 nodes, each depending on the next: login -> users -> mail -> login",
            "its `story_points` are 13, expected a whole number from 1 to 8",
        ]
    );
    assert!(check(&plan)[0].hint.contains("did you mean `database`?"));
}

#[test]
fn wrong_shapes_name_their_place() {
    let cases = [
        (r#"{"tasks": {}}"#, 11, "`tasks` is an object, expected an array"),
        (r#"{"tasks": [7]}"#, 12, "expected an object"),
        (r#"{"tasks": [{"description": "x"}]}"#, 28, "a task has no `id`"),
        (r#"{"tasks": [{"id": ""}]}"#, 19, "`id` of a task is empty"),
        (r#"{"tasks": [{"id": 1}]}"#, 19, "`id` is a number, expected a string"),
        (r#"{"tasks": [{"id": "a", "description": 1}]}"#, 39, "`description` is a number"),
        (r#"{"tasks": [{"id": "a", "depends_on": "b"}]}"#, 38, "`depends_on` is a string"),
        (r#"{"tasks": [{"id": "a", "depends_on": [1]}]}"#, 39, "`depends_on` is a number"),
        (r#"{"tasks": [{"id": "a", "keywords": "b"}]}"#, 36, "`keywords` is a string"),
        (r#"{"tasks": [{"id": "a", "keywords": [{}]}]}"#, 37, "`keywords` is an object"),
        (r#"{"tasks": [{"id": "a", "implementation_details": 1}]}"#, 50, "is a number"),
    ];
    for (text, column, message) in cases {
        let error = read(text.as_bytes(), None).expect_err(text);
        assert!(error.message.contains(message), "{text}: {error}");
        assert_eq!((error.line, error.column), (1, column), "{text}: {error}");
    }
}

#[test]
fn dependencies_of_another_name_are_warned_about() {
    let plan = tasks(&[
        r#""id": "a", "description": "A.""#,
        r#""id": "b", "description": "B.", "dependencies": ["a"]"#,
    ]);
    assert_eq!(
        plan.warnings(),
        ["`dependencies` of task `b` has no meaning here; tasks have `depends_on`"]
    );
    assert_eq!(ids(&plan, plan.needs(at(&plan, "b"))), "");
}

/// Returns a plan with two paths to the end; the longer one is lighter.
fn weighted() -> trellis_plan::Plan {
    tasks(&[
        r#""id": "start", "description": "S.", "story_points": 1"#,
        r#""id": "heavy", "description": "H.", "story_points": 8, "depends_on": ["start"]"#,
        r#""id": "light", "description": "L.", "story_points": 2, "depends_on": ["start"]"#,
        r#""id": "later", "description": "L.", "story_points": 3, "depends_on": ["light"]"#,
        r#""id": "end", "description": "E.", "story_points": 1, "depends_on": ["later", "heavy"]"#,
    ])
}

#[test]
fn story_points_are_weights() {
    let plan = weighted();
    let found = levels(&plan);
    let shown: Vec<String> = found.levels.iter().map(|level| ids(&plan, level)).collect();
    assert_eq!(shown, ["start", "heavy light", "later", "end"]);
    assert_eq!(ids(&plan, &found.chain), "start heavy end");
    assert_eq!((found.chain_weight, found.weight), (10, 15));
    let sequence = order(&plan);
    let mut run = Schedule::new(Arc::new(plan.clone()), sequence);
    assert_eq!(run.critical_path(at(&plan, "light")), 6);
    run.pass(at(&plan, "start"));
    let urgent: Vec<_> = run.urgent().collect();
    assert_eq!(ids(&plan, &urgent), "heavy light", "the heavier chain first");
}

#[test]
fn an_export_keeps_what_the_list_said() {
    for plan in [plan(PROJECT), weighted()] {
        let text = export(&plan, |_| None, &serde_json::json!({}));
        let again = read(text.as_bytes(), None).expect("an export");
        assert_eq!(again.dialect(), Dialect::Rpg);
        assert!(again == plan, "{text}");
    }
}
