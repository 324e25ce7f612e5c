//! The output of a failing test as text for the model.

use std::collections::BTreeSet;

use super::failure_text::without_addresses;
use crate::failures::is_inside;
use crate::prompt_budget::cut_middle;

/// Maximum length of the output, in bytes; the last traceback gets half of it.
const MOST: usize = 2000;
/// First line of a traceback.
const TRACEBACK: &str = "Traceback (most recent call last):";

/// Renders what a test printed and logged, each part once; empty if that is nothing.
pub(super) fn captured_output(output: &str) -> String {
    let output = without_addresses(output);
    let mut seen = BTreeSet::new();
    let mut parts = parts(&output);
    parts.retain(|it| !it[0].trim().is_empty() && seen.insert(it.clone()));
    if parts.is_empty() {
        return String::new();
    }
    format!("\nThe test printed and logged:\n{}", cut(&parts))
}

/// Cuts the parts around the last traceback.
fn cut(parts: &[Vec<&str>]) -> String {
    let text = |parts: &[Vec<&str>]| parts.iter().map(|it| part(it)).collect::<String>();
    let lines = |text: String, most| match text.is_empty() {
        true => text,
        false => format!("{}\n", cut_middle(text.trim_end(), most)),
    };
    let whole = text(parts);
    let last = parts.iter().rposition(|it| is_traceback(it));
    let Some(last) = last.filter(|_| whole.len() > MOST) else { return lines(whole, MOST) };
    let (before, rest) = parts.split_at(last);
    let (traceback, after) = rest.split_at(1);
    lines(text(before), MOST / 4)
        + &lines(text(traceback), MOST / 2)
        + &lines(text(after), MOST / 4)
}

/// Divides output into its tracebacks and single lines.
fn parts(output: &str) -> Vec<Vec<&str>> {
    let mut parts: Vec<Vec<&str>> = Vec::new();
    let mut is_open = false;
    for line in output.lines().map(str::trim_end) {
        match parts.last_mut() {
            Some(traceback) if is_open => traceback.push(line),
            _ => parts.push(vec![line]),
        }
        // A traceback ends with the exception, which is as far left as its first line.
        let margin = |line: &str| line.len() - line.trim_start().len();
        let first = parts.last().map_or("", |it| it[0]);
        let is_first = line.trim_start() == TRACEBACK;
        is_open = is_first || is_open && (line.is_empty() || margin(line) > margin(first));
    }
    parts
}

fn is_traceback(part: &[&str]) -> bool {
    part[0].trim_start() == TRACEBACK
}

fn part(part: &[&str]) -> String {
    match is_traceback(part) {
        true => project_frames(part),
        false => format!("{}\n", part[0]),
    }
}

/// Renders a traceback with the project's frames, or with the last frame if none is the project's.
fn project_frames(traceback: &[&str]) -> String {
    let (first, rest) = traceback.split_first().map_or(("", traceback), |(it, rest)| (*it, rest));
    let frames: Vec<usize> = (0..rest.len()).filter(|it| path(rest[*it]).is_some()).collect();
    let is_own = |line: &str| path(line).is_some_and(is_inside);
    let has_own = rest.iter().any(|it| is_own(it));
    let mut out = format!("{first}\n");
    let (mut is_shown, mut left_out) = (true, 0);
    for (number, line) in rest.iter().enumerate() {
        let is_end = number + 1 == rest.len();
        if path(line).is_some() {
            is_shown = is_own(line) || !has_own && frames.last() == Some(&number);
            left_out += usize::from(!is_shown);
        }
        if (is_shown || is_end) && !is_marker(line) {
            out += &note(std::mem::take(&mut left_out));
            out += &format!("{line}\n");
        }
    }
    out
}

fn note(left_out: usize) -> String {
    match left_out {
        0 => String::new(),
        1 => "  … 1 frame of libraries …\n".to_owned(),
        count => format!("  … {count} frames of libraries …\n"),
    }
}

/// Returns the path of a frame's first line.
fn path(line: &str) -> Option<&str> {
    let (path, rest) = line.trim_start().strip_prefix("File \"")?.split_once('"')?;
    rest.starts_with(", line ").then_some(path)
}

/// Returns whether a line only points at a part of the line above.
fn is_marker(line: &str) -> bool {
    !line.trim().is_empty() && line.trim().bytes().all(|it| it == b'^' || it == b'~')
}
