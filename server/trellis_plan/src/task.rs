//! Reads the fields of a task for which a node has no field.
//!
//! The fields stay among the node's `extra` fields as written, so that an export contains them too.

use std::ops::RangeInclusive;

use crate::node::Node;

/// Names of a task's fields in [`Node::extra`].
pub(crate) const DETAILS: &str = "implementation_details";
pub(crate) const POINTS: &str = "story_points";
pub(crate) const KEYWORDS: &str = "keywords";

/// Valid story points of a task.
const ESTIMATES: RangeInclusive<u32> = 1..=8;

/// A task as described in its list, without its id and its description (the node's docstring).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Implementation details for the model.
    pub details: Option<String>,
    /// Story points from 1 to 8; 1 if they are missing or invalid.
    pub points: u32,
    /// Words for finding related files.
    pub keywords: Vec<String>,
}

impl Task {
    pub(crate) fn of(node: &Node) -> Task {
        let keywords = node.extra.get(KEYWORDS);
        Task {
            details: node.extra.text(DETAILS),
            points: points(node).unwrap_or(1),
            // The value was checked to be a list of strings when the file was read.
            keywords: keywords
                .and_then(|it| serde_json::from_str(it.get()).ok())
                .unwrap_or_default(),
        }
    }
}

/// Returns the story points of a task, 1 if it has none; or the problem with them.
pub(crate) fn points(node: &Node) -> Result<u32, String> {
    let Some(raw) = node.extra.get(POINTS).map(|it| it.get()) else { return Ok(1) };
    let points = raw.parse().ok().filter(|it| ESTIMATES.contains(it));
    points.ok_or_else(|| format!("its `{POINTS}` are {raw}, expected a whole number from 1 to 8"))
}
