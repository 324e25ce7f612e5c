//! Traces of the failing tests, and of passing ones that run the same code.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use trellis_engine::localize::{Evidence, RaisedException, TestEvidence, TestTrace, TracedCall};
use trellis_sandbox::{Report, Request};

use super::LocalizeRequest;

/// Maximum numbers of traced tests.
const FAILING: usize = 20;
const PASSING: usize = 40;
/// Maximum total durations of the traced tests, as measured without tracing.
const FAILING_TIME: Duration = Duration::from_secs(8);
const PASSING_TIME: Duration = Duration::from_secs(2);

impl LocalizeRequest<'_> {
    /// Adds traces to the evidence. Without any, the ranking does without them.
    pub(super) async fn add_traces(&self, reports: &[Report], evidence: &mut Evidence) {
        let targets = chosen(reports, evidence);
        if targets.is_empty() {
            return;
        }
        let mut request = Request { trace: true, ..self.request(Vec::new(), self.test_timeout) };
        request.targets = targets;
        let report = self.runner.run(&request, self.cancel).await;
        for (id, trace) in &report.traces {
            let converted = converted(trace, evidence);
            if let Some(test) = evidence.tests.iter_mut().find(|it| it.id == *id) {
                test.trace = Some(converted);
            }
        }
    }
}

/// Returns the ids of the tests to trace: failing ones, and then the passing ones that share the
/// most lines of code with them, as far as the time allows.
fn chosen(reports: &[Report], evidence: &Evidence) -> Vec<String> {
    let results = reports.iter().flat_map(|it| &it.tests);
    let durations: Durations<'_> = results.map(|it| (it.id.as_str(), it.duration)).collect();
    let (failing, passing): (Vec<_>, Vec<_>) = evidence.tests.iter().partition(|it| it.failed);
    let suspicious: BTreeSet<Line> = failing.iter().flat_map(|it| code(it, evidence)).collect();
    let shared =
        |it: &TestEvidence| code(it, evidence).filter(|it| suspicious.contains(it)).count();
    let mut passing: Vec<_> = passing.into_iter().map(|it| (shared(it), it)).collect();
    passing.retain(|(shared, _)| *shared > 0);
    passing.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    let passing = passing.into_iter().map(|(_, it)| it).collect();
    let mut ids = affordable(failing, &durations, FAILING_TIME, FAILING);
    ids.extend(affordable(passing, &durations, PASSING_TIME, PASSING));
    ids
}

type Line = (usize, u32);
type Durations<'a> = BTreeMap<&'a str, Duration>;

/// Returns the lines of code, but not of tests, that a test executed.
fn code<'a>(test: &'a TestEvidence, evidence: &Evidence) -> impl Iterator<Item = Line> + use<'a> {
    let is_test: Vec<usize> =
        test.lines.keys().copied().filter(|it| evidence.files[*it].is_test).collect();
    let files = test.lines.iter().filter(move |(file, _)| !is_test.contains(*file));
    files.flat_map(|(file, lines)| lines.iter().map(|it| (*file, *it)))
}

/// Returns the ids of the first tests that take no longer than the time together.
fn affordable(
    tests: Vec<&TestEvidence>,
    durations: &Durations<'_>,
    mut left: Duration,
    most: usize,
) -> Vec<String> {
    let mut ids = Vec::new();
    for test in tests {
        let Some(took) = durations.get(test.id.as_str()).filter(|it| **it <= left) else {
            continue;
        };
        left -= *took;
        ids.push(test.id.clone());
        if ids.len() == most {
            break;
        }
    }
    ids
}

fn converted(trace: &trellis_sandbox::TestTrace, evidence: &Evidence) -> TestTrace {
    let file = |path: &str| evidence.files.binary_search_by(|it| it.path.as_str().cmp(path)).ok();
    let mut out = TestTrace::default();
    let mut numbers = Vec::new();
    for call in &trace.calls {
        let caller = call.caller.and_then(|it| numbers.get(it).copied().flatten());
        let known = file(&call.path).map(|file| {
            let function = evidence.files[file].facts.function_at(call.first);
            out.calls.push(TracedCall { file, function, caller, line: call.line });
            out.calls.len() - 1
        });
        numbers.push(known);
    }
    for it in &trace.raised {
        let at = file(&it.path).map(|file| (file, it.line));
        out.raised.extend(at.map(|at| RaisedException {
            at,
            exception: it.exception.clone(),
            message: it.message.clone(),
            moment: it.moment,
        }));
    }
    for (path, pairs) in &trace.branches {
        let Some(file) = file(path) else { continue };
        let inside =
            pairs.iter().filter_map(|(from, to)| Some((file, u32::try_from(*from).ok()?, *to)));
        out.branches.extend(inside);
    }
    for (path, values) in &trace.values {
        let Some(file) = file(path) else { continue };
        let values = values.iter().map(|it| ((file, it.line), it.name.clone(), it.kind.clone()));
        out.values.extend(values);
    }
    for (path, lines) in &trace.first {
        let Some(file) = file(path) else { continue };
        for (line, moment) in lines {
            let (_, line) = evidence.statement_line((file, *line));
            let first = out.first.entry(file).or_default().entry(line).or_insert(*moment);
            *first = (*moment).min(*first);
        }
    }
    let handlers = trace.handlers.iter().filter_map(|(path, line)| Some((file(path)?, *line)));
    out.handlers = handlers.map(|it| evidence.statement_line(it)).collect();
    out.decided = trace.decided;
    out
}
