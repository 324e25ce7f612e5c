//! Journals with damaged lines.

use std::fs;

use trellis_store::journal::{Event, Journal};
use trellis_store::origin::{Origin, Workflow};
use trellis_store::reader::Reader;
use trellis_store::replay::ReplayedState;

#[test]
fn a_line_with_damaged_bytes_is_no_event_for_any_reader() {
    let root = tempfile::tempdir().expect("a folder");
    let origin = Origin::create(Workflow::Generate);
    fs::create_dir(root.path().join(".trellis")).expect("a folder");
    let (journal, _) = Journal::open(root.path(), origin.clone()).expect("a journal");
    for path in ["a.py", "b.py"] {
        let (path, hash) = (path.to_owned(), "h".to_owned());
        journal.commit(Event::Writing { path, hash }).expect("written");
    }
    drop(journal);
    let path = Journal::path(root.path());
    let mut bytes = fs::read(&path).expect("bytes");
    let at = bytes.windows(4).position(|it| it == b"a.py").expect("the path");
    bytes[at] = 0xff;
    fs::write(&path, &bytes).expect("written");

    let (_, past): (_, ReplayedState) = Journal::open(root.path(), origin).expect("a journal");
    assert_eq!(past.unreadable, [1]);
    assert_eq!(past.written.keys().collect::<Vec<_>>(), ["b.py"]);
    let mut reader = Reader::open(&path).expect("a journal");
    assert!(reader.read_entry().expect("a line").expect("the first").event.is_err());
    assert!(fs::read(&path).expect("bytes") == bytes, "opening changes no whole line");
}
