//! Changes of a file's text: values first ([`TextEdits`]), made by naming a symbol or by searching.
//!
//! Symbol edits never make a file worse: the text around a symbol stays byte for byte, a new text must be
//! Python, and an error that was not there before refuses the edit. A file that has errors already can be
//! edited where it is intact.

mod alike;
mod delete;
mod diff;
mod guard;
mod hunks;
mod insert;
mod matching;
mod refused;
mod replace;
mod search;
mod shown;
mod snippet;
mod target;
mod text_edits;

pub use delete::delete_symbol;
pub use diff::{changed_lines, unified_diff};
pub use guard::no_worse;
pub use hunks::{Hunk, NoPlace, apply_hunks, hunks, rebase};
pub use insert::{insert_after_symbol, insert_before_symbol, insert_into_class};
pub use refused::{Candidate, Refused};
pub use replace::replace_symbol_body;
pub use search::{EditRefused, Replaced, SearchReplace, search_replace};
pub use shown::{is_shown_as, with_ends_of};
pub use target::Which;
pub use text_edits::{BadEdits, TextEdit, TextEdits};
