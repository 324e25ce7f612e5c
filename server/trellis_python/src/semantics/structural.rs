//! Uses of classes and members that no code names: by protocols, by base classes that keep their
//! subclasses, by positions and by the library.

use super::bundle;
use super::eval::Eval;
use super::ir::*;
use super::names::{KNOWN, Name};
use super::types::{ClassType, Type};
use crate::index::{FileId, Word};

/// Functions and streams of the library, with the methods that they call on what they are given.
const CALLING: [(&str, &[&str]); 14] = [
    ("print", &["write", "flush"]),
    ("closing", &["close"]),
    ("aclosing", &["aclose"]),
    ("redirect_stdout", &["write", "flush"]),
    ("redirect_stderr", &["write", "flush"]),
    ("StreamHandler", &["write", "flush"]),
    ("dump", &["write"]),
    ("writer", &["write"]),
    ("DictWriter", &["write"]),
    ("load", &["read", "readline"]),
    ("copyfileobj", &["read", "write"]),
    ("stdout", &["write", "flush"]),
    ("stderr", &["write", "flush"]),
    ("stdin", &["read", "readline"]),
];

/// Returns whether a function or stream of the library calls a method.
fn calls_method(of: Name, method: Name) -> bool {
    CALLING.iter().any(|(name, methods)| *name == of.text() && methods.contains(&method.text()))
}

impl Eval<'_> {
    /// Returns the reason why a class is used though nothing names it: a base class or its metaclass
    /// keeps the classes that derive from it.
    pub(crate) fn kept_by_base(&self, file: FileId, symbol: SymbolId) -> Option<String> {
        let class = self.class_bound(file, symbol)?;
        let info = self.class(file, class);
        let own = |it: &&ClassType| bundle::number(it.file).is_none();
        let bases = info.mro.iter().skip(1).filter(own);
        let base = bases.clone().find(|it| self.binds(it, &["__init_subclass__"]));
        let metaclass = info.metaclass.iter().filter(own);
        let metaclass = metaclass.into_iter().find(|it| self.binds(it, &["__new__", "__init__"]));
        let lists = || bases.clone().find(|it| self.lists_subclasses(it));
        let by = base.or(metaclass).or_else(lists)?;
        let by = self.index.class_name(by);
        Some(format!("`{by}` may keep the classes that derive from it"))
    }

    fn class_bound(&self, file: FileId, symbol: SymbolId) -> Option<ClassId> {
        let module = self.module(file);
        module.symbol(symbol).bindings.iter().find_map(|it| match module.binding(*it).kind {
            BindingKind::Class(class) => Some(class),
            _ => None,
        })
    }

    /// Returns whether a class itself binds one of some names.
    fn binds(&self, of: &ClassType, names: &[&str]) -> bool {
        let module = self.module(of.file);
        let scope = module.class(of.class).scope;
        names.iter().any(|it| module.bound(scope, Name::of(it)).is_some())
    }

    /// Returns whether some code calls `__subclasses__` of a class.
    fn lists_subclasses(&self, of: &ClassType) -> bool {
        let word = Word::of("__subclasses__");
        let mut files = self.index.files().filter(|it| self.index.words(*it).has(word));
        files.any(|file| {
            let mut exprs = self.module(file).exprs.iter();
            exprs.any(|it| match it {
                Expr::Attribute(object, name, _) if name.text() == "__subclasses__" => {
                    let object = self.expr(file, *object);
                    object
                        .members()
                        .iter()
                        .any(|it| matches!(it, Type::Class(class) if self.derives(of, class)))
                }
                _ => false,
            })
        })
    }

    /// Returns the reason why a member is used though no code names it on its class: the class has all
    /// members of a protocol.
    pub(crate) fn member_of_protocol(&self, file: FileId, symbol: SymbolId) -> Option<String> {
        let module = self.module(file);
        let it = module.symbol(symbol);
        let ScopeKind::Class(class) = module.scopes[it.scope.index()].kind else { return None };
        let own = self.own_class_type(file, class);
        let words = [Word::of("Protocol"), Word::of(it.name.text())];
        let holds = |file: &FileId| words.iter().all(|it| self.index.words(*file).has(*it));
        let mut protocols = self.index.files().filter(holds).flat_map(|file| {
            let classes = 0..self.module(file).classes.len() as u32;
            classes.map(move |it| ClassType::bare(file, ClassId(it)))
        });
        let found = protocols.find(|protocol| {
            !protocol.is_same(&own)
                && self.class(protocol.file, protocol.class).is_protocol
                && self.binds(protocol, &[it.name.text()])
                && self.has_members_of(&own, protocol)
        })?;
        let of = self.index.class_name(&found);
        Some(format!("it may implement `{of}.{}`", it.name.text()))
    }

    /// Returns the reason for a method that Python or the library calls on any object.
    pub(super) fn called_by_library(
        &self,
        file: FileId,
        class: ClassId,
        name: Name,
    ) -> Option<String> {
        let own = ClassType::bare(file, class);
        let text = name.text();
        if text == "keys" && self.binds(&own, &["__getitem__"]) {
            return Some("Python looks for `keys` in mappings that it unpacks".to_owned());
        }
        if !CALLING.iter().any(|(_, methods)| methods.contains(&text)) {
            return None;
        }
        let word = Word::of(self.index.class_name(&own));
        let mut files = self.index.files().filter(|it| self.index.words(*it).has(word));
        let by = files.find_map(|it| self.library_caller(it, &own, name))?;
        Some(format!("`{}` of the standard library looks for `{text}`", by.text()))
    }

    /// Returns a function or stream of the library to which a file gives instances of a class, and
    /// which calls a method of theirs.
    fn library_caller(&self, file: FileId, class: &ClassType, method: Name) -> Option<Name> {
        let module = self.module(file);
        let takes = |of: ExprId| module.last_name(of).filter(|it| calls_method(*it, method));
        let called = module.calls.iter().find_map(|call| {
            let name = takes(call.function)?;
            let mut given = module.arguments_of(call).iter();
            let is_file = |it: &Argument| matches!(it.kind, ArgumentKind::Keyword(name) if name.text() == "file");
            let is_given = given.any(|it| {
                let is_called = name.text() != "print" || is_file(it);
                is_called && self.is_instance_of(file, it.value, class)
            });
            (is_given && !self.is_own_code(file, call.function)).then_some(name)
        });
        let stored = || {
            let mut stores = module.stores.iter();
            stores.find_map(|(to, value)| {
                takes(*to).filter(|_| self.is_instance_of(file, *value, class))
            })
        };
        called.or_else(stored)
    }

    /// Returns whether an expression is a function or class of the workspace.
    fn is_own_code(&self, file: FileId, expr: ExprId) -> bool {
        let callee = self.expr(file, expr);
        self.candidates(&callee).iter().any(|it| bundle::number(it.file).is_none())
    }

    fn is_instance_of(&self, file: FileId, expr: ExprId, class: &ClassType) -> bool {
        let given = self.expr(file, expr);
        let is_it = |it: &Type| matches!(it, Type::Instance(of) if self.derives(of, class));
        given.members().iter().any(is_it)
    }

    /// Returns the reason why other code changes its meaning without a definition, though it does not
    /// name it: later fields and members move, or its value is no longer computed.
    pub(crate) fn lost_with(&self, file: FileId, symbol: SymbolId) -> Option<String> {
        let module = self.module(file);
        let it = module.symbol(symbol);
        let member = match module.scopes[it.scope.index()].kind {
            ScopeKind::Class(class) => Some(ClassType::bare(file, class)),
            _ => None,
        };
        let of_class = member.and_then(|of| {
            self.filled_by_position(&of, symbol).or_else(|| self.counted_after(&of, symbol))
        });
        of_class.or_else(|| self.computed_for(file, symbol))
    }

    /// Returns the reason for a field that calls of its class fill by position.
    fn filled_by_position(&self, of: &ClassType, symbol: SymbolId) -> Option<String> {
        let is_field = self.class(of.file, of.class).has_fields
            && self.fields(of).contains(&(of.file, symbol));
        if !is_field {
            return None;
        }
        let name = self.index.class_name(of);
        let word = Word::of(name);
        let mut files = self.index.files().filter(|it| self.index.words(*it).has(word));
        let fills = |file: FileId| {
            let module = self.module(file);
            module.calls.iter().any(|call| {
                let first = module.arguments_of(call).first();
                let is_positional = |it: &Argument| {
                    matches!(it.kind, ArgumentKind::Positional | ArgumentKind::Starred)
                };
                let callee = || self.expr(file, call.function);
                first.is_some_and(is_positional)
                    && callee()
                        .members()
                        .iter()
                        .any(|it| matches!(it, Type::Class(class) if self.derives(class, of)))
            })
        };
        let place = files.find(|it| fills(*it))?;
        Some(format!("{} fills fields of `{name}` by position", self.index.path(place)))
    }

    /// Returns the reason for a member of an enum that gives later members their numbers.
    fn counted_after(&self, of: &ClassType, symbol: SymbolId) -> Option<String> {
        let module = self.module(of.file);
        if !self.class(of.file, of.class).is_enum || !self.is_counted(of.file, symbol) {
            return None;
        }
        let scope = module.class(of.class).scope;
        let mut later = (symbol.0 + 1..module.symbols.len() as u32).map(SymbolId);
        let follows =
            later.any(|it| module.symbol(it).scope == scope && self.is_counted(of.file, it));
        follows.then(|| "the values of the members after it change (`auto()`)".to_owned())
    }

    /// Returns whether the value of a symbol is `auto()`.
    pub(super) fn is_counted(&self, file: FileId, symbol: SymbolId) -> bool {
        let module = self.module(file);
        module.symbol(symbol).bindings.iter().any(|it| match module.binding(*it).kind {
            BindingKind::Value(value) => module
                .call(value)
                .is_some_and(|call| module.last_name(call.function) == Some(KNOWN.auto)),
            _ => false,
        })
    }

    /// Returns the reason for a variable whose value is what a function of the workspace returns.
    fn computed_for(&self, file: FileId, symbol: SymbolId) -> Option<String> {
        let module = self.module(file);
        module.symbol(symbol).bindings.iter().find_map(|it| {
            let (BindingKind::Value(value) | BindingKind::Annotated(_, Some(value))) =
                module.binding(*it).kind
            else {
                return None;
            };
            let call = module.call(value)?;
            let callee = self.expr(file, call.function);
            let is_own = |it: &Type| matches!(it, Type::Function(function) if bundle::number(function.file).is_none());
            let name = module.last_name(call.function)?;
            let is_run = callee.members().iter().any(is_own);
            is_run.then(|| format!("the call of `{}` would go with it", name.text()))
        })
    }
}
