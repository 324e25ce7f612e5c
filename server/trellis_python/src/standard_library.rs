//! Lists Python's standard library modules, builtins and keywords.

mod builtins;
mod stdlib;
mod typing;

use builtins::BUILTINS;
use stdlib::STDLIB;
use typing::TYPING;

/// Returns whether a top-level module belongs to the standard library.
pub fn is_stdlib(module: &str) -> bool {
    module.starts_with('_') || STDLIB.binary_search(&module).is_ok()
}

/// Returns whether `typing` exports a name.
pub fn is_typing(name: &str) -> bool {
    TYPING.binary_search(&name).is_ok()
}

/// Returns whether a name is a builtin.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok()
}

/// Returns whether a word is a keyword and so cannot be a name. Soft keywords (`match`, `case`,
/// `type`) do not count.
pub(crate) fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 35] = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
        "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return",
        "try", "while", "with", "yield",
    ];
    KEYWORDS.contains(&word)
}
