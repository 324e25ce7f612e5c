//! Questions about a planning graph.

use std::path::Path;

use plan::{Dialect, Plan};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::Fault;
use crate::plan_file;

/// A form in which planning graphs are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) enum DialectName {
    #[serde(rename = "rpg")]
    Rpg,
    #[serde(rename = "zerorepo")]
    ZeroRepo,
    #[serde(rename = "codermind")]
    CoderMind,
    #[serde(rename = "rpg-encoder")]
    RpgEncoder,
}

impl From<Dialect> for DialectName {
    fn from(dialect: Dialect) -> DialectName {
        match dialect {
            Dialect::Rpg => DialectName::Rpg,
            Dialect::ZeroRepo => DialectName::ZeroRepo,
            Dialect::CoderMind => DialectName::CoderMind,
            Dialect::RpgEncoder => DialectName::RpgEncoder,
        }
    }
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Dialect {
        match name {
            DialectName::Rpg => Dialect::Rpg,
            DialectName::ZeroRepo => Dialect::ZeroRepo,
            DialectName::CoderMind => Dialect::CoderMind,
            DialectName::RpgEncoder => Dialect::RpgEncoder,
        }
    }
}

/// Reads the graph that parameters name.
pub(crate) fn read(graph: &Path, dialect: Option<DialectName>) -> Result<Plan, Fault> {
    plan_file::read(graph, dialect.map(Into::into))
}
