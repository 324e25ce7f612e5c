//! Search/replace edits: which place of a file they change, and how they lay out what is new.

use trellis_python::{EditRefused, SearchReplace, search_replace};

mod elided;
mod indentation;
mod levels;
mod lines;

fn applied(
    text: &str,
    [search, replace]: [&str; 2],
    occurrence: Option<usize>,
) -> Result<String, EditRefused> {
    let (search, replace) = (search.to_owned(), replace.to_owned());
    let edit = SearchReplace { path: String::new(), search, replace, occurrence };
    search_replace(text, &edit).map(|it| it.edits.apply(text))
}

/// Checks edits, also with the line breaks of Windows in the file, in the edit or in both.
fn check(table: &[(&str, [&str; 2], &str)]) {
    let of_windows = |text: &str| text.replace('\n', "\r\n");
    for (text, edit, wanted) in table {
        let [search, replace] = edit.map(of_windows);
        let other = [search.as_str(), replace.as_str()];
        for edit in [*edit, other] {
            assert_eq!(applied(text, edit, None).as_deref(), Ok(*wanted), "{edit:?}");
            let result = applied(&of_windows(text), edit, None);
            assert_eq!(result, Ok(of_windows(wanted)), "{edit:?} in a file of Windows");
        }
    }
}

fn check_ambiguous(text: &str, edit: [&str; 2], lines: &[usize]) {
    match applied(text, edit, None) {
        Err(EditRefused::Ambiguous { candidates }) => {
            assert_eq!(candidates.iter().map(|it| it.line).collect::<Vec<_>>(), lines, "{edit:?}");
        }
        other => panic!("{edit:?}: {other:?}"),
    }
}
