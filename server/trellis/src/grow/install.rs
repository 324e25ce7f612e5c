//! Whether the grown project installs: `pip install -e .`, once at the end, in the sandbox.

use std::collections::BTreeMap;
use std::sync::Arc;

use run::{Outcome, Request, Tree};

use crate::grow::worker::Shop;

/// What the environment of the tests needs for it; setuptools makes wheels by itself since then.
pub(crate) const NEEDED: [&str; 2] = ["pip", "setuptools>=70.1"];

const CHECK: &str = include_str!("install_check.py");
const PLACE: &str = ".trellis-install/test_install.py";

/// Installs a copy of the project where nothing of it remains; why that does not work, for people.
pub(crate) async fn install(shop: &Shop, files: &BTreeMap<String, String>) -> Result<(), String> {
    let mut tree: BTreeMap<String, Arc<str>> = shop.tree(files);
    tree.insert(PLACE.to_owned(), Arc::from(CHECK));
    // A project's own settings are for its own tests.
    let arguments = ["-c", "/dev/null", "--noconftest", "-p", "no:cacheprovider"];
    let request = Request {
        targets: vec![PLACE.to_owned()],
        arguments: arguments.map(str::to_owned).to_vec(),
        ..shop.runner.request(Tree::Files(tree))
    };
    let report = shop.runner.run(&request, &shop.cancel).await;
    if report.outcome == Outcome::Passed {
        return Ok(());
    }
    let failures = report.tests.iter().filter_map(|it| it.failure.as_ref());
    let said = failures.chain(&report.collection_errors).map(|it| it.message.as_str()).next();
    let why = said.or(report.reason.as_deref()).unwrap_or("it did not come to an end");
    let why = why.strip_prefix("AssertionError: ").unwrap_or(why);
    let lines: Vec<&str> = why.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    Err(lines
        .iter()
        .take_while(|it| !it.starts_with("assert "))
        .copied()
        .collect::<Vec<_>>()
        .join(" / "))
}
