//! Converts between the vocabularies of the crates: `trellis_engine` depends on neither
//! `trellis_sandbox` nor `trellis_llm`.

use std::collections::BTreeMap;
use std::sync::Arc;

use trellis_engine::{
    ComparedValues, Failure, Frame, LibraryFrames, Role, RunOutcome, TestCase, TestRun,
};
use trellis_sandbox::{MissingName, Outcome, Report, TestOutcome};

use crate::fault::Fault;

/// Maximum length of printed output in a prompt, in bytes.
const OUTPUT_BYTES: usize = 4000;

/// Renders a node's request as a chat request within `tokens`.
pub fn ask(
    node: &str,
    ask: &trellis_engine::ModelRequest,
    tokens: usize,
) -> trellis_llm::ChatRequest {
    let role = |role| match role {
        Role::System => trellis_llm::Role::System,
        Role::User => trellis_llm::Role::User,
    };
    let messages = ask.prompt.messages(tokens);
    trellis_llm::ChatRequest {
        node: node.to_owned(),
        stage: ask.stage.as_str().to_owned(),
        attempt: ask.attempt,
        messages: messages
            .iter()
            .map(|it| trellis_llm::Message::new(role(it.role), &it.text))
            .collect(),
        tools: Arc::from([]),
        temperature: ask.temperature,
        max_output_tokens: None,
    }
}

/// Reason that there is no run to look at.
pub enum SkippedRun {
    Cancelled,
    Fault(Fault),
}

/// The files of a run, by path.
pub type Files = BTreeMap<String, Arc<str>>;

/// A function that returns a file's text by path.
pub type Texts<'a> = &'a dyn Fn(&str) -> Option<Arc<str>>;

/// Converts a run's report, with the source lines of its frames. An error if there was no run,
/// which stops the work.
pub fn test_run(report: &Report, texts: Texts<'_>) -> Result<TestRun, SkippedRun> {
    let ending = match &report.outcome {
        Outcome::Passed => RunOutcome::Passed,
        Outcome::Failed => RunOutcome::Failed,
        Outcome::CollectionError => RunOutcome::CollectionError,
        Outcome::NoTests => RunOutcome::NoTests,
        Outcome::TimedOut => RunOutcome::TimedOut { why: report.reason.clone() },
        Outcome::KilledForMemory => RunOutcome::KilledForMemory,
        Outcome::Crashed { signal, exit_code } => {
            RunOutcome::Crashed { how: crashed(report, *signal, *exit_code), signal: *signal }
        }
        Outcome::Tampered { what } => RunOutcome::Crashed {
            how: format!("these results prove nothing: {what}"),
            signal: None,
        },
        Outcome::SandboxLost { reason } => {
            RunOutcome::Crashed { how: reason.clone(), signal: None }
        }
        Outcome::Cancelled => return Err(SkippedRun::Cancelled),
        Outcome::SandboxUnavailable { reason } => {
            return Err(SkippedRun::Fault(Fault::unavailable(format!(
                "the sandbox cannot run tests: {reason}"
            ))));
        }
    };
    let frame = |it: &trellis_sandbox::Frame| frame(it, texts);
    let failure = |it: &trellis_sandbox::Failure| failure(it, texts);
    let case = |test: &trellis_sandbox::TestResult| TestCase {
        id: test.id.clone(),
        passed: matches!(test.outcome, TestOutcome::Passed | TestOutcome::XPassed),
        set_aside: matches!(test.outcome, TestOutcome::Skipped | TestOutcome::XFailed),
        failure: test.failure.as_ref().map(&failure).or_else(|| set_aside(test)),
    };
    // Deselected tests need not pass. Only those that passed before must keep passing.
    let left_out = report.deselected_tests.iter().map(|test| {
        let case = case(test);
        TestCase { set_aside: !case.passed, ..case }
    });
    let cases = report.tests.iter().map(case).chain(left_out);
    let output = format!("{}{}", report.stdout, report.stderr);
    let from = output.ceil_char_boundary(output.len().saturating_sub(OUTPUT_BYTES));
    Ok(TestRun {
        ending,
        stack: report.stuck.iter().flat_map(|stuck| &stuck.frames).map(frame).collect(),
        cases: cases.collect(),
        collection: report.collection_errors.iter().map(failure).collect(),
        output: output[from..].to_owned(),
    })
}

/// Describes a skipped or expectedly failing test as a failure, in words for the model.
fn set_aside(test: &trellis_sandbox::TestResult) -> Option<Failure> {
    let exception = match test.outcome {
        TestOutcome::Skipped => "Skipped",
        TestOutcome::XFailed => "ExpectedFailure",
        _ => return None,
    };
    let reason = test.reason.clone().unwrap_or_default();
    Some(Failure {
        exception: exception.to_owned(),
        message: format!("{} did not finish: {reason}; every test must run and pass", test.id),
        path: test.path.clone(),
        line: test.line.unwrap_or_default(),
        ..Failure::default()
    })
}

fn crashed(report: &Report, signal: Option<i32>, exit_code: Option<i32>) -> String {
    let how = match (signal, exit_code) {
        (Some(signal), _) => format!("by signal {signal}"),
        (None, Some(code)) => format!("with exit status {code}"),
        (None, None) => "without an exit status".to_owned(),
    };
    report.reason.as_ref().map_or(how.clone(), |reason| format!("{how}: {reason}"))
}

pub fn frame(frame: &trellis_sandbox::Frame, texts: Texts<'_>) -> Frame {
    let text = if frame.inside { texts(&frame.path) } else { None };
    let source = text.map(|text| statement(&text, frame.line)).unwrap_or_default();
    Frame { path: frame.path.clone(), line: frame.line, function: frame.function.clone(), source }
}

/// Maximum length of a statement that is shown whole, in lines.
const LONGEST_STATEMENT: usize = 40;

/// Returns the statement that begins at a line, counted from 1, without its margin; only the line
/// if no statement begins there.
fn statement(text: &str, line: u32) -> String {
    let lines: Vec<&str> =
        text.lines().skip(line.saturating_sub(1) as usize).take(LONGEST_STATEMENT).collect();
    let Some(first) = lines.first() else { return String::new() };
    let margin = &first[..first.len() - first.trim_start().len()];
    let plain = |line: &&str| line.strip_prefix(margin).unwrap_or(line).trim_end().to_owned();
    let lines: Vec<String> = lines.iter().map(plain).collect();
    // The header of a block parses only with a body.
    let is_whole = |text: &str| {
        trellis_python::check(text)
            .or_else(|_| trellis_python::check(&format!("{text} pass")))
            .is_ok()
    };
    let whole = (1..=lines.len()).map(|count| lines[..count].join("\n")).find(|it| is_whole(it));
    whole.unwrap_or_else(|| first.trim().to_owned())
}

/// Converts a failure for the engine.
pub fn failure(failure: &trellis_sandbox::Failure, texts: Texts<'_>) -> Failure {
    let mut out = Failure {
        exception: failure.exception.clone(),
        message: failure.message.clone(),
        path: failure.path.clone().unwrap_or_default(),
        line: failure.line.unwrap_or_default(),
        frames: failure.frames.iter().filter(|it| it.inside).map(|it| frame(it, texts)).collect(),
        libraries: library_frames(&failure.frames),
        compared: failure.comparison.as_ref().map(|it| ComparedValues {
            operator: it.operator.clone(),
            left: it.actual.clone(),
            right: it.expected.clone(),
        }),
        traceback: failure.traceback.clone(),
        ..Failure::default()
    };
    match &failure.missing {
        Some(MissingName::Name { name }) => out.missing_name = Some(name.clone()),
        Some(MissingName::Module { module }) => out.missing_module = Some(module.clone()),
        Some(MissingName::Imported { name, module }) => {
            out.missing_attribute = Some(name.clone());
            out.missing_module = module.clone();
        }
        Some(MissingName::Attribute { name, .. }) => out.missing_attribute = Some(name.clone()),
        None => {}
    }
    out
}

/// Converts the failure of a test, with what the test printed and logged.
pub fn failure_of_test(test: &trellis_sandbox::TestResult, texts: Texts<'_>) -> Option<Failure> {
    let failure = failure(test.failure.as_ref()?, texts);
    let captured = [&test.stdout, &test.stderr, &test.log];
    let captured: Vec<&str> = captured.iter().map(|it| it.trim_end()).collect();
    Some(Failure { output: captured.join("\n").trim().to_owned(), ..failure })
}

/// Collects the frames outside of the project, by their place among the project's.
fn library_frames(frames: &[trellis_sandbox::Frame]) -> Vec<LibraryFrames> {
    let mut out: Vec<LibraryFrames> = Vec::new();
    let mut after = 0;
    for it in frames {
        if it.inside {
            after += 1;
            continue;
        }
        if out.last().is_none_or(|known| known.after != after) {
            out.push(LibraryFrames { after, ..LibraryFrames::default() });
        }
        let Some(last) = out.last_mut() else { continue };
        let (name, path) = library(&it.path);
        last.count += 1;
        last.deepest = format!("{path}:{} in {}", it.line, it.function);
        if !last.names.contains(&name) {
            last.names.push(name);
        }
    }
    out
}

/// Returns the name of a library, and a file's path below the folder of libraries.
fn library(path: &str) -> (String, &str) {
    let inner = ["site-packages/", "dist-packages/"].iter().find_map(|it| path.split_once(it));
    let python = || {
        let (_, rest) = path.rsplit_once("/lib/python3")?;
        rest.split_once('/').map(|it| it.1)
    };
    let path = inner.map(|it| it.1).or_else(python).unwrap_or(path);
    let name = path.split('/').find(|it| !it.is_empty()).unwrap_or(path);
    (name.trim_end_matches(".py").to_owned(), path)
}

/// Returns the outcome of a test as results name it.
pub fn test_outcome(outcome: trellis_sandbox::TestOutcome) -> String {
    let name = format!("{outcome:?}");
    let mut chars = name.chars();
    chars.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(chars).collect()
}

/// Returns the syntax error of a Python text, if there is one.
pub fn check_python(text: &str) -> Result<(), String> {
    trellis_python::check(text).map_err(|error| error.to_string())
}
