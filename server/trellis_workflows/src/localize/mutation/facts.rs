//! Turns test results with an edit into the facts of a trial.

use std::collections::BTreeMap;

use trellis_engine::localize::Trial;
use trellis_sandbox::TestResult;

use super::MutationRunner;
use super::edits::Edit;
use super::test_choice::TestChoice;

/// Exception and message of a failed test, without addresses, which differ from run to run.
pub(super) type Said = (String, String);

/// Maximum length of a compared message, in characters.
const COMPARED: usize = 300;

/// Result of a test with an edit.
pub(super) struct Seen {
    pub(super) passed: bool,
    /// The test failed, was not skipped.
    pub(super) failed: bool,
    pub(super) said: Said,
}

/// Results with an edit by test id, for the tests that ran.
pub(super) struct Results<'r> {
    pub(super) seen: BTreeMap<&'r str, Seen>,
    /// False if a test ended the process.
    pub(super) ended: bool,
    /// Results of failing tests without the edit, where they were run in the same way.
    pub(super) before: BTreeMap<&'r str, Said>,
}

impl MutationRunner<'_> {
    /// Returns the facts of a trial. Tests that did not run count for nothing.
    pub(super) fn trial(&self, edit: &Edit, results: &Results<'_>) -> Trial {
        let choice = self.choice(edit);
        let seen = |id: &str| results.seen.get(id);
        let ran = |id: &&String| seen(id).is_some();
        let passes = |id: &&String| seen(id).is_some_and(|it| it.passed);
        let first = choice.first.iter().filter(|id| ran(id) || !results.ended);
        let failing: Vec<String> = first.chain(choice.rest.iter().filter(ran)).cloned().collect();
        let repaired: Vec<String> = failing.iter().filter(passes).cloned().collect();
        let altered = failing.iter().filter(|it| self.is_altered(it, results)).cloned().collect();
        let passing: Vec<&String> = choice.passing.iter().filter(ran).collect();
        let broken = passing.iter().filter(|id| seen(id).is_some_and(|it| it.failed)).count();
        let died = died(choice, passing.len(), results.ended);
        let some = usize::from(!repaired.is_empty());
        let passes_all = some > 0 && repaired.len() == failing.len();
        Trial {
            file: edit.file,
            line: edit.mutant.line,
            kind: edit.mutant.kind,
            what: edit.mutant.describe(&edit.source),
            repair: None,
            complete: results.ended && failing.len() == self.failing.len(),
            concerned: choice.concerned,
            passing: passing.len() + died,
            broken: broken + died,
            runs_line: passing.iter().filter(|id| self.runs_line(id, edit)).count(),
            left_out: some * (choice.left_out + choice.passing.len() - passing.len() - died),
            loss: passes_all.then(|| edit.mutant.loss(&edit.source)).flatten(),
            weakness: passes_all.then(|| edit.mutant.weakness(&edit.source)).flatten(),
            effect: passes_all.then(|| edit.mutant.effect(&edit.source)).flatten(),
            failing,
            repaired,
            altered,
            still_reached: None,
        }
    }

    fn is_altered(&self, id: &str, results: &Results<'_>) -> bool {
        let before = results.before.get(id).or_else(|| self.failing.get(id));
        let (Some(now), Some(before)) = (results.seen.get(id), before) else { return false };
        // A new crash says that the edit is bad, not that the line is.
        let is_comparable = now.said.0 == before.0 || now.said.0 == "AssertionError";
        now.failed && is_comparable && now.said != *before
    }

    /// Returns whether a test executes the statement of the edited line.
    fn runs_line(&self, id: &str, edit: &Edit) -> bool {
        let facts = &self.evidence.files[edit.file].facts;
        let line = edit.mutant.line;
        let first = facts.statement_at(line).map_or(line, |at| facts.statements[at].first);
        let test = self.places.get(id).map(|at| &self.evidence.tests[*at]);
        let lines = test.and_then(|it| it.lines.get(&edit.file));
        lines.is_some_and(|it| it.contains(&first))
    }
}

/// Returns the number of passing tests that ended the process, which has no result of them: 1, or 0
/// if all of them have one, or none ran. `seen` of them have a result.
fn died(choice: &TestChoice, seen: usize, ended: bool) -> usize {
    usize::from(!ended && (1..choice.passing.len()).contains(&seen))
}

/// Returns the exception and message of a failed test.
pub(super) fn said(test: &TestResult) -> Said {
    match &test.failure {
        Some(it) => comparable(&it.exception, &it.message),
        None => (format!("{:?}", test.outcome), String::new()),
    }
}

/// Returns an exception and its message without addresses.
pub(super) fn comparable(exception: &str, message: &str) -> Said {
    let mut parts = message.split("0x");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    (exception.to_owned(), text.chars().take(COMPARED).collect())
}

#[cfg(test)]
mod tests {
    use super::super::test_choice::TestChoice;
    use super::died;

    #[test]
    fn a_process_that_ended_after_its_last_test_ended_in_none() {
        let passing = ["a", "b"].map(str::to_owned).to_vec();
        let choice = TestChoice { passing, ..TestChoice::default() };
        let table = [(0, false, 0), (1, false, 1), (2, false, 0), (1, true, 0)];
        for (seen, ended, expected) in table {
            assert_eq!(died(&choice, seen, ended), expected, "{seen} {ended}");
        }
    }
}
