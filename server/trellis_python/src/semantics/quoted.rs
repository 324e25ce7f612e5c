//! Resolves names in strings, by the rule of their place.

use super::composed::Affixes;
use super::eval::Eval;
use super::ir::*;
use super::meaning::{Meaning, Target, Uncertainty};
use super::names::{KNOWN, Name};
use super::types::{ClassType, Type};
use crate::index::FileId;

/// Largest number of assignments that are followed from a name to its value.
const MOST_STEPS: u32 = 3;

impl Eval<'_> {
    pub(super) fn quoted_meaning(&self, file: FileId, it: &Occurrence, rule: Quoted) -> Meaning {
        match rule {
            Quoted::Attribute(object) => {
                let meaning = self.member_of(file, object, it.name);
                meaning.unless_known(Uncertainty::LookedUp)
            }
            Quoted::Key(object) => self.key_meaning(file, object, it.name),
            Quoted::Entry(place) => self.entry_meaning(file, place, it.name),
            Quoted::Path(path, is_last) => self.path_meaning(file, path, is_last),
            Quoted::Fixture => self.fixture_meaning(file, it.scope, it.name),
            Quoted::Parameter(of) => Meaning::certain(self.parametrized(file, of, it.name)),
            Quoted::LookedUp => Meaning::doubtful(Uncertainty::LookedUp),
            Quoted::Prefix(_) | Quoted::Suffix(_) => self.part_meaning(file, it.name),
            Quoted::Plain => Meaning::doubtful(Uncertainty::Plain),
            Quoted::Code => Meaning::doubtful(Uncertainty::Code),
            Quoted::Tail if self.patches(file) => Meaning::doubtful(Uncertainty::Composed),
            Quoted::Tail => Meaning::default(),
            Quoted::Decorator(_) => Meaning::doubtful(Uncertainty::Decorator),
            Quoted::Unparsed => Meaning::doubtful(Uncertainty::Unparsed),
            Quoted::Mention(kind) => Meaning::doubtful(Uncertainty::Document(kind)),
        }
    }

    fn part_meaning(&self, file: FileId, part: Name) -> Meaning {
        match Affixes::new(vec![part]).may_be_in(self.index, file) {
            true => Meaning::doubtful(Uncertainty::Composed),
            false => Meaning::default(),
        }
    }

    /// Returns whether a file has a word of functions that take the path of an object in a string.
    fn patches(&self, file: FileId) -> bool {
        const WORDS: [&str; 5] = ["patch", "setattr", "import_module", "import_string", "locate"];
        let words = self.index.words(file);
        WORDS.iter().any(|it| words.may_hold(it))
    }

    // Keys

    /// Resolves a key: a member of an enum, a key of a `TypedDict`, an attribute in the mapping of
    /// an object, or a keyword of a call that unpacks the mapping.
    fn key_meaning(&self, file: FileId, object: ExprId, name: Name) -> Meaning {
        if let Some(owner) = self.mapped(file, object, MOST_STEPS) {
            return self.member_meaning(&owner, name).unless_known(Uncertainty::Key);
        }
        let mut meaning = Meaning::default();
        let of = self.expr(file, object);
        for it in of.members() {
            match it {
                Type::Class(class) if self.class(class.file, class.class).is_enum => {
                    self.attribute_targets(it, name, &mut meaning);
                }
                Type::Instance(class) if self.is_typed_dict(class) => {
                    self.field(it, name, &mut meaning);
                }
                Type::Instance(class) if self.is_bundled(class, KNOWN.dict) => {
                    meaning.uncertainty = Some(Uncertainty::Key);
                }
                Type::Unknown => meaning.uncertainty = Some(Uncertainty::Key),
                _ => {}
            }
        }
        if self.is_signature(file, object) {
            meaning.uncertainty = Some(Uncertainty::LookedUp);
        }
        if let Expr::Name(_, Some(symbol), _) = self.module(file).expr(object) {
            self.unpacked(file, symbol, name, &mut meaning);
        }
        meaning.if_unresolved()
    }

    /// Returns whether a mapping is `signature.parameters`, whose keys are parameters.
    fn is_signature(&self, file: FileId, object: ExprId) -> bool {
        let module = self.module(file);
        let is_it = |of: &Type| {
            matches!(of, Type::Instance(class)
            if self.module(class.file).class(class.class).name.text() == "Signature")
        };
        match module.expr(object) {
            Expr::Attribute(of, name, _) if name.text() == "parameters" => {
                self.expr(file, of).members().iter().any(is_it)
            }
            _ => false,
        }
    }

    /// Resolves a key of a dict display by the place of the display.
    fn entry_meaning(&self, file: FileId, place: ExpectationId, name: Name) -> Meaning {
        let mut meaning = Meaning::default();
        match self.module(file).expectations[place.index()] {
            Expectation::Unpacked(call) => return self.keyword_meaning(file, call, name),
            Expectation::Compared(other) => {
                return self.key_meaning(file, other, name).unless_known(Uncertainty::Plain);
            }
            Expectation::Argument(call, 0) => {
                if let Some(object) = self.updated(file, call) {
                    return self.key_meaning(file, object, name).unless_known(Uncertainty::Plain);
                }
            }
            Expectation::Symbol(symbol) => self.unpacked(file, symbol, name, &mut meaning),
            Expectation::Element(of) => {
                let each = self.given_each(file, of);
                each.into_iter().for_each(|it| self.unpacked(file, it, name, &mut meaning));
            }
            _ => {}
        }
        let mut is_known = false;
        for it in self.expected(file, place).members() {
            if matches!(it, Type::Instance(class) if self.is_typed_dict(class)) {
                self.field(it, name, &mut meaning);
                is_known = true;
            }
        }
        if !is_known && meaning.targets.is_empty() {
            meaning.uncertainty = Some(Uncertainty::Plain);
        }
        meaning.if_unresolved()
    }

    /// Returns the symbol that gets the elements of a display one after the other: the target of a
    /// loop, or the parameter of a test.
    fn given_each(&self, file: FileId, display: ExpectationId) -> Option<SymbolId> {
        let module = self.module(file);
        match module.expectations[display.index()] {
            Expectation::Iterated(symbol) => Some(symbol),
            Expectation::Argument(call, _) | Expectation::Keyword(call, _) => {
                let given = |mark: &&ParametrizedName| mark.call == call && mark.part.is_none();
                module.functions.iter().find_map(|it| {
                    let mark = it.parametrized.iter().find(given)?;
                    it.parameters.iter().find(|it| it.name == mark.name).map(|it| it.symbol)
                })
            }
            _ => None,
        }
    }

    /// Returns the mapping of a call `mapping.update(…)`.
    fn updated(&self, file: FileId, call: ExprId) -> Option<ExprId> {
        let module = self.module(file);
        match module.expr(module.call(call)?.function) {
            Expr::Attribute(object, name, _) if name.text() == "update" => Some(object),
            _ => None,
        }
    }

    fn is_typed_dict(&self, class: &ClassType) -> bool {
        let info = self.class(class.file, class.class);
        info.mro.iter().any(|it| self.is_bundled(it, KNOWN.typed_dict))
    }

    /// Adds the parameters of calls `f(**kwargs)` in which a symbol is unpacked.
    fn unpacked(&self, file: FileId, symbol: SymbolId, name: Name, meaning: &mut Meaning) {
        let module = self.module(file);
        let is_it = |it: &Argument| {
            it.kind == ArgumentKind::Keywords && self.carries(file, it.value, symbol)
        };
        let unpacks = |call: &&Call| module.arguments_of(call).iter().any(is_it);
        for call in module.calls.iter().filter(unpacks) {
            let found = self.keyword_in(file, call, name);
            found.targets.into_iter().for_each(|it| meaning.add(it));
            meaning.uncertainty = meaning.uncertainty.or(found.uncertainty);
        }
    }

    /// Returns the object whose attributes a mapping holds: that of `vars(x)`, `x.__dict__`,
    /// `asdict(x)`, `globals()`.
    pub(super) fn mapped(&self, file: FileId, expr: ExprId, steps: u32) -> Option<Type> {
        let module = self.module(file);
        match module.expr(expr) {
            Expr::Attribute(object, name, _)
                if name == KNOWN.dict_attribute || name.text() == "__members__" =>
            {
                Some(self.expr(file, object))
            }
            Expr::Name(_, Some(symbol), _) if steps > 0 => {
                let [only] = module.symbol(symbol).bindings.as_slice() else { return None };
                let BindingKind::Value(value) = module.binding(*only).kind else { return None };
                self.mapped(file, value, steps - 1)
            }
            Expr::Call(row) => self.mapped_by_call(file, &module.calls[row as usize], steps),
            _ => None,
        }
    }

    fn mapped_by_call(&self, file: FileId, call: &Call, steps: u32) -> Option<Type> {
        let module = self.module(file);
        let first = module.arguments_of(call).first().map(|it| it.value);
        let (name, receiver) = match module.expr(call.function) {
            Expr::Name(name, ..) => (name, None),
            Expr::Attribute(object, name, _) => (name, Some(object)),
            _ => return None,
        };
        match (name.text(), first) {
            ("vars" | "dir" | "asdict", Some(first)) => Some(self.expr(file, first)),
            ("dict" | "copy" | "deepcopy", Some(first)) if steps > 0 => {
                self.mapped(file, first, steps - 1)
            }
            ("copy", None) if steps > 0 => self.mapped(file, receiver?, steps - 1),
            ("_asdict" | "model_dump", _) => Some(self.expr(file, receiver?)),
            ("globals", None) => {
                Some(Type::Module(super::program::module_of(self.index.path(file))))
            }
            _ => None,
        }
    }

    // Places of displays

    /// Returns the type that the place of a dict display wants.
    fn expected(&self, file: FileId, place: ExpectationId) -> Type {
        let module = self.module(file);
        match module.expectations[place.index()] {
            Expectation::Annotation(annotation) => self.annotation(file, annotation),
            Expectation::Symbol(symbol) => self.declared(file, symbol).unwrap_or(Type::Unknown),
            Expectation::Returned(function) => match module.function(function).returns {
                Some(annotation) => self.annotation(file, annotation),
                None => Type::Unknown,
            },
            Expectation::Argument(call, index) => self.wanted(
                file,
                call,
                |it, _| {
                    it.iter().find(|(_, argument)| *argument == index as usize).map(|(it, _)| *it)
                },
                index == 0,
            ),
            Expectation::Keyword(call, name) => self.wanted(
                file,
                call,
                |_, parameters| super::eval::keyword_parameter(parameters, name),
                false,
            ),
            Expectation::Element(of) => self.element(&self.expected(file, of), false),
            Expectation::Value(of, key) => self.value_of(&self.expected(file, of), key),
            Expectation::Compared(_)
            | Expectation::Iterated(_)
            | Expectation::Unpacked(_)
            | Expectation::Nothing => Type::Unknown,
        }
    }

    /// Returns the type of the parameter that an argument fills. `Movie({…})` wants a `Movie`.
    fn wanted(
        &self,
        file: FileId,
        call: ExprId,
        parameter: impl Fn(&[(usize, usize)], &[Parameter]) -> Option<usize>,
        is_first: bool,
    ) -> Type {
        let Some(call) = self.module(file).call(call) else { return Type::Unknown };
        let callee = self.expr(file, call.function);
        callee.map(|callee| match callee {
            Type::Class(class) if is_first && self.is_typed_dict(class) => {
                Type::Instance(class.clone())
            }
            Type::Class(class) if self.class(class.file, class.class).has_fields => Type::Unknown,
            other => Type::union(self.candidates(other).iter().filter_map(|it| {
                let matched = self.matched(it, super::eval::CallSite { file, call });
                let parameters = &self.module(it.file).function(it.function).parameters;
                let index = parameter(&matched, parameters)?;
                Some(self.parameter(it.file, it.function, index))
            })),
        })
    }

    /// Returns the type of a value of a mapping.
    fn value_of(&self, mapping: &Type, key: Option<Name>) -> Type {
        mapping.map(|it| match it {
            Type::Instance(class) if self.is_typed_dict(class) => {
                let mut field = Meaning::default();
                key.into_iter().for_each(|key| self.field(it, key, &mut field));
                Type::union(field.targets.iter().filter_map(|it| match it {
                    Target::Symbol(file, symbol) => Some(self.symbol(*file, *symbol)),
                    _ => None,
                }))
            }
            Type::Instance(class) => class.arguments.get(1).cloned().unwrap_or(Type::Unknown),
            _ => Type::Unknown,
        })
    }

    // Paths

    /// Resolves a dotted path from its module on: `package.module.Class.method`.
    fn path_meaning(&self, file: FileId, path: Name, is_last: bool) -> Meaning {
        let parts: Vec<&str> = path.text().split('.').collect();
        let module = |count: &usize| {
            let path = ModulePath { level: 0, name: Name::of(&parts[..*count].join(".")) };
            self.resolve(file, path).map(|it| (*count, it))
        };
        let Some((known, module)) = (1..=parts.len()).rev().find_map(|it| module(&it)) else {
            // A class may be the beginning of a path of another kind, such as `Model.field`.
            let may_be_class = parts.len() == 1 && path.text().starts_with(char::is_uppercase);
            return if is_last || may_be_class {
                Meaning::doubtful(Uncertainty::Plain)
            } else {
                Meaning::default()
            };
        };
        // Many strings are like the names of modules, and no rule says which name one.
        let mut meaning = Meaning::doubtful(Uncertainty::Plain);
        let mut object = Type::Module(module);
        for part in &parts[known..] {
            let name = Name::of(part);
            meaning = self.member_meaning(&object, name).unless_known(Uncertainty::Plain);
            object = Type::union(self.attribute(&object, name).types);
            if object == Type::Never && meaning.targets.is_empty() {
                // A path of another kind, such as `app.Model` of Django.
                let unknown = Meaning::doubtful(Uncertainty::Plain);
                return if is_last { unknown } else { Meaning::default() };
            }
        }
        meaning
    }
}
