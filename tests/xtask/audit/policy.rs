//! The rules of `deny.toml`, in cargo-deny's terms, and violations of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

use super::crates::{Crate, Crates};

/// Rules for the crates of a workspace.
pub(super) struct Policy {
    allowed: Vec<Licensee>,
    /// Crates that may also be present in an older version: names with a version prefix.
    older: Vec<(String, String)>,
    /// Names of crates below which a second version of a crate is accepted.
    skipped: BTreeSet<String>,
}

/// The parts of `deny.toml` that need no database; cargo-deny reads the whole file.
#[derive(Deserialize)]
struct File {
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Bans {
    #[serde(default)]
    skip: Vec<Skip>,
    #[serde(default)]
    skip_tree: Vec<Skip>,
}

#[derive(Deserialize)]
struct Skip {
    #[serde(rename = "crate")]
    name: String,
}

impl Policy {
    pub(super) fn read(text: &str) -> Result<Policy, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let licence = |it: &String| Licensee::parse(it).map_err(|e| format!("licence {it}: {e}"));
        let allowed = file.licenses.allow.iter().map(licence).collect::<Result<_, _>>()?;
        let older = file.bans.skip.iter().map(|it| name_and_version(&it.name));
        let older = older.collect::<Result<_, _>>()?;
        let skipped = file.bans.skip_tree.into_iter().map(|it| it.name).collect();
        Ok(Policy { allowed, older, skipped })
    }

    /// Returns all violations, one per line.
    pub(super) fn problems(&self, crates: &Crates) -> Vec<String> {
        let licences = crates.all().filter_map(|it| self.licence(it));
        let wildcards = crates.all().flat_map(wildcards);
        licences.chain(wildcards).chain(self.twice(crates)).chain(sources(crates)).collect()
    }

    /// Returns the problem with the license of an external crate.
    fn licence(&self, it: &Crate) -> Option<String> {
        let told = |what: &str| Some(format!("{} {}: {what}", it.name, it.version));
        it.source.as_ref()?;
        let Some(text) = &it.licence else { return told("it states no licence") };
        match Expression::parse_mode(text, ParseMode::LAX) {
            Err(_) => told(&format!("its licence `{text}` cannot be read")),
            Ok(expression) => {
                let is_met = expression.evaluate(|wanted| {
                    self.allowed.iter().any(|allowed| allowed.satisfies(wanted))
                });
                if is_met { None } else { told(&format!("its licence is {text}")) }
            }
        }
    }

    fn may_be_older(&self, it: &Crate) -> bool {
        let begins = |version: &str| {
            it.version
                .strip_prefix(version)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.older.iter().any(|(name, version)| *name == it.name && begins(version))
    }

    /// Returns crates with more than one version, ignoring those needed only through a skipped
    /// crate.
    fn twice(&self, crates: &Crates) -> Vec<String> {
        let needed = crates.without(&self.skipped);
        let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let counts = |it: &&Crate| needed.contains(it.id.as_str()) && !self.may_be_older(it);
        for it in crates.all().filter(counts) {
            versions.entry(&it.name).or_default().push(&it.version);
        }
        let twice = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
        twice.map(|(name, it)| format!("{name} is there twice: {}", it.join(", "))).collect()
    }
}

/// Parses `name@1.2`.
fn name_and_version(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('@').ok_or_else(|| format!("skip: {text} names no version"))?;
    Ok((parts.0.to_owned(), parts.1.to_owned()))
}

/// Returns dependencies of the workspace's crates that accept any version.
fn wildcards(it: &Crate) -> impl Iterator<Item = String> {
    let own = it.source.is_none();
    let any = it.wildcards.iter().filter(move |_| own);
    any.map(|name| format!("{} takes any version of {name}", it.name))
}

/// Checks that all crates come from one registry.
fn sources(crates: &Crates) -> Vec<String> {
    let sources: BTreeSet<&str> = crates.all().filter_map(|it| it.source.as_deref()).collect();
    let odd = sources.iter().filter(|it| !it.starts_with("registry+"));
    let odd = odd.map(|it| format!("{it} is no registry"));
    let many = (sources.len() > 1).then(|| format!("crates come from {sources:?}"));
    odd.chain(many).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Crates, Policy};

    const POLICY: &str = "[licenses]\nallow = ['MIT', 'Apache-2.0 WITH LLVM-exception']\n\
        [bans]\nskip = [{ crate = 'b@1.1', reason = 'as well' }]\nskip-tree = [{ crate = 'old', reason = 'others need it' }]\n";

    /// Returns metadata of crates with licenses and dependencies; crates without a license are the
    /// workspace's own.
    fn crates(all: &[(&str, &str, Option<&str>, &[&str])]) -> Crates {
        let id = |name: &str, version: &str| format!("{name} {version}");
        let package = |(name, version, licence, _): &(&str, &str, Option<&str>, &[&str])| {
            let source = licence.map(|_| "registry+one");
            json!({ "id": id(name, version), "name": name, "version": version, "license": licence,
                "source": source, "dependencies": [] })
        };
        let node = |(name, version, _, needs): &(&str, &str, Option<&str>, &[&str])| {
            let needs: Vec<Value> = needs.iter().map(|it| json!({ "pkg": it })).collect();
            json!({ "id": id(name, version), "deps": needs })
        };
        let packages: Vec<Value> = all.iter().map(package).collect();
        let nodes: Vec<Value> = all.iter().map(node).collect();
        Crates::read(&json!({ "packages": packages, "resolve": { "nodes": nodes } }))
            .expect("metadata")
    }

    fn problems(all: &[(&str, &str, Option<&str>, &[&str])]) -> Vec<String> {
        Policy::read(POLICY).expect("a policy").problems(&crates(all))
    }

    #[test]
    fn licences_are_met_by_one_of_several_and_by_all_that_are_wanted() {
        for licence in ["GPL-3.0 OR MIT", "MIT/GPL-3.0", "Apache-2.0 WITH LLVM-exception"] {
            assert_eq!(problems(&[("a", "1.0.0", Some(licence), &[])]), [""; 0]);
        }
        let told = problems(&[("a", "1.0.0", Some("as you like"), &[])]);
        assert_eq!(told, ["a 1.0.0: its licence `as you like` cannot be read"]);
        assert_eq!(
            problems(&[("a", "1.0.0", Some("GPL-3.0"), &[])]),
            ["a 1.0.0: its licence is GPL-3.0"]
        );
        assert_eq!(problems(&[("a", "1.0.0", Some("MIT AND GPL-3.0"), &[])]).len(), 1);
        assert_eq!(problems(&[("a", "1.0.0", Some("Apache-2.0"), &[])]).len(), 1);
    }

    #[test]
    fn a_second_version_is_accepted_below_what_is_skipped_alone() {
        let two = [("a", "1.0.0", Some("MIT"), &[][..]), ("a", "2.0.0", Some("MIT"), &[])];
        let old = ("old", "1.0.0", Some("MIT"), &["a 1.0.0"][..]);
        let of = |needs| problems(&[two[0], two[1], old, ("own", "1.0.0", None, needs)]);
        assert_eq!(of(&["a 2.0.0", "old 1.0.0"]), [""; 0]);
        assert_eq!(of(&["a 2.0.0", "a 1.0.0"]), ["a is there twice: 1.0.0, 2.0.0"]);
        let older = ("b", "1.10.0", Some("MIT"), &[][..]);
        let of = |older| {
            problems(&[
                older,
                ("b", "2.0.0", Some("MIT"), &[]),
                ("own", "1.0.0", None, &["b 1.10.0", "b 1.1.0", "b 2.0.0"]),
            ])
        };
        assert_eq!(of(older), ["b is there twice: 1.10.0, 2.0.0"]);
        assert_eq!(of(("b", "1.1.0", Some("MIT"), &[])), [""; 0]);
    }

    #[test]
    fn crates_come_from_one_registry_and_in_a_version_that_is_named() {
        let read = |source: &str| {
            json!({ "packages": [
                { "id": "a", "name": "a", "version": "1.0.0", "license": "MIT", "source": source, "dependencies": [] },
                { "id": "b", "name": "b", "version": "1.0.0", "license": "MIT", "source": "registry+one", "dependencies": [] },
                { "id": "own", "name": "own", "version": "1.0.0", "source": null,
                  "dependencies": [{ "name": "a", "req": "*" }, { "name": "x", "req": "*", "path": "x" }] },
            ], "resolve": { "nodes": [] } })
        };
        let told = |source: &str| {
            let crates = Crates::read(&read(source)).expect("metadata");
            Policy::read(POLICY).expect("a policy").problems(&crates)
        };
        assert_eq!(told("registry+one"), ["own takes any version of a"]);
        assert_eq!(told("registry+two").len(), 2);
        assert_eq!(told("git+elsewhere").len(), 3);
    }
}
