//! Follows parameters back to the calls of their function, and results of calls to what is
//! returned.

use super::super::CallSite;
use super::containers::Side;
use super::{MOST_FOLLOWED, Visit, Walk, is_open};
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{FunctionType, Type};
use crate::test_files::is_test_file;

/// Methods of containers that return what they hold.
const TAKING: [&str; 7] =
    ["pop", "popleft", "get", "setdefault", "get_nowait", "__getitem__", "popitem"];
/// Functions that return what their first argument holds.
const CHOOSING: [&str; 6] = ["heappop", "heappushpop", "heapreplace", "next", "choice", "max"];

impl<'i> Walk<'_, 'i> {
    /// Returns the types of the result of a call.
    pub(super) fn call(&mut self, file: FileId, call: &Call) -> Type {
        let module = self.module(file);
        let argument = |index: usize| module.arguments_of(call).get(index).map(|it| it.value);
        match (module.expr(call.function), argument(0)) {
            (Expr::Attribute(object, name, _), _) if TAKING.contains(&name.text()) => {
                let held = self.contents(file, object, Side::Values);
                Type::union([held, self.returned(file, call, None)])
            }
            (Expr::Name(name, ..) | Expr::Attribute(_, name, _), Some(_)) if name == KNOWN.cast => {
                argument(1).map_or(Type::Never, |it| self.values(file, it))
            }
            (Expr::Name(name, ..) | Expr::Attribute(_, name, _), Some(first))
                if CHOOSING.contains(&name.text()) && !self.runs_own(file, call) =>
            {
                self.contents(file, first, Side::Iterated)
            }
            _ => self.returned(file, call, None),
        }
    }

    /// Returns whether a call runs a function of the workspace.
    pub(super) fn runs_own(&self, file: FileId, call: &Call) -> bool {
        let callee = self.eval.expr(file, call.function);
        let mut candidates = self.eval.candidates(&callee).into_iter();
        candidates.any(|it| bundle::number(it.file).is_none())
    }

    /// Returns the types of what the functions that a call runs return, or of what it holds.
    pub(super) fn returned(&mut self, file: FileId, call: &Call, side: Option<Side>) -> Type {
        let callee = self.values(file, call.function);
        let mut found: Vec<Type> = callee.members().iter().filter_map(constructed).collect();
        for function in self.eval.candidates(&callee).into_iter().take(MOST_FOLLOWED) {
            let (home, of) =
                (function.file, self.module(function.file).function(function.function));
            if of.returns.is_some() || of.is_async || bundle::number(home).is_some() {
                continue;
            }
            found.push(match side {
                None if of.yielded.is_empty() => self.all(home, &of.returned, Walk::values),
                Some(_) if !of.yielded.is_empty() => self.all(home, &of.yielded, Walk::values),
                Some(side) => {
                    self.all(home, &of.returned, |walk, file, it| walk.contents(file, it, side))
                }
                None => Type::Never,
            });
        }
        Type::union(found)
    }

    /// Returns the types of the values that calls in the same file give a parameter, or of what
    /// these hold.
    pub(super) fn parameter(
        &mut self,
        file: FileId,
        function: FunctionId,
        index: u32,
        side: Option<Side>,
    ) -> Type {
        let of = self.module(file).function(function);
        let it = of.parameters[index as usize];
        let is_receiver = index == 0 && self.eval.has_receiver(file, function);
        let is_plain = !matches!(it.kind, ParameterKind::Variadic | ParameterKind::Keywords);
        let known = self.eval.parameter(file, function, index as usize);
        if is_receiver || !is_plain || it.annotation.is_some() && side.is_none() && !self.is_wide {
            return known;
        }
        if !self.enter(file, Visit::Parameter(function, index, side)) {
            return Type::Never;
        }
        let mut found: Vec<Type> = Vec::new();
        if side.is_none() {
            found.extend(known.members().iter().filter(|it| **it != Type::Unknown).cloned());
        }
        if self.is_interface(file, function) {
            return Type::union(found);
        }
        for call in self.calls_of(file, function) {
            found.extend(self.given(file, call, (file, function), index, side));
        }
        Type::union(found)
    }

    /// Returns whether a function is a public one of a module: it takes values of any type, of which
    /// the calls in its own file are examples. Nothing calls the functions of test files from
    /// outside.
    fn is_interface(&self, file: FileId, function: FunctionId) -> bool {
        let of = self.module(file).function(function);
        let is_global = of.binding.is_some_and(|it| {
            let module = self.module(file);
            module.symbol(module.binding(it).symbol).scope == MODULE
        });
        let is_public = of.name.is_some_and(|it| !it.text().starts_with('_'));
        is_global && is_public && !is_test_file(self.eval.index.path(file))
    }

    /// Returns the calls in a file that name a function, or the class that it constructs.
    fn calls_of(&self, file: FileId, function: FunctionId) -> Vec<&'i Call> {
        let module = self.module(file);
        let of = module.function(function);
        let Some(own) = of.name else { return Vec::new() };
        let constructed = of.class.filter(|_| own == KNOWN.init || own == KNOWN.new);
        let names: Vec<Name> =
            constructed.map(|it| module.class(it).name).into_iter().chain([own]).collect();
        let writes = self.eval.index.writes(file);
        let rows = writes.into_iter().flat_map(|it| names.iter().flat_map(|name| it.calls(*name)));
        rows.take(MOST_FOLLOWED).map(|row| &module.calls[*row as usize]).collect()
    }

    /// Returns the types of the value that a call gives a parameter, if it runs the function.
    fn given(
        &mut self,
        file: FileId,
        call: &Call,
        (home, function): (FileId, FunctionId),
        index: u32,
        side: Option<Side>,
    ) -> Option<Type> {
        let own = self.eval.expr(file, call.function);
        let callee = if is_open(&own) { self.values(file, call.function) } else { own };
        let runs = |it: &FunctionType| (it.file, it.function) == (home, function);
        let candidate = self.eval.candidates(&callee).into_iter().find(runs)?;
        let matched = self.eval.matched(&candidate, CallSite { file, call });
        let argument = matched.iter().find(|(parameter, _)| *parameter == index as usize)?.1;
        let argument = self.module(file).arguments_of(call)[argument];
        Some(match (argument.kind, side) {
            (ArgumentKind::Starred, None) => self.contents(file, argument.value, Side::Iterated),
            (ArgumentKind::Starred, Some(_)) => Type::Never,
            (_, None) => self.values(file, argument.value),
            (_, Some(side)) => self.contents(file, argument.value, side),
        })
    }
}

/// Returns an instance of a class of the workspace.
fn constructed(it: &Type) -> Option<Type> {
    match it {
        Type::Class(class) if bundle::number(class.file).is_none() => {
            Some(Type::Instance(class.clone()))
        }
        _ => None,
    }
}
