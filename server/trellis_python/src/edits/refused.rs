//! Reasons for refusing to edit a symbol.

use crate::syntax::SyntaxError;

/// A place that a request may have meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// 1-based line.
    pub line: usize,
    /// An unambiguous name path, or the text at that place.
    pub text: String,
}

impl std::fmt::Display for Candidate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

/// The reason why a symbol was not edited. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("there is no {symbol} in the file; it defines {}", some(known))]
    NotFound {
        symbol: String,
        /// Name paths defined in the file, at most ten.
        known: Vec<String>,
    },
    #[error("{symbol} is defined {} times; choose one of {}", candidates.len(), join(candidates))]
    Ambiguous { symbol: String, candidates: Vec<Candidate> },
    #[error("the file cannot be read as Python: {error}")]
    TooDeep { error: SyntaxError },
    #[error("the new text is empty; to remove a symbol, delete it")]
    Empty,
    #[error("the new text is not valid Python: {error}; fix it and try again")]
    Unparsable { error: SyntaxError },
    #[error(
        "the new text is a definition of {found}, not of {symbol}; rename the symbol first, or keep its name"
    )]
    OtherName { symbol: String, found: String },
    #[error(
        "the new text defines {symbol} and has other statements next to it; replace with the \
         definition alone, and insert the rest before or after it"
    )]
    MoreThanOne { symbol: String },
    #[error("line {line} also binds {}; give a text that binds all of them, or split the line first", names.join(", "))]
    AlsoBinds { names: Vec<String>, line: usize },
    #[error(
        "{symbol} shares line {line} with other code; put it on a line of its own first, or give one simple statement"
    )]
    SharedLine { symbol: String, line: usize },
    #[error("{symbol} is not a class; name the class to insert into")]
    NoClass { symbol: String },
    #[error(
        "a syntax error leaves it unclear where {symbol} ends (line {line}); fix the file there \
         first"
    )]
    NotIntact { symbol: String, line: usize },
    #[error("the file would get a new syntax error: {error}; it was not changed")]
    Worse { error: SyntaxError },
}

fn join(candidates: &[Candidate]) -> String {
    let shown = candidates.iter().map(|it| format!("{} (line {})", it.text, it.line));
    shown.collect::<Vec<_>>().join(", ")
}

fn some(known: &[String]) -> String {
    if known.is_empty() { "nothing".to_owned() } else { known.join(", ") }
}
