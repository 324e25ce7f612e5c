//! Evaluates expressions to types on demand; each question is answered once.
//!
//! Nothing is computed that no question needs. A question may lead back to itself (a function that
//! returns the result of its own call). The inner question is then answered with `Never`, and
//! answers that depend on such an incomplete answer are cached only until the open question is
//! answered, so that no answer depends on the order of the questions. Where many functions call each
//! other, that would ask the same questions once for each way to them: from some number of questions
//! on, such answers are cached until all questions of the circle are answered, with the doubt that
//! they may be anything besides.

mod annotations;
mod attributes;
mod calls;
mod classes;
mod construction;
mod contexts;
mod decorators;
mod enums;
mod functions;
mod influences;
mod items;
mod matching;
mod narrowing;
mod operations;
mod origins;
mod provisional;
mod solve;
mod symbols;
mod wrappers;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use rustc_hash::FxHashMap;

pub(crate) use self::attributes::Hit;
pub(crate) use self::classes::ClassInfo;
pub(crate) use self::contexts::ContextId;
use self::contexts::Contexts;
pub(crate) use self::functions::CallSite;
pub(crate) use self::matching::keyword_parameter;
use self::provisional::{DEEPEST, Provisional, RestsOn};
use super::ir::*;
use super::names::{KNOWN, Name};
use super::program::Resolved;
use super::types::{ClassType, Type};
use crate::index::{FileId, Index};

/// A question that was asked or is being answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Question {
    Expr(FileId, ExprId),
    Annotation(FileId, ExprId),
    Symbol(FileId, SymbolId),
    Binding(FileId, BindingId),
    Returns(FileId, FunctionId),
    Join(FileId, KeyId, u32),
}

/// Largest number of questions that one external question may cause.
const MOST_STEPS: u32 = 200_000;
/// Largest number of questions for which incomplete answers are forgotten as early as possible.
const MOST_EXACT: u32 = 2_000;

/// Cached answers, valid for one state of the workspace.
#[derive(Default)]
pub(crate) struct Memory {
    /// Answers by question, and by the call on whose arguments the answer depends.
    answers: RefCell<FxHashMap<(Question, ContextId), Type>>,
    /// Number of answers that were left when those that depend on a call were last forgotten.
    plain: Cell<usize>,
    contexts: Contexts,
    classes: RefCell<FxHashMap<(FileId, ClassId), Arc<ClassInfo>>>,
    resolved: RefCell<Resolved>,
}

/// Largest number of answers kept from one question to the next.
const MOST_ANSWERS: usize = 300_000;

impl Memory {
    /// Returns whether the cache is small enough to be kept.
    pub(crate) fn is_worth_keeping(&self) -> bool {
        self.answers.borrow().len() < MOST_ANSWERS && self.contexts.len() < MOST_ANSWERS
    }

    /// Forgets the answers that depend on a call if there are too many: others rest on them, but
    /// no external question asks for them.
    fn shed(&self, most: usize) {
        let mut answers = self.answers.borrow_mut();
        if answers.len() >= most {
            answers.retain(|(_, context), _| *context == ContextId::default());
            answers.shrink_to_fit();
            self.plain.set(answers.len());
        }
    }
}

/// Answers questions about one state of an index.
pub(crate) struct Eval<'i> {
    pub(crate) index: &'i Index,
    memory: Memory,
    /// Depth of each open question.
    open: RefCell<FxHashMap<(Question, ContextId), usize>>,
    /// The call whose function is being evaluated.
    context: Cell<ContextId>,
    /// Open questions that the answers since the last question depend on.
    rests_on: Cell<RestsOn>,
    provisional: RefCell<Provisional>,
    steps: Cell<u32>,
}

impl<'i> Eval<'i> {
    pub(crate) fn new(index: &'i Index, memory: Memory) -> Self {
        Eval {
            index,
            memory,
            open: RefCell::default(),
            context: Cell::default(),
            rests_on: Cell::default(),
            provisional: RefCell::default(),
            steps: Cell::new(MOST_STEPS),
        }
    }

    /// Returns the cache for the next evaluation.
    pub(crate) fn into_memory(self) -> Memory {
        self.memory.shed(MOST_ANSWERS);
        self.memory
    }

    /// Resets the limits. Callers run this before each external question.
    pub(crate) fn refresh(&self) {
        self.memory.shed(MOST_ANSWERS.max(2 * self.memory.plain.get()));
        self.steps.set(MOST_STEPS);
        self.rests_on.set(RestsOn::default());
        *self.provisional.borrow_mut() = Provisional::default();
        self.context.set(ContextId::default());
    }

    pub(crate) fn module(&self, file: FileId) -> &'i Module {
        self.index.module(file)
    }

    pub(crate) fn resolve(&self, from: FileId, path: ModulePath) -> Option<Name> {
        if let Some(known) = self.memory.resolved.borrow().get(&(from, path)) {
            return *known;
        }
        let found = self.index.resolve(from, path);
        self.memory.resolved.borrow_mut().insert((from, path), found);
        found
    }

    /// Changes what the answers since the last question depend on.
    fn rest_on(&self, change: impl FnOnce(&mut RestsOn)) {
        let mut it = self.rests_on.get();
        change(&mut it);
        self.rests_on.set(it);
    }

    fn ask(&self, question: Question, answer: impl FnOnce() -> Type) -> Type {
        let context = self.context_of(&question);
        let question = (question, context);
        if let Some(known) = self.memory.answers.borrow().get(&question) {
            return known.clone();
        }
        let depth = self.open.borrow().len();
        if let Some((known, rests_on)) = self.provisional.borrow().get(&question, depth) {
            self.rest_on(|it| it.add(&rests_on));
            return known.clone();
        }
        if let Some(around) = self.open.borrow().get(&question) {
            self.rest_on(|it| it.insert(*around));
            return Type::Never;
        }
        if depth >= DEEPEST || self.steps.get() == 0 {
            self.rest_on(|it| it.is_cut_short = true);
            return Type::Unknown;
        }
        self.steps.set(self.steps.get() - 1);
        self.open.borrow_mut().insert(question, depth);
        let before = self.rests_on.replace(RestsOn::default());
        let answer = self.within(context, answer).bounded();
        self.open.borrow_mut().remove(&question);
        self.keep(question, depth, &answer);
        self.rest_on(|it| it.add(&before));
        answer
    }

    /// Caches an answer for as long as the questions that it rests on are open.
    fn keep(&self, question: (Question, ContextId), depth: usize, answer: &Type) {
        let mut rests_on = self.rests_on.get();
        rests_on.remove(depth);
        if depth == 0 {
            rests_on = RestsOn::default();
        }
        self.rests_on.set(rests_on);
        let is_exact = MOST_STEPS - self.steps.get() < MOST_EXACT;
        if rests_on.is_nothing() || is_exact {
            self.provisional.borrow_mut().close(depth);
        } else {
            self.provisional.borrow_mut().pass_on(depth, &rests_on);
        }
        if rests_on.is_nothing() {
            self.memory.answers.borrow_mut().insert(question, answer.clone());
        } else {
            self.provisional.borrow_mut().add(question, answer.clone(), rests_on, depth);
        }
    }

    /// Returns the type of an expression.
    pub(crate) fn expr(&self, file: FileId, id: ExprId) -> Type {
        let expr = self.module(file).expr(id);
        match expr {
            Expr::String => self.builtin(KNOWN.str),
            Expr::Bytes => self.builtin(KNOWN.bytes),
            Expr::Int(_) => self.builtin(KNOWN.int),
            Expr::Float => self.builtin(KNOWN.float),
            Expr::Bool | Expr::Not(_) | Expr::IsInstance(..) => self.builtin(KNOWN.bool),
            Expr::None => Type::None,
            Expr::Slice => self.builtin(KNOWN.slice),
            Expr::Ellipsis | Expr::Unknown | Expr::Starred(_) => Type::Unknown,
            _ => self.ask(Question::Expr(file, id), || self.compound(file, id, expr)),
        }
    }

    fn compound(&self, file: FileId, id: ExprId, expr: Expr) -> Type {
        let module = self.module(file);
        let of = |id: ExprId| self.expr(file, id);
        match expr {
            Expr::Name(name, symbol, flow) => self.name(file, name, symbol, flow),
            Expr::Attribute(object, name, flow) => self.attribute_at(file, id, object, name, flow),
            Expr::Call(row) => self.call(file, &module.calls[row as usize]),
            Expr::Subscript(value, index, flow) => match self.loaded_module(file, value, index) {
                Some(module) => Type::Module(module),
                None => self.item_at(file, id, (value, index), flow),
            },
            Expr::Stored(object, value) => self.stored(&of(object), of(value)),
            Expr::Await(value) => self.awaited(&of(value)),
            Expr::Either(list) => Type::union(module.list(list).iter().map(|it| of(*it))),
            Expr::And(list) | Expr::Or(list) => {
                self.shortcut(file, module.list(list), matches!(expr, Expr::Or(_)))
            }
            Expr::Unary(operand) => of(operand),
            Expr::Compare(op, left, right) => self.comparison(file, op, left, right),
            Expr::Delegated(generator) => self.delegated(&of(generator)),
            Expr::Sent(function) => self.sent(file, function),
            Expr::Binary(left, right, method) => self.binary(file, left, right, method),
            Expr::Tuple(list) => self.tuple(file, module.list(list)),
            Expr::List(list) => {
                self.builtin_of(KNOWN.list, [self.elements(file, module.list(list))])
            }
            Expr::Set(list) => self.builtin_of(KNOWN.set, [self.elements(file, module.list(list))]),
            Expr::Dict(list) => self.dict(file, module.list(list)),
            Expr::ListComp(element) => self.builtin_of(KNOWN.list, [of(element)]),
            Expr::SetComp(element) => self.builtin_of(KNOWN.set, [of(element)]),
            Expr::DictComp(key, value) => self.builtin_of(KNOWN.dict, [of(key), of(value)]),
            Expr::Generator(element) => {
                self.typing_of(KNOWN.generator, [of(element), Type::None, Type::None])
            }
            Expr::Lambda(function) => self.plain_function(file, function),
            Expr::Element(iterable, is_async) => self.element(&of(iterable), is_async),
            Expr::Part(whole, index) => self.part(&of(whole), index),
            Expr::Rest(whole) => self.builtin_of(KNOWN.list, [self.element(&of(whole), false)]),
            Expr::Positional(whole, index) => self.positional(&of(whole), index),
            Expr::Entered(manager, is_async) => self.entered(&of(manager), is_async),
            Expr::GroupOf(class) => {
                self.builtin_of(KNOWN.exception_group, [self.instance_of(&of(class))])
            }
            Expr::InstanceOf(class) => self.instance_of(&of(class)),
            Expr::Narrowed(subject, test) => match module.key(subject) {
                Some(key) => self.narrow(file, key, of(subject), test, true),
                None => self.narrow_value(file, of(subject), test),
            },
            _ => Type::Unknown,
        }
    }

    // Classes of the bundle

    /// Returns an instance of a builtin class.
    pub(crate) fn builtin(&self, name: Name) -> Type {
        self.builtin_of(name, [])
    }

    fn builtin_of<const N: usize>(&self, name: Name, arguments: [Type; N]) -> Type {
        self.bundled("builtins", name, &arguments)
    }

    fn typing_of<const N: usize>(&self, name: Name, arguments: [Type; N]) -> Type {
        self.bundled("typing", name, &arguments)
    }

    fn bundled(&self, module: &str, name: Name, arguments: &[Type]) -> Type {
        self.bundled_class(module, name).map_or(Type::Unknown, |class| {
            Type::Instance(ClassType { arguments: arguments.into(), ..class })
        })
    }

    /// Returns a class of the bundle by its module (`collections/abc`) and name.
    pub(crate) fn bundled_class(&self, module: &str, name: Name) -> Option<ClassType> {
        let file = super::bundle::file(module)?;
        let module = self.module(file);
        let symbol = module.symbol(module.global(name)?);
        symbol.bindings.iter().find_map(|it| match module.binding(*it).kind {
            BindingKind::Class(class) => Some(ClassType::bare(file, class)),
            _ => None,
        })
    }

    /// Returns whether a class is the class of this name in the bundle.
    pub(crate) fn is_bundled(&self, class: &ClassType, name: Name) -> bool {
        super::bundle::number(class.file).is_some()
            && self.module(class.file).class(class.class).name == name
    }
}
