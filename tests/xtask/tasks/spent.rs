//! Times of tasks for models and tests, read from the journal of a run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::models::timeline::{SECONDS_A_DAY, clock};

/// Times in seconds.
#[derive(Default)]
pub(super) struct Spent {
    /// Times by task.
    costs: BTreeMap<String, f64>,
    /// Number of test runs on merged code.
    pub(super) merges: usize,
    pub(super) merging: f64,
    /// Time from the start of the first task to the merge of the last one.
    pub(super) tasks: f64,
    generating: Option<f64>,
}

impl Spent {
    pub(super) fn read(journal: &Path) -> Result<Spent, String> {
        let text =
            fs::read_to_string(journal).map_err(|e| format!("{}: {e}", journal.display()))?;
        let mut spent = Spent::default();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
            let at = clock(line["at"].as_str().unwrap_or_default())
                .ok_or_else(|| format!("no time in {line}"))?;
            spent.take(&line["event"], at);
        }
        Ok(spent)
    }

    fn take(&mut self, event: &Value, at: f64) {
        let text = |field: &str| event[field].as_str().unwrap_or_default();
        let seconds = event["milliseconds"].as_u64().unwrap_or(0) as f64 / 1000.0;
        match (text("kind"), text("work"), text("stage")) {
            ("model_call", _, _) => {
                *self.costs.entry(text("node").to_owned()).or_default() += seconds
            }
            ("stage", "tasks", "GENERATING") => self.generating = Some(at),
            ("stage", "tasks", "INTEGRATING") => {
                let since = at - self.generating.unwrap_or(at);
                self.tasks = if since < 0.0 { since + SECONDS_A_DAY } else { since };
            }
            ("stage", "tasks", "tests of what the merge makes") => {
                self.merges += 1;
                self.merging += seconds;
            }
            ("stage", work, _) => {
                if let Some(task) = work.strip_prefix("task-") {
                    *self.costs.entry(task.to_owned()).or_default() += seconds;
                }
            }
            _ => {}
        }
    }

    /// Returns the time of a task for models and tests; 0 if it was not begun.
    pub(super) fn cost(&self, id: &str) -> f64 {
        self.costs.get(id).copied().unwrap_or(0.0)
    }

    pub(super) fn total(&self) -> f64 {
        self.costs.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Spent;

    #[test]
    fn a_task_costs_its_questions_and_its_tests_and_merges_are_nobodys() {
        let mut spent = Spent::default();
        let stage = |work: &str, stage: &str, milliseconds: u64| json!({"kind": "stage", "work": work, "stage": stage, "reason": "", "milliseconds": milliseconds});
        spent.take(&stage("tasks", "GENERATING", 0), 86_399.0);
        spent.take(&json!({"kind": "model_call", "node": "a", "milliseconds": 1500}), 0.5);
        spent.take(&stage("task-a", "the new tests", 250), 1.0);
        spent.take(&stage("task-b", "all tests", 100), 1.0);
        spent.take(&stage("tasks", "tests of what the merge makes", 400), 1.5);
        spent.take(&stage("tasks", "INTEGRATING", 0), 2.0);
        assert_eq!((spent.cost("a"), spent.cost("b"), spent.cost("c")), (1.75, 0.1, 0.0));
        assert_eq!((spent.merges, spent.merging, spent.tasks), (1, 0.4, 3.0));
        assert!((spent.total() - 1.85).abs() < 1e-9);
    }
}
