//! `trellis localize`: where the bug is that makes tests fail.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use cycle::localize::{LineSuspect, Parts, Ranked};
use run::Tree;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::cli::results::{limit, plain};
use crate::error::{Exit, Fault};
use crate::localize::{Failing, Found, Search};
use crate::output::Output;
use crate::project;
use crate::sandbox::{self, Needs, SandboxArgs};
use crate::signals::cancel_on_signal;
use crate::sources::Workspace;

/// The most seconds any option takes.
const DAY: u64 = 86_400;

/// Rank the functions and lines that may be why tests fail.
#[derive(Args)]
pub(crate) struct LocalizeArgs {
    /// The project; nothing in it is changed.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Only these tests: ids, files or folders, as `trellis test` has them; all if none is given.
    #[arg(long = "test", value_name = "ID")]
    tests: Vec<String>,
    /// Show this many suspects.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
    /// Seconds for trying small edits of suspicious lines against the tests; 0 tries none.
    #[arg(long, default_value_t = 20, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=DAY))]
    trials: u64,
    /// Seconds one test may take.
    #[arg(long, default_value_t = 5, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=DAY))]
    timeout: u64,
    /// Seconds all of them may take.
    #[arg(long, default_value_t = 3600, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=DAY))]
    run_timeout: u64,
    #[command(flatten)]
    sandbox: SandboxArgs,
}

pub(crate) async fn run(args: LocalizeArgs, output: &mut Output) -> Result<Exit, Fault> {
    let root = args.folder.canonicalize().ok().filter(|it| it.is_dir()).ok_or_else(|| {
        Fault::input(format!("there is no folder {}", args.folder.display()))
            .hint("give the folder of a Python project")
    })?;
    let workspace = Workspace::open(&root)?;
    let cancel = CancellationToken::new();
    cancel_on_signal(cancel.clone())?;
    let opened = tokio::select! {
        () = cancel.cancelled() => return Ok(Exit::Interrupted),
        opened = sandbox::open(&args.sandbox, &root, Needs::Project, output) => opened?,
    };
    let snapshot = workspace.snapshot();
    let search = Search {
        runner: &opened.runner,
        tree: Tree::Folder(root.clone()),
        index: &snapshot.index,
        // Even of an installed project: what is tried is the copy.
        source_folders: project::source_folders(&root),
        targets: args.tests.clone(),
        test_timeout: Duration::from_secs(args.timeout),
        run_timeout: Duration::from_secs(args.run_timeout),
        trials: Some(args.trials).filter(|it| *it > 0).map(Duration::from_secs),
        history: Some(root),
        cancel: &cancel,
    };
    let found = search.run().await;
    let left = opened.runner.close().await;
    let mut found = found?;
    found.notes.extend(workspace.problems());
    found.notes.extend(left);
    if cancel.is_cancelled() {
        return Ok(Exit::Interrupted);
    }
    let top = usize::from(args.top);
    if output.is_json() {
        output.json(&shape(&found, top))?;
    } else {
        let source = |file: usize, line: u32| {
            let id = snapshot.index.file(&found.evidence.files[file].path)?;
            let text = snapshot.index.text(id)?;
            text.lines().nth(line.max(1) as usize - 1).map(|it| it.trim().to_owned())
        };
        output.text(table(&found, top, source))?;
    }
    let nothing = found.failures.is_empty() || !found.ranking.suspects.is_empty();
    Ok(if nothing { Exit::Done } else { Exit::TestsFailed })
}

/// Lines of all suspects that are listed.
const LINES: usize = 50;

fn shape(found: &Found, top: usize) -> Value {
    let path = |file: usize| found.evidence.files[file].path.as_str();
    let suspects = found.ranking.suspects.iter().take(top);
    let suspects = suspects.map(|it| suspect(it, path(it.file)));
    let lines = found.ranking.lines.iter().take(LINES.max(top)).map(|it| {
        json!({
            "path": path(it.file),
            "line": it.line.max(1),
            "symbol": it.symbol,
            "score": rounded(it.score),
            "why": it.why,
            "repair": it.repair,
        })
    });
    let diagnosis = found
        .diagnosis
        .as_ref()
        .map(|it| json!({ "kind": it.diagnosis.as_str(), "rule": it.rule, "why": it.why }));
    json!({
        "diagnosis": diagnosis,
        "flaky": found.flaky,
        "suspects": suspects.collect::<Vec<_>>(),
        "lines": lines.collect::<Vec<_>>(),
        "failures": found.failures.iter().map(failure).collect::<Vec<_>>(),
        "limits": found.limits.iter().map(limit).collect::<Vec<_>>(),
        "notes": found.notes,
    })
}

fn suspect(it: &Ranked, path: &str) -> Value {
    json!({
        "path": path,
        "line": it.line.max(1),
        "symbol": it.symbol,
        "score": rounded(it.score),
        "why": it.why,
        "parts": parts(&it.parts),
        "lines": it.lines.iter().map(line).collect::<Vec<_>>(),
        "repair": it.repair,
    })
}

fn line(it: &LineSuspect) -> Value {
    json!({
        "line": it.line,
        "score": rounded(it.score),
        "why": it.why,
        "parts": parts(&it.parts),
        "repair": it.repair,
    })
}

fn parts(it: &Parts) -> Value {
    json!({
        "spectrum": rounded(it.spectrum),
        "traceback": rounded(it.traceback),
        "distance": rounded(it.distance),
        "recency": rounded(it.recency),
        "text": rounded(it.text),
        "trials": rounded(it.trials),
    })
}

fn failure(it: &Failing) -> Value {
    json!({
        "id": it.id,
        "exception": it.failure.exception,
        "message": it.failure.message,
        "path": it.failure.path,
        "line": it.failure.line,
    })
}

/// Four places: more would show noise of the processor.
fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

/// Failures that are listed.
const FAILURES: usize = 8;

/// What fails, and how.
fn failing(found: &Found) -> String {
    let count = found.failures.len();
    let mut out = match count {
        0 => return String::new(),
        1 => "1 test fails:\n".to_owned(),
        _ => format!("{count} tests fail:\n"),
    };
    for it in found.failures.iter().take(FAILURES) {
        let message = it.failure.message.lines().next().unwrap_or_default();
        out += &plain(&format!("  {}: {}: {message}", it.id, it.failure.exception));
        out.push('\n');
    }
    if count > FAILURES {
        out += &format!("  and {} more; --json has them\n", count - FAILURES);
    }
    out
}

fn table(found: &Found, top: usize, source: impl Fn(usize, u32) -> Option<String>) -> String {
    let mut out = String::new();
    if found.failures.is_empty() {
        out += "nothing fails\n";
    }
    for (number, it) in found.ranking.suspects.iter().take(top).enumerate() {
        let path = &found.evidence.files[it.file].path;
        let symbol = if it.symbol.is_empty() { "(top level)" } else { &it.symbol };
        out += &format!("{:>2}. {:.2} {symbol}  {path}:{}\n", number + 1, it.score, it.line.max(1));
        let text = source(it.file, it.line).unwrap_or_default();
        out += &plain(&format!("         | {text}"));
        out += &format!("\n      {}\n", it.why);
        if let Some(repair) = &it.repair {
            out += "      with this every failing test passes; it proves the place, not the fix:\n";
            repair.lines().for_each(|line| out += &format!("         {}\n", plain(line)));
        }
    }
    if let Some(it) = &found.diagnosis {
        out += &plain(&format!("diagnosis: {} ({}): {}", it.diagnosis.as_str(), it.rule, it.why));
        out.push('\n');
    }
    found.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    if !found.flaky.is_empty() {
        out += &format!("flaky, passed when run again: {}\n", found.flaky.join(", "));
    }
    out += &failing(found);
    out.trim_end().to_owned()
}
