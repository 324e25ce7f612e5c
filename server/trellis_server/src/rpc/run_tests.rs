//! Methods that run tests, localize bugs, write tests, and list the definitions of a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::catalog::blocking;
use super::context::Context;
use super::table::{Effect, Table};
use super::workspace_query::{place, text};
use crate::api::affected_tests::{AffectedTestsParams, AffectedTestsResult, imports};
use crate::api::doctor::{DoctorParams, DoctorResult, doctor};
use crate::api::environment::{EnvironmentParams, EnvironmentResult, environment};
use crate::api::find_tests::{FindTestsParams, FoundTests, find_tests};
use crate::api::keep_tests::{AddTestPathParams, AddedTestPath, KeepTestsParams, KeptTests};
use crate::api::localize::{LocalizeParams, LocalizeResult, localize};
use crate::api::parse_file::{ParseFileParams, ValidateSyntaxParams, parse_text, validate_syntax};
use crate::api::run_tests::{Prepared, RunTestsParams, RunTestsResult, cancelled};
use crate::api::write_tests::{GenerateTestsParams, Generated};
use crate::jobs::JobContext;
use crate::session::{QueryError, Snapshot};
use trellis_project::project;
use trellis_project::test_finder::ModuleCache;
use trellis_workflows::affected_tests::{Imports, Run};
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::job_control::JobControl;
use trellis_workflows::reporter::Progress;
use trellis_workflows::write_tests::{self, registry};

pub(super) fn register(table: &mut Table) {
    table.question("trellis/parseFile", |view: &Snapshot, params: &ParseFileParams| {
        let file = place(view, Some(&params.file_path));
        Ok(parse_text(&params.file_path.to_string_lossy(), &text(view, &file)?))
    });
    table.question("trellis/validateSyntax", |_, params: &ValidateSyntaxParams| {
        Ok(validate_syntax(params))
    });
    let cache = ModuleCache::default();
    table.call("trellis/findTests", Effect::Reads, move |context, params| {
        find(context, params, cache.clone())
    });
    table.work("trellis/runTests", Effect::Runs, |it: &RunTestsParams| tests_title(it), run_tests);
    table.work(
        "trellis/generateTests",
        Effect::Runs,
        |it: &GenerateTestsParams| format!("tests for {}", it.function.path()),
        generate_tests,
    );
    table.work(
        "trellis/localize",
        Effect::Runs,
        |_: &LocalizeParams| "suspects".to_owned(),
        suspects,
    );
    table.work(
        "trellis/environment",
        Effect::Runs,
        |_: &EnvironmentParams| "the environment of tests".to_owned(),
        test_environment,
    );
    table.call("trellis/doctor", Effect::Runs, look_around);
    table.call("trellis/affectedTests", Effect::Reads, affected_tests);
    table.call("trellis/listTests", Effect::Reads, list_tests);
    table.call("trellis/addTestPath", Effect::Writes, add_test_path);
    table.call("trellis/keepTests", Effect::Writes, keep_tests);
}

fn tests_title(params: &RunTestsParams) -> String {
    match params.test_path.iter().chain(&params.paths).next() {
        Some(first) => format!("tests of {first}"),
        None => "all tests".to_owned(),
    }
}

async fn find(
    context: Arc<Context>,
    mut params: FindTestsParams,
    cache: ModuleCache,
) -> Result<FoundTests, Fault> {
    params.root = Some(context.root(params.root.as_deref()).await);
    let results = context.results.clone();
    let asking = context.asker.ask(move |view: &Snapshot| {
        let with_results = |root: &Path| results.files(root).into_iter().collect();
        find_tests(&params, &with_results, &|path| view.open_text(path).cloned(), &cache)
    });
    asking.await?
}

async fn run_tests(
    context: Arc<Context>,
    mut params: RunTestsParams,
    duty: JobContext,
) -> Result<RunTestsResult, Fault> {
    let root = context.root(params.root.as_deref()).await;
    params.root = Some(root.clone());
    let JobContext { control: JobControl { cancel, .. }, reporter, .. } = duty;
    let unsaved = context.unsaved(&root).await;
    if !unsaved.is_empty() {
        let files = unsaved.join(", ");
        reporter.note(format_args!("warning: not saved, tests see what is on the disk: {files}"));
    }
    let mut prepared = Prepared::of(&params, &reporter)?;
    prepared.also(context.results.files(prepared.root()));
    let (project, targets) = (prepared.root().to_owned(), prepared.targets().to_owned());
    let reporter = &reporter;
    let began = SystemTime::now();
    let text_of = Some(began);
    let ran = prepared
        .run(&context.sandboxes, reporter, &cancel, &mut |test| {
            reporter.emit(Progress::Test { root: &project, test, text_of });
        })
        .await?;
    context.results.record(&project, &targets, &ran.report, began);
    let has_options = !params.arguments.is_empty();
    let run = Run { root: &project, targets: &targets, has_options, report: &ran.report, began };
    let recorded = record_execution(&context, run).await;
    if let Err(fault) = recorded {
        tracing::warn!("what the tests executed was not recorded: {fault}");
    }
    let result = ran.result();
    if result.outcome == "cancelled" {
        return Err(Fault::new(Exit::Interrupted, "the run of the tests was cancelled"));
    }
    Ok(result)
}

/// Records what the tests of a run executed; renews their records if it was not observed.
async fn record_execution(context: &Context, run: Run<'_>) -> Result<(), Fault> {
    if run.report.execution.is_none() && !context.affected.has_records(run.root) {
        return Ok(());
    }
    let imports = imports_of(context, run.root).await?;
    let affected = context.affected.clone();
    let (root, targets, report) = (run.root.to_owned(), run.targets.to_vec(), run.report.clone());
    let (has_options, began) = (run.has_options, run.began);
    blocking(move || {
        let run = Run { root: &root, targets: &targets, has_options, report: &report, began };
        match report.execution {
            Some(_) => affected.record(&run, &imports),
            None => affected.renew(&root, &report, &imports, began),
        }
        Ok(())
    })
    .await
}

async fn affected_tests(
    context: Arc<Context>,
    params: AffectedTestsParams,
) -> Result<AffectedTestsResult, Fault> {
    let root = context.root(params.root.as_deref()).await;
    let root = project::of(&[root.to_string_lossy().into_owned()])?.root;
    let imports = imports_of(&context, &root).await?;
    let (affected, results) = (context.affected.clone(), context.results.clone());
    blocking(move || {
        let now = SystemTime::now();
        let times = results.times(&root);
        let of_test = |id: &str| times.get(id).copied();
        let found = affected.select(&root, &params.paths, &imports, &of_test);
        results.confirm(&root, &found.unaffected, now);
        Ok(AffectedTestsResult::of(&root, found))
    })
    .await
}

/// Returns the imports of a project, those of unsaved texts included. Once such a text is given up,
/// other modules are reached than are recorded, which counts as a change.
async fn imports_of(context: &Context, project: &Path) -> Result<Imports, Fault> {
    loop {
        let project = project.to_owned();
        match context.asker.ask(move |view| imports(view, &project)).await {
            Err(QueryError::ContentModified) => {}
            answer => return Ok(answer?),
        }
    }
}

async fn generate_tests(
    context: Arc<Context>,
    mut params: GenerateTestsParams,
    duty: JobContext,
) -> Result<Generated, Fault> {
    let first = context.root(None).await;
    let root = context.root(params.project_root.as_deref()).await;
    params.function.file_path = root.join(&params.function.file_path);
    params.project_root = params.project_root.is_some().then_some(root);
    let mut order = write_tests::WriteTestsRequest::try_from(params)?;
    order.model = order.model.resolve_recordings(&first);
    if let Some(editor) = &context.editor {
        order.model = order.model.with_editor(editor.clone());
    }
    write_tests::generate(order, &duty.reporter, duty.control.cancel).await.map(Into::into)
}

async fn add_test_path(
    context: Arc<Context>,
    params: AddTestPathParams,
) -> Result<AddedTestPath, Fault> {
    let root = context.root(params.root.as_deref()).await;
    blocking(move || write_tests::add_test_path(&root, &params.path).map(Into::into)).await
}

async fn keep_tests(
    context: Arc<Context>,
    mut params: KeepTestsParams,
) -> Result<KeptTests, Fault> {
    params.root = context.root(Some(&params.root)).await;
    blocking(move || write_tests::keep(&params.into()).map(Into::into)).await
}

async fn suspects(
    context: Arc<Context>,
    mut params: LocalizeParams,
    duty: JobContext,
) -> Result<LocalizeResult, Fault> {
    params.root = Some(context.root(params.root.as_deref()).await);
    localize(&params, &duty.reporter, &duty.control.cancel).await
}

async fn test_environment(
    context: Arc<Context>,
    params: EnvironmentParams,
    duty: JobContext,
) -> Result<EnvironmentResult, Fault> {
    let root = context.root(params.root.as_deref()).await;
    tokio::select! {
        () = duty.control.cancel.cancelled() => Err(cancelled("the making of the environment")),
        made = environment(&root, params.interpreter, &duty.reporter) => made,
    }
}

async fn look_around(
    context: Arc<Context>,
    mut params: DoctorParams,
) -> Result<DoctorResult, Fault> {
    params.root = Some(context.root(params.root.as_deref()).await);
    doctor(&params).await
}

/// Lists the functions with generated tests, with their tests and the last results.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListTestsParams {
    /// The project; default: the first folder of the workspace.
    #[serde(default)]
    root: Option<PathBuf>,
}

/// Functions with generated tests.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TestList {
    functions: Vec<TestedFunction>,
    /// Problems of the registry, as sentences.
    warnings: Vec<String>,
}

/// One function with generated tests.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TestedFunction {
    /// The file below the project's root, `::`, the name with its classes.
    function: String,
    /// The test file, below the project's root.
    test_file: String,
    test_names: Vec<String>,
    /// RFC 3339.
    generated_at: String,
    /// `passed` or `failed`; null if they did not run.
    last_status: Option<String>,
    /// RFC 3339.
    last_run_at: Option<String>,
}

async fn list_tests(context: Arc<Context>, params: ListTestsParams) -> Result<TestList, Fault> {
    let root = context.root(params.root.as_deref()).await;
    blocking(move || {
        let (registry, warning) = registry::read(&root)?;
        let function = |(function, it): (String, registry::Mapping)| TestedFunction {
            function,
            test_file: it.test_file,
            test_names: it.test_names,
            generated_at: it.generated_at,
            last_status: it.last_run.as_ref().map(|run| run.status.clone()),
            last_run_at: it.last_run.map(|run| run.run_at),
        };
        let functions = registry.mappings().into_iter().map(function).collect();
        Ok(TestList { functions, warnings: warning.into_iter().collect() })
    })
    .await
}
