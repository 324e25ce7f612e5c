//! Parses stack traces of JavaScript and go.

use std::path::Path;

use super::tree_path::relative;
use crate::report::Frame;

/// Returns the frames of a JavaScript error, outermost first, from the first one inside the tree
/// on; all of them if none is inside.
pub(super) fn javascript(root: &Path, text: &str) -> Vec<Frame> {
    trimmed(text.lines().filter_map(|line| javascript_frame(root, line)).collect())
}

/// Parses a line such as `at total (/t/cart.js:19:15)` or `at async file:///t/a.js:1:2`.
fn javascript_frame(root: &Path, line: &str) -> Option<Frame> {
    let call = line.trim().strip_prefix("at ")?;
    let call = call.strip_prefix("async ").unwrap_or(call);
    let (function, place) = match call.strip_suffix(')').and_then(|call| call.rsplit_once(" (")) {
        Some((function, place)) => (function, place),
        None => ("<anonymous>", call),
    };
    let (place, _column) = place.rsplit_once(':')?;
    let (path, line) = place.rsplit_once(':')?;
    Some(frame(root, path, line.parse().ok()?, function))
}

/// Returns the frames of the most relevant goroutine in a dump, outermost first: the first one,
/// which panicked, or after a timeout the last one that is inside the tree.
pub(super) fn go(root: &Path, dump: &str, timed_out: bool) -> Vec<Frame> {
    let mut stacks = dump.split("\ngoroutine ").skip(1).map(|text| trimmed(goroutine(root, text)));
    if timed_out {
        stacks.filter(|stack| stack.iter().any(|frame| frame.inside)).last().unwrap_or_default()
    } else {
        stacks.next().unwrap_or_default()
    }
}

/// Parses pairs of lines, a function and its indented place, up to an empty line.
fn goroutine(root: &Path, text: &str) -> Vec<Frame> {
    let lines: Vec<&str> = text.lines().skip(1).take_while(|line| !line.is_empty()).collect();
    let pairs = lines.windows(2).filter(|pair| !pair[0].starts_with(['\t', ' ']));
    pairs
        .filter_map(|pair| {
            let place = pair[1].strip_prefix('\t')?.split(" +0x").next()?;
            let (path, line) = place.rsplit_once(':')?;
            let call = pair[0].rsplit('/').next()?;
            let function = call.rfind('(').filter(|at| *at > 0).map_or(call, |at| &call[..at]);
            Some(frame(root, path, line.parse().ok()?, function))
        })
        .collect()
}

fn frame(root: &Path, path: &str, line: u32, function: &str) -> Frame {
    let function = function.to_owned();
    match relative(root, path) {
        Some(path) => Frame { path, line, function, inside: true },
        None => Frame { path: path.to_owned(), line, function, inside: false },
    }
}

fn trimmed(mut innermost_first: Vec<Frame>) -> Vec<Frame> {
    if let Some(outermost) = innermost_first.iter().rposition(|frame| frame.inside) {
        innermost_first.truncate(outermost + 1);
    }
    innermost_first.reverse();
    innermost_first
}
