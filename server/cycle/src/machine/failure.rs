//! A failing run in words, for those who have to mend it.

use crate::failures;
use crate::observation::{Failure, Frame, TestRun};

/// What failed against a stub. Tests that stop at the stub say nothing: they have to.
pub(super) fn red_text(run: &TestRun) -> String {
    let at_stub = |it: &Failure| it.exception == "NotImplementedError";
    if !run.failures().any(at_stub) {
        return failures::told(run);
    }
    let others =
        run.cases.iter().filter_map(|it| Some((Some(it.id.as_str()), it.failure.as_ref()?)));
    let others: Vec<_> = others.filter(|it| !at_stub(it.1)).collect();
    failures::listed(&others, run.cases.len())
}

/// Where the run stood when it was stopped or crashed, outermost frame first.
pub(super) fn stack_text(stack: &[Frame]) -> String {
    if stack.is_empty() {
        return String::new();
    }
    let frame = |it: &Frame| {
        failures::is_inside(&it.path)
            .then(|| format!("  {}:{} in {}", it.path, it.line, it.function))
    };
    let frames = failures::counted(stack.iter().map(frame), "\n  ").join("\n");
    format!("\nAt its end the run stood in (innermost last):\n{frames}\n")
}
