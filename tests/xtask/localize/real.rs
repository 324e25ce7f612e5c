//! Rebuilt bugs of real projects.
//!
//! Each folder holds `project`, a clone at the commit with the bug and with the tests of the fix,
//! and `case.json`: `python` (an interpreter), `tests` (files or folders to run), `functions` and
//! `lines` that the fix changes, and `broken` (tests that fail with the fix as well), which are
//! skipped.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{LocalizeArgs, copy, localize, plain, within};
use crate::Outcome;

/// Ranks of one bug's true location, with ties at their average; `None` if it is not listed.
struct Ranks {
    name: String,
    function: Option<f64>,
    line: Option<f64>,
    plain_function: Option<f64>,
    plain_line: Option<f64>,
    diagnosis: Option<String>,
    repaired: bool,
    trials: String,
    time: Duration,
}

pub(super) fn run(binary: &Path, folder: &Path, args: &LocalizeArgs) -> Outcome {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names: Vec<String> = (entries.flatten())
        .filter(|it| it.path().join("case.json").is_file())
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .filter(|it| args.wants(it))
        .collect();
    names.sort();
    let mut all = Vec::new();
    for name in names {
        match measure(binary, &folder.join(&name), args.trials) {
            Ok(ranks) => {
                println!("{}", described(&ranks));
                all.push(ranks);
            }
            Err(why) => println!("{name:<16} not measured: {why}"),
        }
    }
    summary(&all);
    Ok(())
}

fn measure(binary: &Path, folder: &Path, trials: u64) -> Result<Ranks, String> {
    let path = folder.join("case.json");
    let json = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let case: Value =
        serde_json::from_str(&json).map_err(|e| format!("{}: {e}", path.display()))?;
    let place = tempfile::tempdir().map_err(|e| e.to_string())?;
    let project = place.path().join("project");
    copy(&folder.join("project"), &project).map_err(|e| format!("{}: {e}", folder.display()))?;
    skip(&project, &texts(&case["broken"])).map_err(|e| e.to_string())?;
    let python = case["python"].as_str().ok_or("no interpreter is given")?;
    let mut options = vec!["--python".to_owned(), python.to_owned()];
    options.extend(texts(&case["tests"]).into_iter().flat_map(|it| ["--test".to_owned(), it]));
    let began = Instant::now();
    let found = localize(binary, &project, trials, &options)?;
    let failing: Vec<String> = rows(&found["failures"]).map(|it| text(&it["id"])).collect();
    if let Some(id) = texts(&case["ids"]).iter().find(|it| !fails(&failing, it)) {
        return Err(format!("{id} does not fail"));
    }
    Ok(ranks(text(&case["case"]), &case, &found, began.elapsed()))
}

/// Returns whether a test fails, for any of its parameters.
fn fails(failing: &[String], id: &str) -> bool {
    failing
        .iter()
        .any(|it| it.strip_prefix(id).is_some_and(|it| it.is_empty() || it.starts_with('[')))
}

/// Skips tests that show nothing about the bug.
fn skip(project: &Path, broken: &[String]) -> std::io::Result<()> {
    if broken.is_empty() {
        return Ok(());
    }
    let path = project.join("conftest.py");
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    write!(
        text,
        "\n\ndef pytest_collection_modifyitems(items):\n    import pytest\n    \
         broken = set({})\n    for item in items:\n        if item.nodeid in broken:\n            \
         item.add_marker(pytest.mark.skip)\n",
        serde_json::json!(broken)
    )
    .map_err(std::io::Error::other)?;
    fs::write(path, text)
}

fn ranks(name: String, case: &Value, found: &Value, time: Duration) -> Ranks {
    let is_function = |it: &Value| {
        rows(&case["functions"]).any(|of| it["path"] == of["path"] && it["symbol"] == of["symbol"])
    };
    let is_line = |path: &Value, line: &Value| {
        rows(&case["lines"]).any(|of| {
            let (first, last) = (of["first"].as_u64(), of["last"].as_u64());
            of["path"] == *path && line.as_u64() >= first && line.as_u64() <= last
        })
    };
    let score = |it: &Value| it["score"].as_f64().unwrap_or_default();
    let spectrum = |it: &Value| it["parts"]["spectrum"].as_f64().unwrap_or_default();
    let suspects = || rows(&found["suspects"]);
    let lines = || {
        suspects().flat_map(|of| {
            rows(&of["lines"]).map(move |it| (is_line(&of["path"], &it["line"]), it))
        })
    };
    let highest = |of: &Value| rows(&of["lines"]).map(spectrum).fold(0.0, f64::max);
    let plain_functions: Vec<_> = suspects().map(|it| (is_function(it), highest(it))).collect();
    let note = rows(&found["notes"]).map(text).find(|it| it.contains("small edits"));
    Ranks {
        name,
        function: plain(&suspects().map(|it| (is_function(it), score(it))).collect::<Vec<_>>()),
        line: plain(&lines().map(|(hit, it)| (hit, score(it))).collect::<Vec<_>>()),
        plain_function: plain(&plain_functions),
        plain_line: plain(&lines().map(|(hit, it)| (hit, spectrum(it))).collect::<Vec<_>>()),
        diagnosis: found["diagnosis"]["kind"].as_str().map(str::to_owned),
        repaired: suspects().next().is_some_and(|it| !it["repair"].is_null()),
        trials: note.unwrap_or_default(),
        time,
    }
}

fn described(it: &Ranks) -> String {
    let rank = |rank: Option<f64>| rank.map_or("-".to_owned(), |it| it.to_string());
    format!(
        "{:<16} {:<14} function {:>5} (plain {:>5})  line {:>5} (plain {:>5}) {} {:>5.1} s  {}",
        it.name,
        it.diagnosis.as_deref().unwrap_or("-"),
        rank(it.function),
        rank(it.plain_function),
        rank(it.line),
        rank(it.plain_line),
        if it.repaired { "repaired" } else { "        " },
        it.time.as_secs_f64(),
        it.trials,
    )
}

fn summary(all: &[Ranks]) {
    let row = |name: &str, of: fn(&Ranks) -> Option<f64>| {
        println!("{name:<30} {}", within(&all.iter().map(of).collect::<Vec<_>>()));
    };
    row("functions", |it| it.function);
    row("functions, plain Ochiai", |it| it.plain_function);
    row("lines", |it| it.line);
    row("lines, plain Ochiai", |it| it.plain_line);
    let wrong =
        all.iter().filter(|it| it.diagnosis.as_deref().is_some_and(|it| it != "implementation"));
    println!("not diagnosed as a fault of the code: {}", wrong.count());
    let mut times: Vec<f64> = all.iter().map(|it| it.time.as_secs_f64()).collect();
    times.sort_by(f64::total_cmp);
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    let slowest = times.last().copied().unwrap_or_default();
    println!("{middle:.1} s a bug in the middle, {slowest:.1} s at most");
}

fn rows(of: &Value) -> impl Iterator<Item = &Value> {
    of.as_array().into_iter().flatten()
}

fn text(of: &Value) -> String {
    of.as_str().unwrap_or_default().to_owned()
}

fn texts(of: &Value) -> Vec<String> {
    rows(of).map(text).collect()
}
