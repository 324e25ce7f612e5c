//! Checks examples of a planned function against its signature, without running anything.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{
    Arguments, CmpOp, Expr, ExprCall, Number, Operator, Parameter, Stmt, StmtFunctionDef, UnaryOp,
};

use crate::signature::Signature;
use crate::syntax;
use crate::test_discovery::last_name;

/// Returns the problem of an example, a fragment for its author. An example is one expression that
/// holds, such as `mean([1, 2]) == 1.5`, with or without `assert`. Calls of known functions must fit
/// their parameters, and literals the annotations. `signature_of` knows the callable names:
/// functions, and classes by their `__init__`.
pub fn example_problem<'a>(
    example: &str,
    signature_of: impl Fn(&str) -> Option<&'a Signature>,
) -> Option<String> {
    let module = match syntax::parse(example.trim()) {
        Ok(module) => module,
        Err(error) => return Some(format!("it is not valid Python: {}", error.message)),
    };
    let expression = match &module.suite()[..] {
        [Stmt::Expr(it)] => &*it.value,
        [Stmt::Assert(it)] => &*it.test,
        _ => return Some("it is not one expression".to_owned()),
    };
    let mut calls = Calls { signature_of: &signature_of, problem: None };
    calls.visit_expr(expression);
    calls.problem.or_else(|| compared_value(expression, &signature_of))
}

/// Visits the calls of an example, up to the first problem.
struct Calls<'f, F> {
    signature_of: &'f F,
    problem: Option<String>,
}

impl<'s, 'e, F: Fn(&str) -> Option<&'s Signature>> Visitor<'e> for Calls<'_, F> {
    fn visit_expr(&mut self, expr: &'e Expr) {
        if self.problem.is_some() {
            return;
        }
        if let Expr::Call(call) = expr {
            self.problem = called(call, self.signature_of);
        }
        walk_expr(self, expr);
    }
}

fn called<'a>(
    call: &ExprCall,
    signature_of: &impl Fn(&str) -> Option<&'a Signature>,
) -> Option<String> {
    let name = call.func.as_name_expr()?.id.as_str();
    let signature = signature_of(name)?;
    let problem = with_definition(signature, |def| unfit_arguments(def, &call.arguments))??;
    Some(format!("{problem} in `{name}(…)`, whose signature is `{}`", signature.header()))
}

/// Compares the literal of `call == literal` with the return annotation.
fn compared_value<'a>(
    expression: &Expr,
    signature_of: &impl Fn(&str) -> Option<&'a Signature>,
) -> Option<String> {
    let compared = expression.as_compare_expr()?;
    let ([CmpOp::Eq], [right]) = (&*compared.ops, &*compared.comparators) else { return None };
    let name = compared.left.as_call_expr()?.func.as_name_expr()?.id.as_str();
    let signature = signature_of(name)?;
    let is_unfit = with_definition(signature, |def| {
        def.name.as_str() == name
            && def.returns.as_deref().is_some_and(|it| fits(right, it) == Some(false))
    });
    let header = signature.header();
    is_unfit?.then(|| format!("its value does not fit the return type of `{header}`"))
}

/// Calls `use_definition` with the parsed definition of a function's signature.
fn with_definition<T>(
    signature: &Signature,
    use_definition: impl FnOnce(&StmtFunctionDef) -> T,
) -> Option<T> {
    let source = format!("{}: pass\n", signature.header());
    let module = syntax::parse(&source).ok()?;
    let [Stmt::FunctionDef(def)] = &module.suite()[..] else { return None };
    Some(use_definition(def))
}

/// Returns why arguments do not fit the parameters; a receiver is not counted.
fn unfit_arguments(def: &StmtFunctionDef, given: &Arguments) -> Option<String> {
    let has_unpacking = given.args.iter().any(Expr::is_starred_expr)
        || given.keywords.iter().any(|it| it.arg.is_none());
    if has_unpacking {
        return None;
    }
    let parameters = &def.parameters;
    let own = usize::from(takes_receiver(def));
    let positional: Vec<_> =
        parameters.posonlyargs.iter().chain(&parameters.args).skip(own).collect();
    if given.args.len() > positional.len() && parameters.vararg.is_none() {
        return Some(format!("{} positional arguments are too many", given.args.len()));
    }
    let mut fitting = given.args.iter().zip(&positional).map(|(it, to)| (it, &to.parameter));
    if let Some((_, to)) = fitting.find(|(it, to)| is_unfit(it, to)) {
        return Some(format!("the value of `{}` does not fit its type", to.name));
    }
    for keyword in &given.keywords {
        let name = keyword.arg.as_deref().unwrap_or_default();
        let mut all = parameters.args.iter().chain(&parameters.kwonlyargs);
        match all.find(|it| it.parameter.name.as_str() == name) {
            None if parameters.kwarg.is_none() => {
                return Some(format!("there is no parameter `{name}`"));
            }
            Some(to) if is_unfit(&keyword.value, &to.parameter) => {
                return Some(format!("the value of `{name}` does not fit its type"));
            }
            _ => {}
        }
    }
    let is_given = |name: &str| given.keywords.iter().any(|it| it.arg.as_deref() == Some(name));
    let left = positional.into_iter().skip(given.args.len()).chain(&parameters.kwonlyargs);
    let missing =
        left.filter(|it| it.default.is_none()).find(|it| !is_given(it.parameter.name.as_str()));
    missing.map(|it| format!("`{}` is missing", it.parameter.name))
}

fn takes_receiver(def: &StmtFunctionDef) -> bool {
    let first = def.parameters.posonlyargs.iter().chain(&def.parameters.args).next();
    first.is_some_and(|it| matches!(it.parameter.name.as_str(), "self" | "cls"))
}

fn is_unfit(value: &Expr, to: &Parameter) -> bool {
    to.annotation.as_deref().is_some_and(|it| fits(value, it) == Some(false))
}

/// Returns whether a literal fits an annotation; `None` if that is not certain.
fn fits(value: &Expr, annotation: &Expr) -> Option<bool> {
    match annotation {
        Expr::NoneLiteral(_) => as_literal(value).map(|it| it == Literal::None),
        Expr::StringLiteral(_) => None,
        Expr::BinOp(it) if it.op == Operator::BitOr => {
            Some(fits(value, &it.left)? || fits(value, &it.right)?)
        }
        Expr::Subscript(it) => match last_name(&it.value)? {
            "Optional" => Some(fits(value, &it.slice)? || value.is_none_literal_expr()),
            "Union" => {
                let Expr::Tuple(all) = &*it.slice else { return None };
                all.elts.iter().try_fold(false, |any, it| Some(any || fits(value, it)?))
            }
            name => fits_container(value, name, &it.slice),
        },
        Expr::Name(_) | Expr::Attribute(_) => fits_name(value, last_name(annotation)?),
        _ => None,
    }
}

fn fits_container(value: &Expr, name: &str, slice: &Expr) -> Option<bool> {
    if !fits_name(value, name)? {
        return Some(false);
    }
    let all = |elements: &[Expr], each: &Expr| {
        elements.iter().try_fold(true, |all, it| Some(all && fits(it, each)?))
    };
    match (value, slice) {
        (Expr::List(it), each) => all(&it.elts, each),
        (Expr::Set(it), each) => all(&it.elts, each),
        (Expr::Tuple(it), Expr::Tuple(types)) if name.eq_ignore_ascii_case("tuple") => {
            if let [each, Expr::EllipsisLiteral(_)] = &types.elts[..] {
                return all(&it.elts, each);
            }
            let pairs = it.elts.iter().zip(&types.elts);
            let same = it.elts.len() == types.elts.len();
            pairs.into_iter().try_fold(same, |all, (it, each)| Some(all && fits(it, each)?))
        }
        (Expr::Dict(it), Expr::Tuple(types)) => {
            let [key, of] = &types.elts[..] else { return None };
            it.items.iter().try_fold(true, |all, it| {
                let fits_key = it.key.as_ref().map_or(Some(true), |it| fits(it, key))?;
                Some(all && fits_key && fits(&it.value, of)?)
            })
        }
        _ => Some(true),
    }
}

/// Kinds of literals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Literal {
    None,
    Bool,
    Int,
    Float,
    Complex,
    Str,
    Bytes,
    List,
    Tuple,
    Set,
    Dict,
}

fn as_literal(value: &Expr) -> Option<Literal> {
    Some(match value {
        Expr::NoneLiteral(_) => Literal::None,
        Expr::BooleanLiteral(_) => Literal::Bool,
        Expr::NumberLiteral(it) => match it.value {
            Number::Int(_) => Literal::Int,
            Number::Float(_) => Literal::Float,
            Number::Complex { .. } => Literal::Complex,
        },
        Expr::UnaryOp(it) if it.op == UnaryOp::USub && it.operand.is_number_literal_expr() => {
            return as_literal(&it.operand);
        }
        Expr::StringLiteral(_) | Expr::FString(_) => Literal::Str,
        Expr::BytesLiteral(_) => Literal::Bytes,
        Expr::List(_) | Expr::ListComp(_) => Literal::List,
        Expr::Tuple(_) => Literal::Tuple,
        Expr::Set(_) | Expr::SetComp(_) => Literal::Set,
        Expr::Dict(_) | Expr::DictComp(_) => Literal::Dict,
        _ => return None,
    })
}

/// Returns whether a literal is of a type of this name; `None` if either is not known.
fn fits_name(value: &Expr, name: &str) -> Option<bool> {
    use Literal::{Bool, Bytes, Complex, Dict, Float, Int, List, Set, Str, Tuple};
    let of = as_literal(value)?;
    let accepted: &[Literal] = match name {
        "Any" | "object" => return Some(true),
        "bool" => &[Bool],
        "int" => &[Int, Bool],
        "float" => &[Float, Int, Bool],
        "complex" => &[Complex, Float, Int, Bool],
        "str" => &[Str],
        "bytes" | "bytearray" => &[Bytes],
        "list" | "List" | "MutableSequence" => &[List],
        "tuple" | "Tuple" => &[Tuple],
        "set" | "Set" | "frozenset" | "FrozenSet" | "AbstractSet" | "MutableSet" => &[Set],
        "dict" | "Dict" | "Mapping" | "MutableMapping" => &[Dict],
        "Sequence" => &[List, Tuple, Str, Bytes],
        "Iterable" | "Collection" => &[List, Tuple, Str, Bytes, Set, Dict],
        _ => return None,
    };
    Some(accepted.contains(&of))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(example: &str) -> Option<String> {
        let known = [
            "def mean(values: list[float], *, digits: int | None = None) -> float",
            "def pair(key: str, count: int) -> tuple[str, int]",
            "def table(rows: Sequence[dict[str, int]]) -> Mapping[str, list[int]]",
            "def total(self, tax: float = 0.0) -> float",
        ]
        .map(|it| Signature::parse(it).expect("a signature"));
        example_problem(example, |name| known.iter().find(|it| it.name() == name))
    }

    #[test]
    fn examples_that_fit_have_no_problem() {
        for example in [
            "mean([1, 2.5]) == 1.75",
            "assert mean(values=[1], digits=2) == 1",
            "pair('a', -1) == ('a', -1)",
            "table([{'a': 1}]) == {'a': [1]}",
            "mean(load('x')) > 0",
            "unknown(1, 2, 3) == 'anything'",
            "len(pair(*['a', 1])) == 2",
            "round(total(0.5), 2) == 1",
        ] {
            assert_eq!(problem(example), None, "{example}");
        }
    }

    #[test]
    fn examples_that_do_not_fit_say_why() {
        for (example, why) in [
            ("mean([1) == 1", "not valid Python"),
            ("x = mean([1])", "not one expression"),
            ("mean() == 1", "`values` is missing"),
            ("mean([1], 2) == 1", "2 positional arguments are too many"),
            ("mean([1], digit=2) == 1", "there is no parameter `digit`"),
            ("mean(['a']) == 1", "the value of `values` does not fit"),
            ("mean([1], digits='2') == 1", "the value of `digits` does not fit"),
            ("mean([1]) == 'one'", "does not fit the return type"),
            ("pair('a', 1) == ('a', 1, 2)", "does not fit the return type"),
            ("table([{'a': 1}]) == {'a': 1}", "does not fit the return type"),
            ("str(pair('a', 'b')) == ''", "the value of `count` does not fit"),
        ] {
            let found = problem(example).unwrap_or_default();
            assert!(found.contains(why), "{example}: {found}");
        }
    }
}
