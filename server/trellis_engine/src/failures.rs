//! Failing tests as short text for the model: one in full, the others with one line each.

use crate::observation::{Failure, Frame, TestRun};
use crate::prompt_budget::cut_middle;

/// Maximum length of the text about a run's failures, in bytes.
pub(crate) const LONGEST: usize = 6000;
/// Maximum length of the line about a failure, in characters.
const LINE: usize = 200;
/// Maximum number of failures that get a line.
const LINES: usize = 10;
/// Number of frames shown of one failure: the first ones and the last ones.
const FIRST: usize = 2;
const LAST: usize = 3;

/// Beginning of a traceback rendered by Python itself.
const NATIVE: &str = "Traceback (most recent call last)";

/// Describes the failures of a run; without failures, its summary and output.
pub fn summarize(run: &TestRun) -> String {
    let cases = run.cases.iter();
    let of_tests = cases.filter_map(|it| Some((Some(it.id.as_str()), it.failure.as_ref()?)));
    let all: Vec<(Option<&str>, &Failure)> =
        run.collection.iter().map(|it| (None, it)).chain(of_tests).collect();
    if all.is_empty() {
        let text = format!("{}\n{}", run.summary(), run.output);
        return cut_middle(text.trim_end(), LONGEST);
    }
    let ran = run.cases.len() + run.collection.len();
    render(&all, ran)
}

/// Renders the first of some failures in full, the others with one line each. `ran`: number of
/// tests that were run.
pub fn render(all: &[(Option<&str>, &Failure)], ran: usize) -> String {
    let Some(((id, first), others)) = all.split_first() else { return String::new() };
    let mut out = String::new();
    if all.len() > 1 {
        out += &format!("{} of {ran} tests fail. The first in full:\n", all.len());
    }
    out += &id.map(|it| format!("{it}\n")).unwrap_or_default();
    out += &cut_middle(&render_full(first), LONGEST);
    if !others.is_empty() {
        out += "\n\nThe others:";
    }
    for (id, failure) in others.iter().take(LINES) {
        let what = id.map(|it| format!("{it}: ")).unwrap_or_default();
        out += &format!("\n- {what}{}", line(failure));
    }
    if others.len() > LINES {
        out += &format!("\n- and {} more", others.len() - LINES);
    }
    out
}

/// Renders a failure as one line: exception and message.
pub(crate) fn line(failure: &Failure) -> String {
    let message = failure.message.lines().next().unwrap_or_default();
    let text = format!("{}: {message}", failure.exception);
    match text.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Renders one failure with the project's frames, with their source and values if the runner shows
/// them.
pub fn render_full(failure: &Failure) -> String {
    let text = failure.traceback.trim_end();
    match entries(text).filter(|it| !it.is_empty()) {
        Some(entries) => first_and_last(entries).join("\n\n"),
        // Python's own rendering names every file by its absolute path, so it is rebuilt from the
        // frames. Tracebacks of other languages are taken as they are.
        None if text.is_empty() || text.contains(NATIVE) => by_frames(failure),
        None => text.to_owned(),
    }
}

/// Keeps the first and the last entries, with a note on the number of those between.
fn first_and_last(mut all: Vec<String>) -> Vec<String> {
    if all.len() > FIRST + LAST {
        let left = all.len() - FIRST - LAST;
        all.splice(FIRST..all.len() - LAST, [format!("[… {left} more of the project's calls …]")]);
    }
    all
}

/// Returns the entries of pytest's own rendering that belong to the project; `None` if the text has
/// another format.
///
/// pytest puts lines of `_ ` between entries, and ends each entry with its place: `path:line:
/// what`. In its short form, used for files that cannot be imported, each entry begins with
/// `path:line: in function`. Paths outside of the project are absolute or lead out of it.
fn entries(traceback: &str) -> Option<Vec<String>> {
    let all = divided_entries(traceback);
    let is_placed = all.iter().any(|it| it.iter().rev().any(|line| place(line).is_some()));
    let said = all.iter().flatten().filter(|it| it.starts_with("E  "));
    let mut own = own(&all);
    // The raised exception may stand in a last entry outside of the project.
    let is_said = own.iter().any(|it| it.lines().any(|it| it.starts_with("E  ")));
    if !is_said {
        own.push(said.copied().collect::<Vec<_>>().join("\n"));
    }
    own.retain(|it| !it.is_empty());
    is_placed.then_some(own)
}

/// Divides pytest's rendering into entries of lines; the lines of the raised exception belong to
/// none and may form one of their own.
pub(crate) fn divided_entries(traceback: &str) -> Vec<Vec<&str>> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    let mut begun: Vec<&str> = Vec::new();
    for line in traceback.trim_end().lines() {
        let is_divider = line.len() > 10
            && line.trim_end().bytes().all(|it| it == b'_' || it == b' ')
            && line.starts_with("_ _");
        let ends = begun.first().is_some_and(|it| is_entry_head(it)) && line.starts_with("E  ");
        if is_divider || is_entry_head(line) || ends {
            all.push(std::mem::take(&mut begun));
        }
        if !is_divider {
            begun.push(line);
        }
    }
    all.push(begun);
    all.retain(|it| it.iter().any(|line| !line.trim().is_empty()));
    all
}

/// Selects the project's entries, each with a note on the number of library entries after it.
fn own(all: &[Vec<&str>]) -> Vec<String> {
    let is_own = |it: &[&str]| {
        let head = it.first().filter(|it| is_entry_head(it)).and_then(|it| place(it));
        head.or_else(|| it.iter().rev().find_map(|line| place(line))).is_none_or(is_inside)
    };
    let text = |it: &Vec<&str>| match is_own(it) {
        true => Some(it.join("\n").trim_matches('\n').to_owned()),
        false => None,
    };
    with_library_counts(all.iter().map(text), "\n\n")
}

/// Returns the project's frames, each with a note on the number of library frames (`None`) after
/// it.
pub(crate) fn with_library_counts(
    frames: impl Iterator<Item = Option<String>>,
    gap: &str,
) -> Vec<String> {
    let (mut own, mut others) = (Vec::new(), 0);
    for it in frames {
        match it {
            Some(text) => {
                close(&mut own, &mut others, gap);
                own.push(text);
            }
            None => others += 1,
        }
    }
    close(&mut own, &mut others, gap);
    own
}

fn close(own: &mut Vec<String>, others: &mut usize, gap: &str) {
    let said = match std::mem::take(others) {
        0 => return,
        1 => "[… 1 frame of libraries …]".to_owned(),
        count => format!("[… {count} frames of libraries …]"),
    };
    match own.last_mut() {
        Some(last) => *last += &format!("{gap}{said}"),
        None => own.push(said),
    }
}

/// Returns whether a line begins an entry of the short form: `path:line: in function`.
fn is_entry_head(line: &str) -> bool {
    place(line).is_some() && line.splitn(3, ':').nth(2).is_some_and(|it| it.starts_with(" in "))
}

/// Returns the path of a line `path:line: what`.
pub(crate) fn place(line: &str) -> Option<&str> {
    let (path, rest) = line.split_once(':')?;
    let (number, _) = rest.split_once(':')?;
    let is_place = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    let is_path = path.starts_with('<') || !path.contains(char::is_whitespace);
    (is_place && is_path && path.contains('.')).then_some(path)
}

/// Returns whether a path in a traceback belongs to the project.
pub(crate) fn is_inside(path: &str) -> bool {
    const OUTSIDE: [&str; 3] = ["/", "..", "<"];
    const FOLDERS: [&str; 4] = ["site-packages", "dist-packages", ".venv", "_pytest"];
    let mut folders = path.split('/').rev().skip(1);
    !OUTSIDE.iter().any(|it| path.starts_with(it)) && !folders.any(|it| FOLDERS.contains(&it))
}

/// Renders a failure from its frames.
fn by_frames(failure: &Failure) -> String {
    let reported = |it: &Frame| {
        let source = it.source.replace('\n', "\n    ");
        format!("{}:{} in {}\n    {source}", it.path, it.line, it.function)
    };
    let mut out = first_and_last(failure.frames.iter().map(reported).collect());
    out.push(format!("{}: {}", failure.exception, failure.message).trim_end().to_owned());
    out.join("\n")
}
