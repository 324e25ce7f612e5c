//! One step of repair: a failing test of any Python project, a model's fix of it that passes, put before a person.
//!
//! ```text
//! tests with coverage ──> suspects ──> question ──> edits ──> tests on a copy ──> proposal
//!                                          ^                        │
//!                                          └──── why it will not do ┘   three attempts
//! ```
//!
//! Nothing is written into the tree. A door that loops over this gives what failed before as [`Problem::earlier`].

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cycle::localize::{Ranked, rank};
use cycle::repair::{Repair, Sources, ask_repair, repaired};
use cycle::{Diagnosis, Policy, Suspect};
use run::Tree;
use tokio_util::sync::CancellationToken;

use super::decide::Testing;
use super::measure::{changes_top_level, confidence};
use super::proposal::{FailingTest, Proposal, ProposedFile};
use super::store::Store;
use super::trial::{Bench, Tried, cancelled};
use crate::desk::{Answer, Desk, Halt, Slip};
use crate::edits;
use crate::error::{Exit, Fault};
use crate::ledger::{Ledger, Spent};
use crate::localize::{Found, Search};
use crate::models::{self, ModelArgs, Models};
use crate::output::Output;
use crate::sandbox::SandboxArgs;
use crate::sources::Workspace;
use crate::workspace::cost::StageCost;
use crate::workspace::journal::{Event, Journal};

/// Fixes that are tried.
const ATTEMPTS: u32 = 3;
/// Suspects that a model is shown.
const SUSPECTS: usize = 5;
/// Of a long function, lines on each side of the suspicious one.
const AROUND: usize = 20;
/// A function is shown whole up to so many lines.
const WHOLE: usize = 120;
/// All tests together.
const RUN: Duration = Duration::from_secs(1800);

/// What is to be mended, and with what.
pub(crate) struct Problem {
    /// The project's folder, without links.
    pub(crate) root: PathBuf,
    /// pytest's id of the failing test.
    pub(crate) test: String,
    /// Test files and folders that are looked at beside it; all tests where none are named.
    pub(crate) tests: Vec<String>,
    /// Fixes of before in a few words, each with what came of it.
    pub(crate) earlier: Vec<String>,
    pub(crate) model: ModelArgs,
    pub(crate) sandbox: SandboxArgs,
    /// For one test.
    pub(crate) test_timeout: Duration,
}

/// Looks for a fix and stores it as a proposal that waits.
///
/// # Errors
///
/// The test passes, or is not there, or fails now and then; no model or sandbox; or no fix worked, with what was tried.
pub(crate) async fn propose(
    problem: &Problem,
    output: &Output,
    cancel: CancellationToken,
) -> Result<Proposal, Fault> {
    let config = models::config(&problem.root)?;
    let models = Models::open(&problem.model, &config, &models::env)?;
    let budget = problem.model.budget(&config);
    models.know_prices(budget)?;
    let ledger = Ledger::new(budget, Spent::default());
    let desk = Desk::new(models, ledger, HashMap::new(), Policy::generate().context_tokens);
    let journal = Journal::join(&problem.root).map_err(no_journal)?;
    let testing = Testing { sandbox: problem.sandbox.clone(), output, cancel: cancel.clone() };
    let bench = Bench::open(&problem.root, &testing).await?;
    let step = RepairStep { problem, output, cancel: &cancel, desk, journal, bench: &bench };
    let mended = step.mended().await;
    let left = bench.close().await;
    left.iter().for_each(|it| output.note(it));
    let mut proposal = mended?;
    let store = Store::of(&problem.root);
    store.put(&mut proposal).await?;
    Ok(proposal)
}

struct RepairStep<'a> {
    problem: &'a Problem,
    output: &'a Output,
    cancel: &'a CancellationToken,
    desk: Desk,
    journal: Journal,
    bench: &'a Bench,
}

/// A project's files, of which tests are read-only.
struct Tests<'a> {
    root: &'a Path,
    found: &'a Found,
}

impl Sources for Tests<'_> {
    fn text(&self, path: &str) -> Option<String> {
        // A model's path leads nowhere else: only what was looked at is a file.
        let known = self.found.evidence.files.iter().any(|it| it.path == path);
        known.then(|| edits::read(&self.root.join(path)).ok()).flatten()
    }

    fn read_only(&self, path: &str) -> Option<&'static str> {
        let is_test = |it: &&cycle::localize::FileEvidence| it.path == path && it.is_test;
        let file = self.found.evidence.files.iter().find(is_test);
        file.map(|_| "tests say what is wanted, and are read-only")
    }
}

impl RepairStep<'_> {
    async fn mended(&self) -> Result<Proposal, Fault> {
        let problem = self.problem;
        self.output.note(format_args!("looking for what makes {} fail", problem.test));
        let mut found = self.localized().await?;
        let test = self.failing(&found)?;
        // Other failures may have other causes.
        found.evidence.tests.retain(|it| !it.failed || it.id == problem.test);
        found.ranking = rank(&found.evidence, &[]);
        let sources = Tests { root: &problem.root, found: &found };
        let mut repair = self.question(&found, &sources);
        for attempt in 0..ATTEMPTS {
            let answer = self.ask(&repair, attempt).await?;
            let changed = match answer {
                Ok(text) => repaired(&text, &repair.suspects, &sources),
                Err(why) => Err(why),
            };
            repair.complaint = None;
            match changed {
                Ok(texts) => match self.tried(&found, &test, &sources, texts).await? {
                    Ok(proposal) => return Ok(proposal),
                    Err(why) => repair.earlier.push(why),
                },
                Err(why) => repair.complaint = Some(why),
            }
            self.note(attempt, repair.complaint.as_ref().or(repair.earlier.last()))?;
        }
        let tried = repair.earlier[problem.earlier.len()..].iter().chain(&repair.complaint);
        let tried: Vec<&str> = tried.map(String::as_str).collect();
        let message = format!(
            "no fix was found for {}; {ATTEMPTS} were tried: {}",
            problem.test,
            tried.join("; ")
        );
        Err(Fault::new(Exit::TestsFailed, message).kind("noFix").hint(
            "nothing was changed; try another model, or look where `trellis localize` points",
        ))
    }

    /// Why an attempt would not do.
    fn note(&self, attempt: u32, why: Option<&String>) -> Result<(), Fault> {
        let Some(why) = why else { return Ok(()) };
        self.output.note(format_args!("fix {} will not do: {why}", attempt + 1));
        let what = "repair".to_owned();
        let event = Event::Note { node: self.problem.test.clone(), what, text: why.clone() };
        self.journal.log(event).map_err(no_journal)
    }

    async fn localized(&self) -> Result<Found, Fault> {
        let workspace = Workspace::open(&self.problem.root)?;
        let snapshot = workspace.snapshot();
        let mut targets = self.problem.tests.clone();
        let covered = |it: &String| self.problem.test.starts_with(it.as_str());
        if !targets.is_empty() && !targets.iter().any(covered) {
            targets.push(self.problem.test.clone());
        }
        let search = Search {
            runner: &self.bench.opened.runner,
            tree: Tree::Folder(self.problem.root.clone()),
            index: &snapshot.index,
            source_folders: self.bench.source_folders.clone(),
            targets,
            test_timeout: self.problem.test_timeout,
            run_timeout: RUN,
            trials: None,
            history: Some(self.problem.root.clone()),
            cancel: self.cancel,
        };
        search.run().await
    }

    /// The failure that is to be mended, if there is one that a change of the code can mend.
    fn failing(&self, found: &Found) -> Result<FailingTest, Fault> {
        let id = &self.problem.test;
        let Some(it) = found.failures.iter().find(|it| it.id == *id) else {
            let is_known = found.evidence.tests.iter().any(|it| it.id == *id);
            let what = if is_known { "passes" } else { "is not there" };
            let failing: Vec<&str> =
                found.failures.iter().take(5).map(|it| it.id.as_str()).collect();
            let hint = match failing[..] {
                [] => "no test fails".to_owned(),
                _ => format!("these fail: {}", failing.join(", ")),
            };
            return Err(Fault::input(format!("the test {id} {what}")).kind("noFailure").hint(hint));
        };
        let finding = found.diagnosis.as_ref();
        let not_code = finding.filter(|it| it.diagnosis == Diagnosis::Environment);
        if let Some(why) = not_code.filter(|_| found.failures.len() == 1) {
            return Err(Fault::new(
                Exit::NeedsHuman,
                format!("no change of the code mends {id}: {}", why.why),
            )
            .hint("mend the environment, then try again"));
        }
        if found.flaky.contains(id) {
            return Err(Fault::new(Exit::NeedsHuman, format!("{id} passes when it is run again"))
                .kind("flaky")
                .hint("a fix could not be told from luck; make the test steady first"));
        }
        Ok(FailingTest {
            id: id.clone(),
            message: format!("{}: {}", it.failure.exception, it.failure.message),
            path: it.failure.path.clone(),
            line: it.failure.line,
        })
    }

    fn question(&self, found: &Found, sources: &Tests<'_>) -> Repair {
        let test = self.problem.test.clone();
        let path = test.split("::").next().unwrap_or_default().to_owned();
        let of_test = found.evidence.tests.iter().find(|it| it.id == test);
        let failure = of_test.and_then(|it| it.failure.as_ref());
        let failure = failure.map(|it| match it.traceback.is_empty() {
            true => format!("{}: {}", it.exception, it.message),
            false => it.traceback.clone(),
        });
        let is_code = |it: &&Ranked| !found.evidence.files[it.file].is_test;
        let suspects = found.ranking.suspects.iter().filter(is_code).take(SUSPECTS);
        Repair {
            test,
            test_file: (path.clone(), sources.text(&path).unwrap_or_default()),
            failure: failure.unwrap_or_default(),
            suspects: suspects.map(|it| suspect(it, found, sources)).collect(),
            earlier: self.problem.earlier.clone(),
            complaint: None,
        }
    }

    /// What the model said, or why that is of no use.
    async fn ask(&self, repair: &Repair, attempt: u32) -> Result<Result<String, String>, Fault> {
        let ask = ask_repair(repair, attempt);
        let slip = Slip { id: &repair.test, journal: &self.journal, cancel: self.cancel };
        match self.desk.ask(slip, &ask, &mut StageCost::default()).await {
            Ok(Answer::Said(reply)) => Ok(Ok(reply.text)),
            Ok(Answer::CutOff { partial }) => Ok(Ok(partial)),
            Ok(Answer::Unusable(why)) => Ok(Err(why)),
            Ok(Answer::TooLong(why) | Answer::None(why)) => {
                Err(Fault::unavailable(format!("there is no answer to {}: {why}", repair.test))
                    .hint("try again, or with another model; nothing was changed"))
            }
            Err(Halt::Cancelled) => Err(cancelled()),
            Err(Halt::Fault(fault)) => Err(fault),
            Err(Halt::Budget(exhausted)) => Err(exhausted.into()),
            Err(Halt::Journal(error)) => Err(no_journal(error)),
        }
    }

    /// A proposal where the fix does, else why not.
    async fn tried(
        &self,
        found: &Found,
        test: &FailingTest,
        sources: &Tests<'_>,
        texts: BTreeMap<String, String>,
    ) -> Result<Result<Proposal, String>, Fault> {
        let changed = texts.iter().map(|(path, text)| (path.clone(), text.as_str().into()));
        let changed = changed.collect();
        let files: Vec<ProposedFile> = (texts.into_iter())
            .map(|(path, proposed)| ProposedFile { base: sources.text(&path), path, proposed })
            .collect();
        let affected = affected(found, &files);
        let Tried { failed, tests, report, notes } =
            self.bench.judge(&changed, &test.id, &affected).await?;
        notes.iter().for_each(|it| self.output.note(it));
        if let Some(why) = failed {
            let said: Vec<&str> = tests.iter().filter_map(|it| it.message.as_deref()).collect();
            let diff =
                files.iter().map(|it| code::unified_diff(&it.path, it.before(), &it.proposed));
            let diff: String = diff.collect();
            return Ok(Err(format!("{why} ({})\n{diff}", said.join("; "))));
        }
        let ids: Vec<String> = affected.iter().cloned().chain([test.id.clone()]).collect();
        let confidence = confidence(&files, &found.evidence, &found.ranking, &ids, &report);
        let reason = format!(
            "makes {} pass; {} of {} tests that it may affect pass with it",
            test.id,
            ids.iter().filter(|id| super::trial::passed(&report, id)).count(),
            ids.len()
        );
        Ok(Ok(Proposal::new(test.clone(), reason, confidence, affected, files)))
    }
}

/// Passing tests that execute a file which is changed; all of them where that cannot be told from the lines they execute.
fn affected(found: &Found, files: &[ProposedFile]) -> Vec<String> {
    let passing = found.evidence.tests.iter().filter(|it| !it.failed);
    let place = |path: &str| found.evidence.files.iter().position(|it| it.path == path);
    let places: Vec<usize> = files.iter().filter_map(|it| place(&it.path)).collect();
    let measured = found.evidence.tests.iter().any(|it| !it.failed && !it.lines.is_empty());
    let all = !measured || files.iter().any(changes_top_level);
    let reaches = |it: &&cycle::localize::TestEvidence| {
        all || places.iter().any(|place| it.lines.get(place).is_some_and(|it| !it.is_empty()))
    };
    passing.filter(reaches).map(|it| it.id.clone()).collect()
}

/// A suspect with its text.
fn suspect(it: &Ranked, found: &Found, sources: &Tests<'_>) -> Suspect {
    let file = &found.evidence.files[it.file];
    let text = sources.text(&file.path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let function = file.facts.functions.iter().find(|function| function.name == it.symbol);
    let whole = function.map(|it| (it.first as usize - 1, it.last as usize));
    let whole = whole.filter(|(first, end)| end - first <= WHOLE);
    let line = it.line as usize;
    let (first, end) = whole.unwrap_or((line.saturating_sub(AROUND + 1), line + AROUND));
    let end = end.min(lines.len());
    let first = first.min(end);
    Suspect {
        path: file.path.clone(),
        line: first as u32 + 1,
        symbol: it.symbol.clone(),
        score: it.score,
        why: it.why.clone(),
        source: lines[first..end].join("\n"),
        ..Suspect::default()
    }
}

fn no_journal(error: std::io::Error) -> Fault {
    Fault::internal(format!("cannot write the journal: {error}"))
        .hint("make `.trellis` writable, and room on the disk; nothing was changed")
}
