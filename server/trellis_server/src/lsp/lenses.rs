//! Code lenses: actions for a function, and the results of its tests.
//!
//! Lenses use known data only: the definitions of the last parse, moved by later edits.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use trellis_sandbox::test_ids::file_of;

use tower_lsp::ls_types::{CodeLens, Command, Uri};
use trellis_python::{Lines, Unit, is_test_file};

use super::commands::{
    FunctionName, GenerateTests, Mark, Marked, RetryNode, RunTests, Test, before_change, report,
};
use crate::results::{Results, Tally};
use crate::rpc::Context;
use crate::session::{
    Anchor, AnchorKind, Anchors, At, FolderKind, GeneratedProject, GeneratedProjects, NodeState,
    Open, Registered, Snapshot, TestWords, Tests, positions,
};
use trellis_project::sources;
use trellis_workflows::write_tests::registry;

/// The project around a document.
pub(super) struct Around {
    /// The generated project that holds the document, else the workspace folder.
    pub(super) root: PathBuf,
    /// The document's path, relative to `root`.
    pub(super) path: String,
    pub(super) generated: Option<Arc<GeneratedProject>>,
}

impl Around {
    /// Returns the project; `None` if the document is no Python file.
    pub(super) fn of(open: &Open, grounds: &GeneratedProjects) -> Option<Around> {
        Around::of_uri(&open.document.uri, open.root.as_ref(), grounds)
    }

    /// Returns the project of a file in a snapshot.
    pub(super) fn of_file(
        view: &Snapshot,
        at: At<'_>,
        grounds: &GeneratedProjects,
    ) -> Option<Around> {
        let root = match &at.part.base {
            FolderKind::Folder(root) => Some(root),
            FolderKind::Alone(_) => None,
        };
        Around::of_uri(&view.uri(at)?, root, grounds)
    }

    fn of_uri(uri: &Uri, root: Option<&PathBuf>, grounds: &GeneratedProjects) -> Option<Around> {
        let file = positions::path(uri)?;
        if file.extension().is_none_or(|it| it != "py") {
            return None;
        }
        if let Some((generated, path)) = grounds.around(&file) {
            return Some(Around { root: generated.root.clone(), path, generated: Some(generated) });
        }
        let root = root.cloned().or_else(|| file.parent().map(PathBuf::from))?;
        let path = file.strip_prefix(&root).ok()?.to_str()?.to_owned();
        Some(Around { root, path, generated: None })
    }
}

/// Known test results.
struct Known<'a> {
    results: &'a Results,
    registered: Option<Registered>,
    /// The document's real path, without links, as test runs report it.
    real: PathBuf,
    /// True if the document differs from the disk, which is what tests run with.
    is_unsaved: bool,
    /// Words of the tests that people wrote.
    words: Arc<TestWords>,
}

impl Known<'_> {
    /// Returns the text and mark of a result; results for a text other than the shown one count as
    /// outdated.
    fn shown(&self, tally: Tally) -> (String, Marked) {
        let stale = if self.is_unsaved { tally.total() } else { tally.stale };
        let tally = Tally { stale, ..tally };
        (report(tally), Marked::of(tally))
    }

    /// Returns the lenses of the results of tests: what they were, and for a failure a fix. `shown`
    /// names the tests as a whole, `ids` one by one.
    fn results(&self, shown: &Test, ids: &[String], tally: Tally) -> Vec<Command> {
        let (said, marked) = self.shown(tally);
        let mut failures = ids.iter().flat_map(|id| self.results.failures_below(&shown.root, id));
        let failing = failures.next().map(|it| Test { root: it.root, test: it.test });
        let fix = failing.as_ref().filter(|_| tally.failed > 0).map(Test::propose_fix);
        std::iter::once(shown.show_result(&said, marked, failing.as_ref())).chain(fix).collect()
    }

    /// Returns the text and mark of a status in the test registry.
    fn registered_as(&self, status: &str, root: &Path) -> (String, Marked) {
        let registered = sources::changed_at(&root.join(registry::PATH));
        let stale = self.is_unsaved || sources::changed_at(&self.real) > registered;
        let mark = if status == "passed" { Mark::Passed } else { Mark::Failed };
        let sign = if status == "passed" { '\u{2713}' } else { '\u{2717}' };
        (before_change(format!("{sign} {status}"), stale), Marked { mark, stale })
    }
}

/// Returns the lenses of a document.
pub(super) fn of(
    open: &Open,
    around: &Around,
    context: &Context,
    words: Arc<TestWords>,
    unit: Unit,
) -> Vec<CodeLens> {
    let Some(anchors) = &open.document.anchors else { return Vec::new() };
    let file = around.root.join(&around.path);
    let registered = context.tested.around(&file);
    let real = file.canonicalize().unwrap_or(file);
    let saved = trellis_os::files::read_text(&real);
    let is_unsaved = saved.is_ok_and(|it| !trellis_python::is_shown_as(&it, &open.document.text));
    let known = Known { results: &context.results, registered, real, is_unsaved, words };
    let lines = Lines::of(&open.document.text);
    let lenses = anchors.all.iter().flat_map(|anchor| {
        let range = positions::range(&lines, &anchor.at, unit);
        let commands = around.commands(anchor, &known).into_iter();
        commands.map(move |it| CodeLens { range, command: Some(it), data: None })
    });
    let top = positions::range(&lines, &(0..0), unit);
    let failed = around.failed(anchors).into_iter();
    failed.map(|it| CodeLens { range: top, command: Some(it), data: None }).chain(lenses).collect()
}

impl Around {
    fn commands(&self, anchor: &Anchor, known: &Known<'_>) -> Vec<Command> {
        if is_test_file(&self.path) {
            return if anchor.is_test { self.of_test(anchor, known) } else { Vec::new() };
        }
        let mut commands = match known.registered.as_ref().and_then(|it| it.tests(&anchor.name)) {
            Some(tests) => of_tests(tests, known),
            None => self.of_node_tests(anchor, known),
        };
        if commands.is_empty() && self.lacks_tests(anchor, known) {
            commands.push(self.generate_tests(anchor).command());
        }
        commands.extend(self.retry(anchor));
        commands
    }

    /// Returns whether a function is public, and no test of a person names it.
    fn lacks_tests(&self, anchor: &Anchor, known: &Known<'_>) -> bool {
        let is_public_function = anchor.kind != AnchorKind::Class && is_public(&anchor.name);
        is_public_function && !known.words.mention(&self.path, &anchor.name)
    }

    fn generate_tests(&self, anchor: &Anchor) -> GenerateTests {
        let function = FunctionName { file_path: self.path.clone(), name: anchor.name.to_string() };
        GenerateTests { project_root: self.root.clone(), function }
    }

    fn of_test(&self, anchor: &Anchor, known: &Known<'_>) -> Vec<Command> {
        let name = anchor.name.split('[').next().unwrap_or_default().replace('.', "::");
        let run = run(&self.root, vec![format!("{}::{name}", self.path)]);
        let found = known.results.find(&known.real, &name);
        let results = found.into_iter().flat_map(|(root, test, tally)| {
            let ids = [test.clone()];
            known.results(&Test { root, test }, &ids, tally)
        });
        std::iter::once(run).chain(results).collect()
    }

    fn node(&self, anchor: &Anchor) -> Option<NodeState> {
        self.generated.as_ref()?.node(&self.path, &anchor.name)
    }

    /// Returns the lenses of the tests that a node was generated with.
    fn of_node_tests(&self, anchor: &Anchor, known: &Known<'_>) -> Vec<Command> {
        let Some(node) = self.node(anchor) else { return Vec::new() };
        let real = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let tallies = node.test_ids.iter().map(|id| known.results.tally(&real, id));
        let last = tallies.fold(Tally::default(), Tally::and);
        // Without results of this session, those of the generating run count.
        let (passed, failed) = node.tests;
        let tally = match last.total() {
            0 => Tally { passed, failed, ..Tally::default() },
            _ => last,
        };
        if tally.total() == 0 {
            return Vec::new();
        }
        let ids = if node.test_ids.is_empty() {
            vec![node.test_path.clone()]
        } else {
            node.test_ids.clone()
        };
        let shown =
            Test { root: real, test: ids.first().cloned().unwrap_or(node.test_path.clone()) };
        if node.is_open() {
            // A failed node's code is not in the tree, and neither are its tests.
            let (said, marked) = known.shown(tally);
            return vec![shown.show_result(&said, marked, None)];
        }
        let results = known.results(&shown, &ids, tally);
        std::iter::once(run(&self.root, ids)).chain(results).collect()
    }

    /// Returns the lenses for failed nodes whose code is not in the file; shown at its top.
    fn failed(&self, anchors: &Anchors) -> Vec<Command> {
        let Some(generated) = &self.generated else { return Vec::new() };
        let is_there = |name: &str| anchors.all.iter().any(|it| *it.name == *name);
        let failed =
            generated.failed_in(&self.path).into_iter().filter(|(name, _)| !is_there(name));
        let retry = |(name, node): (String, NodeState)| {
            RetryNode { node: node.id, out: self.root.clone() }.of(&name)
        };
        failed.map(retry).collect()
    }

    fn retry(&self, anchor: &Anchor) -> Option<Command> {
        let node = self.node(anchor).filter(NodeState::is_open)?;
        Some(RetryNode { node: node.id, out: self.root.clone() }.command())
    }
}

/// Returns the lenses of tests generated for a function: the last results here, else the
/// registry's.
fn of_tests(tests: Tests, known: &Known<'_>) -> Vec<Command> {
    let Tests { root, ids, status } = tests;
    let real = root.canonicalize().unwrap_or_else(|_| root.clone());
    let tally = |id: &String| known.results.tally(&real, id);
    let tally = ids.iter().map(tally).fold(Tally::default(), Tally::and);
    let file = ids.first().map_or("", |it| file_of(it)).to_owned();
    let shown = Test { root: real, test: file };
    let results = match (tally.total(), status) {
        (0, None) => Vec::new(),
        (0, Some(status)) => {
            let (said, marked) = known.registered_as(&status, &root);
            vec![shown.show_result(&said, marked, None)]
        }
        _ => known.results(&shown, &ids, tally),
    };
    std::iter::once(run(&root, ids)).chain(results).collect()
}

/// Returns whether no part of a dotted name begins with an underscore.
fn is_public(name: &str) -> bool {
    !name.split('.').any(|it| it.starts_with('_'))
}

fn run(root: &Path, paths: Vec<String>) -> Command {
    RunTests { root: root.to_owned(), paths }.command()
}
