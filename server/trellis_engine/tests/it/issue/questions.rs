//! Tests of the prompts about an issue.

use trellis_engine::issue::{
    Conflict, Context, IssueFacts, MergeFacts, ShownFile, ShownPart, ask_code, ask_fix, ask_merge,
    ask_scaffold, ask_together,
};
use trellis_engine::{ModelRequest, Stage, Tier};

fn feature() -> IssueFacts {
    let mut context = Context::default();
    context.add("core/audit.py", "class AuditLog:\n    pass\n".to_owned());
    context.add("docs/standards.md", "Names are whole words.\n".to_owned());
    IssueFacts {
        title: "issue 42".to_owned(),
        specification: "Totals have VAT.".to_owned(),
        context,
        framework: "pytest".to_owned(),
        tests: "tests/".to_owned(),
        files: vec![ShownFile::whole("shop/cart.py", "def total(): ...\n".to_owned())],
        others: vec!["shop/__init__.py".to_owned()],
        diff: String::new(),
        broken: Vec::new(),
        written: vec![("tests/test_vat.py".to_owned(), "def test_vat(): ...\n".to_owned())],
        tools: false,
    }
}

fn text(ask: &ModelRequest, tokens: usize) -> String {
    ask.prompt.messages(tokens).into_iter().map(|it| it.text).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_question_has_the_words_the_context_and_the_standards_under_their_headings() {
    let history = ["red gate: they pass".to_owned(), "f0: 1 != 2\ntrace".to_owned()];
    let asks = [
        (ask_scaffold(&feature(), 0, None), Stage::Scaffold),
        (ask_code(&feature(), 0, None), Stage::Implementation),
        (ask_fix(&feature(), 0, &history, None), Stage::Fix),
        (ask_together(&feature(), 0, None), Stage::Integration),
    ];
    for (ask, stage) in &asks {
        assert_eq!(ask.stage, *stage);
        let text = text(ask, 12_000);
        for part in [
            "## Specification\nTotals have VAT.",
            "## Project context\n### core/audit.py\n```python\nclass AuditLog:",
            "## Coding standards\n### docs/standards.md\nNames are whole words.",
            "## `shop/cart.py`",
            "- shop/__init__.py",
            "issue 42",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let shows_tests = text.contains("## `tests/test_vat.py` (read-only)");
        assert_eq!(shows_tests, !matches!(stage, Stage::Scaffold | Stage::Integration));
    }
    let fix = text(&asks[2].0, 12_000);
    assert!(fix.contains("## What was seen\n```\nf0: 1 != 2\ntrace\n```"), "{fix}");
    assert!(fix.contains("- red gate: they pass"), "{fix}");
}

#[test]
fn complaints_are_reported_and_a_second_fix_goes_to_a_strong_model() {
    let said = text(&ask_scaffold(&feature(), 1, Some("all 2 pass")), 12_000);
    assert!(said.contains("They were sent back: all 2 pass"), "{said}");
    let said = text(&ask_code(&feature(), 1, Some("no file")), 12_000);
    assert!(said.contains("It could not be used: no file"), "{said}");
    let tiers = [0, 1].map(|attempt| ask_fix(&feature(), attempt, &[], None).tier);
    assert_eq!(tiers, [Tier::Simple, Tier::Strong]);
}

#[test]
fn what_was_left_out_for_want_of_room_is_named() {
    let mut feature = feature();
    feature.files.push(ShownFile::whole("shop/huge.py", "x = 1\n".repeat(20_000)));
    let said = text(&ask_code(&feature, 0, None), 3_000);
    assert!(said.len() < 16_000, "{}", said.len());
    assert!(
        said.contains("left out for want of room: ") && said.contains("`shop/huge.py`"),
        "{said}"
    );
    assert!(said.contains("## Project context\n### core/audit.py"), "{said}");
}

#[test]
fn with_tools_the_model_learns_of_them_and_may_answer_without() {
    let with = IssueFacts { tools: true, ..feature() };
    let (without, history) = (feature(), Vec::new());
    type Put = fn(&IssueFacts, &[String]) -> ModelRequest;
    let questions: [(Put, &str); 4] = [
        (|it, _| ask_scaffold(it, 0, None), "nothing but tests can be written"),
        (|it, _| ask_together(it, 0, None), "nothing but tests can be written"),
        (|it, _| ask_code(it, 0, None), "`replace_symbol_body`"),
        (|it, history| ask_fix(it, 0, history, None), "`replace_symbol_body`"),
    ];
    for (put, words) in questions {
        let (offered, plain) = (put(&with, &history), put(&without, &history));
        assert!(offered.tools && !plain.tools);
        let (offered, plain) = (text(&offered, 12_000), text(&plain, 12_000));
        assert!(offered.contains(words) && offered.contains("Call `done`"), "{offered}");
        assert!(offered.contains("each under its path") || offered.contains("under its path"));
        assert!(!plain.contains("`done`") && plain.contains("path/to/"), "{plain}");
    }
}

#[test]
fn a_merge_is_asked_for_with_what_both_want() {
    let conflict = Conflict {
        path: "app/registry.py".to_owned(),
        marked: "<<<<<<< branch\nALL = [1]\n=======\nALL = [2]\n>>>>>>> work\n".to_owned(),
        ..Conflict::default()
    };
    let merged = ["task a: register a".to_owned()];
    let task = MergeFacts { title: "task b", specification: "Register b.", merged: &merged };
    let ask = ask_merge(task, &conflict, 1, Some("a mark is left"));
    assert_eq!((ask.stage, ask.attempt, ask.tier), (Stage::Merge, 1, Tier::Strong));
    let said = text(&ask, 12_000);
    for part in [
        "## What task b wants\nRegister b.",
        "## `app/registry.py`\n```\n<<<<<<< branch",
        "- task a: register a",
        "Give `app/registry.py` with what both want",
        "It could not be used: a mark is left",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("It holds tests"), "{said}");
    let tests = Conflict { is_test: true, ..conflict };
    let task = MergeFacts { title: "task b", specification: "", merged: &[] };
    let said = text(&ask_merge(task, &tests, 0, None), 12_000);
    assert!(said.contains("It holds tests: give every test"), "{said}");
}

/// Compares every prompt about an issue with its snapshot.
#[test]
fn questions_as_they_are_sent() {
    let partial = IssueFacts {
        files: vec![ShownFile {
            path: "shop/cart.py".to_owned(),
            text: "class Cart:\n    def total(self): ...\n".to_owned(),
            part: ShownPart::Signatures,
        }],
        context: Context::default(),
        ..feature()
    };
    let changed = IssueFacts {
        diff: "--- a/shop/cart.py\n+++ b/shop/cart.py\n@@ -1 +1 @@\n-VAT = 0\n+VAT = 20\n"
            .to_owned(),
        broken: vec![(
            "tests/test_cart.py::test_total".to_owned(),
            "def test_total():\n    with pytest.raises(ValueError):\n        total(None)\n"
                .to_owned(),
        )],
        ..feature()
    };
    let tools = IssueFacts { tools: true, ..feature() };
    let history = ["the new tests do not pass: AssertionError: assert 1 == 2".to_owned()];
    for (name, it) in
        [("whole", feature()), ("signatures", partial), ("changed", changed), ("tools", tools)]
    {
        let asks = [
            ("tests", ask_scaffold(&it, 0, None)),
            ("together", ask_together(&it, 0, None)),
            ("code", ask_code(&it, 0, None)),
            ("fix", ask_fix(&it, 0, &history, None)),
        ];
        for (stage, ask) in asks {
            crate::snapshot::check(&format!("feature_{stage}_{name}"), &text(&ask, 12_000));
        }
    }
}

/// Compares the prompts for merging a file with their snapshots: for code, for tests, and for a
/// file that both sides have added, sent back.
#[test]
fn merge_questions_as_they_are_sent() {
    let marked = |branch: &str, before: &str, work: &str| {
        format!(
            "<<<<<<< the branch\n{branch}||||||| before both\n{before}=======\n{work}>>>>>>> this work\n"
        )
    };
    let conflict = |path: &str, text: String| Conflict {
        path: path.to_owned(),
        is_test: path.starts_with("tests/"),
        marked: text,
        ..Conflict::default()
    };
    let code = conflict(
        "app/registry.py",
        format!(
            "# All parts.\n{}",
            marked("ALL = ['audit']\n", "ALL = []\n", "ALL = ['billing']\n")
        ),
    );
    let tests = conflict(
        "tests/test_registry.py",
        format!(
            "from app.registry import ALL\n\n\n{}",
            marked(
                "def test_audit():\n    assert 'audit' in ALL\n",
                "",
                "def test_billing():\n    assert 'billing' in ALL\n"
            )
        ),
    );
    let added =
        conflict("docs/parts.md", marked("# Parts\n\n- audit\n", "", "# Parts\n\n- billing\n"));
    let merged = ["Task audit: Audit".to_owned(), "Task export: Export".to_owned()];
    let complaint = "it does not hold docs/parts.md";
    for (name, conflict, merged, attempt, complaint) in [
        ("code", code, &merged[..], 0, None),
        ("tests", tests, &merged[..1], 0, None),
        ("sent_back", added, &merged[..1], 1, Some(complaint)),
    ] {
        let (title, specification) = ("task billing", "# Billing\n\nRegister `billing`.\n");
        let task = MergeFacts { title, specification, merged };
        let ask = ask_merge(task, &conflict, attempt, complaint);
        crate::snapshot::check(&format!("feature_merge_{name}"), &text(&ask, 12_000));
    }
}
