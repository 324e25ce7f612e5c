//! Code in an answer: definitions that replace suspects of the same name, and whole files.

use std::collections::BTreeSet;

use trellis_python::{Fragment, Item, NamePath, replace_symbol_body, with_ends_of};

use super::ReplyFiles;
use crate::complaint::Complaint;
use crate::reply::Code;

impl ReplyFiles<'_> {
    /// Takes a piece of code: the whole text of its file, or definitions.
    pub(super) fn take(&mut self, code: &Code) -> Result<(), Complaint> {
        let fragment = Fragment::parse(&code.text).map_err(|why| format!("syntax error: {why}"))?;
        let path = code.path.as_ref().and_then(|it| self.file(it).ok());
        let Some(path) = path else { return self.define(&fragment, None) };
        if !is_whole(self.text(&path)?, &fragment) {
            return self.define(&fragment, Some(&path));
        }
        let text = self.text(&path)?;
        *text = with_ends_of(text, &code.text);
        Ok(())
    }

    /// Replaces the definitions of the suspects with these names.
    fn define(&mut self, fragment: &Fragment, path: Option<&str>) -> Result<(), Complaint> {
        if !fragment.items.iter().any(Item::is_definition) {
            let why = "it defines nothing; answer with search/replace blocks";
            return Err(Complaint::without_edits(why));
        }
        for it in &fragment.items {
            let name = it.names.first().map_or("", String::as_str);
            let path = self.place(it, name, path)?;
            let Some(path) = path else { continue };
            let which = NamePath::parse(&format!("/{name}")).map_err(|why| why.to_string())?;
            let text = self.text(&path)?;
            let edits = replace_symbol_body(text, &which, &it.text)
                .map_err(|why| format!("`{name}` in {path} cannot be replaced: {why}"))?;
            *text = edits.apply(text);
            let known = trellis_python::all_imports(text).unwrap_or_default();
            if let Some(import) = fragment.imports.iter().find(|it| !known.contains(it)) {
                return Err(Complaint::with_request(
                    format!("{path} has no `{import}`"),
                    "; answer with search/replace blocks that add it",
                ));
            }
        }
        Ok(())
    }

    /// Returns the file of a definition; `None` for a statement that is there already, or that
    /// binds no name.
    fn place(
        &self,
        it: &Item,
        name: &str,
        path: Option<&str>,
    ) -> Result<Option<String>, Complaint> {
        let mut places = self.places(name);
        if path.is_some() {
            places.retain(|it| Some(*it) == path);
        }
        if it.is_definition() {
            let [path] = places[..] else {
                return Err(Complaint::without_edits(format!(
                    "it is not clear which `{name}` is meant; answer with search/replace blocks under their paths"
                )));
            };
            return Ok(Some(path.to_owned()));
        }
        let line = it.text.trim();
        let is_there = |path: &str| self.sources.text(path).is_some_and(|text| text.contains(line));
        let is_known = self.suspects.iter().any(|it| is_there(&it.path));
        if it.names.is_empty() || is_known {
            return Ok(None);
        }
        Err(Complaint::with_request(
            format!("it changes `{name}`, which is not a definition"),
            "; answer with search/replace blocks, so that all of it can be taken",
        ))
    }

    /// Returns the files of the suspects with a name.
    fn places(&self, name: &str) -> Vec<&str> {
        let named = self.suspects.iter().filter(|it| it.symbol == name);
        let mut places: Vec<&str> = named.map(|it| it.path.as_str()).collect();
        places.dedup();
        places
    }

    /// Refuses an answer whose code shows other definitions than its blocks make or had before.
    pub(super) fn agrees_with(&self, code: &[Code]) -> Result<(), Complaint> {
        let parsed = code.iter().filter_map(|it| Fragment::parse(&it.text).ok());
        let mut shown = parsed.flat_map(|it| it.items).filter(Item::is_definition);
        let Some(it) = shown.find(|it| self.contradicts(it)) else { return Ok(()) };
        let name = it.names.join(", ");
        Err(Complaint::with_request(
            format!("its code shows another `{name}` than its search/replace blocks make"),
            "; answer with search/replace blocks alone",
        ))
    }

    /// Returns whether all definitions of the same name differ from this one, before and after the
    /// edits.
    fn contradicts(&self, shown: &Item) -> bool {
        let suspects = self.suspects.iter().map(|it| it.path.as_str());
        let paths: BTreeSet<&str> = suspects.chain(self.texts.keys().map(String::as_str)).collect();
        let binds = |text: &String| {
            let items = Fragment::parse(text).map(|it| it.items).unwrap_or_default();
            items.iter().any(|it| it.names == shown.names)
        };
        let versions = |path: &str| {
            let before = self.sources.text(path).unwrap_or_default();
            let after = self.texts.get(path).map_or_else(|| before.clone(), |it| it.1.clone());
            [before, after]
        };
        let all: Vec<String> = paths.into_iter().flat_map(versions).filter(binds).collect();
        !all.is_empty() && all.iter().all(|it| !has_lines(it, &shown.text))
    }
}

/// Returns whether a text has these lines in a row, without regard to indentation and empty lines.
fn has_lines(text: &str, lines: &str) -> bool {
    let bare = |it: &str| {
        let lines = it.lines().map(str::trim).filter(|it| !it.is_empty());
        lines.map(|it| format!("{it}\n")).collect::<String>()
    };
    format!("\n{}", bare(text)).contains(&format!("\n{}", bare(lines)))
}

/// Returns whether code has all names of a file, so that it may take its place.
fn is_whole(text: &str, code: &Fragment) -> bool {
    let names = |it: &Fragment| -> BTreeSet<String> {
        it.items.iter().flat_map(|it| it.names.clone()).collect()
    };
    let (Ok(file), own) = (Fragment::parse(text), names(code)) else { return false };
    let all = names(&file);
    let has_others = file.items.len() > 1 || !file.imports.is_empty() || file.docstring.is_some();
    has_others && all.is_subset(&own) && file.imports.iter().all(|it| code.imports.contains(it))
}
