//! All texts for people are plain English: no translated phrases, no private words.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::repository;

/// Unwanted words, with their replacements.
const WORDS: &[(&str, &str)] = &[
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("mending", "fixing"),
    ("anew", "again"),
    ("is told", "is reported, is shown"),
    ("are told", "are reported, see"),
    ("tells", "shows, says"),
    ("take back", "undo, remove"),
    ("takes back", "undoes, removes"),
    ("takes it back", "undoes it"),
    ("taken back", "undone, removed"),
    ("took back", "undid, removed"),
    ("stands", "is"),
    ("of this machine", "on this machine, local"),
    ("grow", "generate"),
    ("grows", "generates"),
    ("grown", "generated"),
    ("growing", "generating"),
    ("sidecar", "Trellis server"),
    ("a person is needed", "needs your review"),
    ("a person has to", "you"),
    ("a person decides", "you decide"),
    ("waits for a person", "needs your review"),
    ("wait for a person", "need your review"),
    ("in work", "running"),
    ("at work", "running"),
    ("not yet begun", "pending"),
    ("lie in", "are in"),
    ("lies in", "is in"),
    ("held by", "mitigated by"),
    ("held off", "prevented"),
    ("for want of", "because … is missing"),
    ("go on", "continue, resume"),
    ("goes on", "continues, resumes"),
    ("going on", "continuing"),
    ("went on", "continued"),
    ("that did not work", "the action that failed"),
    ("should be otherwise", "should change"),
    ("is called so", "with that name"),
    ("to be had", "available"),
    ("in vain", "without success"),
    ("nobody", "no one, or who"),
    ("as often as there are", "repeatable"),
    ("made good", "fixed"),
    ("what came of", "the result of"),
    ("what comes of", "the result of"),
    ("came of it", "the result"),
    ("door", "workflow, command"),
    ("doors", "workflows, commands"),
    ("whose key", "which key"),
    ("difference of texts", "diff"),
];

/// Maximum words of a sentence in the pages that are read first.
const LONGEST: usize = 30;

/// A place and its text.
pub(crate) type Text = (String, String);

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() && !matches!(name.as_str(), "node_modules" | "dist" | "demo" | "book")
            {
                left.push(path);
            } else if name.ends_with(ending) {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// Returns the prose of a page, without code and link targets.
fn prose(page: &str) -> String {
    let mut out = String::new();
    let mut is_code = false;
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence {
            out.push('\n');
            continue;
        }
        for (number, part) in line.split('`').enumerate() {
            out += if number % 2 == 0 { part } else { "CODE" };
        }
        out.push('\n');
    }
    out
}

fn pages() -> Vec<Text> {
    let root = repository();
    let mut paths =
        ["README.md", "CHANGELOG.md", "server/SECURITY.md"].map(|it| root.join(it)).to_vec();
    for folder in ["server/docs", "fixtures/examples", ".github"] {
        paths.extend(files(&root.join(folder), ".md"));
    }
    paths.extend(["extension/README.md", "extension/CHANGELOG.md"].map(|it| root.join(it)));
    let text = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (path.strip_prefix(&root).expect("inside").display().to_string(), prose(&text))
    };
    paths.iter().map(text).collect()
}

/// Returns names and descriptions of commands, settings and views, and every message of the
/// extension.
fn of_the_extension() -> Vec<Text> {
    let folder = repository().join("extension");
    let names: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("package.nls.json")).expect("names"))
            .expect("JSON");
    let mut out: Vec<Text> = (names.as_object().expect("an object").iter())
        .map(|(key, text)| {
            (format!("package.nls.json {key}"), text.as_str().unwrap_or_default().to_owned())
        })
        .collect();
    for path in files(&folder.join("src"), ".ts") {
        let text = fs::read_to_string(&path).expect("text");
        for call in text.split("l10n.t(").skip(1) {
            let call = call.trim_start();
            let Some(quote) = call.chars().next().filter(|it| matches!(it, '"' | '\'' | '`'))
            else {
                continue;
            };
            let said = call[1..].split(quote).next().unwrap_or_default();
            out.push((path.display().to_string(), said.to_owned()));
        }
    }
    out
}

/// Sources whose texts only models read.
const FOR_MODELS: &[&str] = &[
    "server/trellis_engine/src/prompt_budget.rs",
    "server/trellis_engine/src/node/debug.rs",
    "server/trellis_engine/src/prompt/",
    "server/trellis_workflows/src/tools/",
];

/// Sources whose texts only tests or the sandbox read.
const FOR_TESTS: &[&str] = &[
    "server/trellis_sandbox/src/local/namespaces.rs",
    "server/trellis_workflows/src/generate/recover_tests.rs",
];

/// Returns literals of more than one word in the program's sources, without tests.
pub(crate) fn of_the_program() -> Vec<Text> {
    let root = repository();
    let mut out = Vec::new();
    for path in files(&root.join("server"), ".rs") {
        let shown = path.strip_prefix(&root).expect("inside").display().to_string();
        let is_other = shown.contains("/tests") || shown.contains("/benches/");
        if is_other || [FOR_MODELS, FOR_TESTS].concat().iter().any(|it| shown.starts_with(it)) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        let production = text.split("#[cfg(test)]\nmod").next().unwrap_or(&text);
        out.extend(
            literals(production).into_iter().map(|(line, it)| (format!("{shown}:{line}"), it)),
        );
    }
    out
}

/// Returns string literals with a space in them, each with its line.
fn literals(source: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    let mut characters = source.chars().peekable();
    let (mut line, mut before) = (1, ' ');
    while let Some(it) = characters.next() {
        match it {
            '\n' => line += 1,
            '/' if characters.peek() == Some(&'/') => {
                for skipped in characters.by_ref() {
                    if skipped == '\n' {
                        line += 1;
                        break;
                    }
                }
            }
            '"' if before != '\'' => {
                let (start, mut text) = (line, String::new());
                while let Some(inner) = characters.next() {
                    match inner {
                        '"' => break,
                        '\\' => {
                            let escaped = characters.next().unwrap_or_default();
                            if escaped == '\n' {
                                line += 1;
                                while characters.peek().is_some_and(|it| it.is_whitespace()) {
                                    line += usize::from(characters.next() == Some('\n'));
                                }
                            } else {
                                text.push(' ');
                            }
                        }
                        inner => {
                            line += usize::from(inner == '\n');
                            text.push(inner);
                        }
                    }
                }
                if text.contains(' ') {
                    out.push((start, text));
                }
            }
            _ => {}
        }
        before = it;
    }
    out
}

/// Returns the words of the list that a text contains.
fn found(text: &str) -> Vec<String> {
    let text =
        format!(" {} ", text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" "));
    let is_edge =
        |it: Option<char>| it.is_none_or(|it| !it.is_alphanumeric() && it != '_' && it != '-');
    let mut out: Vec<String> = (WORDS.iter())
        .filter(|(word, _)| {
            text.match_indices(&word.to_lowercase()).any(|(at, it)| {
                is_edge(text[..at].chars().next_back())
                    && is_edge(text[at + it.len()..].chars().next())
            })
        })
        .map(|(word, instead)| format!("\"{word}\" (write: {instead})"))
        .collect();
    for (no, instead) in [(" is no ", "is not a"), (" are no ", "are not")] {
        let is_odd = text.match_indices(no).any(|(at, it)| {
            let before = text[..at].rsplit(' ').next().unwrap_or_default();
            let after = text[at + it.len()..].split(' ').next().unwrap_or_default();
            !matches!(before, "there" | "where") && !matches!(after, "longer" | "more" | "less")
        });
        if is_odd {
            out.push(format!("\"{}\" (write: {instead})", no.trim()));
        }
    }
    out
}

/// Returns paragraphs, and rows of tables.
fn parts(text: &str) -> Vec<&str> {
    let whole = |it: &&str| !it.starts_with('|');
    let (paragraphs, tables): (Vec<&str>, Vec<&str>) = text.split("\n\n").partition(whole);
    paragraphs.into_iter().chain(tables.into_iter().flat_map(str::lines)).collect()
}

fn assert_plain(texts: &[Text]) {
    let hits: Vec<String> = texts
        .iter()
        .flat_map(|(place, text)| parts(text).into_iter().map(move |it| (place, it)))
        .flat_map(|(place, text)| {
            found(text).into_iter().map(move |it| format!("{place}: {it}\n    {}", text.trim()))
        })
        .collect();
    assert!(hits.is_empty(), "{} texts are not plain:\n{}", hits.len(), hits.join("\n"));
}

#[test]
fn pages_are_in_plain_english() {
    assert_plain(&pages());
}

#[test]
fn the_extension_speaks_plain_english() {
    let texts = of_the_extension();
    assert!(texts.len() > 200, "{}", texts.len());
    assert_plain(&texts);
}

#[test]
fn the_program_speaks_plain_english() {
    let texts = of_the_program();
    assert!(texts.len() > 1000, "{}", texts.len());
    assert_plain(&texts);
}

#[test]
fn a_word_of_the_list_is_found_and_others_are_not() {
    let table = [
        ("Mend the line.", true),
        ("An amendment is commended.", false),
        ("this is no file", true),
        ("there is no file, and it is no longer there", false),
        ("the work goes\non", true),
        ("names like nobody_else", false),
    ];
    for (text, is_found) in table {
        assert_eq!(!found(text).is_empty(), is_found, "{text}");
    }
}

#[test]
fn what_is_read_first_has_short_sentences() {
    let root = repository();
    for path in ["README.md", "server/docs/getting-started.md"] {
        let text = prose(&fs::read_to_string(root.join(path)).expect("a page"));
        for sentence in sentences(&text) {
            let count = sentence.split_whitespace().count();
            assert!(count <= LONGEST, "{path}: {count} words: {sentence}");
        }
    }
}

/// Returns the sentences of paragraphs and items, without tables and headings.
fn sentences(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut paragraph = String::new();
    for line in text.lines().chain([""]) {
        let line = line.trim();
        let is_item = line.starts_with("- ") || line.starts_with(|it: char| it.is_ascii_digit());
        if line.is_empty() || is_item || line.starts_with(['|', '#', '!', '<']) {
            out.extend(std::mem::take(&mut paragraph).split_inclusive(['.', ':', '?']).fold(
                Vec::new(),
                |mut all: Vec<String>, part| {
                    match all.last_mut() {
                        // A point inside a name or a number ends no sentence.
                        Some(last) if !part.starts_with([' ', '*', ')']) => last.push_str(part),
                        _ => all.push(part.to_owned()),
                    }
                    all
                },
            ));
        }
        if !line.starts_with(['|', '#', '!', '<']) {
            paragraph.push(' ');
            paragraph.push_str(line);
        }
    }
    out
}
