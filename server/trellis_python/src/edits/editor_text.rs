//! Compares and converts texts as editors hold them: without a byte order mark, with one kind of
//! line end.

use super::hunks::hunks;

const MARK: char = '\u{feff}';

/// Returns whether an editor without unsaved changes holds the text `shown` for the file text
/// `text`. If a file has several kinds of line ends, editors normalize them to one.
pub fn is_shown_as(text: &str, shown: &str) -> bool {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    let (here, there) = (lines(text), lines(shown));
    let is_same = || here.iter().map(|it| it.0).eq(there.iter().map(|it| it.0));
    text == shown || is_mixed(&here) && !is_mixed(&there) && is_same()
}

/// Returns a text edited in an editor with the byte order mark and the line ends of `source`. A
/// changed line keeps the line end of the line it replaces; an added line takes the line end of the
/// line before it.
pub fn with_ends_of(source: &str, edited: &str) -> String {
    let (mark, source) = source.split_at(source.len() - source.trim_start_matches(MARK).len());
    let edited = edited.trim_start_matches(MARK);
    let (before, after) = (lines(source), lines(edited));
    let mut last = before.first().map_or("", |it| it.1);
    let mut out = String::with_capacity(source.len().max(edited.len()));
    out.push_str(mark);
    let mut push = |line: &str, end: &'_ str| {
        // `\r` followed by `\n` would read as one line end.
        let is_one = line.is_empty() && end == "\n" && out.ends_with('\r');
        out.push_str(line);
        out.push_str(if is_one { "\r" } else { end });
    };
    let mut done = 0;
    for hunk in hunks(&plain(&before), &plain(&after)) {
        for (line, end) in &before[done..hunk.old_lines.start] {
            push(line, end);
            last = end;
        }
        let mut gone = before[hunk.old_lines.clone()].iter();
        for (line, own) in &after[hunk.new_lines] {
            let end = gone.next().map_or(last, |it| it.1);
            let end = [end, last, own].into_iter().find(|it| !it.is_empty()).unwrap_or("");
            // The last line of a text has no line end.
            push(line, if own.is_empty() { "" } else { end });
            last = end;
        }
        done = hunk.old_lines.end;
    }
    before[done..].iter().for_each(|(line, end)| push(line, end));
    out
}

/// Splits a text into lines and their line ends as editors do. The last line has an empty line end.
fn lines(text: &str) -> Vec<(&str, &str)> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest.as_bytes()) {
        let length = if rest[at..].starts_with("\r\n") { 2 } else { 1 };
        all.push((&rest[..at], &rest[at..at + length]));
        rest = &rest[at + length..];
    }
    all.push((rest, ""));
    all
}

fn is_mixed(lines: &[(&str, &str)]) -> bool {
    let mut ends = lines.iter().map(|it| it.1).filter(|it| !it.is_empty());
    let first = ends.next();
    ends.any(|it| Some(it) != first)
}

fn plain(lines: &[(&str, &str)]) -> String {
    lines.iter().map(|it| it.0).collect::<Vec<_>>().join("\n")
}
