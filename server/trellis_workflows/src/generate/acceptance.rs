//! Acceptance tests of the features of a specification: written before any node, and red against
//! stubs of all parts; run at the end on the finished files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use trellis_engine::assembly::{Contribution, sources};
use trellis_engine::{
    AcceptanceTarget, Draft, Item, ModelRequest, TestRun, acceptance_tests, ask_acceptance_tests,
    only_red, stub, why_not_red,
};
use trellis_plan::{NodeIx, Sentence};
use trellis_python::Fragment;
use trellis_sandbox::{Request, Tree};

use crate::convert::{self, Files};
use crate::fault::Fault;
use crate::generate::ask_tests::{WrittenTests, ask_tests};
use crate::generate::integration::text;
use crate::generate::items::WorkGraph;
use crate::generate::test_function_counts;
use crate::generate::test_paths::{free_path, plain_name};
use crate::generate::worker::{RunContext, WorkerError};
use trellis_store::cost::Cost;
use trellis_store::disk;
use trellis_store::journal::{AcceptanceTests, Event};

/// Reason for which a feature has no tests.
const NO_PARTS: &str = "no node serves its sentences";

/// A feature of the specification, with the nodes that serve its sentences.
#[derive(Clone, Debug)]
pub(super) struct Feature {
    pub name: String,
    /// Path of its tests.
    pub path: String,
    pub sentences: Vec<Sentence>,
    pub parts: Vec<NodeIx>,
}

/// Returns the features of the plan's specification; none for a plan without any. Those of one name
/// are one feature.
pub(super) fn features(work: &WorkGraph) -> Vec<Feature> {
    // `check` reports a specification that cannot be read.
    let Ok(Some(spec)) = work.plan.spec() else { return Vec::new() };
    let mut paths: BTreeSet<String> = BTreeSet::new();
    let mut all: Vec<(&str, BTreeSet<usize>)> = Vec::new();
    for it in &spec.features {
        match all.iter_mut().find(|(name, _)| *name == it.name) {
            Some((_, sentences)) => sentences.extend(&it.sentences),
            None => all.push((&it.name, it.sentences.iter().copied().collect())),
        }
    }
    let feature = |(name, wanted): (&str, BTreeSet<usize>)| {
        let sentences = spec.sentences.iter().filter(|it| wanted.contains(&it.number));
        let serves = |ix: &NodeIx| {
            let served = work.plan.node(*ix).serves().unwrap_or_default();
            served.iter().any(|it| wanted.contains(it))
        };
        Feature {
            name: name.to_owned(),
            path: path(work, name, &mut paths),
            sentences: sentences.cloned().collect(),
            parts: work.leaves.iter().copied().filter(serves).collect(),
        }
    };
    all.into_iter().map(feature).collect()
}

/// Returns the path of a feature's tests, which no feature before it has.
fn path(work: &WorkGraph, feature: &str, taken: &mut BTreeSet<String>) -> String {
    let name = plain_name(feature);
    let numbered = (1..).map(|at| if at == 1 { name.clone() } else { format!("{name}_{at}") });
    let mut paths = numbered.map(|name| free_path(work, "acceptance", name, "feature"));
    // The numbers do not end before a path is free.
    paths.find(|path| taken.insert(path.clone())).unwrap_or_default()
}

/// Returns a hash of the feature's sentences and of the signatures that serve them. Its tests stay
/// valid as long as it stays the same.
pub(super) fn specification(work: &WorkGraph, feature: &Feature) -> String {
    let sentences = feature.sentences.iter().map(|it| it.text.clone());
    let signature = |ix: &NodeIx| {
        let item = &work.items[ix];
        let header = item.signature.as_ref().map(|it| it.header().to_owned()).unwrap_or_default();
        format!("{}.{} {header}", item.module, item.qualified_name())
    };
    let parts = feature.parts.iter().map(signature);
    disk::hash(sentences.chain(parts).collect::<Vec<_>>().join("\n"))
}

/// Writes the tests of a feature, from the request to the journaled result.
pub(super) async fn write_tests(
    run_context: Arc<RunContext>,
    feature: Feature,
    _permit: OwnedSemaphorePermit,
) -> Result<AcceptanceTests, WorkerError> {
    let work = &run_context.work;
    let mut out = AcceptanceTests {
        feature: feature.name.clone(),
        path: feature.path.clone(),
        specification: specification(work, &feature),
        ..AcceptanceTests::default()
    };
    let mut cost = Cost::default();
    if feature.parts.is_empty() {
        out.reason = NO_PARTS.to_owned();
    } else {
        let mut job = AcceptanceJob::new(&run_context, &feature);
        let missing = ask_tests(&run_context, &feature.name, &mut job, &mut cost).await?;
        cost.runs += job.runs;
        match missing.and_then(|reason| job.use_best(reason)) {
            Some(reason) => out.reason = reason,
            None => out.text = text(&job.tests),
        }
        out.functions = match out.text.is_empty() {
            true => 0,
            false => job.functions,
        }
    }
    out.cost = cost;
    run_context
        .journal
        .commit(Event::Acceptance(out.clone()))
        .map_err(|error| WorkerError::Journal { node: None, error })?;
    Ok(out)
}

struct AcceptanceJob<'a> {
    run_context: &'a RunContext,
    feature: &'a Feature,
    /// The package that the tests have to use.
    package: String,
    tests: Fragment,
    /// Tests of a reply that fail without code, while others of it do not.
    best: Option<(Fragment, usize)>,
    /// Number of test functions in the reply that is used.
    functions: usize,
    runs: usize,
}

impl AcceptanceJob<'_> {
    fn new<'a>(run_context: &'a RunContext, feature: &'a Feature) -> AcceptanceJob<'a> {
        let first = feature.parts.first().map(|ix| run_context.work.items[ix].module.as_str());
        let package = first.and_then(|it| it.split('.').next()).unwrap_or_default().to_owned();
        let (tests, best) = (Fragment::default(), None);
        AcceptanceJob { run_context, feature, package, tests, best, functions: 0, runs: 0 }
    }

    /// Takes the largest rest of all replies that fails without code, or returns the reason for
    /// having none.
    fn use_best(&mut self, reason: String) -> Option<String> {
        match self.best.take() {
            Some((best, functions)) => {
                (self.tests, self.functions) = (best, functions);
                None
            }
            None => Some(reason),
        }
    }

    /// Runs tests against stubs of all parts.
    async fn run_red(&mut self, tests: &Fragment) -> Result<TestRun, WorkerError> {
        let mut files = self.run_context.tree(&stubs(&self.run_context.work)?);
        files.insert(self.feature.path.clone(), Arc::from(text(tests)));
        self.runs += 1;
        run_file(self.run_context, &files, &self.feature.path).await
    }
}

impl WrittenTests for AcceptanceJob<'_> {
    fn request(&self, complaint: Option<&str>, attempt: u32) -> Result<ModelRequest, WorkerError> {
        let work = &self.run_context.work;
        let (parts, others): (Vec<&NodeIx>, Vec<&NodeIx>) =
            work.leaves.iter().partition(|ix| self.feature.parts.contains(ix));
        let items = |all: Vec<&NodeIx>| -> Vec<&Item> {
            all.into_iter().map(|ix| &work.items[ix]).collect()
        };
        let sentences: Vec<&Sentence> = self.feature.sentences.iter().collect();
        let target = AcceptanceTarget {
            feature: &self.feature.name,
            sentences: &sentences,
            parts: &items(parts),
            others: &items(others),
        };
        let conventions = &self.run_context.conventions;
        Ok(ask_acceptance_tests(&target, conventions, complaint, attempt))
    }

    async fn take(&mut self, reply: &str) -> Result<Option<String>, WorkerError> {
        let tests = match acceptance_tests(&self.package, reply) {
            Ok(tests) => tests,
            Err(why) => return Ok(Some(why)),
        };
        let run = self.run_red(&tests).await?;
        let wrong = self.why_not_red(&run);
        if wrong.is_some()
            && let Some(left) = self.red_alone(&run, &tests).await?
        {
            let is_better =
                self.best.as_ref().is_none_or(|(best, _)| functions_of(best) < functions_of(&left));
            if is_better {
                self.best = Some((left, functions_of(&tests)));
            }
        }
        (self.functions, self.tests) = (functions_of(&tests), tests);
        Ok(wrong)
    }
}

impl AcceptanceJob<'_> {
    /// Returns those of the tests that fail without code as they should, also without the others.
    async fn red_alone(
        &mut self,
        run: &TestRun,
        tests: &Fragment,
    ) -> Result<Option<Fragment>, WorkerError> {
        let Some(left) = only_red(run, tests) else { return Ok(None) };
        let run = self.run_red(&left).await?;
        Ok(self.why_not_red(&run).is_none().then_some(left))
    }

    fn why_not_red(&self, run: &TestRun) -> Option<String> {
        let items = &self.run_context.work.items;
        let is_part = |path: &str| items.values().any(|it| it.path == path);
        why_not_red(run, &self.feature.path, is_part)
    }
}

fn functions_of(tests: &Fragment) -> usize {
    test_function_counts::functions(&tests.to_source())
}

/// Returns the repository's files with stubs of all nodes.
fn stubs(work: &WorkGraph) -> Result<BTreeMap<String, String>, WorkerError> {
    let drafts: Vec<(NodeIx, Draft)> = (work.leaves.iter())
        .map(|ix| (*ix, Draft { implementation: Some(stub(&work.items[ix])), ..Draft::default() }))
        .collect();
    let shares: Vec<Contribution<'_>> =
        drafts.iter().map(|(ix, draft)| Contribution { item: &work.items[ix], draft }).collect();
    let built = sources(&work.layout, &shares, &BTreeMap::new()).map_err(|error| {
        WorkerError::Fault(Fault::internal(format!("the stubs do not fit together: {error}")))
    })?;
    Ok(built.files)
}

/// Runs the tests of one file.
pub(super) async fn run_file(
    run_context: &RunContext,
    files: &Files,
    path: &str,
) -> Result<TestRun, WorkerError> {
    let request = Request {
        targets: vec![path.to_owned()],
        test_timeout: run_context.test_timeout,
        ..run_context.runner.request(Tree::Files(files.clone()))
    };
    let report = run_context.runner.run(&request, &run_context.cancel).await;
    Ok(convert::test_run(&report, &|path| files.get(path).cloned())?)
}
