//! Output of the figures: table with ratios, goals, and JSON.

use serde_json::{Map, Value, json};

use super::figures::{Figures, MEASURES, Measure};

/// A column's name and figures.
pub(crate) type Column = (String, Figures);

/// Pairs of columns whose figures are divided.
const RATIOS: [(&str, &str); 4] = [
    ("trellis", "ty"),
    ("trellis", "pyrefly"),
    ("trellis, cached", "ty"),
    ("trellis, cached", "pyrefly"),
];

/// A goal: description, column, measure, bound, and the column it is relative to (otherwise
/// absolute).
type Goal = (&'static str, &'static str, Measure, f64, Option<&'static str>);
const GOALS: [Goal; 8] = [
    ("ready, cold, by ty's", "trellis", Measure::Ready, 0.5, Some("ty")),
    ("ready, with cache, by ty's", "trellis, cached", Measure::Ready, 0.1, Some("ty")),
    ("median of references by ty's", "trellis", Measure::ReferencesMedian, 0.1, Some("ty")),
    ("95th percentile by pyrefly's", "trellis", Measure::ReferencesTail, 1.0, Some("pyrefly")),
    ("first request, cold, ms", "trellis", Measure::FirstRequest, 200.0, None),
    ("first request, with cache, ms", "trellis, cached", Measure::FirstRequest, 200.0, None),
    ("peak memory by ty's", "trellis", Measure::Peak, 0.5, Some("ty")),
    ("peak memory with cache by ty's", "trellis, cached", Measure::Peak, 0.5, Some("ty")),
];

fn value(columns: &[Column], name: &str, measure: Measure) -> Option<f64> {
    columns.iter().find(|it| it.0 == name)?.1.get(&measure).copied()
}

fn ratio(columns: &[Column], (ours, theirs): (&str, &str), measure: Measure) -> Option<f64> {
    Some(value(columns, ours, measure)? / value(columns, theirs, measure)?)
}

pub(crate) fn show(columns: &[Column]) {
    let there = |name: &str| columns.iter().any(|it| it.0 == name);
    let ratios = RATIOS.iter().filter(|(ours, theirs)| there(ours) && there(theirs));
    let ratios: Vec<&(&str, &str)> = ratios.collect();
    let names = columns.iter().map(|it| it.0.replace("trellis, ", ""));
    let heads = ratios.iter().map(|it| format!("{}/{}", it.0.replace("trellis, ", ""), it.1));
    println!("{}", line("", names.chain(heads)));
    for (measure, label, _, digits) in MEASURES {
        let number = |value: Option<f64>, digits: usize| {
            value.map_or("-".to_owned(), |it| format!("{it:.digits$}"))
        };
        let figures = columns.iter().map(|it| number(it.1.get(&measure).copied(), digits));
        let divided = ratios.iter().map(|it| number(ratio(columns, **it, measure), 3));
        println!("{}", line(label, figures.chain(divided)));
    }
}

fn line(label: &str, cells: impl Iterator<Item = String>) -> String {
    let cells: String = cells.map(|it| format!("{it:>16}")).collect();
    format!("{label:<36}{cells}")
}

/// Prints the goals that these columns allow to judge.
pub(crate) fn goals(columns: &[Column]) {
    for (what, name, measure, bound, by) in GOALS {
        let found = match by {
            Some(peer) => ratio(columns, (name, peer), measure),
            None => value(columns, name, measure),
        };
        if let Some(found) = found {
            let word = if found <= bound { "met" } else { "MISSED" };
            println!("  {word:<7} {what}: {found:.3}, at most {bound}");
        }
    }
    for measure in [Measure::FoundUnique, Measure::FoundAny, Measure::FoundLater] {
        if let Some(found) = value(columns, "trellis", measure) {
            let word = if found >= 100.0 { "met" } else { "MISSED" };
            println!("  {word:<7} every definition found: {found:.1} %");
        }
    }
}

pub(crate) fn json(figures: &Figures) -> Value {
    let names = MEASURES.iter().filter_map(|(measure, _, name, _)| {
        Some(((*name).to_owned(), Value::from(*figures.get(measure)?)))
    });
    Value::Object(names.collect())
}

/// Returns all ratios, by measure.
pub(crate) fn ratios(columns: &[Column]) -> Value {
    let mut out = Map::new();
    for (ours, theirs) in RATIOS {
        let of = |measure, name: &str| {
            Some((name.to_owned(), json!(ratio(columns, (ours, theirs), measure)?)))
        };
        let found: Map<String, Value> = MEASURES.iter().filter_map(|it| of(it.0, it.2)).collect();
        if !found.is_empty() {
            out.insert(format!("{ours} by {theirs}"), Value::Object(found));
        }
    }
    Value::Object(out)
}
