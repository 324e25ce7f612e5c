//! Tests of prompts with a small budget.

use trellis_engine::{Section, build};

fn sections() -> Vec<Section> {
    vec![
        Section::new(0, "Failure", "assert 0.0 == 1.5"),
        Section::new(2, "Suspect", "def mean(values):\n    return 0.0\n"),
        Section::new(9, "Background", "line\n".repeat(100)),
        Section::new(0, "Task", "Fix it."),
    ]
}

#[test]
fn everything_fits() {
    let text = build(&sections(), 1000);
    let background = "line\n".repeat(100);
    assert_eq!(
        text,
        format!(
            "## Failure\nassert 0.0 == 1.5\n\n## Suspect\ndef mean(values):\n    return 0.0\n\n## Background\n{background}\n## Task\nFix it.\n\n"
        )
    );
}

#[test]
fn what_matters_least_is_cut_first_and_said() {
    let text = build(&sections(), 100);
    assert_eq!(
        text,
        "## Failure\nassert 0.0 == 1.5\n\n## Suspect\ndef mean(values):\n    return 0.0\n\n## Background\n".to_owned()
            + &"line\n".repeat(29)
            + "\n[… 210 bytes left out …]\n"
            + &"line\n".repeat(29)
            + "\n## Task\nFix it.\n\n(Cut or left out for want of room: Background.)\n\n"
    );
}

#[test]
fn without_room_only_the_most_telling_is_left() {
    assert_eq!(
        build(&sections(), 20),
        "## Failure\nassert 0.0 == 1.5\n\n## Task\nFix it.\n\n(Cut or left out for want of room: Background; Suspect.)\n\n"
    );
}

#[test]
fn what_the_answer_is_measured_by_shares_the_room_and_is_never_left_out() {
    let core = |words: usize| "word ".repeat(words);
    let sections = [
        Section::new(1, "Failure", core(1000)),
        Section::new(1, "Specification", core(1000)),
        Section::new(1, "Complaint", "short"),
        Section::new(2, "Code", core(50)),
        Section::new(0, "Task", core(100)),
    ];
    let words = |text: &str| -> Vec<usize> {
        text.split("## ").skip(1).map(|it| it.matches("word ").count()).collect()
    };
    // Both get the same but for their titles, in either order; the task is whole.
    let text = build(&sections, 1000);
    assert_eq!(words(&text), [343, 341, 0, 99], "{text}");
    assert!(text.contains("(Cut or left out for want of room: Code; Failure; Specification.)"));
    // With no budget at all the task is whole, and some of the rest remains.
    assert_eq!(words(&build(&sections, 0)), [39, 39, 0, 99]);
}
