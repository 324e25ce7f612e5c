//! Files beside the code that name its symbols: settings, documentation, templates, notebooks.
//!
//! They are not analyzed. A search looks for the words of a name in their texts.

use memchr::memmem;

use super::{FileId, Index};
use crate::semantics::{MODULE, Name, Occurrence, Quoted, Role};

/// Kind of a document, which decides where it names symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    /// Dotted paths anywhere: entry points, tasks, log settings, commands; fixtures in `usefixtures`;
    /// code in command lines.
    Settings,
    /// Code in marks, in blocks and in examples.
    Prose,
    /// Between the braces of a template language.
    Template,
    /// Code in JSON strings.
    Notebook,
}

/// Names of files with command lines.
const COMMANDS: [&str; 7] =
    ["Makefile", "makefile", "GNUmakefile", "Dockerfile", "Containerfile", "Procfile", "justfile"];

impl DocumentKind {
    /// Returns the kind of a file by the ending of its name; `None` if it is no document.
    pub(crate) fn of(path: &str) -> Option<DocumentKind> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if COMMANDS.contains(&name) || name.starts_with("Dockerfile.") {
            return Some(DocumentKind::Settings);
        }
        Some(match name.rsplit_once('.')?.1 {
            "toml" | "cfg" | "ini" | "yaml" | "yml" => DocumentKind::Settings,
            "sh" | "bash" | "mk" | "dockerfile" => DocumentKind::Settings,
            "md" | "rst" | "txt" => DocumentKind::Prose,
            "html" | "htm" | "j2" | "jinja" | "jinja2" | "mako" => DocumentKind::Template,
            "ipynb" => DocumentKind::Notebook,
            _ => return None,
        })
    }
}

/// Returns whether a file may name symbols of Python code without being Python code itself.
pub fn is_document(path: &str) -> bool {
    DocumentKind::of(path).is_some()
}

impl Index {
    /// Returns the documents in order of arrival.
    pub fn documents(&self) -> impl Iterator<Item = FileId> + '_ {
        self.all_files().filter(|it| self.document(*it).is_some())
    }

    /// Returns the kind of a document; `None` for a file with Python code.
    pub(crate) fn document(&self, file: FileId) -> Option<DocumentKind> {
        self.get(file)?.document
    }

    /// Returns the places at which a document names one of some names.
    pub(crate) fn mentions(&self, file: FileId, names: &[Name]) -> Vec<Occurrence> {
        let (Some(kind), Some(text)) = (self.document(file), self.text(file)) else {
            return Vec::new();
        };
        let of = |name: &Name| {
            let words = whole_words(&text, name.text());
            let found = words.filter_map(|at| mention(&text, kind, *name, at));
            found.collect::<Vec<_>>()
        };
        let mut found: Vec<Occurrence> = names.iter().flat_map(of).collect();
        found.sort_unstable_by_key(|it| it.at);
        found
    }
}

fn whole_words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    memmem::find_iter(text.as_bytes(), word).filter(move |at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Returns the mention at an offset, if the kind of document names symbols there.
fn mention(text: &str, kind: DocumentKind, name: Name, at: usize) -> Option<Occurrence> {
    let length = name.text().len();
    let rule = match kind {
        DocumentKind::Settings => path_around(text, at, length)
            .or_else(|| is_fixture(text, at).then_some(Quoted::Fixture))
            .or_else(|| is_imported(text, at).then_some(Quoted::Mention(kind)))?,
        DocumentKind::Prose if is_code(text, at) => Quoted::Mention(kind),
        DocumentKind::Template if is_expression(text, at) => Quoted::Mention(kind),
        DocumentKind::Notebook => Quoted::Mention(kind),
        _ => return None,
    };
    let (at, length) = (at as u32, length as u32);
    Some(Occurrence { at, length, name, role: Role::Quoted(rule), scope: MODULE })
}

/// Returns the dotted path around a word, up to the word; `None` if it has no other part.
fn path_around(text: &str, at: usize, length: usize) -> Option<Quoted> {
    let is_part = |c: char| is_word(c) || matches!(c, '.' | ':');
    let start = text[..at].rfind(|c| !is_part(c)).map_or(0, |it| it + 1);
    let start = text.ceil_char_boundary(start);
    let end = at + length;
    let rest = text[end..].find(|c| !is_part(c)).map_or(text.len(), |it| end + it);
    let path = text[start..end].replace(':', ".");
    let is_last = !text[end..rest].starts_with(['.', ':']) || text[end..rest].ends_with(':');
    let is_path = path.contains('.') && path.split('.').all(|it| !it.is_empty());
    is_path.then(|| Quoted::Path(Name::of(&path), is_last))
}

/// Returns whether an offset of settings is behind an import of Python, as in
/// `python -c "from m import name; name()"`.
fn is_imported(text: &str, at: usize) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let before = &text[start..at];
    let is_statement = before.trim_start().starts_with("from ");
    let is_command = before.contains("python") || before.contains("-c ");
    before.contains("import ") && (is_statement || is_command)
}

/// Returns whether an offset of settings is in the value of pytest's `usefixtures`: names in lines, or
/// strings in brackets.
fn is_fixture(text: &str, at: usize) -> bool {
    const KEY: &str = "usefixtures";
    let Some(key) = text[..at].rfind(KEY) else { return false };
    let start = text[..key].rfind('\n').map_or(0, |it| it + 1);
    let Some(value) = text[key + KEY.len()..at].trim_start().strip_prefix('=') else {
        return false;
    };
    let is_list = value.trim_start().starts_with('[');
    let may_be = |c: char| is_word(c) || c.is_whitespace() || "\"',[#".contains(c);
    let is_inside = |it: &str| is_list || it.starts_with([' ', '\t']);
    text[start..key].trim().is_empty()
        && value.chars().all(may_be)
        && value.split('\n').skip(1).all(is_inside)
}

/// Returns whether an offset of a text in Markdown or reStructuredText is in code: between back
/// quotes, in an indented or fenced block, or in an example.
fn is_code(text: &str, at: usize) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let line = &text[start..text[at..].find('\n').map_or(text.len(), |it| at + it)];
    // Code stands between runs of one, two or more quotes.
    let runs = text[start..at].split(|c| c != '`').filter(|it| !it.is_empty()).count();
    let is_marked = runs % 2 == 1;
    let is_block = line.starts_with("    ") || line.starts_with('\t') || line.starts_with(">>>");
    let is_directive = line.trim_start().starts_with(".. ") || line.starts_with("::: ");
    is_marked || is_block || is_directive || is_fenced(&text[..start]) || is_literal(text, start)
}

/// Directives of reStructuredText whose lines are code or names.
const CODE_DIRECTIVES: [&str; 9] = [
    "code",
    "code-block",
    "sourcecode",
    "ipython",
    "doctest",
    "testcode",
    "testsetup",
    "autosummary",
    "parsed-literal",
];

/// Returns whether the line at an offset is in a literal block of reStructuredText: below a line that
/// ends with `::`, or that is a directive for code, and further in.
fn is_literal(text: &str, line: usize) -> bool {
    let margin = |it: &str| it.len() - it.trim_start().len();
    let mut within = margin(text[line..].lines().next().unwrap_or_default());
    for above in text[..line].lines().rev().filter(|it| !it.trim().is_empty()) {
        if within == 0 {
            return false;
        }
        if margin(above) < within {
            within = margin(above);
            if let Some(is_code) = opens_code(above.trim()) {
                return is_code;
            }
        }
    }
    false
}

/// Returns whether a line opens a block of code; `None` if it opens no block.
fn opens_code(line: &str) -> Option<bool> {
    match line.strip_prefix(".. ") {
        Some(directive) => {
            let name = directive.split("::").next().unwrap_or_default();
            Some(CODE_DIRECTIVES.contains(&name))
        }
        None => line.ends_with("::").then_some(true),
    }
}

fn is_fenced(before: &str) -> bool {
    let is_fence =
        |line: &&str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    before.lines().filter(is_fence).count() % 2 == 1
}

/// Returns whether an offset is between the braces of a template language.
fn is_expression(text: &str, at: usize) -> bool {
    let opened = ["{{", "{%", "${"].iter().filter_map(|it| text[..at].rfind(it)).max();
    let closed = ["}}", "%}", "}"].iter().filter_map(|it| text[..at].rfind(it)).max();
    opened.is_some_and(|it| closed.is_none_or(|closed| closed < it))
}
