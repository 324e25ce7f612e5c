//! Commands of lenses and code actions: `workspace/executeCommand`.
//!
//! A command is a method of Trellis under a name that editors accept for commands. Its first
//! argument holds the method's parameters; further arguments help an editor to draw the command.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::{Command, MessageType};

use super::dispatch;
use crate::results::{Results, Tally};
use crate::rpc::{Methods, PREFIX};

/// Effect of a command.
enum CommandKind {
    /// The command calls this method.
    Calls(&'static str),
    /// The command shows the last result of a test.
    Shows,
}

/// All commands of the server.
const COMMANDS: [(&str, CommandKind); 10] = [
    (GENERATE_TESTS, CommandKind::Calls("trellis/generateTests")),
    (RUN_TESTS, CommandKind::Calls("trellis/runTests")),
    (RETRY_NODE, CommandKind::Calls("trellis/retryNode")),
    (PROPOSE_FIX, CommandKind::Calls("trellis/proposeFix")),
    (REPAIR, CommandKind::Calls("trellis/repair")),
    (SHOW_RESULT, CommandKind::Shows),
    ("trellis.generate", CommandKind::Calls("trellis/generate")),
    ("trellis.pauseJob", CommandKind::Calls("trellis/pauseJob")),
    ("trellis.resumeJob", CommandKind::Calls("trellis/resumeJob")),
    ("trellis.cancelJob", CommandKind::Calls("trellis/cancelJob")),
];

const GENERATE_TESTS: &str = "trellis.generateTests";
const RUN_TESTS: &str = "trellis.runTests";
const RETRY_NODE: &str = "trellis.retryNode";
const PROPOSE_FIX: &str = "trellis.proposeFix";
const REPAIR: &str = "trellis.repair";
const SHOW_RESULT: &str = "trellis.showResult";

/// Argument of `trellis.generateTests`: the function to write tests for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GenerateTests {
    /// The folder of the project.
    pub(super) project_root: PathBuf,
    pub(super) function: FunctionName,
}

/// A function of a file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionName {
    /// The file, relative to the project's folder.
    pub(super) file_path: String,
    /// `function` or `Class.method`; `name[1]` for the second definition of one name.
    pub(super) name: String,
}

/// Argument of `trellis.runTests`: the tests to run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunTests {
    /// The folder of the project.
    pub(super) root: PathBuf,
    /// Test files or ids, relative to `root`.
    pub(super) paths: Vec<String>,
}

/// Argument of `trellis.retryNode`: a failed or skipped node.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RetryNode {
    /// The node's id.
    pub(super) node: String,
    /// The folder of the run.
    pub(super) out: PathBuf,
}

/// Argument of `trellis.proposeFix` and `trellis.showResult`: a test.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Test {
    /// The folder that the test ran in.
    pub(super) root: PathBuf,
    /// Test id relative to `root`; for `trellis.showResult` also a test file, class or function.
    pub(super) test: String,
}

/// Argument of `trellis.repair`: the project whose failing tests are to be fixed.
#[derive(Debug, Serialize)]
pub(super) struct Repair {
    /// The folder of the project.
    pub(super) root: PathBuf,
}

/// Outcome of some tests.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Mark {
    Passed,
    Failed,
    Skipped,
}

impl Mark {
    pub(super) fn of(tally: Tally) -> Mark {
        match tally {
            it if it.failed > 0 => Mark::Failed,
            it if it.passed > 0 => Mark::Passed,
            _ => Mark::Skipped,
        }
    }
}

/// A mark, with a flag for code changed since.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Marked {
    pub(super) mark: Mark,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) stale: bool,
}

/// Second argument of `trellis.showResult`: the title as a code.
#[derive(Debug, Serialize)]
struct ShownResult<'a> {
    #[serde(flatten)]
    marked: Marked,
    /// The first test that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failing: Option<&'a Test>,
}

impl Marked {
    pub(super) fn of(tally: Tally) -> Marked {
        Marked { mark: Mark::of(tally), stale: tally.stale > 0 }
    }
}

/// Result of `trellis.showResult`: the last results of some tests.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    passed: usize,
    failed: usize,
    skipped: usize,
    /// One `id: exception: message` per failure.
    failures: Vec<String>,
}

impl GenerateTests {
    pub(super) fn command(&self) -> Command {
        command("Generate tests", GENERATE_TESTS, self)
    }
}

impl RunTests {
    pub(super) fn command(&self) -> Command {
        command("Run", RUN_TESTS, self)
    }
}

impl Repair {
    pub(super) fn command(&self) -> Command {
        command("Repair failing tests", REPAIR, self)
    }
}

impl RetryNode {
    pub(super) fn command(&self) -> Command {
        command("Retry", RETRY_NODE, self)
    }

    /// Returns the command under a title with the node's name, for a place without its code.
    pub(super) fn of(&self, name: &str) -> Command {
        command(&format!("Retry {name} (failed)"), RETRY_NODE, self)
    }
}

impl Test {
    pub(super) fn propose_fix(&self) -> Command {
        command("Fix\u{2026}", PROPOSE_FIX, self)
    }

    pub(super) fn show_result(
        &self,
        title: &str,
        marked: Marked,
        failing: Option<&Test>,
    ) -> Command {
        let mut command = command(title, SHOW_RESULT, self);
        let shown = serde_json::to_value(ShownResult { marked, failing }).ok();
        command.arguments.get_or_insert_default().extend(shown);
        command
    }
}

fn command(title: &str, name: &str, argument: &impl Serialize) -> Command {
    let argument = serde_json::to_value(argument).ok();
    Command::new(title.to_owned(), name.to_owned(), argument.map(|it| vec![it]))
}

/// Returns the names of all commands.
pub(super) fn names() -> Vec<String> {
    COMMANDS.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Result of a command, with an optional message to the user.
pub(super) struct Done {
    pub(super) result: Value,
    pub(super) message: Option<(MessageType, String)>,
}

/// Executes a command; its argument is an object, or absent.
pub(super) async fn execute(
    methods: Methods,
    results: &Results,
    name: &str,
    arguments: Vec<Value>,
) -> Result<Done> {
    let argument = arguments.into_iter().next().unwrap_or_else(|| json!({}));
    match COMMANDS.iter().find(|(known, _)| *known == name).map(|(_, does)| does) {
        Some(CommandKind::Calls(method)) => {
            if methods.method(method).is_none() {
                return Err(unknown(&format!("this server has no method `{method}`")));
            }
            let result = dispatch::call(methods, method, argument).await?;
            Ok(Done { result, message: None })
        }
        Some(CommandKind::Shows) => {
            let test: Test = serde_json::from_value(argument)
                .map_err(|error| Error::invalid_params(format!("{name}: {error}")))?;
            Ok(show(results, &test))
        }
        None => Err(unknown(&format!("this server has no command `{name}`"))),
    }
}

fn unknown(what: &str) -> Error {
    let message = format!("{what}; `trellis serve --describe` lists the `{PREFIX}` methods");
    Error { code: ErrorCode::MethodNotFound, message: message.into(), data: None }
}

fn show(results: &Results, test: &Test) -> Done {
    let tally = results.tally(&test.root, &test.test);
    let failures = results.failures_below(&test.root, &test.test);
    let failures: Vec<String> =
        failures.iter().map(|it| format!("{}: {}", it.test, it.message)).collect();
    let kind = if tally.failed > 0 { MessageType::ERROR } else { MessageType::INFO };
    let said = match tally.total() {
        0 => format!("{} has not run yet", test.test),
        _ => format!("{}: {}", test.test, report(tally)),
    };
    let said = std::iter::once(said).chain(failures.iter().cloned()).collect::<Vec<_>>().join("\n");
    let Tally { passed, failed, set_aside, .. } = tally;
    let shown = Shown { passed, failed, skipped: set_aside, failures };
    let result = serde_json::to_value(shown).unwrap_or_default();
    Done { result, message: Some((kind, said)) }
}

/// Returns a short text for results.
pub(super) fn report(tally: Tally) -> String {
    let said = match tally {
        it if it.total() == 1 && it.failed == 1 => "\u{2717} failed".to_owned(),
        it if it.failed > 0 => format!("\u{2717} {} of {} failed", it.failed, it.total()),
        it if it.total() == 1 && it.passed == 1 => "\u{2713} passed".to_owned(),
        it if it.passed > 0 => format!("\u{2713} {} passed", it.passed),
        it if it.total() == 1 => "skipped".to_owned(),
        it => format!("{} skipped", it.set_aside),
    };
    before_change(said, tally.stale > 0)
}

/// Returns the text of a result, marked as outdated if the code changed since.
pub(super) fn before_change(said: String, is_stale: bool) -> String {
    if is_stale { format!("{said} before your change") } else { said }
}
