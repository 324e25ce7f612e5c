//! Tests of the journal's chain: what breaks it and where, what does not, and concurrent appends.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use trellis_store::hash_chain::{Break, Verification};
use trellis_store::journal::{Event, Journal};
use trellis_store::reader::{Entry, Reader, Summary};

fn origin() -> trellis_store::origin::Origin {
    trellis_store::origin::Origin::create(trellis_store::origin::Workflow::Repair)
}

fn note(text: &str) -> Event {
    Event::Note { node: "n".to_owned(), what: "test".to_owned(), text: text.to_owned() }
}

/// Creates a journal of six lines written by two writers in turns.
fn six() -> (TempDir, PathBuf) {
    let world = tempfile::tempdir().expect("a folder");
    let one = Journal::join(world.path(), origin()).expect("a journal");
    let (other, _) = Journal::open(world.path(), origin()).expect("the same");
    for number in [1, 3, 5] {
        one.log(note(&format!("text {number}"))).expect("written");
        other.commit(note(&format!("text {}", number + 1))).expect("written");
    }
    let path = Journal::path(world.path());
    (world, path)
}

fn read(path: &Path) -> (Vec<Entry>, Summary) {
    let mut lines = Reader::open(path).expect("a journal");
    let mut all = Vec::new();
    while let Some(line) = lines.read_entry().expect("readable") {
        all.push(line);
    }
    (all, lines.ended())
}

/// Returns the texts of notes in order, from a journal that must be intact.
#[track_caller]
fn texts(path: &Path) -> Vec<String> {
    let (lines, ended) = read(path);
    assert_eq!((ended.chain.broken, ended.is_torn), (None, false), "{ended:?}");
    let text = |it: Entry| match it.event {
        Ok((_, Event::Note { text, .. })) => text,
        other => panic!("line {}: {other:?}", it.number),
    };
    lines.into_iter().map(text).collect()
}

fn verdict(path: &Path) -> Verification {
    read(path).1.chain
}

/// Returns a line as an earlier version wrote it.
fn bare(line: &str) -> String {
    let at = line.rfind(",\"chain\":").expect("a chain");
    format!("{}}}", &line[..at])
}

/// Returns a line with the chain of another.
fn grafted(line: &str, chain: &str) -> String {
    let end = |it: &str| it.rfind(",\"chain\":").expect("a chain");
    format!("{}{}", &line[..end(line)], &chain[end(chain)..])
}

/// Name and action of a change to the lines, and the first line that breaks the chain afterwards.
type Meddling = (&'static str, fn(&mut Vec<String>), Option<(usize, Break)>);

const MEDDLING: [Meddling; 15] = [
    ("nothing", |_| {}, None),
    ("a byte changed", |it| it[2] = it[2].replace("text 3", "text 9"), Some((3, Break::Differs))),
    (
        "the time changed",
        |it| it[3] = it[3].replace("\"at\":\"2", "\"at\":\"1"),
        Some((4, Break::Differs)),
    ),
    ("the first byte changed", |it| it[0].replace_range(0..1, "["), Some((1, Break::Differs))),
    (
        "the last line changed",
        |it| it[5] = it[5].replace("text 6", "text"),
        Some((6, Break::Differs)),
    ),
    ("the chain of another line", |it| it[1] = grafted(&it[1], &it[0]), Some((2, Break::Differs))),
    ("a space at an end", |it| it[2].push(' '), Some((3, Break::Bare))),
    ("the chain taken out", |it| it[2] = bare(&it[2]), Some((3, Break::Bare))),
    ("the first chain taken out", |it| it[0] = bare(&it[0]), Some((2, Break::Differs))),
    (
        "all chains taken out",
        |it| it.iter_mut().for_each(|line| *line = bare(line)),
        Some((1, Break::AllBare)),
    ),
    ("a line removed", |it| drop(it.remove(2)), Some((3, Break::Differs))),
    ("the first line removed", |it| drop(it.remove(0)), Some((1, Break::Differs))),
    ("two lines swapped", |it| it.swap(3, 4), Some((4, Break::Differs))),
    ("a line put in", |it| it.insert(4, it[1].clone()), Some((5, Break::Differs))),
    ("a line put above all", |it| it.insert(0, "{}".to_owned()), Some((2, Break::Differs))),
];

#[test]
fn the_first_line_that_does_not_follow_is_found() {
    for (what, meddle, broken) in MEDDLING {
        let (_world, path) = six();
        let text = fs::read_to_string(&path).expect("text");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        meddle(&mut lines);
        fs::write(&path, lines.join("\n") + "\n").expect("written");
        let found = verdict(&path);
        assert_eq!(found.broken, broken, "{what}");
        assert_eq!(found.head.is_some(), broken.is_none(), "{what}");
    }
}

#[test]
fn lines_cut_off_at_the_end_show_in_the_head_alone() {
    let (_world, path) = six();
    let whole = verdict(&path);
    let text = fs::read_to_string(&path).expect("text");
    let five: String = text.split_inclusive('\n').take(5).collect();
    fs::write(&path, five).expect("written");
    let cut = verdict(&path);
    assert_eq!((cut.broken, cut.since), (None, Some(1)));
    assert_ne!(cut.head, whole.head);
    assert!(cut.head.is_some_and(|it| text.lines().nth(4).is_some_and(|line| line.contains(&it))));
    fs::write(&path, "").expect("written");
    assert_eq!(verdict(&path), Verification { since: None, head: None, broken: None });
}

#[test]
fn what_a_crash_left_of_a_line_is_cut_off_by_whoever_comes_next() {
    let openers: [fn(&Path) -> Journal; 2] = [
        |root| Journal::join(root, origin()).expect("a journal"),
        |root| Journal::open(root, origin()).expect("a journal").0,
    ];
    for open in openers {
        // Bytes of the last line that remain: one, some, all but the line end.
        for left in [1, 40, usize::MAX] {
            let (world, path) = six();
            let text = fs::read_to_string(&path).expect("text");
            let lines: Vec<&str> = text.lines().collect();
            let rest = &lines[5][..left.min(lines[5].len())];
            fs::write(&path, lines[..5].join("\n") + "\n" + rest).expect("written");
            let (lines, ended) = read(&path);
            assert_eq!((lines.len(), ended.is_torn, ended.chain.broken), (5, true, None), "{left}");
            let journal = open(world.path());
            assert_eq!(texts(&path).len(), 5, "{left}");
            journal.log(note("next")).expect("written");
            assert_eq!(texts(&path)[4..], ["text 5", "next"], "{left}");
        }
    }
}

#[test]
fn an_open_journal_goes_on_behind_what_a_crash_of_another_left() {
    let (world, path) = six();
    let journal = Journal::join(world.path(), origin()).expect("a journal");
    journal.log(note("seven")).expect("written");
    let whole = fs::read_to_string(&path).expect("text");
    fs::write(&path, format!("{whole}{{\"v\":1,\"at\":\"20")).expect("written");
    journal.log(note("eight")).expect("written");
    assert_eq!(texts(&path)[6..], ["seven", "eight"]);
}

#[test]
fn the_chain_begins_below_lines_of_before_and_holds_them() {
    let (world, path) = six();
    let text = fs::read_to_string(&path).expect("text");
    let mut old: Vec<String> = text.lines().map(bare).collect();
    // Longer than one block of reading.
    old.push(format!("{{\"long\":\"{}\"}}", "x".repeat(100_000)));
    fs::write(&path, old.join("\n") + "\n").expect("written");
    let journal = Journal::join(world.path(), origin()).expect("a journal");
    journal.commit_all(&[note("seven"), note("eight")]).expect("written");
    let found = verdict(&path);
    assert_eq!((found.since, found.broken), (Some(8), None));
    let (lines, _) = read(&path);
    let readable: Vec<bool> = lines.iter().map(|it| it.event.is_ok()).collect();
    assert_eq!(readable, [true, true, true, true, true, true, false, true, true]);
    let changed = fs::read_to_string(&path).expect("text").replace("text 2", "text 9");
    fs::write(&path, changed).expect("written");
    assert_eq!(verdict(&path).broken, Some((8, Break::Differs)));
}

#[test]
fn a_line_without_a_chain_below_one_with_is_no_longer_trusted() {
    let (world, path) = six();
    let mut text = fs::read_to_string(&path).expect("text");
    text += &format!("{}\n", bare(text.lines().last().expect("a line")));
    fs::write(&path, text).expect("written");
    Journal::join(world.path(), origin()).and_then(|it| it.log(note("next"))).expect("written");
    let (lines, ended) = read(&path);
    assert_eq!((lines.len(), ended.lines), (8, 8));
    assert_eq!(ended.chain.broken, Some((7, Break::Bare)));
}

#[test]
fn a_journal_that_was_put_in_the_place_of_another_is_gone_on_with() {
    let (world, path) = six();
    let journal = Journal::join(world.path(), origin()).expect("a journal");
    journal.log(note("into the old one")).expect("written");
    let (_other, better) = six();
    fs::rename(better, &path).expect("replaced");
    journal.log(note("into the new one")).expect("written");
    assert_eq!(texts(&path)[5..], ["text 6", "into the new one"]);
    fs::remove_file(&path).expect("removed");
    let error = journal.log(note("nowhere")).expect_err("there is none").to_string();
    assert!(error.contains("removed while it was in use"), "{error}");
    assert!(!path.exists(), "a new one would say that nothing had happened before");
}

#[test]
fn many_writers_at_once_make_one_chain() {
    const WRITERS: usize = 4;
    const LINES: usize = 100;
    let world = tempfile::tempdir().expect("a folder");
    let root = world.path();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let journal = Journal::join(root, origin()).expect("a journal");
                for line in 0..LINES {
                    let batch = [note(&format!("{writer} {line}")), note("second")];
                    journal.commit_all(&batch[..1 + line % 2]).expect("written");
                }
            });
        }
    });
    let texts = texts(&Journal::path(root));
    assert_eq!(texts.len(), WRITERS * LINES * 3 / 2);
    for writer in 0..WRITERS {
        let own = texts.iter().filter(|it| it.starts_with(&format!("{writer} ")));
        let wanted: Vec<String> = (0..LINES).map(|line| format!("{writer} {line}")).collect();
        assert!(own.eq(&wanted), "writer {writer}");
    }
    let together =
        texts.windows(2).all(|it| it[1] != "second" || it[0].ends_with(['1', '3', '5', '7', '9']));
    assert!(together, "a batch was torn apart");
}

#[test]
fn a_line_too_long_to_show_is_reported_and_still_part_of_the_chain() {
    let (world, path) = six();
    let journal = Journal::join(world.path(), origin()).expect("a journal");
    journal.log(note(&"x".repeat(17 << 20))).expect("written");
    journal.log(note("next")).expect("written");
    let (lines, ended) = read(&path);
    let unreadable: Vec<(usize, String)> = lines
        .iter()
        .filter_map(|it| Some((it.number, it.event.as_ref().err()?.to_string())))
        .collect();
    assert_eq!(unreadable, [(7, "it is longer than 16 MiB".to_owned())]);
    assert_eq!((ended.lines, ended.chain.broken), (8, None));
}
