//! What a person gives along with the words: files of the project, and how things are done there.

use code::{Outline, SymbolKind};

/// Files that are in every question about tests and code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Code, as path and text.
    pub code: Vec<(String, String)>,
    /// Prose on how code is written here, as path and text.
    pub standards: Vec<(String, String)>,
}

impl Context {
    /// Sorts a file in by what it is called: Markdown is prose, all else code.
    pub fn add(&mut self, path: &str, text: String) {
        let is_prose = path.to_ascii_lowercase().ends_with(".md");
        let files = if is_prose { &mut self.standards } else { &mut self.code };
        files.push((path.to_owned(), text));
    }
}

/// Functions and classes of `changed` that are new there and that the context has already, in words for the model. Names
/// that differ in nothing but case and underscores are the same.
///
/// `changed` are path, text before (if there was one) and text after.
pub fn repeated(context: &Context, changed: &[(&str, Option<&str>, &str)]) -> Vec<String> {
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
            let twin = known.iter().find(|(it, _, place)| *it == plain(&name) && place != path);
            out.extend(twin.map(|(_, what, place)| {
                format!(
                    "{path} defines `{name}`, and there is the {what} in {place}: import that one"
                )
            }));
        }
    }
    out
}

/// Names and kinds of what a module defines at its top level, without private names.
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
