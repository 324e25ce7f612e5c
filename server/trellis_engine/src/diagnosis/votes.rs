//! Votes on the cause of a failure (V3): one first, more while the model is not sure, and their
//! evaluation.

use crate::diagnosis::Diagnosis;

/// Number of votes on a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteRule {
    /// One vote; further ones, up to `most`, while the result is unclear, and one for each later
    /// failed fix.
    AsNeeded { most: u32 },
    /// A fixed number of votes at once; more than half decide.
    Exactly(u32),
}

impl VoteRule {
    /// Returns the maximum number of votes.
    pub fn most(self) -> u32 {
        match self {
            VoteRule::AsNeeded { most } | VoteRule::Exactly(most) => most,
        }
    }
}

/// Evaluation of the votes so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteTally {
    Decided(Diagnosis),
    /// The given number of further votes is needed.
    Open(u32),
    /// No majority is possible any more.
    Split,
}

/// Counted votes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    counts: [u32; 3],
    cast: u32,
    /// Diagnosis of the last vote, if that was sure.
    sure: Option<Diagnosis>,
}

const KINDS: [Diagnosis; 3] = [Diagnosis::Implementation, Diagnosis::Test, Diagnosis::Environment];

impl Votes {
    /// Counts one reply: the letter of its last `VERDICT:`, else the first of `A`, `B`, `C`
    /// standing alone. A reply without one counts as an empty vote.
    pub fn add(&mut self, reply: &str) {
        self.cast += 1;
        self.sure = None;
        if let Some(choice) = verdict(reply).or_else(|| choice(reply)) {
            self.counts[choice] += 1;
            self.sure = is_sure(reply).then_some(KINDS[choice]);
        }
    }

    /// Returns the number of votes, including empty ones.
    pub fn cast(&self) -> u32 {
        self.cast
    }

    /// Evaluates the votes.
    pub fn standing(&self, rule: VoteRule) -> VoteTally {
        let most = rule.most();
        let (kind, lead, next) = self.leading();
        if lead > most / 2 {
            return VoteTally::Decided(kind);
        }
        if matches!(rule, VoteRule::AsNeeded { .. }) && self.sure == Some(kind) && lead > next {
            return VoteTally::Decided(kind);
        }
        match rule {
            _ if self.cast >= most => VoteTally::Split,
            VoteRule::Exactly(count) => VoteTally::Open(count - self.cast),
            // The next vote may be sure.
            VoteRule::AsNeeded { .. } => VoteTally::Open(1),
        }
    }

    /// Returns whether further votes cannot change the result.
    pub fn is_settled(&self, rule: VoteRule) -> bool {
        self.cast >= rule.most() || self.leading().1 > rule.most() / 2
    }

    /// Returns the leading diagnosis, its votes, and the votes of the second.
    fn leading(&self) -> (Diagnosis, u32, u32) {
        let mut ranked: Vec<(usize, u32)> = self.counts.into_iter().enumerate().collect();
        ranked.sort_by_key(|(at, count)| (u32::MAX - count, *at));
        (KINDS[ranked[0].0], ranked[0].1, ranked[1].1)
    }

    /// Returns the counts as text: `A 3, B 1, C 1`; replies without a letter are `none`.
    pub fn tally(&self) -> String {
        let [a, b, c] = self.counts;
        let none = match self.cast - a - b - c {
            0 => String::new(),
            n => format!(", none {n}"),
        };
        format!("A {a}, B {b}, C {c}{none}")
    }
}

/// Returns the choice after the last `VERDICT:`.
fn verdict(reply: &str) -> Option<usize> {
    let (_, behind) = reply.rsplit_once("VERDICT")?;
    choice(behind.lines().next().unwrap_or_default())
}

fn is_sure(reply: &str) -> bool {
    let behind = reply.rsplit_once("SURE").map(|it| it.1.trim_start_matches([':', ' ', '*', '`']));
    behind.is_some_and(|it| it.to_ascii_lowercase().starts_with("high"))
}

fn choice(reply: &str) -> Option<usize> {
    let words = reply.split(|c: char| !c.is_alphanumeric());
    words.into_iter().find_map(|word| ["A", "B", "C"].iter().position(|letter| *letter == word))
}
