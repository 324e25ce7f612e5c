//! Finds the imports of a module, and those of them that are executed when it is loaded.

use std::ops::Range;

use ruff_python_ast::{Alias, Expr, Stmt, StmtIf, UnaryOp};
use ruff_text_size::Ranged;

use crate::fragment::is_main_guard;
use crate::semantics::{ModulePath, Name};
use crate::syntax::blocks;
use crate::test_discovery::last_name;
use crate::tree::Tree;

/// One imported module, or one member of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuntimeImport {
    pub(crate) path: ModulePath,
    /// `b` of `from a import b`.
    pub(crate) member: Option<Name>,
    /// Range of the statement.
    pub(crate) range: Range<usize>,
    /// False for imports inside functions, which run only when called, and for those under
    /// `TYPE_CHECKING` or the main guard, which loading never executes.
    pub(crate) at_load: bool,
}

/// Returns the imports of a text in source order.
pub(crate) fn runtime_imports(source: &str) -> Vec<RuntimeImport> {
    let mut found = Vec::new();
    if let Ok(tree) = Tree::of(source) {
        body(tree.body(), true, &mut found);
    }
    found
}

fn body(stmts: &[Stmt], at_load: bool, found: &mut Vec<RuntimeImport>) {
    for stmt in stmts {
        let range = stmt.range().start().to_usize()..stmt.range().end().to_usize();
        let mut load = |level, module: &str, member: Option<&Alias>| {
            let path = ModulePath { level, name: Name::of(module) };
            let member = member.map(|it| Name::of(it.name.as_str()));
            found.push(RuntimeImport { path, member, range: range.clone(), at_load });
        };
        match stmt {
            Stmt::Import(it) => it.names.iter().for_each(|it| load(0, it.name.as_str(), None)),
            Stmt::ImportFrom(it) => {
                let module = it.module.as_ref().map_or("", |it| it.as_str());
                it.names.iter().for_each(|name| load(it.level, module, Some(name)));
            }
            Stmt::FunctionDef(it) => body(&it.body, false, found),
            Stmt::If(it) => branches(stmt, it, at_load, found),
            other => blocks(other).into_iter().for_each(|it| body(it, at_load, found)),
        }
    }
}

fn branches(stmt: &Stmt, it: &StmtIf, at_load: bool, found: &mut Vec<RuntimeImport>) {
    let never = is_main_guard(stmt) || is_type_checking(&it.test);
    let always = matches!(&*it.test, Expr::UnaryOp(not) if not.op == UnaryOp::Not && is_type_checking(&not.operand));
    body(&it.body, at_load && !never, found);
    it.elif_else_clauses.iter().for_each(|it| body(&it.body, at_load && !always, found));
}

fn is_type_checking(test: &Expr) -> bool {
    last_name(test) == Some("TYPE_CHECKING")
}
