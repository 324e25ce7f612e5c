//! Maps well-known names to the imports that define them.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};

use crate::imports::Import;
use crate::standard_library::{is_stdlib, is_typing};
use crate::syntax;

/// Returns the import for a well-known `name` that `source` uses and does not bind. A module is
/// offered only if the text accesses an attribute of it: a forgotten variable named `string` is a
/// bug, not a missing import. Third-party names are offered if `available` accepts their package.
pub fn import_for(name: &str, source: &str, available: impl Fn(&str) -> bool) -> Option<Import> {
    let attribute_base = is_attribute_base(source, name);
    if name == "datetime" && !uses_attribute(source, "datetime", "datetime") {
        return Some(Import::from("datetime", "datetime"));
    }
    if let Some((_, module, alias)) =
        CONVENTIONS.iter().find(|(bound, ..)| *bound == name).filter(|_| attribute_base)
    {
        let import = Import { alias: alias.map(str::to_owned), ..Import::module(module) };
        return available(import.top_level()).then_some(import);
    }
    if let Some((module, _)) = ORIGINS.iter().find(|(_, names)| names.contains(&name)) {
        return Some(Import::from(module, name));
    }
    if attribute_base && is_stdlib(name) {
        return Some(Import::module(name));
    }
    is_typing(name).then(|| Import::from("typing", name))
}

fn is_attribute_base(source: &str, name: &str) -> bool {
    attributes(source).iter().any(|(base, _)| base == name)
}

fn uses_attribute(source: &str, name: &str, attribute: &str) -> bool {
    attributes(source).iter().any(|(base, attr)| base == name && attr == attribute)
}

fn attributes(source: &str) -> Vec<(String, String)> {
    #[derive(Default)]
    struct Bases(Vec<(String, String)>);
    impl<'a> Visitor<'a> for Bases {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            visitor::walk_stmt(self, stmt);
        }
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Attribute(attribute) = expr
                && let Expr::Name(name) = &*attribute.value
            {
                self.0.push((name.id.to_string(), attribute.attr.to_string()));
            }
            visitor::walk_expr(self, expr);
        }
    }
    let mut bases = Bases::default();
    if let Ok(parsed) = syntax::parse(source) {
        bases.visit_body(parsed.suite());
    }
    bases.0
}

/// Conventional names of modules: bound name, module, alias.
const CONVENTIONS: &[(&str, &str, Option<&str>)] = &[
    ("np", "numpy", Some("np")),
    ("numpy", "numpy", None),
    ("pd", "pandas", Some("pd")),
    ("pandas", "pandas", None),
    ("plt", "matplotlib.pyplot", Some("plt")),
    ("pytest", "pytest", None),
    ("requests", "requests", None),
    ("scipy", "scipy", None),
    ("yaml", "yaml", None),
    ("dt", "datetime", Some("dt")),
];

/// Names that are nearly always imported from these modules.
const ORIGINS: &[(&str, &[&str])] = &[
    ("abc", &["ABC", "ABCMeta", "abstractmethod"]),
    ("collections", &["ChainMap", "Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"]),
    ("contextlib", &["closing", "contextmanager", "nullcontext", "redirect_stdout", "suppress"]),
    ("copy", &["deepcopy"]),
    ("dataclasses", &["asdict", "astuple", "dataclass", "field"]),
    ("datetime", &["timedelta", "timezone"]),
    ("decimal", &["ROUND_HALF_UP", "Decimal"]),
    ("enum", &["Enum", "Flag", "IntEnum", "IntFlag"]),
    ("fractions", &["Fraction"]),
    (
        "functools",
        &[
            "cache",
            "cached_property",
            "cmp_to_key",
            "lru_cache",
            "partial",
            "reduce",
            "singledispatch",
            "total_ordering",
            "wraps",
        ],
    ),
    ("heapq", &["heapify", "heappop", "heappush", "nlargest", "nsmallest"]),
    ("io", &["BytesIO", "StringIO"]),
    (
        "itertools",
        &[
            "accumulate",
            "chain",
            "combinations",
            "combinations_with_replacement",
            "groupby",
            "islice",
            "permutations",
            "product",
            "takewhile",
            "zip_longest",
        ],
    ),
    ("math", &["ceil", "floor", "gcd", "isclose", "sqrt"]),
    ("pathlib", &["Path", "PurePath"]),
    ("types", &["MappingProxyType", "SimpleNamespace"]),
    ("unittest.mock", &["MagicMock", "Mock", "mock_open", "patch"]),
];
