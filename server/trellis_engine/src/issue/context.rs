//! Files that a person adds to an issue as context: code of the project and its conventions.

use trellis_python::{Outline, SymbolKind};

/// Files shown in every prompt for tests and code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Code, as path and text.
    pub code: Vec<(String, String)>,
    /// Prose on coding standards, as path and text.
    pub standards: Vec<(String, String)>,
}

impl Context {
    /// Adds a file by its extension: Markdown is prose, all else code.
    pub fn add(&mut self, path: &str, text: String) {
        let is_prose = path.to_ascii_lowercase().ends_with(".md");
        let files = if is_prose { &mut self.standards } else { &mut self.code };
        files.push((path.to_owned(), text));
    }
}

/// Returns complaints for the model about functions and classes that are new in `changed` and exist
/// in the context already. Names that differ only in case and underscores count as equal.
///
/// `changed` holds path, text before (if the file existed) and text after.
pub fn duplicate_definitions(
    context: &Context,
    changed: &[(&str, Option<&str>, &str)],
) -> Vec<String> {
    let known: Vec<(String, String, &str)> = (context.code.iter())
        .flat_map(|(path, text)| {
            let names = definitions(text).into_iter();
            names.map(move |(name, kind)| (plain(&name), format!("{kind} `{name}`"), path.as_str()))
        })
        .collect();
    let mut out = Vec::new();
    for (path, before, after) in changed {
        let old: Vec<String> =
            before.map(definitions).unwrap_or_default().into_iter().map(|(name, _)| name).collect();
        for (name, _) in definitions(after).into_iter().filter(|(name, _)| !old.contains(name)) {
            let counterpart =
                known.iter().find(|(it, _, place)| *it == plain(&name) && place != path);
            out.extend(counterpart.map(|(_, what, place)| {
                format!(
                    "{path} defines `{name}`, and there is the {what} in {place}: import that one"
                )
            }));
        }
    }
    out
}

/// Returns names and kinds of a module's top-level definitions, without private ones.
fn definitions(text: &str) -> Vec<(String, &'static str)> {
    let outline = Outline::of(text);
    let is_wanted = |kind: SymbolKind| matches!(kind, SymbolKind::Function | SymbolKind::Class);
    let symbols = outline.symbols.into_iter();
    let own = symbols.filter(|it| it.parent.is_none() && is_wanted(it.kind));
    let shown = own.filter(|it| !it.name.starts_with('_'));
    shown.map(|it| (it.name.to_string(), it.kind.as_str())).collect()
}

fn plain(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}
