//! Seeded bugs of `fixtures/bugs` with known locations.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Half, LocalizeArgs, copy, localize, plain, within};
use crate::{Outcome, setup};

/// Ranks of one bug's true location; `None` if it is not listed.
struct Ranks {
    kind: String,
    /// The deterministic diagnosis, with its rule.
    diagnosis: Option<(String, String)>,
    /// True if the bug is in a function.
    has_function: bool,
    traceback: bool,
    function: Option<f64>,
    line: Option<f64>,
    /// Ranks by the spectrum alone, with ties at their average.
    plain_function: Option<f64>,
    plain_line: Option<f64>,
    has_lines: bool,
    repaired: bool,
    time: Duration,
}

pub(super) fn run(binary: &Path, args: &LocalizeArgs) -> Outcome {
    let folder = setup::root().join("fixtures/bugs");
    let path = folder.join("cases.json");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let cases: Value =
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    let cases = cases.as_array().or_else(|| cases["cases"].as_array());
    let cases = cases.ok_or_else(|| format!("{}: no list of cases", path.display()))?;
    let half = if args.half == Half::Held { "held" } else { "tune" };
    let wanted =
        |case: &&Value| case["half"] == half && args.wants(case["id"].as_str().unwrap_or_default());
    let mut all = Vec::new();
    for case in cases.iter().filter(wanted) {
        let ranks = measure(binary, &folder, case, args.trials)
            .map_err(|why| format!("{}: {why}", case["id"]))?;
        // For the held-out half only sums are shown, so that nobody tunes on its cases.
        if args.half == Half::Tune {
            show(case, &ranks);
        }
        all.push(ranks);
    }
    summary(half, &all);
    Ok(())
}

fn measure(binary: &Path, folder: &Path, case: &Value, trials: u64) -> Result<Ranks, String> {
    let project = tempfile::tempdir().map_err(|e| e.to_string())?;
    let from = folder.join("projects").join(case["project"].as_str().unwrap_or_default());
    copy(&from, project.path()).map_err(|e| format!("{}: {e}", from.display()))?;
    plant(project.path(), case)?;
    // A flaky test can be localized only after it has failed.
    for _ in 0..FLAKY {
        let began = Instant::now();
        let found = localize(binary, project.path(), trials, &[])?;
        let nothing_fails = found["failures"].as_array().is_some_and(Vec::is_empty);
        if !nothing_fails {
            return Ok(ranks(case, &found, began.elapsed()));
        }
    }
    Err(format!("nothing failed in {FLAKY} runs"))
}

/// Maximum number of runs until a flaky test must have failed.
const FLAKY: usize = 30;

/// Inserts the bug.
fn plant(root: &Path, case: &Value) -> Result<(), String> {
    let empty = Vec::new();
    let field = |of: &Value, name: &str| of[name].as_str().unwrap_or_default().to_owned();
    for edit in case["edits"].as_array().unwrap_or(&empty) {
        let path = root.join(field(edit, "path"));
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let search = field(edit, "search");
        if text.matches(&search).count() != 1 {
            return Err(format!("{}: the text to be changed is not there once", path.display()));
        }
        let text = text.replacen(&search, &field(edit, "replace"), 1);
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    for new in case["create"].as_array().unwrap_or(&empty) {
        let path = root.join(field(new, "path"));
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, field(new, "text")))
            .map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

fn ranks(case: &Value, found: &Value, time: Duration) -> Ranks {
    let (path, name) = (&case["function"]["path"], &case["function"]["name"]);
    let empty = Vec::new();
    let suspects = found["suspects"].as_array().unwrap_or(&empty);
    let truth_lines = case["lines"].as_array().unwrap_or(&empty);
    let is_line = |line: &Value| truth_lines.contains(&line["line"]);
    let is_function = |it: &Value| it["path"] == *path && it["symbol"] == *name;
    let spectrum = |it: &Value| it["parts"]["spectrum"].as_f64().unwrap_or_default();
    let functions: Vec<(bool, f64)> =
        suspects.iter().map(|it| (is_function(it), spectrum(it))).collect();
    let in_path = |of: &Value| of["path"] == *path;
    let lines: Vec<(bool, f64)> = (suspects.iter())
        .flat_map(|of| {
            let lines = of["lines"].as_array().into_iter().flatten();
            lines.map(move |it| (in_path(of) && is_line(it), spectrum(it)))
        })
        .collect();
    let listed = found["lines"].as_array().unwrap_or(&empty);
    let first = |mut hits: Box<dyn Iterator<Item = bool> + '_>| {
        hits.position(|hit| hit).map(|at| at as f64 + 1.0)
    };
    let said = |field: &str| found["diagnosis"][field].as_str().map(str::to_owned);
    let kind = case["kind"].as_str().unwrap_or_default().to_owned();
    Ranks {
        has_function: !case["function"].is_null() && ["implementation", "test"].contains(&&*kind),
        kind,
        diagnosis: said("kind").zip(said("rule")),
        traceback: case["traceback"] == true,
        function: first(Box::new(functions.iter().map(|(hit, _)| *hit))),
        line: first(Box::new(listed.iter().map(|it| it["path"] == *path && is_line(it)))),
        plain_function: plain(&functions),
        plain_line: plain(&lines),
        has_lines: !truth_lines.is_empty(),
        repaired: suspects.first().is_some_and(|it| !it["repair"].is_null()),
        time,
    }
}

fn show(case: &Value, it: &Ranks) {
    let rank = |rank: Option<f64>| rank.map_or("-".to_owned(), |it| it.to_string());
    println!(
        "{:<34} {:<15} {:<35} function {:>4} (plain {:>5})  line {:>4} (plain {:>5}) {} {:>5.1} s",
        case["id"].as_str().unwrap_or_default(),
        it.kind,
        it.diagnosis.as_ref().map_or("-".to_owned(), |(kind, rule)| format!("{kind} ({rule})")),
        rank(it.function),
        rank(it.plain_function),
        rank(it.line),
        rank(it.plain_line),
        if it.repaired { "repaired" } else { "        " },
        it.time.as_secs_f64(),
    );
}

/// Prints how many failures rules explain, and how many model calls the others need.
fn diagnoses(all: &[Ranks]) {
    let decided: Vec<(&Ranks, &str)> =
        all.iter().filter_map(|it| Some((it, it.diagnosis.as_ref()?.0.as_str()))).collect();
    let right = decided.iter().filter(|(it, kind)| it.kind == *kind).count();
    println!(
        "diagnosis: {} of {} decided without a model, {right} of them rightly; {} votes for the others",
        decided.len(),
        all.len(),
        VOTES * (all.len() - decided.len())
    );
    for kind in ["implementation", "test", "environment", "flaky"] {
        let of = all.iter().filter(|it| it.kind == kind).count();
        let decided: Vec<_> = decided.iter().filter(|(it, _)| it.kind == kind).collect();
        let right = decided.iter().filter(|(_, said)| *said == kind).count();
        println!("  {kind:<15} {:>2} of {of:>2} decided, {right:>2} rightly", decided.len());
    }
}

/// Votes of a model per diagnosis.
const VOTES: usize = 5;

fn summary(half: &str, every: &[Ranks]) {
    println!("half: {half}");
    diagnoses(every);
    let all: Vec<&Ranks> = every.iter().filter(|it| it.has_function).collect();
    let row = |name: &str, of: Vec<Option<f64>>| {
        println!("{name:<42} {}", within(&of));
    };
    let of = |pick: fn(&Ranks) -> Option<f64>, traceback: Option<bool>| {
        let some = all.iter().filter(|it| traceback.is_none_or(|wanted| it.traceback == wanted));
        some.map(|it| pick(it)).collect::<Vec<_>>()
    };
    row("functions", of(|it| it.function, None));
    row("functions, the traceback names them", of(|it| it.function, Some(true)));
    row("functions, the traceback does not", of(|it| it.function, Some(false)));
    row("functions by the spectrum alone", of(|it| it.plain_function, None));
    let with_lines: Vec<&&Ranks> = all.iter().filter(|it| it.has_lines).collect();
    row("lines", with_lines.iter().map(|it| it.line).collect());
    row("lines by the spectrum alone", with_lines.iter().map(|it| it.plain_line).collect());
    let repaired = all.iter().filter(|it| it.repaired).count();
    let seconds: f64 = all.iter().map(|it| it.time.as_secs_f64()).sum();
    let slowest = all.iter().map(|it| it.time.as_secs_f64()).fold(0.0, f64::max);
    println!(
        "a repair for {repaired}; {seconds:.0} s in all, {:.1} s a bug, {slowest:.1} s at most",
        seconds / all.len().max(1) as f64
    );
}
