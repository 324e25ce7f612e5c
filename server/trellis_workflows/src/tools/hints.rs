//! Hints from the caller on where to look first.

use std::sync::Arc;

use trellis_engine::Suspect;

use super::arguments::tool;
use super::table::{Answer, Outcome, Run, ToolContext};
use super::truncate::{Truncated, clipped};

/// A node of the planning graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedNode {
    pub id: String,
    /// The node's file, relative to the project's root.
    pub path: String,
    /// `Class.method`, or the plain name.
    pub symbol: String,
    /// The planned purpose.
    pub docstring: String,
}

/// Searches the planning graph: the best nodes first, or the reason why no search is possible. Runs
/// on a thread that may block; asynchronous work goes through
/// `tokio::runtime::Handle::current().block_on`.
pub type PlanSearch = dyn Fn(&str) -> Result<Vec<PlannedNode>, String> + Send + Sync;

/// Hints that only the caller has.
#[derive(Clone, Default)]
pub(super) struct Hints {
    /// Best first; `None` without localization.
    pub(super) suspects: Option<Arc<[Suspect]>>,
    pub(super) plan: Option<Arc<PlanSearch>>,
}

tool! {
    "suspects",
    "Lists the functions and lines that the failing tests point at, the most suspect first, with the reasons. Lines are those before any change of yours.",
    Suspects {}
}

tool! {
    "search_plan",
    "Searches the planning graph of the project, which says what each function is to do and in which file it is.",
    SearchPlan {
        words: String = "a name, or words that say what the code does",
    }
}

impl Run for Suspects {
    fn run(self, scene: &ToolContext) -> Outcome {
        let suspects = scene.leads.suspects.as_deref().unwrap_or_default();
        if suspects.is_empty() {
            let text = "nothing is suspect; read the failing test and follow what it calls";
            return Ok(Answer::of(text.to_owned()));
        }
        let mut page = Truncated::new(scene.room);
        for (place, it) in suspects.iter().enumerate() {
            page.line(&suspect(place + 1, it));
        }
        let less = |left| format!("… {left} less suspect ones were left out");
        Ok(Answer::of(page.end(less)))
    }

    fn is_offered(leads: &Hints) -> bool {
        leads.suspects.is_some()
    }
}

fn suspect(place: usize, it: &Suspect) -> String {
    let score = if it.score > 0.0 { format!(" (score {:.2})", it.score) } else { String::new() };
    let why = clipped(&it.why, WORDS);
    format!("{place}. {}:{} {}{score}: {why}", it.path, it.line, it.symbol)
}

/// Maximum bytes shown of a free text.
const WORDS: usize = 500;

impl Run for SearchPlan {
    fn run(self, scene: &ToolContext) -> Outcome {
        if self.words.trim().is_empty() {
            let hint = "give a name, or words that say what the code does";
            return Err(format!("there are no words to search for; {hint}"));
        }
        let none = || "this project has no planning graph; use grep or find_symbol".to_owned();
        let search = scene.leads.plan.as_ref().ok_or_else(none)?;
        let found = search(&self.words).map_err(|why| {
            format!("the planning graph cannot be searched: {why}; use grep or find_symbol")
        })?;
        if found.is_empty() {
            let words = clipped(&self.words, WORDS);
            return Ok(Answer::nothing(format!(
                "no node of the plan fits {words:?}; try other words"
            )));
        }
        let mut page = Truncated::new(scene.room);
        for it in &found {
            let docstring = clipped(it.docstring.trim(), WORDS).replace('\n', "\n    ");
            page.line(&format!("{} in {} (node {})\n    {docstring}", it.symbol, it.path, it.id));
        }
        let less = |left| format!("… {left} that fit less were left out");
        Ok(Answer::of(page.end(less)))
    }

    fn is_offered(leads: &Hints) -> bool {
        leads.plan.is_some()
    }
}
