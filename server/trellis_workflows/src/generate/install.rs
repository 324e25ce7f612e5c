//! Checks once, at the end, that the generated project installs and that all its modules can be
//! imported. The check runs in the sandbox.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use trellis_engine::assembly::ValidationLine;
use trellis_sandbox::{Report, Request, TestOutcome, Tree};

use crate::generate::worker::RunContext;

/// Packages that the check needs in the test environment. setuptools builds wheels on its own since
/// 70.1.
pub(super) const NEEDED: [&str; 2] = ["pip", "setuptools>=70.1"];

const CHECK: &str = include_str!("install_check.py");
const PLACE: &str = ".trellis-install/test_install.py";
const MODULES: &str = ".trellis-install/modules.json";

/// Installs a throwaway copy of the project and imports its modules.
pub(super) async fn install(
    run_context: &RunContext,
    files: &BTreeMap<String, String>,
) -> [ValidationLine; 2] {
    let mut tree: BTreeMap<String, Arc<str>> = run_context.tree(files);
    let kept = run_context.kept.iter().map(|(path, text)| (path.clone(), Arc::from(text.as_str())));
    tree.extend(kept);
    let modules = modules(run_context, &tree);
    let wanted = json!({ "roots": run_context.work.layout.roots(), "modules": modules });
    tree.insert(PLACE.to_owned(), Arc::from(CHECK));
    tree.insert(MODULES.to_owned(), Arc::from(wanted.to_string()));
    // The project's own pytest settings apply only to its own tests.
    let arguments = ["-c", "/dev/null", "--noconftest", "-p", "no:cacheprovider"];
    let request = Request {
        targets: vec![PLACE.to_owned()],
        arguments: arguments.map(str::to_owned).to_vec(),
        ..run_context.runner.request(Tree::Files(tree))
    };
    let report = run_context.runner.run(&request, &run_context.cancel).await;
    let installs =
        said(&report, "test_install").map(|()| "on a copy, without dependencies".to_owned());
    let imports = said(&report, "test_imports")
        .map(|()| trellis_os::wording::counted(modules.len(), "module", "modules"));
    let check = "Import of every module";
    [
        ValidationLine::of("`pip install -e .`", installs),
        match modules.is_empty() {
            true => ValidationLine::not_run(check, "there are no modules"),
            false => ValidationLine::of(check, imports),
        },
    ]
}

/// Returns the names of the project's modules, without tests and `__main__` programs.
fn modules(run_context: &RunContext, tree: &BTreeMap<String, Arc<str>>) -> Vec<String> {
    let is_module = |path: &&String| {
        path.ends_with(".py") && !path.starts_with("tests/") && !path.ends_with("__main__.py")
    };
    let names = tree.keys().filter(is_module).map(|path| run_context.work.layout.module(path));
    let is_local = |name: &String| {
        let top = name.split('.').next().unwrap_or(name);
        run_context.work.layout.is_local(top)
    };
    names.filter(is_local).collect()
}

/// Returns `Ok` if the named check passed, otherwise a readable reason.
fn said(report: &Report, check: &str) -> Result<(), String> {
    let test = report.tests.iter().find(|it| it.id.ends_with(check));
    if test.is_some_and(|it| it.outcome == TestOutcome::Passed) {
        return Ok(());
    }
    let own = test.and_then(|it| it.failure.as_ref());
    let failure = own.into_iter().chain(&report.collection_errors).next();
    let why = failure.map(|it| it.message.as_str()).or(report.reason.as_deref());
    let why = why.unwrap_or("it did not finish");
    let why = why.strip_prefix("AssertionError: ").unwrap_or(why);
    let lines: Vec<&str> = why.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    Err(lines
        .iter()
        .take_while(|it| !it.starts_with("assert "))
        .copied()
        .collect::<Vec<_>>()
        .join(" / "))
}
