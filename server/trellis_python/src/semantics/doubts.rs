//! Places that may use a search target by another name than its own.

use super::eval::Eval;
use super::ir::*;
use super::meaning::{Meaning, Uncertainty};
use super::search::Match;
use super::search_target::SearchTarget;
use crate::index::FileId;

impl SearchTarget {
    /// Returns the places in a file that may use a target though its name is not written there, or is
    /// that of something else.
    pub(super) fn places_of_doubt(&self, eval: &Eval<'_>, file: FileId) -> Vec<Match> {
        let (keys, attributes) =
            (eval.computed_keys(file, &self.enums), eval.computed_attributes(file, &self.owners));
        let groups = [
            (keys, Uncertainty::Computed),
            (attributes, Uncertainty::Computed),
            (eval.open_calls(file, self), Uncertainty::Unpacked),
            (eval.attribute_calls(file, self), Uncertainty::Unpacked),
            (eval.member_names(file, &self.enums), Uncertainty::MemberName),
            (eval.local_readers(file, &self.targets), Uncertainty::Variables),
            (eval.stand_ins(file, self), Uncertainty::StandIn),
            (eval.callback_parameters(file, self), Uncertainty::StandIn),
            (eval.private_keywords(file, self), Uncertainty::Private),
        ];
        let places = groups.into_iter().flat_map(|(places, doubt)| {
            places.into_iter().map(move |it| doubtful(file, it, doubt))
        });
        places.collect()
    }
}

fn doubtful(file: FileId, occurrence: Occurrence, doubt: Uncertainty) -> Match {
    let meaning = Meaning::doubtful(doubt);
    Match { file, occurrence, meaning, uncertainty: Some(doubt), compound: None }
}
