//! Third-party modules that the code imports and that no requirement of plan or project names.

use std::collections::BTreeMap;

use trellis_python::distributions::{distribution, normalized};

use crate::assembly::layout::Layout;
use crate::assembly::tree::third_party;
use crate::import_resolution::library_name;

/// An imported module without a requirement; its distribution is a guess.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnrequiredLine {
    /// Top-level name of the module.
    pub module: String,
    /// Distribution assumed to provide the module.
    pub distribution: String,
    /// Files that import the module.
    pub files: Vec<String>,
    /// Nodes whose text imports the module.
    pub nodes: Vec<String>,
}

/// Returns the modules that `files` import and that none of the requirement `lines` names. `nodes`
/// are ids and texts.
pub fn unrequired<'a>(
    layout: &Layout,
    files: &BTreeMap<String, String>,
    nodes: impl Iterator<Item = (&'a str, &'a str)>,
    lines: &[String],
) -> Vec<UnrequiredLine> {
    let named: Vec<String> = lines.iter().map(|line| normalized(library_name(line))).collect();
    let is_named = |module: &str| {
        [module, distribution(module)].into_iter().any(|it| named.contains(&normalized(it)))
    };
    let modules = third_party(layout, files).into_iter().filter(|it| !is_named(it));
    let mut found: Vec<UnrequiredLine> = modules
        .map(|module| UnrequiredLine {
            distribution: distribution(&module).to_owned(),
            files: importers(files, &module),
            module,
            nodes: Vec::new(),
        })
        .collect();
    if found.is_empty() {
        return found;
    }
    for (id, text) in nodes {
        found.iter_mut().filter(|it| imports(text, &it.module)).for_each(|it| {
            it.nodes.push(id.to_owned());
        });
    }
    found
}

/// Returns the source files, without tests, that import a module.
fn importers(files: &BTreeMap<String, String>, module: &str) -> Vec<String> {
    let sources =
        files.iter().filter(|(path, _)| path.ends_with(".py") && !path.starts_with("tests/"));
    let found = sources.filter(|(_, text)| imports(text, module));
    found.map(|(path, _)| path.clone()).collect()
}

fn imports(text: &str, module: &str) -> bool {
    let all = trellis_python::all_imports(text).unwrap_or_default();
    all.iter().any(|it| it.level == 0 && it.top_level() == module)
}
