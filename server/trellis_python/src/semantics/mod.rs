//! Resolves names: Python's scoping, modules, and types as far as attributes need them.

mod ask;
mod bundle;
mod composed;
mod compounds;
mod conventions;
mod doubts;
mod eval;
mod fixed_names;
mod fixtures;
pub(crate) mod ir;
mod keys;
mod keywords;
mod local_names;
mod lower;
mod meaning;
mod module;
mod names;
mod passed_values;
mod program;
mod quoted;
mod quotes;
mod rename;
mod resolve;
mod search;
mod search_target;
mod stand_ins;
mod structural;
mod stub_counterparts;
mod types;
mod unpacked;
mod writes;

pub(crate) use composed::{Composing, affixes};
pub(crate) use eval::{Eval, Memory};
pub(crate) use ir::{ExprId, MODULE, Module, ModulePath, Occurrence, Quoted, Role};
pub(crate) use lower::lower;
pub(crate) use names::Name;
pub(crate) use program::{Layout, join};
pub(crate) use rename::{prepare, rename, rename_anyway};

pub(crate) use ask::{ask, ask_each};
pub(crate) use meaning::Target;
pub(crate) use search::Match;
pub(crate) use search_target::SearchTarget;
pub(crate) use writes::Writes;
