//! Which symbol a command line means.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::methods::meant::At;

/// A symbol by its name path, or by a place where it is named.
#[derive(Args)]
pub(super) struct SymbolArgs {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
    #[arg(required_unless_present = "at", conflicts_with = "at")]
    pub(super) name_path: Option<String>,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

/// Where to look, and for which place.
#[derive(Args)]
pub(super) struct ScopeArgs {
    /// Folder to look in.
    #[arg(long, default_value = ".", value_name = "PATH")]
    pub(super) r#in: PathBuf,
    /// A place where the symbol is named, with line and column from 1, in place of its name path.
    #[arg(long, value_name = "FILE:LINE:COLUMN")]
    pub(super) at: Option<Spot>,
}

/// `FILE:LINE:COLUMN`.
#[derive(Clone)]
pub(super) struct Spot(At);

impl FromStr for Spot {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Spot, &'static str> {
        let bad = "give FILE:LINE:COLUMN, with numbers from 1";
        let mut parts = text.rsplitn(3, ':');
        let mut number = || parts.next()?.parse::<usize>().ok().filter(|it| *it > 0);
        let (column, line) = (number().ok_or(bad)?, number().ok_or(bad)?);
        let file = parts.next().filter(|it| !it.is_empty()).ok_or(bad)?;
        Ok(Spot(At { file: file.to_owned(), line, column }))
    }
}

impl Spot {
    pub(super) fn place(&self) -> At {
        self.0.clone()
    }
}

impl ScopeArgs {
    /// The place, as parameters have it.
    pub(super) fn place(&self) -> Option<At> {
        self.at.as_ref().map(Spot::place)
    }
}
