//! Rules that diagnose a failure without a model. Each decides only clear cases; if the failures of
//! a run contradict each other, or no rule applies, nothing is decided.

use std::collections::BTreeSet;
use std::fmt;

use crate::diagnosis::examples::{DocumentedExample, compare};
use crate::diagnosis::{Diagnosis, Finding};
use crate::observation::{Failure, Frame, RunOutcome, TestRun};

/// Facts about the repository for the rules.
pub struct ProjectFacts<'a> {
    /// Returns whether a path holds tests or their fixtures.
    pub is_test: &'a dyn Fn(&str) -> bool,
    /// Returns whether a module, given by its first part, belongs to the repository.
    pub is_local: &'a dyn Fn(&str) -> bool,
    /// Returns whether the repository's requirements name the distribution of a module.
    pub is_declared: &'a dyn Fn(&str) -> bool,
    /// True if the code has the documented or planned signatures.
    pub signatures_hold: bool,
    /// Docstrings and examples of the code under test.
    pub documentation: &'a [&'a str],
}

impl fmt::Debug for ProjectFacts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProjectFacts").finish_non_exhaustive()
    }
}

/// Diagnoses a failing run; `None` if the rules do not decide.
pub fn diagnose(run: &TestRun, around: &ProjectFacts<'_>) -> Option<Finding> {
    if let Some(finding) = ended(run, around) {
        return Some(finding);
    }
    let findings: Vec<Finding> =
        run.failures().filter_map(|failure| of_failure(failure, around)).collect();
    let Some(first) = findings.first().cloned() else { return witnesses(run, around) };
    let agree = findings.iter().all(|it| it.diagnosis == first.diagnosis);
    let broken = |it: &&Finding| it.diagnosis == Diagnosis::Test;
    match agree {
        // Failures without a finding may be bugs that do not depend on the missing package.
        true if first.diagnosis == Diagnosis::Environment => {
            (findings.len() == run.failures().count()).then_some(first)
        }
        true => Some(first),
        // Tests that cannot run hide all other failures.
        false => findings.iter().find(broken).cloned(),
    }
}

fn finding(diagnosis: Diagnosis, rule: &'static str, why: impl Into<String>) -> Option<Finding> {
    Some(Finding { diagnosis, rule, why: why.into() })
}

/// Minimum number of independent failing tests that count as evidence against the code.
const WITNESSES: usize = 3;

/// Finds code that several tests contradict. A single test may be wrong; several functions in more
/// than one file, each failing at an assertion of its own, are evidence against the code they
/// share.
fn witnesses(run: &TestRun, around: &ProjectFacts<'_>) -> Option<Finding> {
    let failed = run.cases.iter().filter(|case| !case.passed && !case.set_aside);
    let own = failed.filter(|case| {
        let failure = case.failure.as_ref();
        failure.is_some_and(|it| it.exception == "AssertionError" && (around.is_test)(&it.path))
    });
    let functions: BTreeSet<&str> = own.filter_map(|case| case.id.split('[').next()).collect();
    let files: BTreeSet<&str> = functions.iter().filter_map(|id| id.split("::").next()).collect();
    if functions.len() < WITNESSES || files.len() < 2 {
        return None;
    }
    let why = format!("{} tests in {} files disagree with the code", functions.len(), files.len());
    finding(Diagnosis::Implementation, "witnesses", why)
}

/// Diagnoses runs that did not end regularly.
fn ended(run: &TestRun, around: &ProjectFacts<'_>) -> Option<Finding> {
    let deepest = deepest(&run.stack);
    let in_code = deepest.filter(|frame| !(around.is_test)(&frame.path));
    match (&run.ending, in_code) {
        (RunOutcome::TimedOut { .. }, Some(frame)) if waits_for_others(frame) => finding(
            Diagnosis::Environment,
            "waiting",
            format!("at the deadline the run waited in {}", place(frame)),
        ),
        // The stack shows neither the awaited event nor the reason why it does not come.
        (RunOutcome::TimedOut { .. }, _) if waits(&run.stack) => None,
        (RunOutcome::TimedOut { .. }, Some(frame)) => finding(
            Diagnosis::Implementation,
            "endless-loop",
            format!("at the deadline the run was in {}", place(frame)),
        ),
        (RunOutcome::KilledForMemory, Some(frame)) => finding(
            Diagnosis::Implementation,
            "memory",
            format!("all memory was used up in {}", place(frame)),
        ),
        (RunOutcome::Crashed { signal: Some(signal), .. }, frame)
            if !frame.is_some_and(ends_itself) =>
        {
            finding(
                Diagnosis::Environment,
                "signal",
                format!("signal {signal} ended the process from outside the Python code"),
            )
        }
        (RunOutcome::Crashed { .. }, Some(frame)) if ends_itself(frame) => finding(
            Diagnosis::Implementation,
            "exit",
            format!("the code under test ends the process in {}", place(frame)),
        ),
        _ => None,
    }
}

/// Returns whether the statement waits for user input or for a connection. A connection to the same
/// machine is made or refused at once.
fn waits_for_others(frame: &Frame) -> bool {
    [".connect(", "input("].iter().any(|it| frame.source.contains(it))
}

/// Calls that wait and have no Python frame of their own, and calls that run an event loop.
const WAITING: [&str; 14] = [
    "sleep(",
    ".recv(",
    ".accept(",
    "select(",
    "poll(",
    ".acquire(",
    ".wait(",
    ".join()",
    ".result(",
    "run_until_complete(",
    "run_forever(",
    "asyncio.run(",
    "urlopen(",
    "sigwait",
];

/// Modules of the standard library, and third-party event loops, in which a program waits.
const WAITS_IN: [&str; 11] = [
    "/selectors.py",
    "/asyncio/",
    "/threading.py",
    "/queue.py",
    "/subprocess.py",
    "/socket.py",
    "/ssl.py",
    "/concurrent/futures/",
    "/multiprocessing/",
    "/anyio/",
    "/trio/",
];

/// Returns whether the stack ends in a waiting call; a computing loop does not.
fn waits(stack: &[Frame]) -> bool {
    let within = |frame: &Frame| WAITS_IN.iter().any(|it| frame.path.contains(it));
    let calls = |frame: &Frame| WAITING.iter().any(|it| frame.source.contains(it));
    stack.last().is_some_and(within) || deepest(stack).is_some_and(calls)
}

fn ends_itself(frame: &Frame) -> bool {
    ["os.kill", "os.abort", "os._exit", "signal.raise_signal"]
        .iter()
        .any(|it| frame.source.contains(it))
}

fn of_failure(failure: &Failure, around: &ProjectFacts<'_>) -> Option<Finding> {
    missing_package(failure, around)
        .or_else(|| outside_world(failure))
        .or_else(|| broken_test(failure, around))
        .or_else(|| documented(failure, around))
        .or_else(|| accident(failure, around))
}

/// Diagnoses a failed import by the owner of the missing module.
fn missing_package(failure: &Failure, around: &ProjectFacts<'_>) -> Option<Finding> {
    let module = failure.missing_module.as_deref()?;
    let top = module.split('.').next().unwrap_or(module);
    if failure.missing_attribute.is_some() || (around.is_local)(top) {
        return None;
    }
    if (around.is_declared)(top) {
        let why = format!("the package `{top}` is required but not installed");
        return finding(Diagnosis::Environment, "missing-package", why);
    }
    let why = format!("{} imports `{top}`, which no requirement names", failure.path);
    match (around.is_test)(&failure.path) {
        true => finding(Diagnosis::Test, "foreign-package", why),
        false => finding(Diagnosis::Implementation, "foreign-package", why),
    }
}

/// Messages of a network that cannot be reached. A connection that is refused or reset reached its
/// machine: what should answer there may be a server that the code or the test has not started.
const UNREACHABLE: [&str; 7] = [
    "Network is unreachable",
    "Network is down",
    "No route to host",
    "Temporary failure in name resolution",
    "Name or service not known",
    "No address associated with hostname",
    "nodename nor servname provided",
];

/// Diagnoses a lack of network, files outside of the repository, programs or variables: no change
/// of the code would provide them.
fn outside_world(failure: &Failure) -> Option<Finding> {
    let message = failure.message.as_str();
    let last = failure.frames.last().map_or("", |frame| frame.source.as_str());
    let has = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    let is =
        |names: &[&str]| names.contains(&failure.exception.rsplit('.').next().unwrap_or_default());
    let network = is(&["gaierror", "herror"]) || has(&UNREACHABLE);
    let (rule, what) = if network {
        ("network", "the network is needed and cannot be reached")
    } else if is(&["FileNotFoundError", "PermissionError", "NotADirectoryError"]) && is_far(message)
    {
        ("foreign-file", "a file outside the repository is missing")
    } else if is(&["FileNotFoundError", "PermissionError"]) && starts_program(last) {
        ("missing-program", "a required program is missing")
    } else if is(&["KeyError"]) && last.contains("environ") {
        ("missing-variable", "a required environment variable is not set")
    } else if has(&["Read-only file system", "No space left on device", "Too many open files"])
        || failure.exception == "locale.Error"
        || (is(&["Error"]) && has(&["unsupported locale setting"]))
    {
        ("machine", "the machine lacks something the code needs")
    } else {
        return None;
    };
    finding(
        Diagnosis::Environment,
        rule,
        format!("{what}: {}: {}", failure.exception, first_line(message)),
    )
}

/// Returns whether a message quotes an absolute path outside of the folders for tests' own files.
fn is_far(message: &str) -> bool {
    let quoted = message.split('\'').skip(1).step_by(2);
    let mut paths = quoted.filter(|it| it.starts_with('/') || it.starts_with('~'));
    paths.any(|path| !path.contains("pytest-") && !path.starts_with("/tmp/"))
}

fn starts_program(source: &str) -> bool {
    ["subprocess", "Popen", "check_output", "check_call", "os.exec"]
        .iter()
        .any(|it| source.contains(it))
}

/// Diagnoses tests that are wrong independent of the code.
fn broken_test(failure: &Failure, around: &ProjectFacts<'_>) -> Option<Finding> {
    if !(around.is_test)(&failure.path) {
        return None;
    }
    let message = failure.message.as_str();
    let (rule, what) = match failure.exception.as_str() {
        "SyntaxError" | "IndentationError" | "TabError" => ("test-syntax", "is not valid Python"),
        "NameError" if failure.missing_name.is_some() => {
            ("undefined-name", "uses an undefined name")
        }
        "UnboundLocalError" => ("undefined-name", "uses a local name before it has a value"),
        _ if message.contains("fixture '") && message.contains("' not found") => {
            ("missing-fixture", "asks for a fixture that does not exist")
        }
        _ if message.contains("function uses no argument '")
            || message.contains("ScopeMismatch") =>
        {
            ("misused-fixture", "does not fit its own fixtures or parameters")
        }
        "AttributeError" if message.contains("does not have the attribute '") => {
            ("patch-target", "patches what is not there")
        }
        "TypeError" if around.signatures_hold && cannot_bind(message) => {
            ("wrong-call", "calls with arguments the signature does not take")
        }
        _ => return None,
    };
    finding(Diagnosis::Test, rule, format!("{} {what}: {}", failure.path, first_line(message)))
}

/// Returns whether a message is one of Python's about arguments that do not fit a signature.
fn cannot_bind(message: &str) -> bool {
    let binding = [
        "got an unexpected keyword argument",
        "required positional argument",
        "required keyword-only argument",
        "got multiple values for argument",
        "positional arguments but",
        "positional argument but",
        "takes no arguments",
    ];
    binding.iter().any(|part| message.contains(part))
}

/// Compares the failing assertion with docstrings and examples.
fn documented(failure: &Failure, around: &ProjectFacts<'_>) -> Option<Finding> {
    let texts = || around.documentation.iter().copied();
    let frame = failure.frames.iter().rev().find(|it| (around.is_test)(&it.path))?;
    if let Some(said) = compare(&frame.source, texts()) {
        let line = frame.source.split_whitespace().collect::<Vec<_>>().join(" ");
        return match said {
            DocumentedExample::TheSame => finding(
                Diagnosis::Implementation,
                "documented-example",
                format!("the documentation has the example that fails: {line}"),
            ),
            DocumentedExample::Otherwise => finding(
                Diagnosis::Test,
                "documented-example",
                format!("the documentation gives another value for this call: {line}"),
            ),
        };
    }
    None
}

/// Diagnoses exceptions that are not raised on purpose, thrown by a line of the code under test
/// that is not a `raise` statement.
fn accident(failure: &Failure, around: &ProjectFacts<'_>) -> Option<Finding> {
    if failure.message.contains("<coroutine object ") {
        let why = format!("a coroutine was never awaited: {}", first_line(&failure.message));
        return finding(Diagnosis::Implementation, "not-awaited", why);
    }
    let place_of = deepest(&failure.frames);
    let in_test = (around.is_test)(&failure.path);
    let message = failure.message.as_str();
    let exception = failure.exception.as_str();
    if in_test {
        // The test used the return value of the code, which was None.
        let nothing = matches!(exception, "TypeError" | "AttributeError")
            && message.contains("'NoneType' object");
        return match nothing {
            true => finding(
                Diagnosis::Implementation,
                "nothing-returned",
                format!("the code under test gave None: {}", first_line(message)),
            ),
            false => None,
        };
    }
    let unreadable = ["SyntaxError", "IndentationError", "TabError"].contains(&exception);
    let accidental = unreadable
        || [
            "NameError",
            "UnboundLocalError",
            "AttributeError",
            "TypeError",
            "IndexError",
            "KeyError",
            "ZeroDivisionError",
            "RecursionError",
            "StopIteration",
        ]
        .contains(&exception)
        || (exception == "ValueError" && message.contains("values to unpack"))
        || (exception == "RuntimeError" && message.contains("changed size during iteration"));
    let raised = place_of.is_some_and(|frame| frame.source.starts_with("raise"));
    if !accidental || raised || failure.path.is_empty() {
        return None;
    }
    let why = format!(
        "{}:{} fails by accident: {exception}: {}",
        failure.path,
        failure.line,
        first_line(message)
    );
    finding(Diagnosis::Implementation, "accident", why)
}

/// Returns the deepest frame inside the repository.
pub(crate) fn deepest(stack: &[Frame]) -> Option<&Frame> {
    stack.iter().rfind(|frame| !frame.path.starts_with('/') && !frame.path.starts_with('<'))
}

fn place(frame: &Frame) -> String {
    format!("{} ({}:{})", frame.function, frame.path, frame.line)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
