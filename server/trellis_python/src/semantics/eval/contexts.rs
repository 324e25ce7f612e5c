//! Evaluates functions without annotations for the types that one call gives their parameters.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::functions::CallSite;
use super::influences::{Influences, MOST_PARAMETERS};
use super::{Eval, Question};
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::types::{FunctionType, Type};

/// Number of a context; 0 stands for no particular call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ContextId(u32);

/// A function with the types that a call gives its parameters.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Context {
    file: FileId,
    function: FunctionId,
    /// Types by parameter; `None` where the call does not matter.
    given: Vec<Option<Type>>,
    /// The context of the function around, if the function is nested in it.
    around: ContextId,
    /// Number of calls between the outermost one and this one.
    depth: u32,
}

/// Largest number of nested calls whose arguments are followed.
const DEEPEST_CALL: u32 = 3;

/// All contexts of one state of the workspace.
#[derive(Default)]
pub(super) struct Contexts {
    all: RefCell<Vec<Arc<Context>>>,
    numbers: RefCell<FxHashMap<Arc<Context>, ContextId>>,
    /// Parameters that each function's result depends on, as bits.
    influences: RefCell<FxHashMap<(FileId, FunctionId), u64>>,
}

impl Contexts {
    pub(super) fn len(&self) -> usize {
        self.all.borrow().len()
    }

    fn get(&self, id: ContextId) -> Option<Arc<Context>> {
        self.all.borrow().get(id.0.checked_sub(1)? as usize).cloned()
    }

    fn find(&self, context: &Context) -> Option<ContextId> {
        self.numbers.borrow().get(context).copied()
    }

    fn add(&self, context: Context) -> ContextId {
        if let Some(known) = self.find(&context) {
            return known;
        }
        let context = Arc::new(context);
        self.all.borrow_mut().push(context.clone());
        let id = ContextId(self.all.borrow().len() as u32);
        self.numbers.borrow_mut().insert(context, id);
        id
    }
}

impl Eval<'_> {
    /// Runs a question for the function of a context.
    pub(super) fn within<T>(&self, context: ContextId, question: impl FnOnce() -> T) -> T {
        let around = self.context.replace(context);
        let answer = question();
        self.context.set(around);
        answer
    }

    /// Returns the context on which the answer of a question may depend.
    pub(super) fn context_of(&self, question: &Question) -> ContextId {
        let mut id = self.context.get();
        while let Some(context) = self.memory.contexts.get(id) {
            if self.belongs_to(question, &context) {
                return id;
            }
            id = context.around;
        }
        ContextId::default()
    }

    fn belongs_to(&self, question: &Question, context: &Context) -> bool {
        let inside = &self.module(context.file).function(context.function).inside;
        let (Question::Expr(file, _)
        | Question::Annotation(file, _)
        | Question::Symbol(file, _)
        | Question::Binding(file, _)
        | Question::Returns(file, _)
        | Question::Join(file, ..)) = *question;
        if file != context.file {
            return false;
        }
        let module = self.module(file);
        let scope = |it: SymbolId| inside.scopes.contains(&module.symbol(it).scope.0);
        match *question {
            Question::Expr(_, it) | Question::Annotation(_, it) => inside.exprs.contains(&it.0),
            Question::Symbol(_, it) => scope(it),
            Question::Binding(_, it) => scope(module.binding(it).symbol),
            Question::Returns(_, it) => inside.scopes.contains(&module.function(it).scope.0),
            Question::Join(_, _, row) => inside.joins.contains(&row),
        }
    }

    /// Returns the type that the call being evaluated gives a parameter.
    pub(super) fn given(&self, file: FileId, function: FunctionId, index: usize) -> Option<Type> {
        let mut id = self.context.get();
        while let Some(context) = self.memory.contexts.get(id) {
            if (context.file, context.function) == (file, function) {
                return context.given.get(index).cloned().flatten();
            }
            id = context.around;
        }
        None
    }

    /// Returns the context of a call; `None` if the result does not depend on it.
    pub(super) fn context_for(
        &self,
        function: &FunctionType,
        site: Option<CallSite<'_>>,
    ) -> Option<ContextId> {
        let influences = self.influences(function)?;
        let mut given = Vec::new();
        self.give_receiver(function, influences, &mut given);
        if let Some(site) = site {
            self.give_arguments(function, site, influences, &mut given);
        }
        self.context_with(function, given)
    }

    /// Returns the result of a call with arguments of known types, by parameter.
    pub(super) fn returned_for(
        &self,
        function: &FunctionType,
        arguments: Vec<(usize, Type)>,
    ) -> Type {
        let parameters = &self.module(function.file).function(function.function).parameters;
        let mut solution = self.solution(function, None, true);
        for (index, value) in &arguments {
            if let Some(annotation) = parameters.get(*index).and_then(|it| it.annotation) {
                self.solve(&self.annotation(function.file, annotation), value, &mut solution);
            }
        }
        let context = self.influences(function).and_then(|influences| {
            let mut given = Vec::new();
            self.give_receiver(function, influences, &mut given);
            for (index, value) in arguments {
                self.give(function, influences, index, value, &mut given);
            }
            self.context_with(function, given)
        });
        let raw = self.within(context.unwrap_or(function.around), || {
            self.raw_returns(function.file, function.function)
        });
        solution.finish(&raw, self)
    }

    fn context_with(&self, function: &FunctionType, given: Vec<Option<Type>>) -> Option<ContextId> {
        if given.iter().all(Option::is_none) {
            return None;
        }
        let returns = Question::Returns(function.file, function.function);
        let around = function.around;
        let depth = self.memory.contexts.get(self.context.get()).map_or(0, |it| it.depth);
        let (file, function) = (function.file, function.function);
        let mut context = Context { file, function, given, around, depth: 0 };
        // A call inside a call with the same arguments is that call again.
        for outer in 1..=depth {
            context.depth = outer;
            let known = self.memory.contexts.find(&context);
            if let Some(id) = known.filter(|it| self.open.borrow().contains_key(&(returns, *it))) {
                return Some(id);
            }
        }
        context.depth = depth + 1;
        (depth < DEEPEST_CALL).then(|| self.memory.contexts.add(context))
    }

    /// Gives `self` the class of the receiver, if it is a subclass.
    fn give_receiver(
        &self,
        function: &FunctionType,
        influences: u64,
        given: &mut Vec<Option<Type>>,
    ) {
        let of = self.module(function.file).function(function.function);
        let Some((_, receiver)) = &function.bound else { return };
        let class = match receiver {
            Type::Instance(class) | Type::Class(class) => class,
            _ => return,
        };
        let is_own = class.file == function.file && Some(class.class) == of.class;
        if influences & 1 == 0 || is_own || bundle::number(class.file).is_some() {
            return;
        }
        let plain = || self.raw_returns(function.file, function.function);
        if self.within(function.around, plain).is_vague() {
            put(given, 0, receiver.clone());
        }
    }

    fn give_arguments(
        &self,
        function: &FunctionType,
        site: CallSite<'_>,
        influences: u64,
        given: &mut Vec<Option<Type>>,
    ) {
        let parameters = &self.module(function.file).function(function.function).parameters;
        let mut rest = Vec::new();
        for (parameter, argument) in self.matched(function, site) {
            if influences >> parameter.min(MOST_PARAMETERS - 1) & 1 == 0 {
                continue;
            }
            let value = self.argument(site, argument);
            match parameters[parameter].kind {
                ParameterKind::Variadic => rest.push((parameter, value)),
                ParameterKind::Keywords => {}
                _ => self.give(function, influences, parameter, value, given),
            }
        }
        if let Some((parameter, _)) = rest.first() {
            let (parameter, all) = (*parameter, rest.iter().map(|(_, it)| it.clone()).collect());
            self.give(function, influences, parameter, Type::Tuple(all), given);
        }
    }

    /// Gives a parameter a type, unless its annotation or its class already says what it is.
    fn give(
        &self,
        function: &FunctionType,
        influences: u64,
        index: usize,
        value: Type,
        given: &mut Vec<Option<Type>>,
    ) {
        let of = self.module(function.file).function(function.function);
        let Some(parameter) = of.parameters.get(index) else { return };
        let is_receiver = index == 0 && self.has_receiver(function.file, function.function);
        let matters = index < MOST_PARAMETERS && influences >> index & 1 == 1;
        let is_known = !matches!(value, Type::Unknown | Type::Never | Type::Variable(..));
        if matters && is_known && parameter.annotation.is_none() && !is_receiver {
            put(given, index, value);
        }
    }

    /// Returns the parameters that a function's result depends on; `None` if it is declared, or
    /// depends on none.
    fn influences(&self, function: &FunctionType) -> Option<u64> {
        let of = self.module(function.file).function(function.function);
        if of.returns.is_some()
            || of.parameters.is_empty()
            || bundle::number(function.file).is_some()
        {
            return None;
        }
        let place = (function.file, function.function);
        let known = self.memory.contexts.influences.borrow().get(&place).copied();
        let found = known.unwrap_or_else(|| {
            let found = Influences::of(self.module(function.file), function.function);
            self.memory.contexts.influences.borrow_mut().insert(place, found);
            found
        });
        (found != 0).then_some(found)
    }
}

fn put(given: &mut Vec<Option<Type>>, index: usize, value: Type) {
    if given.len() <= index {
        given.resize(index + 1, None);
    }
    given[index] = Some(value);
}
