//! Tests of a finished subgraph along its data flows, from input to result (V2).

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::Fragment;

use crate::draft::refuse_internals;
use crate::item::Item;
use crate::observation::{Failure, TestCase, TestRun};
use crate::prompt::template::{INTEGRATION_TESTS, LIBRARY_TESTS};
use crate::prompt::{Prompt, listed, python, rank};
use crate::prompt_budget::Section;
use crate::vocabulary::{ModelRequest, Stage};
use crate::{reply, routing};

/// Percentage of its integration tests that a subgraph has to pass; some tests may check what the
/// plan does not state.
pub const INTEGRATION_PERCENT: usize = 80;

/// The items of one flow, in the order in which data passes through them.
pub type FlowItems<'a> = Vec<&'a Item>;

/// Name for all subgraphs together.
pub const LIBRARY: &str = "the whole library";

/// Outcome if the subgraph has no data flows to test.
pub const NO_FLOWS: &str = "no data flows between its parts";

/// A finished subgraph, or the [`LIBRARY`], to be tested along its data flows.
pub struct IntegrationTarget<'a> {
    pub subgraph: &'a str,
    pub flows: &'a [FlowItems<'a>],
    /// Texts by module.
    pub files: &'a BTreeMap<String, String>,
}

/// Builds the request for integration tests. `complaint`: the reason why the previous tests were
/// unusable.
pub fn ask_integration_tests(
    target: &IntegrationTarget<'_>,
    conventions: &[String],
    complaint: Option<&str>,
    attempt: u32,
) -> ModelRequest {
    let IntegrationTarget { subgraph, flows, files } = *target;
    let (words, parts) = match subgraph == LIBRARY {
        true => (&LIBRARY_TESTS, modules(files)),
        false => (&INTEGRATION_TESTS, parts(flows, files)),
    };
    let mut sections =
        vec![Section::new(rank::CORE, format!("Flows through `{subgraph}`"), ways(flows))];
    sections.extend(parts);
    sections.extend(listed(
        rank::CONVENTIONS,
        "Conventions",
        conventions.iter().map(String::as_str),
    ));
    if let Some(complaint) = complaint {
        sections.push(Section::new(rank::CORE, "Your last tests could not be used", complaint));
    }
    sections.push(Section::new(rank::TASK, "Task", words.say("task", &[])));
    let route = routing::of_flows(flows.iter().map(Vec::len).max().unwrap_or_default());
    ModelRequest {
        stage: Stage::IntegrationTests,
        attempt,
        temperature: 0.0,
        prompt: Prompt::new(words, sections),
        prompt_version: words.version(),
        tier: route.tier,
        why: route.why,
        tools: false,
    }
}

/// Lists the flows, one line each.
fn ways(flows: &[FlowItems<'_>]) -> String {
    let way = |flow: &FlowItems<'_>| {
        let names: Vec<String> =
            flow.iter().map(|it| format!("`{}`", it.qualified_name())).collect();
        format!("- {}\n", names.join(" -> "))
    };
    flows.iter().map(way).collect()
}

/// Returns a section per module: its definitions with signatures and docstrings. Packages are left
/// out, since they only re-export from their modules.
fn modules(files: &BTreeMap<String, String>) -> Vec<Section> {
    let is_package = |module: &str| {
        let inside = format!("{module}.");
        files.keys().any(|it| it.starts_with(&inside))
    };
    let modules = files.iter().filter(|(module, text)| !text.is_empty() && !is_package(module));
    let section = |(module, text): (&String, &String)| {
        Section::new(
            rank::CODE,
            format!("`{module}`"),
            python(&trellis_python::digest(text, |_| false)),
        )
    };
    modules.map(section).collect()
}

/// Returns a section per class or function on the flows, each once, and per class in their
/// signatures: signatures and docstrings as written.
fn parts(flows: &[FlowItems<'_>], files: &BTreeMap<String, String>) -> Vec<Section> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for item in flows.iter().flatten() {
        names.push((&item.module, item.import_name()));
    }
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    names.retain(|it| seen.insert(*it));
    let of = |(module, name): (&str, &str)| -> Vec<&Item> {
        let mut reported: BTreeSet<&str> = BTreeSet::new();
        let all =
            flows.iter().flatten().filter(|it| it.module == module && it.import_name() == name);
        all.filter(|it| reported.insert(&it.id)).copied().collect()
    };
    let types = types(&names, files);
    let section = |(module, name): (&str, &str)| {
        let body = match files.get(module).and_then(|it| trellis_python::interface(it, name)) {
            Some(text) => format!("`from {module} import {name}`\n{}", python(&text)),
            None => of((module, name)).into_iter().map(described).collect::<Vec<_>>().join("\n\n"),
        };
        Section::new(rank::CODE, format!("`{name}`"), body)
    };
    let types = types.iter().map(|(module, name)| (module.as_str(), name.as_str()));
    names.iter().copied().chain(types).map(section).collect()
}

/// Returns the classes named in the interfaces of the parts that are no parts themselves, as module
/// and name.
fn types(parts: &[(&str, &str)], files: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let interface =
        |(module, name): &(&str, &str)| trellis_python::interface(files.get(*module)?, name);
    let spoken =
        parts.iter().filter_map(interface).filter_map(|it| trellis_python::words(&it).ok());
    let spoken: BTreeSet<String> = spoken.flatten().collect();
    let mut out = Vec::new();
    for (module, text) in files {
        let outline = trellis_python::Outline::of(text);
        let classes = outline
            .symbols
            .iter()
            .filter(|it| it.parent.is_none() && it.kind == trellis_python::SymbolKind::Class);
        let wanted = classes.filter(|it| {
            spoken.contains(&it.name) && !parts.contains(&(module.as_str(), it.name.as_str()))
        });
        out.extend(wanted.map(|it| (module.clone(), it.name.clone())));
    }
    out
}

/// Returns how to import an item, its signature and its docstring.
pub(crate) fn described(item: &Item) -> String {
    let signature = match &item.signature {
        Some(signature) => signature.header().to_owned(),
        None => format!("{} {}", item.kind.as_str(), item.qualified_name()),
    };
    format!(
        "`from {} import {}`\n```python\n{signature}\n```\n{}",
        item.module,
        item.import_name(),
        item.docstring.trim()
    )
}

/// Parses integration tests from a reply.
///
/// # Errors
///
/// A reason for the model: no code, invalid Python, no test, no test that covers a flow from its
/// first item to its last (for the library: none that connects two modules of a flow), imports of
/// pytest's internals.
pub fn integration_tests(
    subgraph: &str,
    flows: &[FlowItems<'_>],
    text: &str,
) -> Result<Fragment, String> {
    let reply = reply::divide(text)?;
    let code = reply.whole_code()?.ok_or("the reply holds no Python code")?;
    let fragment = Fragment::parse(code).map_err(|e| format!("syntax error: {e}"))?;
    refuse_internals(&fragment).map_err(|e| e.to_string())?;
    let source = fragment.to_source();
    if trellis_python::tests(&source).map_err(|e| e.to_string())?.is_empty() {
        return Err("there is no test in it".to_owned());
    }
    let words = trellis_python::words(&source).map_err(|e| e.to_string())?;
    let ends = |flow: &FlowItems<'_>| {
        let ends = [flow.first(), flow.last()];
        ends.into_iter().flatten().all(|it| words.contains(it.name.as_str()))
    };
    let connects = |flow: &FlowItems<'_>| {
        let named = flow.iter().filter(|it| words.contains(it.name.as_str()));
        named.map(|it| &it.module).collect::<BTreeSet<_>>().len() > 1
    };
    match subgraph == LIBRARY {
        true if flows.iter().any(connects) => Ok(fragment),
        true => Err("no test goes along a flow from one module to another".to_owned()),
        false if flows.iter().any(ends) => Ok(fragment),
        false => Err("no flow is tested from its first part to its last".to_owned()),
    }
}

/// Result of a run of integration tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integration {
    pub passed: usize,
    /// Failed tests, each with the first line of its failure.
    pub failures: Vec<(String, String)>,
}

impl Integration {
    pub fn of(run: &TestRun) -> Integration {
        let failed = run.cases.iter().filter(|case| !case.passed && !case.set_aside);
        let reason = |case: &TestCase| match &case.failure {
            Some(failure) => {
                let message = failure.message.lines().next().unwrap_or_default();
                format!("{}: {message}", failure.exception)
            }
            None => "failed".to_owned(),
        };
        Integration {
            passed: run.passed(),
            failures: failed.map(|case| (case.id.clone(), reason(case))).collect(),
        }
    }

    /// Returns a complaint for the model about tests that fail in their own code at a name or a
    /// call that does not exist; `None` if there are no such tests.
    pub fn misuse(run: &TestRun, path: &str) -> Option<String> {
        const KINDS: [&str; 5] =
            ["AttributeError", "TypeError", "ImportError", "ModuleNotFoundError", "NameError"];
        let own = |it: &&Failure| it.path == path && KINDS.contains(&it.exception.as_str());
        let line = |it: &Failure| format!("- line {}: {}: {}", it.line, it.exception, it.message);
        let lines: Vec<String> = run.failures().filter(own).map(line).collect();
        (!lines.is_empty()).then(|| {
            format!(
                "they use what is not there; the parts are as shown above:\n{}",
                lines.join("\n")
            )
        })
    }

    /// Returns whether at least [`INTEGRATION_PERCENT`] of the tests passed.
    pub fn is_enough(&self) -> bool {
        let all = self.passed + self.failures.len();
        all > 0 && self.passed * 100 >= INTEGRATION_PERCENT * all
    }

    /// Returns the passing tests. A test function with a failing case is removed as a whole.
    pub fn passing(&self, tests: &Fragment) -> Fragment {
        without(tests, self.failures.iter().map(|(id, _)| id.as_str()))
    }
}

/// Removes test functions by the ids of their cases.
pub(crate) fn without<'a>(tests: &Fragment, ids: impl Iterator<Item = &'a str>) -> Fragment {
    let mut kept = tests.clone();
    for id in ids {
        // The part in brackets names the case and may hold any text.
        let mut names = id.split('[').next().unwrap_or(id).split("::").skip(1);
        match (names.next(), names.next()) {
            (Some(class), Some(method)) => remove_method(&mut kept, class, method),
            (Some(name), None) => kept.items.retain(|it| !it.binds(name)),
            (None, _) => {}
        }
    }
    kept
}

fn remove_method(tests: &mut Fragment, class: &str, method: &str) {
    for it in tests.items.iter_mut().filter(|it| it.binds(class)) {
        // A class that cannot be parsed stays, and its failure remains visible.
        if let Ok((rest, _)) = trellis_python::remove_methods(&it.text, &|name| name == method) {
            it.text = rest;
        }
    }
}
