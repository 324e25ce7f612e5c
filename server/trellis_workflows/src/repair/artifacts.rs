//! Artifacts of a repair: a folder under `.trellis/repair` with diagnoses, report and patch.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use trellis_engine::repair::{Diagnostic, Group, RepairSummary};
use trellis_sandbox::Totals;

use super::alternatives::{IdeaLog, alternatives};
use super::attempts::{AttemptLog, GroupLog, attempt};
use super::baseline::Baseline;
use super::report::{DiagnosisReport, GroupReport, KeptFix, RepairReport, SetAside, TestCounts};
use super::{RepairRequest, WriteTarget};
use crate::budget::Spent;
use crate::fault::{Exit, Fault};
use crate::proposals::Proposal;
use crate::timing::Timing;
use trellis_store::disk;

/// Name of a kept fix without an id, since nothing was written.
pub const UNNUMBERED: &str = "kept";

/// Facts collected during a repair.
pub(super) struct Artifacts<'a> {
    order: &'a RepairRequest,
    groups: Vec<GroupLog>,
    /// Index of the current group.
    current: usize,
    fixes: Vec<KeptFix>,
    /// Texts by path, before the first fix and after the last.
    texts: BTreeMap<String, (String, String)>,
    before: Option<TestCounts>,
    after: Option<TestCounts>,
    began: Instant,
    /// Totals of the test runs.
    pub(super) tested: Totals,
    pub(super) notes: Vec<String>,
    pub(super) spent: Option<Spent>,
    /// Folder relative to the root, created with the first artifact.
    folder: Option<String>,
}

impl<'a> Artifacts<'a> {
    pub(super) fn new(order: &'a RepairRequest) -> Artifacts<'a> {
        Artifacts {
            order,
            groups: Vec::new(),
            current: 0,
            fixes: Vec::new(),
            texts: BTreeMap::new(),
            before: None,
            after: None,
            began: Instant::now(),
            tested: Totals::default(),
            notes: Vec::new(),
            spent: None,
            folder: None,
        }
    }

    pub(super) fn took_baseline(&mut self, baseline: &Baseline) {
        let counts = TestCounts { passing: baseline.passing(), failing: baseline.failing().len() };
        self.before.get_or_insert(counts);
        self.after = Some(counts);
        self.notes.extend(baseline.found.notes.iter().cloned());
    }

    /// Begins a group and writes its diagnosis at once.
    pub(super) fn begin(&mut self, group: &Group, diagnosis: Diagnostic) -> Result<(), Fault> {
        let (group, ideas, attempts) = (group.clone(), Vec::new(), Vec::new());
        let log = GroupLog { group, diagnosis, ideas, attempts, chosen: None, kept: None };
        self.current = self.groups.len();
        self.groups.push(log);
        self.write_diagnosis()
    }

    /// Replaces the diagnosis of the current group by one with a model's opinion.
    pub(super) fn diagnosed(
        &mut self,
        diagnosis: Diagnostic,
        ideas: Vec<IdeaLog>,
    ) -> Result<(), Fault> {
        if let Some(group) = self.group() {
            group.diagnosis = diagnosis;
            group.ideas = ideas;
        }
        self.write_diagnosis()
    }

    fn write_diagnosis(&mut self) -> Result<(), Fault> {
        let number = self.current + 1;
        let Some(group) = self.groups.get(self.current) else { return Ok(()) };
        let (page, shape) = (group.diagnosis.markdown(), DiagnosisReport::of(&group.diagnosis));
        self.write(&format!("diagnosis-{number}.md"), &page)?;
        self.write(&format!("diagnosis-{number}.json"), &pretty(&shape)?)
    }

    /// Resumes a group that was begun before.
    pub(super) fn take_up(&mut self, group: &Group) {
        let known = self.groups.iter().rposition(|it| it.group.tests == group.tests);
        self.current = known.unwrap_or(self.current);
    }

    fn group(&mut self) -> Option<&mut GroupLog> {
        self.groups.get_mut(self.current)
    }

    pub(super) fn tried(&mut self, attempt: u32, outcome: &str, what: &str) {
        let (outcome, what) = (outcome.to_owned(), what.to_owned());
        let log = AttemptLog { number: attempt + 1, outcome, what, ..AttemptLog::default() };
        if let Some(group) = self.group() {
            group.attempts.push(log);
        }
    }

    /// Returns the last attempt.
    pub(super) fn attempt(&mut self) -> Option<&mut AttemptLog> {
        self.group()?.attempts.last_mut()
    }

    /// Records that an attempt, counted from 0, is about to try a suggestion.
    pub(super) fn suggested(&mut self, suggestion: usize, attempt: u32) {
        let ideas = self.group().map(|it| &mut it.ideas);
        let candidates = ideas.into_iter().flatten().filter(|it| it.is_candidate());
        if let Some(idea) = candidates.into_iter().nth(suggestion) {
            idea.attempt = Some(attempt + 1);
        }
    }

    /// Records the attempt, counted from 0, that awaits a decision; `None` if it is not wanted.
    pub(super) fn choose(&mut self, attempt: Option<u32>) {
        if let Some(group) = self.group() {
            group.chosen = attempt.map(|it| it + 1);
        }
    }

    /// Records that a person rejected the chosen fix.
    pub(super) fn rejected(&mut self, why: &str) {
        let Some(group) = self.group() else { return };
        let chosen = group.chosen.take();
        if let Some(log) = group.attempts.iter_mut().find(|it| Some(it.number) == chosen) {
            log.outcome = "rejected".to_owned();
            log.what = why.to_owned();
        }
    }

    /// Records a kept fix.
    pub(super) fn kept(&mut self, proposal: &Proposal) {
        let fix = KeptFix::of(proposal, self.order.place == WriteTarget::WorkingTree);
        if let Some(group) = self.group() {
            group.kept = Some(fix.fix.clone().unwrap_or_else(|| UNNUMBERED.to_owned()));
        }
        self.fixes.push(fix);
        for it in proposal.written() {
            let before = it.base.clone().unwrap_or_default();
            let entry = self.texts.entry(it.path).or_insert((before, String::new()));
            entry.1 = it.proposed;
        }
    }

    /// Returns all kept changes as a patch for `git apply`.
    pub(super) fn patch(&self) -> String {
        let diff = |(path, (before, after)): (&String, &(String, String))| {
            trellis_python::unified_diff(path, before, after)
        };
        self.texts.iter().map(diff).collect()
    }

    /// Writes report and patch and returns the result. `end` is `None` if a fault ended the repair.
    pub(super) fn finish(
        mut self,
        baseline: Option<&Baseline>,
        end: Option<&RepairSummary>,
    ) -> Result<RepairReport, Fault> {
        let patch = self.patch();
        if !patch.is_empty() {
            self.write("repair.patch", &patch)?;
        }
        let place = self.order.patch.clone();
        if let Some(path) = &place {
            fs::write(path, &patch).map_err(|error| {
                Fault::internal(format!("cannot write the patch {}: {error}", path.display()))
                    .hint("kept changes stay; the patch is also in .trellis/repair")
            })?;
        }
        let mut result = self.result(baseline, end);
        result.patch = place.map(|it| it.display().to_string());
        result.all = patch;
        if self.folder.is_some() {
            self.write("report.json", &pretty(&result)?)?;
            self.write("report.md", &result.markdown())?;
        }
        Ok(result)
    }

    fn result(&self, baseline: Option<&Baseline>, end: Option<&RepairSummary>) -> RepairReport {
        let of_end = |all: fn(&RepairSummary) -> &Vec<(Group, String)>, log: &GroupLog| {
            let found =
                end.and_then(|end| all(end).iter().find(|it| it.0.tests == log.group.tests));
            found.map(|it| it.1.clone())
        };
        let failing: Vec<String> = baseline.map(Baseline::failing).unwrap_or_default();
        let groups: Vec<GroupReport> = (self.groups.iter())
            .map(|log| GroupReport {
                tests: log.group.tests.clone(),
                diagnosis: DiagnosisReport::of(&log.diagnosis),
                attempts: log.attempts.iter().map(attempt).collect(),
                alternatives: {
                    let waits = of_end(|end| &end.waiting, log).is_some();
                    alternatives(log, log.chosen.filter(|_| waits || log.kept.is_some()))
                },
                kept: log.kept.clone().or_else(|| {
                    // A group that was given up may have had the same cause as another group.
                    let passes = !log.group.tests.iter().any(|it| failing.contains(it));
                    passes.then(|| "the fix of another cause".to_owned())
                }),
                waiting: of_end(|end| &end.waiting, log),
                given_up: of_end(|end| &end.given_up, log)
                    .filter(|_| log.group.tests.iter().any(|it| failing.contains(it))),
            })
            .collect();
        let set_aside = baseline.map(|it| it.set_aside.clone()).unwrap_or_default();
        let set_aside = set_aside.into_iter().map(|(test, why)| SetAside { test, why });
        let flaky = baseline.map(|it| it.found.flaky.clone()).unwrap_or_default();
        let is_waiting = end.is_some_and(|it| !it.waiting.is_empty());
        let after = self.after.unwrap_or_default();
        let set_aside: Vec<SetAside> = set_aside.collect();
        let left = after.failing.saturating_sub(set_aside.len());
        let exit = match (is_waiting, left) {
            (true, _) => Exit::NeedsHuman,
            (false, 0) if !set_aside.is_empty() => Exit::NeedsHuman,
            (false, 0) => Exit::Done,
            (false, _) => Exit::TestsFailed,
        };
        let outcome = match exit {
            Exit::Done if self.fixes.is_empty() => "nothingToDo",
            Exit::Done => "repaired",
            Exit::NeedsHuman if is_waiting || self.fixes.is_empty() => "needsHuman",
            _ if self.fixes.is_empty() => "notRepaired",
            _ => "partly",
        };
        let mut notes = self.notes.clone();
        notes.sort();
        notes.dedup();
        RepairReport {
            outcome: outcome.to_owned(),
            exit_code: exit as u8,
            before: self.before.unwrap_or_default(),
            after,
            fixes: self.fixes.clone(),
            groups,
            flaky,
            set_aside,
            patch: None,
            branch: None,
            commit: None,
            artifacts: self.folder.clone(),
            usd: self.spent.map(|it| it.usd),
            tokens: self.spent.map(|it| it.tokens),
            time: Timing::of(self.began.elapsed(), self.tested),
            notes,
            all: String::new(),
        }
    }

    fn write(&mut self, name: &str, text: &str) -> Result<(), Fault> {
        let root = &self.order.home;
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => new_folder(root).map_err(|error| cannot(root, &error))?,
        };
        let path = format!("{folder}/{name}");
        self.folder = Some(folder);
        disk::write(root, &path, text).map_err(|error| cannot(root, &error))
    }
}

pub(super) fn cannot(root: &Path, error: &std::io::Error) -> Fault {
    Fault::internal(format!("cannot write to {}: {error}", root.join(".trellis/repair").display()))
        .hint("make the folder writable and free some space on the disk; kept changes stay")
}

/// Creates the folder of repairs.
pub(super) fn own_folder(root: &Path) -> std::io::Result<()> {
    disk::create(root, "repair").map(drop)
}

/// Creates the folder with the next free number and returns its path relative to the root.
fn new_folder(root: &Path) -> std::io::Result<String> {
    own_folder(root)?;
    let all = root.join(".trellis/repair");
    let numbers = fs::read_dir(&all)?.filter_map(|it| it.ok()?.file_name().to_str()?.parse().ok());
    let next = numbers.max().unwrap_or(0_u32) + 1;
    fs::create_dir(all.join(next.to_string()))?;
    Ok(format!(".trellis/repair/{next}"))
}

fn pretty(value: &impl serde::Serialize) -> Result<String, Fault> {
    serde_json::to_string_pretty(value)
        .map_err(|error| Fault::internal(format!("the report cannot be written as JSON: {error}")))
}
