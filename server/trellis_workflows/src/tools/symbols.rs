//! Tools that find symbols: definitions, references, callers.

use trellis_python::{FileId, Index, Located, NamePath};

use super::arguments::{NAME_PATH, tool};
use super::table::{Answer, Outcome, Run, ToolContext};
use super::truncate::{Truncated, clipped, counted};
use trellis_project::symbols::locations::{place, reference, user};
use trellis_project::symbols::outline_view::OutlineView;
use trellis_project::symbols::unique::{self, LookupError, name};

tool! {
    "find_symbol",
    "Shows where a class, function, method or variable of a Python file is defined.",
    FindSymbol {
        name: String = NAME_PATH,
        path: Option<String> = "the one file to look in",
        body: Option<bool> = "whether to show the whole definition; false if left out",
        depth: Option<usize> = "down to how many levels to list what is inside; 0 if left out",
    }
}

tool! {
    "find_references",
    "Lists every place that refers to a symbol: uses, imports, exports, its definition.",
    FindReferences {
        name: String = NAME_PATH,
        path: Option<String> = "the file that defines it, where several do",
    }
}

tool! {
    "callers",
    "Lists the functions, classes and modules that use a symbol, each with the lines.",
    Callers {
        name: String = NAME_PATH,
        path: Option<String> = "the file that defines it, where several do",
    }
}

/// A name path, with an optional file.
pub(super) struct SymbolQuery {
    pub(super) pattern: NamePath,
    /// Normalized path.
    pub(super) within: Option<String>,
}

impl SymbolQuery {
    pub(super) fn of(
        scene: &ToolContext,
        name: &str,
        path: Option<&str>,
    ) -> Result<SymbolQuery, String> {
        let pattern = NamePath::parse(clipped(name, LONGEST).as_str());
        let pattern = pattern.map_err(|why| why.to_string())?;
        let within = path.map(|it| scene.copy.python(it)).transpose()?;
        Ok(SymbolQuery { pattern, within: within.map(|(_, path, _)| path) })
    }

    /// Returns the definitions, at least one.
    pub(super) fn named(&self, index: &Index) -> Result<Vec<Located>, String> {
        let found = unique::named(index, &self.pattern, self.within.as_deref());
        if found.is_empty() { Err(self.not_one(index, &LookupError::Missing)) } else { Ok(found) }
    }

    /// Returns a place of the name of the one symbol.
    pub(super) fn place(&self, index: &Index) -> Result<(FileId, usize), String> {
        let found = self.named(index)?;
        unique::unique(index, &found).map_err(|why| self.not_one(index, &why))
    }

    pub(super) fn not_one(&self, index: &Index, why: &LookupError) -> String {
        let pattern = &self.pattern;
        let within = self.within.as_ref().map_or_else(String::new, |it| format!(" in {it}"));
        match why {
            LookupError::Missing => {
                let near = index.workspace_symbols(pattern.last(), NEAR);
                let near: Vec<String> = near.iter().take(NEAR).map(|it| spot(index, *it)).collect();
                let hint = match &near[..] {
                    [] => "find_symbol takes the name alone, grep any text".to_owned(),
                    _ => format!("similar ones are {}", near.join(", ")),
                };
                format!("no symbol{within} is called {pattern}; {hint}")
            }
            LookupError::Several(found) => {
                let candidate = |it: &Located| place(index, &name(index, *it));
                let all = found.iter().filter_map(candidate).map(|it| format!("\n{}", it.shown()));
                let (count, all) = (found.len(), all.take(NEAR).collect::<String>());
                let hint = "give more of the path (`Class/name`), or the file with `path`";
                format!("{count} symbols{within} are called {pattern}; {hint}:{all}")
            }
        }
    }
}

/// Maximum bytes of a name path.
const LONGEST: usize = 500;
/// Maximum number of candidates in an error.
const NEAR: usize = 10;

/// Returns a place such as `/Class/name in shop.py`.
fn spot(index: &Index, it: Located) -> String {
    format!("{} in {}", index.outline(it.file).name_path(it.symbol), index.path(it.file))
}

impl Run for FindSymbol {
    fn run(self, scene: &ToolContext) -> Outcome {
        let index = scene.copy.index();
        let meant = SymbolQuery::of(scene, &self.name, self.path.as_deref())?;
        let found = meant.named(index)?;
        let mut page = Truncated::new(scene.room);
        for matches in found.chunk_by(|a, b| a.file == b.file) {
            let Some(file) = matches.first().map(|it| it.file) else { continue };
            let (text, outline) = (index.text(file).unwrap_or_default(), index.outline(file));
            let sheet = OutlineView::of(&text, &outline);
            let (body, depth) = (self.body.unwrap_or(false), self.depth.unwrap_or(0));
            for it in matches {
                let lines = sheet.found(index.path(file), it.symbol, body, depth).shown();
                lines.iter().flat_map(|it| it.lines()).for_each(|it| _ = page.line(it));
            }
        }
        let less = |left| {
            let left = counted(left, "more line");
            format!("… {left}; give a file, or read it with read_file")
        };
        Ok(Answer::of(page.end(less)))
    }
}

impl Run for FindReferences {
    fn run(self, scene: &ToolContext) -> Outcome {
        let index = scene.copy.index();
        let meant = SymbolQuery::of(scene, &self.name, self.path.as_deref())?;
        let (file, offset) = meant.place(index)?;
        let found = index.references(file, offset).ok_or_else(no_name)?;
        let all: Vec<String> =
            found.found.iter().filter_map(|it| reference(index, it)).map(|it| it.shown()).collect();
        let head = format!("{} of {}", counted(all.len(), "reference"), found.name);
        let text = listed(scene, &head, &all, &found.reasons);
        Ok(Answer { is_empty: all.is_empty(), ..Answer::of(text) })
    }
}

impl Run for Callers {
    fn run(self, scene: &ToolContext) -> Outcome {
        let index = scene.copy.index();
        let meant = SymbolQuery::of(scene, &self.name, self.path.as_deref())?;
        let (file, offset) = meant.place(index)?;
        let found = index.callers(file, offset).ok_or_else(no_name)?;
        let reasons = index.references(file, offset).map_or_else(Vec::new, |it| it.reasons);
        let all: Vec<String> = found.iter().map(|it| user(index, it).shown()).collect();
        let head = match all.len() {
            0 => format!("nothing uses {}", meant.pattern),
            count => format!("{} of {}", counted(count, "user"), meant.pattern),
        };
        let text = listed(scene, &head, &all, &reasons);
        Ok(Answer { is_empty: all.is_empty(), ..Answer::of(text) })
    }
}

fn no_name() -> String {
    "this symbol cannot be followed; grep finds the word".to_owned()
}

/// Returns a head, entries below it, and the reasons why the list may be incomplete.
pub(super) fn listed(
    scene: &ToolContext,
    head: &str,
    all: &[String],
    reasons: &[String],
) -> String {
    let why = reasons.iter().map(|it| format!("\nnot complete: {it}")).collect::<String>();
    let why = super::truncate::cut(why, scene.room / 4);
    let mut page = Truncated::new(scene.room - why.len().min(scene.room));
    page.line(head);
    all.iter().for_each(|it| _ = page.line(it));
    page.end(|left| format!("… {left} more were left out; grep in a folder shows them")) + &why
}
