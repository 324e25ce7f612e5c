//! JUnit XML output, as build servers and editors read it.

use std::fmt::Write;

use crate::report::{Failure, Outcome, Report, TestOutcome, TestResult};

/// Returns the report as one `testsuite` named `suite`. Collection errors are test cases with an
/// error; so is a run that ended for another reason than its tests. The XML is well formed whatever
/// the tests printed: characters that XML cannot carry become `U+FFFD`.
pub fn junit(report: &Report, suite: &str) -> String {
    let mut cases = String::new();
    report.tests.iter().for_each(|test| write_test(&mut cases, test));
    report.collection_errors.iter().for_each(|failure| write_collection_error(&mut cases, failure));
    let run_error = write_run_error(&mut cases, report);

    let count = |wanted: &[TestOutcome]| {
        report.tests.iter().filter(|test| wanted.contains(&test.outcome)).count()
    };
    let failures = count(&[TestOutcome::Failed]);
    let skipped = count(&[TestOutcome::Skipped, TestOutcome::XFailed]);
    let broken = count(&[TestOutcome::Error, TestOutcome::TimedOut, TestOutcome::Crashed]);
    let other = report.collection_errors.len() + usize::from(run_error);
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<testsuites>\n<testsuite name=\"{}\" tests=\"{}\" \
         failures=\"{failures}\" errors=\"{}\" skipped=\"{skipped}\" time=\"{:.3}\">\n{cases}</testsuite>\n</testsuites>\n",
        escaped(suite),
        report.tests.len() + other,
        broken + other,
        report.duration.as_secs_f64(),
    )
}

/// Appends formatted text. Writing to a `String` cannot fail, so callers need no error handling.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string");
}

fn write_test(out: &mut String, test: &TestResult) {
    let (class, name) = class_and_name(&test.id);
    put(
        out,
        format_args!("<testcase classname=\"{}\" name=\"{}\"", escaped(&class), escaped(name)),
    );
    put(out, format_args!(" file=\"{}\"", escaped(&test.path)));
    if let Some(line) = test.line {
        put(out, format_args!(" line=\"{line}\""));
    }
    put(out, format_args!(" time=\"{:.3}\">\n", test.duration.as_secs_f64()));
    write_outcome(out, test);
    for (tag, text) in [("system-out", &test.stdout), ("system-err", &test.stderr)] {
        if !text.is_empty() {
            put(out, format_args!("<{tag}>{}</{tag}>\n", escaped(text)));
        }
    }
    out.push_str("</testcase>\n");
}

fn write_outcome(out: &mut String, test: &TestResult) {
    let tag = match test.outcome {
        TestOutcome::Passed | TestOutcome::XPassed => return,
        TestOutcome::Skipped | TestOutcome::XFailed => {
            let reason = test.reason.as_deref().unwrap_or_default();
            return put(out, format_args!("<skipped message=\"{}\"/>\n", escaped(reason)));
        }
        TestOutcome::Failed => "failure",
        TestOutcome::Error | TestOutcome::TimedOut | TestOutcome::Crashed => "error",
    };
    match &test.failure {
        Some(failure) => write_failure(out, tag, failure),
        None => put(out, format_args!("<{tag}/>\n")),
    }
}

fn write_failure(out: &mut String, tag: &str, failure: &Failure) {
    let (message, kind) = (escaped(&failure.message), escaped(&failure.exception));
    let text = escaped(&failure.traceback);
    put(out, format_args!("<{tag} message=\"{message}\" type=\"{kind}\">{text}</{tag}>\n"));
}

fn write_collection_error(out: &mut String, failure: &Failure) {
    let path = failure.path.as_deref().unwrap_or("collection");
    put(out, format_args!("<testcase classname=\"\" name=\"{}\" time=\"0.000\">\n", escaped(path)));
    write_failure(out, "error", failure);
    out.push_str("</testcase>\n");
}

/// Adds an error so that a broken run does not look like a green one. Returns whether one was
/// needed.
fn write_run_error(out: &mut String, report: &Report) -> bool {
    let (kind, reason) = match &report.outcome {
        Outcome::Passed | Outcome::Failed | Outcome::CollectionError | Outcome::NoTests => {
            return false;
        }
        Outcome::TimedOut => ("TimedOut", &report.reason),
        Outcome::KilledForMemory => ("KilledForMemory", &report.reason),
        Outcome::Crashed { .. } => ("Crashed", &report.reason),
        Outcome::Tampered { what } => ("Tampered", &Some(what.clone())),
        Outcome::SandboxLost { reason } => ("SandboxLost", &Some(reason.clone())),
        Outcome::SandboxUnavailable { reason } => ("SandboxUnavailable", &Some(reason.clone())),
        Outcome::Cancelled => ("Cancelled", &Some("the run was cancelled".to_owned())),
    };
    let message = reason.clone().unwrap_or_default();
    let failure = Failure { exception: kind.to_owned(), message, ..Failure::default() };
    out.push_str("<testcase classname=\"\" name=\"run\" time=\"0.000\">\n");
    write_failure(out, "error", &failure);
    out.push_str("</testcase>\n");
    true
}

/// Splits `tests/test_a.py::TestB::test_c[x::y]` into `tests.test_a.TestB` and `test_c[x::y]`.
fn class_and_name(id: &str) -> (String, &str) {
    let plain = id.find('[').unwrap_or(id.len());
    let (scope, name) = match id[..plain].rfind("::") {
        Some(at) => (&id[..at], &id[at + 2..]),
        None => ("", id),
    };
    (scope.replace(".py", "").replace("::", ".").replace('/', "."), name)
}

/// Escapes text for elements and for attributes in double quotes. Line ends survive in attributes,
/// too.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}
