//! Where to look for a bug, and in which order (L5, L6, L8): symbols of the traceback, what coverage
//! says, who refers to them, then a search of the graph.
//!
//! The strategy decides; [`Tools`] look. Every look is an attempt in the [`Trail`], and its success counts
//! in the [`ToolRecord`], which may change the order of the next ones.

mod record;
mod trail;

pub use record::{Tally, Tool, ToolRecord};
pub use trail::{ATTEMPTS, Attempt, LocalizationExhausted, Trail};

use crate::exchange::{Query, Suspect};
use crate::observation::Frame;

/// Most suspects anybody is shown.
pub const SUSPECTS: usize = 5;
/// Frames of the traceback that are looked up, the deepest first.
const FRAMES: usize = 12;
/// Graph searches for one failure.
const SEARCHES: usize = 3;

/// What a tool found, or why it could not look.
pub type Answer = Result<Vec<Suspect>, String>;

/// The looking itself; every answer has the likeliest first.
pub trait Tools {
    /// The definition a frame stands in.
    fn symbol(&mut self, frame: &Frame) -> Answer;
    /// Brings the index up to date; false where that changed nothing.
    fn refresh(&mut self) -> bool;
    /// Functions ranked by what failing and passing tests executed.
    fn spectrum(&mut self) -> Answer;
    /// Who refers to a suspect.
    fn references(&mut self, suspect: &Suspect) -> Answer;
    /// Nodes of the planning graph, by words.
    fn search(&mut self, words: &str) -> Answer;
}

/// Looks for suspects of a failure until the tools have had their turn. What the trail's earlier iterations
/// looked for in vain is not looked for again.
///
/// # Errors
///
/// [`LocalizationExhausted`] where all attempts are used up and no suspect was found.
pub fn find_suspects(
    query: &Query,
    tools: &mut dyn Tools,
    trail: &mut Trail,
    record: &mut ToolRecord,
) -> Result<Vec<Suspect>, LocalizationExhausted> {
    let mut found: Vec<Suspect> = Vec::new();
    for tool in record.order() {
        let looked = Looker { query, tools, trail, record }.look(tool, &mut found);
        if let Err(exhausted) = looked {
            return if found.is_empty() { Err(exhausted) } else { Ok(ranked(found)) };
        }
    }
    Ok(ranked(found))
}

/// Measured suspicion first, the rest in the order it was found.
fn ranked(mut found: Vec<Suspect>) -> Vec<Suspect> {
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(SUSPECTS);
    found
}

struct Looker<'a> {
    query: &'a Query,
    tools: &'a mut dyn Tools,
    trail: &'a mut Trail,
    record: &'a mut ToolRecord,
}

impl Looker<'_> {
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

    /// One attempt, in the trail and in the record.
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

/// The same place seen by two tools is one suspect with two reasons.
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

/// Distinct frames outside of tests, the deepest first.
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

/// What to search the graph for: what the failures say.
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
