//! Interns identifiers as numbers, shared by all files of the process.

use std::sync::{LazyLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

/// An identifier, or the path of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(u32);

/// Interned texts. They live as long as the process, because code bases have few words and repeat
/// them.
#[derive(Default)]
struct Names {
    numbers: FxHashMap<&'static str, u32>,
    texts: Vec<&'static str>,
}

static NAMES: LazyLock<RwLock<Names>> = LazyLock::new(RwLock::default);

impl Name {
    /// Returns the name of a text, interning it if necessary.
    pub(crate) fn of(text: &str) -> Name {
        let known = NAMES.read().unwrap_or_else(PoisonError::into_inner).numbers.get(text).copied();
        Name(known.unwrap_or_else(|| add(text)))
    }

    /// Returns the name of a text that is already interned.
    pub(crate) fn known(text: &str) -> Option<Name> {
        let names = NAMES.read().unwrap_or_else(PoisonError::into_inner);
        names.numbers.get(text).copied().map(Name)
    }

    pub(crate) fn text(self) -> &'static str {
        let names = NAMES.read().unwrap_or_else(PoisonError::into_inner);
        names.texts[self.0 as usize]
    }
}

fn add(text: &str) -> u32 {
    let mut names = NAMES.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(number) = names.numbers.get(text) {
        return *number;
    }
    let number = names.texts.len() as u32;
    let text: &'static str = Box::leak(text.into());
    names.texts.push(text);
    names.numbers.insert(text, number);
    number
}

/// Defines the names that have a meaning for the resolver.
macro_rules! well_known {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// Names with a meaning for the resolver, interned once.
        #[allow(non_snake_case, reason = "fields are spelled like the names they stand for")]
        pub(crate) struct Known { $(pub(crate) $name: Name),* }

        pub(crate) static KNOWN: LazyLock<Known> =
            LazyLock::new(|| Known { $($name: Name::of($text)),* });
    };
}

well_known! {
    all = "__all__", slots = "__slots__", match_args = "__match_args__",
    init = "__init__", cls = "cls", class = "__class__", new = "__new__", init_subclass = "__init_subclass__", call = "__call__", getitem = "__getitem__",
    class_getitem = "__class_getitem__", iter = "__iter__", next = "__next__", aiter = "__aiter__",
    anext = "__anext__", enter = "__enter__", aenter = "__aenter__", await_ = "__await__",
    getattr = "__getattr__", get = "__get__",

    super_ = "super", type_ = "type", isinstance = "isinstance",
    issubclass = "issubclass",
    property = "property", staticmethod = "staticmethod", classmethod = "classmethod",
    cached_property = "cached_property", setter = "setter", getter = "getter", deleter = "deleter",
    overload = "overload", abstractproperty = "abstractproperty",
    contextmanager = "contextmanager", asynccontextmanager = "asynccontextmanager",
    dataclass = "dataclass", dataclass_transform = "dataclass_transform",
    generic = "Generic", protocol = "Protocol", enum_class = "Enum",
    named_tuple = "NamedTuple", typed_dict = "TypedDict",
    partialmethod = "partialmethod", singledispatch = "singledispatch", singledispatchmethod = "singledispatchmethod", register = "register", func = "func", fget = "fget", exception_group = "ExceptionGroup", value = "value", own_value = "_value_", auto = "auto", str_enum = "StrEnum", get_ = "get", pop = "pop", setdefault = "setdefault", tuple = "tuple", list = "list", dict = "dict", set = "set", str = "str",
    bytes = "bytes", int = "int", float = "float", bool = "bool", object = "object",
    slice = "slice",
    generator = "Generator", async_generator = "AsyncGenerator", coroutine = "Coroutine",
    context_manager = "AbstractContextManager", async_context_manager = "AbstractAsyncContextManager",

    cast = "cast", partial = "partial", wraps = "wraps",
    type_var = "TypeVar", param_spec = "ParamSpec", type_var_tuple = "TypeVarTuple",
    new_type = "NewType",

    fixture = "fixture", yield_fixture = "yield_fixture", dict_attribute = "__dict__",

}
