//! Names and comments of the sources use the words of `server/STYLE.md`.

use std::collections::BTreeSet;
use std::fs;

use crate::tidy::sources;
use crate::world::repository;

/// First words of doc comments that leave out their subject.
const QUESTION_WORDS: [&str; 7] = ["What", "Whether", "Why", "Who", "How", "Where", "Which"];

/// Returns the words in the last column of the style page's table.
fn replaced_words(page: &str) -> BTreeSet<String> {
    let rows = page.lines().filter(|it| it.starts_with("| ") && !it.starts_with("| concept"));
    let last = rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next());
    let words = last.flat_map(|it| it.split(',')).map(|it| it.trim().to_owned());
    words.filter(|it| !it.is_empty()).collect()
}

/// Returns a source with empty string literals.
fn without_literals(source: &str) -> String {
    let bytes = source.as_bytes();
    let (mut out, mut at) = (String::new(), 0);
    while at < source.len() {
        let rest = &source[at..];
        let end = match bytes[at] {
            b'/' if rest.starts_with("//") => rest.find('\n').map_or(source.len(), |it| at + it),
            b'"' => {
                out.push_str("\"\"");
                at = literal_end(source, at);
                continue;
            }
            b'r' if is_raw(source, at) => {
                at = raw_end(source, at);
                continue;
            }
            b'\'' if rest.starts_with("'\"'") => at + 3,
            b'\'' if rest.starts_with("'\\") => {
                rest[2..].find('\'').map_or(at + 2, |it| at + it + 3)
            }
            _ => at + rest.chars().next().map_or(1, char::len_utf8),
        };
        out.push_str(&source[at..end]);
        at = end;
    }
    out
}

fn literal_end(source: &str, start: usize) -> usize {
    let mut is_escaped = false;
    for (at, it) in source[start + 1..].char_indices() {
        match it {
            '"' if !is_escaped => return start + 1 + at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    source.len()
}

fn is_raw(source: &str, at: usize) -> bool {
    let is_within = source[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_');
    let rest = source[at + 1..].trim_start_matches('#');
    // `br"…"` has a letter before it.
    (!is_within || source[..at].ends_with('b')) && rest.starts_with('"')
}

fn raw_end(source: &str, at: usize) -> usize {
    let hashes = source[at + 1..].bytes().take_while(|it| *it == b'#').count();
    let close = format!("\"{}", "#".repeat(hashes));
    let from = at + hashes + 2;
    source[from..].find(&close).map_or(source.len(), |it| from + it + close.len())
}

/// Returns the words of a text in lower case; a name is split into its words.
fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut before = ' ';
    for it in text.chars() {
        let begins = !before.is_alphabetic() || (it.is_uppercase() && before.is_lowercase());
        if it.is_alphabetic() {
            if begins || out.is_empty() {
                out.push(String::new());
            }
            out.last_mut().expect("a word").extend(it.to_lowercase());
        }
        before = it;
    }
    out
}

#[test]
fn sources_use_the_words_of_the_style_page() {
    let root = repository();
    let page = fs::read_to_string(root.join("server/STYLE.md")).expect("the style page");
    let replaced = replaced_words(&page);
    assert!(replaced.len() > 15, "{replaced:?}");
    let mut hits = Vec::new();
    for path in sources(&root.join("server")) {
        let text = without_literals(&fs::read_to_string(&path).expect("text"));
        for (number, line) in text.lines().enumerate() {
            for word in words(line).into_iter().filter(|it| replaced.contains(it)) {
                hits.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    }
    assert!(hits.is_empty(), "{} places, see server/STYLE.md:\n{}", hits.len(), hits.join("\n"));
}

/// Returns whether a file's comments are descriptions for people: on the wire or in `--help`.
fn is_described(text: &str) -> bool {
    ["JsonSchema", "clap::"].iter().any(|it| text.contains(it))
}

#[test]
fn doc_comments_name_their_subject() {
    let mut hits = Vec::new();
    for path in sources(&repository().join("server")) {
        let text = fs::read_to_string(&path).expect("text");
        if is_described(&text) {
            continue;
        }
        let mut before = "";
        for (number, line) in text.lines().map(str::trim_start).enumerate() {
            let begins = ["/// ", "//! "].iter().find_map(|it| line.strip_prefix(it));
            let is_first = !before.starts_with("//");
            before = line;
            let first = begins.and_then(|it| it.split(' ').next()).unwrap_or_default();
            if is_first && QUESTION_WORDS.contains(&first) {
                hits.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(hits.is_empty(), "{} comments:\n{}", hits.len(), hits.join("\n"));
}

#[test]
fn a_word_is_found_in_names_and_comments_and_in_no_literal() {
    let table = [
        ("struct OldDoor;", true),
        ("let at_door = 1;", true),
        ("// Behind the door.", true),
        ("let indoors = \"a door\";", false),
        ("let quote = '\"'; let door = 1;", true),
        ("let it = r#\"a \"door\"\"#;", false),
        ("let it = \"\\\"door\\\"\";", false),
    ];
    for (source, is_found) in table {
        let found = words(&without_literals(source)).iter().any(|it| it == "door");
        assert_eq!(found, is_found, "{source}");
    }
    assert_eq!(replaced_words("| a | b | c, d |\n| concept | word | not |\n| e | f | |").len(), 2);
}
