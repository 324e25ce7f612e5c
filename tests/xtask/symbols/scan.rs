//! Finds definitions by a plain-text scan: lines that begin with `class X` or `def X` outside of
//! strings. It uses no parser, so that no server is judged by another's parser.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use lsp::Place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Class,
    Function,
    Method,
    /// A definition inside of a function.
    Local,
}

#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Place of the name.
    pub(crate) place: Place,
    /// The line (from 0) after that of the preceding definition; decorators are in between.
    pub(crate) opens: usize,
}

/// Returns the definitions of a file, in order.
pub(crate) fn definitions(file: &Path, text: &str) -> Vec<Definition> {
    let mut found: Vec<Definition> = Vec::new();
    let mut around: Vec<(usize, Kind)> = Vec::new();
    let mut string = None;
    for (number, line) in lsp::lines(text).into_iter().enumerate() {
        let in_string = string.is_some();
        string = after(line, string);
        let code = line.trim_start();
        if in_string || code.is_empty() || code.starts_with(['#', ')', ']', '}']) {
            continue;
        }
        let indent = line.chars().count() - code.chars().count();
        around.retain(|(outer, _)| *outer < indent);
        if let Some((class, column, name)) = head(code) {
            let kind = kind(class, around.last().map(|it| it.1));
            around.push((indent, kind));
            let place = Place { file: file.to_owned(), line: number, column: indent + column };
            let opens = found.last().map_or(0, |it| it.place.line + 1);
            found.push(Definition { name: name.to_owned(), kind, place, opens });
        }
    }
    found
}

fn kind(class: bool, around: Option<Kind>) -> Kind {
    match around {
        Some(Kind::Function | Kind::Method | Kind::Local) => Kind::Local,
        _ if class => Kind::Class,
        Some(Kind::Class) => Kind::Method,
        None => Kind::Function,
    }
}

/// Returns whether a line defines a class, the name's column after the indentation, and the name.
fn head(code: &str) -> Option<(bool, usize, &str)> {
    let rest = code.strip_prefix("async ").map_or(code, str::trim_start);
    let (class, rest) = match rest.strip_prefix("class ") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix("def ")?),
    };
    let rest = rest.trim_start();
    let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
    let opened = rest[end..].trim_start().starts_with(['(', ':', '[']);
    let column = code.len() - rest.len();
    (end > 0 && opened).then(|| (class, column, &rest[..end]))
}

/// Returns the triple quote that is open after a line.
fn after(line: &str, mut string: Option<&'static str>) -> Option<&'static str> {
    let mut rest = line;
    loop {
        if let Some(quote) = string {
            rest = &rest[closing(rest, quote)?..];
            string = None;
        }
        rest = &rest[rest.find(['"', '\'', '#'])?..];
        let triple = ["\"\"\"", "'''"].into_iter().find(|it| rest.starts_with(it));
        if rest.starts_with('#') {
            return None;
        }
        let single = if rest.starts_with('"') { "\"" } else { "'" };
        let quote = triple.unwrap_or(single);
        rest = &rest[quote.len()..];
        match closing(rest, quote) {
            Some(end) => rest = &rest[end..],
            None => return triple,
        }
    }
}

/// Returns the byte after the quote that closes a string; `None` if the line does not close it.
fn closing(rest: &str, quote: &'static str) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in rest.char_indices() {
        if !escaped && rest[at..].starts_with(quote) {
            return Some(at + quote.len());
        }
        escaped = character == '\\' && !escaped;
    }
    None
}

/// Returns for each name the number of texts in which it occurs as a word.
pub(crate) fn spread<'t>(
    texts: impl Iterator<Item = &'t str>,
    names: &HashSet<&str>,
) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for text in texts {
        let words = text.split(|it: char| !it.is_alphanumeric() && it != '_');
        let found: HashSet<&str> = words.filter(|it| names.contains(it)).collect();
        for name in found {
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Kind, definitions};

    const TEXT: &str = "\
'''Not this:
class Hidden:
'''
x = \"it's\"  # '''
class A(B):
    '''one line'''
    @property
    def ö(self):
        def inner(): pass
        class C: pass
if x:
    async  def top[T](): return \"\"\"
def hidden(): pass
\"\"\"
def no
class D: pass
";

    #[test]
    fn what_begins_a_line_outside_of_strings_is_found() {
        let found = definitions(Path::new("a.py"), TEXT);
        let seen: Vec<_> = (found.iter())
            .map(|it| (it.name.as_str(), it.kind, it.place.line, it.place.column, it.opens))
            .collect();
        let wanted = [
            ("A", Kind::Class, 4, 6, 0),
            ("ö", Kind::Method, 7, 8, 5),
            ("inner", Kind::Local, 8, 12, 8),
            ("C", Kind::Local, 9, 14, 9),
            ("top", Kind::Function, 11, 15, 10),
            ("D", Kind::Class, 15, 6, 12),
        ];
        assert_eq!(seen, wanted);
    }
}
