//! Conversion of traces from the worker.

use crate::{
    events::WireTrace,
    report::{RaisedException, TestTrace, TracedCall, TracedValue},
    tracebacks::ProjectPaths,
};

/// Makes the paths of a trace relative to the root.
pub(crate) fn relative(trace: WireTrace, places: &ProjectPaths) -> TestTrace {
    let relative = |path: String| places.relative(&path).unwrap_or(path);
    let calls = trace.calls.into_iter();
    let raised = trace.raised.into_iter();
    let values = trace.values.into_iter();
    let value = |(line, name, kind)| TracedValue { line, name, kind };
    TestTrace {
        calls: calls
            .map(|(path, first, caller, line)| TracedCall {
                path: relative(path),
                first,
                caller,
                line,
            })
            .collect(),
        raised: raised
            .map(|(path, line, exception, message, moment)| RaisedException {
                path: relative(path),
                line,
                exception,
                message,
                moment,
            })
            .collect(),
        branches: trace.branches.into_iter().map(|(path, it)| (relative(path), it)).collect(),
        values: values
            .map(|(path, it)| (relative(path), it.into_iter().map(value).collect()))
            .collect(),
        handlers: trace.handlers.into_iter().map(|(path, it)| (relative(path), it)).collect(),
        first: trace.first.into_iter().map(|(path, it)| (relative(path), it)).collect(),
        decided: trace.decided,
    }
}
