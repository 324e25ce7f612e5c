//! The failure of one test as text for the model: what was raised, the compared values, and the
//! project's calls on the way there.

use super::captured_output::captured_output;
use super::locals::{Local, locals};
use crate::failures::{line, render_full};
use crate::observation::{ComparedValues, Failure, Frame, LibraryFrames};
use crate::prompt_budget::cut_middle;

/// Maximum length of the exception's message, in bytes.
const MESSAGE: usize = 4000;
/// Lines of test runners on how to see more.
const HINTS: [&str; 2] = ["Use -v to get", "...Full output truncated"];
/// Maximum length of a compared value, in bytes.
const VALUE: usize = 2500;
/// Length of values from which on their first difference is pointed out, in characters.
const LONG: usize = 120;
/// Number of characters shown on each side of the first difference.
const AROUND: usize = 80;
/// Number of frames shown of a deep stack: the first and the last ones.
const FIRST: usize = 3;
const LAST: usize = 8;
/// Maximum number of local variables of a frame.
const LOCALS: usize = 10;
/// Maximum number of other failing tests that get a line.
const OTHERS: usize = 10;

/// Renders the failure of a test, and one line for each of the `others`.
pub fn failure_text(id: &str, failure: &Failure, others: &[(&str, &Failure)]) -> String {
    let mut out = format!("{id}\n{}", raised(failure));
    out += &failure.compared.as_ref().map_or_else(String::new, |it| compared(it, failure));
    out += &calls(failure);
    out += &captured_output(&failure.output);
    if !others.is_empty() {
        out += "\nThese tests fail too, it seems for the same cause:\n";
    }
    for (id, failure) in others.iter().take(OTHERS) {
        out += &format!("- {id}: {}\n", line(failure));
    }
    if others.len() > OTHERS {
        out += &format!("- and {} more\n", others.len() - OTHERS);
    }
    without_addresses(&out)
}

fn raised(failure: &Failure) -> String {
    let is_hint = |it: &&str| {
        let it = it.trim();
        HINTS.iter().any(|hint| it.starts_with(hint)) || it.ends_with("to None to see it.")
    };
    let message: Vec<&str> = failure.message.lines().filter(|it| !is_hint(it)).collect();
    let text = format!("{}: {}", failure.exception, message.join("\n"));
    format!("{}\n", cut_middle(text.trim_end().trim_end_matches(':'), MESSAGE))
}

/// Renders both sides of a comparison, unless the message shows them.
fn compared(it: &ComparedValues, failure: &Failure) -> String {
    let is_shown = |value: &String| failure.message.contains(value.as_str());
    let mut out = String::new();
    if !(is_shown(&it.left) && is_shown(&it.right)) {
        out += &format!("\nLeft of `{}`:\n{}\n", it.operator, cut_middle(&it.left, VALUE));
        out += &format!("Right of it:\n{}\n", cut_middle(&it.right, VALUE));
    }
    out + &first_difference(it).unwrap_or_default()
}

/// Renders the surroundings of the first difference between two long values.
fn first_difference(it: &ComparedValues) -> Option<String> {
    let (left, right): (Vec<char>, Vec<char>) =
        (it.left.chars().collect(), it.right.chars().collect());
    if it.operator != "==" || left.len().min(right.len()) < LONG {
        return None;
    }
    let at = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let near = |value: &[char]| -> String {
        let (from, to) = (at.saturating_sub(AROUND), (at + AROUND).min(value.len()));
        let (before, after) =
            (["", "…"][usize::from(from > 0)], ["", "…"][usize::from(to < value.len())]);
        format!("{before}{}{after}", value[from.min(to)..to].iter().collect::<String>())
    };
    let (left, right) = (near(&left), near(&right));
    Some(format!("\nThey differ from character {at} on:\n  left:  {left}\n  right: {right}\n"))
}

/// Renders the project's frames with their source lines and local variables.
fn calls(failure: &Failure) -> String {
    let count = failure.frames.len();
    if count == 0 {
        // Without frames, the runner's own text says where it was.
        let text = cut_middle(render_full(failure).trim(), MESSAGE);
        return if text.is_empty() { text } else { format!("\n{text}\n") };
    }
    let locals = locals(&failure.traceback);
    let mut out = "\nThe project's calls, outermost first:\n".to_owned();
    for (number, it) in failure.frames.iter().enumerate() {
        out += &libraries(failure, number);
        if count > FIRST + LAST && number == FIRST {
            out += &format!("… {} more of the project's calls …\n", count - FIRST - LAST);
        }
        if number < FIRST || number + LAST >= count {
            out += &call(it, locals.get(&(it.path.clone(), it.line)));
        }
    }
    out + &libraries(failure, count)
}

fn call(it: &Frame, locals: Option<&Vec<Local>>) -> String {
    let source = it.source.replace('\n', "\n    ");
    let mut out = format!("{}:{} in {}\n", it.path, it.line, it.function);
    if !source.is_empty() {
        out += &format!("    {source}\n");
    }
    out + &with_locals(&it.source, locals.map_or(&[], Vec::as_slice))
}

/// Renders local variables, those that occur in the source first.
fn with_locals(source: &str, locals: &[Local]) -> String {
    let words: Vec<&str> = source.split(|it: char| !it.is_alphanumeric() && it != '_').collect();
    let is_used = |it: &&Local| words.contains(&it.name.as_str());
    let (used, others): (Vec<&Local>, Vec<&Local>) = locals.iter().partition(is_used);
    let sorted = used.iter().chain(&others).take(LOCALS);
    let mut out: String =
        sorted.map(|it| format!("      with {} = {}\n", it.name, it.value)).collect();
    if locals.len() > LOCALS {
        out += &format!("      … and {} more\n", locals.len() - LOCALS);
    }
    out
}

/// Renders the library calls before the frame of this number.
fn libraries(failure: &Failure, number: usize) -> String {
    let of_place = failure.libraries.iter().filter(|it| it.after == number);
    of_place.map(library).collect()
}

fn library(it: &LibraryFrames) -> String {
    let names = it.names.join(", ");
    let frames = if it.count == 1 { "frame" } else { "frames" };
    format!("… {} {frames} of {names}, the last is {} …\n", it.count, it.deepest)
}

/// Replaces addresses, which differ from run to run: an equal failure gives an equal text.
pub(super) fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        let is_address = part.len() - rest.len() >= ADDRESS;
        out += if is_address { "0x…" } else { "0x" };
        out += if is_address { rest } else { part };
    }
    out
}

/// Least number of digits of an address.
const ADDRESS: usize = 8;
