//! What every Python programmer knows: the standard library's modules and the builtins.

mod builtins;
mod stdlib;
mod typing;

use builtins::BUILTINS;
use stdlib::STDLIB;
use typing::TYPING;

/// Whether a top-level module belongs to the standard library.
pub fn is_stdlib(module: &str) -> bool {
    module.starts_with('_') || STDLIB.binary_search(&module).is_ok()
}

/// Whether `typing` exports a name.
pub(crate) fn is_typing(name: &str) -> bool {
    TYPING.binary_search(&name).is_ok()
}

/// Whether a name is there without an import.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok()
}

/// Whether a word cannot be a name: Python's keywords without the soft ones (`match`, `case`, `type`).
pub(crate) fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 35] = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
        "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return",
        "try", "while", "with", "yield",
    ];
    KEYWORDS.contains(&word)
}
