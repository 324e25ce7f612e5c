//! Majority vote on what a failure means (V3).

use crate::diagnosis::Diagnosis;

/// Votes counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    counts: [u32; 3],
    cast: u32,
}

impl Votes {
    /// Counts one reply: the first of `A`, `B`, `C` standing alone. A reply without one is a vote cast
    /// for nothing.
    pub fn add(&mut self, reply: &str) {
        self.cast += 1;
        if let Some(choice) = choice(reply) {
            self.counts[choice] += 1;
        }
    }

    pub fn cast(&self) -> u32 {
        self.cast
    }

    /// The choice that more than half of `of` votes made.
    pub fn winner(&self, of: u32) -> Option<Diagnosis> {
        let kinds = [Diagnosis::Implementation, Diagnosis::Test, Diagnosis::Environment];
        kinds.into_iter().zip(self.counts).find(|(_, count)| *count > of / 2).map(|(kind, _)| kind)
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

fn choice(reply: &str) -> Option<usize> {
    let words = reply.split(|c: char| !c.is_alphanumeric());
    words.into_iter().find_map(|word| ["A", "B", "C"].iter().position(|letter| *letter == word))
}
