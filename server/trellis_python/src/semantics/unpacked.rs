//! Mappings that calls unpack: `f(**mapping)`.

use rustc_hash::FxHashSet;

use super::eval::Eval;
use super::ir::*;
use super::meaning::{Meaning, Target};
use super::names::{KNOWN, Name};
use super::search_target::SearchTarget;
use super::types::{ClassType, Type};
use crate::index::FileId;

/// Largest number of assignments and merges that are followed from a value to its mappings.
const MOST_STEPS: u32 = 4;

impl Eval<'_> {
    /// Returns whether the keys of a mapping, the value of a symbol, are among those of an expression:
    /// its name, a copy, a merge with others.
    pub(super) fn carries(&self, file: FileId, expr: ExprId, symbol: SymbolId) -> bool {
        self.carries_within(file, expr, symbol, MOST_STEPS)
    }

    fn carries_within(&self, file: FileId, expr: ExprId, symbol: SymbolId, steps: u32) -> bool {
        let module = self.module(file);
        let Some(steps) = steps.checked_sub(1) else { return false };
        match module.expr(expr) {
            Expr::Name(_, Some(of), _) if of == symbol => true,
            Expr::Attribute(_, name, _) if name == module.symbol(symbol).name => {
                let own = Target::Symbol(file, symbol);
                self.attribute_meaning(file, expr).targets.contains(&own)
            }
            _ => {
                let merged = module.merged(expr);
                merged.iter().any(|it| self.carries_within(file, *it, symbol, steps))
            }
        }
    }

    /// Returns the names of the functions of calls that unpack a mapping of unknown keys, where a
    /// parameter of the function, or a field of the class, is among the targets.
    pub(super) fn open_calls(&self, file: FileId, wanted: &SearchTarget) -> Vec<Occurrence> {
        let module = self.module(file);
        let is_open = |call: &&Call| {
            let name = module.last_name(call.function);
            name.is_some_and(|it| wanted.callees.contains(&it))
                && module
                    .unpacked_by(call)
                    .any(|it| !self.is_followed(file, it, wanted, MOST_STEPS))
                && self.keywords_like(file, call, wanted).any(|(it, of)| of.targets.contains(&it))
        };
        module.names_of_functions(module.calls.iter().filter(is_open))
    }

    /// Returns the names of the functions of calls that unpack the attributes of an object, where
    /// targets are among these and other parameters have their names: `Item(**vars(self))`.
    pub(super) fn attribute_calls(&self, file: FileId, wanted: &SearchTarget) -> Vec<Occurrence> {
        let module = self.module(file);
        let fills_others = |call: &Call| {
            self.keywords_like(file, call, wanted).any(|(it, of)| {
                let is_other = !of.targets.is_empty() && !of.targets.contains(&it);
                is_other || of.uncertainty.is_some()
            })
        };
        let gives = |it: ExprId| self.is_mapping_of(file, it, &wanted.owners);
        let found = module
            .calls
            .iter()
            .filter(|call| module.unpacked_by(call).any(gives) && fills_others(call));
        module.names_of_functions(found)
    }

    /// Returns each target with the meaning of a keyword of its name in a call.
    fn keywords_like(
        &self,
        file: FileId,
        call: &Call,
        wanted: &SearchTarget,
    ) -> impl Iterator<Item = (Target, Meaning)> {
        wanted.targets.iter().filter_map(move |it| match it {
            Target::Symbol(home, symbol) => {
                let name = self.module(*home).symbol(*symbol).name;
                Some((*it, self.keyword_in(file, call, name)))
            }
            _ => None,
        })
    }

    /// Returns whether an expression is the mapping of the attributes of an instance of some classes.
    fn is_mapping_of(&self, file: FileId, expr: ExprId, owners: &[ClassType]) -> bool {
        let is_owned = |it: &Type| match it {
            Type::Instance(class) => owners.iter().any(|it| self.derives(class, it)),
            _ => false,
        };
        let mapped = self.mapped(file, expr, MOST_STEPS);
        !owners.is_empty() && mapped.is_some_and(|it| it.members().iter().any(is_owned))
    }

    /// Returns whether all keys of a mapping are written, come from keywords of the function around,
    /// or are attributes that change with the targets.
    fn is_followed(&self, file: FileId, expr: ExprId, wanted: &SearchTarget, steps: u32) -> bool {
        let module = self.module(file);
        let Some(steps) = steps.checked_sub(1) else { return false };
        let all = |of: Vec<ExprId>| of.iter().all(|it| self.is_followed(file, *it, wanted, steps));
        if self.is_mapping_of(file, expr, &wanted.owners) {
            return true;
        }
        match module.expr(expr) {
            Expr::Dict(_) => module.has_written_keys(expr) && all(module.merged(expr)),
            Expr::Name(_, Some(symbol), _) => self.is_written(file, symbol, wanted, steps),
            Expr::Element(of, _) => all(module.elements(of)),
            Expr::Attribute(..) => {
                let targets = self.attribute_meaning(file, expr).targets;
                let is_written = |it: &Target| match it {
                    Target::Symbol(home, symbol) => {
                        *home == file && self.is_written(file, *symbol, wanted, steps)
                    }
                    _ => false,
                };
                !targets.is_empty() && targets.iter().all(is_written)
            }
            _ => {
                module.is_dict_call(expr)
                    || !module.merged(expr).is_empty() && all(module.merged(expr))
            }
        }
    }

    /// Returns whether all keys of a symbol's mappings are written.
    fn is_written(
        &self,
        file: FileId,
        symbol: SymbolId,
        wanted: &SearchTarget,
        steps: u32,
    ) -> bool {
        let module = self.module(file);
        let is_written = |it: &BindingId| match module.binding(*it).kind {
            BindingKind::Value(value) | BindingKind::Annotated(_, Some(value)) => {
                self.is_followed(file, value, wanted, steps)
            }
            BindingKind::Annotated(_, None) => true,
            BindingKind::Parameter(function, index) => {
                let of = module.function(function);
                let parameter = of.parameters[index as usize];
                parameter.kind == ParameterKind::Keywords
                    || of.parametrized.iter().any(|it| it.name == parameter.name)
            }
            _ => false,
        };
        module.symbol(symbol).bindings.iter().all(is_written)
    }
}

impl Module {
    /// Returns the mappings that a call unpacks.
    fn unpacked_by(&self, call: &Call) -> impl Iterator<Item = ExprId> {
        let unpacked = self.arguments_of(call).iter();
        unpacked.filter(|it| it.kind == ArgumentKind::Keywords).map(|it| it.value)
    }

    /// Returns the names by which some calls call their functions.
    pub(super) fn names_of_functions<'c>(
        &self,
        calls: impl Iterator<Item = &'c Call>,
    ) -> Vec<Occurrence> {
        let functions: FxHashSet<ExprId> = calls.map(|it| it.function).collect();
        let is_one = |it: &&Occurrence| match it.role {
            Role::Name(expr) | Role::Attribute(expr) => functions.contains(&expr),
            _ => false,
        };
        self.occurrences.iter().filter(is_one).copied().collect()
    }

    /// Returns whether an expression is `dict(name=…)` without another mapping.
    fn is_dict_call(&self, expr: ExprId) -> bool {
        self.call(expr).is_some_and(|call| {
            let is_dict = self.last_name(call.function) == Some(KNOWN.dict);
            is_dict && self.copied(call).is_empty()
        })
    }

    /// Returns the mappings whose keys an expression has: those of `{**a}`, `a | b`, `dict(a)`,
    /// `a.copy()`, and of the value of a name.
    fn merged(&self, expr: ExprId) -> Vec<ExprId> {
        match self.expr(expr) {
            Expr::Dict(items) => {
                let keys = self.list(items).iter().step_by(2);
                let unpacked = keys.filter_map(|it| match self.expr(*it) {
                    Expr::Element(of, _) => Some(of),
                    _ => None,
                });
                unpacked.collect()
            }
            Expr::Binary(left, right, name) if name.text() == "__or__" => vec![left, right],
            Expr::Either(all) | Expr::Or(all) => self.list(all).to_vec(),
            Expr::Name(_, Some(symbol), _) => match self.symbol(symbol).bindings.as_slice() {
                [one] => match self.binding(*one).kind {
                    BindingKind::Value(value) => vec![value],
                    _ => Vec::new(),
                },
                _ => Vec::new(),
            },
            Expr::Call(row) => self.copied(&self.calls[row as usize]),
            _ => Vec::new(),
        }
    }

    /// Returns the mappings that a call copies.
    fn copied(&self, call: &Call) -> Vec<ExprId> {
        let arguments = self.arguments_of(call).iter();
        let is_mapping =
            |it: &&Argument| matches!(it.kind, ArgumentKind::Positional | ArgumentKind::Keywords);
        match self.expr(call.function) {
            Expr::Name(name, ..) if matches!(name.text(), "dict" | "copy" | "deepcopy") => {
                arguments.filter(is_mapping).map(|it| it.value).collect()
            }
            Expr::Attribute(_, name, _) if name.text() == "deepcopy" => {
                arguments.filter(is_mapping).map(|it| it.value).collect()
            }
            Expr::Attribute(of, name, _) if name.text() == "copy" => {
                let copied: Vec<ExprId> = arguments.filter(is_mapping).map(|it| it.value).collect();
                if copied.is_empty() { vec![of] } else { copied }
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether all keys of a dict display are strings or come from other mappings.
    fn has_written_keys(&self, expr: ExprId) -> bool {
        let Expr::Dict(items) = self.expr(expr) else { return false };
        let mut keys = self.list(items).iter().step_by(2);
        keys.all(|it| matches!(self.expr(*it), Expr::String | Expr::Element(..)))
    }

    /// Returns the elements of a display.
    fn elements(&self, expr: ExprId) -> Vec<ExprId> {
        match self.expr(expr) {
            Expr::List(all) | Expr::Tuple(all) | Expr::Set(all) => self.list(all).to_vec(),
            _ => vec![expr],
        }
    }

    /// Returns the last name of an expression: `c` of `a.b.c`.
    pub(super) fn last_name(&self, expr: ExprId) -> Option<Name> {
        match self.expr(expr) {
            Expr::Name(name, ..) | Expr::Attribute(_, name, _) => Some(name),
            _ => None,
        }
    }
}
