//! Analyzes classes: bases in lookup order, type parameters, and kind.

use std::sync::Arc;

use super::Eval;
use super::contexts::ContextId;
use super::solve::Solution;
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{ClassType, Type};

/// The known properties of a class.
#[derive(Debug, Default)]
pub(crate) struct ClassInfo {
    /// The class and its bases in lookup order, expressed in the class's own type parameters.
    pub(crate) mro: Vec<ClassType>,
    /// True if every base is known.
    pub(crate) complete: bool,
    pub(crate) parameters: Vec<(FileId, SymbolId)>,
    pub(crate) metaclass: Option<ClassType>,
    pub(crate) is_enum: bool,
    /// True if the annotated names of the class are the parameters of its constructor.
    pub(crate) has_fields: bool,
    pub(crate) is_protocol: bool,
}

impl Eval<'_> {
    pub(crate) fn class(&self, file: FileId, id: ClassId) -> Arc<ClassInfo> {
        if let Some(known) = self.memory.classes.borrow().get(&(file, id)) {
            return known.clone();
        }
        // Questions asked while the bases are being computed see a class without bases.
        let own = ClassType::bare(file, id);
        let alone = ClassInfo { mro: vec![own], ..ClassInfo::default() };
        self.memory.classes.borrow_mut().insert((file, id), Arc::new(alone));
        let info = Arc::new(self.within(ContextId::default(), || self.class_now(file, id)));
        self.memory.classes.borrow_mut().insert((file, id), info.clone());
        info
    }

    fn class_now(&self, file: FileId, id: ClassId) -> ClassInfo {
        let module = self.module(file);
        let class = module.class(id);
        let mut info = ClassInfo { complete: true, ..ClassInfo::default() };
        info.parameters = class.type_parameters.iter().map(|it| (file, *it)).collect();
        let mut bases = Vec::new();
        for base in &class.bases {
            self.collect_parameters(file, *base, &mut info.parameters);
            match self.expr(file, *base) {
                Type::Class(class) => bases.push(class),
                Type::Form(inner) => {
                    if let Type::Instance(class) = &*inner {
                        bases.push(class.clone())
                    }
                }
                Type::Special(name) => info.is_protocol |= name == KNOWN.protocol,
                _ => info.complete = false,
            }
        }
        let metaclass = class.keywords.iter().find(|(name, _)| name.text() == "metaclass");
        info.metaclass = metaclass.and_then(|(_, value)| match self.expr(file, *value) {
            Type::Class(class) => Some(class),
            _ => None,
        });
        self.linearize(file, id, bases, &mut info);
        let in_bundle = |name: Name| info.mro.iter().any(|it| self.is_bundled(it, name));
        info.is_enum = in_bundle(KNOWN.enum_class);
        info.has_fields = in_bundle(KNOWN.named_tuple)
            || in_bundle(KNOWN.typed_dict)
            || info.mro.iter().any(|it| self.is_dataclass(it))
            || info.mro.iter().skip(1).any(|it| self.transforms_subclasses(it));
        info
    }

    /// Collects type variables in the order in which the bases first name them. If `Generic` or
    /// `Protocol` has arguments, those are all the variables.
    fn collect_parameters(&self, file: FileId, base: ExprId, found: &mut Vec<(FileId, SymbolId)>) {
        let module = self.module(file);
        match module.expr(base) {
            Expr::Subscript(value, index, _) => {
                let is_generic = matches!(self.expr(file, value), Type::Special(it) if it == KNOWN.generic || it == KNOWN.protocol);
                if is_generic {
                    let mut own = Vec::new();
                    self.collect_parameters(file, index, &mut own);
                    own.append(found);
                    own.dedup();
                    *found = own;
                } else {
                    self.collect_parameters(file, index, found);
                }
            }
            Expr::Tuple(list) | Expr::List(list) => {
                module.list(list).iter().for_each(|it| self.collect_parameters(file, *it, found));
            }
            Expr::Binary(left, right, _) => {
                [left, right].into_iter().for_each(|it| self.collect_parameters(file, it, found));
            }
            Expr::Name(..) | Expr::Attribute(..) => {
                if let Type::Variable(file, symbol) = self.expr(file, base)
                    && !found.contains(&(file, symbol))
                {
                    found.push((file, symbol));
                }
            }
            _ => {}
        }
    }

    /// Computes the lookup order with C3, as Python does; depth first if the bases contradict each
    /// other.
    fn linearize(
        &self,
        file: FileId,
        id: ClassId,
        mut bases: Vec<ClassType>,
        info: &mut ClassInfo,
    ) {
        let variables = info.parameters.iter().map(|(file, symbol)| Type::Variable(*file, *symbol));
        let own = ClassType { arguments: variables.collect(), ..ClassType::bare(file, id) };
        let object = self.bundled_class("builtins", KNOWN.object);
        if bases.is_empty() {
            bases.extend(object.filter(|it| !it.is_same(&own)));
        }
        let mut rows: Vec<Vec<ClassType>> = Vec::new();
        for base in &bases {
            let of_base = self.class(base.file, base.class);
            info.complete &= of_base.complete || of_base.mro.is_empty();
            if info.metaclass.is_none() {
                info.metaclass.clone_from(&of_base.metaclass);
            }
            info.is_protocol &= of_base.is_protocol || of_base.mro.len() <= 2;
            let solution = Solution::of_class(base, &of_base);
            rows.push(of_base.mro.iter().map(|it| solution.in_class(it)).collect());
        }
        rows.push(bases);
        info.mro = vec![own];
        while let Some(next) = next_of(&rows) {
            rows.iter_mut().for_each(|row| row.retain(|it| !it.is_same(&next)));
            info.mro.push(next);
        }
    }

    fn is_dataclass(&self, it: &ClassType) -> bool {
        let module = self.module(it.file);
        let class = module.class(it.class);
        let is_it = |decorator: &ExprId| {
            let target = module.call(*decorator).map_or(*decorator, |call| call.function);
            match self.expr(it.file, target) {
                Type::Function(function) => self.makes_dataclasses(&function),
                Type::Partial(partial) => match &partial.callee {
                    Type::Function(function) => self.makes_dataclasses(function),
                    _ => false,
                },
                // `attrs` and similar packages are not bundled and are recognized by the
                // decorator's name.
                Type::Unknown => matches!(module.expr(target),
                    Expr::Name(name, ..) | Expr::Attribute(_, name, _)
                    if matches!(name.text(), "dataclass" | "define" | "frozen" | "mutable" | "attrs" | "attrib" | "s")),
                _ => false,
            }
        };
        class.decorators.iter().any(is_it)
    }

    /// Returns whether a decorator makes dataclasses: `dataclass`, or a function that returns what it
    /// makes.
    fn makes_dataclasses(&self, it: &crate::semantics::types::FunctionType) -> bool {
        let module = self.module(it.file);
        let of = module.function(it.function);
        if bundle::number(it.file).is_some() {
            return of.name == Some(KNOWN.dataclass) || self.transforms(it);
        }
        let calls = |expr: ExprId| module.call(expr).map(|call| call.function);
        let is_made = |expr: &ExprId| {
            let made = calls(*expr).map(|it| calls(it).unwrap_or(it));
            made.and_then(|it| module.last_name(it)) == Some(KNOWN.dataclass)
        };
        self.transforms(it) || of.returned.iter().any(is_made)
    }

    /// Returns whether a function has the decorator `@dataclass_transform()`.
    fn transforms(&self, it: &crate::semantics::types::FunctionType) -> bool {
        let module = self.module(it.file);
        is_transform(module, &module.function(it.function).decorators)
    }

    /// Returns whether a class makes dataclasses of its subclasses: by the decorator
    /// `@dataclass_transform()`.
    fn transforms_subclasses(&self, it: &ClassType) -> bool {
        let module = self.module(it.file);
        is_transform(module, &module.class(it.class).decorators)
    }

    /// Returns the classes that the metaclasses among some values create in their own files: the
    /// values stand for them.
    pub(crate) fn instances_of_metaclasses(&self, values: &Type) -> Vec<ClassType> {
        let mut found = Vec::new();
        for it in values.members() {
            let Type::Instance(class) = it else { continue };
            if bundle::number(class.file).is_some() || !self.is_metaclass(class) {
                continue;
            }
            let number = self.module(class.file).classes.len() as u32;
            let all = (0..number).map(|it| ClassType::bare(class.file, ClassId(it)));
            found.extend(all.filter(|it| {
                let metaclass = &self.class(it.file, it.class).metaclass;
                metaclass.as_ref().is_some_and(|it| it.is_same(class))
            }));
        }
        found
    }

    fn is_metaclass(&self, class: &ClassType) -> bool {
        let info = self.class(class.file, class.class);
        info.mro.iter().any(|it| self.is_bundled(it, KNOWN.type_))
    }

    /// Returns whether a class equals another one or derives from it.
    pub(crate) fn derives(&self, class: &ClassType, from: &ClassType) -> bool {
        self.class(class.file, class.class).mro.iter().any(|it| it.is_same(from))
    }

    /// Returns a base of a class with the arguments that the class gives it.
    pub(super) fn as_base(&self, class: &ClassType, base: &ClassType) -> Option<ClassType> {
        let info = self.class(class.file, class.class);
        let found = info.mro.iter().find(|it| it.is_same(base))?;
        Some(Solution::of_class(class, &info).in_class(found))
    }

    /// Returns the class's counterpart in the stub or source file beside.
    pub(crate) fn counterpart_class(&self, it: &ClassType) -> Option<ClassType> {
        let module = self.module(it.file);
        let symbol = module.binding(module.class(it.class).binding).symbol;
        let (file, symbol) = self.counterpart(it.file, symbol)?;
        let module = self.module(file);
        module.symbol(symbol).bindings.iter().find_map(|it| match module.binding(*it).kind {
            BindingKind::Class(class) => Some(ClassType::bare(file, class)),
            _ => None,
        })
    }

    /// Returns the symbol's counterpart, of the same name and scope, in the stub or source file
    /// beside.
    pub(crate) fn counterpart(&self, file: FileId, symbol: SymbolId) -> Option<(FileId, SymbolId)> {
        if bundle::number(file).is_some() {
            return None;
        }
        let files =
            self.index.module_files(super::super::program::module_of(self.index.path(file)));
        let (stub, source) = (files.stub?, files.source?);
        let other = if file == stub {
            source
        } else if file == source {
            stub
        } else {
            return None;
        };
        let symbol = self.module(file).symbol(symbol);
        let scope = self.counterpart_scope(file, other, symbol.scope)?;
        Some((other, self.module(other).bound(scope, symbol.name)?))
    }

    fn counterpart_scope(&self, file: FileId, other: FileId, scope: ScopeId) -> Option<ScopeId> {
        let (module, counterpart) = (self.module(file), self.module(other));
        let name = match module.scopes[scope.index()].kind {
            ScopeKind::Module => return Some(scope),
            ScopeKind::Class(class) => module.class(class).name,
            ScopeKind::Function(function) => module.function(function).name?,
            _ => return None,
        };
        let around = self.counterpart_scope(file, other, module.scopes[scope.index()].parent?)?;
        let symbol = counterpart.symbol(counterpart.bound(around, name)?);
        symbol.bindings.iter().find_map(|it| match counterpart.binding(*it).kind {
            BindingKind::Class(class) => Some(counterpart.class(class).scope),
            BindingKind::Function(function) => Some(counterpart.function(function).scope),
            _ => None,
        })
    }
}

/// Returns the first head that is in no tail.
fn next_of(rows: &[Vec<ClassType>]) -> Option<ClassType> {
    let in_tail =
        |it: &ClassType| rows.iter().any(|row| row.iter().skip(1).any(|other| other.is_same(it)));
    let mut heads = rows.iter().filter_map(|row| row.first());
    heads.clone().find(|it| !in_tail(it)).or_else(|| heads.next()).cloned()
}

/// Returns whether `@dataclass_transform()` is among some decorators.
fn is_transform(module: &Module, decorators: &[ExprId]) -> bool {
    decorators.iter().any(|decorator| {
        let target = module.call(*decorator).map_or(*decorator, |call| call.function);
        matches!(module.expr(target), Expr::Name(name, ..) | Expr::Attribute(_, name, _) if name == KNOWN.dataclass_transform)
    })
}
