//! Everything that can be wrong is found here, before the first question to a model.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cycle::{Draft, Policy};
use model::Settings;
use plan::{Dialect, NodeIx, Plan, Schedule};
use run::{Config, Runner, python};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::error::Fault;
use crate::grow::items::Work;
use crate::grow::owner::{Owner, Receivers};
use crate::grow::progress::Progress;
use crate::grow::shelf::Shelf;
use crate::grow::worker::Shop;
use crate::output::Output;
use crate::workspace::git::Git;
use crate::workspace::journal::{Accepted, Event, Journal, Past};
use crate::workspace::lock::Lock;
use crate::workspace::{Writer, checkpoint, disk};

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) graph: PathBuf,
    pub(crate) out: PathBuf,
    pub(crate) dialect: Option<Dialect>,
    pub(crate) model: Option<String>,
    pub(crate) record: Option<PathBuf>,
    pub(crate) replay_latency: bool,
    pub(crate) jobs: usize,
    pub(crate) batch: usize,
    pub(crate) start_from: Option<String>,
    pub(crate) context: Vec<PathBuf>,
    pub(crate) spec: Option<PathBuf>,
    pub(crate) keep_edits: bool,
    pub(crate) test_timeout: Duration,
}

/// Reads and checks a plan; any problem ends the run before it begins.
pub(crate) fn plan(path: &Path, dialect: Option<Dialect>) -> Result<Plan, Fault> {
    let bytes = fs::read(path).map_err(|e| {
        Fault::input(format!("cannot read the graph {}: {e}", path.display()))
            .hint("give the path of an RPG JSON file")
    })?;
    let plan = plan::read(&bytes, dialect).map_err(|error| {
        let fault = Fault::input(format!("{} is no planning graph: {error}", path.display()));
        fault.hint(error.hint.as_deref().unwrap_or("mend the file; nothing was started"))
    })?;
    let problems = plan::check(&plan);
    if problems.is_empty() {
        return Ok(plan);
    }
    let lines: Vec<String> =
        problems.iter().map(|problem| format!("  {problem}\n    {}", problem.hint)).collect();
    let count = problems.len();
    let noun = if count == 1 { "problem" } else { "problems" };
    Err(Fault::input(format!("{} has {count} {noun}:\n{}", path.display(), lines.join("\n")))
        .hint("mend the graph; nothing was started"))
}

/// Checks everything, takes the folder, and lays out the work that is left.
pub(crate) async fn open(order: Order, output: &Output) -> Result<(Owner, Receivers), Fault> {
    let plan = Arc::new(plan(&order.graph, order.dialect)?);
    output.note(format_args!(
        "{}: {} dialect, {} nodes",
        order.graph.display(),
        plan.dialect(),
        plan.nodes().len()
    ));
    plan.warnings().iter().for_each(|warning| output.note(format_args!("warning: {warning}")));
    let sequence = plan::order(&plan);
    let work = Work::new(plan.clone(), &sequence.sequence);
    let start_from = order.start_from.as_deref().map(|id| leaf(&plan, id)).transpose()?;
    let context = context(&order.context)?;
    let model = model(&order)?;

    let root = prepare_folder(&order.out)?;
    let lock = Lock::take(&root)?;
    refuse_symlinks(&root, &work)?;
    let python = python(&root, &work, output).await?;
    let cannot = |e: std::io::Error| Fault::internal(format!("cannot use {}: {e}", root.display()));
    disk::reserve(&root).map_err(|e| full_or(e, &root))?;
    let (journal, mut past) = Journal::open(&root).map_err(cannot)?;
    recover(&root, &journal, &mut past, output).map_err(cannot)?;
    let git = open_git(&root, &journal, output);
    let mut writer = Writer::new(&root, past.written.clone());
    let mut kept: BTreeMap<String, String> =
        past.kept.iter().map(|(path, (text, _))| (path.clone(), text.clone())).collect();
    kept.extend(users_files(&root, &mut writer, &work, &past, &journal, order.keep_edits)?);

    log(
        &journal,
        Event::Started {
            graph: order.graph.display().to_string(),
            dialect: plan.dialect().to_string(),
            model: model.name().to_owned(),
            jobs: order.jobs,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
    )?;
    log(
        &journal,
        Event::Ordered {
            rule:
                "what others need first, what nothing needs last, smallest id among what is ready"
                    .to_owned(),
            nodes: work.leaves.iter().map(|ix| plan.id(*ix).to_owned()).collect(),
        },
    )?;
    for warning in &work.warnings {
        output.note(format_args!("warning: {warning}"));
    }

    let mut schedule = Schedule::new(plan.clone(), sequence);
    let (shelf, accepted) = resume(&work, &mut schedule, &past, &kept, output);
    if let Some(node) = start_from {
        start(&mut schedule, &journal, &plan, node)?;
    }
    let runner = Runner::new(python, Config::from_environment());
    let slots = Arc::new(Semaphore::new(order.jobs));
    let (freed, wake) = mpsc::unbounded_channel();
    let (shelf_sender, shelf_receiver) = watch::channel(shelf);
    let progress = Progress::new(schedule.counts().settled(), schedule.counts().total);
    let user_files = unmanaged(&root, &writer, &kept);
    let shop = Shop {
        work,
        policy: Policy::generate(),
        model,
        runner,
        journal,
        test_timeout: order.test_timeout,
        user_files,
        kept,
        context,
        slots,
        cancel: CancellationToken::new(),
        freed,
    };
    let owner = Owner::new(
        shop,
        schedule,
        shelf_sender,
        writer,
        git,
        root,
        order,
        accepted,
        past,
        lock,
        progress,
    );
    Ok((owner, Receivers { shelf: shelf_receiver, wake }))
}

fn log(journal: &Journal, event: Event) -> Result<(), Fault> {
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
                .hint("name a leaf"))
        }
        None => {
            let near: Vec<&str> = plan.near(id, 3).into_iter().map(|ix| plan.id(ix)).collect();
            Err(Fault::input(format!("--start-from-node {id}: the graph has no such node"))
                .hint(format!("near it: {}", near.join(", "))))
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
        log(journal, Event::State { node, status: "skipped".to_owned(), reason: skip.reason })?;
    }
    Ok(())
}

fn context(paths: &[PathBuf]) -> Result<Vec<(String, String)>, Fault> {
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).map_err(|e| {
            Fault::input(format!("cannot read the context file {}: {e}", path.display()))
        })?;
        Ok((path.display().to_string(), text))
    };
    paths.iter().map(read).collect()
}

/// `--model`, or the variable; none is an error that says how to get one.
fn model(order: &Order) -> Result<model::Model, Fault> {
    let name = order.model.clone().or_else(|| std::env::var("TRELLIS_MODEL").ok());
    let Some(name) = name else {
        return Err(Fault::unavailable("no model is configured").hint(format!(
            "give --model or set TRELLIS_MODEL; known are {}. Without a model of your own, `cargo xtask demo` \
             grows the fixture from a recording",
            model::PROVIDERS.join(", ")
        )));
    };
    let settings = Settings {
        replay_latency: order.replay_latency,
        record: order.record.clone(),
        ..Settings::default()
    };
    model::open(&name, &settings, |variable| std::env::var(variable).ok()).map_err(|error| {
        let fault = match error {
            model::OpenError::Malformed { .. } => Fault::input(&error),
            _ => Fault::unavailable(&error),
        };
        fault.hint(error.hint())
    })
}

fn prepare_folder(out: &Path) -> Result<PathBuf, Fault> {
    let cannot = |e: std::io::Error| {
        let fault = Fault::input(format!("cannot use {} as the output folder: {e}", out.display()));
        fault.hint("give --out a folder that can be written")
    };
    fs::create_dir_all(out).map_err(cannot)?;
    let root = out.canonicalize().map_err(cannot)?;
    for folder in [".trellis", "docs"] {
        if let Some(link) = disk::symlink_on_the_way(&root, folder) {
            return Err(crate::workspace::symlink(folder, &link));
        }
    }
    fs::create_dir_all(root.join(".trellis/tmp")).map_err(cannot)?;
    // What a crash left half-written is of no use to anyone.
    for entry in fs::read_dir(root.join(".trellis/tmp")).map_err(cannot)?.flatten() {
        fs::remove_file(entry.path()).map_err(cannot)?;
    }
    fs::write(root.join(".trellis/.gitignore"), "*\n").map_err(|e| full_or(e, &root))?;
    Ok(root)
}

fn refuse_symlinks(root: &Path, work: &Work) -> Result<(), Fault> {
    for item in work.items.values() {
        for path in [&item.path, &item.test_path] {
            if let Some(link) = disk::symlink_on_the_way(root, path) {
                return Err(crate::workspace::symlink(path, &link));
            }
        }
    }
    Ok(())
}

/// The project's own environment, else one made for what the plan names.
async fn python(root: &Path, work: &Work, output: &Output) -> Result<python::Python, Fault> {
    let unavailable = |error: python::PythonError| Fault::unavailable(&error);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let base = python::find(Some(root), &path).await.map_err(unavailable)?;
    if base.origin == python::Origin::Project {
        return Ok(base);
    }
    let mut requirements: Vec<String> = work
        .items
        .values()
        .flat_map(|item| item.libraries.iter())
        .filter(|it| !is_standard(it))
        .cloned()
        .collect();
    requirements.sort();
    requirements.dedup();
    let say = |step: python::Progress| {
        if let python::Progress::Installing { requirements } = step {
            let mut stderr = std::io::stderr().lock();
            // Standard error may be closed; nothing depends on this line.
            let _ = std::io::Write::write_fmt(
                &mut stderr,
                format_args!("making the test environment: {}\n", requirements.join(", ")),
            );
        }
    };
    let _ = output;
    python::provide(&base, &requirements, &cache_folder()?, &say).await.map_err(unavailable)
}

fn is_standard(library: &str) -> bool {
    code::known::is_stdlib(cycle::assembly::library_name(library))
}

/// `TRELLIS_CACHE`, else the user's cache folder.
pub(crate) fn cache_folder() -> Result<PathBuf, Fault> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("TRELLIS_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("trellis")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache/trellis")))
        .ok_or_else(|| {
            Fault::unavailable("there is no folder for the test environment")
                .hint("set TRELLIS_CACHE")
        })
}

/// A checkpoint nobody can read means starting over (W5); the journal keeps the old text.
fn recover(
    root: &Path,
    journal: &Journal,
    past: &mut Past,
    output: &Output,
) -> std::io::Result<()> {
    if !past.unreadable.is_empty() {
        output.note(format_args!(
            "warning: lines {:?} of .trellis/journal.jsonl cannot be read; what they accepted is done again",
            past.unreadable
        ));
    }
    if let checkpoint::Found::Corrupt(aside) = checkpoint::read(root)? {
        output.note(format_args!(
            "warning: {} cannot be read; it was moved to {} and every node is generated again",
            checkpoint::PATH,
            aside.display()
        ));
        journal.commit(Event::Reset { reason: "the checkpoint could not be read".to_owned() })?;
        past.accepted.clear();
        past.kept.clear();
        past.committed.clear();
        past.suite = None;
    }
    Ok(())
}

fn open_git(root: &Path, journal: &Journal, output: &Output) -> Option<Git> {
    match Git::open(root, journal) {
        Ok(Some(git)) => Some(git),
        Ok(None) => {
            output.note("warning: git is not installed; the run goes on without commits and rollback to them");
            None
        }
        Err(error) => {
            output.note(format_args!("warning: {error}; the run goes on without commits"));
            None
        }
    }
}

/// Files the user changed or made where the plan writes: an error, or with `--keep-edits` the base to
/// build on.
fn users_files(
    root: &Path,
    writer: &mut Writer,
    work: &Work,
    past: &Past,
    journal: &Journal,
    keep: bool,
) -> Result<BTreeMap<String, String>, Fault> {
    let mut paths = writer.known_paths();
    paths.extend(work.items.values().flat_map(|item| [item.path.clone(), item.test_path.clone()]));
    paths.sort();
    paths.dedup();
    let foreign = writer.foreign(&paths);
    if foreign.is_empty() || !keep {
        return if foreign.is_empty() {
            Ok(BTreeMap::new())
        } else {
            Err(crate::workspace::user_edits(&foreign))
        };
    }
    let mut kept = BTreeMap::new();
    for path in foreign {
        let text = fs::read_to_string(root.join(&path))
            .map_err(|e| Fault::input(format!("cannot build on {path}: {e}")))?;
        if path.ends_with(".py") {
            code::check(&text).map_err(|e| {
                Fault::input(format!("cannot build on {path}: {e}"))
                    .hint("mend the syntax error in your edit")
            })?;
        }
        let inside = |item: &&cycle::Item| item.path == path || item.test_path == path;
        let nodes = work.items.values().filter(inside).map(|item| item.id.clone());
        let nodes: Vec<String> = nodes.filter(|id| past.accepted.contains_key(id)).collect();
        log(journal, Event::Kept { path: path.clone(), text: text.clone(), nodes })?;
        writer.adopt(&path, &text);
        kept.insert(path, text);
    }
    Ok(kept)
}

/// Puts accepted nodes back: those whose specification is still the same and whose dependencies stand.
fn resume(
    work: &Work,
    schedule: &mut Schedule,
    past: &Past,
    kept: &BTreeMap<String, String>,
    output: &Output,
) -> (Shelf, BTreeMap<String, Accepted>) {
    let mut shelf = Shelf::default();
    let mut accepted = BTreeMap::new();
    for &ix in &work.leaves {
        let id = work.plan.id(ix);
        let Some(old) = past.accepted.get(id) else { continue };
        let item = &work.items[&ix];
        let same = old.specification == work.specification(ix);
        let stands =
            work.dependencies(ix).iter().all(|other| accepted.contains_key(work.plan.id(*other)));
        match (same && stands, drafted(old)) {
            (true, Some(mut draft)) => {
                // What a person took over holds the node's text already.
                draft.implementation =
                    draft.implementation.filter(|_| !kept.contains_key(&item.path));
                draft.tests = draft.tests.filter(|_| !kept.contains_key(&item.test_path));
                schedule.pass(ix);
                shelf.put(ix, Some(Arc::new(draft)));
                accepted.insert(id.to_owned(), old.clone());
            }
            _ => output
                .note(format_args!("{id} changed in the graph since it passed; it is done again")),
        }
    }
    (shelf, accepted)
}

fn drafted(accepted: &Accepted) -> Option<Draft> {
    Some(Draft {
        tests: Some(code::Fragment::parse(&accepted.tests).ok()?),
        implementation: Some(code::Fragment::parse(&accepted.implementation).ok()?),
    })
}

/// Largest file of the user's that is shown to tests.
const USER_FILE_BYTES: u64 = 4 << 20;

/// The user's own files in the folder (a `conftest.py`, data): the sandbox sees them too.
fn unmanaged(
    root: &Path,
    writer: &Writer,
    kept: &BTreeMap<String, String>,
) -> BTreeMap<String, Arc<str>> {
    let known = writer.known_paths();
    let mut out = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else { continue };
            let hidden = name.starts_with('.')
                || matches!(name.as_str(), "__pycache__" | "node_modules" | "venv" | "docs");
            if kind.is_dir() && !hidden && !name.ends_with(".egg-info") {
                left.push(path);
            } else if kind.is_file() && !hidden {
                let Ok(relative) = path.strip_prefix(root) else { continue };
                let relative = relative.to_string_lossy().into_owned();
                let small = entry.metadata().is_ok_and(|meta| meta.len() <= USER_FILE_BYTES);
                if known.binary_search(&relative).is_err()
                    && !kept.contains_key(&relative)
                    && small
                    && let Ok(text) = fs::read_to_string(&path)
                {
                    out.insert(relative, Arc::from(text));
                }
            }
        }
    }
    out
}
