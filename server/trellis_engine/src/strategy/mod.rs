//! Strategy of the search for a bug (L5, L6, L8): symbols of the traceback, then coverage, then
//! references, then a search of the graph.
//!
//! The strategy decides the order; [`Tools`] does the searching. Every use of a tool is an attempt
//! in the [`AttemptLog`], and its success counts in the [`ToolStats`], which may change the order
//! of later uses.

mod attempt_log;
mod tool_stats;

pub use attempt_log::{ATTEMPTS, Attempt, AttemptLog, LocalizationExhausted};
pub use tool_stats::{HitRate, Tool, ToolStats};

use crate::observation::Frame;
use crate::vocabulary::{Query, Suspect};

/// Maximum number of suspects.
pub const SUSPECTS: usize = 5;
/// Maximum number of frames of the traceback to look up, the deepest first.
const FRAMES: usize = 12;
/// Maximum number of graph searches for one failure.
const SEARCHES: usize = 3;

/// Suspects found by a tool, or its error.
pub type Answer = Result<Vec<Suspect>, String>;

/// Search tools; every answer has the likeliest suspect first.
pub trait Tools {
    /// Returns the definition that contains a frame.
    fn symbol(&mut self, frame: &Frame) -> Answer;
    /// Updates the index; false if nothing changed.
    fn refresh(&mut self) -> bool;
    /// Returns functions ranked by the lines executed in failing and passing tests.
    fn spectrum(&mut self) -> Answer;
    /// Returns the definitions that refer to a suspect.
    fn references(&mut self, suspect: &Suspect) -> Answer;
    /// Searches the planning graph for nodes by words.
    fn search(&mut self, words: &str) -> Answer;
}

/// Searches for suspects of a failure with each tool in turn. Searches without a result in earlier
/// iterations of the trail are not repeated.
///
/// # Errors
///
/// [`LocalizationExhausted`] if all attempts are used up and no suspect was found.
pub fn find_suspects(
    query: &Query,
    tools: &mut dyn Tools,
    trail: &mut AttemptLog,
    record: &mut ToolStats,
) -> Result<Vec<Suspect>, LocalizationExhausted> {
    let mut found: Vec<Suspect> = Vec::new();
    for tool in record.order() {
        let looked = ToolSearch { query, tools, trail, record }.look(tool, &mut found);
        if let Err(exhausted) = looked {
            return if found.is_empty() { Err(exhausted) } else { Ok(ranked(found)) };
        }
    }
    Ok(ranked(found))
}

/// Sorts suspects by score; those without a measured score keep the order in which they were found.
fn ranked(mut found: Vec<Suspect>) -> Vec<Suspect> {
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(SUSPECTS);
    found
}

struct ToolSearch<'a> {
    query: &'a Query,
    tools: &'a mut dyn Tools,
    trail: &'a mut AttemptLog,
    record: &'a mut ToolStats,
}

impl ToolSearch<'_> {
    fn look(&mut self, tool: Tool, found: &mut Vec<Suspect>) -> Result<(), LocalizationExhausted> {
        match tool {
            Tool::Symbol => self.symbols(found),
            Tool::Spectrum => {
                self.attempt(tool, "coverage of the failing tests", found, |tools| tools.spectrum())
            }
            Tool::References => match found.first().cloned() {
                Some(suspect) => {
                    self.attempt(tool, &suspect.symbol, found, |tools| tools.references(&suspect))
                }
                None => Ok(()),
            },
            Tool::Search if found.len() < SUSPECTS => self.searches(found),
            Tool::Search => Ok(()),
        }
    }

    fn symbols(&mut self, found: &mut Vec<Suspect>) -> Result<(), LocalizationExhausted> {
        for frame in frames(self.query) {
            let before = found.len();
            let query = format!("{}:{}", frame.path, frame.function);
            self.attempt(Tool::Symbol, &query, found, |tools| tools.symbol(frame))?;
            // The index may be older than the code that ran.
            if found.len() == before && !known(found, frame) && self.tools.refresh() {
                self.attempt(Tool::Symbol, &query, found, |tools| tools.symbol(frame))?;
            }
        }
        Ok(())
    }

    fn searches(&mut self, found: &mut Vec<Suspect>) -> Result<(), LocalizationExhausted> {
        for words in queries(self.query) {
            self.attempt(Tool::Search, &words, found, |tools| tools.search(&words))?;
        }
        Ok(())
    }

    /// Performs one attempt and records it in the log and the statistics.
    fn attempt(
        &mut self,
        tool: Tool,
        query: &str,
        found: &mut Vec<Suspect>,
        look: impl FnOnce(&mut dyn Tools) -> Answer,
    ) -> Result<(), LocalizationExhausted> {
        if self.trail.has_failed(tool, query) {
            return Ok(());
        }
        self.trail.begin(tool, query)?;
        let answer = look(self.tools);
        self.record.count(tool, &answer);
        self.trail.end(&answer);
        for suspect in answer.into_iter().flatten() {
            merge(found, suspect);
        }
        Ok(())
    }
}

/// Adds a suspect. A place found by two tools is one suspect with two reasons.
fn merge(found: &mut Vec<Suspect>, new: Suspect) {
    match found.iter_mut().find(|it| it.path == new.path && it.symbol == new.symbol) {
        Some(old) => {
            if new.score > old.score {
                (old.score, old.line) = (new.score, new.line);
            }
            if !old.why.contains(&new.why) {
                old.why = format!("{}; {}", old.why, new.why);
            }
        }
        None => found.push(new),
    }
}

fn known(found: &[Suspect], frame: &Frame) -> bool {
    found.iter().any(|it| it.path == frame.path && it.symbol.ends_with(&frame.function))
}

/// Returns the distinct frames outside of tests, the deepest first.
fn frames(query: &Query) -> Vec<&Frame> {
    let all = query.failures.iter().flat_map(|it| it.frames.iter().rev());
    let mut out: Vec<&Frame> = Vec::new();
    for frame in all.chain(query.stack.iter().rev()) {
        let inside = !frame.path.starts_with(['/', '<']) && !frame.path.starts_with("tests/");
        let again = out.iter().any(|it| it.path == frame.path && it.function == frame.function);
        if inside && !again && frame.function != "<module>" && out.len() < FRAMES {
            out.push(frame);
        }
    }
    out
}

/// Returns graph searches for the messages and failing lines of the failures.
pub fn queries(query: &Query) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for failure in &query.failures {
        let line = failure.frames.last().map_or("", |frame| frame.source.as_str());
        let text = format!("{} {line}", failure.message.lines().next().unwrap_or_default());
        let text = text.trim().to_owned();
        if !text.is_empty() && !out.contains(&text) && out.len() < SEARCHES {
            out.push(text);
        }
    }
    out
}
