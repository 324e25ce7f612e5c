//! Edits of a graph's file from the command line.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::world::{Ran, World, repository};

/// Returns the example graph in a world of its own.
fn pantry() -> (World, String) {
    let world = World::new();
    let plan = repository().join("fixtures/examples/generate/plan.json");
    let text = fs::read_to_string(plan).expect("the example");
    world.write("plan.json", &text);
    (world, text)
}

fn edit(world: &World, more: &[&str]) -> Ran {
    world.trellis(&[&["plan", "edit", "plan.json"], more].concat())
}

#[test]
fn a_rename_changes_the_lines_that_name_the_node_and_no_others() {
    let (world, text) = pantry();
    let shown = edit(&world, &["rename", "units.convert", "exchange"]).exits(0).stdout;
    assert!(
        shown.contains("renamed units.exchange\n  id: units.convert -> units.exchange\n"),
        "{shown}"
    );
    assert!(shown.contains("generate again (1): units.exchange"), "{shown}");
    let edited = world.read("plan.json");
    let changed = text.lines().zip(edited.lines()).filter(|(old, new)| old != new);
    assert!(changed.clone().all(|(old, _)| old.contains("convert")));
    assert_eq!(text.lines().count(), edited.lines().count());
    assert!(changed.count() > 3);
    let _ = world.trellis(&["plan", "check", "plan.json"]).exits(0);
    let _ = edit(&world, &["rename", "units.exchange", "convert"]).exits(0);
    assert_eq!(world.read("plan.json"), text);
}

#[test]
fn an_edit_that_makes_a_problem_is_refused() {
    let (world, text) = pantry();
    let cycle = ["link", "units.parse_amount", "recipes.Recipe.add"];
    let ran = edit(&world, &cycle).exits(65).says("the edit would make 1 problem");
    let _ = ran.says("[cycle]").says("--force");
    assert_eq!(world.read("plan.json"), text);
    let forced = edit(&world, &[&cycle[..], &["--force", "--json"]].concat()).exits(0).json();
    assert_eq!(forced["newProblems"][0]["kind"], "cycle", "{forced}");
    let _ = world.trellis(&["plan", "check", "plan.json"]).exits(65);
    let _ = edit(&world, &["unlink", cycle[1], cycle[2]]).exits(0);
    assert_eq!(world.read("plan.json"), text);
}

#[test]
fn every_operation_leaves_a_graph_without_problems() {
    let (world, _) = pantry();
    let table: [&[&str]; 8] = [
        &[
            "add",
            "units.scale",
            "--file",
            "src/pantry/units/amounts.py",
            "--subgraph",
            "units",
            "--docstring",
            "Scale an amount.",
            "--needs",
            "units.parse_amount",
            "--serves",
            "2,3",
        ],
        &[
            "set",
            "units.scale",
            "--signature",
            "def scale(it)",
            "--example",
            "scale(1) == 2",
            "--library",
            "numpy",
        ],
        &["link", "recipes.shopping_list", "units.scale"],
        &["move", "recipes.Recipe", "--file", "src/pantry/recipes/dish.py"],
        &["split", "units.scale", "units.scale_up", "units.scale_down"],
        &["merge", "units.scale_up", "units.scale_down"],
        &["rename", "recipes.Recipe", "Dish"],
        &["remove", "recipes.Dish.lines"],
    ];
    for arguments in table {
        let _ = edit(&world, arguments).exits(0);
        let _ = world.trellis(&["plan", "check", "plan.json"]).exits(0);
    }
    let shown = world.trellis(&["plan", "show", "plan.json", "--json"]).exits(0).json();
    let nodes = shown["nodes"].as_array().expect("nodes");
    let node = |id: &str| nodes.iter().find(|it| it["id"] == id).unwrap_or_else(|| panic!("{id}"));
    assert_eq!(node("recipes.Dish.add")["filePath"], "src/pantry/recipes/dish.py");
    let needs = &node("recipes.shopping_list")["dependsOn"];
    assert!(needs.as_array().is_some_and(|it| it.contains(&json!("units.scale_up"))), "{needs}");
    assert!(nodes.iter().all(|it| it["id"] != "recipes.Dish.lines"));
}

#[test]
fn an_edit_goes_to_the_file_that_was_named_and_to_no_other() {
    let (world, text) = pantry();
    let remove = ["remove", "recipes.shopping_list"];
    let result = edit(&world, &[&remove[..], &["--dry-run", "--json"]].concat()).exits(0).json();
    assert_eq!(result["written"], json!(null));
    assert_eq!(result["diff"]["removed"][0]["id"], "recipes.shopping_list");
    let _ = edit(&world, &[&remove[..], &["--out", "next.json"]].concat()).exits(0);
    assert_eq!(world.read("plan.json"), text);
    assert!(!world.read("next.json").contains("\"recipes.shopping_list\""));
    let again = edit(&world, &[&remove[..], &["--out", "next.json"]].concat());
    let _ = again.exits(65).says("already exists");

    let path = world.root().join("plan.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
    std::os::unix::fs::symlink("plan.json", world.root().join("link.json")).expect("a link");
    let _ = world
        .trellis(&["plan", "edit", "link.json", "set", "units.convert", "--serves", "1"])
        .exits(0);
    assert!(world.read("plan.json").contains("\"serves\": ["));
    assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o640);
    assert!(world.root().join("link.json").is_symlink());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).expect("a mode");
    let _ = edit(&world, &remove).exits(65).says("read-only");
}

#[test]
fn an_edit_that_cannot_be_made_says_why() {
    let (world, text) = pantry();
    let _ = edit(&world, &["remove", "units.convrt"]).exits(65).says("units.convert");
    let _ = edit(&world, &["remove", "recipes.Recipe"])
        .exits(65)
        .says("has parts")
        .says("--with-parts");
    let _ = edit(&world, &["merge", "units.convert"]).exits(64);
    let _ = edit(&world, &["move", "units.convert"]).exits(64);
    assert_eq!(world.read("plan.json"), text);
    world.write("plan.json", r#"{"tasks":[{"id":"a","description":"A"}]}"#);
    let _ = edit(&world, &["rename", "a", "b"]).exits(65).says("format tasks");
    world.write("plan.json", "{");
    let _ = edit(&world, &["rename", "a", "b"]).exits(65).says("plan.json");
    fs::remove_file(world.root().join("plan.json")).expect("a file");
    let _ = edit(&world, &["rename", "a", "b"]).exits(65).says("plan.json");
}

#[test]
fn a_specification_is_kept_and_traced() {
    let (world, _) = pantry();
    world.write("docs/SPEC.md", "It reads amounts. It converts them. Cooks are happy.\n");
    let spec = |more: &[&str]| edit(&world, &[&["spec", "docs/SPEC.md"], more].concat());
    let _ = spec(&["--background", "7"]).exits(65).says("no sentence 7");
    let shown = spec(&["--background", "3"]).exits(0).stdout;
    assert_eq!(shown, "metadata spec\nnothing to generate again\n");
    let _ = edit(&world, &["set", "units.parse_amount", "--serves", "1"]).exits(0);
    let _ = edit(&world, &["set", "units.convert", "--serves", "2"]).exits(0);
    let trace = || world.trellis(&["plan", "trace", "plan.json"]);
    let before = trace().exits(65).stdout;
    assert!(!before.contains("unserved-sentence") && before.contains("(background)"), "{before}");
    world.write("docs/SPEC.md", "New. It reads amounts. It converts all. Cooks are happy.\n");
    let changed = trace().exits(65).stdout;
    assert!(
        changed.contains("[changed-sentence] sentence 2") && changed.contains("[added-sentence]"),
        "{changed}"
    );
    let _ = spec(&[]).exits(0);
    let after = trace().exits(65).stdout;
    assert!(after.contains("  3  It converts all.\n       units.convert\n"), "{after}");
    assert!(
        after.contains("no node serves sentence 1") && !after.contains("changed-sentence"),
        "{after}"
    );
}
