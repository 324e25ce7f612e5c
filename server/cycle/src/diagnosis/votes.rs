//! Opinions on what a failure means (V3): one first, more where it is not sure, and what they come to.

use crate::diagnosis::Diagnosis;

/// How many opinions a failure gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteRule {
    /// One; further ones, to `most`, while nothing is clear, and one for each fix that fails afterwards.
    AsNeeded { most: u32 },
    /// So many, all at once; more than half decide.
    Exactly(u32),
}

impl VoteRule {
    /// Votes that are cast at most.
    pub fn most(self) -> u32 {
        match self {
            VoteRule::AsNeeded { most } | VoteRule::Exactly(most) => most,
        }
    }
}

/// What the votes so far come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Decided(Diagnosis),
    /// So many more are wanted.
    Open(u32),
    /// There will be no majority.
    Split,
}

/// Votes counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    counts: [u32; 3],
    cast: u32,
    /// Of the last vote, where it said that it was sure.
    sure: Option<Diagnosis>,
}

const KINDS: [Diagnosis; 3] = [Diagnosis::Implementation, Diagnosis::Test, Diagnosis::Environment];

impl Votes {
    /// Counts one reply: the letter of its last `VERDICT:`, else the first of `A`, `B`, `C` standing alone. A reply without
    /// one is a vote cast for nothing.
    pub fn add(&mut self, reply: &str) {
        self.cast += 1;
        self.sure = None;
        if let Some(choice) = verdict(reply).or_else(|| choice(reply)) {
            self.counts[choice] += 1;
            self.sure = is_sure(reply).then_some(KINDS[choice]);
        }
    }

    /// Votes counted, those for nothing among them.
    pub fn cast(&self) -> u32 {
        self.cast
    }

    /// What they come to.
    pub fn standing(&self, rule: VoteRule) -> Standing {
        let most = rule.most();
        let (kind, lead, next) = self.leading();
        if lead > most / 2 {
            return Standing::Decided(kind);
        }
        if matches!(rule, VoteRule::AsNeeded { .. }) && self.sure == Some(kind) && lead > next {
            return Standing::Decided(kind);
        }
        match rule {
            _ if self.cast >= most => Standing::Split,
            VoteRule::Exactly(count) => Standing::Open(count - self.cast),
            // The next one may be sure.
            VoteRule::AsNeeded { .. } => Standing::Open(1),
        }
    }

    /// Whether no further vote could change what they come to.
    pub fn is_settled(&self, rule: VoteRule) -> bool {
        self.cast >= rule.most() || self.leading().1 > rule.most() / 2
    }

    /// What most votes are for, how many, and how many the next one has.
    fn leading(&self) -> (Diagnosis, u32, u32) {
        let mut ranked: Vec<(usize, u32)> = self.counts.into_iter().enumerate().collect();
        ranked.sort_by_key(|(at, count)| (u32::MAX - count, *at));
        (KINDS[ranked[0].0], ranked[0].1, ranked[1].1)
    }

    /// `A 3, B 1, C 1`; replies without a letter are `none`.
    pub fn tally(&self) -> String {
        let [a, b, c] = self.counts;
        let none = match self.cast - a - b - c {
            0 => String::new(),
            n => format!(", none {n}"),
        };
        format!("A {a}, B {b}, C {c}{none}")
    }
}

/// The letter behind the last `VERDICT:`.
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
