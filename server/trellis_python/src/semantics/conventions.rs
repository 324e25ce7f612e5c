//! Names that code outside the workspace looks for, by a convention.

use super::bundle;
use super::eval::{Eval, Hit};
use super::ir::*;
use super::meaning::Target;
use super::names::{KNOWN, Name};
use crate::index::FileId;
use crate::test_files::is_test_file;

/// Variables of test modules that pytest reads.
const READ_BY_PYTEST: [&str; 4] =
    ["pytest_plugins", "pytestmark", "collect_ignore", "collect_ignore_glob"];

/// Functions of test modules, and methods of test classes, that pytest runs around tests.
const RUN_BY_PYTEST: [&str; 10] = [
    "setup_module",
    "teardown_module",
    "setup_function",
    "teardown_function",
    "setup_class",
    "teardown_class",
    "setup_method",
    "teardown_method",
    "setUpModule",
    "tearDownModule",
];

/// Methods that Python's import system calls on any object.
const RUN_BY_IMPORT: [&str; 5] =
    ["find_spec", "find_module", "create_module", "exec_module", "load_module"];

/// Classes of the standard library that look up methods by the beginning of their names.
const DISPATCHING: [(&str, &[&str]); 5] = [
    ("NodeVisitor", &["visit_"]),
    ("BaseHTTPRequestHandler", &["do_"]),
    ("Cmd", &["do_", "help_", "complete_"]),
    ("TestCase", &["test"]),
    ("SMTPServer", &["smtp_"]),
];

impl Eval<'_> {
    /// Returns who looks for a symbol by its name, as a sentence; `None` if no convention is known.
    pub(crate) fn convention(&self, target: Target) -> Option<String> {
        let Target::Symbol(file, symbol) = target else { return None };
        if bundle::number(file).is_some() {
            return None;
        }
        let module = self.module(file);
        let it = module.symbol(symbol);
        if let Some(hook) = self.plugin_hook(file, symbol) {
            return Some(hook);
        }
        match module.scopes[it.scope.index()].kind {
            ScopeKind::Module => self.of_pytest(file, it.name),
            ScopeKind::Class(class) => self.of_member(file, class, it.name),
            ScopeKind::Function(function) => self.of_hook(file, function, symbol),
            _ => None,
        }
    }

    /// Returns the reason for a hook of a plugin system, and for its parameters: `pluggy` calls them
    /// by their names.
    fn plugin_hook(&self, file: FileId, symbol: SymbolId) -> Option<String> {
        let module = self.module(file);
        let mut bindings = module.symbol(symbol).bindings.iter();
        let function = bindings.find_map(|it| match module.binding(*it).kind {
            BindingKind::Function(function) | BindingKind::Parameter(function, _) => Some(function),
            _ => None,
        })?;
        let marks = ["hookimpl", "hookspec"];
        let is_hook = marks.iter().any(|it| self.has_decorator(file, function, Name::of(it)));
        let name = module.symbol(symbol).name.text();
        is_hook.then(|| format!("a plugin manager looks for `{name}`"))
    }

    /// Returns the reason for a member of a class that stands in for an object of the standard
    /// library: its `__getattr__` hands all other names on to that object.
    fn of_wrapped(&self, file: FileId, class: ClassId, name: Name) -> Option<String> {
        let module = self.module(file);
        let scope = module.class(class).scope;
        let symbol = module.symbol(module.bound(scope, KNOWN.getattr)?);
        let handed_on = symbol.bindings.iter().find_map(|it| match module.binding(*it).kind {
            BindingKind::Function(it) => module.function(it).returned.iter().find_map(|it| {
                let call = module.call(*it)?;
                let is_getattr = matches!(module.expr(call.function),
                    Expr::Name(name, None, _) if name.text() == "getattr");
                module.arguments_of(call).first().filter(|_| is_getattr)
            }),
            _ => None,
        })?;
        let found = self.attribute(&self.expr(file, handed_on.value), name);
        let is_library =
            |it: &Hit| matches!(it, Hit::Symbol(file, _) if bundle::number(*file).is_some());
        let (of, name) = (module.class(class).name.text(), name.text());
        let why =
            format!("`{of}` takes the place of an object of the standard library with a `{name}`");
        found.hits.iter().any(is_library).then_some(why)
    }

    fn of_pytest(&self, file: FileId, name: Name) -> Option<String> {
        let text = name.text();
        let is_test = is_test_file(self.index.path(file));
        let path = self.index.path(file);
        if text == "load_tests" && (is_test || path.ends_with("__init__.py")) {
            return Some("unittest looks for `load_tests`".to_owned());
        }
        let is_known = text.starts_with("pytest_")
            || is_test && (READ_BY_PYTEST.contains(&text) || RUN_BY_PYTEST.contains(&text));
        is_known.then(|| format!("pytest looks for `{text}`"))
    }

    fn of_member(&self, file: FileId, class: ClassId, name: Name) -> Option<String> {
        let by_name = self.of_known_name(file, name.text());
        let named_after = || {
            let of = self.class_named_in(file, class, name)?;
            let (name, of) = (name.text(), of.text());
            Some(format!("code looks up `{name}` by the name of the class `{of}`"))
        };
        let by_name = by_name.or_else(named_after);
        by_name
            .or_else(|| self.of_wrapped(file, class, name))
            .or_else(|| self.of_base(file, class, name))
            .or_else(|| self.called_by_library(file, class, name))
    }

    fn of_known_name(&self, file: FileId, text: &str) -> Option<String> {
        let who = match text {
            _ if text.starts_with("_repr_") && text.ends_with('_') => "IPython",
            // A plugin may be an object.
            _ if text.starts_with("pytest_") => "pytest",
            _ if RUN_BY_IMPORT.contains(&text) => "Python's import system",
            _ if RUN_BY_PYTEST.contains(&text) && is_test_file(self.index.path(file)) => "pytest",
            _ => return None,
        };
        Some(format!("{who} looks for `{text}`"))
    }

    fn of_base(&self, file: FileId, class: ClassId, name: Name) -> Option<String> {
        let text = name.text();
        let info = self.class(file, class);
        let bundled = info.mro.iter().filter(|it| bundle::number(it.file).is_some());
        let mut bases = bundled.map(|it| self.module(it.file).class(it.class).name.text());
        let base = bases.find(|base| {
            let rows = DISPATCHING.iter().filter(|(of, _)| of == base);
            rows.flat_map(|(_, all)| *all).any(|it| text.starts_with(it))
        })?;
        Some(format!("`{base}` of the standard library looks for `{text}`"))
    }

    /// Returns the reason for a parameter of a hook of pytest.
    fn of_hook(&self, file: FileId, function: FunctionId, symbol: SymbolId) -> Option<String> {
        let module = self.module(file);
        let of = module.function(function);
        let hook = of.name.filter(|it| it.text().starts_with("pytest_"))?;
        let given = of.parameters.iter().skip(usize::from(of.class.is_some()));
        let is_parameter = given.into_iter().any(|it| it.symbol == symbol && it.default.is_none());
        let name = module.symbol(symbol).name.text();
        let (hook, why) = (hook.text(), "pytest passes");
        is_parameter.then(|| format!("{why} `{name}` to `{hook}` by its name"))
    }
}
