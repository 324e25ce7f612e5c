//! What a change of a file that exists takes away: names that others may use, checks, most of its lines.

use std::collections::{BTreeMap, BTreeSet};

use code::{Outline, ShortcutKind, SymbolKind, changed_lines, shortcuts};

/// Shorter files are rewritten freely.
const LEAST_LINES: usize = 10;
/// Changes of functions that check less than before.
const WEAKER: [ShortcutKind; 4] = [
    ShortcutKind::BrokenPromise,
    ShortcutKind::CheckGone,
    ShortcutKind::Emptied,
    ShortcutKind::Swallowed,
];

/// What a change takes away, as sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Public names that are gone, and checks that are weaker: an answer can put them back.
    pub taken: Vec<String>,
    /// Files of which more than a third is gone.
    pub rewritten: Vec<String>,
}

impl Losses {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.taken.iter().chain(&self.rewritten)
    }
}

/// What the change of a file from `before` to `after` takes away that the words of the work do not want away.
pub fn losses(words: &str, path: &str, before: &str, after: &str) -> Losses {
    let mut out = Losses::default();
    if path.ends_with(".py") {
        let (old, new) = (Face::of(before), Face::of(after));
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

/// Beginnings of words that speak of an end.
const ENDS: [&str; 9] =
    ["remov", "delet", "drop", "renam", "replac", "retire", "no longer", "instead of", "moved"];

/// Whether a line of the words speaks of the end of a name.
fn is_wanted_away(words: &str, name: &str) -> bool {
    let own = name.rsplit('.').next().unwrap_or(name);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let speaks = |line: &&str| line.split(|c| !is_part(c)).any(|it| it == own);
    let ends = |line: &str| ENDS.iter().any(|it| line.to_lowercase().contains(it));
    words.lines().filter(speaks).any(ends)
}

/// What others see of a module.
struct Face {
    /// Public definitions, methods as `Class.name`.
    names: BTreeSet<String>,
    /// Of each definition.
    decorators: BTreeMap<String, BTreeSet<String>>,
}

impl Face {
    fn of(text: &str) -> Face {
        let outline = Outline::of(text);
        let mut face = Face { names: BTreeSet::new(), decorators: BTreeMap::new() };
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

    /// Definitions that have lost a decorator.
    fn bare_beside<'a>(&'a self, old: &'a Face) -> impl Iterator<Item = String> + 'a {
        old.decorators.iter().filter_map(|(name, was)| {
            let gone: Vec<&str> =
                was.difference(self.decorators.get(name)?).map(String::as_str).collect();
            (!gone.is_empty()).then(|| format!("`{name}` is without {} now", gone.join(" ")))
        })
    }
}
