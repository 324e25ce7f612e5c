//! Uses that no reference shows: by Python, pytest or a library, which look for a name, and by
//! decorators.

use super::{FileId, Index, Located};
use crate::outline::Symbol;
use crate::semantics::ir::SymbolId;
use crate::semantics::{Eval, Target, ask};
use crate::test_files::is_test_file;

/// Decorators that pass the definition to nothing else: of the language and the standard library,
/// and those that only describe a class or a test.
const PLAIN: [&str; 41] = [
    "abstractmethod",
    "asynccontextmanager",
    "attrs",
    "cache",
    "cached_property",
    "classmethod",
    "contextmanager",
    "coroutine",
    "dataclass",
    "dataclass_transform",
    "define",
    "deleter",
    "deprecated",
    "expectedFailure",
    "final",
    "frozen",
    "getter",
    "given",
    "lru_cache",
    "mutable",
    "no_type_check",
    "overload",
    "override",
    "parametrize",
    "patch",
    "property",
    "runtime_checkable",
    "s",
    "setter",
    "singledispatch",
    "singledispatchmethod",
    "skip",
    "skipIf",
    "skipUnless",
    "skipif",
    "staticmethod",
    "total_ordering",
    "unique",
    "usefixtures",
    "wraps",
    "xfail",
];

/// Returns the reason why code uses a symbol, or depends on it, without its name.
fn unnamed_use(eval: &Eval<'_>, file: FileId, symbol: SymbolId) -> Option<String> {
    let kept = eval.kept_by_base(file, symbol);
    let implements = kept.or_else(|| eval.member_of_protocol(file, symbol));
    implements.or_else(|| eval.lost_with(file, symbol))
}

impl Index {
    /// Returns the reason why code that no reference shows may use a definition.
    pub fn unseen_use(&self, it: Located) -> Option<String> {
        let outline = self.outline(it.file);
        let symbol = &outline.symbols[it.symbol];
        let name = &symbol.name;
        if name.starts_with("__") && name.ends_with("__") {
            return Some(format!("Python itself looks for the name `{name}`"));
        }
        let bound = self.module(it.file).symbol_bound_at(symbol.name_range.start as u32);
        let target = bound.map(|bound| Target::Symbol(it.file, bound));
        let looked_for = target.and_then(|it| ask(self, |eval| eval.convention(it)));
        let unnamed =
            || bound.and_then(|bound| ask(self, |eval| unnamed_use(eval, it.file, bound)));
        looked_for.or_else(|| self.decorator_use(it.file, symbol)).or_else(unnamed)
    }

    fn decorator_use(&self, file: FileId, symbol: &Symbol) -> Option<String> {
        let text = self.text(file)?;
        let decorators = symbol.decorators.iter().filter_map(|it| text.get(it.clone()));
        let decorators = decorators.map(|it| it.trim_start_matches('@').trim());
        decorators.into_iter().find_map(|it| self.use_by(file, it))
    }

    /// Returns the reason why a decorator, by its source, may use a definition elsewhere.
    fn use_by(&self, file: FileId, decorator: &str) -> Option<String> {
        let path = decorator.split('(').next().unwrap_or(decorator).trim();
        let last = path.rsplit('.').next().unwrap_or(path);
        match last {
            "fixture" | "yield_fixture" if decorator.contains("autouse") => {
                Some("pytest runs it for every test (`autouse`)".to_owned())
            }
            "fixture" | "yield_fixture" if !is_test_file(self.path(file)) => {
                Some("tests of other projects may ask for this fixture".to_owned())
            }
            "fixture" | "yield_fixture" => None,
            _ if PLAIN.contains(&last) || path.starts_with("pytest.mark.") => None,
            _ => Some(format!("the decorator `{path}` may use it elsewhere")),
        }
    }
}
