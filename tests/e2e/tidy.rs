//! Consistency of the sources: allowed dependencies, correct pages, headers, no stray files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::world::repository;

/// Allowed dependencies of each crate; the architecture page has the reasons.
const ARROWS: [(&str, &[&str]); 14] = [
    ("trellis_os", &[]),
    ("trellis_plan", &[]),
    ("trellis_python", &[]),
    ("trellis_outline", &[]),
    ("trellis_engine", &["trellis_plan", "trellis_python"]),
    ("trellis_llm", &[]),
    ("trellis_sandbox", &["trellis_os"]),
    ("trellis_store", &["trellis_os"]),
    ("trellis_git", &["trellis_llm", "trellis_os", "trellis_store"]),
    (
        "trellis_project",
        &["trellis_os", "trellis_outline", "trellis_plan", "trellis_python", "trellis_store"],
    ),
    ("trellis_workflows", &BELOW_WORKFLOWS),
    ("trellis_server", &BELOW_SERVER),
    ("trellis", &BELOW_BINARY),
    ("trellis-fuzz", &BELOW_FUZZ),
];

const BELOW_WORKFLOWS: [&str; 9] = [
    "trellis_engine",
    "trellis_git",
    "trellis_llm",
    "trellis_os",
    "trellis_plan",
    "trellis_project",
    "trellis_python",
    "trellis_sandbox",
    "trellis_store",
];

const BELOW_SERVER: [&str; 11] = [
    "trellis_engine",
    "trellis_git",
    "trellis_llm",
    "trellis_os",
    "trellis_outline",
    "trellis_plan",
    "trellis_project",
    "trellis_python",
    "trellis_sandbox",
    "trellis_store",
    "trellis_workflows",
];

const BELOW_BINARY: [&str; 11] = [
    "trellis_engine",
    "trellis_git",
    "trellis_llm",
    "trellis_os",
    "trellis_plan",
    "trellis_project",
    "trellis_python",
    "trellis_sandbox",
    "trellis_server",
    "trellis_store",
    "trellis_workflows",
];
const BELOW_FUZZ: [&str; 8] = [
    "trellis_engine",
    "trellis_llm",
    "trellis_plan",
    "trellis_python",
    "trellis_sandbox",
    "trellis_server",
    "trellis_store",
    "trellis_workflows",
];

#[test]
fn crates_depend_only_on_those_they_may() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(repository())
        .output()
        .expect("cargo metadata");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages: BTreeMap<&str, &Value> =
        (metadata["packages"].as_array().expect("packages").iter())
            .map(|package| (package["name"].as_str().expect("a name"), package))
            .collect();
    let all: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    let found: BTreeSet<&str> =
        packages.keys().copied().filter(|name| *name != "trellis-tests").collect();
    assert_eq!(found, all, "another crate needs a written reason");
    for (name, allowed) in ARROWS {
        for dependency in packages[name]["dependencies"].as_array().expect("a list") {
            let other = dependency["name"].as_str().expect("a name");
            assert!(
                !all.contains(other) || allowed.contains(&other),
                "{name} may not depend on {other}"
            );
            let parser = other.starts_with("tree-sitter") || other.starts_with("ruff_");
            assert!(
                !parser || ["trellis_outline", "trellis_python"].contains(&name),
                "only `trellis_outline` and `trellis_python` name a parser, not {name}"
            );
            let wire = other.contains("lsp") || other.contains("jsonrpsee");
            assert!(
                !wire || name == "trellis_server",
                "only `trellis_server` speaks LSP and JSON-RPC, not {name}"
            );
        }
    }
    let tests = &packages["trellis-tests"]["dependencies"];
    let known: Vec<&str> = tests
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["name"].as_str())
        .filter(|name| all.contains(name))
        .collect();
    assert_eq!(known, Vec::<&str>::new(), "the end-to-end tests know the binary alone");
}

#[test]
fn building_tests_compiles_no_crate_a_second_time() {
    // A build without tests has the same features as one with tests, so that cargo builds each
    // crate once.
    let crates = |edges: &str| -> BTreeSet<String> {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--workspace", "--prefix", "none", "--format", "{p} {f}", "-e", edges])
            .current_dir(repository())
            .output()
            .expect("cargo tree");
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().map(|it| it.trim_end_matches(" (*)").trim_end().to_owned()).collect()
    };
    let (without, with) = (crates("normal,build"), crates("normal,build,dev"));
    assert!(without.len() > 200, "{without:?}");
    let twice: Vec<&String> = without.difference(&with).collect();
    assert_eq!(twice, Vec::<&String>::new(), "add what tests need to `tests/Cargo.toml`");
}

#[test]
fn every_module_is_named_by_the_page_of_its_crate() {
    let root = repository();
    for krate in folders(&root.join("server")) {
        let page = krate.join("README.md");
        let Ok(modules) = fs::read_dir(krate.join("src")) else { continue };
        let page = fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        for module in modules.flatten().map(|it| it.path()) {
            let name = module.file_stem().expect("a name").to_string_lossy().into_owned();
            let is_source =
                module.extension().is_some_and(|it| it == "rs") || module.join("mod.rs").exists();
            let is_entry = matches!(name.as_str(), "lib" | "main");
            let is_named = page.contains(&format!("`{name}`"));
            assert!(!is_source || is_entry || is_named, "{}: {name}", krate.display());
        }
    }
}

#[test]
fn the_pages_of_the_architecture_name_only_what_is_there() {
    let root = repository();
    let map = fs::read_to_string(root.join("server/ARCHITECTURE.md")).expect("the page");
    assert!(map.lines().count() <= 150, "the page is at most 150 lines");
    for word in
        map.split('`').skip(1).step_by(2).filter(|word| word.contains('/') && !word.contains(' '))
    {
        let place = word.trim_end_matches('/');
        let there = root.join(place).exists() || root.join("server").join(place).exists();
        assert!(there || word.starts_with('.'), "the page names {word}, which is not there");
    }
}

#[test]
fn every_source_file_says_what_it_is_for_and_leaves_nothing_behind() {
    let root = repository();
    for path in sources(&root.join("server")).into_iter().chain(sources(&root.join("tests"))) {
        let text = fs::read_to_string(&path).expect("text");
        let shown = path.display();
        assert!(text.starts_with("//!") || text.starts_with("#!"), "{shown} has no header");
        for word in [
            concat!("TO", "DO"),
            concat!("FIX", "ME"),
            concat!("XX", "X"),
            concat!("#[ign", "ore]"),
        ] {
            assert!(!text.contains(word), "{shown} holds {word}");
        }
        let production = text.split("#[cfg(test)]").next().unwrap_or(&text).lines().count();
        let may_be_long = shown.to_string().contains("/tests/")
            || shown.to_string().ends_with("standard_library.rs");
        assert!(may_be_long || production <= 800, "{shown} has {production} lines; split it");
    }
}

#[test]
fn every_test_that_the_threat_model_names_is_there() {
    let root = repository();
    let page = fs::read_to_string(root.join("server/SECURITY.md")).expect("the threat model");
    let all = sources(&root.join("server")).into_iter().chain(sources(&root.join("tests")));
    let text: String = all.map(|it| fs::read_to_string(it).expect("text")).collect();
    let is_name = |it: &&str| {
        it.matches('_').count() >= 2 && it.bytes().all(|it| it.is_ascii_lowercase() || it == b'_')
    };
    let named: Vec<&str> = page.split('`').skip(1).step_by(2).filter(is_name).collect();
    assert!(named.len() > 20, "it names {} tests", named.len());
    for name in named {
        assert!(
            text.contains(&format!("fn {name}(")),
            "the threat model names {name}, which is no test"
        );
    }
}

#[test]
fn the_readme_gives_two_commands_and_ci_runs_the_tests() {
    let root = repository();
    let readme = fs::read_to_string(root.join("README.md")).expect("README");
    for command in ["cargo xtask demo", "cargo xtask test"] {
        assert!(readme.contains(command), "{command}");
    }
    assert!(
        fs::read_to_string(root.join(".ci/run")).expect(".ci/run").contains("cargo xtask test")
    );
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).expect("a folder").flatten().map(|it| it.path());
    all.filter(|it| it.is_dir()).collect()
}

pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}
