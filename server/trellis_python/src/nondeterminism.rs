//! Finds code whose result may differ from one run to the next, so that one repeat proves nothing.

mod fixtures;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, Expr, Stmt};

use self::fixtures::FixtureUses;
use crate::tree::Tree;

/// Modules without clock, randomness, threads, processes, or a view of the machine. Code that
/// imports anything else of the standard library, or another package, may vary.
const STEADY_MODULES: &[&str] = &[
    "__future__",
    "abc",
    "ast",
    "base64",
    "binascii",
    "bisect",
    "calendar",
    "cmath",
    "codecs",
    "collections",
    "colorsys",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "html",
    "io",
    "itertools",
    "json",
    "keyword",
    "math",
    "numbers",
    "operator",
    "pathlib",
    "pprint",
    "pytest",
    "re",
    "reprlib",
    "shlex",
    "statistics",
    "string",
    "struct",
    "sys",
    "textwrap",
    "token",
    "tokenize",
    "types",
    "typing",
    "typing_extensions",
    "unicodedata",
    "unittest",
    "warnings",
    "zlib",
];

/// Builtins whose results follow the hashes of strings, addresses in memory, or text that is not
/// in the file.
const VARYING_BUILTINS: &[&str] =
    &["__import__", "compile", "eval", "exec", "frozenset", "hash", "id", "set"];

/// Attributes that list a folder, in an order of the file system's, or follow the hashes of strings.
const VARYING_ATTRIBUTES: &[&str] = &["__hash__", "glob", "iterdir", "rglob", "walk"];

/// Returns whether the code of modules may behave differently from one run to the next: it imports
/// something other than steady modules of the standard library and modules that `is_local` by
/// their top-level name, uses sets, hashes or addresses, lists folders, or has tests with fixtures
/// that neither these modules nor pytest define. Text that cannot be parsed may vary.
pub fn may_vary<'a>(
    sources: impl IntoIterator<Item = &'a str>,
    is_local: &dyn Fn(&str) -> bool,
) -> bool {
    let mut search = Search { is_local, fixtures: FixtureUses::default(), found: false };
    for source in sources {
        let Ok(tree) = Tree::of(source) else { return true };
        search.found |= tree.is_broken();
        tree.body().iter().for_each(|it| search.visit_stmt(it));
    }
    search.found || search.fixtures.has_foreign()
}

struct Search<'a> {
    is_local: &'a dyn Fn(&str) -> bool,
    fixtures: FixtureUses,
    found: bool,
}

impl Search<'_> {
    fn import(&mut self, module: &str) {
        let top = module.split('.').next().unwrap_or_default();
        self.found |= !STEADY_MODULES.contains(&top) && !(self.is_local)(top);
    }
}

impl Visitor<'_> for Search<'_> {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::ImportFrom(it) if it.level == 0 => {
                self.import(it.module.as_deref().unwrap_or_default());
            }
            Stmt::FunctionDef(it) => self.fixtures.function(it),
            Stmt::Import(it) => it.names.iter().for_each(|Alias { name, .. }| self.import(name)),
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::Call(it) = expr {
            self.fixtures.call(it);
        }
        self.found |= match expr {
            Expr::Set(_) | Expr::SetComp(_) => true,
            Expr::Name(it) => VARYING_BUILTINS.contains(&it.id.as_str()),
            Expr::Attribute(it) => VARYING_ATTRIBUTES.contains(&it.attr.as_str()),
            _ => false,
        };
        visitor::walk_expr(self, expr);
    }
}
