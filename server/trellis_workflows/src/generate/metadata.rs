//! Metadata of the generated project, from the plan, the specification and the code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::sync::Arc;

use trellis_engine::Draft;
use trellis_engine::assembly::{
    ModuleFacts, Project, library_name, project_files, readme, third_party, usage,
};
use trellis_plan::NodeIx;
use trellis_python::distributions::normalized;

use crate::generate::dispatcher::Dispatcher;
use crate::generate::materialize::Contents;

/// Returns packaging, requirements, settings and README for these contents, and warnings about
/// them. The user's own files at these paths are left alone.
pub(super) fn files(
    owner: &Dispatcher,
    contents: &Contents,
    sources: &BTreeMap<String, String>,
) -> (BTreeMap<String, String>, Vec<String>) {
    let mut warnings = Vec::new();
    let nodes = contents.nodes();
    let project = project(owner, &nodes, sources, &mut warnings);
    let mut files = project_files(&project, &owner.run_context.work.layout);
    let usage = usage(tests(owner, contents).iter().map(String::as_str));
    let readme = readme(&project, &modules(owner, &nodes), usage.as_deref());
    files.insert("README.md".to_owned(), readme);
    let foreign = owner.writer.foreign(files.keys());
    files.retain(|path, _| !foreign.contains(path) && !owner.run_context.kept.contains_key(path));
    warnings.extend(
        foreign.into_iter().map(|path| format!("{path} is your own file and was not changed")),
    );
    (files, warnings)
}

/// Collects metadata from the plan, the specification and the code. Each missing value gets a
/// placeholder and a warning.
fn project(
    owner: &Dispatcher,
    nodes: &BTreeSet<NodeIx>,
    sources: &BTreeMap<String, String>,
    warnings: &mut Vec<String>,
) -> Project {
    let plan = owner.run_context.work.plan.clone();
    let spec = match (&owner.order.spec, plan.nl_spec_path()) {
        (Some(path), _) => trellis_os::files::read_text(path).ok(),
        (None, Some(named)) => {
            let text = named_by_plan(&owner.order.graph, &owner.root, &named);
            if text.is_none() {
                warnings.push(format!(
                    "the plan's specification {named} does not exist or is not a text file"
                ));
            }
            text
        }
        (None, None) => None,
    };
    let spec = spec.unwrap_or_default();
    let (title, paragraph) = heading(&spec);
    let folder = owner.root.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut warn = |what: &str, used: &str| {
        warnings.push(format!("the plan gives no {what}; Trellis uses `{used}`"));
        used.to_owned()
    };
    let name = plan.project_name().or(title);
    let name =
        name.unwrap_or_else(|| warn("project name", folder.as_deref().unwrap_or("grown-project")));
    let description = plan.description().or(paragraph);
    let description = description
        .unwrap_or_else(|| warn("description", "A Python package generated from a planning graph"));
    let version = plan.version().filter(|it| is_version(it));
    let version = version.unwrap_or_else(|| match plan.version() {
        Some(_) => warn("version that packaging tools accept", FIRST_VERSION),
        None => FIRST_VERSION.to_owned(),
    });
    let requirements = requirements(owner, sources);
    Project {
        name,
        description,
        author: plan.author().or_else(|| author(&spec)),
        version,
        python: owner.run_context.interpreter.as_deref().and_then(python_version),
        requirements,
        entry_points: entry_points(owner, nodes),
    }
}

/// Reads the file named by `metadata.nl_spec_path`: relative to the plan's folder, to its parent
/// folder, or to the repository.
fn named_by_plan(graph: &Path, root: &Path, named: &str) -> Option<String> {
    let is_below = Path::new(named)
        .components()
        .all(|it| matches!(it, Component::Normal(_) | Component::CurDir));
    let folders = graph.ancestors().skip(1).take(2).chain([root]);
    let mut texts = folders.filter_map(|it| trellis_os::files::read_text(it.join(named)).ok());
    texts.next().filter(|_| is_below)
}

/// Returns the author of a specification: the text after `Author:` at the start of a line, whatever
/// Markdown surrounds it.
fn author(spec: &str) -> Option<String> {
    let name = |line: &str| {
        let plain = line.trim_start_matches(['*', '-', '#', '_', ' ', '>']);
        let (label, name) = plain.split_once(':')?;
        let is_label = ["author", "authors"]
            .contains(&label.trim_end_matches(['*', '_']).trim().to_lowercase().as_str());
        let name = name.trim_matches(['*', '_', ' ', '"', '\'']).to_owned();
        (is_label && !name.is_empty()).then_some(name)
    };
    spec.lines().find_map(name)
}

const FIRST_VERSION: &str = "0.1.0";

/// Returns whether `text` is release numbers with an optional pre-, post- or development suffix
/// (the common part of PEP 440).
fn is_version(text: &str) -> bool {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (release, suffix) = text.split_at(digits);
    let numbers = release.trim_end_matches('.').split('.').all(|part| part.parse::<u64>().is_ok());
    let suffix = suffix.trim_start_matches('.').trim_end_matches(|c: char| c.is_ascii_digit());
    numbers && matches!(suffix, "" | "a" | "b" | "rc" | "dev" | "post")
}

/// Returns the first heading and the first paragraph of the specification.
fn heading(spec: &str) -> (Option<String>, Option<String>) {
    let title =
        spec.lines().find_map(|line| line.strip_prefix("# ")).map(|it| it.trim().to_owned());
    let plain =
        |line: &&str| !line.trim().is_empty() && !line.starts_with(['#', '*', '-', '|', '`']);
    (title, spec.lines().find(plain).map(|it| it.trim().to_owned()))
}

/// Returns a requirement line per imported library: the plan's own line if there is one, else the
/// distribution name. A line without a version gets a range around the version that the tests ran
/// with.
fn requirements(owner: &Dispatcher, sources: &BTreeMap<String, String>) -> Vec<String> {
    let work = &owner.run_context.work;
    let planned: Vec<&String> = work.items.values().flat_map(|item| &item.libraries).collect();
    let line = |module: &String| {
        let distribution = trellis_python::distributions::distribution(module);
        let is_it = |line: &&&String| {
            let name = library_name(line);
            name.eq_ignore_ascii_case(distribution) || name.eq_ignore_ascii_case(module)
        };
        let line = planned
            .iter()
            .find(is_it)
            .map_or_else(|| distribution.to_owned(), |line| (*line).clone());
        match library_name(&line) == line.trim() {
            true => format!(
                "{line}{}",
                range(owner.run_context.interpreter.as_deref(), &line).unwrap_or_default()
            ),
            false => line,
        }
    };
    let mut lines: Vec<String> = third_party(&work.layout, sources).iter().map(line).collect();
    lines.sort();
    lines.dedup();
    lines
}

/// Returns the Python version of an environment, read from the name of its package folder
/// (`lib/python3.11`).
fn python_version(interpreter: &Path) -> Option<String> {
    let lib = interpreter.parent()?.parent()?.join("lib");
    let entries = std::fs::read_dir(lib).ok()?.flatten();
    let names = entries.filter(|it| it.path().join("site-packages").is_dir());
    let name = names.filter_map(|it| it.file_name().into_string().ok());
    name.filter_map(|it| Some(it.strip_prefix("python")?.to_owned())).find(|it| it.contains('.'))
}

/// Returns the requirement range of an installed distribution: `>=1.26,<2` for 1.26.4.
fn range(interpreter: Option<&Path>, distribution: &str) -> Option<String> {
    let lib = interpreter?.parent()?.parent()?.join("lib");
    let pythons =
        std::fs::read_dir(lib).ok()?.flatten().map(|entry| entry.path().join("site-packages"));
    let packages = pythons.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let installed =
        packages.filter_map(|entry| entry.file_name().into_string().ok()).find_map(|name| {
            let (package, version) = name.strip_suffix(".dist-info")?.split_once('-')?;
            (normalized(package) == normalized(distribution)).then(|| version.to_owned())
        })?;
    let mut parts = installed.split('.').map_while(|part| part.parse::<u64>().ok());
    let (major, minor) = (parts.next()?, parts.next().unwrap_or(0));
    Some(format!(">={major}.{minor},<{}", major + 1))
}

/// Returns entry points: passed functions named `main` in modules that are meant to be started.
fn entry_points(owner: &Dispatcher, nodes: &BTreeSet<NodeIx>) -> Vec<(String, String)> {
    let work = &owner.run_context.work;
    let started = |item: &&trellis_engine::Item| {
        let module = item.module.rsplit('.').next().unwrap_or_default();
        item.name == "main"
            && item.class.is_none()
            && matches!(module, "cli" | "main" | "__main__" | "app")
    };
    let passed = |item: &&trellis_engine::Item| owner.accepted.contains_key(&item.id);
    let items = nodes.iter().map(|ix| &work.items[ix]);
    let mut out: Vec<(String, String)> = (items.filter(started).filter(passed))
        .map(|item| {
            let name = item.module.split('.').next().unwrap_or("main").replace('_', "-");
            (name, format!("{}:main", item.module))
        })
        .collect();
    out.sort();
    out
}

/// Returns the passing tests: integration tests first, then unit tests of the nodes that use the
/// most.
fn tests(owner: &Dispatcher, contents: &Contents) -> Vec<String> {
    let work = &owner.run_context.work;
    let of_node = |(ix, _): &(NodeIx, Arc<Draft>)| {
        let accepted = owner.accepted.get(&work.items[ix].id)?;
        Some(accepted.tests.clone())
    };
    let mut all: Vec<String> = contents.flows.iter().map(|it| it.text.to_string()).collect();
    all.extend(contents.drafts.iter().rev().filter_map(of_node));
    all
}

/// Returns passed nodes by module, for the README.
fn modules(owner: &Dispatcher, nodes: &BTreeSet<NodeIx>) -> Vec<ModuleFacts> {
    let work = &owner.run_context.work;
    let mut out: Vec<ModuleFacts> = Vec::new();
    for ix in work.leaves.iter().filter(|ix| nodes.contains(ix)) {
        let item = &work.items[ix];
        if !owner.accepted.contains_key(&item.id) {
            continue;
        }
        let subgraph = work.plan.node(*ix).subgraph.as_deref().unwrap_or("main").to_owned();
        let summary = item.docstring.trim().lines().next().unwrap_or_default().to_owned();
        let definition = (item.qualified_name(), summary);
        match out.iter_mut().find(|facts| facts.module == item.module) {
            Some(facts) => facts.definitions.push(definition),
            None => out.push(ModuleFacts {
                subgraph,
                module: item.module.clone(),
                definitions: vec![definition],
            }),
        }
    }
    out.sort_by(|a, b| (&a.subgraph, &a.module).cmp(&(&b.subgraph, &b.module)));
    out
}
