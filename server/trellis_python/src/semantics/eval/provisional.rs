//! Answers that hold only while other questions are open.

use rustc_hash::FxHashMap;

use super::Question;
use super::contexts::ContextId;
use crate::semantics::types::Type;

/// Number of words with a bit for each depth.
const WORDS: usize = 16;
/// Largest depth of nested questions; each takes some kilobytes of stack. Chains of calls in large
/// projects reach half of it.
pub(super) const DEEPEST: usize = 64 * WORDS;

/// Depths of the open questions that an answer depends on, and whether a limit cut it short.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RestsOn {
    /// Depths as bits.
    depths: [u64; WORDS],
    pub(super) is_cut_short: bool,
}

impl RestsOn {
    /// Adds the open question at a depth.
    pub(super) fn insert(&mut self, depth: usize) {
        self.depths[depth / 64] |= 1 << (depth % 64);
    }

    /// Removes the question at a depth.
    pub(super) fn remove(&mut self, depth: usize) {
        self.depths[depth / 64] &= !(1 << (depth % 64));
    }

    /// Adds all that another answer rests on.
    pub(super) fn add(&mut self, other: &RestsOn) {
        for (it, other) in self.depths.iter_mut().zip(other.depths) {
            *it |= other;
        }
        self.is_cut_short |= other.is_cut_short;
    }

    /// Returns whether an answer holds for good.
    pub(super) fn is_nothing(&self) -> bool {
        !self.is_cut_short && self.depths.iter().all(|it| *it == 0)
    }

    /// Returns the depth of the innermost open question, 0 if there is none.
    pub(super) fn innermost(&self) -> usize {
        let word = self.depths.iter().rposition(|it| *it != 0);
        word.map_or(0, |it| it * 64 + self.depths[it].ilog2() as usize)
    }
}

struct Kept {
    answer: Type,
    rests_on: RestsOn,
    /// The depth at which the question was asked.
    depth: usize,
}

/// Answers that hold while the questions that they depend on are open.
#[derive(Default)]
pub(super) struct Provisional {
    answers: FxHashMap<(Question, ContextId), Kept>,
    /// Questions by the depth of the innermost question that their answer depends on.
    until: Vec<Vec<(Question, ContextId)>>,
}

impl Provisional {
    /// Returns an answer and what it rests on. An answer that a limit cut short does not hold for
    /// questions asked at a smaller depth.
    pub(super) fn get(
        &self,
        question: &(Question, ContextId),
        depth: usize,
    ) -> Option<(&Type, RestsOn)> {
        let known = self.answers.get(question)?;
        let holds = !known.rests_on.is_cut_short || depth >= known.depth;
        holds.then_some((&known.answer, known.rests_on))
    }

    pub(super) fn add(
        &mut self,
        question: (Question, ContextId),
        answer: Type,
        rests_on: RestsOn,
        depth: usize,
    ) {
        let innermost = rests_on.innermost();
        if self.until.len() <= innermost {
            self.until.resize(innermost + 1, Vec::new());
        }
        self.until[innermost].push(question);
        self.answers.insert(question, Kept { answer, rests_on, depth });
    }

    /// Forgets the answers that depend on the question at a depth, which is no longer open.
    pub(super) fn close(&mut self, depth: usize) {
        for question in self.until.get_mut(depth).into_iter().flat_map(std::mem::take) {
            self.answers.remove(&question);
        }
    }

    /// Keeps the answers that depend on the question at a depth, which is no longer open, for as
    /// long as those that its own answer rests on. They lack what that question contributes, so
    /// that they may be anything besides.
    pub(super) fn pass_on(&mut self, depth: usize, rests_on: &RestsOn) {
        let questions: Vec<_> = self.until.get_mut(depth).map(std::mem::take).unwrap_or_default();
        if self.until.len() <= rests_on.innermost() {
            self.until.resize(rests_on.innermost() + 1, Vec::new());
        }
        for question in questions {
            if let Some(it) = self.answers.get_mut(&question) {
                it.answer = Type::union([it.answer.clone(), Type::Unknown]);
                it.rests_on = *rests_on;
                self.until[rests_on.innermost()].push(question);
            }
        }
    }
}
