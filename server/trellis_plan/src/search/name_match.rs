//! Rates how well a query matches a name.

use super::index::{Query, mistakes};
use super::words::{compact, words};
use crate::did_you_mean::distance;

/// Smallest number of letters at which confusion of two different words is unlikely.
const LONG: usize = 8;

/// Quality of a match; the number is the whole part of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameMatch {
    Not = 0,
    /// Mistyped, in another order, abbreviated, or mentioned in a longer query.
    Nearly = 1,
    Exactly = 2,
}

/// A name prepared for comparison.
#[derive(Clone, Debug)]
pub(super) struct Name {
    /// Letters and digits of the whole name, and of the part after its last dot.
    compact: [Box<str>; 2],
    stems: Box<[String]>,
    /// Parts between the dots, as lowercase words.
    parts: Box<[String]>,
    /// True if a part has several words, so that no ordinary sentence contains it by chance.
    is_telling: bool,
}

impl Name {
    pub(super) fn of(name: &str) -> Name {
        let last = name.rsplit('.').next().unwrap_or(name);
        let parts: Vec<&str> = name.split('.').collect();
        Name {
            compact: [name, last].map(|it| compact(it).into()),
            stems: words(name).into_iter().map(|it| it.stem).collect(),
            is_telling: parts.iter().any(|part| words(part).len() > 1),
            parts: parts.into_iter().map(str::to_lowercase).collect(),
        }
    }

    pub(super) fn met_by(&self, query: &Query) -> NameMatch {
        let wanted = query.compact.as_str();
        if self.compact.iter().any(|it| **it == *wanted) {
            return NameMatch::Exactly;
        }
        let mentioned = self.is_telling && self.parts.iter().all(|it| query.tokens.contains(it));
        let whole = || self.compact.iter().any(|it| is_mistyped(wanted, it));
        let part = |word: &str| self.compact.iter().any(|it| has_one_typo(word, it));
        let mistyped =
            || query.unknown().next().is_some() && (whole() || query.unknown().any(part));
        let nearly = mentioned || query.is_made_of(&self.stems) || mistyped();
        if nearly { NameMatch::Nearly } else { NameMatch::Not }
    }
}

/// Returns whether a word is a name with a few typing mistakes, or with at most half of its letters
/// left out. The first letter must match, because people rarely mistype it.
fn is_mistyped(word: &str, name: &str) -> bool {
    let first = word.chars().next();
    if word.len() < 4 || first != name.chars().next() {
        return false;
    }
    let far = mistakes(word.len());
    distance(word, name, far).is_some() || (word.len() * 2 >= name.len() && is_within(word, name))
}

/// Returns whether a word of a longer query is a name with a single mistake, and too long to be
/// another word by chance.
fn has_one_typo(word: &str, name: &str) -> bool {
    word.len() >= LONG
        && word.as_bytes().first() == name.as_bytes().first()
        && distance(word, name, 1).is_some()
}

/// Returns whether all letters of a word occur in a name in the same order.
fn is_within(word: &str, name: &str) -> bool {
    let mut letters = name.chars();
    word.chars().all(|wanted| letters.any(|it| it == wanted))
}
