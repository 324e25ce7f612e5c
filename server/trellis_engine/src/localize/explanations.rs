//! Explanations of suspicion as text.

use super::rank::ScoreParts;
use super::spectrum::Counts;
use super::trials::{LineEvidence, Trial};

/// Explains the suspicion of a line.
pub(super) fn line(
    counts: Option<Counts>,
    total: Counts,
    parts: &ScoreParts,
    odd: &[String],
    verdict: Option<&LineEvidence<'_>>,
) -> String {
    let mut said = vec![match counts {
        Some(counts) => executed(counts, total),
        None => "it defines what suspicious lines use".to_owned(),
    }];
    if let Some(trial) = verdict.and_then(|it| it.repair.or(it.best)) {
        said.insert(0, tried(trial));
    }
    said.extend(signs(parts));
    said.extend(odd.iter().cloned());
    said.join("; ")
}

/// Explains the suspicion of a function.
pub(super) fn function(
    counts: Option<Counts>,
    total: Counts,
    parts: &ScoreParts,
    distance: Option<&usize>,
) -> String {
    let mut said = vec![match counts {
        Some(counts) => executed(counts, total),
        None => "what it defines is used by suspicious lines".to_owned(),
    }];
    said.extend(signs(parts));
    match distance {
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
    match (counts.passed, total.passed) {
        (_, 0) => failing,
        (0, 1) => format!("{failing} and not by the passing one"),
        (0, all) => format!("{failing} and none of the {all} passing ones"),
        (some, all) => format!("{failing} and {some} of {all} passing ones"),
    }
}

fn signs(parts: &ScoreParts) -> Vec<String> {
    let mut said = Vec::new();
    if parts.traceback >= 0.99 {
        said.push("the exception was raised here".to_owned());
    } else if parts.traceback > 0.0 {
        said.push("on the way of the traceback".to_owned());
    }
    if parts.recency >= 0.99 {
        said.push("changed since the last commit".to_owned());
    } else if parts.recency > 0.0 {
        said.push("changed in recent commits".to_owned());
    }
    said
}

fn tried(trial: &Trial) -> String {
    let tests = |count: usize| if count == 1 { "test" } else { "tests" };
    let what = &trial.what;
    if trial.repaired == trial.failing {
        let pass = match trial.failing {
            1 => "makes the failing test pass".to_owned(),
            count => format!("makes all {count} failing tests pass"),
        };
        return match trial.broken {
            0 if trial.complete && trial.left_out > 0 => {
                let run = trial.passing;
                format!("{what} here {pass} and breaks none of the {run} others that were run")
            }
            0 if trial.complete => format!("{what} here {pass} and breaks none"),
            0 => format!("{what} here {pass}"),
            broken => format!("{what} here {pass}, but breaks {broken} other {}", tests(broken)),
        };
    }
    let breaks = match trial.broken {
        0 => String::new(),
        broken => format!(", but breaks {broken} other {}", tests(broken)),
    };
    if trial.repaired > 0 {
        let (some, all) = (trial.repaired, trial.failing);
        return format!("{what} here makes {some} of {all} failing tests pass{breaks}");
    }
    format!("{what} here changes how {} of {} fail{breaks}", trial.altered, trial.failing)
}
