//! Tools that edit at a symbol: replace its body, or insert statements before or after it.

use std::sync::Arc;

use trellis_python::{NamePath, Refused, TextEdits};

use super::arguments::{NAME_PATH, tool};
use super::files::edited;
use super::symbols::SymbolQuery;
use super::table::{Outcome, Run, ToolContext};
use trellis_project::symbols::unique;

tool! {
    "replace_symbol_body",
    "Replaces the body of a function, method or class, or all of it if the text brings its own `def` or `class`. Decorators stay unless the text has some; the docstring is part of the body. Of a variable the value is replaced.",
    ReplaceSymbolBody {
        name: String = NAME_PATH,
        text: String = "the new body, or the whole new definition; any indentation",
        path: Option<String> = "the file, where several define that name",
    }
}

tool! {
    "insert_before_symbol",
    "Inserts statements above a symbol, its decorators and comments, indented as it is.",
    InsertBeforeSymbol {
        name: String = NAME_PATH,
        text: String = "the statements; any indentation",
        path: Option<String> = "the file, where several define that name",
    }
}

tool! {
    "insert_after_symbol",
    "Inserts statements below a symbol, indented as it is: another method behind a method, a function behind a function.",
    InsertAfterSymbol {
        name: String = NAME_PATH,
        text: String = "the statements; any indentation",
        path: Option<String> = "the file, where several define that name",
        inside: Option<bool> = "whether to insert at the end of the class, in it; false if left out",
    }
}

impl Run for ReplaceSymbolBody {
    fn run(self, scene: &ToolContext) -> Outcome {
        let edit = |source: &str, symbol: &NamePath| {
            trellis_python::replace_symbol_body(source, symbol, &self.text)
        };
        at_symbol(scene, &self.name, self.path.as_deref(), edit)
    }
}

impl Run for InsertBeforeSymbol {
    fn run(self, scene: &ToolContext) -> Outcome {
        let edit = |source: &str, symbol: &NamePath| {
            trellis_python::insert_before_symbol(source, symbol, &self.text)
        };
        at_symbol(scene, &self.name, self.path.as_deref(), edit)
    }
}

impl Run for InsertAfterSymbol {
    fn run(self, scene: &ToolContext) -> Outcome {
        let edit = |source: &str, symbol: &NamePath| match self.inside.unwrap_or(false) {
            true => trellis_python::insert_into_class(source, symbol, &self.text),
            false => trellis_python::insert_after_symbol(source, symbol, &self.text),
        };
        at_symbol(scene, &self.name, self.path.as_deref(), edit)
    }
}

fn at_symbol(
    scene: &ToolContext,
    name: &str,
    path: Option<&str>,
    edit: impl Fn(&str, &NamePath) -> Result<TextEdits, Refused>,
) -> Outcome {
    let index = scene.copy.index();
    let meant = SymbolQuery::of(scene, name, path)?;
    let (path, source) = match &meant.within {
        Some(path) => scene.copy.file(path)?,
        None => {
            let file = unique::only_file(index, &meant.pattern);
            let file = file.map_err(|why| meant.not_one(index, &why))?;
            scene.copy.file(index.path(file))?
        }
    };
    let source: Arc<str> = source;
    let edits =
        edit(&source, &meant.pattern).map_err(|why| format!("{path} was not changed: {why}"))?;
    edited(scene, &path, &source, &edits)
}
