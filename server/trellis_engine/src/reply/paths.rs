//! Paths of files in the lines of a reply.

/// Endings of files that a model may write.
const ENDINGS: [&str; 54] = [
    "py",
    "pyi",
    "pyx",
    "pxd",
    "ipynb",
    "js",
    "jsx",
    "mjs",
    "cjs",
    "ts",
    "tsx",
    "vue",
    "json",
    "jsonl",
    "go",
    "mod",
    "sum",
    "rs",
    "c",
    "h",
    "cpp",
    "java",
    "html",
    "htm",
    "css",
    "scss",
    "md",
    "rst",
    "adoc",
    "txt",
    "toml",
    "lock",
    "yaml",
    "yml",
    "cfg",
    "conf",
    "ini",
    "properties",
    "sql",
    "xml",
    "svg",
    "csv",
    "tsv",
    "sh",
    "bash",
    "bat",
    "ps1",
    "j2",
    "jinja",
    "jinja2",
    "in",
    "template",
    "proto",
    "graphql",
];

/// Names of files without an ending.
const NAMES: [&str; 12] = [
    "Makefile",
    "makefile",
    "Dockerfile",
    "Containerfile",
    "Procfile",
    "Pipfile",
    "Justfile",
    "justfile",
    "LICENSE",
    "README",
    "CHANGELOG",
    "AUTHORS",
];

/// Words that may stand before a path.
const LABELS: [&str; 7] =
    ["file:", "path:", "filename:", "file name:", "filepath:", "file path:", "in file"];

/// Marks around a path.
const MARKS: [char; 6] = ['`', '*', ':', '"', '\'', ' '];

/// Returns the path in a line that holds nothing else but marks, a label and a note around it:
/// `### 1. File: **a/b.py** (new file)`.
pub(super) fn path_of(line: &str) -> Option<String> {
    let bare = without_lead(line.trim());
    let bare = bare.trim_end_matches("-->").trim_matches(MARKS);
    let lower = bare.to_lowercase();
    let label = LABELS.iter().find(|it| lower.starts_with(**it)).map_or(0, |it| it.len());
    let bare = bare.get(label..)?.trim_matches(MARKS);
    let bare = bare.split_once(" (").filter(|it| it.1.ends_with(')')).map_or(bare, |it| it.0);
    path(without_lines(bare.trim_matches(MARKS)))
}

/// Returns the paths among the words of a line.
pub(super) fn paths_in(line: &str) -> Vec<String> {
    let words = line.split(|c: char| c.is_whitespace() || "`\"'()[]<>,;".contains(c));
    let words = words.map(|it| it.trim_matches(['*', ':']).trim_end_matches(['.', '!', '?', ':']));
    let mut all: Vec<String> = words.filter_map(path).collect();
    all.sort();
    all.dedup();
    all
}

/// Returns a word as a path with `/`, if it looks like one.
pub(super) fn path(word: &str) -> Option<String> {
    let is_odd = |c: char| c.is_whitespace() || "`\"'<>|".contains(c);
    if word.is_empty() || word.contains(is_odd) || word.contains("://") || word.contains("::") {
        return None;
    }
    let word = if word.contains('/') { word.to_owned() } else { word.replace('\\', "/") };
    let name = word.rsplit('/').next()?;
    let ending = name.rsplit_once('.').filter(|it| !it.0.is_empty()).map(|it| it.1);
    let is_hidden = name.len() > 1 && name.starts_with('.') && !name.starts_with("..");
    let looks =
        ending.is_some_and(|it| ENDINGS.contains(&it)) || NAMES.contains(&name) || is_hidden;
    looks.then(|| word.trim_start_matches("./").to_owned())
}

/// Removes the marks of headings, lists, comments and quotations, and numbers of a list.
fn without_lead(line: &str) -> &str {
    let mut line = line;
    loop {
        let rest = line.trim_start_matches("<!--").trim_start_matches("//");
        let rest = rest.trim_start_matches('#').trim_start();
        let rest = ["- ", "* ", "+ ", "> "].iter().find_map(|it| rest.strip_prefix(it));
        let rest = rest.unwrap_or(line.trim_start_matches("<!--").trim_start_matches("//"));
        let rest = rest.trim_start_matches('#').trim_start();
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = digits.len() < rest.len() && digits.starts_with([')', '.']);
        let rest = match is_numbered && digits[1..].starts_with(' ') {
            true => digits[1..].trim_start(),
            false => rest,
        };
        if rest == line {
            return line;
        }
        line = rest;
    }
}

/// Removes numbers of lines behind a path: `a.py:3-7`.
fn without_lines(text: &str) -> &str {
    let numbers =
        |it: &str| !it.is_empty() && it.chars().all(|c| c.is_ascii_digit() || "-, ".contains(c));
    text.rsplit_once(':').filter(|it| numbers(it.1)).map_or(text, |it| it.0)
}
