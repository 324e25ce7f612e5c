//! Normalizes literals to values, however they are written.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Number, Stmt, UnaryOp};
use rustc_hash::FxHashSet;

/// Values that occur in every program.
const TRIVIAL: [&str; 9] = ["n:-1", "n:0", "n:1", "n:2", "s:", "True", "False", "None", "..."];

/// Returns the value of a literal, or of a display of literals, in one spelling for all equal
/// values.
pub(super) fn value(expr: &Expr) -> Option<String> {
    Some(match expr {
        Expr::NumberLiteral(it) => format!("n:{}", number(&it.value)),
        Expr::StringLiteral(it) => format!("s:{}", it.value.to_str()),
        Expr::BytesLiteral(it) => format!("b:{:?}", it.value.bytes().collect::<Vec<u8>>()),
        Expr::BooleanLiteral(it) => if it.value { "True" } else { "False" }.to_owned(),
        Expr::NoneLiteral(_) => "None".to_owned(),
        Expr::EllipsisLiteral(_) => "...".to_owned(),
        Expr::UnaryOp(it) if it.op == UnaryOp::USub => match &*it.operand {
            Expr::NumberLiteral(it) => format!("n:-{}", number(&it.value)),
            _ => return None,
        },
        Expr::List(it) => format!("[{}]", values(&it.elts)?),
        Expr::Tuple(it) => format!("({})", values(&it.elts)?),
        Expr::Set(it) => format!("{{{}}}", values(&it.elts)?),
        Expr::Dict(it) => {
            let pair = |key: &Option<Expr>, of: &Expr| {
                Some(format!("{}: {}", value(key.as_ref()?)?, value(of)?))
            };
            let pairs: Option<Vec<String>> =
                it.items.iter().map(|it| pair(&it.key, &it.value)).collect();
            format!("{{{}}}", pairs?.join(", "))
        }
        _ => return None,
    })
}

fn values(all: &[Expr]) -> Option<String> {
    let values: Option<Vec<String>> = all.iter().map(value).collect();
    Some(values?.join(", "))
}

fn number(it: &Number) -> String {
    match it {
        Number::Int(it) => it.to_string(),
        // `100.0 == 100`
        Number::Float(it) if it.fract() == 0.0 && it.abs() < 1e15 => format!("{}", *it as i64),
        Number::Float(it) => it.to_string(),
        Number::Complex { real, imag } => format!("{real}+{imag}j"),
    }
}

/// Returns whether a literal is too common to show its origin.
pub(super) fn is_trivial(expr: &Expr) -> bool {
    match expr {
        Expr::StringLiteral(it) => {
            let text = it.value.to_str();
            text.trim().is_empty() || text.chars().count() == 1 && is_punctuation(text)
        }
        Expr::BytesLiteral(it) => it.value.bytes().next().is_none(),
        Expr::List(it) => are_trivial(&it.elts),
        Expr::Tuple(it) => are_trivial(&it.elts),
        Expr::Set(it) => are_trivial(&it.elts),
        Expr::Dict(it) => it.items.is_empty(),
        other => value(other).is_some_and(|it| TRIVIAL.contains(&it.as_str())),
    }
}

fn are_trivial(all: &[Expr]) -> bool {
    all.len() <= 2 && all.iter().all(is_trivial)
}

pub(super) fn is_punctuation(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric)
}

/// Returns whether a value in the spelling of [`value`] is a string.
pub(super) fn is_text(value: &str) -> bool {
    value.starts_with("s:")
}

/// Adds every value that occurs in some statements.
pub(super) fn gather(body: &[Stmt], found: &mut FxHashSet<String>) {
    Gather(found).visit_body(body);
}

struct Gather<'f>(&'f mut FxHashSet<String>);

impl<'a> Visitor<'a> for Gather<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.0.extend(value(expr));
        match expr {
            // Parameter names are not values.
            Expr::Call(call) if is_parametrize(&call.func) => {
                call.arguments.args.iter().skip(1).for_each(|it| self.visit_expr(it));
                call.arguments.keywords.iter().for_each(|it| self.visit_expr(&it.value));
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}

fn is_parametrize(func: &Expr) -> bool {
    matches!(func, Expr::Attribute(it) if it.attr.as_str() == "parametrize")
}

/// The values and words of a text, comments and docstrings included.
pub(super) struct Known<'a> {
    pub(super) text: &'a str,
    values: FxHashSet<String>,
    numbers: FxHashSet<&'a str>,
}

impl<'a> Known<'a> {
    pub(super) fn of(text: &'a str, body: &[Stmt]) -> Known<'a> {
        let mut values = FxHashSet::default();
        gather(body, &mut values);
        let words = text.split(|it: char| !it.is_alphanumeric() && it != '.');
        let numbers = words
            .map(|it| it.trim_matches('.'))
            .filter(|it| it.starts_with(|first: char| first.is_ascii_digit()))
            .collect();
        Known { text, values, numbers }
    }

    pub(super) fn holds(&self, expr: &Expr) -> bool {
        let Some(value) = value(expr) else { return false };
        if self.values.contains(&value) {
            return true;
        }
        match expr {
            Expr::StringLiteral(it) => {
                let text = it.value.to_str();
                text.chars().nth(1).is_some() && self.says(text)
            }
            _ => value
                .strip_prefix("n:")
                .is_some_and(|it| self.numbers.contains(it.trim_start_matches('-'))),
        }
    }

    /// Returns whether the text contains the words.
    pub(super) fn says(&self, words: &str) -> bool {
        self.text.contains(words)
    }
}
