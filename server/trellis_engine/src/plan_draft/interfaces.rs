//! The third stage: the interface of each file, read from Python text without bodies.

use serde::{Deserialize, Serialize};
use trellis_python::{Function, Functions, Outline, SymbolKind};

use super::docstring_sections::DocstringSections;
use super::module_of;

/// The interface of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Path relative to the package's folder.
    pub path: String,
    /// The text, as planned.
    pub text: String,
    pub definitions: Vec<PlannedDefinition>,
}

/// A planned function, method or class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedDefinition {
    /// `name`, or `Class.name`.
    pub name: String,
    pub kind: PlannedKind,
    /// `def …` or `class …`, without the colon.
    pub signature: String,
    /// Docstring without the sections that are fields here.
    pub docstring: String,
    /// Expressions that hold.
    pub examples: Vec<String>,
    /// Numbers of the sentences that it serves.
    pub serves: Vec<usize>,
    /// Names that its body will use, as written.
    pub uses: Vec<String>,
}

/// Kinds of planned definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlannedKind {
    Function,
    Class,
    Method,
}

impl PlannedKind {
    /// Returns the word of the `type` field of a plan.
    pub fn as_str(self) -> &'static str {
        match self {
            PlannedKind::Function => "function",
            PlannedKind::Class => "class",
            PlannedKind::Method => "method",
        }
    }
}

impl Interface {
    /// Reads the interface of a file from its text.
    ///
    /// # Errors
    ///
    /// The text is not valid Python.
    pub fn read(path: &str, text: &str) -> Result<Interface, String> {
        trellis_python::check(text).map_err(|error| format!("it is not valid Python: {error}"))?;
        let outline = Outline::of(text);
        let classes = outline.symbols.iter().filter(|it| {
            let is_inner = it.parent.is_some();
            it.kind == SymbolKind::Class && !is_inner
        });
        let mut out: Vec<(u32, PlannedDefinition)> = classes
            .map(|it| {
                let header = it.header.clone().map_or("", |range| &text[range]);
                let docstring = it.documentation(text).unwrap_or_default();
                let class = PlannedKind::Class;
                (it.place.line + 1, definition(it.name.clone(), class, header, &docstring))
            })
            .collect();
        let functions = Functions::of(text).functions;
        let own = functions.iter().filter(|it| !it.is_nested && !it.is_overload());
        let own = own.filter(|it| !is_accessor(it));
        out.extend(own.map(|it| {
            let kind = if it.is_method() { PlannedKind::Method } else { PlannedKind::Function };
            let docstring = it.docstring.as_deref().unwrap_or_default();
            (it.line, definition(it.qualified_name.clone(), kind, &it.signature, docstring))
        }));
        out.sort_by_key(|it| it.0);
        let definitions = out.into_iter().map(|it| it.1).collect();
        Ok(Interface { path: path.to_owned(), text: text.to_owned(), definitions })
    }

    /// Finds a used name: the path of its file and its definition.
    pub fn used<'a>(
        &'a self,
        name: &str,
        others: &[&'a Interface],
    ) -> Option<(&'a str, &'a PlannedDefinition)> {
        let files = others.iter().copied();
        std::iter::once(self).chain(files).find_map(|file| Some((&*file.path, file.find(name)?)))
    }

    /// Finds a definition by its name, with or without the module's.
    fn find(&self, name: &str) -> Option<&PlannedDefinition> {
        let module = module_of(&self.path);
        let short = module.rsplit('.').next().unwrap_or(&module);
        let inside = |module: &str| name.strip_prefix(module)?.strip_prefix('.');
        let names = [Some(name), inside(&module), inside(short)];
        let mut found = names.into_iter().flatten();
        found.find_map(|name| self.definitions.iter().find(|it| it.name == name))
    }
}

/// Returns whether a function completes a property of the same name, such as `@total.setter`.
fn is_accessor(function: &Function) -> bool {
    let completes =
        |it: &String| [".setter", ".getter", ".deleter"].iter().any(|end| it.ends_with(end));
    function.decorators.iter().any(completes)
}

fn definition(name: String, kind: PlannedKind, header: &str, docstring: &str) -> PlannedDefinition {
    let DocstringSections { text, examples, serves, uses } = DocstringSections::of(docstring);
    let signature = header.split_whitespace().collect::<Vec<_>>().join(" ");
    PlannedDefinition { name, kind, signature, docstring: text, examples, serves, uses }
}

impl PlannedDefinition {
    /// Returns the class of a special method, such as `Cart` of `Cart.__init__`.
    pub(super) fn class_of_special(&self) -> Option<&str> {
        let (class, name) = self.name.rsplit_once('.')?;
        (name.starts_with("__") && name.ends_with("__")).then_some(class)
    }
}
