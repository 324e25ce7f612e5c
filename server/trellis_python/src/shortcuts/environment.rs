//! Detects code that checks whether it runs under test.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::statement_diff::Node;
use super::{Found, RuleInput, ShortcutKind};

/// Functions that inspect the call stack: module and name.
const CALLERS: [(&str, &str); 10] = [
    ("inspect", "stack"),
    ("inspect", "currentframe"),
    ("inspect", "getouterframes"),
    ("inspect", "trace"),
    ("sys", "_getframe"),
    ("sys", "_current_frames"),
    ("traceback", "extract_stack"),
    ("traceback", "format_stack"),
    ("traceback", "print_stack"),
    ("traceback", "walk_stack"),
];
const FRAMEWORKS: [&str; 6] = ["pytest", "_pytest", "unittest", "nose", "doctest", "hypothesis"];

pub(super) fn find(look: &RuleInput<'_, '_>, found: &mut Vec<Found>) {
    for piece in look.change.added() {
        let mut finder = Finder { found: Vec::new() };
        match piece.node {
            // A docstring has no effect.
            Node::Stmt(Stmt::Expr(it)) if it.value.is_string_literal_expr() => {}
            Node::Stmt(stmt) => {
                finder.imports(stmt);
                visitor::walk_stmt(&mut finder, stmt);
            }
            Node::Elif(it) => it.test.iter().for_each(|it| finder.visit_expr(it)),
            Node::Handler(it) => it.type_.iter().for_each(|it| finder.visit_expr(it)),
            Node::Case(it) => it.guard.iter().for_each(|it| finder.visit_expr(it)),
        }
        let new = finder.found.into_iter().filter(|(_, what)| !look.known.says(what));
        found.extend(new.map(|(at, what)| {
            (
                at,
                ShortcutKind::Environment,
                format!("it checks `{what}`, which differs between test runs and normal use"),
            )
        }));
    }
}

/// Visits the expressions that a statement itself evaluates.
struct Finder {
    /// Offset and reported text of each finding.
    found: Vec<(usize, String)>,
}

impl Finder {
    fn push(&mut self, at: impl Ranged, what: impl Into<String>) {
        self.found.push((at.range().start().to_usize(), what.into()));
    }

    fn imports(&mut self, stmt: &Stmt) {
        let root = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
        match stmt {
            Stmt::Import(it) => {
                for alias in it.names.iter().filter(|it| FRAMEWORKS.contains(&&*root(&it.name))) {
                    self.push(alias, format!("import {}", alias.name));
                }
            }
            Stmt::ImportFrom(it) if it.level == 0 => {
                let module = it.module.as_ref().map_or("", |it| it.as_str());
                if FRAMEWORKS.contains(&&*root(module)) {
                    self.push(it, format!("from {module} import"));
                }
                let names = it.names.iter().filter(|it| CALLERS.contains(&(module, &*it.name)));
                names.for_each(|it| self.push(it, it.name.as_str()));
            }
            _ => {}
        }
    }

    /// Records reads of environment variables that reveal a test run (`CI`, or a name that contains
    /// `TEST`): `os.environ["X"]`, `os.environ.get("X")`, `os.getenv("X")`, `"X" in os.environ`.
    fn variable(&mut self, of: &Expr, key: Option<&Expr>) {
        let named = match of {
            Expr::Attribute(it) => it.attr.as_str(),
            Expr::Name(it) => it.id.as_str(),
            _ => return,
        };
        let Some(Expr::StringLiteral(key)) = key else { return };
        let text = key.value.to_str();
        if matches!(named, "environ" | "getenv") && (text.contains("TEST") || text == "CI") {
            self.push(key, text);
        }
    }
}

impl<'a> Visitor<'a> for Finder {
    // Bodies are separate pieces.
    fn visit_body(&mut self, _: &'a [Stmt]) {}
    fn visit_elif_else_clause(&mut self, _: &'a ruff_python_ast::ElifElseClause) {}
    fn visit_except_handler(&mut self, _: &'a ruff_python_ast::ExceptHandler) {}
    fn visit_match_case(&mut self, _: &'a ruff_python_ast::MatchCase) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::StringLiteral(it) => {
                let text = it.value.to_str();
                if text.contains("PYTEST_") || FRAMEWORKS.contains(&text) {
                    self.push(it, text);
                }
            }
            Expr::Attribute(it) => {
                if let Expr::Name(of) = &*it.value
                    && CALLERS.contains(&(of.id.as_str(), it.attr.as_str()))
                {
                    self.push(it, format!("{}.{}", of.id, it.attr));
                }
            }
            Expr::Subscript(it) => self.variable(&it.value, Some(&it.slice)),
            Expr::Call(it) => {
                let first = it.arguments.args.first();
                match &*it.func {
                    Expr::Attribute(func) if func.attr.as_str() == "get" => {
                        self.variable(&func.value, first);
                    }
                    func => self.variable(func, first),
                }
            }
            Expr::Compare(it) => {
                it.comparators.iter().for_each(|right| self.variable(right, Some(&it.left)));
            }
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}
