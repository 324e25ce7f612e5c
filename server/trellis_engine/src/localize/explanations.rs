//! Explanations of suspicion as text.

use super::spectrum::Counts;
use super::suspects::ScoreParts;
use super::trials::{LineEvidence, Trial};

/// Explains the suspicion of a line; `named` is the strength with which tracebacks point at it.
pub(super) fn line(
    counts: Option<Counts>,
    total: Counts,
    parts: &ScoreParts,
    named: f64,
    odd: &[String],
    verdict: Option<&LineEvidence<'_>>,
) -> String {
    let mut said = vec![match counts {
        Some(counts) => executed(counts, total),
        None => "it defines what suspicious lines use".to_owned(),
    }];
    said.splice(0..0, verdict.and_then(LineEvidence::words));
    said.extend(signs(parts, named));
    said.extend(odd.iter().cloned());
    said.join("; ")
}

/// Explains the suspicion of a function and of its first line, each reason once.
pub(super) fn both(function: &str, line: u32, of_line: &str) -> String {
    let known: Vec<&str> = function.split("; ").collect();
    let new: Vec<&str> = of_line.split("; ").filter(|it| !known.contains(it)).collect();
    match new[..] {
        [] => format!("{function}; line {line}"),
        _ => format!("{function}; line {line}: {}", new.join("; ")),
    }
}

/// Explains the suspicion of a function, or of code that runs at import, which no test calls.
pub(super) fn function(
    counts: Option<Counts>,
    total: Counts,
    parts: &ScoreParts,
    named: f64,
    distance: Option<usize>,
    is_at_import: bool,
) -> String {
    let mut said = vec![match counts {
        Some(counts) => executed(counts, total),
        None => "what it defines is used by suspicious lines".to_owned(),
    }];
    said.extend(signs(parts, named));
    match distance {
        Some(0) if is_at_import => said.push("a failing test calls what reads it".to_owned()),
        Some(_) if is_at_import => {
            said.push("what reads it is called on a failing test's way".to_owned())
        }
        Some(0) => said.push("a failing test calls it".to_owned()),
        Some(1) => said.push("one call away from a failing test".to_owned()),
        Some(more) => said.push(format!("{more} calls away from a failing test")),
        None => {}
    }
    if parts.text >= 0.5 {
        said.push("the failing tests name it".to_owned());
    }
    said.join("; ")
}

fn executed(counts: Counts, total: Counts) -> String {
    let failing = match (counts.failed, total.failed) {
        (1, 1) if counts.led == 1 => {
            "what the failing test calls and imports leads here".to_owned()
        }
        (some, all) if some > 0 && counts.led == some => {
            format!("what {some} of {all} failing tests call and import leads here")
        }
        (0, _) => "executed by no failing test".to_owned(),
        (1, 1) => "executed by the failing test".to_owned(),
        (some, all) if some == all => format!("executed by all {all} failing tests"),
        (some, all) => format!("executed by {some} of {all} failing tests"),
    };
    let is_measured = counts.led < counts.failed;
    match (counts.passed, total.passed) {
        (_, 0) => failing,
        // What failing tests run elsewhere, such as in another process, passing ones may run there
        // too.
        (0, _) if counts.failed > 0 && !is_measured => failing,
        (0, 1) => format!("{failing} and not by the passing one"),
        (0, all) => format!("{failing} and none of the {all} passing ones"),
        (some, all) => format!("{failing} and {some} of {all} passing ones"),
    }
}

fn signs(parts: &ScoreParts, named: f64) -> Vec<String> {
    let mut said = Vec::new();
    if named >= 0.99 {
        said.push("the exception was raised here".to_owned());
    } else if named > 0.0 {
        said.push("on the way of the traceback".to_owned());
    }
    if parts.recency >= 0.99 {
        said.push("changed since the last commit".to_owned());
    } else if parts.recency > 0.0 {
        said.push("changed in recent commits".to_owned());
    }
    said
}

/// Describes the result of a trial beside which some others repair as well.
pub(super) fn tried(trial: &Trial, rivals: usize) -> String {
    let what = &trial.what;
    if trial.repairs_all_run() {
        let pass = match (trial.failing.len(), trial.complete) {
            (1, true) => "makes the failing test pass".to_owned(),
            (1, false) => "makes the one failing test that runs it pass".to_owned(),
            (count, true) => format!("makes all {count} failing tests pass"),
            (count, false) => format!("makes all {count} failing tests that run it pass"),
        };
        return format!("{what} here {pass}{}{}", others(trial), doubt(trial, rivals));
    }
    if !trial.repaired.is_empty() {
        let (some, all) = (trial.repaired.len(), trial.failing.len());
        return format!("{what} here makes {some} of {all} failing tests pass{}", broken(trial));
    }
    let (some, all) = (trial.altered.len(), trial.failing.len());
    format!("{what} here changes how {some} of {all} fail{}", broken(trial))
}

/// Describes the passing tests of a trial that repairs the failing ones.
fn others(trial: &Trial) -> String {
    if trial.broken > 0 {
        return broken(trial);
    }
    match (trial.left_out, trial.passing) {
        (0, _) => " and breaks none".to_owned(),
        (_, run) => format!(" and breaks none of the {run} others that were run"),
    }
}

fn broken(trial: &Trial) -> String {
    match trial.broken {
        0 => String::new(),
        1 => ", but breaks 1 other test".to_owned(),
        count => format!(", but breaks {count} other tests"),
    }
}

/// Describes the reasons for which a repair is no proof.
fn doubt(trial: &Trial, rivals: usize) -> String {
    if trial.broken > 0 {
        return String::new();
    }
    let mut said = match (trial.still_reached, &trial.loss, trial.weakness, trial.runs_line) {
        (Some(false), ..) => " (they no longer reach the line that raised the error)".to_owned(),
        (_, Some(loss), ..) => format!(" (but {})", loss.describe()),
        (_, None, Some(weakness), _) => format!(" (weak evidence: {})", weakness.describe()),
        (.., 0) => " (no passing test that runs this line was run)".to_owned(),
        _ => String::new(),
    };
    match rivals {
        0 => {}
        1 => said += " (another edit does so as well)",
        count => said += &format!(" ({count} other edits do so as well)"),
    }
    said
}
