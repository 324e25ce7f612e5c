//! Contracts of definitions, compared between two versions.

use trellis_python::contract_holds;

#[test]
fn a_contract_holds_for_another_body_and_for_more_that_has_a_default() {
    let old = "def f(a: int, *, b: str = 'x') -> int:\n    \"\"\"Old.\"\"\"\n    return a\n";
    let table = [
        ("def f(a: int, *, b: str = \"x\") -> int:\n    return a + 1\n", true),
        ("import os\n\n\ndef f(a: int, c=1, *, b: str='x', d=2, **e) -> int: return 2\n", true),
        ("def _g(): ...\n\n\ndef f(a: int, *, b: str = 'x') -> int: return _g()\n", true),
        ("def f(a: int, c, *, b: str = 'x') -> int: return 2\n", false),
        ("def f(a: int, *, b: str = 'x', d) -> int: return 2\n", false),
        ("def f(a: float, *, b: str = 'x') -> int: return 2\n", false),
        ("def f(a: int, *, b: str = 'y') -> int: return 2\n", false),
        ("def f(a: int, *, b: str = 'x') -> float: return 2\n", false),
        ("def f(x: int, *, b: str = 'x') -> int: return 2\n", false),
        ("def f(a: int, /, *, b: str = 'x') -> int: return 2\n", false),
        ("def f(a: int) -> int: return 2\n", false),
        ("async def f(a: int, *, b: str = 'x') -> int: return 2\n", false),
        ("@cache\ndef f(a: int, *, b: str = 'x') -> int: return 2\n", false),
        ("def g(a: int, *, b: str = 'x') -> int: return 2\n", false),
        ("f = lambda a: a\n", false),
    ];
    for (new, holds) in table {
        assert_eq!(contract_holds(old, new), Ok(holds), "{new}");
    }
}

#[test]
fn variable_arguments_are_a_part_of_the_contract() {
    let old = "def f(a, *args, **kwargs): ...\n";
    assert_eq!(contract_holds(old, "def f(a, *rest, **more): ...\n"), Ok(true));
    assert_eq!(contract_holds(old, "def f(a, *args): ...\n"), Ok(false));
    assert_eq!(contract_holds(old, "def f(a, **kwargs): ...\n"), Ok(false));
    // The second argument was one of `*args`.
    assert_eq!(contract_holds(old, "def f(a, b=1, *args, **kwargs): ...\n"), Ok(false));
}

#[test]
fn a_class_keeps_its_bases_its_fields_and_its_public_methods() {
    let old = "@dataclass\nclass Box(Base):\n    size: int\n    lid: str = ''\n\n    def open(self) -> None: ...\n\n    def _latch(self): ...\n\n    def __len__(self) -> int: ...\n";
    let table = [
        (old.replace("    def _latch(self): ...\n\n", ""), true),
        (old.replace("''\n", "''\n    hue: int = 0\n"), true),
        (old.replace("''\n", "''\n    hue: int\n"), false),
        (
            old.replace("    size: int\n    lid: str = ''\n", "    lid: str = ''\n    size: int\n"),
            false,
        ),
        (old.replace("size: int", "size: float"), false),
        (old.replace("(Base)", "(Other)"), false),
        (old.replace("@dataclass", "@dataclass(frozen=True)"), false),
        (old.replace("open(self)", "open(self, key)"), false),
        (old.replace("    def open(self) -> None: ...\n\n", ""), false),
        (old.replace("    def __len__(self) -> int: ...\n", ""), false),
    ];
    for (new, holds) in table {
        assert_eq!(contract_holds(old, &new), Ok(holds), "{new}");
    }
}

#[test]
fn names_of_constants_and_of_enumeration_members_stay() {
    let old = "LIMIT = 1\n\n\nclass Color(Enum):\n    RED = 1\n    _HIDDEN = 2\n    A, B = 3, 4\n";
    for (from, to, holds) in [
        ("RED = 1", "RED = auto()", true),
        ("_HIDDEN", "_GONE", true),
        ("RED", "CRIMSON", false),
        ("LIMIT", "BOUND", false),
        ("A, B = 3, 4", "A = 3", false),
    ] {
        let new = old.replace(from, to);
        assert_eq!(contract_holds(old, &new), Ok(holds), "{new}");
    }
}

#[test]
fn text_that_does_not_parse_is_an_error() {
    assert!(contract_holds("def f(): ...\n", "def f(:\n").is_err());
}
