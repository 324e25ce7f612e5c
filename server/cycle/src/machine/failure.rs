//! A failing run in words, for those who have to mend it.

use crate::context::cut_middle;
use crate::observation::{Failure, Frame, TestRun};

/// Longest failure text handed to a model, in bytes.
pub(super) const FAILURE_BYTES: usize = 6000;
/// Failures told in full.
const TOLD: usize = 5;

/// Tracebacks of the first failures, cut in the middle when long.
pub(super) fn failure_text(run: &TestRun) -> String {
    match told(run.failures()) {
        text if text.is_empty() => {
            let text = format!("{}\n{}", run.summary(), run.output);
            cut_middle(text.trim_end(), FAILURE_BYTES)
        }
        text => text,
    }
}

/// The same of a run against a stub. Tests that stop at the stub all say the same: one line does for them.
pub fn red_text(run: &TestRun) -> String {
    let at_stub = |it: &&Failure| it.exception == "NotImplementedError";
    let count = run.failures().filter(at_stub).count();
    if count == 0 {
        return failure_text(run);
    }
    let others = told(run.failures().filter(|it| !at_stub(it)));
    let line = format!("NotImplementedError (in {count} tests, as it has to be)");
    format!("{line}\n\n{others}").trim_end().to_owned()
}

fn told<'a>(failures: impl Iterator<Item = &'a Failure>) -> String {
    let mut out = String::new();
    for failure in failures.take(TOLD) {
        let text = if failure.traceback.is_empty() { &failure.message } else { &failure.traceback };
        out.push_str(text.trim_end());
        out.push_str("\n\n");
    }
    cut_middle(out.trim_end(), FAILURE_BYTES)
}

/// Where the run stood when it was stopped or crashed, outermost frame first.
pub(super) fn stack_text(stack: &[Frame]) -> String {
    if stack.is_empty() {
        return String::new();
    }
    let frames = stack.iter().map(|it| format!("  {}:{} in {}\n", it.path, it.line, it.function));
    format!("\nAt its end the run stood in (innermost last):\n{}", frames.collect::<String>())
}
