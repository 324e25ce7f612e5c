//! Detects functions that do nothing.

use ruff_python_ast::Stmt;

use crate::syntax::{self, blocks};

/// Returns whether the last function of this name in a text has a body of only a docstring, `pass`
/// and `...`.
pub fn does_nothing(source: &str, name: &str) -> bool {
    let Ok(parsed) = syntax::parse(source) else { return false };
    let mut found = None;
    look(parsed.suite(), name, &mut found);
    found.unwrap_or(false)
}

fn look(body: &[Stmt], name: &str, found: &mut Option<bool>) {
    for stmt in body {
        if let Stmt::FunctionDef(it) = stmt
            && it.name.as_str() == name
        {
            *found = Some(it.body.iter().all(is_nothing));
        }
        blocks(stmt).into_iter().for_each(|it| look(it, name, found));
    }
}

fn is_nothing(stmt: &Stmt) -> bool {
    let literal =
        |it: &ruff_python_ast::Expr| it.is_string_literal_expr() || it.is_ellipsis_literal_expr();
    matches!(stmt, Stmt::Pass(_)) || matches!(stmt, Stmt::Expr(it) if literal(&it.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_docstring_and_pass_are_nothing() {
        let table = [
            ("def f():\n    pass\n", true),
            ("def f():\n    \"\"\"Does it.\"\"\"\n", true),
            ("class A:\n    def f(self):\n        'Does it.'\n        ...\n", true),
            ("def f():\n    'Does it.'\n    return None\n", false),
            ("def f():\n    raise NotImplementedError\n", false),
            ("def g():\n    pass\n", false),
            ("def f():\n    pass\n\n\ndef f():\n    return 1\n", false),
        ];
        for (text, wanted) in table {
            assert_eq!(does_nothing(text, "f"), wanted, "{text}");
        }
    }
}
