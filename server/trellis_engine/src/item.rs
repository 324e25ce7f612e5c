//! One item of work: a function, class or method to be written, with the facts about it.

use trellis_python::Signature;

/// Kinds of definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    Function,
    Class,
    Method,
}

impl ItemKind {
    pub fn as_str(self) -> &'static str {
        match self {
            ItemKind::Function => "function",
            ItemKind::Class => "class",
            ItemKind::Method => "method",
        }
    }
}

/// A definition that the item may use, written and passed before the item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Id in the plan.
    pub id: String,
    /// True if the plan names the dependency for the item itself, false if it is indirect.
    pub is_direct: bool,
    /// The name to import: the function, the class, or a method's class.
    pub import_name: String,
    /// Dotted module path.
    pub module: String,
    /// `def …` or `class …`, as planned.
    pub signature: String,
    /// First line of the docstring.
    pub summary: String,
}

/// A definition that will use the item, written after the item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependent {
    /// `Class.method`, or the plain name.
    pub name: String,
    /// `def …` or `class …`, as planned; the name if the plan has no signature.
    pub signature: String,
    /// First line of the docstring.
    pub summary: String,
}

/// The facts of one work item; they do not change during the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: String,
    pub kind: ItemKind,
    /// The defined name; for a method the name inside its class.
    pub name: String,
    /// The class of a method.
    pub class: Option<String>,
    /// Methods of a class that are items of their own.
    pub planned_methods: Vec<String>,
    /// Source file, relative to the repository.
    pub path: String,
    /// Dotted module path of `path`.
    pub module: String,
    /// Test file, relative to the repository.
    pub test_path: String,
    /// True if the plan puts tests of other items into the same file; the tests of each item then
    /// have a class of their own.
    pub shares_tests: bool,
    pub signature: Option<Signature>,
    pub docstring: String,
    pub examples: Vec<String>,
    /// Third-party packages that the plan allows the item.
    pub libraries: Vec<String>,
    pub red_gate: bool,
    /// All dependencies, direct and indirect.
    pub dependencies: Vec<Dependency>,
    /// Direct dependents, in the plan's order.
    pub dependents: Vec<Dependent>,
}

impl Item {
    /// Returns the name that a test has to import: for a method its class.
    pub fn import_name(&self) -> &str {
        self.class.as_deref().unwrap_or(&self.name)
    }

    /// Returns `Class.method`, or the plain name.
    pub fn qualified_name(&self) -> String {
        match &self.class {
            Some(class) => format!("{class}.{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns whether the item is a method whose planned signature has neither `self` nor `cls`.
    pub fn is_static(&self) -> bool {
        let takes_none = |it: &Signature| !it.takes_receiver();
        self.kind == ItemKind::Method && self.signature.as_ref().is_some_and(takes_none)
    }

    /// Returns the name of the class for the item's tests in a shared file: `TestLedgerAdd` for
    /// `Ledger.add`.
    pub fn test_class(&self) -> String {
        let name = self.qualified_name();
        let words = name.split(['.', '_']).filter(|it| !it.is_empty());
        let capital = |word: &str| {
            let mut rest = word.chars();
            let first = rest.next().map(|it| it.to_uppercase().to_string());
            format!("{}{}", first.unwrap_or_default(), rest.as_str())
        };
        std::iter::once("Test".to_owned()).chain(words.map(capital)).collect()
    }

    /// Returns a suffix that distinguishes this item's helpers from others in the same file:
    /// `Class_method`.
    pub fn suffix(&self) -> String {
        self.qualified_name().replace('.', "_")
    }
}
