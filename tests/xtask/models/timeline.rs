//! Start, end and activities of each node of a run, read from the journal.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::bound::Plan;

pub(crate) const SECONDS_A_DAY: f64 = 86_400.0;

/// Times of a node in seconds since the first node began.
#[derive(Default)]
struct Span {
    begin: f64,
    end: f64,
    /// Duration of model requests by prompt: votes are requested in parallel, so the longest
    /// counts.
    questions: BTreeMap<String, f64>,
    tests: f64,
}

impl Span {
    fn model(&self) -> f64 {
        self.questions.values().sum()
    }

    fn rest(&self) -> f64 {
        (self.end - self.begin - self.model() - self.tests).max(0.0)
    }
}

/// Spans by node; a subgraph, which has only integration tests, has no begin and no end.
#[derive(Default)]
pub(super) struct Timeline {
    spans: BTreeMap<String, Span>,
    /// All leaves, in the order of the run.
    order: Vec<String>,
}

impl Timeline {
    pub(super) fn read(journal: &Path) -> Result<Timeline, String> {
        let text =
            std::fs::read_to_string(journal).map_err(|e| format!("{}: {e}", journal.display()))?;
        let mut timeline = Timeline::default();
        let mut zero = None;
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
            let at = clock(line["at"].as_str().unwrap_or_default())
                .ok_or_else(|| format!("no time in {line}"))?;
            if line["event"]["status"] == "in_progress" {
                zero.get_or_insert(at);
            }
            let since = at - zero.unwrap_or(at);
            timeline.take(&line["event"], if since < 0.0 { since + SECONDS_A_DAY } else { since });
        }
        Ok(timeline)
    }

    fn take(&mut self, event: &Value, at: f64) {
        if event["kind"] == "ordered" {
            let nodes = event["nodes"].as_array().into_iter().flatten();
            self.order = nodes.filter_map(|id| id.as_str().map(str::to_owned)).collect();
        }
        let Some(node) = event["node"].as_str() else { return };
        let seconds = event["milliseconds"].as_u64().unwrap_or(0) as f64 / 1000.0;
        let status = event["status"].as_str();
        let kind = event["kind"].as_str().unwrap_or_default();
        let counts = matches!(kind, "state" | "accepted" | "model_call" | "test_run");
        if !counts || status == Some("skipped") {
            return;
        }
        let span = self.spans.entry(node.to_owned()).or_default();
        match (kind, status) {
            ("state", Some("in_progress")) => span.begin = at,
            // A node that passes has no state line, only the line of its text.
            ("accepted", _) | ("state", Some("passed" | "failed")) => span.end = at,
            ("model_call", _) => {
                let prompt = event["prompt"].as_str().unwrap_or_default().to_owned();
                let longest = span.questions.entry(prompt).or_default();
                *longest = longest.max(seconds);
            }
            ("test_run", _) => span.tests += seconds,
            _ => {}
        }
    }

    /// Returns the time of a node for models and tests; `None` if it was not begun.
    pub(super) fn cost(&self, id: &str) -> Option<f64> {
        self.spans.get(id).map(|span| span.model() + span.tests)
    }

    pub(super) fn order(&self) -> &[String] {
        &self.order
    }

    pub(super) fn total(&self) -> f64 {
        self.spans.values().map(|span| span.model() + span.tests).sum()
    }

    /// Describes where the time of a run with `jobs` went; `wall` is in seconds.
    pub(super) fn described(&self, plan: &Plan, jobs: usize, wall: f64) -> String {
        let nodes: BTreeMap<&str, &Span> = (self.spans.iter())
            .filter(|(id, _)| plan.contains_key(*id))
            .map(|(id, it)| (id.as_str(), it))
            .collect();
        let full = Full::of(nodes.values().copied(), jobs);
        let sum = |of: &dyn Fn(&str, &Span) -> f64| -> f64 {
            nodes.iter().map(|(id, it)| of(id, it)).sum()
        };
        let wait = |id: &str, span: &Span| span.begin - self.ready(plan, id);
        let slot = |id: &str, span: &Span| full.within(self.ready(plan, id), span.begin);
        let last = nodes.values().map(|span| span.end).fold(0.0, f64::max);
        let mut out = format!(
            "of all nodes together: {:.1} s model, {:.1} s tests, {:.1} s anything else, {:.1} s ready and waiting for a \
             slot, {:.1} s ready with a slot free\nall slots taken for {:.1} s of {last:.1} s; {:.1} s before the first \
             node and after the last",
            sum(&|_, it| it.model()),
            sum(&|_, it| it.tests),
            sum(&|_, it| it.rest()),
            sum(&slot),
            sum(&|id, it| wait(id, it) - slot(id, it)),
            full.within(0.0, last),
            wall - last
        );
        let mut chain = Vec::new();
        let mut next = nodes.iter().max_by(|a, b| a.1.end.total_cmp(&b.1.end)).map(|(id, _)| *id);
        while let Some(id) = next {
            chain.push(id);
            let needs = plan[id].iter().filter_map(|it| Some((it.as_str(), self.spans.get(it)?)));
            next = needs.max_by(|a, b| a.1.end.total_cmp(&b.1.end)).map(|(id, _)| id);
        }
        for id in chain.into_iter().rev() {
            let span = nodes[id];
            let _ = write!(
                out,
                "\n  {:6.1} to {:6.1} s {id}: waited {:.2} s, model {:.2} s, tests {:.2} s, else {:.2} s",
                span.begin,
                span.end,
                wait(id, span),
                span.model(),
                span.tests,
                span.rest()
            );
        }
        out
    }

    /// Returns the time at which the last dependency of a node ended.
    fn ready(&self, plan: &Plan, id: &str) -> f64 {
        plan[id].iter().filter_map(|it| self.spans.get(it)).map(|it| it.end).fold(0.0, f64::max)
    }
}

/// Periods in which every job slot was taken.
struct Full(Vec<(f64, f64)>);

impl Full {
    fn of<'a>(spans: impl Iterator<Item = &'a Span>, jobs: usize) -> Full {
        let mut steps: Vec<(f64, i64)> =
            spans.flat_map(|it| [(it.begin, 1), (it.end, -1)]).collect();
        // At the same instant, ends come before begins.
        steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut busy, mut since, mut out) = (0, None, Vec::new());
        for (at, step) in steps {
            busy += step;
            match since {
                None if busy >= jobs as i64 => since = Some(at),
                Some(begin) if busy < jobs as i64 => {
                    out.push((begin, at));
                    since = None;
                }
                _ => {}
            }
        }
        Full(out)
    }

    /// Returns the seconds between `begin` and `end` in which every slot was taken.
    fn within(&self, begin: f64, end: f64) -> f64 {
        self.0.iter().map(|(from, to)| (to.min(end) - from.max(begin)).max(0.0)).sum()
    }
}

/// Returns the seconds of the day in `2026-11-22T19:29:03.599526287Z`.
pub(crate) fn clock(at: &str) -> Option<f64> {
    let time = at.split_once('T')?.1.trim_end_matches('Z');
    let mut parts = time.split(':').map(str::parse::<f64>);
    let mut part = || parts.next()?.ok();
    Some(part()? * 3600.0 + part()? * 60.0 + part()?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Full, Span, Timeline, clock};

    #[test]
    fn a_node_ends_with_its_text_or_its_failure_and_votes_are_put_at_once() {
        let mut timeline = Timeline::default();
        let call = |milliseconds: u64, prompt: &str| json!({"kind": "model_call", "node": "a", "prompt": prompt, "milliseconds": milliseconds});
        timeline.take(&json!({"kind": "state", "node": "a", "status": "in_progress"}), 1.0);
        for (milliseconds, prompt) in [(1000, "p"), (500, "v"), (2000, "v")] {
            timeline.take(&call(milliseconds, prompt), 4.0);
        }
        timeline.take(&json!({"kind": "test_run", "node": "a", "milliseconds": 250}), 4.5);
        timeline.take(&json!({"kind": "accepted", "node": "a"}), 5.0);
        let span = &timeline.spans["a"];
        assert_eq!((span.model(), span.tests, span.end, span.rest()), (3.0, 0.25, 5.0, 0.75));
        assert_eq!((timeline.cost("a"), timeline.cost("b")), (Some(3.25), None));
    }

    #[test]
    fn times_of_day_are_read() {
        assert_eq!(clock("2026-11-22T01:01:03.5Z"), Some(3663.5));
        assert_eq!(clock("yesterday"), None);
    }

    #[test]
    fn all_slots_are_taken_where_enough_nodes_overlap() {
        let span = |begin, end| Span { begin, end, ..Span::default() };
        let spans = [span(0.0, 4.0), span(1.0, 3.0), span(3.0, 5.0)];
        let full = Full::of(spans.iter(), 2);
        assert_eq!(full.within(0.0, 9.0), 3.0);
        assert_eq!(full.within(2.0, 3.5), 1.5);
    }
}
