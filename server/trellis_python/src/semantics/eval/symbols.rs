//! Evaluates names: their bindings, their modules, and the values that reach a place in the code.

use super::narrowing::without_none;
use super::{Eval, Question};
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{ClassType, Type};

/// Largest number of bindings of one symbol that are evaluated.
const MOST_BINDINGS: usize = 40;

impl Eval<'_> {
    /// Returns the type of a name where it is read.
    pub(super) fn name(
        &self,
        file: FileId,
        name: Name,
        symbol: Option<SymbolId>,
        flow: FlowId,
    ) -> Type {
        let module = self.module(file);
        let whole = || match symbol {
            Some(symbol) => self.symbol(file, symbol),
            None => self.free(file, name),
        };
        let key = symbol.map_or(Key::Free(name), Key::Symbol);
        let Some(key) = module.key_of.get(&key) else { return whole() };
        let local = symbol.map(|it| module.execution(module.symbol(it).scope));
        // A name of this very scope has no value at the scope's start.
        let start = |scope: ScopeId| if local == Some(scope) { Type::Never } else { whole() };
        match self.flow(file, *key, flow, &start) {
            Type::Never => whole(),
            // A function called since may have assigned something.
            Type::None if symbol.is_some_and(|it| module.shared.contains(&it)) => whole(),
            known => known,
        }
    }

    /// Returns the type of a name that its file does not bind: from a star import, or a builtin.
    fn free(&self, file: FileId, name: Name) -> Type {
        match self.free_symbol(file, name) {
            Some((file, symbol)) => self.symbol(file, symbol),
            None => Type::Unknown,
        }
    }

    pub(crate) fn free_symbol(&self, file: FileId, name: Name) -> Option<(FileId, SymbolId)> {
        let starred = self.starred(file, name, &mut Vec::new());
        starred.or_else(|| {
            let builtins = bundle::file("builtins")?;
            Some((builtins, self.module(builtins).global(name)?))
        })
    }

    /// Returns the symbol that `from m import *` brings into a file under a name.
    pub(crate) fn starred(
        &self,
        file: FileId,
        name: Name,
        seen: &mut Vec<FileId>,
    ) -> Option<(FileId, SymbolId)> {
        if seen.contains(&file) {
            return None;
        }
        seen.push(file);
        let stars = self.module(file).stars.iter().rev();
        for (_, path) in stars {
            let Some(module) = self.resolve(file, *path) else { continue };
            for other in self.index.module_files(module).iter() {
                if !self.exports(other, name) {
                    continue;
                }
                let own = self.module(other).global(name).map(|it| (other, it));
                if let Some(found) = own.or_else(|| self.starred(other, name, seen)) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Returns whether a star import exports a name, if the name exists.
    pub(crate) fn exports(&self, file: FileId, name: Name) -> bool {
        let Some(all) = &self.module(file).all else { return !name.text().starts_with('_') };
        all.iter().any(|it| match it {
            Export::Name(it) => *it == name,
            Export::Unknown => !name.text().starts_with('_'),
            Export::AllOf(object) => match self.expr(file, *object) {
                Type::Module(module) => self
                    .index
                    .module_files(module)
                    .iter()
                    .any(|it| it != file && self.exports(it, name)),
                _ => true,
            },
        })
    }

    /// Returns the symbols that a module has under a name: in its stub, in its source, or by a star
    /// import.
    pub(crate) fn members(&self, module: Name, name: Name) -> Vec<(FileId, SymbolId)> {
        let files = self.index.module_files(module);
        let own: Vec<_> = files
            .iter()
            .filter_map(|file| Some((file, self.module(file).global(name)?)))
            .filter(|(file, symbol)| !self.module(*file).symbol(*symbol).bindings.is_empty())
            .collect();
        if !own.is_empty() {
            return own;
        }
        files
            .iter()
            .find_map(|file| self.starred(file, name, &mut Vec::new()))
            .into_iter()
            .collect()
    }

    /// Returns the type bound by `from package import name`. In the package's own file, if it binds
    /// that same name, the name is the submodule.
    fn imported_member(&self, symbol: (FileId, SymbolId), module: Name, name: Name) -> Type {
        let members = self.members(module, name);
        match members.iter().find(|it| **it != symbol) {
            Some((file, symbol)) => self.symbol(*file, *symbol),
            None => self.index.submodule(module, name).map_or(Type::Unknown, Type::Module),
        }
    }

    /// Returns the type of a symbol: its declared type, or the union of its bindings.
    pub(crate) fn symbol(&self, file: FileId, id: SymbolId) -> Type {
        self.ask(Question::Symbol(file, id), || self.symbol_now(file, id))
    }

    fn symbol_now(&self, file: FileId, id: SymbolId) -> Type {
        if let Some(declared) = self.declared(file, id) {
            return declared;
        }
        let module = self.module(file);
        let bindings = &module.symbol(id).bindings;
        let of = |it: &BindingId| (*it, module.binding(*it).kind);
        let functions: Vec<FunctionId> = bindings
            .iter()
            .filter_map(|it| match module.binding(*it).kind {
                BindingKind::Function(function) => Some(function),
                _ => None,
            })
            .collect();
        let mut last = functions.last().copied();
        if functions.first().is_some_and(|it| self.is_property(file, *it)) {
            last = functions.first().copied();
        }
        // The last function stands for all overloads, setters and alternatives in `if`.
        let counts = |kind: BindingKind| match kind {
            BindingKind::Function(it) => Some(it) == last,
            BindingKind::Other => false,
            _ => true,
        };
        let counted = bindings.iter().map(of).filter(|(_, kind)| counts(*kind));
        Type::union(counted.take(MOST_BINDINGS).map(|(it, _)| self.binding(file, it)))
    }

    /// Returns the type that a symbol's annotation declares.
    pub(crate) fn declared(&self, file: FileId, id: SymbolId) -> Option<Type> {
        let module = self.module(file);
        let bindings = module.symbol(id).bindings.iter();
        let annotated = |it: &BindingId| match module.binding(*it).kind {
            BindingKind::Annotated(annotation, _) => Some(annotation),
            _ => None,
        };
        let annotation = bindings.take(MOST_BINDINGS).find_map(annotated)?;
        if bundle::number(file).is_some() && self.is_special_form(file, annotation) {
            return Some(Type::Special(module.symbol(id).name));
        }
        // `Final` and `ClassVar` alone leave the type to the value.
        let declared = self.annotation(file, annotation);
        (!matches!(declared, Type::Special(_))).then_some(declared)
    }

    /// Returns whether an annotation marks a special form in the bundle's `typing`: `Optional:
    /// _SpecialForm`.
    fn is_special_form(&self, file: FileId, annotation: ExprId) -> bool {
        matches!(self.module(file).expr(annotation), Expr::Name(name, ..) if name.text() == "_SpecialForm")
    }

    /// Returns the type that one binding gives its name.
    pub(crate) fn binding(&self, file: FileId, id: BindingId) -> Type {
        self.ask(Question::Binding(file, id), || self.binding_now(file, id))
    }

    fn binding_now(&self, file: FileId, id: BindingId) -> Type {
        let binding = *self.module(file).binding(id);
        match binding.kind {
            BindingKind::Function(function) => self.decorated(file, function),
            BindingKind::Class(class) => Type::Class(ClassType::bare(file, class)),
            BindingKind::Value(value) => {
                self.variable(file, binding.symbol, value).unwrap_or_else(|| self.expr(file, value))
            }
            BindingKind::Annotated(annotation, value) => match self.annotation(file, annotation) {
                Type::Special(_) => value.map_or(Type::Unknown, |it| self.expr(file, it)),
                known => known,
            },
            BindingKind::Parameter(function, index) => {
                let given = self.given(file, function, index as usize);
                given.unwrap_or_else(|| self.parameter(file, function, index as usize))
            }
            BindingKind::Import(path) => {
                let first = path.name.text().split('.').next().unwrap_or_default();
                self.imported(file, ModulePath { name: Name::of(first), ..path })
            }
            BindingKind::ImportAs(path) => self.imported(file, path),
            BindingKind::From(path, member) | BindingKind::FromAs(path, member) => {
                self.resolve(file, path).map_or(Type::Unknown, |it| {
                    self.imported_member((file, binding.symbol), it, member)
                })
            }
            BindingKind::TypeParameter(_) => Type::Variable(file, binding.symbol),
            BindingKind::TypeAlias(value) => Type::Form(self.annotation(file, value).into()),
            BindingKind::Other => Type::Unknown,
        }
    }

    fn imported(&self, file: FileId, path: ModulePath) -> Type {
        self.resolve(file, path).map_or(Type::Unknown, Type::Module)
    }

    /// Returns the type variable created by `T = TypeVar("T")`.
    fn variable(&self, file: FileId, symbol: SymbolId, value: ExprId) -> Option<Type> {
        let call = self.module(file).call(value)?;
        match self.expr(file, call.function) {
            Type::Class(class) if self.is_type_variable(&class) => {
                Some(Type::Variable(file, symbol))
            }
            _ => None,
        }
    }

    fn is_type_variable(&self, class: &ClassType) -> bool {
        [KNOWN.type_var, KNOWN.param_spec, KNOWN.type_var_tuple]
            .iter()
            .any(|it| self.is_bundled(class, *it))
    }

    /// Returns the bound of a type variable, or the union of its constraints; `None` if it accepts
    /// anything.
    pub(crate) fn bound_of(&self, file: FileId, symbol: SymbolId) -> Option<Type> {
        let module = self.module(file);
        let binding = module.binding(*module.symbol(symbol).bindings.first()?);
        match binding.kind {
            BindingKind::TypeParameter(bound) => Some(self.annotation(file, bound?)),
            BindingKind::Value(value) => {
                let arguments = module.arguments_of(module.call(value)?);
                let bound = |it: &&Argument| matches!(it.kind, ArgumentKind::Keyword(name) if name.text() == "bound");
                if let Some(bound) = arguments.iter().find(bound) {
                    return Some(self.annotation(file, bound.value));
                }
                let constraints =
                    arguments.iter().skip(1).filter(|it| it.kind == ArgumentKind::Positional);
                let types: Vec<Type> =
                    constraints.map(|it| self.annotation(file, it.value)).collect();
                (!types.is_empty()).then(|| Type::union(types))
            }
            _ => None,
        }
    }

    /// Returns the type of a name after an assignment: more precise than its annotation if the
    /// value is known.
    pub(super) fn assigned(&self, file: FileId, id: BindingId) -> Type {
        let module = self.module(file);
        let binding = module.binding(id);
        let value = match binding.kind {
            BindingKind::Annotated(_, value) => value,
            BindingKind::Value(value) => Some(value),
            _ => return self.binding(file, id),
        };
        let (Some(declared), Some(value)) = (self.declared(file, binding.symbol), value) else {
            return self.binding(file, id);
        };
        let known = self.expr(file, value);
        // The current contents of a display are narrower than the declared type.
        let has_arguments =
            |it: &Type| matches!(it, Type::Instance(class) if !class.arguments.is_empty());
        if declared.members().iter().any(has_arguments) {
            return if known == Type::None { known } else { without_none(&declared) };
        }
        if !known.is_vague() && known != Type::Never && self.fits(&known, &declared) {
            known
        } else {
            declared
        }
    }
}
