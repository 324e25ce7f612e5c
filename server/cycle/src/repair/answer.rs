//! What an answer about a failing test makes of the files.

use std::collections::BTreeMap;

use code::{Fragment, NamePath, TextEdits, no_worse, replace_symbol_body};

use crate::exchange::Suspect;
use crate::repair::Idea;
use crate::reply::{self, Edit, Reply};

/// The files as a model may see and change them.
pub trait Sources {
    /// The text of a file, by its path from the root.
    fn text(&self, path: &str) -> Option<String>;

    /// Why a file may not be changed, if it may not.
    fn read_only(&self, path: &str) -> Option<&'static str>;

    /// Whether the model has seen all of a file; where that is not told, it can look for itself.
    fn is_shown(&self, path: &str) -> bool {
        let _ = path;
        true
    }
}

/// The new texts of the files that an answer changes, by path: its search/replace blocks, or whole definitions in the place of
/// suspects of that name.
///
/// # Errors
///
/// Why it cannot be used, in words for the model. No file is worse Python than it was.
pub fn repaired(
    answer: &str,
    suspects: &[Suspect],
    sources: &dyn Sources,
) -> Result<BTreeMap<String, String>, String> {
    let mut work = Work { suspects, sources, texts: BTreeMap::new() };
    match reply::read(answer)? {
        Reply::Nothing => return Err("it holds no search/replace block".to_owned()),
        Reply::Edits(edits) => edits.iter().try_for_each(|it| work.edit(it))?,
        Reply::Code(text) => work.define(&text)?,
    }
    work.changed()
}

/// The same for a fix that a diagnosis suggests.
///
/// # Errors
///
/// As for [`repaired`].
pub fn suggested(
    idea: &Idea,
    suspects: &[Suspect],
    sources: &dyn Sources,
) -> Result<BTreeMap<String, String>, String> {
    let mut work = Work { suspects, sources, texts: BTreeMap::new() };
    idea.edits.iter().try_for_each(|it| work.edit(it))?;
    work.changed()
}

impl Work<'_> {
    /// The texts that differ, none of them worse Python.
    fn changed(self) -> Result<BTreeMap<String, String>, String> {
        let changed = self.texts.into_iter().filter(|(_, (before, after))| before != after);
        let mut out = BTreeMap::new();
        for (path, (before, after)) in changed {
            let edits = TextEdits::between(&before, &after);
            no_worse(&before, &edits).map_err(|why| format!("{path} would be broken: {why}"))?;
            out.insert(path, after);
        }
        if out.is_empty() { Err("it changes nothing".to_owned()) } else { Ok(out) }
    }
}

struct Work<'a> {
    suspects: &'a [Suspect],
    sources: &'a dyn Sources,
    /// Text before and after, by path.
    texts: BTreeMap<String, (String, String)>,
}

impl Work<'_> {
    fn edit(&mut self, edit: &Edit) -> Result<(), String> {
        let path = self.file(&edit.path)?;
        let text = self.text(&path)?;
        let refused = |why| format!("the edit of {path} was refused: {why}");
        *text = edit.applied_to(text).map_err(refused)?;
        Ok(())
    }

    /// A path as it is, without leading folders, or none where there is but one file.
    fn file(&self, path: &str) -> Result<String, String> {
        if self.sources.text(path).is_some() || self.sources.read_only(path).is_some() {
            return Ok(path.to_owned());
        }
        let mut paths: Vec<&str> = self.suspects.iter().map(|it| it.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        paths.retain(|it| path.is_empty() || it.ends_with(&format!("/{path}")));
        match paths[..] {
            [one] => Ok(one.to_owned()),
            [] => Err(format!("there is no file {path}; name files as the suspects are named")),
            _ if path.is_empty() => Err("a block has no path above it".to_owned()),
            _ => Err(format!("{path} may be {}; give the whole path", paths.join(" or "))),
        }
    }

    fn text(&mut self, path: &str) -> Result<&mut String, String> {
        if let Some(why) = self.sources.read_only(path) {
            return Err(format!("{path} may not be changed: {why}"));
        }
        if !self.texts.contains_key(path) {
            let text = self.sources.text(path).ok_or_else(|| format!("there is no file {path}"))?;
            self.texts.insert(path.to_owned(), (text.clone(), text));
        }
        let (_, after) = self.texts.get_mut(path).ok_or_else(|| format!("there is no {path}"))?;
        Ok(after)
    }

    fn define(&mut self, text: &str) -> Result<(), String> {
        let fragment = Fragment::parse(text).map_err(|why| format!("syntax error: {why}"))?;
        let mut definitions = fragment.items.iter().filter(|it| it.is_definition()).peekable();
        if definitions.peek().is_none() {
            return Err("it defines nothing; answer with search/replace blocks".to_owned());
        }
        for it in definitions {
            let name = it.names.first().map_or("", String::as_str);
            let named = |suspect: &&Suspect| suspect.symbol == name;
            let mut places: Vec<&str> =
                self.suspects.iter().filter(named).map(|it| it.path.as_str()).collect();
            places.dedup();
            let [path] = places[..] else {
                return Err(format!(
                    "it is not clear which `{name}` is meant; answer with search/replace blocks under their paths"
                ));
            };
            let path = path.to_owned();
            let which = NamePath::parse(&format!("/{name}")).map_err(|why| why.to_string())?;
            let text = self.text(&path)?;
            let edits = replace_symbol_body(text, &which, &it.text)
                .map_err(|why| format!("`{name}` in {path} cannot be replaced: {why}"))?;
            *text = edits.apply(text);
            let known = code::all_imports(text).unwrap_or_default();
            if let Some(import) = fragment.imports.iter().find(|it| !known.contains(it)) {
                return Err(format!(
                    "{path} has no `{import}`; answer with search/replace blocks that add it"
                ));
            }
        }
        Ok(())
    }
}
