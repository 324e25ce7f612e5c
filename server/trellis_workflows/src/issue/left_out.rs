//! Files of a change that a person leaves out: the rest is tested without them before it is merged.

use std::collections::BTreeSet;
use std::path::Path;

use trellis_engine::TestRun;
use trellis_engine::issue::{Changes, GateResult, lost};

use super::driver::IssueRun;
use super::files::targets;
use super::test_runner::with_packages;
use crate::fault::{Fault, FaultKind};

/// Maximum number of failing tests that a reason names.
const NAMED: usize = 5;
const NOTHING_LEFT: &str = "all files are left out, so there is nothing to merge: keep the change \
                            on its branch instead";
const EDITED: &str = "files were edited in the worktree meanwhile: review the change again";

impl IssueRun<'_> {
    /// Restores files as they were before the work, if the tests pass without their changes. Returns
    /// the reason if nothing was changed.
    pub(super) async fn leave_out(
        &mut self,
        paths: &BTreeSet<String>,
        history: &[String],
    ) -> Result<Option<String>, Fault> {
        let rest = self.other_files(paths)?;
        if rest.is_empty() {
            return Ok(Some(NOTHING_LEFT.to_owned()));
        }
        if let Some((path, rest)) = entangled(paths, &rest) {
            return Ok(Some(format!("{path} can only be left out together with {rest}")));
        }
        let names = paths.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        self.state("tests without files left out", &names)?;
        let commit = self.work.without(paths)?;
        let rest = self.changes.iter().filter(|it| !paths.contains(it.0));
        let rest: Changes = rest.map(|(path, text)| (path.clone(), text.clone())).collect();
        if let Some(why) = self.fails_at(&commit, &rest).await? {
            return Ok(Some(format!("without {names}, {why}")));
        }
        if self.work.current_files()?.is_edited() {
            return Ok(Some(EDITED.to_owned()));
        }
        self.continue_without(paths, &names, &commit)?;
        self.changes = rest;
        self.report(history)?;
        Ok(None)
    }

    /// Continues from a commit without the files, of which copies are kept.
    fn continue_without(
        &mut self,
        paths: &BTreeSet<String>,
        names: &str,
        commit: &str,
    ) -> Result<(), Fault> {
        // A later start continues without the files.
        self.work.wait(self.fixes)?;
        let kept = self.work.leave_out(self.services.journal, commit, paths)?;
        let kept = kept.map(|it| format!("; a copy is in {}", it.display())).unwrap_or_default();
        self.log.notes.push(format!("{names} was left out{kept}"));
        Ok(())
    }

    /// Returns the changed files but these; an error if a path is none of them.
    fn other_files(&self, paths: &BTreeSet<String>) -> Result<BTreeSet<String>, Fault> {
        let all: BTreeSet<String> =
            self.work.changed_files()?.into_iter().map(|it| it.path).collect();
        match paths.difference(&all).next() {
            None => Ok(all.difference(paths).cloned().collect()),
            Some(other) => Err(Fault::input(format!("{other:?} is not one of the changed files"))
                .kind(FaultKind::Stale)
                .hint("review the change again: its files are different by now")),
        }
    }

    /// Runs the tests of a commit; returns the reason if tests fail that have to pass. Tests that
    /// fail once may be flaky, and run again.
    async fn fails_at(&mut self, commit: &str, changes: &Changes) -> Result<Option<String>, Fault> {
        let before = self.before().await?;
        let there = self.work.checkout(self.services.journal, commit)?;
        let there = with_packages(there, &self.order.home)?;
        let mut failing = None;
        for _ in 0..2 {
            failing = self.fails_once(&there.root, changes, &before).await?;
            if failing.is_none() {
                break;
            }
        }
        Ok(failing)
    }

    /// Runs the new tests, then all; keeps the runs if they pass, else returns the reason.
    async fn fails_once(
        &mut self,
        root: &Path,
        changes: &Changes,
        before: &[String],
    ) -> Result<Option<String>, Fault> {
        let new = self.ran_new(root, &targets(changes)).await?;
        if let Some(new) = new.as_ref().filter(|it| !it.proves()) {
            return Ok(Some(failing_tests(new)));
        }
        let all = self.ran_at(root, &Changes::new(), &[]).await?;
        if lost(&all, before) != GateResult::Open {
            return Ok(Some(lost_tests(&all, before)));
        }
        (self.log.new, self.log.all) = (new, Some(all));
        Ok(None)
    }
}

/// Returns a path and one of the rest that lies above or below it: a folder takes the place of a
/// file, or a file that of a folder, so the change has both or none.
fn entangled<'a>(
    paths: &'a BTreeSet<String>,
    rest: &'a BTreeSet<String>,
) -> Option<(&'a str, &'a str)> {
    let is_one_above = |one: &str, other: &str| {
        let (one, other) = (Path::new(one), Path::new(other));
        one.starts_with(other) || other.starts_with(one)
    };
    let pairs = paths.iter().flat_map(|it| rest.iter().map(move |of| (&**it, &**of)));
    pairs.into_iter().find(|(path, of)| is_one_above(path, of))
}

/// Names the new tests that fail, and files whose tests cannot be collected.
fn failing_tests(new: &TestRun) -> String {
    let cases = new.cases.iter().filter(|it| !it.passed).map(|it| it.id.as_str());
    let files = new.collection.iter().map(|it| it.path.as_str()).filter(|it| !it.is_empty());
    match named(cases.chain(files)) {
        Some(names) => format!("the new tests fail: {names}"),
        None => format!("the new tests fail: {}", new.summary()),
    }
}

/// Names the tests that passed before and do not pass any more.
fn lost_tests(all: &TestRun, before: &[String]) -> String {
    let passes = |id: &&String| all.cases.iter().any(|it| it.passed && it.id == **id);
    let lost = before.iter().filter(|id| !passes(id)).map(String::as_str);
    format!("tests fail that passed before: {}", named(lost).unwrap_or_else(|| all.summary()))
}

/// Joins the first names, and counts the others; `None` without a name.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.collect::<BTreeSet<_>>().into_iter().collect();
    let first = names[..names.len().min(NAMED)].join(", ");
    match names.len() {
        0 => None,
        count if count > NAMED => Some(format!("{first} and {} more", count - NAMED)),
        _ => Some(first),
    }
}
