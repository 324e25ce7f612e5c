//! Reads, merges and groups imports, and writes them in PEP 8's order.

use std::collections::BTreeMap;
use std::fmt;

use ruff_python_ast::Stmt;
use ruff_python_ast::visitor::{self, Visitor};

use crate::standard_library;
use crate::syntax::{self, SyntaxError};

/// One imported name: `import a.b as c`, or one name of `from .a import b as c`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Import {
    /// Leading dots of a relative import.
    pub level: u32,
    /// Dotted module path; empty for `from . import b`.
    pub module: String,
    /// The name taken from the module (`*` for a star import); `None` for `import module`.
    pub name: Option<String>,
    pub alias: Option<String>,
}

impl Import {
    /// Creates `import module`.
    pub fn module(module: &str) -> Import {
        Import { level: 0, module: module.to_owned(), name: None, alias: None }
    }

    /// Creates `from module import name`.
    pub fn from(module: &str, name: &str) -> Import {
        Import { name: Some(name.to_owned()), ..Import::module(module) }
    }

    /// Returns the name that the import binds; `None` for a star import.
    pub fn bound(&self) -> Option<&str> {
        if let Some(alias) = &self.alias {
            return Some(alias);
        }
        match self.name.as_deref() {
            Some("*") => None,
            Some(name) => Some(name),
            None => self.module.split('.').next(),
        }
    }

    /// Returns the first component of the module's path.
    pub fn top_level(&self) -> &str {
        self.module.split('.').next().unwrap_or_default()
    }

    /// Resolves the dots of the import against the package that holds the importing module
    /// (`pkg.sub` for `pkg/sub/mod.py`). `None` if the dots lead out of the package.
    pub fn absolute(&self, package: &str) -> Option<Import> {
        if self.level == 0 {
            return Some(self.clone());
        }
        let mut parts: Vec<&str> = package.split('.').filter(|part| !part.is_empty()).collect();
        for _ in 1..self.level {
            parts.pop()?;
        }
        parts.extend(self.module.split('.').filter(|part| !part.is_empty()));
        if parts.is_empty() {
            return None;
        }
        Some(Import { level: 0, module: parts.join("."), ..self.clone() })
    }
}

impl fmt::Display for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dots = ".".repeat(self.level as usize);
        match &self.name {
            Some(name) => write!(f, "from {dots}{} import {name}", self.module)?,
            None => write!(f, "import {}", self.module)?,
        }
        self.alias.as_ref().map_or(Ok(()), |alias| write!(f, " as {alias}"))
    }
}

/// Returns the imports of an import statement; `None` for any other statement.
pub(crate) fn imports_of(stmt: &Stmt) -> Option<Vec<Import>> {
    match stmt {
        Stmt::Import(import) => Some(
            (import.names.iter())
                .map(|alias| Import {
                    alias: alias.asname.as_ref().map(ToString::to_string),
                    ..Import::module(alias.name.as_str())
                })
                .collect(),
        ),
        Stmt::ImportFrom(import) => Some(
            (import.names.iter())
                .map(|alias| Import {
                    level: import.level,
                    module: import.module.as_ref().map(ToString::to_string).unwrap_or_default(),
                    name: Some(alias.name.to_string()),
                    alias: alias.asname.as_ref().map(ToString::to_string),
                })
                .collect(),
        ),
        _ => None,
    }
}

/// Returns all imports of a text, including those inside functions, `try` and `if`.
pub fn all_imports(source: &str) -> Result<Vec<Import>, SyntaxError> {
    struct FoundImports(Vec<Import>);
    impl<'a> Visitor<'a> for FoundImports {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            self.0.extend(imports_of(stmt).into_iter().flatten());
            visitor::walk_stmt(self, stmt);
        }
    }
    let mut found = FoundImports(Vec::new());
    found.visit_body(syntax::parse(source)?.suite());
    Ok(found.0)
}

/// Distinguishes local imports. The standard library is known; everything else is third party.
pub struct ImportGroups<'a> {
    /// Top-level names of the repository's own packages and modules.
    pub local: &'a dyn Fn(&str) -> bool,
}

impl ImportGroups<'_> {
    pub(crate) fn rank(&self, import: &Import) -> u8 {
        if import.level == 0 && import.module == "__future__" {
            0
        } else if import.level > 0 || (self.local)(import.top_level()) {
            3
        } else if standard_library::is_stdlib(import.top_level()) {
            1
        } else {
            2
        }
    }
}

/// Longest line that black does not wrap.
const LINE_WIDTH: usize = 88;

/// Writes imports grouped (future, standard library, third party, local) and sorted, the names of
/// one module on one line, long lines wrapped as black does. The text ends with a line break unless
/// it is empty.
pub fn render_imports(imports: &[Import], groups: &ImportGroups<'_>) -> String {
    let mut by_rank: BTreeMap<u8, Vec<&Import>> = BTreeMap::new();
    for import in imports {
        by_rank.entry(groups.rank(import)).or_default().push(import);
    }
    let blocks: Vec<String> = by_rank.values().map(|group| render_group(group)).collect();
    blocks.join("\n")
}

fn render_group(imports: &[&Import]) -> String {
    let mut plain: Vec<String> =
        imports.iter().filter(|i| i.name.is_none()).map(|i| format!("{i}\n")).collect();
    plain.sort();
    plain.dedup();
    let mut from: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for import in imports {
        let Some(name) = &import.name else { continue };
        let module = format!("{}{}", ".".repeat(import.level as usize), import.module);
        let name = match &import.alias {
            Some(alias) => format!("{name} as {alias}"),
            None => name.clone(),
        };
        from.entry(module).or_default().push(name);
    }
    let lines = from.into_iter().flat_map(|(module, names)| render_from(&module, names));
    plain.into_iter().chain(lines).collect()
}

/// Writes the `from` imports of one module. A star import needs its own line, because it cannot be
/// listed with names.
fn render_from(module: &str, mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    let star = names.iter().any(|name| name == "*");
    names.retain(|name| name != "*");
    let mut lines = Vec::new();
    if star {
        lines.push(format!("from {module} import *\n"));
    }
    if !names.is_empty() {
        let line = format!("from {module} import {}", names.join(", "));
        lines.push(match line.len() <= LINE_WIDTH {
            true => line + "\n",
            false => format!("from {module} import (\n    {},\n)\n", names.join(",\n    ")),
        });
    }
    lines
}
