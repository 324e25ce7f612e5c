//! Checks the interface of a file, without running anything.

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::standard_library::is_builtin;
use trellis_python::{Outline, Signature, example_problem};

use super::imports::import_problems;
use super::{Interface, PlannedDefinition, PlannedKind, Sentences, numbers};

/// Names and sentences that a file can refer to.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    pub package: &'a str,
    pub sentences: &'a Sentences,
    /// Third-party distributions of the layout.
    pub libraries: &'a [String],
    /// Interfaces of the files that this one may use.
    pub others: &'a [&'a Interface],
}

/// Greatest number of definitions in a file.
const MOST: usize = 60;
/// Greatest number of examples of a definition.
const MOST_EXAMPLES: usize = 8;
/// Greatest length of an example, in bytes.
const LONGEST_EXAMPLE: usize = 500;

impl Interface {
    /// Returns whether a plan can be made of the interface, whatever else is wrong with it.
    pub(super) fn is_usable(&self) -> bool {
        (1..=MOST).contains(&self.definitions.len())
    }

    /// Returns everything that is wrong, as sentences for the model.
    pub fn problems(&self, around: &Surroundings<'_>) -> Vec<String> {
        let count = self.definitions.len();
        match count {
            0 => return vec!["it has no function and no class".to_owned()],
            _ if count > MOST => {
                return vec![format!("it has {count} definitions; {MOST} are the most")];
            }
            _ => {}
        }
        let mut out = self.name_problems();
        let mut unknown = trellis_python::unresolved(&self.text).unwrap_or_default();
        unknown.extend(self.unknown_quoted_types());
        out.extend(unknown.iter().map(|it| format!("`{it}` is neither defined nor imported")));
        out.extend(import_problems(self, around));
        let signatures = Signatures::of(self, around.others);
        for it in &self.definitions {
            let own = it.problems(around.sentences, &signatures).into_iter();
            out.extend(
                own.chain(self.unknown_uses(it, around.others))
                    .map(|problem| format!("`{}`: {problem}", it.name)),
            );
        }
        out.extend(self.circle());
        out
    }

    /// Returns names that are defined twice, or hide one of Python.
    fn name_problems(&self) -> Vec<String> {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        let mut out = Vec::new();
        for it in &self.definitions {
            if !names.insert(&it.name) {
                out.push(format!("`{}` is defined twice", it.name));
            }
            if is_builtin(&it.name) {
                out.push(format!("`{}` hides a name of Python; choose another", it.name));
            }
        }
        out
    }

    /// Returns the names in quoted annotations that nothing defines.
    fn unknown_quoted_types(&self) -> Vec<String> {
        let quoted = trellis_python::quoted_types(&self.text).unwrap_or_default();
        let imports = trellis_python::all_imports(&self.text).unwrap_or_default();
        let symbols = Outline::of(&self.text).symbols;
        let is_known = |name: &String| {
            is_builtin(name)
                || symbols.iter().any(|it| it.name == *name)
                || imports.iter().any(|it| it.bound() == Some(name))
        };
        quoted.into_iter().filter(|it| !is_known(it)).collect()
    }

    fn unknown_uses(&self, it: &PlannedDefinition, others: &[&Interface]) -> Vec<String> {
        let unknown = it.uses.iter().filter(|name| self.used(name, others).is_none());
        let problem =
            |name| format!("it uses `{name}`, which this file and the files it uses do not have");
        unknown.map(problem).collect()
    }

    /// Returns a circle of uses among the definitions of this file. Special methods belong to their
    /// class, and a definition may use itself.
    fn circle(&self) -> Option<String> {
        let unit = |it: &PlannedDefinition| it.class_of_special().unwrap_or(&it.name).to_owned();
        let mut left: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for it in &self.definitions {
            let class = it.name.rsplit_once('.').map(|it| it.0.to_owned());
            let used = it.uses.iter().filter_map(|name| self.used(name, &[]));
            let used = used.map(|(_, used)| unit(used)).chain(class);
            left.entry(unit(it)).or_default().extend(used.filter(|used| *used != unit(it)));
        }
        loop {
            let before = left.len();
            let names: BTreeSet<String> = left.keys().cloned().collect();
            left.retain(|_, used| !used.is_disjoint(&names));
            if left.is_empty() {
                return None;
            }
            if left.len() == before {
                let names = left.keys().map(|it| format!("`{it}`")).collect::<Vec<_>>();
                return Some(format!("these use each other in a circle: {}", names.join(", ")));
            }
        }
    }
}

/// Signatures by the name that calls them.
struct Signatures(BTreeMap<String, Signature>);

impl Signatures {
    fn of(own: &Interface, others: &[&Interface]) -> Signatures {
        let files = others.iter().copied().chain([own]);
        let all = files.flat_map(|it| &it.definitions);
        let callable = all.filter_map(|it| {
            let name = match it.kind {
                PlannedKind::Function => it.name.clone(),
                PlannedKind::Class => return None,
                PlannedKind::Method => it.name.strip_suffix(".__init__")?.to_owned(),
            };
            Some((name, Signature::parse(&it.signature).ok()?))
        });
        Signatures(callable.collect())
    }
}

impl PlannedDefinition {
    fn problems(&self, sentences: &Sentences, signatures: &Signatures) -> Vec<String> {
        let mut out = Vec::new();
        let signature = match Signature::parse(&self.signature) {
            Ok(signature) => signature,
            Err(error) => return vec![error.to_string()],
        };
        let bare = signature.unannotated();
        if !bare.is_empty() {
            out.push(format!("these have no type: {}", bare.join(", ")));
        }
        if self.docstring.is_empty() {
            out.push("it has no docstring".to_owned());
        }
        let unknown: Vec<usize> =
            self.serves.iter().copied().filter(|it| !sentences.has(*it)).collect();
        if !unknown.is_empty() {
            out.push(format!("there are no sentences {}", numbers(&unknown)));
        }
        if self.serves.is_empty() {
            out.push("`Serves:` names no sentence".to_owned());
        }
        if self.examples.len() > MOST_EXAMPLES {
            let count = self.examples.len();
            out.push(format!("it has {count} examples; {MOST_EXAMPLES} are the most"));
        } else if self.examples.is_empty() && self.needs_examples() {
            out.push("it has no examples".to_owned());
        }
        for example in self.examples.iter().take(MOST_EXAMPLES) {
            let problem = match example.len() > LONGEST_EXAMPLE {
                true => Some(format!("it is longer than {LONGEST_EXAMPLE} bytes")),
                false => example_problem(example, |name| signatures.0.get(name)),
            };
            let shown: String = example.chars().take(LONGEST_EXAMPLE).collect();
            out.extend(problem.map(|it| format!("the example {shown:?}: {it}")));
        }
        out
    }

    /// Returns whether the definition has a result that an expression can show.
    fn needs_examples(&self) -> bool {
        let returns_nothing = self.signature.ends_with("-> None");
        self.kind == PlannedKind::Function && !returns_nothing
    }
}
