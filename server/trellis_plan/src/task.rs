//! What a task says that a node has no field for.
//!
//! It stays among the node's `extra` fields as it was written, so that an export has it too; here it is read.

use std::ops::RangeInclusive;

use crate::node::Node;

/// Fields of a task, as [`Node::extra`] has them.
pub(crate) const DETAILS: &str = "implementation_details";
pub(crate) const POINTS: &str = "story_points";
pub(crate) const KEYWORDS: &str = "keywords";

/// Story points that a task may have.
const ESTIMATES: RangeInclusive<u32> = 1..=8;

/// A task as its list describes it, beside its id and its description (the node's docstring).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// How it is to be done, for the model.
    pub details: Option<String>,
    /// From 1 to 8; 1 where the list says nothing, or nothing valid.
    pub points: u32,
    /// Words to find related files by.
    pub keywords: Vec<String>,
}

impl Task {
    pub(crate) fn of(node: &Node) -> Task {
        let keywords = node.extra.get(KEYWORDS);
        Task {
            details: node.extra.text(DETAILS),
            points: points(node).unwrap_or(1),
            // What is there was found to be a list of texts when the file was read.
            keywords: keywords
                .and_then(|it| serde_json::from_str(it.get()).ok())
                .unwrap_or_default(),
        }
    }
}

/// The story points of a task, 1 if it has none; or what is wrong with them.
pub(crate) fn points(node: &Node) -> Result<u32, String> {
    let Some(raw) = node.extra.get(POINTS).map(|it| it.get()) else { return Ok(1) };
    let points = raw.parse().ok().filter(|it| ESTIMATES.contains(it));
    points.ok_or_else(|| format!("its `{POINTS}` are {raw}, expected a whole number from 1 to 8"))
}
