//! Tables of operators and functions that can replace each other.

use ruff_python_ast::{CmpOp, Operator};

use super::MutantKind;

/// Returns the comparisons that can replace `op`.
pub(super) fn comparisons(op: CmpOp) -> &'static [(&'static str, MutantKind)] {
    use MutantKind::{Boundary, Comparison};
    match op {
        CmpOp::Lt => &[("<=", Boundary), (">", Comparison), (">=", Comparison), ("!=", Comparison)],
        CmpOp::LtE => &[("<", Boundary), (">=", Comparison), (">", Comparison), ("==", Comparison)],
        CmpOp::Gt => &[(">=", Boundary), ("<", Comparison), ("<=", Comparison), ("!=", Comparison)],
        CmpOp::GtE => &[(">", Boundary), ("<=", Comparison), ("<", Comparison), ("==", Comparison)],
        CmpOp::Eq => &[
            ("!=", Comparison),
            ("<=", Comparison),
            (">=", Comparison),
            ("in", Comparison),
            ("is", Comparison),
        ],
        CmpOp::NotEq => &[
            ("==", Comparison),
            ("<", Comparison),
            (">", Comparison),
            ("not in", Comparison),
            ("is not", Comparison),
        ],
        CmpOp::Is => &[("is not", Comparison), ("==", Comparison)],
        CmpOp::IsNot => &[("is", Comparison), ("!=", Comparison)],
        CmpOp::In => &[("not in", Comparison), ("==", Comparison)],
        CmpOp::NotIn => &[("in", Comparison), ("!=", Comparison)],
    }
}

/// Returns the arithmetic and bitwise operators that can replace `op`.
pub(super) fn arithmetic(op: Operator) -> &'static [&'static str] {
    match op {
        Operator::Add => &["-", "*"],
        Operator::Sub => &["+", "/", "%"],
        Operator::Mult => &["+", "/", "//", "**"],
        Operator::Div => &["//", "*"],
        Operator::FloorDiv => &["/", "%", "*"],
        Operator::Mod => &["//", "/", "*"],
        Operator::Pow => &["*"],
        Operator::LShift => &[">>"],
        Operator::RShift => &["<<"],
        Operator::BitOr => &["&", "^"],
        Operator::BitXor => &["&", "|"],
        Operator::BitAnd => &["|", "^"],
        Operator::MatMult => &["*"],
    }
}

/// Returns whether the order of the operands matters.
pub(super) fn is_ordered(op: Operator) -> bool {
    matches!(
        op,
        Operator::Sub
            | Operator::Div
            | Operator::FloorDiv
            | Operator::Mod
            | Operator::Pow
            | Operator::LShift
            | Operator::RShift
    )
}

/// Functions and methods that are often confused; each list is one family.
const FAMILIES: [&[&str]; 27] = [
    &["append", "extend", "add", "insert", "appendleft"],
    &["pop", "popleft", "remove", "discard"],
    &["min", "max", "sum"],
    &["any", "all"],
    &["sorted", "list", "reversed", "set"],
    &["floor", "ceil", "round", "int", "trunc"],
    &["strip", "lstrip", "rstrip"],
    &["lower", "upper", "title", "capitalize", "casefold"],
    &["startswith", "endswith"],
    &["find", "rfind", "index", "rindex"],
    &["split", "rsplit", "splitlines", "partition", "rpartition"],
    &["removeprefix", "removesuffix", "lstrip", "rstrip"],
    &["ljust", "rjust", "center", "zfill"],
    &["keys", "values", "items"],
    &["get", "pop", "setdefault"],
    &["update", "setdefault"],
    &["union", "intersection", "difference", "symmetric_difference"],
    &["issubset", "issuperset", "isdisjoint"],
    &["isdigit", "isalpha", "isalnum", "isnumeric", "isdecimal"],
    &["match", "search", "fullmatch"],
    &["heappush", "heappop", "heappushpop", "heapreplace", "heapify"],
    &["bisect", "bisect_left", "bisect_right", "insort", "insort_left"],
    &["sin", "cos", "tan"],
    &["mean", "median", "mode", "fmean"],
    &["stdev", "pstdev", "variance", "pvariance"],
    &["combinations", "permutations", "combinations_with_replacement", "product"],
    &["days", "seconds", "total_seconds"],
];

/// Returns the functions and methods that are often confused with `name`.
pub(super) fn siblings(name: &str) -> impl Iterator<Item = &'static str> {
    let name = name.to_owned();
    let of = FAMILIES.iter().filter({
        let name = name.clone();
        move |family| family.contains(&name.as_str())
    });
    of.flat_map(|family| family.iter().copied()).filter(move |it| *it != name)
}

/// Functions and methods that take the same and do the opposite, or do it from the other end.
const OPPOSITE: [(&str, &str); 18] = [
    ("min", "max"),
    ("any", "all"),
    ("floor", "ceil"),
    ("lstrip", "rstrip"),
    ("startswith", "endswith"),
    ("find", "rfind"),
    ("index", "rindex"),
    ("split", "rsplit"),
    ("partition", "rpartition"),
    ("removeprefix", "removesuffix"),
    ("ljust", "rjust"),
    ("lower", "upper"),
    ("issubset", "issuperset"),
    ("union", "intersection"),
    ("bisect", "bisect_left"),
    ("bisect_right", "bisect_left"),
    ("append", "appendleft"),
    ("pop", "popleft"),
];

/// Returns whether two functions or methods are opposites.
pub(super) fn are_opposite(one: &str, other: &str) -> bool {
    OPPOSITE.iter().any(|it| *it == (one, other) || *it == (other, one))
}
