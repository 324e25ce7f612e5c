//! Prepares a run and finds everything that can be wrong before the first model request.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, watch};
use trellis_engine::approval::Mode;
use trellis_engine::{FixWith, Policy, ToolStats, VoteRule};
use trellis_plan::{Dialect, NodeIx, Plan, Schedule};

use crate::budget::Spent;
use crate::convert::check_python;
use crate::fault::Fault;
use crate::generate::dispatcher::{Channels, Dispatcher};
use crate::generate::install;
use crate::generate::items::WorkGraph;
use crate::generate::progress::RunProgress;
use crate::generate::recover::{
    has_files, kept_before, note_on_files, open_git, recover, refuse_removed, resume, unmanaged,
    users_files,
};
use crate::generate::worker::{Approvals, RunContext};
use crate::job_control::JobControl;
use crate::llm_client::LlmClient;
use crate::llm_session::no_journal;
use crate::models::{self, ModelArgs};
use crate::plan_search::SemanticPlanSearch;
use crate::proposals;
use crate::reporter::{Progress, Reporter};
use crate::sandbox::{self, Packages, SandboxArgs};
use trellis_project::plan_file;
use trellis_store::error::StoreError;
use trellis_store::journal::{Event, Journal};
use trellis_store::lock::Lock;
use trellis_store::origin::Workflow;
use trellis_store::{Writer, checkpoint, disk};

/// A request to generate a repository.
#[derive(Debug)]
pub struct GenerateRequest {
    pub graph: PathBuf,
    pub out: PathBuf,
    pub dialect: Option<Dialect>,
    pub model: ModelArgs,
    pub sandbox: SandboxArgs,
    pub jobs: usize,
    pub batch: usize,
    pub start_from: Option<String>,
    /// Runs only this node and its dependents.
    pub only: Option<String>,
    pub context: Vec<PathBuf>,
    pub spec: Option<PathBuf>,
    pub keep_edits: bool,
    pub drop_removed: bool,
    pub fix_with: FixWith,
    /// Number of diagnoses to request per failure, if it was set.
    pub votes: Option<u32>,
    /// The fixes that a person must approve.
    pub approve: Mode,
    pub test_timeout: Duration,
    /// The options of this request, for a later start to resume with.
    pub options: serde_json::Value,
}

/// Checks everything, locks the folder, and lays out the remaining work.
pub(super) async fn open(
    order: GenerateRequest,
    control: JobControl,
    reporter: &Reporter,
) -> Result<(Dispatcher, Channels), Fault> {
    let plan = Arc::new(plan_file::read_sound(&order.graph, order.dialect)?);
    reporter.note(format_args!(
        "{}: {} dialect, {}",
        order.graph.display(),
        plan.dialect(),
        trellis_os::wording::counted(plan.nodes().len(), "node", "nodes")
    ));
    plan.warnings().iter().for_each(|warning| reporter.note(format_args!("warning: {warning}")));
    let sequence = trellis_plan::order(&plan);
    let work = WorkGraph::new(plan.clone(), &sequence.sequence);
    let start_from = order.start_from.as_deref().map(|id| leaf(&plan, id)).transpose()?;
    let only = order.only.as_deref().map(|id| leaf(&plan, id)).transpose()?;
    let context = context(&order.context)?;
    if let Some(spec) = &order.spec {
        let cannot = |e| {
            Fault::input(trellis_os::wording::cannot_read(
                format_args!("the specification {}", spec.display()),
                &e,
            ))
        };
        fs::metadata(spec).map_err(cannot)?;
    }
    check_recording(&order, reporter)?;
    let config = models::config(&order.out)?;
    let usual = Policy::generate();
    let llm = LlmClient::open(&order.model, &config, usual.context_tokens, reporter)?;

    let had_files = !Journal::path(&order.out).exists() && has_files(&order.out);
    let root = prepare_folder(&order.out)?;
    let lock = Lock::take(&root)?;
    Journal::refuse_newer(&root).map_err(no_journal)?;
    refuse_symlinks(&root, &work)?;
    let needs = Packages::Lines(libraries(&work));
    let sandbox = sandbox::open(&order.sandbox, &root, needs, reporter).await?;
    let cannot = |e: std::io::Error| Fault::internal(format!("cannot use {}: {e}", root.display()));
    disk::reserve_space(&root).map_err(|e| full_or(e, &root))?;
    let (mut journal, mut past) =
        Journal::open(&root, control.origin(Workflow::Generate)).map_err(cannot)?;
    let of_journal = reporter.clone();
    journal.subscribe(Box::new(move |event| of_journal.emit(Progress::Journaled(event))));
    recover(&root, &journal, &mut past, reporter).map_err(cannot)?;
    if !order.drop_removed {
        refuse_removed(&plan, &past)?;
    }
    let had_git = root.join(".git").exists();
    let git = open_git(&root, &journal, reporter);
    let mut writer = Writer::new(&root, past.written.clone(), check_python);
    let mut kept = kept_before(&past);
    let new_edits = users_files(&root, &mut writer, &work, &past, &journal, order.keep_edits)?;
    let head = || git.as_ref()?.run(&["symbolic-ref", "--short", "HEAD"]).ok();
    let branch = head().filter(|_| had_git);
    let branch = branch.as_deref().map(str::trim);
    if had_files {
        reporter.note(note_on_files(&root, branch, order.keep_edits));
    }
    let has_new_edits = !new_edits.is_empty();
    kept.extend(new_edits);

    log(
        &journal,
        Event::Started {
            graph: order.graph.display().to_string(),
            dialect: plan.dialect().to_string(),
            model: llm.models.name(),
            jobs: order.jobs,
            options: order.options.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
    )?;
    log(
        &journal,
        Event::Ordered {
            rule: "dependencies first; among ready nodes, the smallest id".to_owned(),
            nodes: work.leaves.iter().map(|ix| plan.id(*ix).to_owned()).collect(),
        },
    )?;
    for warning in &work.warnings {
        reporter.note(format_args!("warning: {warning}"));
    }

    let cached = std::mem::take(&mut past.cached);
    let approve_fixes = order.approve != Mode::Autonomous;
    let votes = order.votes.map_or(usual.votes, VoteRule::Exactly);
    let policy = Policy { fix_with: order.fix_with, approve_fixes, votes, ..usual };
    let spent = Spent { tokens: past.spent.0, usd: past.spent.1 as f64 / 1e9 };
    let mut schedule = Schedule::new(plan.clone(), sequence);
    let chains = work.chains();
    schedule.set_urgency(|ix| chains.get(&ix).copied());
    let resumed = resume(&work, &mut schedule, &past, &kept);
    resumed.report(&work, &past, &journal, reporter)?;
    if let Some(node) = start_from {
        start(&mut schedule, &journal, &plan, node)?;
    }
    if let Some(node) = only {
        let before = checkpoint::read(&root).map_err(cannot)?;
        retry(&mut schedule, &plan, node, &before)?;
    }
    let slots = Arc::new(Semaphore::new(order.jobs));
    let (freed, wake) = mpsc::unbounded_channel();
    let (accepted_sender, accepted_receiver) = watch::channel(resumed.accepted_drafts);
    let progress = RunProgress::new(schedule.counts().settled(), schedule.counts().total);
    let user_files = unmanaged(&root, &writer, &kept);
    let run_context = RunContext {
        root: root.clone(),
        graph: SemanticPlanSearch::of(&plan),
        tools: Mutex::new(ToolStats::default()),
        work,
        policy,
        llm: llm.resuming(spent, cached),
        runner: sandbox.runner,
        interpreter: sandbox.interpreter,
        _scratch: sandbox.scratch,
        journal,
        test_timeout: order.test_timeout,
        user_files,
        kept: kept.into_iter().map(|(path, kept)| (path, kept.text)).collect(),
        context,
        conventions: config.conventions.clone(),
        slots,
        cancel: control.cancel.clone(),
        control,
        reporter: reporter.clone(),
        approvals: approve_fixes.then(|| approvals(&root, order.approve, reporter)),
        freed,
    };
    let owner = Dispatcher::new(
        run_context,
        schedule,
        accepted_sender,
        writer,
        git,
        root,
        order,
        resumed.accepted,
        resumed.unproven,
        past,
        lock,
        progress,
        has_new_edits,
    );
    Ok((owner, Channels { accepted_drafts: accepted_receiver, wake }))
}

/// Returns the approvals that present fixes to an attending person. Otherwise the proposals wait in
/// the folder for a later start.
fn approvals(root: &Path, mode: Mode, reporter: &Reporter) -> Approvals {
    let (is_attended, reporter, shown) =
        (reporter.is_attended(), reporter.clone(), root.to_owned());
    let reported = move |state: proposals::State, id: &str| {
        reporter.emit(Progress::Proposal { root: &shown, id, state: state.as_str() });
    };
    Approvals { mode, waiting: proposals::PendingProposals::new(root, reported), is_attended }
}

pub(super) fn log(journal: &Journal, event: Event) -> Result<(), Fault> {
    journal.commit(event).map_err(|e| Fault::internal(format!("cannot write the journal: {e}")))
}

fn full_or(error: std::io::Error, root: &Path) -> Fault {
    let fault = Fault::internal(format!("cannot write in {}: {error}", root.display()));
    if disk::is_full(&error) {
        fault.hint("the disk is full: free some space and run again")
    } else {
        fault
    }
}

fn leaf(plan: &Plan, id: &str) -> Result<NodeIx, Fault> {
    match plan.find(id) {
        Some(ix) if plan.node(ix).is_leaf() => Ok(ix),
        Some(_) => {
            Err(Fault::input(format!("--start-from-node {id}: that node only groups others"))
                .hint("give the id of a leaf"))
        }
        None => {
            let near: Vec<&str> = plan.near(id, 3).into_iter().map(|ix| plan.id(ix)).collect();
            let hint = trellis_plan::did_you_mean(&near)
                .unwrap_or_else(|| "`trellis plan order` lists the ids".to_owned());
            Err(Fault::input(format!("--start-from-node {id}: the graph has no such node"))
                .hint(hint))
        }
    }
}

fn start(
    schedule: &mut Schedule,
    journal: &Journal,
    plan: &Plan,
    node: NodeIx,
) -> Result<(), Fault> {
    let skipped = schedule.start_from(node).map_err(|unmet| {
        Fault::input(format!(
            "cannot start from {}: its dependencies {} have not passed",
            unmet.node,
            unmet.unmet.join(", ")
        ))
        .hint("start from one of those, or run without --start-from-node")
    })?;
    for skip in skipped {
        let node = plan.id(skip.node).to_owned();
        log(
            journal,
            Event::State { node, status: "skipped".to_owned(), reason: skip.reason, cause: None },
        )?;
    }
    Ok(())
}

/// Schedules only a node and its dependents; all others keep their state from the checkpoint.
fn retry(
    schedule: &mut Schedule,
    plan: &Plan,
    node: NodeIx,
    before: &checkpoint::Found,
) -> Result<(), Fault> {
    let id = plan.id(node);
    if schedule.status(node) == Some(trellis_plan::Status::Passed) {
        return Err(Fault::input(format!("{id} has passed; there is nothing to retry"))
            .hint("`trellis rollback` reverts accepted code"));
    }
    let stood = |ix: NodeIx| match before {
        checkpoint::Found::Good(entries) => {
            let entry = entries.get(plan.id(ix))?;
            Some((trellis_plan::Status::parse(&entry.status)?, entry.failure_reason.clone()?))
        }
        _ => None,
    };
    schedule.retry(node, stood).map_err(|unmet| {
        let unmet = unmet.unmet.join(", ");
        Fault::input(format!("cannot retry {id}: its dependencies {unmet} have not passed"))
            .hint("retry one of those; the nodes that depend on it run as well")
    })
}

fn context(paths: &[PathBuf]) -> Result<Vec<(String, String)>, Fault> {
    let read = |path: &PathBuf| {
        let text = trellis_os::files::read_text(path).map_err(|e| {
            Fault::input(trellis_os::wording::cannot_read(
                format_args!("the context file {}", path.display()),
                &e,
            ))
        })?;
        Ok((path.display().to_string(), text))
    };
    paths.iter().map(read).collect()
}

/// Checks that a recording starts with this run. A recording holds exactly one whole run, or its
/// replay would be a different run.
fn check_recording(order: &GenerateRequest, reporter: &Reporter) -> Result<(), Fault> {
    let Some(path) = order.model.record() else { return Ok(()) };
    let is_resumed = Journal::path(&order.out).exists();
    let is_begun = fs::metadata(path).is_ok_and(|it| it.len() > 0);
    let shown = path.display();
    match (is_resumed, is_begun) {
        (false, true) => Err(Fault::input(format!("{shown} already contains a recording"))
            .hint("give --record a new file, or move this one away")),
        (true, false) => {
            reporter.note(format_args!(
                "warning: {shown} misses the replies of earlier starts of this run, so it \
                 cannot be replayed from the beginning"
            ));
            Ok(())
        }
        _ => Ok(()),
    }
}

fn prepare_folder(out: &Path) -> Result<PathBuf, Fault> {
    let cannot = |e: std::io::Error| {
        let fault = Fault::input(format!(
            "cannot use {} as the output folder: {}",
            out.display(),
            trellis_os::wording::reason(&e)
        ));
        fault.hint("give --out a writable folder")
    };
    fs::create_dir_all(out).map_err(cannot)?;
    let root = out.canonicalize().map_err(cannot)?;
    for folder in [".trellis", "docs"] {
        if let Some(link) = disk::symlink_on_the_way(&root, folder) {
            return Err(StoreError::SymbolicLink { path: folder.to_owned(), link }.into());
        }
    }
    disk::create(&root, "tmp").map_err(|e| full_or(e, &root))?;
    Ok(root)
}

fn refuse_symlinks(root: &Path, work: &WorkGraph) -> Result<(), Fault> {
    for item in work.items.values() {
        for path in [&item.path, &item.test_path] {
            if let Some(link) = disk::symlink_on_the_way(root, path) {
                return Err(StoreError::SymbolicLink { path: path.clone(), link }.into());
            }
        }
    }
    Ok(())
}

/// Returns the requirement lines for libraries that the plan names, and those of the install check.
fn libraries(work: &WorkGraph) -> Vec<String> {
    let items = work.items.values().flat_map(|item| item.libraries.iter());
    let mut lines: Vec<String> = items.filter(|it| !is_standard(it)).cloned().collect();
    lines.extend(install::NEEDED.map(str::to_owned));
    lines.sort();
    lines.dedup();
    lines
}

fn is_standard(library: &str) -> bool {
    let name = trellis_engine::assembly::library_name(library);
    trellis_python::standard_library::is_stdlib(name.split('.').next().unwrap_or(name))
}
