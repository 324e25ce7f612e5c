//! Reads calls and their expected values from assertions and docstrings, in one normalized
//! spelling: equal expressions become equal texts, however they were laid out and quoted.

use ruff_python_ast::{CmpOp, Expr, ExprCall, Stmt, UnaryOp};
use ruff_python_formatter::{MagicTrailingComma, PyFormatOptions, format_module_source};
use ruff_text_size::Ranged;

use crate::syntax;
use crate::test_discovery::last_name;

/// A call and the value it is expected to return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub call: String,
    /// The expected value; `None` if it is not a literal.
    pub value: Option<String>,
}

/// Parses `call == value`, with or without `assert`. `pytest.approx(value)` counts as `value`.
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
        call: normalized(&text[call.range().to_std_range()])?,
        value: is_literal(value).then(|| normalized(&text[value.range().to_std_range()])).flatten(),
    })
}

/// Returns the normalized spelling of an expression; `None` if the text is not one.
pub fn normalized(text: &str) -> Option<String> {
    // The assignment keeps a lone string from being formatted as a docstring.
    let source = format!("x = (\n{}\n)", text.trim());
    let options = PyFormatOptions::default().with_magic_trailing_comma(MagicTrailingComma::Ignore);
    let spelled = format_module_source(&source, options).ok()?.into_code();
    Some(spelled.strip_prefix("x = ")?.trim_end().to_owned())
}

/// Returns the normalized spelling of a literal expression (no names, no calls); `None` for any
/// other text.
pub fn literal(text: &str) -> Option<String> {
    let module = syntax::parse(text.trim()).ok()?;
    let [Stmt::Expr(it)] = &module.suite()[..] else { return None };
    if is_literal(&it.value) { normalized(text) } else { None }
}

/// Returns the value in `approx(value)`.
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
