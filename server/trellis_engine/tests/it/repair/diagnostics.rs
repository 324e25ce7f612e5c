//! Tests of diagnostics, and of a model's opinion in them.

use trellis_engine::EditableFiles;
use trellis_engine::repair::{
    Diagnostic, IssueType, ModelDiagnosis, Severity, diagnostic, groups, parse_diagnosis,
};

use super::grouping::{CODE, Ran, evidence};

struct Files;

impl EditableFiles for Files {
    fn text(&self, path: &str) -> Option<String> {
        match path {
            "code.py" => Some(CODE.to_owned()),
            "test_a.py" => Some("def test_it():\n    assert True\n".to_owned()),
            _ => None,
        }
    }

    fn read_only(&self, _: &str) -> Option<&'static str> {
        None
    }
}

fn of(ran: &[Ran<'_>], said: ModelDiagnosis) -> Diagnostic {
    let evidence = evidence(ran);
    let group = groups(&evidence).remove(0);
    diagnostic(&group, &evidence, &Files, said)
}

#[test]
fn kind_and_severity_are_measured() {
    let table: [(Vec<Ran<'_>>, IssueType, Severity); 5] = [
        (
            vec![("t.py::a", Some(("AssertionError", None)), &[11]), ("t.py::b", None, &[2])],
            IssueType::TestFailure,
            Severity::Low,
        ),
        (
            vec![
                ("t.py::a", Some(("TypeError", Some(2))), &[2]),
                ("u.py::b", Some(("TypeError", Some(2))), &[2]),
                ("t.py::c", None, &[11]),
                ("t.py::d", None, &[11]),
            ],
            IssueType::TypeError,
            Severity::High,
        ),
        (
            vec![("t.py::a", Some(("TestTookTooLong", Some(2))), &[2]), ("t.py::b", None, &[11])],
            IssueType::RuntimeError,
            Severity::High,
        ),
        (
            vec![
                ("t.py::a", Some(("ValueError", Some(2))), &[2]),
                ("t.py::b", Some(("ValueError", Some(2))), &[2]),
                ("t.py::c", None, &[11]),
                ("t.py::d", None, &[11]),
            ],
            IssueType::RuntimeError,
            Severity::Medium,
        ),
        (
            vec![("test_z.py", Some(("SyntaxError", Some(2))), &[]), ("t.py::b", None, &[11])],
            IssueType::BuildError,
            Severity::Critical,
        ),
    ];
    for (ran, kind, severity) in table {
        let found = of(&ran, ModelDiagnosis::default());
        assert_eq!((found.issue_type, found.severity), (kind, severity), "{ran:?}");
    }
}

#[test]
fn the_places_of_a_failure_are_shown_once_with_the_lines_around() {
    let ran: [Ran<'_>; 2] =
        [("t.py::a", Some(("ValueError", Some(2))), &[2, 7]), ("t.py::b", None, &[11])];
    let found = of(&ran, ModelDiagnosis::default());
    let places: Vec<(&str, u32, u32)> =
        found.affected.iter().map(|it| (it.path.as_str(), it.first, it.last)).collect();
    assert_eq!(places, [("code.py", 1, 11), ("test_a.py", 1, 2)]);
    assert!(found.root_cause.starts_with("most suspect is low in code.py:2"), "{found:?}");
    let page = found.markdown();
    for part in ["# t.py::a", "Severity: Low", "Cause (measured)", "code.py:1-11", "def low(a):"] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
}

#[test]
fn a_models_word_is_shown_as_one_and_what_is_no_report_is_none() {
    let text = "Here it is:\n```json\n{\"issue_type\": \"type_error\", \"severity\": \"critical\", \
        \"root_cause\": \"low adds one\", \"suggested_fixes\": [{\"fix_id\": \"1\", \"description\": \
        \"do not\", \"confidence\": 7, \"changes\": []}]}\n```";
    let said = parse_diagnosis(text).expect("a report");
    assert_eq!(said.ideas[0].confidence, Some(1.0), "clamped");
    let ran: [Ran<'_>; 1] = [("t.py::a", Some(("ValueError", Some(2))), &[2])];
    let page = of(&ran, said).markdown();
    assert!(page.contains("Cause (by the model's diagnosis): low adds one"), "{page}");
    assert!(page.contains("- do not (its confidence: 100 %)"), "{page}");
    // A text with braces of its own before the report.
    let traced =
        format!("low({{}}) gives {{'a': 1}}; so:\n{}", &text[text.find('{').expect("one")..]);
    assert_eq!(parse_diagnosis(&traced).map(|it| it.root_cause).as_deref(), Some("low adds one"));
    for none in ["", "I do not know.", "{\"root_cause\": 3}", "{ not json }"] {
        assert_eq!(parse_diagnosis(none), None, "{none}");
    }
}
