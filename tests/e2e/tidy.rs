//! The house holds together: allowed arrows, a true map, headers, nothing left behind.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::world::repository;

/// Which crate may know which; the map says why.
const ARROWS: [(&str, &[&str]); 6] = [
    ("plan", &[]),
    ("code", &[]),
    ("cycle", &["code", "plan"]),
    ("run", &[]),
    ("model", &[]),
    ("trellis", &["code", "cycle", "model", "plan", "run"]),
];

#[test]
fn crates_know_only_whom_they_may() {
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
    let house: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    let found: BTreeSet<&str> =
        packages.keys().copied().filter(|name| *name != "trellis-tests").collect();
    assert_eq!(found, house, "a seventh crate needs a written reason");
    for (name, allowed) in ARROWS {
        for dependency in packages[name]["dependencies"].as_array().expect("a list") {
            let other = dependency["name"].as_str().expect("a name");
            assert!(
                !house.contains(other) || allowed.contains(&other),
                "{name} may not know {other}"
            );
            let parser = other.starts_with("tree-sitter") || other.starts_with("ruff_");
            assert!(!parser || name == "code", "only `code` names a parser, not {name}");
            let wire = other.contains("lsp") || other.contains("jsonrpsee");
            assert!(
                !wire || name == "trellis",
                "only `trellis` speaks LSP and JSON-RPC, not {name}"
            );
        }
    }
    let tests = &packages["trellis-tests"]["dependencies"];
    let known: Vec<&str> = tests
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["name"].as_str())
        .filter(|name| house.contains(name))
        .collect();
    assert_eq!(known, Vec::<&str>::new(), "the end-to-end tests know the binary alone");
}

#[test]
fn building_tests_compiles_no_crate_a_second_time() {
    // What is built without tests has the same features as with them, so that cargo builds it once.
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
fn the_map_and_the_tree_agree() {
    let root = repository();
    let map = fs::read_to_string(root.join("server/ARCHITECTURE.md")).expect("the map");
    assert!(map.lines().count() <= 150, "the map is at most 150 lines");
    for path in sources(&root.join("server")) {
        let relative = path.strip_prefix(&root).expect("inside").to_string_lossy().into_owned();
        let Some((krate, rest)) =
            relative.strip_prefix("server/").and_then(|it| it.split_once("/src/"))
        else {
            continue;
        };
        let module = rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs");
        let entry = !matches!(module, "lib" | "main");
        assert!(
            !entry || map.contains(&format!("`{module}`")),
            "{krate}: `{module}` is not on the map"
        );
    }
    for word in
        map.split('`').skip(1).step_by(2).filter(|word| word.contains('/') && !word.contains(' '))
    {
        let place = word.trim_end_matches('/');
        let there = root.join(place).exists() || root.join("server").join(place).exists();
        assert!(
            there || word.starts_with('.') || word.contains('<') || place.starts_with("docs"),
            "the map names {word}, which is not there"
        );
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
        let may_be_long =
            shown.to_string().contains("/tests/") || shown.to_string().ends_with("known.rs");
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
