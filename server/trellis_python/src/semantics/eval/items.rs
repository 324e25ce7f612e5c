//! Evaluates items: what `value[index]` is at a place in the code, and the fields of `TypedDict`s.

use super::Eval;
use super::functions::CallSite;
use super::solve::Solution;
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{ClassType, FunctionType, Type};

impl Eval<'_> {
    /// Returns the type of an item where it is read: by its last assignment or a test, or by its
    /// object.
    pub(super) fn item_at(
        &self,
        file: FileId,
        id: ExprId,
        (value, index): (ExprId, ExprId),
        flow: FlowId,
    ) -> Type {
        let whole = || {
            let displayed = self.displayed(file, value, index);
            displayed.unwrap_or_else(|| self.subscript(file, value, index))
        };
        let Some(key) = self.module(file).key(id) else { return whole() };
        match self.flow(file, key, flow, &|_| whole()) {
            Type::Never | Type::Unknown => whole(),
            known => known,
        }
    }

    /// Returns the value beside a key in the dict display that a name is bound to, if nothing else
    /// is assigned to the name or to that item.
    fn displayed(&self, file: FileId, value: ExprId, index: ExprId) -> Option<Type> {
        let module = self.module(file);
        let Expr::Name(_, Some(symbol), _) = module.expr(value) else { return None };
        let [binding] = module.symbol(symbol).bindings.as_slice() else { return None };
        let BindingKind::Value(display) = module.binding(*binding).kind else { return None };
        let Expr::Dict(list) = module.expr(display) else { return None };
        let wanted = module.item(index).filter(|it| !matches!(it, Index::Symbol(_)))?;
        let entries = module.list(list).chunks_exact(2);
        let keys: Option<Vec<Index>> = entries.clone().map(|it| module.item(it[0])).collect();
        let place = keys?.iter().rposition(|it| *it == wanted)?;
        let is_assigned = |key: &Key| matches!(key, Key::Item(object, _) if module.keys[object.index()] == Key::Symbol(symbol));
        let entry = entries.clone().nth(place)?;
        (!module.keys.iter().any(is_assigned)).then(|| self.expr(file, entry[1]))
    }

    /// Returns what an item holds after an assignment: the value, if all objects are builtin
    /// containers. Other classes may store anything.
    pub(super) fn stored(&self, object: &Type, value: Type) -> Type {
        let keeps = |it: &Type| match it {
            Type::Instance(class) => {
                let own = |base: &ClassType| {
                    self.is_bundled(base, KNOWN.dict) || self.is_bundled(base, KNOWN.list)
                };
                let overrides = self.member(class, KNOWN.getitem, 0);
                self.class(class.file, class.class).mro.iter().any(own)
                    && overrides.is_some_and(|it| bundle::number(it.file).is_some())
            }
            _ => false,
        };
        if object.members().iter().all(keeps) { value } else { Type::Never }
    }

    /// Returns the declared type of `value["key"]` of a `TypedDict`.
    pub(super) fn field_at(&self, file: FileId, class: &ClassType, key: ExprId) -> Option<Type> {
        let name = *self.module(file).texts.get(&key)?;
        self.typed_field(class, name)
    }

    fn typed_field(&self, class: &ClassType, name: Name) -> Option<Type> {
        let info = self.class(class.file, class.class);
        if !info.mro.iter().any(|it| self.is_bundled(it, KNOWN.typed_dict)) {
            return None;
        }
        let named =
            |(file, symbol): &(FileId, SymbolId)| self.module(*file).symbol(*symbol).name == name;
        let (file, symbol) = self.fields(class).into_iter().find(named)?;
        Some(Solution::of_class(class, &info).apply(&self.symbol(file, symbol)))
    }

    /// Returns the type of `value.get("key")` of a `TypedDict`, and of `pop` and `setdefault`.
    pub(super) fn field_taken(&self, function: &FunctionType, site: CallSite<'_>) -> Option<Type> {
        let (_, Type::Instance(class)) = function.bound.as_ref()? else { return None };
        bundle::number(function.file)?;
        let method = self.module(function.file).function(function.function).name?;
        let arguments = self.module(site.file).arguments_of(site.call);
        let declared = self.field_at(site.file, class, arguments.first()?.value)?;
        let default = || arguments.get(1).map(|it| self.expr(site.file, it.value));
        if method == KNOWN.get_ {
            Some(Type::union([declared, default().unwrap_or(Type::None)]))
        } else if method == KNOWN.pop {
            Some(Type::union([declared].into_iter().chain(default())))
        } else {
            (method == KNOWN.setdefault).then_some(declared)
        }
    }
}
