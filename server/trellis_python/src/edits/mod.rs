//! Edits a file's text: edits as values ([`TextEdits`]), made by naming a symbol or by searching.
//!
//! Symbol edits never break a file further: the text around a symbol stays byte for byte, a new
//! text must be Python, and an edit that adds a syntax error is refused. A file that already has
//! errors can be edited in its intact parts.

mod compile_errors;
mod delete;
mod diff;
mod editor_text;
mod elided;
mod hunks;
mod indents;
mod insert;
mod levels;
mod line_matching;
mod partial_code;
mod places;
mod plain_text;
mod refused;
mod replace;
mod search;
mod snippet;
mod syntax_guard;
mod target;
mod text_edits;
mod tolerant_replace;

pub use delete::delete_symbol;
pub use diff::{changed_lines, unified_diff};
pub use editor_text::{is_shown_as, with_ends_of};
pub use hunks::{Hunk, HunkError, apply_hunks, hunks, rebase};
pub use insert::{insert_after_symbol, insert_before_symbol, insert_into_class};
pub use refused::{Candidate, Refused};
pub use replace::replace_symbol_body;
pub use search::{EditRefused, Replaced, SearchReplace, search_replace};
pub use syntax_guard::check_no_new_errors;
pub use target::SymbolSelector;
pub use text_edits::{BadEdits, TextEdit, TextEdits};
