//! One run of the workflow, from the checks to the written files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use trellis_engine::write_tests::{
    MergedTestFile, PreviousTests, Style, Subject, WrittenTests, ask_write_tests, insert_tests,
    written_tests,
};
use trellis_engine::{Policy, Reply};
use trellis_sandbox::{Report, Request, Tree};

use super::WriteTestsRequest;
use super::context::{Project, framework, subject};
use super::files::{existing, missing, write};
use super::keep::{TestDraft, base_hash};
use super::locate::{Target, test_path, tests_dir};
use super::registry::{self, LastRun, Mapping};
use super::report::WriteTestsReport;
use super::results;
use super::testpaths::TestPaths;
use crate::fault::{Fault, of_newer};
use crate::llm_client::{CallContext, Completion, LlmClient};
use crate::models;
use crate::reporter::{Progress, Reporter};
use crate::sandbox::RAISED_BY;
use crate::sandbox::{self, Packages, Sandbox};
use trellis_project::sources::read_at;
use trellis_store::cost::StageCost;
use trellis_store::disk;
use trellis_store::error::StoreError;
use trellis_store::journal::{Event, Journal};
use trellis_store::origin::{Origin, Workflow};

/// Maximum number of replies to send back (T9).
const RETRIES: u32 = 2;
/// Maximum number of times to merge the tests into a file that someone else keeps changing.
const PLACINGS: u32 = 3;
pub(super) struct Job {
    target: Target,
    project: Project,
    subject: Subject,
    framework: Style,
    /// Path of the test file, below the root.
    path: String,
    /// Support files that do not exist yet.
    support: Vec<(String, String)>,
    llm: LlmClient,
    journal: Journal,
    /// Holds the journal of a preview.
    _scratch: Option<TempDir>,
    sandbox: Sandbox,
    cancel: CancellationToken,
    reporter: Reporter,
    began: SystemTime,
    preview: bool,
    replace_edited: bool,
    test_timeout: Duration,
    run_timeout: Option<Duration>,
    warnings: Vec<String>,
}

/// Tests in their file, and the result of running them.
struct TestedReply {
    written: WrittenTests,
    /// The file's text before.
    before: String,
    placed: MergedTestFile,
    report: Report,
}

impl Job {
    /// Checks everything that can be wrong before the first model request.
    pub(super) async fn open(
        order: WriteTestsRequest,
        reporter: &Reporter,
        cancel: CancellationToken,
    ) -> Result<Job, Fault> {
        let target = Target::find(&order)?;
        let config = models::config(&target.root)?;
        let tests_dir = tests_dir(order.tests_dir.as_deref().or(config.tests_dir.as_deref()))?;
        let project = Project::look(&target.root, &tests_dir);
        let (registry, warning) = registry::read(&target.root)?;
        let path = test_path(&target.path, &project.sources, &tests_dir, &registry);
        if let Err(error) = trellis_python::check(&existing(&target.root, &path)?) {
            return Err(Fault::input(format!("{path} has a syntax error: {error}"))
                .hint("fix it first; nothing was written"));
        }
        let framework = framework(order.framework, &target.root);
        let subject =
            subject(&target, &project, framework, &path, &tests_dir, &config.conventions)?;
        let tokens = Policy::write_tests().context_tokens;
        let llm = LlmClient::open(&order.model, &config, tokens, reporter)?;
        let (journal, scratch) = journal(&target.root, order.preview)?;
        let sandbox =
            sandbox::open(&order.sandbox, &target.root, Packages::Project, reporter).await?;
        Ok(Job {
            support: missing(&target, &tests_dir, framework),
            target,
            project,
            subject,
            framework,
            path,
            llm,
            journal,
            _scratch: scratch,
            sandbox,
            cancel,
            reporter: reporter.clone(),
            began: SystemTime::now(),
            preview: order.preview,
            replace_edited: order.replace_edited,
            test_timeout: order.test_timeout,
            run_timeout: order.run_timeout,
            warnings: warning.into_iter().collect(),
        })
    }

    pub(super) async fn run(mut self, reporter: &Reporter) -> Result<WriteTestsReport, Fault> {
        reporter.note(format_args!("prompting {} for tests of {}", self.model(), self.target.id()));
        let result = self.all().await;
        let left = self.sandbox.runner.close().await;
        self.sandbox.runner.engines_used().into_iter().for_each(|it| reporter.note(it));
        let mut generated = result?;
        generated.warnings.extend(left);
        Ok(generated)
    }

    /// Reports the results of the tests that are now in the project.
    fn report_tests(&self, report: &Report) {
        let root = &self.target.root;
        let support = self.support.iter().map(|it| it.0.clone());
        let written: Vec<String> = support.chain([self.path.clone()]).collect();
        let text_of = Some(read_at(root, self.began, &written));
        let tests = report.tests.iter();
        tests.for_each(|test| self.reporter.emit(Progress::Test { root, test, text_of }));
    }

    fn model(&self) -> String {
        self.llm.models.name()
    }

    async fn all(&mut self) -> Result<WriteTestsReport, Fault> {
        let mut tried = self.tests().await?;
        let (outcome, reason) = results::outcome(&tried.report)?;
        let is_collected = outcome != "collectionError";
        let mut written = false;
        if is_collected && !self.preview {
            tried = self.keep(tried, outcome).await?;
            self.report_tests(&tried.report);
            written = true;
        } else if !is_collected {
            self.warnings.push(
                "nothing was written: pytest cannot collect the tests, and they would stop \
                 other tests in their file from running"
                    .to_owned(),
            );
        }
        self.say_what_is_odd(&tried);
        let paths = TestPaths::of(&self.target.root).filter(|it| !it.contains(&self.path));
        if let Some(it) = paths.as_ref().filter(|_| written) {
            let (file, path) = (it.file, &self.path);
            self.warnings.push(format!(
                "plain `pytest` does not run {path}: `testpaths` in {file} lists other folders; \
                 add its folder there"
            ));
        }
        let draft = (is_collected && !written).then(|| self.draft(&tried, outcome));
        Ok(WriteTestsReport {
            left_out_by: paths.map(|it| it.file.to_owned()),
            function: self.target.id(),
            root: self.target.root.clone(),
            diff: trellis_python::unified_diff(&self.path, &tried.before, &tried.placed.text),
            path: self.path.clone(),
            source: tried.placed.text,
            test_names: tried.placed.test_names,
            framework: self.framework,
            model: self.model(),
            warnings: std::mem::take(&mut self.warnings),
            outcome: outcome.to_owned(),
            reason,
            tests: tried.report.tests.iter().map(results::test).collect(),
            errors: tried.report.collection_errors.iter().map(results::failure).collect(),
            written,
            draft,
        })
    }

    fn draft(&self, tried: &TestedReply, outcome: &str) -> TestDraft {
        TestDraft {
            base_hash: base_hash(&tried.before),
            items: tried.placed.items.clone(),
            support: self.support.iter().cloned().collect(),
            outcome: outcome.to_owned(),
        }
    }

    fn say_what_is_odd(&mut self, tried: &TestedReply) {
        self.warnings.extend(tried.written.notes.iter().cloned());
        if tried.written.too_few().is_some() {
            self.warnings.push(format!(
                "the model wrote only {}",
                trellis_os::wording::counted(tried.written.cases, "test", "tests")
            ));
        }
        let kept = tried.placed.kept.iter().map(|name| {
            format!(
                "`{name}` was edited after it was generated, and is kept; replace it with \
                 --replace-edited"
            )
        });
        self.warnings.extend(kept);
        self.warnings.extend(tried.report.notes.iter().cloned());
    }

    /// Sends requests until there are enough tests that can run.
    async fn tests(&mut self) -> Result<TestedReply, Fault> {
        let (mut complaint, mut best): (Option<(String, String)>, Option<TestedReply>) =
            (None, None);
        for attempt in 0..=RETRIES {
            let is_good = best.as_ref().is_some_and(|it| self.broken(it).is_none());
            let (why, old) = match self.ask(complaint.as_ref(), attempt).await? {
                Reply::Text(reply) => match written_tests(&self.subject, &reply) {
                    Ok(written) => {
                        let tried = self.attempt(written).await?;
                        let broken = self.broken(&tried);
                        if is_good && broken.is_some() {
                            break;
                        }
                        // More tests are requested once; after that, any number is enough.
                        let too_few = tried.written.too_few().filter(|_| best.is_none());
                        best = Some(tried);
                        match broken.or(too_few) {
                            Some(why) => (why, without_fences(&reply)),
                            None => break,
                        }
                    }
                    Err(why) => (why, without_fences(&reply)),
                },
                Reply::Unusable { why } => (why, String::new()),
                Reply::Failed { reason } if best.is_none() => return Err(self.no_tests(&reason)),
                Reply::Failed { .. } | Reply::Edited(_) => break,
            };
            if is_good {
                break;
            }
            complaint = Some((why, old));
        }
        let why = complaint.map(|(why, _)| why).unwrap_or_default();
        best.ok_or_else(|| self.no_tests(&format!("the last of {} replies: {why}", RETRIES + 1)))
    }

    fn no_tests(&self, why: &str) -> Fault {
        let (model, id) = (self.model(), self.target.id());
        Fault::unavailable(format!("{model} wrote no usable tests for {id}: {why}"))
            .hint("nothing was written; run again, or use another --model")
    }

    /// Returns the reason that tests cannot be collected, if the test file itself is to blame. The
    /// model could not fix a module of the project that cannot be imported.
    fn broken(&self, tried: &TestedReply) -> Option<String> {
        let errors = tried.report.collection_errors.iter();
        let mut own = errors.filter(|it| it.path.as_deref() == Some(self.path.as_str()));
        own.next().map(|it| format!("they cannot be collected: {}: {}", it.exception, it.message))
    }

    async fn ask(
        &self,
        complaint: Option<&(String, String)>,
        attempt: u32,
    ) -> Result<Reply, Fault> {
        let complaint = complaint.map(|(why, old)| (why.as_str(), old.as_str()));
        let ask = ask_write_tests(&self.subject, complaint, attempt);
        let id = self.target.id();
        let call = CallContext { id: &id, journal: &self.journal, cancel: &self.cancel };
        let completion = self.llm.ask(call, &ask, &mut StageCost::default()).await;
        completion.map(Completion::into_reply).map_err(|error| error.into_fault(results::cancelled))
    }

    /// Merges tests into the current file and runs them on a copy of the project.
    async fn attempt(&self, written: WrittenTests) -> Result<TestedReply, Fault> {
        let before = existing(&self.target.root, &self.path)?;
        let placed = self.place(&before, &written)?;
        let mut changed: BTreeMap<String, Arc<str>> = BTreeMap::new();
        let support = self.support.iter().map(|(path, text)| (path.clone(), text.as_str().into()));
        changed.extend(support);
        changed.insert(self.path.clone(), placed.text.as_str().into());
        let targets = placed.test_names.iter().map(|name| format!("{}::{name}", self.path));
        let installed = self.sandbox.is_projects_own;
        let folders = if installed { Vec::new() } else { self.target.source_folders.clone() };
        let tree = Tree::Copy { folder: self.target.root.clone(), changed };
        let usual = self.sandbox.runner.request(tree);
        let request = Request {
            targets: targets.collect(),
            source_folders: folders,
            test_timeout: self.test_timeout,
            run_timeout: self.run_timeout.unwrap_or(usual.run_timeout),
            raised_by: RAISED_BY,
            ..usual
        };
        let report = self.sandbox.runner.run(&request, &self.cancel).await;
        results::outcome(&report)?;
        Ok(TestedReply { written, before, placed, report })
    }

    fn place(&self, before: &str, written: &WrittenTests) -> Result<MergedTestFile, Fault> {
        let (registry, _) = registry::read(&self.target.root)?;
        let known = registry.get(&self.target.id()).filter(|it| it.test_file == self.path);
        let items = known.map(|it| it.items).unwrap_or_default();
        let hash = |text: &str| disk::hash(text);
        let earlier =
            PreviousTests { items: &items, hash: &hash, replace_edited: self.replace_edited };
        let is_local = |name: &str| self.project.is_local(&self.target, name);
        let suffix = self.subject.suffix();
        insert_tests(before, &written.fragment, earlier, &suffix, &is_local).map_err(|error| {
            Fault::input(format!("the tests do not fit into {}: {error}", self.path))
                .hint("nothing was written; check that file, or choose another --tests-dir")
        })
    }

    /// Writes the files if they are unchanged since the tests were merged into them; merges again
    /// otherwise.
    async fn keep(&mut self, mut tried: TestedReply, outcome: &str) -> Result<TestedReply, Fault> {
        for _ in 0..PLACINGS {
            if self.write(&tried, outcome)? {
                return Ok(tried);
            }
            tried = self.attempt(tried.written).await?;
        }
        Err(Fault::input(format!("{} changes again and again", self.path))
            .hint("nothing was written; try again when no one edits it"))
    }

    /// Writes the files and the registry. Returns false if the test file was changed meanwhile.
    fn write(&mut self, tried: &TestedReply, outcome: &str) -> Result<bool, Fault> {
        let root = self.target.root.clone();
        let mapping = Mapping {
            test_file: self.path.clone(),
            test_names: tried.placed.test_names.clone(),
            generated_at: registry::now(),
            last_run: Some(LastRun::now(outcome)),
            items: tried.placed.items.clone(),
        };
        let (done, warning) = registry::update(&root, |registry| {
            if existing(&root, &self.path)? != tried.before {
                return Ok(false);
            }
            for (path, text) in &self.support {
                existing(&root, path)?;
                write(&root, path, text)?;
            }
            write(&root, &self.path, &tried.placed.text)?;
            registry.put(&self.target.id(), &mapping);
            Ok(true)
        })?;
        self.warnings.extend(warning);
        if done {
            let event = Event::TestsWritten {
                function: self.target.id(),
                path: self.path.clone(),
                hash: disk::hash(&tried.placed.text),
                tests: tried.placed.test_names.clone(),
                outcome: outcome.to_owned(),
            };
            self.journal.commit(event).map_err(|e| {
                Fault::internal(format!("the tests are written, but the journal is not: {e}"))
            })?;
        }
        Ok(done)
    }
}

/// Opens the project's journal; for a preview in a project without one, a temporary journal.
fn journal(root: &Path, preview: bool) -> Result<(Journal, Option<TempDir>), Fault> {
    let cannot = |e: std::io::Error| {
        let other = || Fault::internal(format!("cannot open the journal: {e}"));
        of_newer(&e).unwrap_or_else(other)
    };
    if let Some(link) = disk::symlink_on_the_way(root, ".trellis/journal.jsonl") {
        return Err(
            StoreError::SymbolicLink { path: ".trellis/journal.jsonl".to_owned(), link }.into()
        );
    }
    let leaves_no_trace = preview && !root.join(".trellis").is_dir();
    let scratch = leaves_no_trace.then(tempfile::tempdir).transpose().map_err(cannot)?;
    let place: PathBuf = scratch.as_ref().map_or(root, |it| it.path()).to_owned();
    disk::ensure(&place).map_err(cannot)?;
    let (journal, _) =
        Journal::open(&place, Origin::create(Workflow::WriteTests)).map_err(cannot)?;
    Ok((journal, scratch))
}

fn without_fences(reply: &str) -> String {
    let lines = reply.lines().filter(|it| !it.trim_start().starts_with("```"));
    lines.collect::<Vec<_>>().join("\n")
}
