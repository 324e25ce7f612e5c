//! Evaluates a fix on a copy: whether it passes, and the evidence for and against it.

use std::collections::{BTreeMap, BTreeSet};
use trellis_sandbox::test_ids::file_of;

use trellis_engine::approval::Confidence;
use trellis_engine::localize::TestEvidence;
use trellis_engine::repair::{FixScore, Group, size};
use trellis_engine::{Complaint, EditableFiles as _};
use trellis_python::Examples;
use trellis_sandbox::TestOutcome;

use trellis_os::wording::counted;

use super::project_files::ProjectFiles;
use crate::fault::Fault;
use crate::localize::Localization;
use crate::proposals::{
    Changed, ConfidenceInputs, FailingTest, FixFacts, Proposal, ProposedFile, Verification,
    VerifiedTest, Verifier, breaks, changes_top_level, confidence, uncovered_hunks,
};

/// A fix that passes.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) merit: FixScore,
    pub(super) proposal: Proposal,
    /// Number of the attempt that made it, from 0.
    pub(super) attempt: u32,
}

/// Evaluation of a change.
pub(super) enum Evaluation {
    Passes(Box<Candidate>),
    Fails {
        /// The reason for the failure.
        why: String,
        /// The change as a unified diff.
        diff: String,
    },
}

/// Context in which a change is evaluated.
pub(super) struct Evaluator<'a> {
    pub(super) verifier: &'a Verifier,
    pub(super) group: &'a Group,
    pub(super) files: &'a ProjectFiles<'a>,
    /// The tests of a run of all tests; none if it has no limits.
    pub(super) targets: Vec<String>,
    /// Number of the attempt, from 0: of the group's fixes that failed before.
    pub(super) attempt: u32,
    /// Maximum number of changed lines per file.
    pub(super) most_lines: usize,
}

impl Evaluator<'_> {
    /// Returns the reason that a change is rejected without a test run.
    pub(super) fn rejection(&self, texts: &BTreeMap<String, String>) -> Option<Complaint> {
        let most = size(&self.before_and_after(texts)).most;
        let too_large = (most > self.most_lines).then(|| {
            let limit = self.most_lines;
            let problem =
                format!("it changes {most} lines of one file, more than the limit of {limit}");
            Complaint::with_request(problem, ": change less")
        });
        too_large.or_else(|| self.files.changed_doctest(texts))
    }

    /// Runs the group's tests with the change, then those that it could affect, and then all tests.
    pub(super) async fn evaluate(
        &self,
        texts: &BTreeMap<String, String>,
        notes: &mut Vec<String>,
    ) -> Result<Evaluation, Fault> {
        let changed: Changed =
            texts.iter().map(|(path, text)| (path.clone(), text.as_str().into())).collect();
        let files: Vec<ProposedFile> = (texts.iter())
            .map(|(path, text)| ProposedFile {
                base: self.files.text(path),
                path: path.clone(),
                proposed: text.clone(),
            })
            .collect();
        let Reached { passing: affected, failing } = Reached::by(self.files.found, &files);
        let hoped = self.quick(&failing);
        let Verification { failed, tests, report, notes: said, solved, fixed, .. } =
            self.verifier.verify(&changed, &self.group.tests, &affected, &hoped).await?;
        notes.extend(said);
        if let Some(why) = failed {
            let said: Vec<&str> = tests.iter().filter_map(|it| it.message.as_deref()).collect();
            let why = format!("{why} ({})", said.join("; "));
            return Ok(Evaluation::Fails { why, diff: diff(&files) });
        }
        if let Some(why) = self.broken_elsewhere(&changed, &affected).await? {
            return Ok(Evaluation::Fails { why, diff: diff(&files) });
        }
        let ids: Vec<String> = affected.iter().chain(&self.group.tests).cloned().collect();
        let size = size(&self.before_and_after(texts));
        let grounds = ConfidenceInputs {
            files: &files,
            evidence: &self.files.found.evidence,
            ranking: &self.group.ranking,
            target: self.group.first_test(),
            tests: &ids,
            report: &report,
            lines: size.lines,
            most_lines: self.most_lines,
            failed: self.attempt as usize,
        };
        let confidence = confidence(&grounds);
        let hoped = hoped.iter().filter(|it| !self.group.tests.contains(it)).count();
        let facts = FixFacts {
            fixed: fixed.len(),
            failing: self.group.tests.len() + hoped,
            still_passing: affected.len(),
            uncovered_hunks: uncovered_hunks(&files, &report),
        };
        let shortcuts = self.shortcuts(texts);
        let merit =
            FixScore { shortcuts, solved: solved.len(), size, coverage: confidence.coverage };
        let reason =
            self.reason(&solved, ids.len() - (self.group.tests.len() - solved.len()), &merit);
        let failing = failing.into_iter().chain(self.group.tests.iter().cloned());
        let others: BTreeSet<String> = failing.filter(|it| it != self.group.first_test()).collect();
        let mut proposal = Proposal::new(self.failing(), reason, confidence, affected, files)
            .with_failing(others.into_iter().collect());
        proposal.facts = Some(facts);
        Ok(Evaluation::Passes(Box::new(Candidate { merit, proposal, attempt: self.attempt })))
    }

    /// Returns the reason against a change that breaks a test which passed before and is not one of
    /// the `affected`.
    async fn broken_elsewhere(
        &self,
        changed: &Changed,
        affected: &[String],
    ) -> Result<Option<String>, Fault> {
        let affected: BTreeSet<&String> = affected.iter().collect();
        let passing = self.files.found.ran.iter().filter(|it| it.outcome == TestOutcome::Passed);
        let others = passing.filter(|it| !affected.contains(&it.id));
        let others: Vec<String> = others.map(|it| it.id.clone()).collect();
        let broken = self.verifier.broken_elsewhere(changed, &self.targets, &others).await?;
        let said: Vec<&str> = broken.iter().filter_map(|it| it.message.as_deref()).collect();
        let why = |first: &VerifiedTest| breaks(&first.id, broken.len());
        Ok(broken.first().map(|it| format!("{} ({})", why(it), said.join("; "))))
    }

    /// Returns failing tests without files that cannot be collected, and without tests that ran into
    /// their time limit, since each of them would delay the evaluation by as much.
    fn quick(&self, failing: &[String]) -> Vec<String> {
        let ran = &self.files.found.ran;
        let is_slow =
            |id: &String| ran.iter().any(|it| it.id == *id && it.outcome == TestOutcome::TimedOut);
        failing.iter().filter(|id| id.contains("::") && !is_slow(id)).cloned().collect()
    }

    fn reason(&self, solved: &[String], passing: usize, merit: &FixScore) -> String {
        let first = solved.first().map_or("", String::as_str);
        let more = match solved.len() {
            0 | 1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let others = passing - solved.len();
        let looks = match &merit.shortcuts[..] {
            [] => String::new(),
            all => format!("; it looks tailored to its tests: {}", all.join("; ")),
        };
        let others = counted(
            others,
            "test that it may affect passes with it",
            "tests that it may affect pass with it",
        );
        format!("makes {first}{more} pass; {others}{looks}")
    }

    /// Returns texts before and after, by path.
    fn before_and_after(
        &self,
        texts: &BTreeMap<String, String>,
    ) -> BTreeMap<String, (String, String)> {
        let both = |(path, after): (&String, &String)| {
            (path.clone(), (self.files.text(path).unwrap_or_default(), after.clone()))
        };
        texts.iter().map(both).collect()
    }

    /// Returns signs that a change was tailored to its tests. Words that other source files also
    /// use do not count.
    fn shortcuts(&self, texts: &BTreeMap<String, String>) -> Vec<String> {
        let file = |id: &String| file_of(id).to_owned();
        let paths: BTreeSet<String> = self.group.tests.iter().map(file).collect();
        let examples = Examples::of(&strs(&self.texts(paths.iter())));
        let both = self.before_and_after(texts);
        let signs = signs(&both, &examples);
        if signs.is_empty() {
            return signs;
        }
        let files = self.files.found.evidence.files.iter();
        let others = files.filter(|it| !it.is_test && !texts.contains_key(&it.path));
        let others = self.texts(others.map(|it| &it.path));
        self::signs(&both, &examples.without(&strs(&others)))
    }

    fn texts<'t>(&self, paths: impl Iterator<Item = &'t String>) -> Vec<String> {
        paths.filter_map(|it| self.files.text(it)).collect()
    }

    fn failing(&self) -> FailingTest {
        let id = self.group.first_test().to_owned();
        let failure = self.files.found.failures.iter().find(|it| it.id == id);
        let failure = failure.map(|it| &it.failure);
        FailingTest {
            message: failure
                .map(|it| format!("{}: {}", it.exception, it.message))
                .unwrap_or_default(),
            path: failure.and_then(|it| it.path.clone()),
            line: failure.and_then(|it| it.line),
            id,
        }
    }
}

impl Candidate {
    pub(super) fn confidence(&self) -> &Confidence {
        &self.proposal.confidence
    }
}

fn strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// Returns the lines, as `path:line: reason`, that look tailored to the examples. `texts` has the
/// text before and after, by path.
fn signs(texts: &BTreeMap<String, (String, String)>, examples: &Examples) -> Vec<String> {
    let signs = texts.iter().flat_map(|(path, (before, after))| {
        let signs = examples.shortcuts(before, after);
        signs.into_iter().map(move |it| format!("{path}:{}: {}", it.line, it.why))
    });
    signs.collect()
}

/// Returns all files as a unified diff.
pub(super) fn diff(files: &[ProposedFile]) -> String {
    let diff = |it: &ProposedFile| {
        trellis_python::unified_diff(&it.path, it.base.as_deref().unwrap_or_default(), &it.proposed)
    };
    files.iter().map(diff).collect()
}

/// Tests that execute a changed file; all tests if the executed lines do not show that.
struct Reached {
    passing: Vec<String>,
    failing: Vec<String>,
}

impl Reached {
    fn by(found: &Localization, files: &[ProposedFile]) -> Reached {
        let tests = &found.evidence.tests;
        let place = |path: &str| found.evidence.files.iter().position(|it| it.path == path);
        let places: Vec<usize> = files.iter().filter_map(|it| place(&it.path)).collect();
        let measured = tests.iter().any(|it| !it.failed && !it.lines.is_empty());
        let all = !measured || files.iter().any(changes_top_level);
        let executes = |it: &TestEvidence| {
            places.iter().any(|place| it.lines.get(place).is_some_and(|it| !it.is_empty()))
        };
        // A test that failed before executing any line may get further with the change.
        let reaches = |it: &&TestEvidence| all || executes(it) || it.failed && it.lines.is_empty();
        let ids = |failed: bool| {
            let of_kind = tests.iter().filter(move |it| it.failed == failed).filter(reaches);
            of_kind.map(|it| it.id.clone()).collect()
        };
        Reached { passing: ids(false), failing: ids(true) }
    }
}
