//! Reads the published formats of planning graphs; each is converted to a [`Plan`].

use std::fmt;
use std::str::FromStr;

use serde_json::value::RawValue;

use crate::extra_fields::ExtraFields;
use crate::json::{JsonProblem, Object, is_null, noun};
use crate::plan::Plan;

mod codermind;
mod feature;
mod rpg;
mod rpg_encoder;
mod tasks;
mod zerorepo;

/// A format in which planning graphs are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `nodes`, `edges`, `metadata`, as Trellis itself writes it.
    Rpg,
    /// ZeroRepo's flat form: `repo_name`, `nodes` with `meta`, `edges` with `src` and `dst`,
    /// `data_flow`.
    ZeroRepo,
    /// CoderMind's nested form: `root` with `children`, `edges`.
    CoderMind,
    /// rpg-encoder 2: `hierarchy`, `entities`, `edges`.
    RpgEncoder,
    /// A list of tasks: `tasks`, each with `description`, `depends_on`, `story_points`.
    Tasks,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Dialect; 5] =
        [Dialect::Rpg, Dialect::ZeroRepo, Dialect::CoderMind, Dialect::RpgEncoder, Dialect::Tasks];

    /// Returns `rpg`, `zerorepo`, `codermind`, `rpg-encoder` or `tasks`.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Rpg => "rpg",
            Dialect::ZeroRepo => "zerorepo",
            Dialect::CoderMind => "codermind",
            Dialect::RpgEncoder => "rpg-encoder",
            Dialect::Tasks => "tasks",
        }
    }

    pub(crate) fn names() -> String {
        Self::ALL.map(Dialect::name).join(", ")
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a word that is not the name of a dialect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialect `{0}`, expected one of {names}", names = Dialect::names())]
pub struct UnknownDialect(pub String);

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(word: &str) -> Result<Self, UnknownDialect> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.name() == word);
        found.ok_or_else(|| UnknownDialect(word.to_owned()))
    }
}

/// Detects the dialect from the top-level keys.
pub(crate) fn detect(top: &Object<'_>) -> Option<Dialect> {
    let has = |name| top.fields.iter().any(|(key, _)| key == name);
    if has("hierarchy") && has("entities") {
        Some(Dialect::RpgEncoder)
    } else if has("root") && !has("nodes") {
        Some(Dialect::CoderMind)
    } else if has("nodes") && (has("repo_name") || has("data_flow")) && !has("metadata") {
        Some(Dialect::ZeroRepo)
    } else if has("nodes") {
        Some(Dialect::Rpg)
    } else if has("tasks") {
        Some(Dialect::Tasks)
    } else {
        None
    }
}

pub(crate) fn convert<'a>(
    dialect: Dialect,
    whole: &'a RawValue,
    top: &Object<'a>,
) -> Result<Plan, JsonProblem<'a>> {
    match dialect {
        Dialect::Rpg => rpg::convert(whole, top),
        Dialect::ZeroRepo => zerorepo::convert(whole, top),
        Dialect::CoderMind => codermind::convert(whole, top),
        Dialect::RpgEncoder => rpg_encoder::convert(whole, top),
        Dialect::Tasks => tasks::convert(whole, top),
    }
}

/// Largest nesting depth of the nested dialects. Real plans stay below ten levels. Each level is
/// scanned again for the next one, so depth costs time.
const DEEPEST: usize = 200;

fn check_depth(raw: &RawValue, depth: usize) -> Result<(), JsonProblem<'_>> {
    if depth <= DEEPEST {
        return Ok(());
    }
    Err(JsonProblem::new(raw, format_args!("the hierarchy is nested deeper than {DEEPEST} levels")))
}

/// Returns a top-level field that the dialect requires.
fn required<'a>(
    whole: &'a RawValue,
    top: &Object<'a>,
    dialect: Dialect,
    name: &str,
) -> Result<&'a RawValue, JsonProblem<'a>> {
    top.get(name).ok_or_else(|| {
        let message = format!("`{name}` is missing, but the dialect {dialect} requires it");
        JsonProblem::new(whole, message).hint("choose another dialect with `--dialect`")
    })
}

/// Returns the fields of an object; `null` and absence count as empty.
fn object_fields<'a>(
    raw: Option<&'a RawValue>,
    name: &str,
) -> Result<ExtraFields, JsonProblem<'a>> {
    match raw {
        None => Ok(ExtraFields::default()),
        Some(raw) if is_null(raw) => Ok(ExtraFields::default()),
        Some(raw) if raw.get().starts_with('{') => Ok(Object::parse(raw)?.rest(&[])),
        Some(raw) => Err(JsonProblem::new(
            raw,
            format_args!("`{name}` is {}, expected an object", noun(raw.get())),
        )),
    }
}

/// Returns a text field that must exist and must not be empty.
fn identity<'a>(
    object: &Object<'a>,
    name: &str,
    of: &str,
) -> Result<std::borrow::Cow<'a, str>, JsonProblem<'a>> {
    let raw = object.fields.iter().rev().find(|(n, _)| n == name).map(|&(_, raw)| raw);
    match (raw, object.text(name)?) {
        (_, Some(text)) if !text.is_empty() => Ok(text),
        (Some(raw), _) => Err(JsonProblem::new(raw, format_args!("`{name}` of {of} is empty"))),
        (None, _) => Err(JsonProblem {
            part: object.place(),
            line: 1,
            column: 1,
            message: format!("{of} has no `{name}`"),
            hint: Some(format!("give it a unique `{name}`")),
        }),
    }
}
