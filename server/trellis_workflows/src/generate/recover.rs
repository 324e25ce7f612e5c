//! Recovers the state that earlier runs and people left in the folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use trellis_engine::Draft;
use trellis_plan::{NodeIx, Plan, Schedule};

use crate::fault::Fault;
use crate::generate::acceptance::features;
use crate::generate::accepted::AcceptedDrafts;
use crate::generate::items::WorkGraph;
use crate::generate::prepare::log;
use crate::reporter::Reporter;
use trellis_git::git::Git;
use trellis_store::error::StoreError;
use trellis_store::journal::{Accepted, Event, Journal};
use trellis_store::replay::ReplayedState;
use trellis_store::{Writer, checkpoint};

/// Warns about unreadable journal lines, and starts over if the checkpoint cannot be read (W5). The
/// journal keeps the old text.
pub(super) fn recover(
    root: &Path,
    journal: &Journal,
    past: &mut ReplayedState,
    reporter: &Reporter,
) -> std::io::Result<()> {
    if !past.unreadable.is_empty() {
        reporter.note(format_args!(
            "warning: lines {:?} of .trellis/journal.jsonl cannot be read; the nodes they \
             accepted are generated again",
            past.unreadable
        ));
    }
    if let checkpoint::Found::Corrupt(aside) = checkpoint::read(root)? {
        reporter.note(format_args!(
            "warning: {} cannot be read; it was moved to {} and every node is generated again",
            checkpoint::PATH,
            aside.display()
        ));
        journal.commit(Event::Reset { reason: "the checkpoint could not be read".to_owned() })?;
        past.reset();
    }
    Ok(())
}

pub(super) fn open_git(root: &Path, journal: &Journal, reporter: &Reporter) -> Option<Git> {
    match Git::open(root, journal) {
        Ok(Some(git)) => Some(git),
        Ok(None) => {
            reporter.note(
                "warning: git is not installed; the run continues without commits, so you \
                 cannot roll back",
            );
            None
        }
        Err(error) => {
            reporter.note(format_args!("warning: {error}; the run continues without commits"));
            None
        }
    }
}

/// Refuses a graph that lacks nodes of earlier runs, since the run would remove their code.
pub(super) fn refuse_removed(plan: &Plan, past: &ReplayedState) -> Result<(), Fault> {
    let gone: Vec<&str> =
        past.accepted.keys().map(String::as_str).filter(|id| plan.find(id).is_none()).collect();
    if gone.is_empty() {
        return Ok(());
    }
    Err(Fault::input(format!(
        "{} not in this graph: {}",
        trellis_os::wording::counted(gone.len(), "generated node is", "generated nodes are"),
        gone.join(", ")
    ))
    .hint("choose another --out, or use --drop-removed to remove their code and tests"))
}

/// A file whose text a person took over.
#[derive(Clone, Debug, Default)]
pub(super) struct AdoptedFile {
    pub text: String,
    /// Nodes whose text the file already contains.
    pub nodes: BTreeSet<String>,
}

/// Returns the files that earlier runs adopted. A new edit of such a file overrules it later.
pub(super) fn kept_before(past: &ReplayedState) -> BTreeMap<String, AdoptedFile> {
    let kept = past.kept.iter().map(|(path, (text, nodes))| {
        let nodes = nodes.iter().cloned().collect();
        (path.clone(), AdoptedFile { text: text.clone(), nodes })
    });
    kept.collect()
}

/// Returns files that the user changed or created where the run will write. They are an error
/// without `--keep-edits`, and otherwise adopted as the base to build on.
pub(super) fn users_files(
    root: &Path,
    writer: &mut Writer,
    work: &WorkGraph,
    past: &ReplayedState,
    journal: &Journal,
    keep: bool,
) -> Result<BTreeMap<String, AdoptedFile>, Fault> {
    let mut paths = writer.known_paths();
    paths.extend(work.items.values().flat_map(|item| [item.path.clone(), item.test_path.clone()]));
    paths.extend(work.layout.init_paths());
    paths.extend(features(work).into_iter().map(|it| it.path));
    paths.sort();
    paths.dedup();
    let foreign = writer.foreign(&paths);
    if !foreign.is_empty() && !keep {
        return Err(StoreError::UserEdits { paths: foreign }.into());
    }
    let mut kept = BTreeMap::new();
    for path in foreign {
        let text = users_text(root, &path)?;
        let accepted = work.items.values().filter(|item| past.accepted.contains_key(&item.id));
        let inside = |item: &&trellis_engine::Item| {
            (item.path == path && defines(&text, item))
                || (item.test_path == path && tests(&text, item, &past.accepted[&item.id].tests))
        };
        let nodes: BTreeSet<String> = accepted.filter(inside).map(|item| item.id.clone()).collect();
        let list = nodes.iter().cloned().collect();
        log(journal, Event::Kept { path: path.clone(), text: text.clone(), nodes: list })?;
        writer.adopt(&path, &text);
        kept.insert(path, AdoptedFile { text, nodes });
    }
    Ok(kept)
}

/// Returns the note of a first start in a folder that already has files. `branch` is the person's
/// branch that receives commits.
pub(super) fn note_on_files(folder: &Path, branch: Option<&str>, keep_edits: bool) -> String {
    let rest = match (keep_edits, branch) {
        (false, Some(branch)) => {
            format!(", changes none of them, and commits to the branch {branch}")
        }
        (false, None) => " and changes none of them".to_owned(),
        (true, Some(branch)) => format!(" and commits to the branch {branch}"),
        (true, None) => String::new(),
    };
    format!("note: {} is not empty: Trellis adds files next to yours{rest}", folder.display())
}

/// Returns whether a folder has a person's files, not counting `.git` and `.trellis`.
pub(super) fn has_files(folder: &Path) -> bool {
    let others = |name: &std::ffi::OsStr| ![".git", ".trellis"].iter().any(|it| name == *it);
    fs::read_dir(folder).into_iter().flatten().flatten().any(|it| others(&it.file_name()))
}

fn users_text(root: &Path, path: &str) -> Result<String, Fault> {
    let text = trellis_os::files::read_text(root.join(path))
        .map_err(|e| Fault::input(format!("cannot build on {path}: {e}")))?;
    if path.ends_with(".py") {
        trellis_python::check(&text).map_err(|e| {
            Fault::input(format!("cannot build on {path}: {e}"))
                .hint("fix the syntax error in your edit")
        })?;
    }
    Ok(text)
}

/// Returns whether a text defines the item.
pub(super) fn defines(text: &str, item: &trellis_engine::Item) -> bool {
    let Ok(fragment) = trellis_python::Fragment::parse(text) else { return false };
    let Some(definition) = fragment.definition(item.import_name()) else { return false };
    let is_it = |name: &str| name == item.name;
    let method = || {
        trellis_python::remove_methods(&definition.text, &is_it)
            .is_ok_and(|(_, out)| !out.is_empty())
    };
    item.class.is_none() || method()
}

/// Returns whether a test file contains one of the tests accepted for a node, or its test class. A
/// name collision may have added a suffix to the name.
fn tests(text: &str, item: &trellis_engine::Item, accepted: &str) -> bool {
    let definitions = |text: &str| -> Vec<String> {
        let items = trellis_python::Fragment::parse(text).map(|it| it.items).unwrap_or_default();
        items
            .into_iter()
            .filter(trellis_python::Item::is_definition)
            .flat_map(|it| it.names)
            .collect()
    };
    let there = definitions(text);
    let mut own = definitions(accepted).into_iter().chain([item.test_class()]);
    own.any(|name| there.iter().any(|it| it.starts_with(name.as_str())))
}

/// Number of nodes that a note names.
const NAMED: usize = 5;

/// Nodes that earlier starts accepted.
#[derive(Default)]
pub(super) struct Resumed {
    pub accepted_drafts: AcceptedDrafts,
    /// Records of the restored nodes by id.
    pub accepted: BTreeMap<String, Accepted>,
    /// Drafts of nodes that did not change, but have a dependency that did. They are tested again
    /// once it is there.
    pub unproven: BTreeMap<NodeIx, Draft>,
    /// Ids of nodes whose own specification changed.
    changed: Vec<String>,
}

/// Restores accepted nodes whose specification is unchanged and whose dependencies were restored.
pub(super) fn resume(
    work: &WorkGraph,
    schedule: &mut Schedule,
    past: &ReplayedState,
    kept: &BTreeMap<String, AdoptedFile>,
) -> Resumed {
    let mut out = Resumed::default();
    for &ix in &work.leaves {
        let id = work.plan.id(ix);
        let Some(old) = past.accepted.get(id) else { continue };
        let item = &work.items[&ix];
        let Some(mut draft) = drafted(old).filter(|_| work.is_specified(ix, &old.specification))
        else {
            out.changed.push(id.to_owned());
            continue;
        };
        let is_proved = !past.unproven.contains(id) && out.has_all(work, ix, &draft);
        let there = |path: &str| kept.get(path).is_some_and(|it| it.nodes.contains(id));
        draft.implementation = draft.implementation.filter(|_| !there(&item.path));
        draft.tests = draft.tests.filter(|_| !there(&item.test_path));
        if is_proved {
            schedule.pass(ix);
            out.accepted_drafts.put(ix, Some(Arc::new(draft)));
            out.accepted.insert(id.to_owned(), old.clone());
        } else {
            out.unproven.insert(ix, draft);
        }
    }
    out
}

impl Resumed {
    /// Returns whether everything that a node builds on was restored: what the plan names, and what
    /// its text uses beyond that.
    fn has_all(&self, work: &WorkGraph, ix: NodeIx, draft: &Draft) -> bool {
        let restored = |it: &NodeIx| self.accepted.contains_key(work.plan.id(*it));
        let fragments = draft.implementation.iter().chain(&draft.tests);
        work.dependencies(ix).iter().all(restored)
            && (self.changed.is_empty() && self.unproven.is_empty()
                || fragments.flat_map(|it| work.imported(ix, it)).all(|it| restored(&it)))
    }

    /// Reports what is done again, and records the nodes that are tested again.
    pub(super) fn report(
        &self,
        work: &WorkGraph,
        past: &ReplayedState,
        journal: &Journal,
        reporter: &Reporter,
    ) -> Result<(), Fault> {
        if !self.changed.is_empty() {
            reporter.note(format_args!(
                "{} in the graph and will be generated again: {}",
                trellis_os::wording::counted(self.changed.len(), "node changed", "nodes changed"),
                trellis_os::wording::listed(&self.changed, NAMED)
            ));
        }
        let nodes: Vec<String> =
            self.unproven.keys().map(|ix| work.plan.id(*ix).to_owned()).collect();
        if !nodes.is_empty() {
            reporter.note(format_args!(
                "{} on changed ones: {}; code whose tests still pass is kept",
                trellis_os::wording::counted(nodes.len(), "node builds", "nodes build"),
                trellis_os::wording::listed(&nodes, NAMED)
            ));
        }
        match nodes.iter().all(|it| past.unproven.contains(it)) {
            true => Ok(()),
            false => log(journal, Event::Unproven { nodes }),
        }
    }
}

fn drafted(accepted: &Accepted) -> Option<Draft> {
    Some(Draft {
        tests: Some(trellis_python::Fragment::parse(&accepted.tests).ok()?),
        implementation: Some(trellis_python::Fragment::parse(&accepted.implementation).ok()?),
        ..Draft::default()
    })
}

/// Size limit, in bytes, of the user's files that tests can see.
const USER_FILE_BYTES: u64 = 4 << 20;

/// Returns the user's own files in the folder (a `conftest.py`, data), which the sandbox shows to
/// tests.
pub(super) fn unmanaged(
    root: &Path,
    writer: &Writer,
    kept: &BTreeMap<String, AdoptedFile>,
) -> BTreeMap<String, Arc<str>> {
    let known = writer.known_paths();
    let mut out = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let (Ok(kind), Ok(relative)) = (entry.file_type(), path.strip_prefix(root)) else {
                continue;
            };
            let relative = relative.to_string_lossy().into_owned();
            if is_no_source(&relative) {
                continue;
            }
            let small = || entry.metadata().is_ok_and(|meta| meta.len() <= USER_FILE_BYTES);
            if kind.is_dir() {
                left.push(path);
            } else if kind.is_file()
                && known.binary_search(&relative).is_err()
                && !kept.contains_key(&relative)
                && small()
                && let Ok(text) = trellis_os::files::read_text(&path)
            {
                out.insert(relative, Arc::from(text));
            }
        }
    }
    out
}

/// Returns whether a path is hidden, an environment, a cache, or an output of a run.
fn is_no_source(relative: &str) -> bool {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    name.starts_with('.')
        || name.ends_with(".egg-info")
        || matches!(name, "__pycache__" | "node_modules" | "venv")
        || matches!(relative, "docs" | "test_results.xml")
}
