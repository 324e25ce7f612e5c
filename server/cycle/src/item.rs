//! One piece of work: a function, class or method to be written, and what there is to know about it.

use code::Signature;

/// What is to be written.
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

/// Something the item may use, written and passed before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Id in the plan.
    pub id: String,
    /// Whether the plan names it for the item itself, and not for something that it depends on.
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

/// Something that will use the item, written after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependent {
    /// `Class.method`, or the plain name.
    pub name: String,
    /// `def …` or `class …`, as planned; the name where the plan gives none.
    pub signature: String,
    /// First line of the docstring.
    pub summary: String,
}

/// The facts of one work item; they do not change while it is worked on.
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
    /// The plan puts tests of others there as well; each has a class of its own.
    pub shares_tests: bool,
    pub signature: Option<Signature>,
    pub docstring: String,
    pub examples: Vec<String>,
    /// Third-party packages the plan allows it.
    pub libraries: Vec<String>,
    pub red_gate: bool,
    /// What it may use: everything it depends on, directly or not.
    pub dependencies: Vec<Dependency>,
    /// Who uses it directly, the first in the plan's order.
    pub dependents: Vec<Dependent>,
}

impl Item {
    /// The name a test has to import: the class for a method.
    pub fn import_name(&self) -> &str {
        self.class.as_deref().unwrap_or(&self.name)
    }

    /// `Class.method`, or the plain name.
    pub fn qualified_name(&self) -> String {
        match &self.class {
            Some(class) => format!("{class}.{}", self.name),
            None => self.name.clone(),
        }
    }

    /// A method whose planned signature has neither `self` nor `cls`.
    pub fn is_static(&self) -> bool {
        let takes_none = |it: &Signature| !it.takes_receiver();
        self.kind == ItemKind::Method && self.signature.as_ref().is_some_and(takes_none)
    }

    /// The class of its tests in a file that it shares: `TestLedgerAdd` for `Ledger.add`.
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

    /// Distinguishes this item's helpers from those of others in the same file: `Class_method`.
    pub fn suffix(&self) -> String {
        self.qualified_name().replace('.', "_")
    }
}
