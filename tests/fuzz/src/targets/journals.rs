//! Journals.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use trellis_store::hash_chain::Verification;
use trellis_store::journal::{Event, Journal, text_of};
use trellis_store::origin::{Origin, Workflow};
use trellis_store::reader::Reader;
use trellis_store::replay::ReplayedState;

use super::folder;
use crate::memory;

/// Opening cuts off nothing but an incomplete last line; a new line leaves every byte before it as
/// it was, is read back, and continues a chain that was intact; what is replayed comes from the
/// lines that can be read. A journal whose last line has a newer format is refused and stays as it is.
pub(super) fn run(input: &[u8]) {
    let root = folder();
    fs::create_dir_all(root.join(".trellis")).expect("a folder");
    let path = Journal::path(root);
    fs::write(&path, input).expect("a file");
    let (lines, unreadable, chain) = memory::bounded(input, 1 << 20, 400, || read(&path));
    let whole = input.iter().rposition(|it| *it == b'\n').map_or(0, |at| at + 1);
    assert_eq!(lines, input[..whole].split_inclusive(|it| *it == b'\n').count());

    let origin = Origin::create(Workflow::Generate);
    let (journal, past) = match Journal::open(root, origin) {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            assert!(is_newer(&input[..whole]), "{error}");
            assert!(fs::read(&path).expect("a file") == input, "a newer journal was changed");
            return;
        }
        opened => opened.expect("a journal can be opened"),
    };
    assert!(!is_newer(&input[..whole]), "a newer journal was opened");
    assert!(fs::read(&path).expect("a file") == input[..whole], "whole lines were changed");
    assert_eq!(past.unreadable.len(), unreadable, "both readers read the same lines");
    journal.commit(note()).expect("a line can be written");
    drop(journal);

    let bytes = fs::read(&path).expect("a file");
    assert!(bytes.starts_with(&input[..whole]), "lines above were changed");
    let (after, still_unreadable, chain_after) = read(&path);
    assert_eq!((after, still_unreadable), (lines + 1, unreadable), "one line more");
    if lines == 0 || chain.head.is_some() {
        assert!(chain_after.head.is_some(), "the chain goes on: {chain_after:?}");
    }
    let folded = |it: &ReplayedState| {
        (it.accepted.clone(), it.unproven.clone(), it.written.clone(), it.spent)
    };
    let text = text_of(&bytes);
    assert_eq!(folded(&ReplayedState::read(&text)), folded(&past), "a note changes no state");
}

/// Returns whether the last of these lines has the number of a newer format.
fn is_newer(lines: &[u8]) -> bool {
    let last = lines.split_inclusive(|it| *it == b'\n').next_back().unwrap_or_default();
    let number = last.strip_prefix(b"{\"v\":").unwrap_or_default();
    let digits = number.iter().take(10).take_while(|it| it.is_ascii_digit());
    digits.fold(0_u64, |sum, it| sum * 10 + u64::from(it - b'0')) > 1
}

fn note() -> Event {
    Event::Note { node: "n".to_owned(), what: "w".to_owned(), text: "ü \" \n".to_owned() }
}

/// Returns the number of lines, of those that cannot be read, and the verdict on the chain.
fn read(path: &Path) -> (usize, usize, Verification) {
    let mut reader = Reader::open(path).expect("a journal can be read");
    let mut unreadable = 0;
    while let Some(entry) = reader.read_entry().expect("a journal can be read") {
        unreadable += usize::from(entry.event.is_err());
    }
    let summary = reader.ended();
    (summary.lines, unreadable, summary.chain)
}
