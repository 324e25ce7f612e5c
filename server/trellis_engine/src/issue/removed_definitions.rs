//! Losses by a change of an existing file: public names, checks, most of its lines.

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::{Outline, ShortcutKind, SymbolKind, changed_lines, shortcuts};

/// Minimum number of lines of a file whose rewriting is reported.
const LEAST_LINES: usize = 10;
/// Kinds of changes after which a function checks less than before.
const WEAKER: [ShortcutKind; 4] = [
    ShortcutKind::BrokenPromise,
    ShortcutKind::CheckGone,
    ShortcutKind::Emptied,
    ShortcutKind::Swallowed,
];

/// Losses by a change, as sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovedDefinitions {
    /// Lost public names and weakened checks; another answer can restore them.
    pub taken: Vec<String>,
    /// Files that lost more than a third of their lines.
    pub rewritten: Vec<String>,
}

impl RemovedDefinitions {
    /// Returns all sentences.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.taken.iter().chain(&self.rewritten)
    }
}

/// Returns the losses by a change from `before` to `after`, except names whose removal the
/// specification `words` asks for.
pub fn losses(words: &str, path: &str, before: &str, after: &str) -> RemovedDefinitions {
    let mut out = RemovedDefinitions::default();
    if path.ends_with(".py") {
        let (old, new) = (PublicInterface::of(before), PublicInterface::of(after));
        let gone = old.names.difference(&new.names).filter(|it| !is_wanted_away(words, it));
        let gone: Vec<String> = gone.map(|it| format!("`{it}`")).collect();
        if !gone.is_empty() {
            out.taken.push(format!("{path} has lost {}", gone.join(", ")));
        }
        out.taken.extend(new.bare_beside(&old).map(|it| format!("{path}: {it}")));
        let weaker =
            shortcuts(before, after, &[]).into_iter().filter(|it| WEAKER.contains(&it.kind));
        out.taken.extend(weaker.map(|it| format!("{path} line {}: {}", it.line, it.why)));
    }
    let all = before.lines().count();
    let gone = changed_lines(after, before).len();
    if all >= LEAST_LINES && gone * 3 > all {
        out.rewritten.push(format!("{path} was rewritten: {gone} of its {all} lines are gone"));
    }
    out
}

/// Beginnings of words that announce a removal.
const ENDS: [&str; 9] =
    ["remov", "delet", "drop", "renam", "replac", "retire", "no longer", "instead of", "moved"];

/// Returns whether a line of the specification announces the removal of a name.
fn is_wanted_away(words: &str, name: &str) -> bool {
    let own = name.rsplit('.').next().unwrap_or(name);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let speaks = |line: &&str| line.split(|c| !is_part(c)).any(|it| it == own);
    let ends = |line: &str| ENDS.iter().any(|it| line.to_lowercase().contains(it));
    words.lines().filter(speaks).any(ends)
}

/// Public interface of a module.
struct PublicInterface {
    /// Public definitions, methods as `Class.name`.
    names: BTreeSet<String>,
    /// Decorators of each definition.
    decorators: BTreeMap<String, BTreeSet<String>>,
}

impl PublicInterface {
    fn of(text: &str) -> PublicInterface {
        let outline = Outline::of(text);
        let mut face = PublicInterface { names: BTreeSet::new(), decorators: BTreeMap::new() };
        for (index, it) in outline.symbols.iter().enumerate() {
            let path = outline.path(index);
            let is_public = path.iter().all(|it| !it.name.starts_with('_'));
            let in_classes = path[..path.len() - 1].iter().all(|it| it.kind == SymbolKind::Class);
            let name = path.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(".");
            if in_classes && it.header.is_some() {
                let texts = it.decorators.iter().map(|it| text[it.clone()].to_owned());
                face.decorators.insert(name.clone(), texts.collect());
            }
            if in_classes && is_public {
                face.names.insert(name);
            }
        }
        face
    }

    /// Describes definitions that lost a decorator.
    fn bare_beside<'a>(&'a self, old: &'a PublicInterface) -> impl Iterator<Item = String> + 'a {
        old.decorators.iter().filter_map(|(name, was)| {
            let gone: Vec<&str> =
                was.difference(self.decorators.get(name)?).map(String::as_str).collect();
            (!gone.is_empty()).then(|| format!("`{name}` is without {} now", gone.join(" ")))
        })
    }
}
