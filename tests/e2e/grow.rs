//! Generation of a repository from a graph.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::world::{Plot, Ran, World, assert_same, real_python, repository};

/// Generates the master fixture into the folder `out` of `world`.
pub(crate) fn fixture(world: &World, jobs: &str, out: &str) -> Ran {
    let folder = repository().join("fixtures/ml-library");
    let arguments = [
        "generate".to_owned(),
        folder.join("rpg.json").display().to_string(),
        format!("--model=recorded:{}", folder.join("replies.jsonl").display()),
        format!("--out={}", world.root().join(out).display()),
        format!("--jobs={jobs}"),
        "--json".to_owned(),
    ];
    world.trellis(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn the_master_fixture_ends_as_its_truth_table_says() {
    let world = World::new();
    let summary = fixture(&world, "3", "out").exits(1).json();
    assert_eq!(summary["suite"]["outcome"], "passed", "{summary}");
    let flows = &summary["integration"]["models"];
    assert_eq!((&flows["passed"], &flows["failed"]), (&4.into(), &1.into()), "{summary}");
    let flows = &summary["integration"]["the whole library"];
    assert_eq!((&flows["passed"], &flows["failed"]), (&3.into(), &0.into()), "{summary}");
    let expected = fs::read_to_string(repository().join("fixtures/ml-library/expected.json"))
        .expect("the table");
    let expected: serde_json::Value = serde_json::from_str(&expected).expect("JSON");
    let found = world.checkpoint();
    for (node, want) in expected.as_object().expect("an object") {
        assert_eq!(found[node]["status"], want["status"], "{node}: {}", found[node]);
        assert_eq!(found[node]["retry_count"], want["retry_count"], "{node}: {}", found[node]);
    }
    the_plan_is_found_in_the_code(&world);
    installs_and_passes_plain_pytest(&world);
}

/// Expected values read from the recorded code by hand: every planned call exists except those that
/// only order method calls, and nothing unplanned is used.
fn the_plan_is_found_in_the_code(world: &World) {
    let graph = repository().join("fixtures/ml-library/rpg.json").display().to_string();
    let it = world.trellis(&["symbols", "planned", &graph, "--in=out", "--json"]).exits(0).json();
    assert_eq!(
        (&it["planned"], &it["confirmedShare"]),
        (&47.into(), &(41.0 / 47.0).into()),
        "{it}"
    );
    let missing = [
        ("preprocessing.StandardScaler.transform", "preprocessing.StandardScaler.fit"),
        ("models.LinearRegression.predict", "models.LinearRegression.fit"),
        ("models.KNearestClassifier.predict", "models.KNearestClassifier.fit"),
        ("evaluation.ConfusionMatrix.precision", "evaluation.ConfusionMatrix.record"),
        ("evaluation.ConfusionMatrix.recall", "evaluation.ConfusionMatrix.record"),
        ("visualization.confusion_grid", "evaluation.ConfusionMatrix.record"),
    ];
    let missing =
        missing.map(|(from, to)| serde_json::json!({ "from": from, "to": to, "possible": false }));
    assert_eq!(it["missing"], serde_json::json!(missing));
    assert_eq!((&it["unplanned"], &it["moved"]), (&serde_json::json!([]), &serde_json::json!([])));
    assert_eq!(it["unused"].as_array().map(Vec::len), Some(13), "{it}");
    let absent: Vec<&str> = (it["absent"].as_array().expect("a list").iter())
        .map(|id| id.as_str().expect("an id"))
        .collect();
    let failed = world.checkpoint();
    assert!(absent.iter().all(|id| failed[id]["status"] != "passed"), "{absent:?}");
    assert_eq!(absent.len(), 6, "two that failed, four that were skipped");
}

/// Installs the result without Trellis (own environment, `pip install -e .`) and runs `pytest`.
fn installs_and_passes_plain_pytest(world: &World) {
    let (out, venv) = (world.out(), world.root().join("venv"));
    let run = |program: &std::path::Path, arguments: &[&str]| {
        let output =
            Command::new(program).args(arguments).current_dir(&out).output().expect("it starts");
        let ran = Ran::of(output);
        ran.exits(0).stdout
    };
    run(&real_python(), &["-m", "venv", &venv.display().to_string()]);
    let python = venv.join("bin/python");
    run(&python, &["-m", "pip", "install", "--quiet", "-e", ".", "pytest"]);
    run(&python, &["-c", "import sprout.data.summary, sprout.models"]);
    assert!(run(&venv.join("bin/pytest"), &["-q"]).contains("176 passed"));
    assert!(
        !fs::read_to_string(out.join("pyproject.toml")).expect("pyproject").contains("trellis")
    );
}

#[test]
fn any_number_of_jobs_ends_in_the_same_bytes() {
    let (one, three) = (World::new(), World::new());
    for (world, jobs) in [(&one, "--jobs=1"), (&three, "--jobs=3")] {
        let _ = world.grow(&Plot::garden(), &[jobs]).exits(0);
    }
    assert_same(&three.tree(), &one.tree());
}

#[test]
fn a_grown_repository_is_whole_and_a_second_run_changes_nothing() {
    let world = World::new();
    let plot = Plot::garden();
    let summary = world.grow(&plot, &[]).exits(0).json();
    assert_eq!(summary["passed"], 6);
    assert_eq!(summary["passedByFixes"], serde_json::json!([3, 2, 1]));
    let first = world.tree();
    for path in [
        "src/lib/basic.py",
        "src/lib/__init__.py",
        "tests/test_basic.py",
        "pyproject.toml",
        "requirements.txt",
        "requirements-dev.txt",
        "README.md",
        "pytest.ini",
        ".gitignore",
        "docs/rpg.json",
        "docs/generation_report.md",
        "docs/generation_checkpoint.json",
        "test_results.xml",
    ] {
        assert!(first.contains_key(path), "{path} is missing in {:?}", first.keys());
    }
    assert_eq!(
        first["src/lib/middle.py"],
        "from lib.basic import double, square\n\n\ndef summed(x: int) -> int:\n    return double(x) + square(x)\n\n\ndef shifted(x: int) -> int:\n    return double(x) + 1\n"
    );
    let report = world.read("out/docs/generation_report.md");
    let section = report.split("## Repository Validation\n\n").nth(1).expect("the section");
    let lines: Vec<&str> = section.lines().take_while(|line| !line.is_empty()).collect();
    let wanted = [
        "- ✅ `pytest tests/`: passed (18 of 18 tests pass)",
        "- ✅ Syntax of all Python files: passed (7 files)",
        "- ✅ Package structure: passed (1 packages)",
        "- ✅ Circular imports: passed (none)",
        "- ✅ `pip install -e .`: passed (on a copy, without dependencies)",
        "- ✅ Import of every module: passed (4 modules)",
    ];
    assert_eq!(lines, wanted);
    assert!(!first.keys().any(|it| it.contains("egg-info")), "{:?}", first.keys());
    let runs = world.journal("test_run");
    let kept = |it: &&Value| {
        it["red"] == true
            && it["output"].as_str().is_some_and(|it| it.contains("NotImplementedError"))
    };
    assert_eq!(runs.iter().filter(kept).count(), 6, "every red run is kept: {runs:#?}");
    let runs = runs.len();
    let _ = world.grow(&plot, &[]).exits(0);
    assert_same(&world.tree(), &first);
    assert_eq!(world.journal("test_run").len(), runs, "nothing accepted is run again");
    let log = world.git(&["log", "--format=%s"]);
    for subject in [
        "feat: complete basic (nodes double-square)",
        "feat: complete top (nodes",
        "docs: generation report",
    ] {
        assert!(log.contains(subject), "{subject} is missing in\n{log}");
    }
}

#[test]
fn a_failed_node_leaves_no_trace_and_its_dependents_are_skipped() {
    let mut plot = Plot::default()
        .function("good", "a", &[], &[], "x")
        .tests("good", "a", [1, 2, 3])
        .function("bad", "a", &[], &[], "x + 1")
        .tests("bad", "a", [1, 2, 3])
        .function("needs_bad", "b", &["bad"], &[], "bad(x)")
        .tests("needs_bad", "b", [1, 2, 3]);
    for attempt in 0..8 {
        plot.reply(
            "bad",
            "fix",
            attempt,
            &format!("```python\ndef bad(x: int) -> int:\n    return x + {}\n```", attempt + 2),
        );
    }
    let world = World::new();
    let summary = world.grow(&plot, &[]).exits(1).json();
    assert_eq!(
        (&summary["passed"], &summary["failed"], &summary["skipped"]),
        (&1.into(), &1.into(), &1.into())
    );
    let checkpoint = world.checkpoint();
    assert_eq!(checkpoint["bad"]["retry_count"], 8);
    assert!(
        checkpoint["bad"]["failure_reason"].as_str().expect("a reason").contains("after 8 fixes")
    );
    assert_eq!(checkpoint["needs_bad"]["status"], "skipped");
    assert!(!world.read("out/src/lib/a.py").contains("bad"));
    assert!(!world.read("out/tests/test_a.py").contains("bad"));
    assert!(!world.out().join("src/lib/b.py").exists());
    let text = world.journal("taken_back")[0]["implementation"].as_str().expect("text").to_owned();
    assert!(text.contains("return x + 9"), "the last attempt can still be read: {text}");
    let report = world.read("out/docs/generation_report.md");
    let fails = "`tests/test_a.py::TestBad::test_bad_0` fails with AssertionError: assert 10 == 1";
    for told in [
        "  - unit: 6 written, 3 kept, 3 removed\n".to_owned(),
        format!("- **Root Cause**: {fails}"),
        "- **Recommendation**: Compare `tests/test_a.py::TestBad::test_bad_0` with the specification of `bad`".to_owned(),
    ] {
        assert!(report.contains(&told), "`{told}` is missing in {report}");
    }
}

/// A package that the plan names and the interpreter lacks is no bug: the report names the package
/// to install.
#[test]
fn a_package_that_is_not_there_is_told_with_what_to_install() {
    let mut plot =
        Plot::default().function("load", "a", &[], &[], "0").tests("load", "a", [1, 2, 3]);
    plot.nodes[0]["libraries"] = serde_json::json!(["yaml"]);
    plot.replies[0]["reply"] =
        "```python\nimport yaml\n\n\ndef load(x: int) -> int:\n    return yaml.load(x)\n```\n"
            .into();
    let world = World::new();
    let venv = world.root().join("venv");
    let python = |program: &std::path::Path, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().expect("it starts");
        let _ = Ran::of(output).exits(0);
    };
    python(&real_python(), &["-m", "venv", &venv.display().to_string()]);
    let program = venv.join("bin/python");
    python(&program, &["-m", "pip", "install", "--quiet", "pytest"]);
    let chosen = format!("--python={}", program.display());
    let summary = world.grow(&plot, &[&chosen]).exits(0).json();
    assert_eq!(summary["skipped"], 1, "{summary}");
    let report = world.read("out/docs/generation_report.md");
    for told in [
        "- **Root Cause**: the environment: the package `yaml` is required but not installed",
        "- **Recommendation**: Install `PyYAML` into the environment of the tests",
    ] {
        assert!(report.contains(told), "`{told}` is missing in {report}");
    }
}

/// Mentioning a name does not count: the report names the planned dependency that the code does not
/// use.
#[test]
fn a_planned_dependency_counts_where_the_code_refers_to_it() {
    let plot = Plot::default()
        .function("double", "a", &[], &[], "2 * x")
        .tests("double", "a", [2, 4, 6])
        .function("square", "a", &[], &[], "x * x")
        .tests("square", "a", [1, 4, 9])
        .function(
            "summed",
            "b",
            &["double", "square"],
            &[],
            "(lambda square: double(x) + square)(x * x)",
        )
        .tests("summed", "b", [3, 8, 15]);
    let world = World::new();
    let _ = world.grow(&plot, &[]).exits(0);
    let report = world.read("out/docs/generation_report.md");
    let told = "- **Planned dependencies used**: 1/2 (50%)\n  - `summed` does not use `square`\n";
    assert!(report.contains(told), "{report}");
}

/// pytest brings `pluggy`, so the code runs; but users who install the project need the requirement
/// to be declared.
#[test]
fn what_the_code_imports_and_nothing_requires_is_told() {
    let mut plot =
        Plot::default().function("load", "a", &[], &[], "").tests("load", "a", [6, 12, 18]);
    plot.replies[0]["reply"] = "```python\nimport pluggy\n\n\ndef load(x: int) -> int:\n    return len(pluggy.__name__) * x\n```\n".into();
    let told = "## Imports that nothing requires\n\n- `pluggy` in `src/lib/a.py` (nodes `load`): \
         assumed to be part of the distribution `pluggy`\n";
    let world = World::new();
    let _ = world.grow(&plot, &[]).exits(0);
    let report = world.read("out/docs/generation_report.md");
    assert!(
        report.contains(told) && report.contains("- List the distribution that provides `pluggy`"),
        "{report}"
    );
    // A line of the user's own declares the requirement, and so does the plan.
    let world = World::new();
    world.write("out/requirements.txt", "Pluggy>=1\n");
    let _ = world.grow(&plot, &[]).exits(0);
    assert!(!world.read("out/docs/generation_report.md").contains("pluggy"));
    plot.nodes[0]["libraries"] = serde_json::json!(["pluggy"]);
    let world = World::new();
    let _ = world.grow(&plot, &[]).exits(0);
    assert!(!world.read("out/docs/generation_report.md").contains("pluggy"));
}

/// A person's file fails when imported, which no node's test notices.
#[test]
fn every_module_is_imported_once_and_what_cannot_be_is_told() {
    let world = World::new();
    world.write("out/src/lib/aside.py", "raise RuntimeError('not like this')\n");
    world.write("out/src/lib/__main__.py", "raise SystemExit(3)\n");
    let _ = world.grow(&Plot::three(), &[]).exits(0).says("Import of every module fails");
    let report = world.read("out/docs/generation_report.md");
    let told = "- ⚠️ Import of every module: failed (lib.aside: RuntimeError: not like this)";
    assert!(report.contains(told), "{report}");
    let advice = "- Fix the failed check: Import of every module.";
    assert!(report.contains(advice) && !report.contains("Everything passed"), "{report}");
}

#[test]
fn methods_are_written_into_their_class_and_need_no_planned_edge_to_it() {
    let mut plot = Plot::default();
    let node = |id: &str, kind: &str, signature: &str, needs: &[&str]| {
        serde_json::json!({"id": id, "name": id, "type": kind, "node_type": "leaf", "file_path": "src/lib/stack.py",
            "signature": signature, "docstring": "Part of a stack.", "dependencies": needs, "subgraph_id": "s"})
    };
    plot.nodes = vec![
        node("Stack", "class", "class Stack", &[]),
        node("Stack.push", "method", "def push(self, item: int) -> None", &[]),
        node("Stack.pop", "method", "def pop(self) -> int", &["Stack.push"]),
    ];
    let tests =
        |body: &str| format!("```python\nimport pytest\nfrom lib.stack import Stack\n\n{body}```");
    plot.reply("Stack", "tests", 0, &tests("def test_new():\n    assert Stack().items == []\n\ndef test_own():\n    assert Stack().items is not Stack().items\n\ndef test_type():\n    assert isinstance(Stack().items, list)\n"));
    plot.reply("Stack", "implementation", 0, "```python\nclass Stack:\n    \"\"\"Last in, first out.\"\"\"\n\n    def __init__(self) -> None:\n        self.items: list[int] = []\n\n    def push(self, item):\n        raise NotImplementedError\n```");
    plot.reply("Stack.push", "tests", 0, &tests("def test_push():\n    s = Stack()\n    s.push(1)\n    assert s.items == [1]\n\ndef test_order():\n    s = Stack()\n    s.push(1)\n    s.push(2)\n    assert s.items == [1, 2]\n\ndef test_none():\n    assert Stack().push(1) is None\n"));
    plot.reply(
        "Stack.push",
        "implementation",
        0,
        "```python\ndef push(self, value):\n    self.items.append(value)\n```",
    );
    plot.reply("Stack.pop", "tests", 0, &tests("def test_pop():\n    s = Stack()\n    s.push(1)\n    s.push(2)\n    assert s.pop() == 2\n\ndef test_left():\n    s = Stack()\n    s.push(1)\n    s.pop()\n    assert s.items == []\n\ndef test_empty():\n    with pytest.raises(IndexError):\n        Stack().pop()\n"));
    plot.reply("Stack.pop", "implementation", 0, "```python\nclass Stack:\n    def __init__(self):\n        self.items = None\n\n    def pop(self) -> int:\n        return self.items.pop()\n```");
    let world = World::new();
    let _ = world.grow(&plot, &["--jobs=2"]).exits(0);
    assert_eq!(
        world.read("out/src/lib/stack.py"),
        "class Stack:\n    \"\"\"Last in, first out.\"\"\"\n\n    def __init__(self) -> None:\n        self.items: list[int] = []\n\n    def push(self, item: int) -> None:\n        self.items.append(item)\n\n    def pop(self) -> int:\n        return self.items.pop()\n"
    );
}

#[test]
fn a_recording_made_of_a_run_replays_it() {
    let world = World::new();
    let recording = world.root().join("made.jsonl");
    let _ = world.grow(&Plot::garden(), &[&format!("--record={}", recording.display())]).exits(0);
    let first = world.tree();
    let again = World::new();
    let graph = again.write("rpg.json", &Plot::garden().graph().to_string());
    let model = format!("--model=recorded:{}", recording.display());
    let out = format!("--out={}", again.out().display());
    let _ = again.trellis(&["generate", &graph.display().to_string(), &model, &out]).exits(0);
    assert_eq!(again.tree()["src/lib/top.py"], first["src/lib/top.py"]);
}

#[test]
fn code_that_uses_a_node_the_plan_did_not_name_waits_for_it() {
    // `late` imports `early`, which the plan does not say; with many jobs both would start at once.
    let mut plot = Plot::default()
        .function("early", "a", &[], &["x", "x + 1"], "x + 2")
        .tests("early", "a", [3, 4, 5])
        .function("late", "b", &[], &[], "0")
        .tests("late", "b", [3, 4, 5]);
    plot.replies.retain(|reply| reply["node"] != "late" || reply["stage"] == "tests");
    plot.reply(
        "late",
        "implementation",
        0,
        "```python\nfrom lib.a import early\n\ndef late(x: int) -> int:\n    return early(x)\n```",
    );
    let world = World::new();
    let _ = world.grow(&plot, &["--jobs=2"]).exits(0);
    assert_eq!(world.checkpoint()["late"]["retry_count"], 0);
    assert!(world.journal("note").iter().any(|note| note["what"] == "unplanned-dependency"));
}

#[test]
fn code_cannot_switch_its_tests_off_or_bring_the_process_down() {
    let mut plot = Plot::default().tests("f", "a", [2, 3, 4]).tests("g", "a", [2, 3, 4]);
    plot = plot.function("f", "a", &[], &[], "0").function("g", "a", &[], &[], "0");
    plot.replies.retain(|reply| reply["stage"] == "tests");
    plot.reply("f", "implementation", 0, "```python\nimport pytest\n\ndef f(x: int) -> int:\n    if x > 1:\n        pytest.skip('later')\n    return 2\n```");
    plot.reply(
        "g",
        "implementation",
        0,
        &format!("```python\ndef g(x: int) -> int:\n    return x + 1{}\n```", "+0".repeat(500_000)),
    );
    let world = World::new();
    let summary = world.grow(&plot, &[]).exits(1).json();
    assert_eq!(summary["failed"], 2, "{summary}");
    assert_eq!(world.checkpoint()["f"]["failure_reason"], "no recorded reply for f fix 0");
    let notes = world.journal("note");
    assert!(
        notes
            .iter()
            .any(|note| note["text"].as_str().is_some_and(|text| text.contains("too long"))),
        "{notes:?}"
    );
}

#[test]
fn tests_that_only_need_the_name_to_exist_are_sent_back() {
    let mut plot = Plot::default().function("f", "a", &[], &[], "x + 1");
    plot.reply("f", "tests", 0, "```python\nfrom lib.a import f\n\ndef test_a():\n    assert f\n\ndef test_b():\n    assert callable(f)\n\ndef test_c():\n    assert True\n```");
    let world = World::new();
    let summary = world.grow(&plot, &[]).exits(1).json();
    assert_eq!(summary["failures"]["f"], "no recorded reply for f tests 1");
    assert_eq!(world.journal("test_run")[0]["passed"], 3);
}

/// The specification named by the plan supplies what the plan leaves open.
#[test]
fn the_specification_that_a_plan_names_gives_title_and_author() {
    let world = World::new();
    let plot = Plot::three();
    let mut graph = plot.graph();
    let metadata = graph["metadata"].as_object_mut().expect("fields");
    let left_out = metadata.remove("project_name").and(metadata.remove("description"));
    assert!(left_out.is_some());
    metadata.insert("nl_spec_path".to_owned(), "docs/spec.md".into());
    world.write("docs/spec.md", "# Sums\n\n**Author**: Ada L.\n\nAdds what is squared.\n");
    world.write("docs/rpg.json", &graph.to_string());
    world.write("replies.jsonl", &plot.recording());
    let grow = |more: &[&str]| {
        let all = [
            "generate",
            "docs/rpg.json",
            "--out",
            "out",
            "--model",
            "recorded:replies.jsonl",
            "--json",
        ];
        world.trellis(&[&all[..], more].concat())
    };
    let _ = grow(&[]).exits(0);
    let toml = world.read("out/pyproject.toml");
    for line in [
        "name = \"sums\"",
        "authors = [{ name = \"Ada L.\" }]",
        "description = \"Adds what is squared.\"",
    ] {
        assert!(toml.contains(line), "{line}: {toml}");
    }
    std::fs::remove_file(world.root().join("docs/spec.md")).expect("removed");
    std::fs::remove_dir_all(world.out()).expect("removed");
    let summary = grow(&[]).exits(0).json();
    let warnings = summary["warnings"].to_string();
    assert!(warnings.contains("specification docs/spec.md does not exist"), "{warnings}");
}

/// Each of the two files needs the other, but no function needs itself.
#[test]
fn files_that_import_one_another_are_told_before_and_after() {
    let world = World::new();
    let plot = Plot::default()
        .function("double", "basic", &[], &[], "2 * x")
        .tests("double", "basic", [2, 4, 6])
        .function("summed", "middle", &["double"], &[], "double(x) + x")
        .tests("summed", "middle", [3, 6, 9])
        .function("square", "middle", &[], &[], "x * x")
        .tests("square", "middle", [1, 4, 9])
        .function("squared", "basic", &["square"], &[], "square(x)")
        .tests("squared", "basic", [1, 4, 9]);
    world.write("rpg.json", &plot.graph().to_string());
    let checked = world.trellis(&["plan", "check", "rpg.json", "--json"]).exits(0);
    let warnings = checked.json()["warnings"].to_string();
    assert!(
        warnings.contains("circular import src/lib/basic.py -> src/lib/middle.py"),
        "{warnings}"
    );
    let _ = world.trellis(&["plan", "check", "rpg.json"]).exits(0).says("warning: circular import");
    let _ = world.grow(&plot, &[]);
    let report = world.read("out/docs/generation_report.md");
    let told = report.split("## Circular imports").nth(1).unwrap_or_default();
    assert!(told.contains("lib.basic") || told.contains("src/lib/basic.py"), "{report}");
}

/// A first start adds files beside existing ones; that is reported once, with the branch that gets
/// the commits.
#[test]
fn a_first_start_among_files_of_a_person_says_so() {
    let said = "is not empty: Trellis adds files next to yours";
    let world = World::new();
    let _ = world.write("out/notes.txt", "mine\n");
    let _ = world.git(&["init", "--quiet", "--initial-branch=trunk"]);
    let first = world.grow(&Plot::three(), &[]).exits(0).says(said);
    let _ = first.says(", changes none of them, and commits to the branch trunk\n");
    assert_eq!(world.read("out/notes.txt"), "mine\n");
    let again = world.grow(&Plot::three(), &[]).exits(0);
    assert!(!again.stderr.contains(said), "{}", again.stderr);
    let no_git = World::new();
    let _ = no_git.write("out/notes.txt", "mine\n");
    let _ = no_git
        .grow(&Plot::three(), &[])
        .exits(0)
        .says(&format!("{said} and changes none of them\n"));
    let fresh = World::new().grow(&Plot::three(), &[]).exits(0);
    assert!(!fresh.stderr.contains(said), "{}", fresh.stderr);
}
