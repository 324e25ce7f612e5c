//! Interns identifiers as numbers, shared by all files of the process.

use std::sync::{LazyLock, OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

/// An identifier, or the path of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(u32);

/// Numbers of interned texts. The texts live as long as the process, because code bases have few
/// words and repeat them.
static NUMBERS: LazyLock<RwLock<FxHashMap<&'static str, u32>>> = LazyLock::new(RwLock::default);

type Block = OnceLock<Box<[OnceLock<&'static str>]>>;

/// Texts by number, in blocks of which each has twice the size of the one before. They never move,
/// so that readers need no lock.
static TEXTS: [Block; 32 - FIRST_BITS as usize] =
    [const { OnceLock::new() }; 32 - FIRST_BITS as usize];

/// Size of the first block, as an exponent of 2.
const FIRST_BITS: u32 = 12;

/// Returns the place of a number: its block and the place in the block.
fn place_of(number: u32) -> (usize, usize) {
    let shifted = number + (1 << FIRST_BITS);
    let bits = shifted.ilog2();
    ((bits - FIRST_BITS) as usize, (shifted - (1 << bits)) as usize)
}

fn block(number: usize) -> &'static [OnceLock<&'static str>] {
    let empty = || vec![OnceLock::new(); 1 << (FIRST_BITS as usize + number)].into();
    TEXTS[number].get_or_init(empty)
}

impl Name {
    /// Returns the name of a text, interning it if necessary.
    pub(crate) fn of(text: &str) -> Name {
        Name::known(text).unwrap_or_else(|| Name(add(text)))
    }

    /// Returns the name of a text that is already interned.
    pub(crate) fn known(text: &str) -> Option<Name> {
        let numbers = NUMBERS.read().unwrap_or_else(PoisonError::into_inner);
        numbers.get(text).copied().map(Name)
    }

    pub(crate) fn text(self) -> &'static str {
        let (number, at) = place_of(self.0);
        // A name has its number from a text that was stored before.
        block(number)[at].get().copied().unwrap_or_default()
    }
}

fn add(text: &str) -> u32 {
    let mut numbers = NUMBERS.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(number) = numbers.get(text) {
        return *number;
    }
    let new = numbers.len() as u32;
    let text: &'static str = Box::leak(text.into());
    let (number, at) = place_of(new);
    let _ = block(number)[at].set(text);
    numbers.insert(text, new);
    new
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

    param = "param", params = "params", request = "request", import_module = "import_module",
    fixture = "fixture", yield_fixture = "yield_fixture", dict_attribute = "__dict__",

}
