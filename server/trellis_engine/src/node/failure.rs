//! Failing runs as text for the model.

use crate::failures;
use crate::observation::{Failure, Frame, TestRun};

/// Describes the failures of a red run. Tests that stop at the stub are left out, since they have
/// to fail there.
pub(super) fn red_text(run: &TestRun) -> String {
    let at_stub = |it: &Failure| it.exception == "NotImplementedError";
    if !run.failures().any(at_stub) {
        return failures::summarize(run);
    }
    let others =
        run.cases.iter().filter_map(|it| Some((Some(it.id.as_str()), it.failure.as_ref()?)));
    let others: Vec<_> = others.filter(|it| !at_stub(it.1)).collect();
    failures::render(&others, run.cases.len())
}

/// Describes the stack of a run at its timeout or crash, outermost frame first.
pub(super) fn stack_text(stack: &[Frame]) -> String {
    if stack.is_empty() {
        return String::new();
    }
    let frame = |it: &Frame| {
        failures::is_inside(&it.path)
            .then(|| format!("  {}:{} in {}", it.path, it.line, it.function))
    };
    let frames = failures::with_library_counts(stack.iter().map(frame), "\n  ").join("\n");
    format!("\nAt its end the run stood in (innermost last):\n{frames}\n")
}
