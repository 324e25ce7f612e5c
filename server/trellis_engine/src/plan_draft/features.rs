//! The first stage: the features that a specification asks for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Sentences;
use trellis_plan::SpecFeature;
use trellis_python::distributions::distribution;
use trellis_python::standard_library::{is_builtin, is_stdlib};

/// Features of the project, as a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// Name to import.
    pub package: String,
    /// One line on the project.
    #[serde(default)]
    pub summary: String,
    pub features: Vec<Feature>,
    /// Numbers of the sentences that ask for nothing.
    #[serde(default)]
    pub background: Vec<usize>,
    /// Questions to the person.
    #[serde(default)]
    pub questions: Vec<String>,
    /// The reason why no Python package can be what the specification asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsuitable: Option<String>,
}

/// A feature: a group of others, or a small one that serves sentences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<Feature>,
    /// Numbers of the sentences that it serves, from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<usize>,
}

/// A feature without parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf<'a> {
    /// Its place in the tree: `2.1`.
    pub number: String,
    pub feature: &'a Feature,
}

/// Greatest number of features of one reply.
const MOST: usize = 400;

impl Features {
    /// Returns the features without parts, in order.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        fn below<'a>(all: &'a [Feature], above: &str, out: &mut Vec<Leaf<'a>>) {
            for (index, feature) in all.iter().enumerate() {
                let number = format!("{above}{}", index + 1);
                match feature.features.is_empty() {
                    true => out.push(Leaf { number, feature }),
                    false => below(&feature.features, &format!("{number}."), out),
                }
            }
        }
        let mut out = Vec::new();
        below(&self.features, "", &mut out);
        out
    }

    /// Returns the features at the top of the tree, each with the sentences of everything below it.
    pub(super) fn groups(&self) -> Vec<SpecFeature> {
        fn collect(feature: &Feature, out: &mut BTreeSet<usize>) {
            out.extend(&feature.sentences);
            feature.features.iter().for_each(|it| collect(it, out));
        }
        let group = |feature: &Feature| {
            let mut sentences = BTreeSet::new();
            collect(feature, &mut sentences);
            SpecFeature {
                name: feature.name.trim().to_owned(),
                sentences: Vec::from_iter(sentences),
            }
        };
        self.features.iter().map(group).collect()
    }

    /// Returns the numbers of the sentences that features, by their numbers, serve.
    pub(super) fn sentences_of(&self, numbers: &[String]) -> BTreeSet<usize> {
        let own = self.leaves().into_iter().filter(|it| numbers.contains(&it.number));
        own.flat_map(|it| it.feature.sentences.iter().copied()).collect()
    }

    /// Returns the reason why no Python package can be what the specification asks for.
    pub fn why_unsuitable(&self) -> Option<&str> {
        self.unsuitable.as_deref().map(str::trim).filter(|it| !it.is_empty())
    }

    /// Returns the tree as numbered lines.
    pub fn outline(&self) -> String {
        fn below(all: &[Feature], above: &str, depth: usize, out: &mut String) {
            for (index, it) in all.iter().enumerate() {
                let number = format!("{above}{}", index + 1);
                let indent = "  ".repeat(depth);
                let serves = match it.sentences.is_empty() {
                    true => String::new(),
                    false => format!(" (sentences {})", super::numbers(&it.sentences)),
                };
                out.push_str(&format!("{indent}- {number} {}{serves}\n", it.name));
                below(&it.features, &format!("{number}."), depth + 1, out);
            }
        }
        let mut out = String::new();
        below(&self.features, "", 0, &mut out);
        out
    }

    /// Returns whether a plan can be made of the features, whatever else is wrong with them.
    pub(super) fn is_usable(&self) -> bool {
        (1..=MOST).contains(&self.leaves().len()) && package_problem(&self.package).is_none()
    }

    /// Returns everything that is wrong, as sentences for the model.
    pub fn problems(&self, sentences: &Sentences) -> Vec<String> {
        let mut out = Vec::from_iter(package_problem(&self.package));
        let leaves = self.leaves();
        if leaves.is_empty() {
            out.push("there are no features".to_owned());
        }
        if leaves.len() > MOST {
            out.push(format!("there are {} features; {MOST} are the most", leaves.len()));
            return out;
        }
        let mut names: BTreeMap<String, &str> = BTreeMap::new();
        for Leaf { number, feature } in &leaves {
            if feature.name.trim().is_empty() {
                out.push(format!("feature {number} has no name"));
            } else if let Some(other) = names.insert(feature.name.to_lowercase(), number) {
                out.push(format!(
                    "features {other} and {number} are both called {:?}",
                    feature.name
                ));
            }
            if feature.sentences.is_empty() {
                out.push(format!(
                    "feature {number} serves no sentence: name them, or leave it out"
                ));
            }
        }
        let mut groups: BTreeSet<String> = BTreeSet::new();
        for group in self.features.iter().filter(|it| !it.features.is_empty()) {
            if group.name.trim().is_empty() || !groups.insert(group.name.trim().to_lowercase()) {
                out.push(format!("two groups are called {:?}, or one has no name", group.name));
            }
        }
        let served = leaves.iter().flat_map(|it| &it.feature.sentences).copied();
        let named: BTreeSet<usize> = served.chain(self.background.iter().copied()).collect();
        let unknown = named.iter().filter(|it| !sentences.has(**it)).copied();
        let unknown: Vec<usize> = unknown.collect();
        if !unknown.is_empty() {
            out.push(format!("there are no sentences {}", super::numbers(&unknown)));
        }
        let forgotten = sentences.to_serve().filter(|(number, _)| !named.contains(number));
        out.extend(forgotten.map(|(number, text)| {
            format!("sentence {number} is neither served nor background: {text:?}")
        }));
        out
    }
}

/// Returns why a package cannot have this name.
fn package_problem(name: &str) -> Option<String> {
    let is_plain = trellis_plan::is_identifier(name) && name.to_lowercase() == name;
    if !is_plain || name.starts_with('_') {
        return Some(format!("`package` {name:?} is not a Python name in lower case"));
    }
    if is_stdlib(name) || is_builtin(name) {
        return Some(format!("`package` {name:?} is a name of Python's standard library"));
    }
    if is_installed(name) {
        return Some(format!("`package` {name:?} is the name of a package that others install"));
    }
    let reserved = ["tests", "test_app", "src", "docs"].contains(&name);
    reserved.then(|| format!("`package` {name:?} is the name of a folder of every project"))
}

/// Packages of every test environment.
const INSTALLED: [&str; 9] = [
    "coverage",
    "iniconfig",
    "packaging",
    "pip",
    "pluggy",
    "pygments",
    "pytest",
    "setuptools",
    "wheel",
];

/// Returns whether a test environment has a package of this name, or a known distribution installs
/// one.
fn is_installed(name: &str) -> bool {
    INSTALLED.contains(&name) || distribution(name) != name
}
