//! Specifications and replies that cannot be used: one clear line each.

use std::fs;

use serde_json::{Value, json};

use super::{draft, record, replies, world};
use crate::world::World;

#[test]
fn a_specification_that_cannot_be_used_is_one_clear_line() {
    let world = world(&replies());
    for (bytes, why, hint) in [
        (&b""[..], "spec.md is empty", "write down what the project should do"),
        (b" \n\n<!-- later -->\n", "spec.md is empty", "write down what the project should do"),
        (b"# Tally\n\n## Words\n", "spec.md has only headings", "write below each"),
        (b"\xff\xfet\0a\0", "it is not valid UTF-8", "give a UTF-8 text file"),
        (b"a\0b", "spec.md is not text", "give Markdown or text"),
        (
            &b"word ".repeat(50_000)[..],
            "spec.md is too long: 250000 bytes; 200000 are the most",
            "describe one package at a time",
        ),
        (
            &b"A b. ".repeat(3_000)[..],
            "spec.md is too long: 3000 sentences; 2000 are the most",
            "describe one package at a time",
        ),
    ] {
        fs::write(world.root().join("spec.md"), bytes).expect("written");
        let ran = draft(&world, &[]).exits(65);
        assert_eq!(ran.stderr.lines().count(), 2, "{}", ran.stderr);
        let _ = ran.says(why).says(hint);
    }
    fs::remove_file(world.root().join("spec.md")).expect("removed");
    let _ = draft(&world, &[]).exits(65).says("spec.md");
    fs::create_dir(world.root().join("spec.md")).expect("a folder");
    let _ = draft(&world, &[]).exits(65).says("spec.md");
    assert!(!world.root().join("plan.json").exists());
}

/// A model with a small context could not read the text whole.
#[test]
fn a_specification_longer_than_a_request_is_refused() {
    let world = world(&replies());
    world.write("spec.md", &"It counts the words of a text. ".repeat(1_000));
    world.write("home/.config/trellis/trellis.toml", "context_tokens = 4000\n");
    let ran = draft(&world, &[]).exits(65);
    let _ = ran.says("the specification is too long for recorded").says("a request has 4000");
}

/// Returns replies for one function that serves two sentences.
fn small(replaced: &[(&str, Value)]) -> Vec<Value> {
    let features = json!({
        "package": "mirror", "summary": "Mirrors texts.", "background": [],
        "features": [{ "name": "Mirror a text", "sentences": [2, 3] }],
    });
    let layout =
        json!({ "files": [{ "path": "texts.py", "purpose": "Texts.", "features": ["1"] }] });
    let code = "def mirrored(text: str) -> str:\n    \"\"\"Return it backwards.\n\n    Examples:\n        mirrored('ab') == 'ba'\n\n    Serves: 2, 3\n    \"\"\"\n    ...\n";
    let of = |stage: &str, usual: Value| {
        let own = replaced.iter().find(|it| it.0 == stage);
        own.map_or(usual, |it| it.1.clone())
    };
    let block = |value: Value| match value {
        Value::String(code) => format!("```python\n{code}\n```"),
        value => format!("```json\n{value}\n```"),
    };
    let line = |stage: &str, node: &str, value: Value| json!({ "stage": stage, "node": node, "reply": block(of(stage, value)) });
    vec![
        line("features", "plan", features),
        line("layout", "plan", layout),
        line("interface", "texts.py", code.into()),
        line("review", "plan", json!({ "findings": [] })),
    ]
}

#[test]
fn a_specification_can_be_in_any_language() {
    let world = World::new();
    record(&world, &small(&[]));
    for (text, second) in [
        (
            "# Spiegel\n\nDas Programm dreht z. B. Wörter um. Ein leerer Text bleibt leer.\n",
            "Ein leerer Text bleibt leer.",
        ),
        ("# 镜子\n\n程序把文本倒过来。空文本保持为空。\n", "空文本保持为空。"),
        (
            "# مرآة\n\nيعكس البرنامج النص. هل يبقى النص الفارغ فارغا؟\n",
            "هل يبقى النص الفارغ فارغا؟",
        ),
        (
            "\u{feff}# Mirror\r\n\r\nIt mirrors a text. An empty one stays empty.\r\n",
            "An empty one stays empty.",
        ),
    ] {
        world.write("spec.md", text);
        let _ = draft(&world, &[]).exits(0);
        let plan: Value = serde_json::from_str(&world.read("plan.json")).expect("JSON");
        let sentences = plan["metadata"]["spec"]["sentences"].as_array().expect("sentences");
        assert_eq!(sentences.len(), 3, "{sentences:?}");
        assert_eq!(
            (&sentences[0]["kind"], &sentences[2]["text"]),
            (&json!("heading"), &json!(second))
        );
        let _ = world.trellis(&["plan", "trace", "plan.json"]).exits(0);
    }
}

const MIRROR: &str = "# Mirror\n\nIt mirrors a text. An empty one stays empty.\n";

#[test]
fn a_specification_for_another_language_is_refused_with_the_reason() {
    let world = World::new();
    world.write("spec.md", "# Shop\n\nAn Android app in Java. It shows a list.\n");
    let reply = json!({ "package": "", "features": [], "unsuitable": "It asks for an Android app in Java." });
    record(&world, &small(&[("features", reply)]));
    let ran = draft(&world, &[]).exits(65);
    let ran =
        ran.says("describes nothing that a Python package can be: It asks for an Android app");
    let _ = ran.says("describe a library, a command-line tool or a service in Python");
    assert!(!world.root().join("plan.json").exists());
}

#[test]
fn replies_that_no_plan_can_be_made_of_end_the_draft_with_the_reason() {
    let leaf = |at: usize| json!({ "name": format!("f{at}"), "sentences": [2] });
    let all: Vec<Value> = (0..10_000).map(leaf).collect();
    let many = json!({ "package": "mirror", "features": all, "background": [3] });
    let named = |package: &str| json!({ "package": package, "features": [{ "name": "Mirror", "sentences": [2, 3] }] });
    let file = |path: &str| json!({ "files": [{ "path": path, "features": ["1"] }] });
    let wrong = [
        ("features", many, "there are 10000 features; 400 are the most"),
        ("features", named("json"), "a name of Python's standard library"),
        ("features", named("pytest"), "a package that others install"),
        ("layout", file("../x.py"), "leads upwards"),
        ("layout", file("string.py"), "a module of Python's standard library"),
        ("interface", json!("def f(:\n"), "it is not valid Python"),
    ];
    for (stage, reply, why) in wrong {
        let world = World::new();
        world.write("spec.md", MIRROR);
        record(&world, &small(&[(stage, reply)]));
        let ran = draft(&world, &[]).exits(69);
        let last: Vec<&str> = ran.stderr.lines().rev().take(2).collect();
        assert!(last[1].contains(why), "{why}: {}", ran.stderr);
        assert!(last[0].contains("hint: run again"), "{}", ran.stderr);
        assert!(!world.root().join("plan.json").exists(), "{why}");
    }
}

/// Examples are only read: nothing of a reply is executed.
#[test]
fn examples_with_side_effects_or_without_an_end_are_not_executed() {
    let world = World::new();
    world.write("spec.md", MIRROR);
    let code = "import pathlib\n\npathlib.Path('made').write_text('')\n\n\ndef mirrored(text: str) -> str:\n    \"\"\"Return it backwards.\n\n    Examples:\n        mirrored(str(__import__('os').mkdir('made'))) == ''\n        mirrored(str([1 for _ in iter(int, 1)])) == ''\n\n    Serves: 2, 3\n    \"\"\"\n    ...\n";
    record(&world, &small(&[("interface", json!(code))]));
    let _ = draft(&world, &[]).exits(0);
    assert!(!world.root().join("made").exists());
}
