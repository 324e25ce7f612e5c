//! Lookups of a model, which count as attempts to localize a bug (L6).

use serde_json::{Map, Value};
use trellis_engine::{LocalizationExhausted, Tool};

use super::truncate::clipped;

/// Lookup tools, with the localization tool they count as and the argument that holds the query.
const TABLE: [(&str, Tool, &str); 5] = [
    ("search_plan", Tool::Search, "words"),
    ("grep", Tool::Search, "pattern"),
    ("find_symbol", Tool::Symbol, "name"),
    ("find_references", Tool::References, "name"),
    ("callers", Tool::References, "name"),
];

/// Maximum bytes kept of a query and of its result.
const LONGEST: usize = 200;

/// One lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    pub tool: Tool,
    pub query: String,
    /// The first line of the result; `None` if nothing was found.
    pub found: Option<String>,
}

/// Lookups made, and the number of those still allowed.
#[derive(Clone, Debug)]
pub(super) struct Lookups {
    left: usize,
    pub(super) made: Vec<Lookup>,
    /// True if the model wanted more lookups than allowed.
    pub(super) is_exhausted: bool,
}

impl Lookups {
    pub(super) fn new(left: usize) -> Lookups {
        Lookups { left, made: Vec::new(), is_exhausted: false }
    }

    /// Returns the refusal of a call, if it is a lookup and none is left.
    pub(super) fn refuse(&mut self, name: &str) -> Option<String> {
        let is_lookup = TABLE.iter().any(|it| it.0 == name);
        if !is_lookup || self.left > 0 {
            return None;
        }
        self.is_exhausted = true;
        Some(format!("{LocalizationExhausted}; change the code by what you know, or call `done`"))
    }

    /// Records a call that was made, with the text of its result.
    pub(super) fn take(&mut self, name: &str, given: &Map<String, Value>, found: Option<&str>) {
        let Some((_, tool, argument)) = TABLE.iter().find(|it| it.0 == name) else { return };
        self.left = self.left.saturating_sub(1);
        let query = given.get(*argument).and_then(Value::as_str).unwrap_or_default();
        let line = |text: &str| clipped(text.lines().next().unwrap_or_default(), LONGEST);
        let (query, found) = (clipped(query, LONGEST), found.map(line));
        self.made.push(Lookup { tool: *tool, query, found });
    }
}
