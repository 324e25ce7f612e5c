//! Calls and the values they are compared with, as tests assert and docstrings promise them, in one spelling: however they were
//! laid out and quoted, equal expressions are equal texts.

use ruff_python_ast::{CmpOp, Expr, ExprCall, Stmt, UnaryOp};
use ruff_python_formatter::{MagicTrailingComma, PyFormatOptions, format_module_source};
use ruff_text_size::Ranged;

use crate::syntax;
use crate::test_discovery::last_name;

/// A call that is said to give a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub call: String,
    /// None where the value is not written out.
    pub value: Option<String>,
}

/// Reads `call == value`, with or without `assert`; `pytest.approx(value)` is its value.
pub fn comparison(text: &str) -> Option<Comparison> {
    let text = text.trim();
    let module = syntax::parse(text).ok()?;
    let [stmt] = &module.suite()[..] else { return None };
    let compared = match stmt {
        Stmt::Assert(it) => &it.test,
        Stmt::Expr(it) => &it.value,
        _ => return None,
    };
    let compared = compared.as_compare_expr()?;
    let ([CmpOp::Eq], [right]) = (&*compared.ops, &*compared.comparators) else { return None };
    let call = compared.left.as_call_expr()?;
    let value = approximated(right).unwrap_or(right);
    Some(Comparison {
        call: spelled(&text[call.range().to_std_range()])?,
        value: is_literal(value).then(|| spelled(&text[value.range().to_std_range()])).flatten(),
    })
}

/// Spells an expression; none for a text that is no expression.
pub fn spelled(text: &str) -> Option<String> {
    // On its own a string would be taken for a docstring.
    let source = format!("x = (\n{}\n)", text.trim());
    let options = PyFormatOptions::default().with_magic_trailing_comma(MagicTrailingComma::Ignore);
    let spelled = format_module_source(&source, options).ok()?.into_code();
    Some(spelled.strip_prefix("x = ")?.trim_end().to_owned())
}

/// Spells an expression that is written out, without names and calls; none for any other text.
pub fn literal(text: &str) -> Option<String> {
    let module = syntax::parse(text.trim()).ok()?;
    let [Stmt::Expr(it)] = &module.suite()[..] else { return None };
    if is_literal(&it.value) { spelled(text) } else { None }
}

/// The value in `approx(value)`.
fn approximated(expr: &Expr) -> Option<&Expr> {
    let ExprCall { func, arguments, .. } = expr.as_call_expr()?;
    arguments.args.first().filter(|_| last_name(func) == Some("approx"))
}

fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_) => true,
        Expr::UnaryOp(it) => it.op == UnaryOp::USub && it.operand.is_number_literal_expr(),
        Expr::List(it) => it.elts.iter().all(is_literal),
        Expr::Tuple(it) => it.elts.iter().all(is_literal),
        Expr::Set(it) => it.elts.iter().all(is_literal),
        Expr::Dict(it) => it
            .items
            .iter()
            .all(|it| it.key.as_ref().is_some_and(is_literal) && is_literal(&it.value)),
        _ => false,
    }
}
