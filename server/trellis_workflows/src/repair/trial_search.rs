//! Looks for a fix among small edits of suspicious lines, so that no model need be asked.

use std::collections::BTreeMap;

use trellis_engine::EditableFiles as _;
use trellis_engine::localize::{Evidence, LineSuspect, TestEvidence};
use trellis_engine::repair::{AttemptResult, Event, Group};
use trellis_sandbox::Tree;

use super::active_group::ActiveGroup;
use super::driver::{RepairRun, lost};
use super::project_files::ProjectFiles;
use crate::fault::Fault;
use crate::localize::{Localization, LocalizeRequest};

/// Number of suspects whose files' tests take part in the trials.
const SUSPECTS: usize = 10;
/// Origin of a fix, as people read it.
pub(super) const BY_TRIAL: &str = "found by trying small edits; no model was asked";

impl RepairRun<'_> {
    /// Tries small edits against the tests of a group, whose suspects are then ranked by the
    /// results. Returns the new texts of an edit that is proven.
    pub(super) async fn try_small_edits(
        &mut self,
        group: &mut Group,
    ) -> Result<Option<BTreeMap<String, String>>, Fault> {
        let Some(baseline) = self.baseline.as_ref().filter(|_| self.order.trials.is_some()) else {
            return Ok(None);
        };
        if group.tests.iter().any(|it| !it.contains("::")) {
            return Ok(None);
        }
        let evidence = &baseline.found.evidence;
        let search = LocalizeRequest {
            runner: &self.verifier.opened.runner,
            tree: Tree::Copy {
                folder: self.order.root.clone(),
                changed: self.verifier.kept.clone(),
            },
            index: &baseline.index,
            source_folders: self.verifier.source_folders.clone(),
            targets: targets(group, evidence),
            also: self.order.also.clone(),
            named: group.tests.clone(),
            test_timeout: self.order.test_timeout,
            run_timeout: self.order.run_timeout,
            raised_by: self.order.raised_by,
            trials: self.order.trials,
            history: Some(self.order.root.clone()),
            cancel: &self.control.cancel,
        };
        let found = match search.run().await {
            Err(fault) if self.control.cancel.is_cancelled() => return Err(fault),
            Err(fault) => {
                self.reporter.note(format_args!("  no small edits were tried: {}", fault.message));
                return Ok(None);
            }
            Ok(found) => found,
        };
        let files = self.files()?;
        let proven = proven(&found).and_then(|it| texts(it, &found, &files));
        let paths = |it: &Evidence| it.files.iter().map(|it| it.path.clone()).collect::<Vec<_>>();
        if paths(&found.evidence) == paths(&files.found.evidence) {
            group.ranking = found.ranking;
        }
        Ok(proven)
    }

    /// Tries the fix that small edits found.
    pub(super) async fn try_proven(
        &mut self,
        mut work: ActiveGroup,
    ) -> Result<Event<ActiveGroup>, Fault> {
        let number = work.begin_attempt();
        let texts = work.proven.take().ok_or_else(lost)?;
        work.by_trial = Some(number);
        self.reporter.note(format_args!("  fix {}: {BY_TRIAL}", number + 1));
        let result: AttemptResult = self.evaluate_change(&mut work, number, texts).await?;
        Ok(Event::Tried { work, result })
    }
}

/// Returns the tests of a group, and the passing tests that execute a file of its suspects.
fn targets(group: &Group, evidence: &Evidence) -> Vec<String> {
    let suspects = group.ranking.suspects.iter().filter(|it| !evidence.files[it.file].is_test);
    let files: Vec<usize> = suspects.take(SUSPECTS).map(|it| it.file).collect();
    let executes = |it: &&TestEvidence| {
        let mut lines = files.iter().filter_map(|file| it.lines.get(file));
        !it.failed && (!it.measured || lines.any(|it| !it.is_empty()))
    };
    let passing = evidence.tests.iter().filter(executes).map(|it| it.id.clone());
    group.tests.iter().cloned().chain(passing).collect()
}

/// Returns the likeliest line of code with an edit that is proven to repair the failing tests.
fn proven(found: &Localization) -> Option<&LineSuspect> {
    let is_code = |it: &LineSuspect| !found.evidence.files[it.file].is_test;
    found.ranking.lines.iter().find(|it| it.proven && is_code(it))
}

fn texts(
    line: &LineSuspect,
    found: &Localization,
    files: &ProjectFiles<'_>,
) -> Option<BTreeMap<String, String>> {
    let path = found.evidence.files[line.file].path.clone();
    let text = applied(&files.text(&path)?, line.repair.as_deref()?)?;
    Some(BTreeMap::from([(path, text)]))
}

/// Applies a unified diff to the text that it was made from; `None` if it does not fit.
fn applied(before: &str, diff: &str) -> Option<String> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let (mut out, mut done) = (String::new(), 0);
    let mut ends_open = false;
    for line in diff.split_inclusive('\n').skip_while(|it| !it.starts_with("@@")) {
        let (sign, text) = line.split_at_checked(1)?;
        match sign {
            "@" => {
                let first: usize = line.split(['-', ',', ' ']).nth(2)?.parse().ok()?;
                let first = first.max(1) - 1;
                old.get(done..first)?.iter().for_each(|it| out += it);
                done = first;
            }
            " " | "-" => {
                let is_same = old.get(done)?.trim_end() == text.trim_end();
                out += if sign == " " { old[done] } else { "" };
                done += 1;
                ends_open = false;
                is_same.then_some(())?;
            }
            "+" => {
                out += text;
                ends_open = true;
            }
            // "\ No newline at end of file", about the line before.
            "\\" if ends_open => out.truncate(out.trim_end_matches('\n').len()),
            _ => {}
        }
    }
    old.get(done..)?.iter().for_each(|it| out += it);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_applied_to_its_own_text_alone() {
        let lines = |odd: &str| (0..30).map(|it| format!("line {it}\n")).collect::<String>() + odd;
        let table = [
            (lines(""), lines("").replace("line 15\n", "other\nline\n")),
            (lines(""), lines("").replace("line 0\n", "")),
            (lines(""), lines("").replace("line 2\n", "a\n").replace("line 28\n", "b\n")),
            (lines("end"), lines("END")),
            (lines("end"), lines("end").replace("line 3\n", "x\n")),
        ];
        for (before, after) in table {
            let diff = trellis_python::unified_diff("a.py", &before, &after);
            assert_eq!(applied(&before, &diff).as_deref(), Some(after.as_str()), "{diff}");
        }
        let diff = trellis_python::unified_diff("a.py", "a\nb\n", "a\nc\n");
        assert_eq!(applied("a\nx\n", &diff), None);
        assert_eq!(applied("", &diff), None);
    }
}
