//! The stages of an issue: each performs one action and returns what was observed.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use trellis_engine::issue::{
    Changes, Event, GateResult, PromptKind, RemovedDefinitions, ask_code, ask_fix, ask_scaffold,
    ask_together, changes, duplicate_definitions, green, is_known, losses, lost, red,
};
use trellis_engine::{ModelRequest, Reply, TestRun};

use super::baseline::BaselineRun;
use super::driver::IssueRun;
use super::files::{EditPhase, Files, is_test, targets};
use super::test_runner::with_packages;
use super::{lint, report, review_record};
use crate::fault::Fault;
use trellis_git::merge::{Merge, MergeCommit, MergeOutcome, fast_forward};

impl IssueRun<'_> {
    /// Returns the folder that the changes go on top of.
    pub(super) fn root(&self) -> &Path {
        &self.edited.as_ref().unwrap_or(&self.ground).root
    }

    pub(super) async fn ask(
        &mut self,
        what: PromptKind,
        attempt: u32,
        history: &[String],
        complaint: Option<String>,
    ) -> Result<Event, Fault> {
        if what == PromptKind::Fix {
            self.fixes = attempt + 1;
        }
        // The session tells whether the model has tools.
        let _ = self.session()?;
        let complaint = complaint.as_deref();
        let (ask, turn) = match what {
            PromptKind::Scaffold if self.order.together => {
                (ask_together(&self.feature, attempt, complaint), EditPhase::Tests)
            }
            PromptKind::Scaffold => {
                (ask_scaffold(&self.feature, attempt, complaint), EditPhase::Tests)
            }
            PromptKind::Code => (ask_code(&self.feature, attempt, complaint), EditPhase::Code),
            PromptKind::Fix => {
                (ask_fix(&self.feature, attempt, history, complaint), EditPhase::Code)
            }
        };
        // Rejected tests are written anew.
        let known =
            if what == PromptKind::Scaffold { Changes::new() } else { self.changes.clone() };
        let new = match self.answer(&ask, turn, &known).await? {
            Ok(new) if what == PromptKind::Scaffold && targets(&new).is_empty() => {
                return Ok(Event::Unusable(
                    "none of its files is one that tests are found in".to_owned(),
                ));
            }
            Ok(new) => new,
            Err(seen) => return Ok(seen),
        };
        self.changes = known;
        self.changes.extend(new);
        self.refresh_prompt_files();
        Ok(Event::Written)
    }

    /// Sends a request and returns the texts that its reply changes, from one reply or from work
    /// with tools; otherwise the event that came instead.
    async fn answer(
        &mut self,
        ask: &ModelRequest,
        turn: EditPhase,
        known: &Changes,
    ) -> Result<Result<Changes, Event>, Fault> {
        let (id, cancel) = (self.order.id.clone(), self.services.control.cancel.clone());
        let root = self.root().to_owned();
        let mut seen = BTreeSet::new();
        let said = match ask.tools {
            false => self.session()?.complete(&id, ask, &cancel).await?,
            true => {
                let tracked = self.tracked()?;
                let shown = self.shown();
                let files = Files { root: &root, changes: known, turn, shown: &shown };
                let mut toolbox = files.toolbox(&tracked);
                let said = self.session()?.run_agent(&id, ask, &mut toolbox, &cancel).await?;
                if let Some((gone, _)) = toolbox.changes().iter().find(|it| it.1.is_none()) {
                    return Ok(Err(Event::Unusable(format!(
                        "no file is deleted; leave {gone} there"
                    ))));
                }
                seen = toolbox.seen_files();
                said
            }
        };
        Ok(match said {
            Reply::Text(text) => {
                let shown = self.shown().into_iter().chain(seen).collect();
                let files = Files { root: &root, changes: known, turn, shown: &shown };
                let is_there = self.order.together && turn == EditPhase::Tests;
                match is_there && is_known(&text, &files) {
                    true => Err(Event::Holds),
                    false => changes(&text, &files).map_err(|refused| {
                        self.show_files(&refused.show);
                        Event::Unusable(refused.for_model)
                    }),
                }
            }
            Reply::Edited(edit) if edit.files.is_empty() => {
                Err(Event::Unusable("nothing was changed".to_owned()))
            }
            Reply::Edited(edit) => Ok(edit.files),
            Reply::Unusable { why } => Err(Event::Unusable(why)),
            Reply::Failed { reason } => Err(Event::NoReply(reason)),
        })
    }

    /// Returns the tracked files of the folder that the changes go on top of.
    fn tracked(&self) -> Result<Vec<String>, Fault> {
        Ok(self.edited.as_ref().unwrap_or(&self.ground).tracked()?)
    }

    /// Runs tests with the current changes.
    async fn ran(&self, targets: &[String]) -> Result<TestRun, Fault> {
        self.ran_at(self.root(), &self.changes, targets).await
    }

    /// Runs the new tests of a checkout; `None` if there are none, since a person left them out.
    pub(super) async fn ran_new(
        &self,
        root: &Path,
        targets: &[String],
    ) -> Result<Option<TestRun>, Fault> {
        match targets {
            [] => Ok(None),
            _ => self.ran_at(root, &Changes::new(), targets).await.map(Some),
        }
    }

    /// Runs tests and journals the result.
    pub(super) async fn ran_at(
        &self,
        root: &Path,
        changes: &Changes,
        targets: &[String],
    ) -> Result<TestRun, Fault> {
        let began = Instant::now();
        let run = self.trials.run(root, changes, targets).await?;
        let what = if targets.is_empty() { "all tests" } else { "the new tests" };
        let came = format!("{} passed, {} failed: {}", run.passed(), run.failed(), run.summary());
        self.journaled(what, &came, Some(began.elapsed().as_millis() as u64))?;
        Ok(run)
    }

    pub(super) async fn red(&mut self) -> Result<Event, Fault> {
        let run = self.ran(&targets(&self.changes)).await?;
        let (root, specification) = (&self.ground.root, &self.words.specification);
        let gate = red(&run, &BaselineRun { root, specification });
        let holds = self.order.together && run.proves();
        self.log.red = Some(run);
        Ok(if holds { Event::Holds } else { seen(gate) })
    }

    pub(super) async fn green(&mut self) -> Result<Event, Fault> {
        let targets = targets(&self.changes);
        if targets.is_empty() {
            return Ok(Event::Failed("there are no new tests".to_owned()));
        }
        let before = self.before().await?;
        let new = self.ran(&targets).await?;
        if !new.proves() {
            let gate = green(&new, None, &before);
            self.log.new = Some(new);
            return Ok(seen(gate));
        }
        let mut all = self.ran(&[]).await?;
        let mut gate = green(&new, Some(&all), &before);
        if gate != GateResult::Open {
            // A test that passes on a rerun is flaky, so the change is not to blame.
            let again = self.ran(&[]).await?;
            let second = green(&new, Some(&again), &before);
            if second == GateResult::Open {
                self.log.notes.push(
                    "a test that passed before failed once, then passed when run again".to_owned(),
                );
            }
            (all, gate) = (again, second);
        }
        self.feature.broken = match gate {
            GateResult::Open => Vec::new(),
            GateResult::Shut(_) => self.sources_of(&all, &before),
        };
        (self.log.new, self.log.all) = (Some(new), Some(all));
        Ok(seen(gate))
    }

    /// Returns the source of the first tests that passed before and fail now.
    fn sources_of(&self, all: &TestRun, before: &[String]) -> Vec<(String, String)> {
        let failed = all.cases.iter().filter(|it| !it.passed && before.contains(&it.id));
        let source = |id: &String| {
            let (path, rest) = id.split_once("::")?;
            let name = rest.split('[').next()?.rsplit("::").next()?.to_owned();
            let all = trellis_python::Functions::of(&self.original(path)?).functions;
            let found = all.into_iter().find(|it| it.name == name && !it.is_nested)?;
            Some((id.clone(), found.source))
        };
        failed.filter_map(|it| source(&it.id)).take(BROKEN).collect()
    }

    /// Returns the tests that pass without the work.
    pub(super) async fn before(&mut self) -> Result<Vec<String>, Fault> {
        if self.before.is_none() {
            let run = self.ran_at(&self.ground.root, &Changes::new(), &[]).await?;
            self.log.failed_before = run.failed();
            self.before =
                Some(run.cases.into_iter().filter(|it| it.passed).map(|it| it.id).collect());
        }
        let before = self.before.clone().unwrap_or_default();
        self.log.before = before.len();
        Ok(before)
    }

    /// Commits what passed to the branch, so that a person can look at it in any case, and then
    /// runs the linters.
    pub(super) fn lint(&mut self) -> Result<Event, Fault> {
        self.commit_progress()?;
        let paths: Vec<String> = self.changes.keys().cloned().collect();
        let linted = lint::lint(&self.ground.root, &self.work.root, &paths);
        self.log.linted = linted.clone();
        let mut found = Vec::new();
        let twins = self.twins();
        // A name may be the same by chance, so it is reported only once. A model must not change
        // what a person has edited or is about to review.
        let is_reported = self.work.record.edited || self.work.record.waits.is_some();
        if !is_reported && self.log.twins.is_empty() {
            found.extend(twins.iter().cloned());
        }
        self.log.twins = twins;
        let losses = self.losses();
        if !is_reported && self.log.losses.taken.is_empty() {
            found.extend(
                losses.taken.iter().map(|it| {
                    format!("{it}; restore it unless the specification asks to remove it")
                }),
            );
        }
        self.log.losses = losses;
        if !linted.findings.is_empty() {
            found.push(format!("linters: {}", linted.findings.join("\n")));
        }
        match found[..] {
            [] => Ok(Event::Passed),
            _ => Ok(Event::Failed(found.join("\n"))),
        }
    }

    /// Returns the definitions that the changes remove from files that existed before.
    fn losses(&self) -> RemovedDefinitions {
        let mut out = RemovedDefinitions::default();
        for (path, text) in self.changes.iter().filter(|it| !is_test(it.0)) {
            let Some(before) = self.original(path) else { continue };
            let of = losses(&self.words.specification, path, &before, text);
            out.taken.extend(of.taken);
            out.rewritten.extend(of.rewritten);
        }
        out
    }

    /// Returns new definitions that the context already has.
    fn twins(&self) -> Vec<String> {
        let old: Vec<Option<String>> = self.changes.keys().map(|it| self.original(it)).collect();
        let changed: Vec<(&str, Option<&str>, &str)> = (self.changes.iter().zip(&old))
            .filter(|((path, _), _)| path.ends_with(".py") && !is_test(path))
            .map(|((path, text), old)| (path.as_str(), old.as_deref(), text.as_str()))
            .collect();
        duplicate_definitions(&self.words.context, &changed)
    }

    pub(super) fn report(&mut self, history: &[String]) -> Result<Event, Fault> {
        self.log.diff = self.work.diff()?;
        self.log.paths = self.changes.keys().cloned().collect();
        report::write(self.order, &self.words, &self.work, &mut self.log, history)?;
        Ok(Event::Written)
    }

    /// Merges, and updates the record of the change that waits for a person.
    pub(super) async fn merge(&mut self) -> Result<Event, Fault> {
        let event = self.merge_into_target().await?;
        match &event {
            Event::NotMerged(why) => self.record_review(Some(why.clone()))?,
            _ => review_record::remove(&self.order.home, &self.order.name)?,
        }
        Ok(event)
    }

    async fn merge_into_target(&mut self) -> Result<Event, Fault> {
        let message = report::message(self.order, &self.words);
        loop {
            let candidate = match self.work.candidate(&message)? {
                Merge::Clean(candidate) => candidate,
                Merge::Conflict(conflict) => {
                    self.log.conflicts = true;
                    let (into, branch) = (&self.work.record.into, self.work.branch());
                    return Ok(Event::NotMerged(format!(
                        "{into} has changed {} in the meantime, and so does {branch}: merge \
                         {into} in the worktree, then run again",
                        conflict.paths().join(", ")
                    )));
                }
            };
            if candidate.is_untested
                && let Some(why) = self.find_regression(&candidate).await?
            {
                self.log.conflicts = true;
                return Ok(Event::NotMerged(why));
            }
            if let Some(forge) = self.forge {
                forge.record_pending(
                    &self.work.record.into,
                    &candidate.commit,
                    &self.work.branch(),
                )?;
            }
            match fast_forward(
                &mut [&mut self.work],
                self.services.journal,
                std::slice::from_ref(&candidate),
            )? {
                MergeOutcome::Merged => {
                    self.log.commit = Some(candidate.commit);
                    return Ok(Event::Merged);
                }
                MergeOutcome::TargetMoved => {}
                MergeOutcome::Blocked(why) => {
                    self.log.conflicts = true;
                    return Ok(Event::NotMerged(why));
                }
            }
        }
    }

    /// Returns the reason that a merge is wrong: new tests that fail, or other tests that pass only
    /// on the target.
    async fn find_regression(&mut self, it: &MergeCommit) -> Result<Option<String>, Fault> {
        self.state("tests of the merged result", "")?;
        let none = Changes::new();
        let merged = self.work.checkout(self.services.journal, &it.commit)?;
        let merged = with_packages(merged, &self.order.home)?;
        let new = self.ran_new(&merged.root, &targets(&self.changes)).await?;
        if let Some(new) = new.as_ref().filter(|it| !it.proves()) {
            return Ok(Some(format!(
                "the new tests do not pass after the merge: {}",
                new.summary()
            )));
        }
        let all = self.ran_at(&merged.root, &none, &[]).await?;
        let target = self.work.checkout(self.services.journal, it.target())?;
        let target = with_packages(target, &self.order.home)?;
        let old = self.ran_at(&target.root, &none, &[]).await?;
        let passed: Vec<String> =
            old.cases.into_iter().filter(|it| it.passed).map(|it| it.id).collect();
        Ok(match lost(&all, &passed) {
            GateResult::Open => None,
            GateResult::Shut(why) => Some(format!("merged, {why}")),
        })
    }
}

/// Maximum number of broken tests that a request shows whole.
const BROKEN: usize = 3;

fn seen(gate: GateResult) -> Event {
    match gate {
        GateResult::Open => Event::Passed,
        GateResult::Shut(why) => Event::Failed(why),
    }
}
