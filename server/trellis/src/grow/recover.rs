//! What earlier runs and people left in the folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use cycle::Draft;
use plan::Schedule;

use crate::error::Fault;
use crate::grow::items::Work;
use crate::grow::open::log;
use crate::grow::shelf::Shelf;
use crate::output::Output;
use crate::workspace::git::Git;
use crate::workspace::journal::{Accepted, Event, Journal, Past};
use crate::workspace::{Writer, checkpoint};

/// A checkpoint nobody can read means starting over (W5); the journal keeps the old text.
pub(crate) fn recover(
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

pub(crate) fn open_git(root: &Path, journal: &Journal, output: &Output) -> Option<Git> {
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
pub(crate) fn users_files(
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
pub(crate) fn resume(
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
pub(crate) fn unmanaged(
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
