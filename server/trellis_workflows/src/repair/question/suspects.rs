//! The code of the suspects: short files whole, of longer ones the functions with what they use.

use std::collections::BTreeSet;

use trellis_engine::EditableFiles as _;
use trellis_engine::localize::RankedFunction;
use trellis_engine::repair::Excerpt;
use trellis_python::{FileFacts, needed_by};

use super::QuestionContext;
use super::chosen::Chosen;
use crate::repair::project_files::ProjectFiles;

/// Maximum number of lines of a file that is shown whole.
const WHOLE_FILE: usize = 150;
/// Maximum number of lines of a function that is shown whole: of a likely one, and of others.
const WHOLE: u32 = 200;
const WHOLE_UNLIKELY: u32 = 60;
/// Lines shown at the beginning of a longer function, and around each marked line.
const HEAD: u32 = 12;
const AROUND: u32 = 40;
/// Maximum number of marked lines of a suspect, and their minimum share of its highest score.
const MARKED: usize = 3;
const NEAR: f64 = 0.9;
/// Number of suspects whose short files are shown whole in any case.
const LIKELY: usize = 1;
/// Number of methods up to which a class is shown with all their headers.
const MEMBERS: usize = 60;
/// Number of lines from which on an excerpt takes no further function of its file.
const FULL: usize = 250;

/// Returns the suspects' code, the likeliest first. Short files are whole if they are likely or on
/// the way to the failure.
pub(super) fn excerpts(suspects: &[Chosen], context: &QuestionContext<'_>) -> Vec<Excerpt> {
    let files = context.files;
    let frames = context.lead().map(|it| it.frames.as_slice()).unwrap_or_default();
    let mut out: Vec<Excerpt> = Vec::new();
    for (place, it) in suspects.iter().enumerate() {
        let why = it.why;
        let it = &it.function;
        let path = &files.found.evidence.files[it.file].path;
        let Some(text) = files.text(path) else { continue };
        let is_open = |known: &&mut Excerpt| {
            known.path == *path && (known.is_whole || known.lines.len() < FULL)
        };
        let is_near = place < LIKELY || !why.is_empty() || frames.iter().any(|it| it.path == *path);
        let wanted = lines(it, files, &text, is_near);
        let raised = frames.iter().filter(|frame| frame.path == *path).map(|frame| frame.line);
        let marked: Vec<u32> = marked(it).into_iter().chain(raised).collect();
        match out.iter_mut().find(is_open) {
            Some(known) => {
                let lines = known.lines.keys().copied().chain(wanted).collect();
                let marked = known.marked.iter().copied().chain(marked).collect::<Vec<_>>();
                *known = Excerpt::of(path, &text, &lines).marking(marked);
            }
            None => out.push(Excerpt::of(path, &text, &wanted).marking(marked)),
        }
    }
    out
}

/// Returns the most suspicious lines of a function.
fn marked(it: &RankedFunction) -> Vec<u32> {
    let highest = it.lines.first().map_or(0.0, |it| it.score);
    let near = it.lines.iter().filter(|it| it.score >= NEAR * highest).take(MARKED);
    near.map(|it| it.line).chain([it.line]).collect()
}

/// Returns the lines to show for a suspect.
fn lines(
    it: &RankedFunction,
    files: &ProjectFiles<'_>,
    text: &str,
    is_near: bool,
) -> BTreeSet<u32> {
    let count = text.lines().count();
    if is_near && count <= WHOLE_FILE {
        return (1..=count as u32).collect();
    }
    let facts = &files.found.evidence.files[it.file].facts;
    let function = facts.functions.iter().find(|function| function.name == it.symbol);
    let marked = marked(it);
    let is_marked = |line: &u32| marked.iter().any(|it| it.abs_diff(*line) <= AROUND);
    let Some(function) = function else {
        return (1..=count as u32).filter(is_marked).collect();
    };
    let names: Vec<&str> = it.symbol.split('.').collect();
    let own = function.first..=function.last;
    let most = if is_near { WHOLE } else { WHOLE_UNLIKELY };
    let is_short = (own.end() - own.start()) < most;
    let is_shown = |line: &u32| {
        !own.contains(line) || is_short || *line < own.start() + HEAD || is_marked(line)
    };
    let needed = needed_by(text, &names, 0).lines;
    let members = members(facts, &it.symbol);
    needed.into_iter().chain(members).chain(own.clone()).filter(is_shown).collect()
}

/// Returns the header lines of the other methods of a method's class.
fn members(facts: &FileFacts, symbol: &str) -> Vec<u32> {
    let Some((class, _)) = symbol.rsplit_once('.') else { return Vec::new() };
    let of_class = |name: &str| name.rsplit_once('.').is_some_and(|(it, _)| it == class);
    let lines: Vec<u32> =
        facts.functions.iter().filter(|it| of_class(&it.name)).map(|it| it.header).collect();
    if lines.len() <= MEMBERS { lines } else { Vec::new() }
}
