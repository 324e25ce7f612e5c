//! Arguments that select a symbol.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use trellis_server::api::symbol_query::SourcePosition;

/// A symbol by its name path, or by a place where it is named.
#[derive(Args)]
pub(super) struct SymbolArgs {
    /// Symbol: `name`, `Class/name`, `/Class/name` (full path), or `name[1]` (the second one).
    #[arg(required_unless_present = "at", conflicts_with = "at")]
    pub(super) name_path: Option<String>,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

/// Where to look, and for which place.
#[derive(Args)]
pub(super) struct ScopeArgs {
    /// Folder of the project.
    #[arg(long = "project", alias = "in", default_value = ".", value_name = "DIR")]
    pub(super) r#in: PathBuf,
    /// Position of the symbol instead of its name; lines and columns count from 1.
    #[arg(long, value_name = "FILE:LINE:COLUMN")]
    pub(super) at: Option<Spot>,
}

/// A position, `FILE:LINE:COLUMN`.
#[derive(Clone)]
pub(super) struct Spot(SourcePosition);

impl FromStr for Spot {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Spot, &'static str> {
        let bad = "give FILE:LINE:COLUMN, with numbers from 1";
        let mut parts = text.rsplitn(3, ':');
        let mut number = || parts.next()?.parse::<usize>().ok().filter(|it| *it > 0);
        let (column, line) = (number().ok_or(bad)?, number().ok_or(bad)?);
        let file = parts.next().filter(|it| !it.is_empty()).ok_or(bad)?;
        Ok(Spot(SourcePosition { file: file.to_owned(), line, column }))
    }
}

impl Spot {
    pub(super) fn place(&self) -> SourcePosition {
        self.0.clone()
    }
}

impl ScopeArgs {
    /// Returns the position in the form of method parameters.
    pub(super) fn place(&self) -> Option<SourcePosition> {
        self.at.as_ref().map(Spot::place)
    }
}
