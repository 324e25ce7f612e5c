//! Answers that hold only while other questions are open.

use rustc_hash::FxHashMap;

use super::Question;
use super::contexts::ContextId;
use crate::semantics::types::Type;

/// Depths of the open questions that an answer depends on, as bits.
pub(super) type RestsOn = u128;
/// Mark of answers that a limit cut short, beside the depths of open questions.
pub(super) const CUT_SHORT: RestsOn = 1 << 127;

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
        let holds = known.rests_on & CUT_SHORT == 0 || depth >= known.depth;
        holds.then_some((&known.answer, known.rests_on))
    }

    pub(super) fn add(
        &mut self,
        question: (Question, ContextId),
        answer: Type,
        rests_on: RestsOn,
        depth: usize,
    ) {
        let innermost = (rests_on & !CUT_SHORT | 1).ilog2() as usize;
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
}
